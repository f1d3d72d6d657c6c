"""Shorter times of a bus for tests of who leads: a tenth of a second of a busy machine is no lost lease."""

from truerail.link.leases import LeaseTiming
from truerail.link.streams import Timing

SLOW = Timing(beat_seconds=0.5, ttl_seconds=8.0, check_seconds=0.5, gather_seconds=20.0)
LEASE = LeaseTiming(renew_seconds=0.4, stop_seconds=6.0, attempt_seconds=0.2)

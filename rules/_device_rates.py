"""Bit error rates that devices compute themselves, where they cover enough time to be a level.

A rate over one second is a sample: errors come in bursts, and SONiC's first one is all errors since boot. It is
believed where its port has corrected as many codewords as a whole minute of it makes; a rate whose device says how long
it is for, where that is a minute. All others are unknown. A rate that is believed may show errors and never their
absence: it may be of long ago, or of one good second.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from truerail.analysis.cabling import evidence_of
from truerail.analysis.counters.link_bits import LINE_CODING, rate_ports
from truerail.analysis.counters.telemetry import Telemetry
from truerail.model import BitErrorRate, Evidence

LEAST_SECONDS = 60.0
"""Twice the longest time from poll to poll that SONiC can be set to (`counterpoll port interval`: 0.1 to 30 s)."""


@dataclass(frozen=True, slots=True)
class DeviceRate:
    """A believed rate of a planned port, and its row among the snapshot's rates."""

    fact: BitErrorRate
    row: int

    @property
    def when(self) -> str:
        """The time that it covers, in words."""
        seconds = self.fact.seconds
        return "in the device's last interval" if seconds is None else f"on average over {seconds / 60:.0f} min"


def device_rates(telemetry: Telemetry) -> tuple[dict[int, DeviceRate], int]:
    """The believed rates by planned port, and how many ports have another one."""
    reported = dict(_reported(telemetry))
    believed = {port: rate for port, rate in reported.items() if _covers_a_level(rate.fact, telemetry, port)}
    return believed, len(reported) - len(believed)


def rate_evidence(telemetry: Telemetry, rate: DeviceRate) -> Evidence:
    """The rate as its device reported it."""
    return evidence_of(telemetry.wiring.seen, BitErrorRate, rate.row)


def _reported(telemetry: Telemetry) -> Iterator[tuple[int, DeviceRate]]:
    rates = telemetry.wiring.seen.table(BitErrorRate).rows
    for port, row in zip(*(column.tolist() for column in rate_ports(telemetry.wiring)), strict=True):
        yield port, DeviceRate(rates[row], row)


def _covers_a_level(rate: BitErrorRate, telemetry: Telemetry, port: int) -> bool:
    if rate.seconds is not None:
        return rate.seconds >= LEAST_SECONDS
    bits = float(telemetry.speed()[port]) * 8 * LINE_CODING * LEAST_SECONDS
    return rate.corrected is not None and rate.corrected >= (rate.before_fec or 0.0) * bits > 0

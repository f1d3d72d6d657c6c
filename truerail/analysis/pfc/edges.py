"""Wait-for edges of PFC: every link on which a port receives pauses, measured from both of its ends.

The device that *sends* PFC cannot accept traffic; the one that receives it stops. So a wait is a pair of ports:
`waiting` is paused by `on`. Both ends count it: one the pauses received, the other the pauses sent. The paused share
comes from a duration counter. Without one it comes from frames, which give an upper bound only: a frame pauses for at
most 65,535 quanta of 512 bit times (IEEE 802.1Qbb), but may as well end a pause.
"""

from dataclasses import dataclass, fields, replace

from truerail.analysis.counters.hygiene import Floats
from truerail.model.columns import Codes, Mask

STORM_SHARE = 0.8
"""Paused share of a storm: the factor of SONiC's watchdogs (barefoot, teralynx, mellanox before 2024)."""
WHOLE_SHARE = 0.99
"""Paused share of a pause without end: the factor of SONiC's watchdog for mellanox since May 2024."""
STORM_PAUSE_US = 100_000.0
"""Mean pause of a storm: 100 ms, the stall prevention of mlx5 NICs (`pfc-prevention-tout auto`), the watchdog of
SIGCOMM'16 and the shortest detection time that SONiC accepts. Back-pressure pauses for microseconds.
"""
LEAST_SHARE = 0.05
"""Paused share below which a wait is left out. Engineering evaluation."""
PRESSURE_BOUND = 0.2
"""Upper bound of the paused share, by frames alone, from which pressure is not ruled out. Engineering evaluation."""
POLLS, POLL_SECONDS = 3, 30.0
"""Interval over which a storm is evaluated: three polls or 30 seconds, whichever is longer."""
SUSTAINED_SECONDS, LEAST_SUSTAINED_SECONDS = 300.0, 100.0
"""Pressure must last for five minutes; with a shorter history of counters, for all of it and 100 seconds."""
SUSTAINED_SAMPLES, OVER_POLLS = 0.8, 2
"""Share of those samples that must show it, and number of newest ones without it after which it is over."""
NOTHING_SHARE, NOTHING_OF_BUSY = 1e-4, 0.05
"""A port carries no payload below this share of its speed, and of its load when busy. A port that pauses its neighbour
without end sends pause frames of 763 kB/s at 400 Gb/s, where they are counted, 1.5e-5 of its speed; LLDP, BGP, BFD and
LACP stay below 1 kB/s.
"""
CONTROL_BYTES_PER_SECOND = 1000.0
"""Maximum traffic of those protocols, used if the speed is unknown."""
QUANTUM_BITS = 65_535 * 512
"""Maximum pause of one frame, in bit times (IEEE 802.3 annex 31B, 802.1Qbb)."""
STALLED, FLOWS, UNREPORTED = 1, 0, -1
NOTHING, SUSPECT, STORM = 0, 1, 2


@dataclass(frozen=True)
class PauseEdges:
    """The waits of one priority (None: counted over all priorities). Columns have shape (waits,).

    `waiting` and `on` are port codes, at most one of them -1. `share` is 0..1, the upper bound where not `exact`.
    `pause_us` is the mean pause, NaN if unknown. `flow` is `STALLED`, `FLOWS` or `UNREPORTED` (unknown). `level` is
    `STORM`, `SUSPECT` or `NOTHING`; `stuck` marks waits that can form a deadlock; `lasting` is the share over five
    minutes, NaN where it did not last.
    """

    priority: int | None
    totals: bool
    """Whether some ports count all priorities together, so that their total is used for this one."""
    waiting: Codes
    on: Codes
    share: Floats
    exact: Mask
    pause_us: Floats
    flow: Codes
    received: Mask
    sent: Mask
    watchdog: Mask
    level: Codes
    stuck: Mask
    lasting: Floats

    def only(self, which: Mask) -> "PauseEdges":
        """The selected waits."""
        columns = {f.name: getattr(self, f.name)[which] for f in fields(self) if f.name not in ("priority", "totals")}
        return replace(self, **columns)

    @property
    def both(self) -> Mask:
        """Waits that both ends report."""
        return self.received & self.sent

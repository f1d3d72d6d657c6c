"""What a switch says of one port's link, whichever command asked for it: up or down, switched off, at what speed.

A port that is down keeps the speed that is configured, or that its module has: it runs at none. So a speed counts only
where the same row says that the link is up.
"""

import re
from typing import Any, NamedTuple

from collector._port_words import PortState
from truerail.model import DownReason

_SPEED = re.compile(
    r"(?:a-)?([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(?:([mgt])(?:b(?:ps|/s|it/s)?)?)?(?:-\d{1,2})?", re.IGNORECASE
)
_SCALE = {"": 1e-3, "m": 1e-3, "g": 1.0, "t": 1e3}


class PortStatus(NamedTuple):
    """One row. None is not reported."""

    port: str
    up: bool | None
    """Whether it has link."""
    enabled: bool | None
    """Whether its operator left it on."""
    gbps: float | None = None
    """Gb/s as printed, for a port that is down the configured ones."""
    mtu: int | None = None
    reason: DownReason | None = None
    """Why it has no link, where the switch says."""
    alias: str | None = None
    """The name that the port sends over LLDP, where the switch tells one beside its own."""

    @property
    def running_gbps(self) -> float | None:
        """The speed at which the link runs, in Gb/s; None without link, or where the switch tells none."""
        return self.gbps if self.up else None


def gbps(word: Any) -> float | None:
    """Gb/s from `400G`, `a-100G`, `400G-8` (lanes), `400Gbps`, `800mbps`, `10 Gb/s`, or a bare number of Mb/s.

    None for everything else, as `auto`, `unconf`, `Unlimited`, `N/A` and 0 are no speeds.
    """
    found = _SPEED.fullmatch(str(word).strip())
    speed = float(found[1]) * _SCALE[(found[2] or "").lower()] if found else 0.0
    return speed or None


def status(port: str, state: PortState, speed_gbps: float | None = None, mtu: int | None = None) -> PortStatus:
    """A port's row from what its words say of its state."""
    return PortStatus(port, state.up, state.enabled, speed_gbps, mtu, state.reason)

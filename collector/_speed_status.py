"""The state of one port's link as a switch reports it in any command: up or down, administratively down, its speed.

A port that is down still shows its configured speed or its module's. So a speed counts only if the same row reports
that the link is up.
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
    """Whether it is administratively up."""
    gbps: float | None = None
    """Gb/s as printed; the configured speed for a port that is down."""
    mtu: int | None = None
    reason: DownReason | None = None
    """Why it has no link, if the switch reports it."""
    alias: str | None = None
    """The name that the port sends over LLDP, if the switch reports one besides the port's own."""

    @property
    def running_gbps(self) -> float | None:
        """The speed at which the link runs, in Gb/s; None without link, or if the switch reports none."""
        return self.gbps if self.up else None


def gbps(word: Any) -> float | None:
    """Gb/s from `400G`, `a-100G`, `400G-8` (lanes), `400Gbps`, `800mbps`, `10 Gb/s`, or a bare number of Mb/s.

    None for everything else: `auto`, `unconf`, `Unlimited`, `N/A` and 0 are no speeds.
    """
    found = _SPEED.fullmatch(str(word).strip())
    speed = float(found[1]) * _SCALE[(found[2] or "").lower()] if found else 0.0
    return speed or None


def status(port: str, state: PortState, speed_gbps: float | None = None, mtu: int | None = None) -> PortStatus:
    """A port's row from its parsed state."""
    return PortStatus(port, state.up, state.enabled, speed_gbps, mtu, state.reason)

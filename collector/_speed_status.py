"""What a switch says of one port's link, whichever command asked for it: up or down, switched off, at what speed.

A port that is down keeps the speed that is configured, or that its module has: it runs at none. So a speed counts only
where the same row says that the link is up.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

_SPEED = re.compile(
    r"(?:a-)?([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(?:([mgt])(?:b(?:ps|/s|it/s)?)?)?(?:-\d{1,2})?", re.IGNORECASE
)
_SCALE = {"": 1e-3, "m": 1e-3, "g": 1.0, "t": 1e3}
_UP_OR_DOWN = {"up": True, "down": False}
_STATES: Mapping[str, tuple[bool, bool]] = {"connected": (True, True), "disabled": (False, False)}
_DOWN = ("notconn", "errdisab", "xcvrabs", "sfpabs", "linkflap")
"""How the words for a port without link begin: tables cut them after nine letters."""


class PortStatus(NamedTuple):
    """One row. None is not told."""

    port: str
    up: bool | None
    """Whether it has link."""
    enabled: bool | None
    """Whether its operator left it on."""
    gbps: float | None = None
    """Gb/s as printed, for a port that is down the configured ones."""
    mtu: int | None = None

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


def link(oper: Any, admin: Any) -> tuple[bool | None, bool | None]:
    """Whether a port is up and enabled, from `up` or `down` for each."""
    return _UP_OR_DOWN.get(str(oper).lower()), _UP_OR_DOWN.get(str(admin).lower())


def status(word: Any) -> tuple[bool | None, bool | None]:
    """Whether a port is up and enabled, from the one word that Arista and Cisco have for both.

    A word that does not say whether there is light (`inactive`, `suspended`, `channelDown`) tells neither.
    """
    low = str(word).lower()
    return _STATES.get(low, (False, True) if low.startswith(_DOWN) else (None, None))

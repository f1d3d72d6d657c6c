"""Devices on which somebody works just now: what their neighbours suffer is explained by that."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Maintained:
    """An open maintenance window, as the devices that it covers. `devices` are names of the plan."""

    devices: tuple[str, ...]
    author: str
    reason: str
    until: datetime

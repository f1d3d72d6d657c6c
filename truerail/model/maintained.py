"""Devices under maintenance now, which explains their neighbours' symptoms."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Maintained:
    """An open maintenance window by its devices. `devices` are names of the plan."""

    devices: tuple[str, ...]
    author: str
    reason: str
    until: datetime

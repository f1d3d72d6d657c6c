"""Durations in settings and options: `90s`, `5m`, `2h`, `30d`, `1w`."""

import re
from datetime import timedelta

LONGEST = timedelta(days=36_500)
"""A longer one exceeds the range of dates."""
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SHAPE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([smhdw]?)\s*")


def duration(value: object) -> timedelta:
    """A duration from a number of seconds or from text. Raises ValueError with the value."""
    if isinstance(value, timedelta):
        return value
    found = _SHAPE.fullmatch(str(value))
    if not found or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a duration: write 90s, 5m, 2h or 30d")
    number, unit = found.groups()
    seconds = float(number) * _UNITS[unit]
    if seconds > LONGEST.total_seconds():
        raise ValueError(f"{value!r} is too long a duration: at most {LONGEST.days}d")
    return timedelta(seconds=seconds)


def as_written(value: object) -> object:
    """A duration as the settings write it, `12h`; any other value unchanged."""
    if not isinstance(value, timedelta):
        return value
    seconds = value.total_seconds()
    unit, size = max(((unit, _UNITS[unit]) for unit in "smhd" if not seconds % _UNITS[unit]), key=lambda one: one[1])
    return f"{seconds / size:g}{unit}"

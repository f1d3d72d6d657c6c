"""Times as people write them in a question: `2h`, `14:00`, `yesterday`, ISO 8601. All become aware times in UTC."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from truerail.errors import QueryError
from truerail.model.names import printable

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*([smhdw])(?:\s+ago)?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(z|utc|[+-]\d{2}:?\d{2})?", re.ASCII)
_DAY = re.compile(r"(today|yesterday|tomorrow)(?:\s+(?:at\s+)?(\S.*))?")
HOW_LONG = "write 2h, 18:00, tomorrow 08:00, or 2026-11-20T14:00Z"
HOW = "write 2h, 14:00, yesterday, yesterday 14:00, or 2026-11-20T14:00Z"


def moment(text: str, now: datetime) -> datetime:
    """The time that `text` means at `now` (aware).

    A duration counts back from now. A time of day is today's in its zone (UTC without one), or yesterday's if that is
    still to come. `today` and `yesterday` are midnights in UTC; a date is its midnight; ISO 8601 without a zone is UTC.
    Raises QueryError that names the value.
    """
    return now.astimezone(UTC) if text.strip().lower() == "now" else _read(text, now, _PAST)


def end_of(text: str, now: datetime) -> datetime:
    """The time until which something holds, by the same words as `moment`, ahead of `now` (aware).

    A duration counts from now: `2h`, `in 90m`. A time of day is today's, or tomorrow's if that is past;
    `tomorrow 08:00` is tomorrow's, `tomorrow` is its midnight in UTC. Raises QueryError that names the value.
    """
    return _read(text, now, _AHEAD)


@dataclass(frozen=True, slots=True)
class _Direction:
    """Where a time lies: its sign, the words for days by their number from today, and how to write one."""

    sign: int
    days: Mapping[str, int]
    how: str


_PAST = _Direction(-1, {"today": 0, "yesterday": -1}, HOW)
_AHEAD = _Direction(1, {"today": 0, "tomorrow": 1}, HOW_LONG)


def _read(text: str, now: datetime, to: _Direction) -> datetime:
    word = text.strip().lower()
    day = _DAY.fullmatch(word)
    try:
        if day is not None and day[1] in to.days:
            return _on_day(day[2] or "00:00", now, to.days[day[1]])
        if to is _AHEAD:
            word = word.removeprefix("in ").strip()
        shape = _AGO.fullmatch(word)
        if shape is not None and not (to is _AHEAD and "ago" in word):
            return now.astimezone(UTC) + to.sign * timedelta(**{_UNITS[shape[2]]: float(shape[1])})
        if _CLOCK.fullmatch(word):
            at = _on_day(word, now, 0)
            return at if (at > now if to is _AHEAD else at <= now) else at + to.sign * timedelta(days=1)
        return _iso(text.strip())
    except (ValueError, OverflowError):
        raise QueryError(f"{printable(text, 80)!r} is not a time: {to.how}") from None


def _on_day(word: str, now: datetime, days: int) -> datetime:
    """A time of day, so many days after today in its own zone."""
    shape = _CLOCK.fullmatch(word)
    if shape is None:
        raise ValueError(word)
    here = now.astimezone(_zone(shape[4]))
    hour, minute, second = int(shape[1]), int(shape[2]), int(shape[3] or 0)
    at = here.replace(hour=hour, minute=minute, second=second, microsecond=0) + timedelta(days=days)
    return at.astimezone(UTC)


def span(since: str | None, until: str | None, now: datetime) -> tuple[datetime, datetime]:
    """The start and end of a question's time range; it ends now if `until` is not given.

    Raises QueryError if there is no start, or the end is not after the start.
    """
    if since is None:
        raise QueryError(f"give a start, or a start and an end: {HOW}")
    first = moment(since, now)
    last = now.astimezone(UTC) if until is None else moment(until, now)
    if first >= last:
        raise QueryError(f"the time range ends ({last.isoformat()}) before it begins ({first.isoformat()})")
    return first, last


def _zone(offset: str | None) -> tzinfo | None:
    """The zone of `+02:00`, `z`, `utc`; UTC without one."""
    word = "+00:00" if offset in (None, "z", "utc") else offset
    return datetime.fromisoformat(f"2000-01-01T00:00{word}").tzinfo


def _iso(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)

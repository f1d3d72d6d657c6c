"""Times as people write them in a question: `2h`, `14:00`, `yesterday`, ISO 8601. All become aware times in UTC."""

import re
from datetime import UTC, datetime, timedelta, tzinfo

from truerail.errors import QueryError
from truerail.model.names import printable

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*([smhdw])(?:\s+ago)?", re.ASCII)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(z|utc|[+-]\d{2}:?\d{2})?", re.ASCII)
HOW_LONG = "write 2h, 18:00, tomorrow 08:00, or 2026-11-20T14:00Z"
HOW = "write 2h, 14:00, yesterday, yesterday 14:00, or 2026-11-20T14:00Z"


def moment(text: str, now: datetime) -> datetime:
    """The time that `text` means at `now` (aware).

    A duration counts back from now. A time of day is today's in its zone (UTC without one), or yesterday's if that is
    still to come. `today` and `yesterday` are midnights in UTC; a date is its midnight; ISO 8601 without a zone is UTC.
    Raises QueryError that names the value.
    """
    word = text.strip().lower()
    if word == "now":
        return now.astimezone(UTC)
    if word in ("today", "yesterday"):
        midnight = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight - timedelta(days=word == "yesterday")
    try:
        return _ago(word, now) or _past_day(word, now) or _clock(word, now) or _iso(text.strip())
    except (ValueError, OverflowError):
        raise QueryError(f"{printable(text, 80)!r} is not a time: {HOW}") from None


def end_of(text: str, now: datetime) -> datetime:
    """The time until which something holds, by the same words as `moment`, ahead of `now` (aware).

    A duration counts from now: `2h`, `in 90m`. A time of day is today's, or tomorrow's if that is past;
    `tomorrow 08:00` is tomorrow's, `tomorrow` is its midnight in UTC. Raises QueryError that names the value.
    """
    word = text.strip().lower()
    day = re.fullmatch(r"(today|tomorrow)(?:\s+(?:at\s+)?(\S.*))?", word)
    try:
        if day is None:
            return _ahead(word.removeprefix("in ").strip(), now) or _iso(text.strip())
        return _on_day(day[2] or "00:00", now, later=day[1] == "tomorrow")
    except (ValueError, OverflowError):
        raise QueryError(f"{printable(text, 80)!r} is not a time: {HOW_LONG}") from None


def _ahead(word: str, now: datetime) -> datetime | None:
    shape = _AGO.fullmatch(word)
    if shape is not None and "ago" not in word:
        return now.astimezone(UTC) + timedelta(**{_UNITS[shape[2]]: float(shape[1])})
    at = _clock(word, now)
    return at if at is None or at > now else at + timedelta(days=1)


def _on_day(word: str, now: datetime, *, later: bool) -> datetime:
    """A time of day, today or tomorrow in its own zone."""
    shape = _CLOCK.fullmatch(word)
    if shape is None:
        raise ValueError(word)
    here = now.astimezone(_zone(shape[4]))
    hour, minute, second = int(shape[1]), int(shape[2]), int(shape[3] or 0)
    at = here.replace(hour=hour, minute=minute, second=second, microsecond=0) + timedelta(days=later)
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


def _ago(word: str, now: datetime) -> datetime | None:
    shape = _AGO.fullmatch(word)
    return None if shape is None else now.astimezone(UTC) - timedelta(**{_UNITS[shape[2]]: float(shape[1])})


def _clock(word: str, now: datetime) -> datetime | None:
    if _CLOCK.fullmatch(word) is None:
        return None
    at = _on_day(word, now, later=False)
    return at if at <= now else at - timedelta(days=1)


def _past_day(word: str, now: datetime) -> datetime | None:
    """`yesterday 14:00`: in the zone of the time."""
    day = re.fullmatch(r"(today|yesterday)\s+(?:at\s+)?(\S.*)", word)
    return None if day is None else _on_day(day[2], now, later=False) - timedelta(days=day[1] == "yesterday")


def _zone(offset: str | None) -> tzinfo | None:
    """The zone of `+02:00`, `z`, `utc`; UTC without one."""
    word = "+00:00" if offset in (None, "z", "utc") else offset
    return datetime.fromisoformat(f"2000-01-01T00:00{word}").tzinfo


def _iso(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)

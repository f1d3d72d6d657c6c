"""The times that name the rounds of a capture."""

from datetime import UTC, datetime
from functools import lru_cache


@lru_cache(maxsize=4096)
def round_time(name: str) -> datetime | None:
    """The time that names a folder of a round (ISO 8601, UTC without a zone); None for other names."""
    if not name[:4].isdigit() or "T" not in name:
        return None
    try:
        time = datetime.fromisoformat(name)
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        time.astimezone(UTC)
    except (ValueError, OverflowError):  # 9999-12-31T23:59:59-01:00 is in no calendar of UTC
        return None
    return time


def round_name(at: datetime) -> str:
    """The name of a round's folder: `2026-11-20T14:00:00Z`."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def round_order(name: str) -> datetime:
    """A sort key for rounds: by time, whatever the zone they are written in. What is no round comes first."""
    return round_time(name) or datetime.min.replace(tzinfo=UTC)

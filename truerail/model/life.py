"""How long something has been wrong: the life of a finding or a cause over rounds, and why it is muted."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LifeState(StrEnum):
    """The state of a finding. `UNSEEN`: it was present, and now no device that could report it answers; it is never
    reported as resolved. `RECOVERING`: it is gone, but not long enough to be resolved. `FLAPPING`: it came and went
    more often within the flapping window than a repair explains. `REGRESSED`: it was resolved once and is back.
    """

    NEW = "new"
    ONGOING = "ongoing"
    REGRESSED = "regressed"
    FLAPPING = "flapping"
    RECOVERING = "recovering"
    UNSEEN = "unseen"
    RESOLVED = "resolved"

    @property
    def open(self) -> bool:
        """Whether it still counts: everything but resolved."""
        return self is not LifeState.RESOLVED


@dataclass(frozen=True, slots=True)
class Life:
    """One finding's (or cause's) life. `since` is the start of this episode, `first_seen` that of the first one."""

    id: str
    state: LifeState
    first_seen: datetime
    since: datetime
    last_seen: datetime
    resolved_at: datetime | None = None
    episodes: int = 1


class MuteKind(StrEnum):
    """Why a finding is muted."""

    ACKNOWLEDGED = "acknowledged"
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True)
class Mute:
    """A mute. `id` is that of the acknowledgement or the maintenance window."""

    kind: MuteKind
    id: int
    author: str
    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Maintained:
    """An open maintenance window by its devices, whose neighbours' symptoms it explains. `devices` are names of the
    plan.
    """

    devices: tuple[str, ...]
    author: str
    reason: str
    until: datetime

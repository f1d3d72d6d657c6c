"""One life, round by round: new, ongoing, gone for a while, resolved, back. Independent of findings and fabrics."""

from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from truerail.journal.round_changes import Past
from truerail.model.life import Life, LifeState


@dataclass(frozen=True, slots=True)
class Patience:
    """`recovery`: how long something must be gone to be resolved. It flaps from `flapping_episodes` appearances within
    `flapping_within` on.
    """

    recovery: timedelta
    flapping_episodes: int
    flapping_within: timedelta


class Sight(Enum):
    """A round's report on one thing."""

    PRESENT = "present"
    GONE = "gone"
    UNSEEN = "unseen"
    """It is not present, and no device that could report it answered."""


@dataclass(slots=True)
class Episode:
    """An unresolved life. `appearances` are the times at which it appeared, as far back as flapping needs them."""

    life: Life
    appearances: deque[datetime]
    moved_at: datetime
    """When it last appeared or disappeared."""
    away: bool = False
    """Whether a round has reported it gone, and it has not been present since."""
    gone_at: datetime | None = None
    """Since when every round has reported it gone."""

    def step(self, sight: Sight, at: datetime, patience: Patience) -> None:
        """Advances by one round. A life that this resolves must not be stepped again."""
        if sight is Sight.PRESENT:
            self._is_there(at, patience)
        elif sight is Sight.UNSEEN:
            self.gone_at = None
            self._becomes(LifeState.UNSEEN)
        else:
            self._is_gone(at, patience)

    def move(self, by: timedelta) -> None:
        """Moves all times."""
        life = self.life
        self.life = replace(life, first_seen=life.first_seen + by, since=life.since + by, last_seen=life.last_seen + by)
        self.appearances = deque(at + by for at in self.appearances)
        self.moved_at += by
        self.gone_at = self.gone_at and self.gone_at + by

    def past(self) -> Past:
        """Its remains once it is resolved."""
        resolved_at = self.life.resolved_at or self.life.last_seen
        return Past(self.life.first_seen, resolved_at, self.life.episodes, tuple(self.appearances))

    def joined(self, kept: "Episode") -> None:
        """Continues a stored episode: this one is its later part."""
        was = kept.life
        back = self.life.state in (LifeState.NEW, LifeState.ONGOING) and was.episodes > 1
        state = (
            LifeState.REGRESSED if back else LifeState.ONGOING if self.life.state is LifeState.NEW else self.life.state
        )
        self.appearances.extendleft(reversed(kept.appearances))
        self.life = replace(self.life, state=state, first_seen=was.first_seen, since=was.since, episodes=was.episodes)

    def returned(self, past: Past) -> None:
        """Marks it as back, not new: it was resolved before."""
        back = self.life.state in (LifeState.NEW, LifeState.ONGOING)
        state, first_seen = LifeState.REGRESSED if back else self.life.state, min(past.first_seen, self.life.first_seen)
        self.life = replace(self.life, state=state, first_seen=first_seen, episodes=past.episodes + 1)

    def _is_there(self, at: datetime, patience: Patience) -> None:
        if self.away:
            self.appearances.append(at)
            self.moved_at = at
        self.away, self.gone_at = False, None
        self.life = replace(self.life, state=self._state_there(at, patience), last_seen=at)

    def _state_there(self, at: datetime, patience: Patience) -> LifeState:
        while self.appearances and at - self.appearances[0] > patience.flapping_within:
            self.appearances.popleft()
        if len(self.appearances) >= patience.flapping_episodes or not self._settled(at, patience):
            return LifeState.FLAPPING
        return LifeState.REGRESSED if self.life.episodes > 1 else LifeState.ONGOING

    def _is_gone(self, at: datetime, patience: Patience) -> None:
        if not self.away:
            self.moved_at = at
        if self.gone_at is None:
            self.gone_at = at
        self.away = True
        if not self._settled(at, patience):
            self._becomes(LifeState.FLAPPING)
        elif at - self.gone_at < patience.recovery:
            self._becomes(LifeState.RECOVERING)
        else:
            self.life = replace(self.life, state=LifeState.RESOLVED, resolved_at=self.gone_at)

    def _settled(self, at: datetime, patience: Patience) -> bool:
        """False if it flapped and has not been stable for the whole window since."""
        return self.life.state is not LifeState.FLAPPING or at - self.moved_at >= patience.flapping_within

    def _becomes(self, state: LifeState) -> None:
        if self.life.state is not state:
            self.life = replace(self.life, state=state)


def begun(id: str, at: datetime, past: Past | None, patience: Patience) -> Episode:  # noqa: A002 - the life's own word
    """The first round of an episode: new, or with a past: regressed, or flapping."""
    if past is None:
        return Episode(Life(id, LifeState.NEW, at, at, at), deque([at]), at)
    recent = deque(one for one in past.appearances if at - one <= patience.flapping_within)
    recent.append(at)
    state = LifeState.FLAPPING if len(recent) >= patience.flapping_episodes else LifeState.REGRESSED
    return Episode(Life(id, state, min(past.first_seen, at), at, at, None, past.episodes + 1), recent, at)

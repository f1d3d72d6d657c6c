"""One life, round by round: new, ongoing, gone for a while, resolved, back. Knows nothing of findings or fabrics."""

from collections import deque
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from truerail.journal.changes import Past
from truerail.model.life import Life, LifeState


@dataclass(frozen=True, slots=True)
class Patience:
    """`recovery`: how long something must be gone to be believed. From `flapping_episodes` appearances within
    `flapping_within` on it flaps.
    """

    recovery: timedelta
    flapping_episodes: int
    flapping_within: timedelta


class Sight(Enum):
    """What a round says of one thing."""

    PRESENT = "present"
    GONE = "gone"
    UNSEEN = "unseen"
    """It is not there, and nobody who could say so answered."""


@dataclass(slots=True)
class Episode:
    """A life that is not resolved. `appearances` are the times at which it came, as far back as flapping asks."""

    life: Life
    appearances: deque[datetime]
    moved_at: datetime
    """When it last came or went."""
    away: bool = False
    """Whether it was asked to be gone, and has not been there since."""
    gone_at: datetime | None = None
    """Since when every round could say that it is gone."""

    def step(self, sight: Sight, at: datetime, patience: Patience) -> None:
        """Goes on by one round. A life that is resolved by this must not be stepped again."""
        if sight is Sight.PRESENT:
            self._is_there(at, patience)
        elif sight is Sight.UNSEEN:
            self.gone_at = None
            self._becomes(LifeState.UNSEEN)
        else:
            self._is_gone(at, patience)

    def past(self) -> Past:
        """What is remembered of it once it is resolved."""
        resolved_at = self.life.resolved_at or self.life.last_seen
        return Past(self.life.first_seen, resolved_at, self.life.episodes, tuple(self.appearances))

    def joined(self, kept: "Episode") -> None:
        """This episode is the later part of one that was kept: it did not begin here."""
        was = kept.life
        back = self.life.state in (LifeState.NEW, LifeState.ONGOING) and was.episodes > 1
        state = (
            LifeState.REGRESSED if back else LifeState.ONGOING if self.life.state is LifeState.NEW else self.life.state
        )
        self.appearances.extendleft(reversed(kept.appearances))
        self.life = replace(self.life, state=state, first_seen=was.first_seen, since=was.since, episodes=was.episodes)

    def returned(self, past: Past) -> None:
        """What this is was resolved once before: it is back, not new."""
        back = self.life.state in (LifeState.NEW, LifeState.ONGOING)
        self.life = replace(
            self.life,
            state=LifeState.REGRESSED if back else self.life.state,
            first_seen=min(past.first_seen, self.life.first_seen),
            episodes=past.episodes + 1,
        )

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
        """False for what flapped and has not stood still for the whole window since."""
        return self.life.state is not LifeState.FLAPPING or at - self.moved_at >= patience.flapping_within

    def _becomes(self, state: LifeState) -> None:
        if self.life.state is not state:
            self.life = replace(self.life, state=state)


def begun(id: str, at: datetime, past: Past | None, patience: Patience) -> Episode:  # noqa: A002 - the life's own word
    """The first round of an episode: new, or back where there is a past: regressed, or flapping."""
    if past is None:
        return Episode(Life(id, LifeState.NEW, at, at, at), deque([at]), at)
    recent = deque(one for one in past.appearances if at - one <= patience.flapping_within)
    recent.append(at)
    state = LifeState.FLAPPING if len(recent) >= patience.flapping_episodes else LifeState.REGRESSED
    return Episode(Life(id, state, min(past.first_seen, at), at, at, None, past.episodes + 1), recent, at)


def resumed(life: Life, appearances: tuple[datetime, ...], away: bool, at: datetime) -> Episode:
    """An episode as it was kept, after a gap in which nobody watched: what was gone must be seen gone again."""
    return Episode(life, deque(appearances), at, away)

"""The history of one sort (findings, or causes), updated round by round."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from truerail.journal.changes import Past
from truerail.journal.episodes import Episode, Patience, Sight, begun
from truerail.model.life import Life, LifeState

T = TypeVar("T")

_REWORDED = timedelta(minutes=5)
"""A sentence that changes with every round (an age, a count) is written no more often than this."""


@dataclass(slots=True)
class Kept(Generic[T]):
    """An open entry as last seen. `present` means that the newest round had it."""

    episode: Episode
    value: T
    present: bool
    written_at: datetime


@dataclass(slots=True)
class Steps(Generic[T]):
    """A round's changes. `turns` are entries whose state changed, with the previous state (None for new ones)."""

    lives: dict[str, Life] = field(default_factory=dict)
    pending_resolution: list[T] = field(default_factory=list)
    turns: list[tuple[Kept[T], LifeState | None]] = field(default_factory=list)
    written: dict[str, Kept[T]] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)


class Chronicle(Generic[T]):
    """`facts(value)` must be written as soon as it changes, `wording(value)` can wait a little."""

    def __init__(self, facts: Callable[[T], Any], wording: Callable[[T], Any]) -> None:
        self._facts = facts
        self._wording = wording
        self._open: dict[str, Kept[T]] = {}
        self._past: dict[str, Past] = {}

    def restore(self, found: Iterable[tuple[Episode, T]], past: Mapping[str, Past], at: datetime) -> None:
        """Restores open episodes and the remains of resolved ones. Entries that are already open here continue as the
        later part of restored ones.
        """
        self._past = {**past, **self._past}
        for episode, value in found:
            mine = self._open.get(episode.life.id)
            if mine is None:
                self._open[episode.life.id] = Kept(episode, value, present=False, written_at=at)
            else:
                mine.episode.joined(episode)
        for key in self._past.keys() & self._open.keys():
            self._open[key].episode.returned(self._past.pop(key))

    def forget(self, before: datetime) -> None:
        """Drops entries resolved before a time."""
        self._past = {key: past for key, past in self._past.items() if past.resolved_at >= before}

    def move(self, by: timedelta) -> None:
        """Moves the times of what is open; what was resolved keeps them, as in the journal."""
        for kept in self._open.values():
            kept.episode.move(by)
            kept.written_at += by

    def state(self, key: str) -> LifeState | None:
        """The state of an open entry; None for any other."""
        kept = self._open.get(key)
        return kept.episode.life.state if kept else None

    def update(
        self, present: Mapping[str, T], sight: Callable[[T], Sight], at: datetime, patience: Patience
    ) -> Steps[T]:
        """Advances by one round. `sight` is called for open entries that are not present."""
        steps: Steps[T] = Steps()
        for key, kept in list(self._open.items()):
            if key not in present:
                self._absent(steps, kept, sight(kept.value), at, patience)
        for key, value in present.items():
            self._present(steps, key, value, at, patience)
        return steps

    def _present(self, steps: Steps[T], key: str, value: T, at: datetime, patience: Patience) -> None:
        kept = self._open.get(key)
        if kept is None:
            episode = begun(key, at, self._past.pop(key, None), patience)
            kept = self._open[key] = Kept(episode, value, present=True, written_at=at)
            steps.turns.append((kept, None))
            steps.written[key] = kept
        else:
            before, old, was_present = kept.episode.life.state, kept.value, kept.present
            kept.episode.step(Sight.PRESENT, at, patience)
            kept.value, kept.present = value, True
            self._note(steps, kept, before)
            if not was_present or before is not kept.episode.life.state or self._must_write(kept, old, at):
                steps.written[key], kept.written_at = kept, at
        steps.lives[key] = kept.episode.life

    def _absent(self, steps: Steps[T], kept: Kept[T], sight: Sight, at: datetime, patience: Patience) -> None:
        before, was_away, key = kept.episode.life.state, kept.episode.away, kept.episode.life.id
        kept.episode.step(sight, at, patience)
        life = steps.lives[key] = kept.episode.life
        self._note(steps, kept, before)
        if kept.present or before is not life.state or was_away is not kept.episode.away:
            kept.present = False
            steps.written[key], kept.written_at = kept, at
        if life.state is LifeState.RESOLVED:
            del self._open[key]
            self._past[key] = kept.episode.past()
            steps.resolved.append(key)
        else:
            steps.pending_resolution.append(kept.value)

    @staticmethod
    def _note(steps: Steps[T], kept: Kept[T], before: LifeState) -> None:
        if kept.episode.life.state is not before:
            steps.turns.append((kept, before))

    def _must_write(self, kept: Kept[T], old: T, at: datetime) -> bool:
        if self._facts(old) != self._facts(kept.value):
            return True
        return at - kept.written_at >= _REWORDED and self._wording(old) != self._wording(kept.value)

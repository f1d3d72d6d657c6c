"""The lives of findings and causes over rounds: new, ongoing, gone for a while, unseen, resolved, back.

A pure state machine: evaluations in, `Changes` out. It opens no database; after a restart its state comes back
by `restore`.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from truerail.analysis.cabling import Wiring
from truerail.analysis.running_jobs import Jobs
from truerail.journal.episodes import Episode, Patience, Sight, begun
from truerail.journal.job_memory import JobMemory
from truerail.journal.link_memory import LinkMemory
from truerail.journal.round_changes import Changes, EntryRow, Explained, Memory, Past
from truerail.journal.witness import Witness
from truerail.model.finding import Cause, Evaluation
from truerail.model.history import CauseEvent, EventKind, FindingEvent
from truerail.model.life import Life, LifeState
from truerail.model.names import without_figures

# ----------------------------------------------------------------------------------------------------------------------
# The history of one sort (findings, or causes), updated round by round.

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

    def restore(self, rows: Iterable[EntryRow[T]], past: Mapping[str, Past], at: datetime) -> None:
        """Restores open episodes and the remains of resolved ones. Entries that are already open here continue as the
        later part of restored ones. After the gap without rounds, what was gone must be reported gone again.
        """
        self._past = {**past, **self._past}
        for row in rows:
            episode = Episode(row.life, deque(row.appearances), at, row.away)
            mine = self._open.get(row.life.id)
            if mine is None:
                self._open[row.life.id] = Kept(episode, row.value, present=False, written_at=at)
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


# ----------------------------------------------------------------------------------------------------------------------
# The lives of findings and causes over rounds: new, ongoing, gone for a while, unseen, resolved, back.

_SET_BACK = timedelta(minutes=1)
"""A clock that is behind the last round by less, as that of another judge may be, is waited for."""
_REPORTED = {
    LifeState.FLAPPING: EventKind.FLAPPING,
    LifeState.UNSEEN: EventKind.UNSEEN,
    LifeState.RESOLVED: EventKind.RESOLVED,
}
_BEGINS = {LifeState.NEW: EventKind.APPEARED, LifeState.REGRESSED: EventKind.REGRESSED}


class Lives:
    """Tracks evaluations. One caller at a time.

    `recovery`: how long a finding must be gone to be resolved. From `flapping_episodes` appearances within
    `flapping_within` on it is reported as flapping, until it has been stable for that long.
    """

    def __init__(self, recovery: timedelta, flapping_episodes: int, flapping_within: timedelta) -> None:
        self._patience = Patience(recovery, flapping_episodes, flapping_within)
        self._findings: Chronicle[Explained] = Chronicle(_facts, _wording)
        self._causes: Chronicle[Cause] = Chronicle(_cause_facts, _cause_wording)
        self._links = LinkMemory()
        self._jobs = JobMemory()
        self._explained: dict[str, set[str]] = {}
        """By the key of each open cause: the findings that it has explained since it began."""
        self._unseen: set[str] = set()
        """Ids and keys of which the last event is that they were unseen."""
        self._at: datetime | None = None

    def use(self, recovery: timedelta, flapping_episodes: int, flapping_within: timedelta | None = None) -> None:
        """Changes the limits and keeps the history. Without `flapping_within` that limit stays."""
        self._patience = Patience(recovery, flapping_episodes, flapping_within or self._patience.flapping_within)

    def restore(self, memory: Memory) -> None:
        """Restores the journal's state: at the start, or as soon as the journal can be read.

        Present entries get their first sighting and their episodes back. The gap resolves nothing: an entry that was
        gone before it must be gone for the whole recovery window again.
        """
        if memory.at is not None:
            self._at = memory.at if self._at is None else max(memory.at, self._at)
        if self._at is None:
            return
        at = self._at
        self._findings.restore(memory.findings, memory.past, at)
        self._causes.restore(memory.causes, memory.past_causes, at)
        self._links.restore(memory.links)
        self._jobs.restore(memory.jobs, at)
        lives = [*(row.life for row in memory.findings), *(row.life for row in memory.causes)]
        self._unseen |= {life.id for life in lives if life.state is LifeState.UNSEEN}
        for row in memory.causes:
            self._explained.setdefault(row.life.id, set()).update(row.value.explains)

    def move(self, by: timedelta) -> None:
        """The clock was set by so much: all times move with it, so that nothing lasts longer or shorter."""
        self._at = self._at and self._at + by
        self._findings.move(by)
        self._causes.move(by)

    def forget(self, before: datetime) -> None:
        """Drops entries resolved before a time; one that comes back is new."""
        self._findings.forget(before)
        self._causes.forget(before)

    def update(
        self, evaluation: Evaluation, wiring: Wiring, jobs: Jobs | None = None, polled: Collection[str] | None = None
    ) -> Changes:
        """Advances by one round. Time never runs backwards here: all of before moves where the clock was set back.
        Without `jobs` their runs are not followed; `polled` are all devices that are polled, None if that is not known.
        """
        at = evaluation.at
        if self._at is not None and at < self._at - _SET_BACK:
            self.move(at - self._at)
        at = self._at = at if self._at is None else max(at, self._at)
        findings = self._findings.update(_explained(evaluation), _sight_of(evaluation, wiring), at, self._patience)
        present = {cause.key: cause for cause in evaluation.causes}
        causes = self._causes.update(present, self._cause_sight, at, self._patience)
        for key, cause in present.items():
            self._explained.setdefault(key, set()).update(cause.explains)
        links = self._links.update(wiring, at)
        return Changes(
            at=at,
            lives=findings.lives,
            cause_lives=causes.lives,
            pending_resolution=tuple(finding for finding, _ in findings.pending_resolution),
            pending_causes=tuple(causes.pending_resolution),
            events=tuple(self._events(findings, at)),
            cause_events=tuple(self._cause_events(causes, at)),
            links=links.changes,
            resolved=frozenset((*findings.resolved, *causes.resolved)),
            findings={key: _row(kept) for key, kept in findings.written.items()},
            causes={key: _row(kept) for key, kept in causes.written.items()},
            link_states={one.port: one for one in links.states},
            links_gone=links.gone,
            jobs=() if jobs is None else self._jobs.update(jobs, polled),
        )

    def _events(self, steps: Steps[Explained], at: datetime) -> Iterator[FindingEvent]:
        for kept, before in steps.turns:
            kind = self._kind(kept.episode.life, before)
            if kind is not None:
                finding, cause = kept.value
                severity = finding.severity.value
                yield FindingEvent(
                    0, at, kind, kept.episode.life.id, finding.rule, severity, finding.subject, finding.summary, cause
                )

    def _cause_events(self, steps: Steps[Cause], at: datetime) -> Iterator[CauseEvent]:
        for kept, before in steps.turns:
            life, cause = kept.episode.life, kept.value
            kind = self._kind(life, before)
            if kind is not None:
                explained = tuple(sorted(self._explained[life.id]))
                happened_at = life.resolved_at or at
                yield CauseEvent(
                    0, at, kind, happened_at, life.id, cause.kind.value, cause.subjects, cause.summary, explained
                )
        for key in steps.resolved:
            del self._explained[key]

    def _kind(self, life: Life, before: LifeState | None) -> EventKind | None:
        """The event of a change to this state; None if it is none."""
        kind = _REPORTED.get(life.state) or (_BEGINS.get(life.state) if before is None else None)
        if kind is None and life.id in self._unseen and life.state in (LifeState.ONGOING, LifeState.REGRESSED):
            kind = EventKind.RETURNED
        if kind is EventKind.UNSEEN:
            self._unseen.add(life.id)
        elif kind is not None:
            self._unseen.discard(life.id)
        return kind

    def _cause_sight(self, cause: Cause) -> Sight:
        """A cause is unseen as long as one of its findings is."""
        unseen = any(self._findings.state(finding) is LifeState.UNSEEN for finding in cause.explains)
        return Sight.UNSEEN if unseen else Sight.GONE


def _sight_of(evaluation: Evaluation, wiring: Wiring) -> Callable[[Explained], Sight]:
    witness = Witness(evaluation, wiring)
    return lambda reported: Sight.GONE if witness.could_say(reported[0]) else Sight.UNSEEN


def _explained(evaluation: Evaluation) -> dict[str, Explained]:
    cause = {finding: one.key for one in evaluation.causes for finding in one.explains}
    return {(key := finding.id): (finding, cause.get(key)) for finding in evaluation.findings}


def _row(kept: Kept[T]) -> EntryRow[T]:
    episode = kept.episode
    return EntryRow(episode.life, kept.value, kept.present, episode.away, tuple(episode.appearances))


def _facts(reported: Explained) -> tuple[Any, ...]:
    finding, cause = reported
    said = (without_figures(finding.summary), without_figures(finding.action))
    return (cause, finding.severity, finding.expected, finding.observed, finding.rail, *said)


def _wording(reported: Explained) -> tuple[Any, ...]:
    finding = reported[0]
    return (finding.summary, finding.action, finding.confidence, finding.detail)


def _cause_facts(cause: Cause) -> tuple[Any, ...]:
    said = (without_figures(cause.summary), without_figures(cause.action))
    return (cause.id, cause.moves, cause.confidence, cause.explains, *said)


def _cause_wording(cause: Cause) -> tuple[Any, ...]:
    return (cause.summary, cause.action, cause.alternatives, cause.to_confirm)

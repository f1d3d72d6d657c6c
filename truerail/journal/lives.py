"""The lives of findings and causes over rounds: new, ongoing, gone for a while, unseen, resolved, back.

A pure state machine: evaluations in, `Changes` out. It opens no database; after a restart its state comes back
by `restore`.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from truerail.analysis.cabling import Wiring
from truerail.analysis.jobs import Jobs
from truerail.journal.changes import CauseRow, Changes, FindingRow, Memory
from truerail.journal.chronicle import Chronicle, Kept, Steps
from truerail.journal.episodes import Episode, Patience, Sight, resumed
from truerail.journal.job_memory import JobMemory
from truerail.journal.link_memory import LinkMemory
from truerail.journal.witness import Witness
from truerail.model.finding import Cause, Evaluation, Finding
from truerail.model.history import CauseEvent, EventKind, FindingEvent
from truerail.model.life import Life, LifeState
from truerail.model.names import without_figures

Explained = tuple[Finding, str | None]
"""A finding and the key of the cause that explains it."""

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
        open_findings = ((_resumed(row, at), (row.finding, row.cause)) for row in memory.findings)
        self._findings.restore(open_findings, memory.past, at)
        self._causes.restore(((_resumed(row, at), row.cause) for row in memory.causes), memory.past_causes, at)
        self._links.restore(memory.links)
        self._jobs.restore(memory.jobs, at)
        lives = [*(row.life for row in memory.findings), *(row.life for row in memory.causes)]
        self._unseen |= {life.id for life in lives if life.state is LifeState.UNSEEN}
        for row in memory.causes:
            self._explained.setdefault(row.life.id, set()).update(row.cause.explains)

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
            findings={key: _finding_row(kept) for key, kept in findings.written.items()},
            causes={key: _cause_row(kept) for key, kept in causes.written.items()},
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


def _finding_row(kept: Kept[Explained]) -> FindingRow:
    finding, cause = kept.value
    episode = kept.episode
    return FindingRow(episode.life, finding, cause, kept.present, episode.away, tuple(episode.appearances))


def _cause_row(kept: Kept[Cause]) -> CauseRow:
    episode = kept.episode
    return CauseRow(episode.life, kept.value, kept.present, episode.away, tuple(episode.appearances))


def _resumed(row: FindingRow | CauseRow, at: datetime) -> Episode:
    return resumed(row.life, row.appearances, row.away, at)


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

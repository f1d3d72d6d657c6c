"""`truerail diff` of captures: compares two rounds as the service compares two times, with the journal's code.

One round is the newest of the capture. The other is an earlier one of the same capture, by its time, or the newest one
of another capture.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.analysis.round import Round
from truerail.cli.evaluating import inferred, load_plan, read
from truerail.cli.exit_codes import refusing
from truerail.cli.oncall_local import answered
from truerail.errors import CommandError, QueryError
from truerail.journal.lives import Lives
from truerail.model import Plan
from truerail.model.history import CauseEvent, FindingEvent, LinkChange, NoHistory, RowRange
from truerail.questions.diff import diff
from truerail.questions.diff_answer import Diff
from truerail.questions.moments import span
from truerail.questions.question import Given
from truerail.rounds import publication_of
from truerail.transport.times import round_time

if TYPE_CHECKING:
    from truerail.journal.round_changes import Changes
    from truerail.transport.replay import Capture

_PAGE = RowRange()


def diff_rounds(capture: Path, plan: Path | None, given: Given) -> Diff:
    """What changed from one round to the newest one of a capture; `summary` names both. Times count from the newest
    round, not from now: a capture may be old. Raises CommandError.
    """
    intended = load_plan(plan) if plan else None
    earlier, later = _two(given, read(capture, intended), intended)
    return _compared(earlier, later, intended)


def _two(given: Given, newest: "Capture", plan: Plan | None) -> tuple["Capture", "Capture"]:
    if given["before"] is not None:
        return read(given["before"], plan), newest
    path, rounds = newest.path, newest.rounds
    if len(rounds) < 2:
        raise CommandError(
            f"{path}: has one round, a comparison needs two: `truerail capture` adds one to a folder, "
            "--before CAPTURE sets another capture"
        )
    with refusing(QueryError):
        start, end = span(given["since"], given["until"], newest.at)
    last = _at(rounds, end)
    first = min(_at(rounds, start), last - 1)
    if first < 0:
        raise CommandError(f"{path}: has no two rounds up to {end:%Y-%m-%d %H:%M:%S UTC}; oldest: {rounds[0]}")
    return read(path, plan, rounds[first]), read(path, plan, rounds[last])


def _at(rounds: Sequence[str], moment: datetime) -> int:
    """The number of the last round up to a time, else the oldest."""
    return max((n for n, name in enumerate(rounds) if (at := round_time(name)) and at <= moment), default=0)


def _compared(earlier: "Capture", later: "Capture", plan: Plan | None) -> Diff:
    for one in (earlier, later):
        answered(one.readings, one.path)
    intended = plan or inferred(later.snapshot())[0]
    before, after = (publication_of(Round(intended, one.snapshot(), one.counters)) for one in (earlier, later))
    lives = Lives(timedelta(0), 2, timedelta(0))
    lives.update(before.evaluation, before.wiring)
    changes = lives.update(after.evaluation, after.wiring)
    found = diff(after, _Between(changes), earlier.at, later.at)
    guessed = "" if plan else " No plan is given: both are compared with what most hosts of the later one agree on."
    return replace(found, summary=f"{found.summary} Compared: {_named(earlier)} with {_named(later)}.{guessed}")


def _named(capture: "Capture") -> str:
    """A round in words: `round 2026-11-20T14:00:00Z (7 of 7) of captures`."""
    if not capture.rounds:
        return str(capture.path)
    number = next(n for n, name in enumerate(capture.rounds, 1) if round_time(name) == capture.at)
    return f"round {capture.rounds[number - 1]} ({number} of {len(capture.rounds)}) of {capture.path}"


class _Between(NoHistory):
    """The changes of one round, as the journal would return them."""

    def __init__(self, changes: "Changes") -> None:
        self._changes = changes

    def link_changes(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = _PAGE
    ) -> Sequence[LinkChange]:
        """The changes of links."""
        return self._changes.links[: page.limit]

    def finding_events(
        self, start: datetime, end: datetime, *, devices: Collection[str] | None = None, page: RowRange = _PAGE
    ) -> Sequence[FindingEvent]:
        """The events of findings."""
        return self._changes.events[: page.limit]

    def cause_events(self, start: datetime, end: datetime, *, page: RowRange = _PAGE) -> Sequence[CauseEvent]:
        """The events of causes."""
        return self._changes.cause_events[: page.limit]

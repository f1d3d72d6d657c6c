"""A round to answer a question from without a service: read from a capture, with `--at` an earlier one, or collected
from the devices of an inventory.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.cli import live
from truerail.cli.evaluating import Seen, inferred, load_plan, planned_round, read
from truerail.cli.exit_codes import refusing
from truerail.cli.oncall_source import Source
from truerail.errors import CaptureError, CommandError, QueryError
from truerail.model import Plan, Reading
from truerail.model.history import CauseEvent, FindingEvent, LinkChange, NoHistory, RowRange
from truerail.outputs.report_words import count
from truerail.questions.answer_text import when
from truerail.questions.diff_answer import Diff
from truerail.questions.moments import moment, span
from truerail.questions.past_publication import GAP, without_actions
from truerail.questions.question import Given
from truerail.rounds import evaluate, publication_of
from truerail.transport.replay import Capture, read_capture
from truerail.transport.times import round_time
from truerail.views.pieces import AsOf

if TYPE_CHECKING:
    from truerail.journal.round_changes import Changes


def publication(source: Source) -> tuple[Published, AsOf | None]:
    """The evaluation of a capture or of an inventory's devices, and its time if one was wanted."""
    if source.capture is not None and source.inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    intended, seen, as_of = round_asked(source)
    answered(seen.readings, source.capture or source.inventory)
    round, reported = planned_round(intended, seen)
    found = publication_of(round, evaluate(round, notes=[*reported, *seen.notes]))
    return found if as_of is None else as_past(found), as_of


def answered(readings: Iterable[Reading], place: Path | None) -> None:
    """Raises CommandError if no device of a round gave a readable answer."""
    if all(reading.error for reading in readings):
        raise CommandError(f"{place}: no device gave a readable answer, nothing was evaluated")


def round_asked(source: Source) -> tuple[Plan | None, Seen, AsOf | None]:
    """The plan, if any, and one round: read from the capture, or collected now; with its time if one was wanted."""
    if source.capture is not None:
        plan = load_plan(source.plan) if source.plan else None
        if source.at is None:
            return plan, read(source.capture, plan), None
        return plan, *round_at(source.capture, plan, source.at)
    assert source.inventory is not None  # noqa: S101 - one of the two is there, see `Source.local`
    fleet = live.load_fleet(source.inventory, source.plan)
    return fleet.plan, live.one_round(fleet), None


def round_at(path: Path, plan: Plan | None, at: str) -> tuple[Capture, AsOf]:
    """The last round of a capture up to a time, and what to say with its answer. A time such as `2h` counts from the
    newest round, not from now: a capture may be old. Raises CommandError, which names the span of the rounds.
    """
    with refusing(CaptureError, QueryError):
        listed = read_capture(path, only=())
        wanted = moment(at, listed.at)
    times = {name: time for name in listed.rounds if (time := round_time(name)) is not None}
    upto = [name for name, time in times.items() if time <= wanted]
    first, last = (min(times.values()), max(times.values())) if times else (listed.at, listed.at)
    if wanted < first:
        rounds = f"{count(max(len(times), 1), 'round')}, from {when(first)} to {when(last)}"
        raise CommandError(f"--at {at}: {path} has no round up to {when(wanted)}, it has {rounds}")
    seen = read(path, plan, upto[-1] if upto else None)
    return seen, AsOf(wanted, seen.at, tuple(_unknown(wanted, seen.at, listed)), "capture")


def _unknown(wanted: datetime, found: datetime, listed: Capture) -> Iterator[str]:
    """What a reader should know of the time between the round and the time."""
    if wanted - found > GAP:
        until = min((at for name in listed.rounds if (at := round_time(name)) and at > wanted), default=None)
        end = when(until) if until else "then"
        yield f"no round between {when(found)} and {end}: this is the state before that"


def as_past(publication: Published) -> Published:
    """The same without actions: they may be done by now."""
    evaluated = publication.evaluated
    return replace(publication, evaluated=replace(evaluated, evaluation=without_actions(evaluated.evaluation)))


# ----------------------------------------------------------------------------------------------------------------------
# `truerail diff` of captures: compares two rounds as the service compares two times, with the journal's code.
#
# One round is the newest of the capture. The other is an earlier one of the same capture, by its time, or the newest
# one of another capture.

_PAGE = RowRange()


def diff_rounds(capture: Path, plan: Path | None, given: Given) -> Diff:
    """What changed from one round to the newest one of a capture; `summary` names both. Times count from the newest
    round, not from now: a capture may be old. Raises CommandError.
    """
    intended = load_plan(plan) if plan else None
    earlier, later = _two(given, read(capture, intended), intended)
    return _compared(earlier, later, intended)


def _two(given: Given, newest: Capture, plan: Plan | None) -> tuple[Capture, Capture]:
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


def _compared(earlier: Capture, later: Capture, plan: Plan | None) -> Diff:
    from truerail.journal.lives import Lives
    from truerail.questions.diff import diff

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


def _named(capture: Capture) -> str:
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

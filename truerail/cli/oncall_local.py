"""A round to answer a question from without a service: read from a capture, with `--at` an earlier one, or collected
from the devices of an inventory.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from truerail.analysis.published import Published
from truerail.cli import live
from truerail.cli.evaluating import Seen, inferred, load_plan, read, round_of
from truerail.cli.exit_codes import refusing
from truerail.cli.oncall_source import Source
from truerail.errors import CaptureError, CommandError, QueryError
from truerail.model import Plan, Reading
from truerail.outputs.report_words import count
from truerail.questions.answer_text import when
from truerail.questions.moments import moment
from truerail.questions.past_publication import GAP, without_actions
from truerail.rounds import evaluate, publication_of
from truerail.transport.replay import Capture, read_capture
from truerail.transport.times import round_time
from truerail.views.pieces import AsOf


def publication(source: Source) -> tuple[Published, AsOf | None]:
    """The evaluation of a capture or of an inventory's devices, and its time if one was wanted."""
    if source.capture is not None and source.inventory is not None:
        raise CommandError("give a capture or an inventory, not both")
    intended, seen, as_of = round_asked(source)
    snapshot, notes = seen.snapshot(), list(seen.notes)
    answered(snapshot.readings, source.capture or source.inventory)
    if intended is None:
        intended, reported = inferred(snapshot)
        notes = [*reported, *notes]
    round = round_of(intended, seen, snapshot)
    found = publication_of(round, evaluate(round, notes=notes))
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
        span = f"{count(max(len(times), 1), 'round')}, from {when(first)} to {when(last)}"
        raise CommandError(f"--at {at}: {path} has no round up to {when(wanted)}, it has {span}")
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

"""`--at TIME` with a capture: the answer is that of its last round up to then."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.analysis.published import Published
from truerail.cli.evaluating import read
from truerail.errors import CaptureError, CommandError, QueryError
from truerail.outputs.report_words import count
from truerail.questions.moments import moment
from truerail.questions.past import GAP, without_actions
from truerail.questions.text import when
from truerail.transport.replay import Capture, read_capture
from truerail.transport.times import round_time
from truerail.views.pieces import AsOf

if TYPE_CHECKING:
    from truerail.model import Plan


def round_at(path: Path, plan: "Plan | None", at: str) -> tuple[Capture, AsOf]:
    """The last round of a capture up to a time, and what to say with its answer. A time such as `2h` counts from the
    newest round, not from now: a capture may be old. Raises CommandError, which names the span of the rounds.
    """
    try:
        listed = read_capture(path, only=())
        wanted = moment(at, listed.at)
    except (CaptureError, QueryError) as error:
        raise CommandError(str(error.args[0])) from error
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

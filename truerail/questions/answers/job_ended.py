"""`job ID` of a job that has ended: on which hosts it ran, and what was wrong on their rails when it ended."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from truerail.errors import NotFoundError, QueryError
from truerail.files.nodesets import fold
from truerail.model.history import CauseEvent, EventKind, RowRange
from truerail.model.job_record import JobRecord
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.questions.answers.job import job
from truerail.questions.answers.job_harm import runs_of
from truerail.questions.answers.jobs import time_words
from truerail.questions.answers.jobs_since import job_of
from truerail.questions.answers.past import Past
from truerail.questions.answers.rail_status import rail_status_of
from truerail.questions.job import Job
from truerail.questions.question import Asked
from truerail.views.view import View, view_of

MOST_EVENTS = 10_000
"""Most changes of causes that are looked through."""
_MOST_NAMED = 3


def ended_job(query: str, asked: Asked, runs: Sequence[JobRecord], past: Callable[[datetime], Past]) -> Job:
    """The last of these runs, the first in order: its hosts, and the state of their rails when it ended. `past` is the
    evaluation of a time. Raises NotFoundError where the plan has none of its hosts, or nothing is known of that time.
    """
    run = runs[0]
    found = job_of(view_of(asked.publication), run)
    key = printable(run.key, 80)
    ended = run.ended_at
    nodes = printable(run.nodes, 200) or "no node"
    span = f"from {time_words(run.begun_at)} to {time_words(ended)}" if ended else f"since {time_words(run.begun_at)}"
    others = (
        f" It ran {count(len(runs), 'time')}; this is the last." if len({one.key for one in runs}) < len(runs) else ""
    )
    if not found.hosts:
        raise NotFoundError(f"job {key} ran {span} on {nodes}, and the plan has none of these")
    place = fold(found.hosts)
    try:
        then = past(min(ended, asked.now)) if ended else Past(asked.publication, asked.history, None)
    except QueryError as error:
        raise NotFoundError(
            f"job {key} ran {span} on {printable(place, 200)}; what was wrong then is not known: {error.args[0]}"
        ) from error
    answer = job(then.publication, place)
    view = view_of(then.publication)
    (line,) = runs_of(view, rail_status_of(then.publication.evaluated), (found,), (), {0: ended} if ended else {})
    when = "When it ended" if ended else "Now"
    hours = f" Job {key} lost {line.gpu_hours:,.1f} GPU-hours by it." if line.harm and line.gpu_hours else ""
    events = asked.history.cause_events(run.begun_at, ended or asked.now, page=RowRange(MOST_EVENTS))
    before = "".join(f" While it ran: {one}." for one in _resolved(view, found.hosts, events, run.begun_at))
    return replace(
        answer,
        query=query,
        run=line,
        not_in_plan=tuple(dict.fromkeys((*answer.not_in_plan, *found.unplanned))),
        summary=f"Job {key} ran {span} on {count(len(found.hosts), 'host')}.{others} {when}: "
        f"{answer.summary}{hours}{before}",
        action="" if ended else answer.action,
        as_of=then.as_of,
    )


def _resolved(view: View, hosts: Iterable[str], events: Iterable[CauseEvent], begun: datetime) -> Iterator[str]:
    """The causes on the job's hosts and cables that were resolved before it ended, as sentences."""
    devices, ports = _places(view, hosts)
    ended: dict[str, CauseEvent] = {}
    for event in events:
        of_job = any(one in ports or one in devices for one in event.subjects)
        if event.kind is EventKind.RESOLVED and event.happened_at >= begun and of_job:
            ended.setdefault(event.cause, event)
    listed = sorted(ended.values(), key=lambda one: one.happened_at, reverse=True)
    for event in listed[:_MOST_NAMED]:
        yield f"{printable(event.summary, 300)}, until {time_words(event.happened_at)}"
    if len(listed) > _MOST_NAMED:
        yield f"{count(len(listed) - _MOST_NAMED, 'more cause')} that had been resolved"


def _places(view: View, hosts: Iterable[str]) -> tuple[set[str], set[str]]:
    """The hosts and the leaves of a job, and the planned ports at both ends of its cables."""
    index, cables = view.index, view.index.plan.cables
    codes = [view.device(name) for name in hosts]
    mine = [cables[place] for place in np.flatnonzero(np.isin(index.a_device, codes)).tolist()]
    devices = {index.devices.names[code] for code in codes} | {cable.b.device for cable in mine}
    return devices, {str(end) for cable in mine for end in (cable.a, cable.b)}

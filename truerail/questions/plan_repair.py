"""`plan-repair`: the open causes as an order of work.

A repair is possible now if no running job is on a host whose connections it ends, and in a window if the window covers
the cables with which they end, or their hosts are idle. Without given jobs every host may run one. Among what is
possible, `repair_order` gives back most GPU-hours.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from truerail.errors import QueryError
from truerail.model import Plan, Port
from truerail.model.cause_kinds import Work
from truerail.model.columns import Codes, Mask
from truerail.model.names import some
from truerail.outputs.punch import Step
from truerail.outputs.report_words import as_sentence, count
from truerail.questions.plan_repair_answer import (
    NOW,
    NotTogether,
    Repair,
    RepairPlan,
    RepairStep,
    RepairWindow,
    assumptions,
    plan_repair_text,
    summary,
)
from truerail.questions.question import RUNNING_JOBS, Asked, Form, Journal, Kind, Option, Question
from truerail.questions.rail_status import rail_status_of
from truerail.questions.repair_order import UNIT_MINUTES, Group, Schedule, apart, groups, in_order, value
from truerail.questions.repairs import LEAST_WEIGHT, Candidate, Gain, candidates, dependencies, gains, steps_of, walked
from truerail.questions.working_time import (
    JobsThere,
    Window,
    busy,
    folded,
    jobs_on,
    jobs_there,
    shortened,
    windows_announced,
    windows_given,
)
from truerail.views.lines import cause_line
from truerail.views.pieces import CauseLine
from truerail.views.view import View, view_of

LEAST_HOURS = 24
_CONFIRM = "confirm which explanation is right; nothing is moved before"
MOST_DAYS = 28
"""The plan reaches to the end of the last window, and not beyond four weeks."""


@dataclass(frozen=True)
class Basis:
    """What the order of work follows from. Rows are repairs, in walking order."""

    view: View
    repairs: tuple[Candidate, ...]
    steps: dict[str, tuple[Step, ...]]
    """By the id of the cause."""
    gains: tuple[Gain, ...]
    groups: tuple[Group, ...]
    after: tuple[tuple[int, ...], ...]
    jobs: JobsThere
    windows: tuple[Window, ...]
    windows_known: bool
    now_possible: Mask
    in_window: Mask
    """Shape (repairs, windows)."""
    starts: datetime
    ends: datetime
    technicians: int


def plan_repair(asked: Asked, job: str | None = None, window: str | None = None, technicians: int = 1) -> RepairPlan:
    """The order of work. Raises QueryError for an invalid node set or window, NotFoundError for a job or a window
    without anything in the plan.
    """
    basis = basis_of(asked, job, window, technicians)
    work = schedule_of(basis)
    start = in_order(work)
    apart_from, late = apart(basis.groups, len(basis.repairs)), basis.ends + timedelta(days=1)
    found = [_repair(basis, work, row, start, apart_from[row]) for row in range(len(basis.repairs))]
    repairs = tuple(sorted(found, key=lambda one: one.starts or late))
    unknown = sum(gain.gpus is None for gain in basis.gains)
    loud = [f for f in basis.view.findings.all if f.id not in basis.view.sight.cause_of and f.severity.rank > 0]
    return RepairPlan(
        starts=basis.starts,
        ends=basis.ends,
        technicians=technicians,
        jobs_known=basis.jobs.known,
        jobs=len(basis.jobs.jobs),
        not_in_plan=basis.jobs.unplanned,
        windows=tuple(_windows(basis, repairs)),
        windows_known=basis.windows_known,
        repairs=repairs,
        not_together=tuple(NotTogether(one.why, _keys(basis, one.rows)) for one in basis.groups),
        gpu_hours_back=_gpu_hours(work, start),
        gains_unknown=unknown,
        findings_without_cause=len(loud),
        assumptions=assumptions(basis.technicians, basis.jobs, windows_known=basis.windows_known),
        summary=summary(repairs, len(loud), jobs_known=basis.jobs.known),
        action=repairs[0].action if repairs and repairs[0].when else "",
    )


def basis_of(asked: Asked, job: str | None, window: str | None, technicians: int) -> Basis:
    """The repairs, what they give back, and when each is possible. Raises QueryError and NotFoundError."""
    view, standing = view_of(asked.publication), rail_status_of(asked.publication.evaluated)
    starts = _quarter(asked.now.astimezone(UTC))
    announced = windows_announced(view, asked.history, starts)
    given = windows_given(view, window, starts)
    there = jobs_there(asked.publication, job)
    ends = _end(starts, (*(announced or ()), *given))
    windows = tuple(one for one in (*(announced or ()), *given) if one.starts < ends)
    steps = steps_of(view)
    repairs = walked(view, candidates(view, standing, technicians), steps)
    row = {one.key: number for number, one in enumerate(repairs)}
    after = dependencies(repairs)
    idle = ~busy(there.jobs, len(view.index.devices.names)) & there.known
    return Basis(
        view, repairs, steps, tuple(gains(view, standing, repairs)), groups(view, repairs),
        after=tuple(tuple(row[key] for key in after[one.key]) for one in repairs),
        jobs=there, windows=windows, windows_known=announced is not None,
        now_possible=np.array([bool(idle[one.hosts].all()) for one in repairs], dtype=bool),
        in_window=_in_windows(view, repairs, windows, idle),
        starts=starts, ends=ends, technicians=technicians,
    )  # fmt: skip


def _quarter(at: datetime) -> datetime:
    """The next beginning of a unit: windows begin at one as well, most often."""
    whole = at.replace(second=0, microsecond=0)
    later = timedelta(minutes=-whole.minute % UNIT_MINUTES)
    return whole + (later if later or whole == at else timedelta(minutes=UNIT_MINUTES))


def _end(starts: datetime, windows: Sequence[Window]) -> datetime:
    last = max((one.ends for one in windows), default=starts)
    far = next((one for one in windows if not one.announced and one.starts > starts + timedelta(days=MOST_DAYS)), None)
    if far:
        raise QueryError(f"window {far.name}: it begins more than {MOST_DAYS} days ahead")
    return min(max(last, starts + timedelta(hours=LEAST_HOURS)), starts + timedelta(days=MOST_DAYS))


def _in_windows(view: View, repairs: tuple[Candidate, ...], windows: tuple[Window, ...], idle: Mask) -> Mask:
    """Which repairs are possible in which windows. Shape (repairs, windows)."""
    possible = np.zeros((len(repairs), len(windows)), dtype=bool)
    for row, one in enumerate(repairs):
        ending = one.ending[~idle[view.index.a_device[one.ending]]]
        for column, window in enumerate(windows):
            possible[row, column] = bool(window.cables[ending].all())
    return possible


def schedule_of(basis: Basis) -> Schedule:
    """The repairs as the problem that `repair_order` solves."""
    repairs, units = basis.repairs, _unit(basis, basis.ends)
    allowed = np.zeros((len(repairs), units), dtype=bool)
    for column, window in enumerate(basis.windows):
        first, last = -(-_minutes(basis, window.starts) // UNIT_MINUTES), _unit(basis, window.ends)
        allowed[basis.in_window[:, column], max(0, first) : last] = True
    allowed[basis.now_possible] = True
    allowed[[row for row, one in enumerate(repairs) if one.work is Work.WAIT or _waits(basis, row)]] = False
    return Schedule(
        weight=np.array([gain.weight for gain in basis.gains], dtype=np.float64),
        units=np.array([max(1, -(-one.minutes // UNIT_MINUTES)) for one in repairs], dtype=np.int64),
        people=np.array([one.technicians for one in repairs], dtype=np.int64),
        allowed=allowed,
        apart=apart(basis.groups, len(repairs)),
        after=basis.after,
        technicians=basis.technicians,
    )


def _gpu_hours(work: Schedule, start: Codes) -> float:
    """The objective without what is added so that nothing is put off for ever."""
    known = replace(work, weight=np.where(work.weight > LEAST_WEIGHT, work.weight, 0.0))
    return round(value(known, start) * UNIT_MINUTES / 60, 1)


def _waits(basis: Basis, row: int) -> bool:
    """Whether a repair waits for one that is only confirmed in this plan."""
    return any(basis.repairs[one].work in (Work.CONFIRM, Work.WAIT, Work.LOOK) for one in basis.after[row])


def _minutes(basis: Basis, at: datetime) -> int:
    return int((at - basis.starts).total_seconds() // 60)


def _unit(basis: Basis, at: datetime) -> int:
    """The whole units until a time, within the plan."""
    return max(0, _minutes(basis, min(at, basis.ends)) // UNIT_MINUTES)


def _span(basis: Basis, work: Schedule, row: int, start: int) -> tuple[str, datetime | None, datetime | None]:
    if start < 0:
        return "", None, None
    begins = basis.starts + timedelta(minutes=start * UNIT_MINUTES)
    ends = begins + timedelta(minutes=int(work.units[row]) * UNIT_MINUTES)
    if basis.now_possible[row]:
        return NOW, begins, ends
    own = (window for column, window in enumerate(basis.windows) if basis.in_window[row, column])
    name = next((window.name for window in own if window.starts <= begins < window.ends), "")
    return name, begins, ends


def _waits_for(basis: Basis, work: Schedule, row: int, start: Codes) -> str:
    """Why a repair has no place in the plan; empty if it has one."""
    one = basis.repairs[row]
    if start[row] >= 0:
        return ""
    if one.work is Work.WAIT:
        return "others have announced work on it: look again when that ends"
    if before := [basis.repairs[other] for other in basis.after[row] if _open(basis, other, start)]:
        return f"first {' and '.join(f'{other.cause.id} ({_verb(other)})' for other in before)}"
    if not work.allowed[row].any():
        return _in_use(basis, one)
    length = int(work.units[row])
    if not _fits(work, row, length):
        return f"it takes {length * UNIT_MINUTES} min, and no window that allows it is that long"
    return f"the time that allows it is taken: {count(basis.technicians, 'technician')}"


def _open(basis: Basis, row: int, start: Codes) -> bool:
    return bool(start[row] < 0) or basis.repairs[row].work in (Work.CONFIRM, Work.LOOK)


def _verb(one: Candidate) -> str:
    return "to be confirmed" if one.work is Work.CONFIRM else "to be repaired"


def _fits(work: Schedule, row: int, length: int) -> bool:
    run = longest = 0
    for open_ in work.allowed[row].tolist():
        run = run + 1 if open_ else 0
        longest = max(longest, run)
    return longest >= length


def _in_use(basis: Basis, one: Candidate) -> str:
    hosts = shortened(folded(basis.view, one.hosts))
    if not basis.jobs.known:
        return f"it interrupts {hosts}, and which jobs run there is unknown: give --job or --window"
    names = [job.name for job, _ in jobs_on(basis.jobs.jobs, one.hosts)]
    return f"it interrupts {hosts}, where {some(names, 4)} run{'s' if len(names) == 1 else ''}: it needs a window"


def _repair(basis: Basis, work: Schedule, row: int, start: Codes, apart_from: Mask) -> Repair:
    """A repair as the answer has it. One that is to be confirmed has no steps: nothing is moved."""
    one, gain = basis.repairs[row], basis.gains[row]
    line = cause_line(basis.view, one.cause)
    when, starts, ends = _span(basis, work, row, int(start[row]))
    steps = tuple(_steps(basis.view.plan, one, basis.steps.get(one.cause.id, ())))
    return Repair(
        key=one.key,
        id=line.id,
        kind=line.kind,
        summary=line.summary,
        work=one.work.value,
        action=_action(one, line),
        confirm_first=line.to_confirm,
        when=when,
        starts=starts,
        ends=ends,
        minutes=one.minutes,
        technicians=one.technicians,
        racks=tuple(dict.fromkeys(step.rack for step in steps if step.rack)),
        gpus_back=gain.gpus,
        gpus_back_is_lower_bound=gain.is_lower_bound,
        bisection_share_back=gain.bisection_share,
        interrupts=folded(basis.view, one.hosts),
        jobs=tuple(job.name for job, _ in jobs_on(basis.jobs.jobs, one.hosts)),
        after=_keys(basis, basis.after[row]),
        not_with=_keys(basis, np.flatnonzero(apart_from).tolist()),
        waits_for=_waits_for(basis, work, row, start),
        muted=line.muted,
        steps=steps,
    )


def _action(one: Candidate, line: CauseLine) -> str:
    if one.work is not Work.CONFIRM or (one.cause.undecided and line.action):
        return line.action
    return as_sentence(f"{_CONFIRM}: {line.to_confirm}" if line.to_confirm else _CONFIRM)


def _steps(plan: Plan, one: Candidate, steps: Sequence[Step]) -> Iterator[RepairStep]:
    for step in steps if one.work not in (Work.CONFIRM, Work.WAIT) else ():
        device = plan.placed(step.device)
        yield RepairStep(
            device=step.device,
            rack=device.rack if device else "",
            unit=device.unit if device else None,
            at=str(step.at),
            to=str(step.to) if step.to else None,
            far=str(step.far) if isinstance(step.far, Port) else None,
            label=step.label,
            action=step.action,
        )


def _keys(basis: Basis, rows: Sequence[int]) -> tuple[str, ...]:
    return tuple(basis.repairs[row].key for row in rows)


def _windows(basis: Basis, repairs: Sequence[Repair]) -> Iterator[RepairWindow]:
    for one in basis.windows:
        own = tuple(r.key for r in repairs if r.when == one.name and r.starts and one.starts <= r.starts < one.ends)
        yield RepairWindow(one.name, one.starts, one.ends, one.announced, one.reason, own)


QUESTION = Question(
    "plan-repair",
    RepairPlan,
    (
        RUNNING_JOBS,
        Option(
            "window",
            help="Maintenance windows: 'tomorrow 22:00/4h; pod p1=22:00/02:00', or the option again. "
            "Announced maintenance counts without it.",
            kind=Kind.LIST,
            metavar="[WHAT=]FROM/UNTIL",
            label="Maintenance windows",
            example="tomorrow 22:00/4h; pod p1=22:00/02:00",
        ),
        Option(
            "technicians",
            help="How many people work at the same time.",
            kind=Kind.NUMBER,
            default=1,
            least=1,
            most=100,
            label="Technicians",
        ),
    ),
    lambda asked, given: plan_repair(asked, **given),
    "All open causes as an order of work that gives back most GPU-hours: what can be repaired now without "
    "touching a running job, what in which maintenance window, what not together, and what each gives back.",
    good=lambda answer: False if answer.repairs else None if answer.findings_without_cause else True,
    text=plan_repair_text,
    form=Form("What to repair, in what order?", "Plan repairs"),
    journal=lambda given: Journal.USED,
)

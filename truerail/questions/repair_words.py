"""The words of a plan of repairs: each repair, why one has no place, the summary, and what is assumed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from truerail.model import Plan, Port
from truerail.outputs.punch import Step
from truerail.outputs.report_words import as_sentence, count
from truerail.questions.plan_repair_answer import Repair, RepairStep
from truerail.questions.repairs import MINUTES, PLUGS_EACH, Candidate, Gain, Work
from truerail.questions.working_time import JobsThere
from truerail.views.pieces import CauseLine
from truerail.views.view import View

NOW = "now"
_CONFIRM = "confirm which explanation is right; nothing is moved before"


@dataclass(frozen=True, slots=True)
class Placed:
    """A repair by its row, with its place in the plan, or why it has none."""

    row: int
    when: str
    starts: datetime | None
    ends: datetime | None
    waits_for: str


def repair_of(
    view: View,
    one: Candidate,
    line: CauseLine,
    placed: Placed,
    gain: Gain,
    steps: Sequence[Step],
    *,
    interrupts: str,
    jobs: tuple[str, ...],
    after: tuple[str, ...],
    not_with: tuple[str, ...],
) -> Repair:
    """A repair as the answer has it. One that is to be confirmed has no steps: nothing is moved."""
    shown = tuple(_steps(view.plan, one, steps))
    return Repair(
        key=one.key,
        id=line.id,
        kind=line.kind,
        summary=line.summary,
        work=one.work.value,
        action=_action(one, line),
        confirm_first=line.to_confirm,
        when=placed.when,
        starts=placed.starts,
        ends=placed.ends,
        minutes=one.minutes,
        technicians=one.technicians,
        racks=tuple(dict.fromkeys(step.rack for step in shown if step.rack)),
        gpus_back=gain.gpus,
        gpus_back_is_lower_bound=gain.is_lower_bound,
        bisection_share_back=gain.bisection_share,
        interrupts=interrupts,
        jobs=jobs,
        after=after,
        not_with=not_with,
        waits_for=placed.waits_for,
        muted=line.muted,
        steps=shown,
    )


def _action(one: Candidate, line: CauseLine) -> str:
    if one.work is not Work.CONFIRM or (one.cause.undecided and line.action):
        return line.action
    return as_sentence(f"{_CONFIRM}: {line.to_confirm}" if line.to_confirm else _CONFIRM)


def _steps(plan: Plan, one: Candidate, steps: Sequence[Step]) -> Iterator[RepairStep]:
    for step in steps if one.work not in (Work.CONFIRM, Work.WAIT) else ():
        device = plan.devices.get(step.device)
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


def summary(repairs: Sequence[Repair], findings: int, *, jobs_known: bool) -> str:
    """The plan in one sentence or two."""
    rest = f" {count(findings, 'finding')} without a common cause {'is' if findings == 1 else 'are'} not planned."
    if not repairs:
        return f"No open cause needs a repair now.{rest * bool(findings)}"
    now = sum(one.when == NOW for one in repairs)
    later = sum(bool(one.when) and one.when != NOW for one in repairs)
    none = len(repairs) - now - later
    whose = "without touching a running job" if jobs_known else "without interrupting what works"
    parts = [f"{now:,} can be done now {whose}"]
    parts += [f"{later:,} in a maintenance window"] * bool(later) + [f"{none:,} cannot be planned yet"] * bool(none)
    jobs = "" if jobs_known else " Jobs unknown: every host may run one."
    return f"{count(len(repairs), 'repair')}: {', '.join(parts)}. {_back(repairs)}{jobs}{rest * bool(findings)}"


def _back(repairs: Sequence[Repair]) -> str:
    placed = [one for one in repairs if one.when]
    gpus = sum(one.gpus_back or 0 for one in placed)
    unknown = sum(one.gpus_back is None for one in placed)
    more = f"; of {count(unknown, 'repair')} it is unknown" if unknown else ""
    return f"They give back {count(gpus, 'GPU')}{more}."


def assumptions(technicians: int, there: JobsThere, *, windows_known: bool) -> tuple[str, ...]:
    """What the plan takes for granted."""
    times = ", ".join(
        f"{MINUTES[work]} min a {thing}"
        for work, thing in ((Work.MOVE, "plug"), (Work.LINK, "cable"), (Work.HOST, "host"), (Work.SETTINGS, "setting"))
    )
    jobs = (
        f"a host of no {there.source} job is idle; a job runs until it is ended"
        if there.known
        else "jobs are unknown: what interrupts a host that works waits for a window"
    )
    people = f"{count(technicians, 'technician')}, one more for every {PLUGS_EACH} plugs where there are more"
    windows = "" if windows_known else "announced maintenance is unknown: the journal cannot be read"
    return tuple(filter(None, (f"{times}: judged, not measured", people, jobs, windows)))

"""The answer of `plan-repair`, its sentences, and its text: the work of each time, rack by rack."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model import Device
from truerail.model.cause_kinds import Work
from truerail.model.names import some
from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, count, name, place, sentence
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading
from truerail.questions.answer_text import MOST_LINES, more, rows, section
from truerail.questions.repairs import MINUTES, PLUGS_EACH
from truerail.questions.working_time import JobsThere
from truerail.views.pieces import AsOf

MOST_STEPS = 4
NOW = "now"


@dataclass(frozen=True, slots=True)
class RepairStep:
    """One action of a repair: where to walk, the port that a moved plug goes into, and the end that stays in place."""

    device: str
    rack: str
    unit: int | None
    at: str
    to: str | None
    far: str | None
    label: str
    action: str


@dataclass(frozen=True, slots=True)
class Repair:
    """The repair of one open cause.

    `work` is `move` (plugs), `link` (a cable, its optics), `host`, `settings`, `names`, `confirm` (look which of its
    explanations is right: nothing is moved before), `look`, or `wait` (work that others have announced). `when` is
    `now`, the name of a window, or empty if it has no place in the plan: `waits_for` says why.
    `interrupts` are the hosts, as a node set, whose connections end while it is done.
    """

    key: str
    id: str
    kind: str
    summary: str
    work: str
    action: str
    confirm_first: str
    when: str
    starts: datetime | None
    ends: datetime | None
    minutes: int
    technicians: int
    racks: tuple[str, ...]
    gpus_back: int | None
    """GPUs that get their rail back; None: unknown."""
    gpus_back_is_lower_bound: bool
    """Whether further cables of the cause are in unknown state."""
    bisection_share_back: float | None
    """The share of the planned bisection bandwidth that it gives back, 0..1; None: unknown."""
    interrupts: str
    jobs: tuple[str, ...]
    """Jobs on these hosts, given or running."""
    after: tuple[str, ...]
    """Keys of the causes to repair first."""
    not_with: tuple[str, ...]
    """Keys of the causes that are not repaired at the same time."""
    waits_for: str
    muted: str | None
    steps: tuple[RepairStep, ...]


@dataclass(frozen=True, slots=True)
class NotTogether:
    """Repairs of which two may not be done at the same time, by the keys of their causes."""

    why: str
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairWindow:
    """A maintenance window: announced in the journal, or given. `repairs` are the keys of the causes repaired in it."""

    name: str
    starts: datetime
    ends: datetime
    announced: bool
    reason: str
    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """`plan-repair`, in order of work; repairs without a place come last.

    `gpu_hours_back` is the sum over the planned repairs of the GPUs that they give back, times the hours from the end
    of the repair to `ends`; a repair of uplinks counts with its share of the bisection bandwidth times the GPUs of the
    fabric. Repairs whose effect is unknown count as none: `gains_unknown` is their number.
    """

    starts: datetime
    ends: datetime
    technicians: int
    jobs_known: bool
    jobs: int
    not_in_plan: tuple[str, ...]
    windows: tuple[RepairWindow, ...]
    windows_known: bool
    repairs: tuple[Repair, ...]
    not_together: tuple[NotTogether, ...]
    gpu_hours_back: float
    gains_unknown: int
    findings_without_cause: int
    assumptions: tuple[str, ...]
    summary: str
    action: str
    as_of: AsOf | None = None


def plan_repair_text(answer: RepairPlan, options: Options) -> Iterator[RenderableType]:
    """The figures, the repairs in order of work, those without a place, and what may not be done together."""
    most = None if options.details else MOST_LINES
    yield Text()
    yield rows(_figures(answer))
    for when, found in groupby((one for one in answer.repairs if one.when), key=lambda one: one.when):
        yield from _slot("Now" if when == "now" else f"In the window of {when}", list(found), options)
    waiting = [one for one in answer.repairs if not one.when]
    draw = partial(_repair, options=options)
    yield from section(waiting, draw, "repairs", "Not planned yet", most=most)
    yield from _together(answer, most)
    yield heading("Assumed")
    yield from (hanging("-", Text(as_sentence(words), style=QUIET)) for words in answer.assumptions)


def _figures(answer: RepairPlan) -> Iterator[tuple[str, RenderableType | str]]:
    yield "plan", f"{answer.starts:%Y-%m-%d %H:%M} to {answer.ends:%Y-%m-%d %H:%M} UTC"
    unknown = f"; unknown for {count(answer.gains_unknown, 'repair')}, counted as 0" if answer.gains_unknown else ""
    yield "gives back", f"{answer.gpu_hours_back:,.1f} GPU-hours in this time{unknown}"
    yield "jobs", count(answer.jobs, "job") if answer.jobs_known else "unknown: give them with --job NAME=NODES"
    if answer.not_in_plan:
        yield "not in the plan", name(fold(answer.not_in_plan))
    windows = ", ".join(f"{name(one.name)} to {one.ends:%H:%M}" for one in answer.windows[:MOST_STEPS])
    yield "windows", windows or ("none" if answer.windows_known else "unknown: the journal cannot be read")


def _slot(title: str, repairs: Sequence[Repair], options: Options) -> Iterator[RenderableType]:
    yield heading(title, count(len(repairs), "repair"))
    most = None if options.details else MOST_LINES
    for rack, found in groupby(repairs[:most], key=lambda one: one.racks[:1]):
        if rack:
            yield Text(f"  rack {name(rack[0])}", style="bold")
        for one in found:
            yield from _repair(one, options)
    yield from more(len(repairs) - len(repairs[:most]), "repairs")


def _repair(one: Repair, options: Options) -> Iterator[RenderableType]:
    time = f"{one.starts:%d %H:%M} " if one.starts else ""
    title = Text().append(f"{time}{name(one.id)} {name(one.kind)}", style="bold")
    people = f", {one.technicians} technicians" if one.technicians > 1 else ""
    title.append(f"  {one.minutes} min{people}, {_back(one)}, {name(one.key)}", style=QUIET)
    yield hanging("!", title)
    for words in _notes(one):
        yield hanging("", Text(sentence(words)), indent=4)
    yield hanging("do", Text(sentence(_head(one))), indent=4)
    shown = one.steps if options.details else one.steps[:MOST_STEPS]
    if one.work == "move":
        for step in shown:
            yield hanging("-", _step(step), indent=7)
        yield from more(len(one.steps) - len(shown), "plugs", "--details shows all")


def _back(one: Repair) -> str:
    if one.gpus_back is None:
        return "effect unknown"
    least = "at least " if one.gpus_back_is_lower_bound else ""
    share = f" and {one.bisection_share_back:.2%} of the bisection" if one.bisection_share_back else ""
    return f"{least}{count(one.gpus_back, 'GPU')}{share} back"


def _notes(one: Repair) -> Iterator[str]:
    if one.waits_for:
        yield f"waits: {one.waits_for}"
    if one.confirm_first and one.work != "confirm":
        yield f"confirm first: {one.confirm_first}"
    if one.interrupts and one.when:
        jobs = f"; jobs there: {', '.join(one.jobs[:4])}" if one.jobs else ""
        yield f"interrupts {one.interrupts}{jobs}"
    if one.muted:
        yield f"muted: {one.muted}"


def _head(one: Repair) -> str:
    """What to do, without the moves where they follow."""
    head, colon, tail = one.action.partition(": ")
    moves = one.work == "move" and one.steps and one.steps[0].to and str(one.steps[0].to) in tail
    return as_sentence(head if colon and moves else one.action) or f"{one.kind}: see truerail why {one.key}"


def _step(step: RepairStep) -> Text:
    where = place(Device(step.device, rack=step.rack, unit=step.unit))
    line = Text().append(f"{name(step.at)}", style=PORT)
    line.append(f" → {name(step.to)}" if step.to else "", style=PORT)
    return line.append(f"  {where}" if where else "", style=QUIET)


def _together(answer: RepairPlan, most: int | None) -> Iterator[RenderableType]:
    if answer.not_together:
        yield heading("Not at the same time")
    ids = {one.key: one.id for one in answer.repairs}
    for group in answer.not_together[:most]:
        named = some([name(ids[key]) for key in group.causes if key in ids], 8)
        yield hanging("-", Text(f"{named}: {sentence(group.why)}"))
    yield from more(len(answer.not_together) - len(answer.not_together[:most]), "reasons")


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
    return f"{count(len(repairs), 'repair')}: {', '.join(parts)}. {_given_back(repairs)}{jobs}{rest * bool(findings)}"


def _given_back(repairs: Sequence[Repair]) -> str:
    placed = [one for one in repairs if one.when]
    gpus = sum(one.gpus_back or 0 for one in placed)
    unknown = sum(one.gpus_back is None for one in placed)
    more = f"; of {count(unknown, 'repair')} it is unknown" if unknown else ""
    return f"They give back {count(gpus, 'GPU')}{more}."


def assumptions(technicians: int, there: JobsThere, *, windows_known: bool) -> tuple[str, ...]:
    """What the plan takes for granted."""
    things = {Work.MOVE: "plug", Work.LINK: "cable", Work.HOST: "host", Work.SETTINGS: "setting"}
    times = ", ".join(f"{MINUTES[work]} min a {thing}" for work, thing in things.items())
    known = f"a host of no {there.source} job is idle; a job runs until it is ended"
    jobs = known if there.known else "jobs are unknown: what interrupts a host that works waits for a window"
    people = f"{count(technicians, 'technician')}, one more for every {PLUGS_EACH} plugs where there are more"
    windows = "" if windows_known else "announced maintenance is unknown: the journal cannot be read"
    return tuple(filter(None, (f"{times}: judged, not measured", people, jobs, windows)))

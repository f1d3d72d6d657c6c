"""`plan-repair` as text: what is done now, in each window, and what cannot be planned yet, rack by rack."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import RenderableType
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model import Device
from truerail.outputs.options import Options
from truerail.outputs.report_words import as_sentence, count, name, place, sentence
from truerail.outputs.text.blocks import hanging, heading
from truerail.outputs.text.style import PORT, QUIET
from truerail.questions.plan_repair import Repair, RepairPlan, RepairStep
from truerail.questions.text.pieces import MOST_LINES, more, rows

MOST_STEPS = 4


def plan_repair_text(answer: RepairPlan, options: Options) -> Iterator[RenderableType]:
    """The figures, the repairs in order of work, those without a place, and what may not be done together."""
    most = None if options.details else MOST_LINES
    yield Text()
    yield rows(_figures(answer))
    for when, found in groupby((one for one in answer.repairs if one.when), key=lambda one: one.when):
        yield from _slot(answer, "Now" if when == "now" else f"In the window of {when}", list(found), options)
    waiting = [one for one in answer.repairs if not one.when]
    if waiting:
        yield heading("Not planned yet")
    for one in waiting[:most]:
        yield from _repair(one, options)
    yield from more(len(waiting) - len(waiting[:most]), "repairs")
    yield from _together(answer, most)
    yield heading("Assumed")
    yield from (hanging("-", Text(as_sentence(words), style=QUIET)) for words in answer.assumptions)


def _figures(answer: RepairPlan) -> Iterator[tuple[str, RenderableType | str]]:
    yield "plan", f"{answer.starts:%Y-%m-%d %H:%M} to {answer.ends:%Y-%m-%d %H:%M} UTC"
    yield "gives back", f"{answer.gpu_hours_back:,.1f} GPU-hours in this time{_unknown(answer)}"
    jobs = count(answer.jobs, "job") if answer.jobs_known else "unknown: give them with --job NAME=NODES"
    yield "jobs", jobs
    if answer.not_in_plan:
        yield "not in the plan", name(fold(answer.not_in_plan))
    windows = ", ".join(f"{name(one.name)} to {one.ends:%H:%M}" for one in answer.windows[:MOST_STEPS])
    yield "windows", windows or ("none" if answer.windows_known else "unknown: the journal cannot be read")


def _unknown(answer: RepairPlan) -> str:
    return f"; unknown for {count(answer.gains_unknown, 'repair')}, counted as 0" if answer.gains_unknown else ""


def _slot(answer: RepairPlan, title: str, repairs: Sequence[Repair], options: Options) -> Iterator[RenderableType]:
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
    title.append(f"  {_effort(one)}, {_back(one)}, {name(one.key)}", style=QUIET)
    yield hanging("!", title)
    for words in _notes(one):
        yield hanging("", Text(sentence(words)), indent=4)
    yield hanging("do", Text(sentence(_head(one))), indent=4)
    shown = one.steps if options.details else one.steps[:MOST_STEPS]
    if one.work == "move":
        for step in shown:
            yield hanging("-", _step(step), indent=7)
        yield from more(len(one.steps) - len(shown), "plugs", "--details shows all")


def _effort(one: Repair) -> str:
    people = f", {one.technicians} technicians" if one.technicians > 1 else ""
    return f"{one.minutes} min{people}"


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
        named = ", ".join(name(ids[key]) for key in group.causes[:8] if key in ids)
        rest = f" and {len(group.causes) - 8:,} more" if len(group.causes) > 8 else ""
        yield hanging("-", Text(f"{named}{rest}: {sentence(group.why)}"))
    yield from more(len(answer.not_together) - len(answer.not_together[:most]), "reasons")

"""What to do: each cause, the evidence for it, and its moves with both ends named."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from truerail.files.nodesets import fold
from truerail.model import Alternative, Cause, CauseKind, Evaluation, Move, Plan, Port, Role
from truerail.model.finding import is_down
from truerail.model.names import some
from truerail.outputs.options import Options
from truerail.outputs.report_words import (
    as_sentence,
    count,
    instruction,
    name,
    order,
    place_of,
    port_of,
    sentence,
    sure,
)
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading, left_out, located

MOST_CAUSES = 25
MOST_MOVES = 8
MOST_SUBJECTS = 4
FEWEST_FOLDED = 3
"""From this number on, devices that do not answer share one block."""
_BODY = 5


def what_to_do(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """The causes in order; empty without any."""
    if not evaluation.causes:
        return
    yield heading("What to do")
    silent = [] if options.details else [cause for cause in evaluation.causes if cause.kind is CauseKind.UNREACHABLE]
    alike = {cause.id for cause in silent} if len(silent) >= FEWEST_FOLDED else set()
    single = [cause for cause in evaluation.causes if cause.id not in alike]
    shown = single if options.details else single[:MOST_CAUSES]
    for cause in shown:
        yield Text()
        yield from _cause(cause, evaluation.plan, options)
    if hidden := len(single) - len(shown):
        yield left_out(hidden, "causes", options.next_step)
    if alike:
        down = [cause for cause in silent if is_down(cause.kind, cause.subjects, cause.summary)]
        for group in (down, [cause for cause in silent if cause not in down]):
            if group:
                yield Text()
                yield from _unreachable(group, down=group is down)


def _unreachable(causes: Sequence[Cause], *, down: bool) -> Iterator[RenderableType]:
    """Devices that do not answer, in one block: the action is the same for each."""
    devices = [subject for cause in causes for subject in cause.subjects]
    findings = sum(len(cause.explains) for cause in causes)
    title = Text().append(CauseKind.UNREACHABLE.value, style="bold")
    title.append(f"  {name(fold(devices))}", style=PORT)
    title.append(f"  {count(len(causes), 'cause')}, explain {count(findings, 'finding')}", style=QUIET)
    yield hanging(Text(name(fold([cause.id for cause in causes])), style="bold"), title, indent=0, width=_BODY - 1)
    many = len(devices) != 1
    summary = f"{count(len(devices), 'device')} {'are' if many else 'is'} down: no answer, and no link on their cables."
    action = "Check that they are powered." if down else "Check the management access to them."
    silent = f"{count(len(devices), 'device')} {'do' if many else 'does'} not answer."
    yield hanging("", Text(summary if down else silent), indent=_BODY - 1)
    yield hanging("", Text(action, style="bold"), indent=_BODY - 1)


def _cause(cause: Cause, plan: Plan, options: Options) -> Iterator[RenderableType]:
    title = Text().append(cause.kind.value, style="bold")
    title.append(f"  {some([*map(name, cause.subjects)], MOST_SUBJECTS)}", style=PORT)
    title.append(f"  {sure(cause.confidence)} sure, explains {count(len(cause.explains), 'finding')}", style=QUIET)
    yield hanging(Text(cause.id, style="bold"), title, indent=0, width=_BODY - 1)
    if cause.summary:
        yield hanging("", Text(as_sentence(cause.summary)), indent=_BODY - 1)
    if cause.action:
        yield hanging("", Text(instruction(cause), style="bold"), indent=_BODY - 1)
    if cause.moves:
        yield from _moves(cause.moves, plan, options)
    else:
        yield from _places(cause, plan)
    for alternative in cause.alternatives:
        yield _alternative(alternative)
    if cause.to_confirm:
        yield hanging("to confirm:", Text(sentence(cause.to_confirm)), indent=_BODY)


def _moves(moves: tuple[Move, ...], plan: Plan, options: Options) -> Iterator[RenderableType]:
    """The moves as a table: which plug, from where to where, and the end that stays."""
    shown = moves if options.details else moves[:MOST_MOVES]
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(4):
        grid.add_column(overflow="fold")
    grid.add_row("", "unplug from", "plug into", "other end stays in", style=QUIET)
    for number, move in enumerate(shown, 1):
        grid.add_row(f"{number}.", _port(move.source), Text("→ ").append_text(_port(move.target)), _stays(move, plan))
    yield Padding(grid, (0, 0, 0, _BODY))
    if hidden := len(moves) - len(shown):
        yield Padding(left_out(hidden, "moves", options.next_step), (0, 0, 0, _BODY - 2))
    yield from _where(shown, plan)


def _port(port: Port) -> Text:
    return Text().append(name(str(port)), style=PORT)


def _stays(move: Move, plan: Plan) -> Text:
    cable = plan.cable_at(move.cable)
    label = f" label {name(cable.label)}" if cable and cable.label else ""
    return _port(move.cable).append(label, style=QUIET)


def _where(moves: tuple[Move, ...], plan: Plan) -> Iterator[RenderableType]:
    """The locations of all devices in the moves shown: switches first."""
    ports = [move.source for move in moves] + [move.target for move in moves] + [move.cable for move in moves]
    devices = sorted({port.device for port in ports}, key=lambda d: (plan.role_of(d) is Role.HOST, order(d)))
    places = [(device, place_of(device, plan)) for device in devices]
    line = Text("; ").join(
        Text().append(name(device), style=PORT).append(f" {where}", QUIET) for device, where in places if where
    )
    if line:
        yield hanging("at", line, indent=_BODY)


def _places(cause: Cause, plan: Plan) -> Iterator[RenderableType]:
    """Where to look if there is nothing to move."""
    for subject in sorted(cause.subjects, key=order)[:MOST_SUBJECTS]:
        where, port = place_of(subject, plan), port_of(subject, plan)
        far = plan.peer_of(port) if port else None
        if where or far:
            line = located(name(subject), where)
            if far:
                line.append(" – other end ").append_text(located(name(str(far)), place_of(far, plan)))
            yield hanging("at", line, indent=_BODY)


def _alternative(alternative: Alternative) -> RenderableType:
    line = Text().append(alternative.kind.value, style="bold")
    line.append(f": {sentence(alternative.summary)}")
    if alternative.moves:
        line.append(f" ({count(len(alternative.moves), 'move')})", style=QUIET)
    elif alternative.kind is not CauseKind.UNKNOWN:
        line.append(" (no cable to move)", style=QUIET)
    return hanging("or", line, indent=_BODY)

"""The punch list: one line for each manual action, in walking order (rack, unit, port)."""

from dataclasses import dataclass, replace

from truerail.model import Cause, CauseKind, Device, Evaluation, Move, Plan, Port
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.columns import grouped
from truerail.model.finding import waits
from truerail.model.panel_paths import checked_first, meetings, spot
from truerail.outputs.report_words import order, port_of


@dataclass(frozen=True, slots=True)
class Step:
    """One action. `at` is the port or device to walk to, `to` the port that a moved plug goes into.

    `far` is the other end of the cable, which stays in place; None without a cable.
    """

    cause: str
    kind: str
    at: Port | str
    action: str
    to: Port | None = None
    far: Port | None = None
    label: str = ""
    after: str = ""
    """What to repair first: such steps come last."""
    serial: str = ""
    """The serial number of the module or cable at `at`, as its device reports it."""
    far_serial: str = ""
    panels: str = ""
    """The front ports of patch panels to be checked first: the plugs may be exchanged there."""

    @property
    def device(self) -> str:
        """The device to walk to."""
        return self.at.device if isinstance(self.at, Port) else self.at


def punch_list(evaluation: Evaluation) -> list[Step]:
    """Every move of every cause, and one step for each cause that needs manual work or a look but no move.
    A cause to look at again later has no step.
    """
    serials = evaluation.serials
    steps = [
        replace(step, serial=serials.get(str(step.at), ""), far_serial=serials.get(str(step.far), ""))
        for cause in evaluation.causes
        for step in _steps(cause, evaluation.plan)
    ]
    return sorted(steps, key=lambda step: _walk(step, evaluation.plan))


def steps_of(evaluation: Evaluation) -> dict[str, tuple[int, ...]]:
    """By the id of each finding that a cause explains: the numbers of the punch list steps that repair it, counted from
    one. If its cause moves cables, these are the steps for its own cable, else all of its cause.
    """
    steps = list(enumerate(punch_list(evaluation), 1))
    subject = {finding.id: finding.subject for finding in evaluation.findings}
    of_cause = grouped((step.cause, number) for number, step in steps)
    of_cable = grouped(((step.cause, str(step.far)), number) for number, step in steps)
    return {
        finding: tuple(of_cable.get((cause.id, subject.get(finding, "")), of_cause.get(cause.id, ())))
        for cause in evaluation.causes
        for finding in cause.explains
    }


def _walk(step: Step, plan: Plan) -> tuple[object, ...]:
    device = plan.placed(step.device) or Device(step.device)
    unit = -device.unit if device.unit is not None else 0  # racks are read from the top down
    place = (not device.rack, order(device.rack), unit, order(device.name))
    return (bool(step.after), *place, order(str(step.at)), order(step.cause))


def _steps(cause: Cause, plan: Plan) -> list[Step]:
    if CAUSE_KINDS[cause.kind].panels:
        return [_at_panel(cause, plan) if cause.moves else _looked_at(cause, cause.subjects[0], plan)]
    if cause.moves:
        return [_moved(cause, move, plan) for move in cause.moves]
    return [] if waits(cause.action) else [_looked_at(cause, subject, plan) for subject in cause.subjects]


def _moved(cause: Cause, move: Move, plan: Plan) -> Step:
    cable = plan.cable_at(move.cable)
    label = cable.label if cable else ""
    action = f"Move the plug, not before {move.after}" if move.after else "Move the plug"
    check = checked_first(plan, [move])
    panels = f"check first at {check}" if check else ""
    return Step(cause.id, cause.kind, move.source, action, move.target, move.cable, label, move.after, panels=panels)


def _at_panel(cause: Cause, plan: Plan) -> Step:
    """The one step of a cause at a patch panel: at its trunk, or at the first port of its row."""
    trunks = cause.kind is CauseKind.TRUNK_SWAP
    every = [one for move in cause.moves for one, _ in meetings(plan, move)]
    ports = [one for one in every if bool(spot(one).trunk) is trunks] or every
    at = min((port for port in ports if port.device == ports[0].device), key=lambda port: order(port.name))
    name = spot(at).trunk or at.name
    return Step(cause.id, cause.kind, Port(at.device, name), cause.action, None, cause.moves[0].cable)


def _looked_at(cause: Cause, subject: str, plan: Plan) -> Step:
    port = port_of(subject, plan)
    cable = plan.cable_at(port) if port else None
    far = plan.peer_of(port) if port else None
    return Step(cause.id, cause.kind, port or subject, cause.action, None, far, cable.label if cable else "")

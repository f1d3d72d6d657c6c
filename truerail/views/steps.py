"""The punch list as lines, with keys that stay the same over rounds."""

from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2s

from truerail.analysis.published import Published
from truerail.model.finding import Cause
from truerail.outputs.worklist import Entry, Key, Mark, Worklist
from truerail.views.list_rows import one_of
from truerail.views.models import StepLine
from truerail.views.view import View, view_of


def step_lines(worklist: Worklist, publication: Published) -> tuple[StepLine, ...]:
    """The steps of a worklist in its order: the newest first, those of one round in walking order. The worklist
    includes the publication's evaluation.
    """
    view = view_of(publication)
    by_id = {cause.id: cause for cause in publication.evaluation.causes}
    return tuple(_line(view, by_id, entry) for entry in worklist.entries)


def _line(view: View, by_id: dict[str, Cause], entry: Entry) -> StepLine:
    step, cause = entry.step, _cause_of(view, by_id, entry)
    rack, unit = _stands(view, step.device)
    to_rack, to_unit = _stands(view, step.to.device if step.to else "")
    far_rack, far_unit = _stands(view, step.far.device if step.far else "")
    return StepLine(
        key=step_key(entry.key),
        mark=entry.mark.value,
        kind=step.kind,
        cause=cause.key if cause else "",
        rack=rack,
        unit=unit,
        device=step.device,
        at=str(step.at),
        to=str(step.to) if step.to else None,
        far=str(step.far) if step.far else None,
        label=step.label,
        action=step.action,
        since=_since(view, cause, entry),
        to_rack=to_rack,
        to_unit=to_unit,
        far_rack=far_rack,
        far_unit=far_unit,
        after=step.after,
        serial=step.serial,
        far_serial=step.far_serial,
        panels=step.panels,
    )


def _stands(view: View, name: str) -> tuple[str, int | None]:
    """Rack and unit of a device in the plan."""
    device = view.plan.placed(name)
    return (device.rack, device.unit) if device else ("", None)


def step_key(key: Key) -> str:
    """A short key from the action and its place."""
    return blake2s("\0".join(key).encode(), digest_size=6).hexdigest()


def _cause_of(view: View, by_id: dict[str, Cause], entry: Entry) -> Cause | None:
    """The current cause of a step. An earlier round's step names a cause by an id that may now belong to another."""
    if entry.mark in (Mark.LEFT, Mark.NEW):
        return by_id.get(entry.step.cause)
    return next((cause for finding in sorted(entry.findings) if (cause := view.cause_of(finding))), None)


def _since(view: View, cause: Cause | None, entry: Entry) -> datetime | None:
    """Start of the need for this step: the life of its cause, else of the oldest of its findings."""
    life = view.cause_lives.get(cause.key) if cause else None
    if life is not None:
        return life.since
    lives = (view.lives.get(finding) for finding in entry.findings)
    return min((life.since for life in lives if life), default=None)


def filter_steps(
    steps: Iterable[StepLine], publication: Published, *, rack: str | None = None, nodes: str | None = None
) -> tuple[StepLine, ...]:
    """The steps in a rack (several are separated by commas), or at the devices of a node set. Filters that are None are
    not set. Raises `QueryError` for an unknown value.
    """
    view = view_of(publication)
    known = {*(one.rack for one in view.layout.devices), *(one.rack for one in view.plan.panels.values())}
    racks = None if rack is None else one_of("rack", rack, known)
    names = None if nodes is None else {view.index.devices.names[code] for code in view.nodes(nodes).tolist()}
    return tuple(s for s in steps if (racks is None or s.rack in racks) and (names is None or s.device in names))

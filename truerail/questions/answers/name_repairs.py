"""Causes that are repaired by names alone: which device gets which name."""

from collections.abc import Mapping

from truerail.analysis.published import Published
from truerail.errors import NotFoundError
from truerail.model.finding import Cause, CauseKind
from truerail.model.names import printable
from truerail.model.plan import Device, Plan
from truerail.outputs.renaming import inventory_changes, is_name, plan_diff, rename_commands, why_unsafe
from truerail.outputs.report_words import count
from truerail.questions.repair_diff import InventoryChange, NameRepair, Rename, RepairDiff
from truerail.views.view import View, view_of

SWAPPED = (CauseKind.LEAF_SWAP, CauseKind.HOST_SWAP)
"""Kinds whose devices may have each other's names."""


def repair_diff(publication: Published, wanted: str) -> RepairDiff:
    """The repairs of one cause, by its key or id, or of all that names repair. Raises NotFoundError."""
    view = view_of(publication)
    causes = _chosen(view, wanted.strip())
    repairs = tuple(_repair(view, key, cause) for key, cause in causes.items())
    return RepairDiff(wanted, repairs, _summary(repairs))


def _chosen(view: View, wanted: str) -> Mapping[str, Cause]:
    causes = view.sight.causes
    if not wanted:
        return {key: cause for key, cause in causes.items() if by_names(cause)}
    found = {key: cause for key, cause in causes.items() if wanted.lower() in (key, cause.id.lower())}
    if not found:
        known = ", ".join(cause.id for cause in causes.values() if by_names(cause)) or "none"
        raise NotFoundError(f"no open cause has the key or id {printable(wanted, 80)!r}; repaired by names: {known}")
    return found


def by_names(cause: Cause) -> bool:
    """Whether names alone may repair a cause."""
    return cause.kind in SWAPPED and not cause.moves


def _repair(view: View, key: str, cause: Cause) -> NameRepair:
    names = _exchanged(cause)
    refused = _refused(cause, view.plan, names)
    devices = () if refused else tuple(_rename(view.plan.devices[old], names, view.plan) for old in names)
    inventory = () if refused else tuple(InventoryChange(*pair) for pair in inventory_changes(names))
    return NameRepair(
        cause=key,
        id=cause.id,
        kind=cause.kind.value,
        summary=cause.summary,
        confirm_first=cause.to_confirm,
        devices=devices,
        inventory=inventory,
        plan_diff="" if refused else plan_diff(view.plan, names),
        refused=refused,
    )


def _exchanged(cause: Cause) -> Mapping[str, str]:
    """The names that devices announce, and those that they get: of two devices each other's."""
    return dict(zip(cause.subjects, reversed(cause.subjects), strict=True)) if len(cause.subjects) == 2 else {}


def _refused(cause: Cause, plan: Plan, names: Mapping[str, str]) -> str:
    if not by_names(cause):
        return "changed names do not repair it: " + cause.action
    if not names:
        return (
            f"{len(cause.subjects)} names are exchanged, and the evidence does not say whose is whose: read each label"
        )
    if strange := next((name for name in names if name not in plan.devices), ""):
        return f"{printable(strange, 80)!r} is not in the plan"
    return next((why_unsafe(name) for name in names if not is_name(name)), "")


def _rename(device: Device, names: Mapping[str, str], plan: Plan) -> Rename:
    new = names[device.name]
    there = plan.devices[new]
    parts = (f"rack {there.rack}" if there.rack else "", "" if there.unit is None else f"unit {there.unit}")
    return Rename(device.name, new, " ".join(filter(None, parts)), rename_commands(device, new))


def _summary(repairs: tuple[NameRepair, ...]) -> str:
    made = [one for one in repairs if not one.refused]
    if not repairs:
        return "no open cause is repaired by names alone"
    devices = count(sum(len(one.devices) for one in made), "device")
    return f"{count(len(made), 'cause')} repaired by names alone: {devices} to rename" if made else repairs[0].refused

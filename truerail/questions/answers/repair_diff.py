"""The repairs by text alone: names of devices and NICs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from truerail.analysis.published import Published
from truerail.errors import NotFoundError
from truerail.model.finding import Cause, Finding, Rename
from truerail.model.names import printable
from truerail.outputs.inventory_rows import bulk_updates, read_ids
from truerail.outputs.renaming import inventory_changes, plan_diff
from truerail.outputs.report_words import count
from truerail.outputs.slurm_topology import topology_diff
from truerail.questions.answers.repair_names import device_renames, host_links, refused_names, renames_of
from truerail.questions.repair_diff import InventoryChange, RepairDiff, TextRepair
from truerail.views.view import View, view_of


@dataclass(frozen=True, slots=True)
class _Files:
    """What was given: the text of a `topology.conf`, and ids by name."""

    topology: str
    ids: Mapping[str, str]


def repair_diff(publication: Published, wanted: str, topology: str = "", export: str = "") -> RepairDiff:
    """The repairs of one cause, by its key or id, or of one finding by its id; else of all that text repairs.
    `topology` is the text of a `topology.conf`, `export` NetBox's or Nautobot's. Raises NotFoundError and QueryError.
    """
    view = view_of(publication)
    files = _Files(topology, read_ids(export) if export else {})
    causes, alone = _chosen(view, wanted.strip())
    repairs = [_of_cause(view, key, cause, files) for key, cause in causes.items()]
    repairs += [_of_finding(view, finding, files) for finding in alone]
    return RepairDiff(wanted, tuple(repairs), _summary(repairs))


def _chosen(view: View, wanted: str) -> tuple[Mapping[str, Cause], Sequence[Finding]]:
    """Causes by key, and findings without one."""
    causes, explained = view.sight.causes, view.sight.cause_of
    findings = (one for one in view.evaluated.evaluation.findings if one.id not in explained)
    alone = [one for one in findings if renames_of(one, view.plan)]
    if not wanted:
        return {key: cause for key, cause in causes.items() if _by_names(cause)}, alone
    found = {key: cause for key, cause in causes.items() if wanted.lower() in (key, cause.id.lower())}
    single = [one for one in alone if one.id == wanted.lower()]
    if not found and not single:
        known = ", ".join(cause.id for cause in causes.values() if _by_names(cause)) or "none"
        shown = printable(wanted, 80)
        raise NotFoundError(f"no open cause or finding has the key or id {shown!r}; causes repaired by text: {known}")
    return found, single


def _by_names(cause: Cause) -> bool:
    """Whether names alone may repair a cause."""
    return bool(cause.renames) and not cause.moves


def _of_cause(view: View, key: str, cause: Cause, files: _Files) -> TextRepair:
    renames = cause.renames if _by_names(cause) else ()
    made = _made(view, renames, files, "" if renames else f"no diff: {cause.action}")
    return made(cause=key, id=cause.id, kind=cause.kind.value, summary=cause.summary, confirm_first=cause.to_confirm)


def _of_finding(view: View, finding: Finding, files: _Files) -> TextRepair:
    made = _made(view, renames_of(finding, view.plan), files)
    return made(cause=finding.id, id=finding.rule, kind=finding.name, summary=finding.summary, confirm_first="")


def _made(view: View, renames: Sequence[Rename], files: _Files, refused: str = "") -> Callable[..., TextRepair]:
    """A repair by these names, without what it repairs."""
    refused = refused or refused_names(renames, view.plan)
    renames = () if refused else renames
    changed = {one.planned: one.actual for one in renames}
    return partial(
        TextRepair,
        devices=device_renames(view.plan, renames),
        links=host_links(view, renames),
        inventory=tuple(InventoryChange(*pair) for pair in inventory_changes(changed)),
        bulk_updates=bulk_updates(changed, files.ids),
        plan_diff=plan_diff(view.plan, changed) if changed else "",
        topology_diff=topology_diff(files.topology, changed) if changed and files.topology else "",
        refused=refused,
    )


def _summary(repairs: Sequence[TextRepair]) -> str:
    made = [one for one in repairs if not one.refused]
    if not repairs:
        return "no open cause or finding is repaired by text alone"
    if not made:
        return repairs[0].refused
    parts = (
        _number(made, "devices", "device to rename", "devices to rename"),
        _number(made, "links", "host with NICs to rename", "hosts with NICs to rename"),
    )
    return f"{count(len(made), 'repair')} by text alone: {', '.join(filter(None, parts))}; review, nothing is applied"


def _number(made: Sequence[TextRepair], field: str, one: str, more: str) -> str:
    found = (part for repair in made for part in getattr(repair, field))
    number = sum(1 for _ in found)
    return f"{number} {one if number == 1 else more}" if number else ""

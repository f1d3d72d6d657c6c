"""Names that repair a cause: which device, and which NIC of a host, gets which name."""

from collections.abc import Sequence
from dataclasses import replace

from truerail.model.facts import NetLink
from truerail.model.finding import Finding, Rename
from truerail.model.names import printable
from truerail.model.plan import Plan
from truerail.outputs.link_files import link_files, unfit_name
from truerail.outputs.renaming import is_name, rename_commands, why_unsafe
from truerail.questions.repair_diff import DeviceRename, HostLinks
from truerail.views.view import View


def renames_of(finding: Finding, plan: Plan) -> tuple[Rename, ...]:
    """The new name of the only planned device that announces a name without a device of the plan."""
    if finding.rule != "CAB007" or finding.subject in plan.devices:
        return ()
    owners = [one for one in dict(finding.detail).get("announced_by", ()) if one in plan.devices]
    return (Rename(finding.subject, owners[0]),) if len(owners) == 1 else ()


def refused_names(renames: Sequence[Rename], plan: Plan) -> str:
    """Why there are no new names; empty if there are."""
    for one in renames:
        if one.planned.partition("/")[0] not in plan.devices:
            return f"no diff: {printable(one.planned, 80)!r} is not in the plan"
        strange = [] if "/" in one.planned else [name for name in (one.actual, one.planned) if not is_name(name)]
        if strange:
            return f"no diff: {why_unsafe(strange[0])}"
    return ""


def device_renames(plan: Plan, renames: Sequence[Rename]) -> tuple[DeviceRename, ...]:
    """The devices that get their planned names."""
    return tuple(_rename(plan, one) for one in renames if "/" not in one.planned)


def _rename(plan: Plan, one: Rename) -> DeviceRename:
    there = plan.devices[one.planned]
    own = plan.devices.get(one.actual) or replace(there, name=one.actual)
    parts = (f"rack {there.rack}" if there.rack else "", "" if there.unit is None else f"unit {there.unit}")
    return DeviceRename(one.actual, one.planned, " ".join(filter(None, parts)), rename_commands(own, one.planned))


def host_links(view: View, renames: Sequence[Rename]) -> tuple[HostLinks, ...]:
    """The hosts whose NICs get their planned names."""
    hosts: dict[str, dict[str, str]] = {}
    for one in renames:
        host, _, planned = one.planned.partition("/")
        if planned:
            hosts.setdefault(host, {})[one.actual.partition("/")[2]] = planned
    return tuple(_links(view, host, names) for host, names in hosts.items())


def _links(view: View, host: str, names: dict[str, str]) -> HostLinks:
    macs = _macs(view, host)
    unknown = next((name for name in names if name not in macs), "")
    unfit = next(filter(None, map(unfit_name, names.values())), "")
    why = f"{host} reports no network interface {printable(unknown, 80)!r} with a MAC address" if unknown else unfit
    return HostLinks(host, names, "" if why else link_files({new: macs[old] for old, new in names.items()}), why)


def _macs(view: View, host: str) -> dict[str, str]:
    """The MAC addresses of a host's interfaces, by name."""
    readings = view.sight.readings.get(view.index.devices.find(host), ())
    links = (fact for reading in readings for fact in reading.facts if isinstance(fact, NetLink))
    return {link.netdev: link.mac for link in links if link.mac}

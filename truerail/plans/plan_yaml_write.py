"""A plan as native YAML: regular parts folded into the generative form, everything else cable by cable."""

from itertools import zip_longest

from truerail.files.nodesets import fold
from truerail.files.yaml_text import Entry, quoted, section
from truerail.model import Cable, Panel, Plan, Rail, Role
from truerail.plans.folding import Folded, device_entries, fold_host_links, fold_uplinks, nics_of
from truerail.plans.numbers import plain
from truerail.plans.orient import cable_words
from truerail.plans.plan_error import PlanError
from truerail.plans.plan_keys import SECTIONS
from truerail.plans.plan_yaml_read import read_yaml
from truerail.plans.qos_yaml import qos_lines


def dump_yaml(plan: Plan) -> str:
    """The plan as YAML that `load` reads back to the same devices, rails and cables.

    The folded form is read again and compared; if it differs, the cables are listed one by one.
    """
    text = _text(plan, [*fold_host_links(plan, nics_of(plan))], fold_uplinks(plan))
    try:
        same = _cables(read_yaml(text, "")) == _cables(plan)
    except PlanError:
        same = False
    return text if same else _text(plan, [], [])


def _cables(plan: Plan) -> list[str]:
    return sorted(repr(cable._replace(line=0)) for cable in plan.cables)


def _text(plan: Plan, host_links: list[Folded], uplinks: list[Folded]) -> str:
    folded = {id(cable) for one in (*host_links, *uplinks) for cable in one.cables}
    nics = nics_of(plan) if host_links else {}
    lines = [f"name: {quoted(plan.name)}"] if plan.name else []
    lines += [f"transport: {plan.transport}", f"load_balancing: {plan.load_balancing}"]
    lines += qos_lines(plan.qos) if plan.qos else []
    lines += section("rails", [entry for rail in plan.rails.values() for entry in _rail(rail)])
    for name, role in SECTIONS.items():
        lines += section(name, device_entries(plan, role, nics if role is Role.HOST else {}))
    lines += section("panels", [_panel(name, panel) for name, panel in plan.panels.items()])
    lines += section("host_links", [one.entry for one in host_links])
    lines += section("uplinks", [one.entry for one in uplinks])
    explicit = [cable for cable in plan.cables if id(cable) not in folded]
    lines += ["cables:", *map(_cable, explicit)] if explicit else []
    return "\n".join((*lines, ""))


def _panel(name: str, panel: Panel) -> Entry:
    return {"nodes": fold([name]), "rack": fold([panel.rack]) if panel.rack else "", "unit": plain(panel.unit)}


def _rail(rail: Rail) -> list[Entry]:
    """One entry for each subnet and VLAN of the rail; entries of one rail add up."""
    rows = zip_longest([rail.name], map(str, rail.vlans), rail.subnets, fillvalue="")
    return [{"rail": plain(rail.index), "name": name, "vlan": vlan, "subnet": subnet} for name, vlan, subnet in rows]


def _cable(cable: Cable) -> str:
    """`- gpu-001/nic0 leaf-0/swp1 rail=0`, or a mapping where a name or a label holds more than one word."""
    reported = {key: value for key, value in cable_words(cable).items() if value}
    line = " ".join([str(cable.a), str(cable.b), *(f"{key}={value}" for key, value in reported.items())])
    if not reported.get("label") and len(line.split()) == 2 + len(reported):
        return f"  - {quoted(line)}" if not line[0].isalnum() or "#" in line or ": " in line else f"  - {line}"
    pairs = {"a": str(cable.a), "b": str(cable.b), **reported}
    return "\n".join(f"  {'  ' if at else '- '}{key}: {quoted(value)}" for at, (key, value) in enumerate(pairs.items()))

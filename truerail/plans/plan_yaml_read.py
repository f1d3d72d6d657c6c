"""A plan from native YAML. docs/plan.md explains every key."""

from truerail.files.problems import Faults, PlanError
from truerail.files.yaml_values import Values, one_each, whole
from truerail.model import Cable, LoadBalancing, Plan, Port, Rail, Transport
from truerail.model.columns import grouped
from truerail.model.yaml_tree import Node, read_tree
from truerail.plans import numbers
from truerail.plans.orient import oriented, path_of
from truerail.plans.plan_keys import CABLE, CABLE_WORDS, PLAN, RAIL
from truerail.plans.qos_yaml import read_qos
from truerail.plans.yaml_devices import Groups, read_groups, read_panels
from truerail.plans.yaml_links import Links, host_links, uplinks


def read_yaml(text: str, file: str) -> Plan:
    """The plan in `text`. Raises `PlanError` with every problem of the file."""
    faults = Faults(file, PlanError)
    tree = read_tree(text, faults)
    values = Values(faults)
    plan = _plan(values.fields(tree, PLAN), values, file) if tree is not None else Plan({}, ())
    faults.raise_any()  # a file without a tree has a fault
    return plan


def _plan(keys: dict[str, Node], values: Values, file: str) -> Plan:
    groups = read_groups(keys, values)
    links = Links(groups, numbers.speed_of(keys.get("speed"), values), values)
    cables: list[Cable] = []
    for entry in values.entries(keys.get("host_links")):
        cables += host_links(entry, links)
    rails_of = _rails_of(cables)
    for entry in values.entries(keys.get("uplinks")):
        cables += uplinks(entry, links, rails_of)
    cables = _with_exceptions(cables, _explicit(keys.get("cables"), groups, links.speed, values))
    return Plan(
        devices=groups.devices,
        cables=tuple(cables),
        name=values.text(keys.get("name")),
        rails=_rails(keys.get("rails"), values),
        transport=values.choice(keys.get("transport"), Transport, Transport.ROCE),
        load_balancing=values.choice(keys.get("load_balancing"), LoadBalancing, LoadBalancing.ECMP),
        qos=read_qos(keys.get("qos"), values),
        panels=read_panels(keys.get("panels"), values),
        source=file,
    )


def _rails_of(cables: list[Cable]) -> dict[str, tuple[int, ...]]:
    """The rails that each leaf carries."""
    rails = grouped((cable.b.device, cable.rail) for cable in cables if cable.rail is not None)
    return {leaf: tuple(sorted({*found})) for leaf, found in rails.items()}


def _with_exceptions(generated: list[Cable], explicit: list[Cable]) -> list[Cable]:
    """An explicit cable takes the place of the generated one that starts at the same port."""
    places = {cable.a for cable in explicit}
    kept = [cable for cable in generated if cable.a not in places] if places else generated
    return [*kept, *explicit]


def _rails(node: Node | None, values: Values) -> dict[int, Rail]:
    """Rails; an entry's `rail`, `name`, `vlan` and `subnet` expand together, entries of one rail add up."""
    rails: dict[int, Rail] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, RAIL)
        indices = values.numbers(keys.get("rail"), numbers.MOST_RAILS)
        lists = (one_each(keys.get(key), len(indices), values, "rails") for key in ("name", "vlan", "subnet"))
        names, vlans, subnets = lists
        for at, index in enumerate(indices):
            old = rails.get(index, Rail(index))
            vlan = whole(vlans[at], numbers.HIGHEST_VLAN) if vlans[at] else None
            if vlans[at] and not vlan:
                values.faults.add(keys["vlan"].line, vlans[at], f"expected a VLAN from 1 to {numbers.HIGHEST_VLAN}")
            if fault := numbers.subnet_fault(subnets[at]) if subnets[at] else "":
                values.faults.add(keys["subnet"].line, subnets[at], fault)
            its_vlans = old.vlans + ((vlan,) if vlan else ())
            its_subnets = old.subnets + ((subnets[at],) if subnets[at] else ())
            rails[index] = Rail(index, names[at] or old.name, its_vlans, its_subnets, old.line or entry.line)
    return rails


def _explicit(node: Node | None, groups: Groups, speed: float | None, values: Values) -> list[Cable]:
    """The entries of `cables`."""
    if node is not None and node.items is None:
        values.wrong(node, f"expected a list of cables, found {node.kind}")
        return []
    cables = []
    for entry in node.items if node and node.items else ():
        words = _line_words(entry, values) if entry.text is not None else _mapping_words(entry, values)
        cable = _cable(entry, words, groups, speed, values) if words else None
        if cable is not None:
            cables.append(cable)
    return cables


def _line_words(entry: Node, values: Values) -> dict[str, str]:
    """`gpu-001/nic0 leaf-0/swp1 rail=0 plane=0 speed=400`."""
    ends = (entry.text or "").split()
    words = dict(word.partition("=")[::2] for word in ends[2:])
    unknown = words.keys() - set(CABLE_WORDS)
    if len(ends) < 2 or unknown:
        values.wrong(entry, "expected a cable such as `gpu-001/nic0 leaf-0/swp1 rail=0 plane=0 speed=400`")
        return {}
    words["a"], words["b"] = ends[:2]
    return words


def _mapping_words(entry: Node, values: Values) -> dict[str, str]:
    keys = values.fields(entry, CABLE)
    return {key: values.text(node) for key, node in keys.items()} if {"a", "b"} <= keys.keys() else {}


def _cable(entry: Node, words: dict[str, str], groups: Groups, speed: float | None, values: Values) -> Cable | None:
    """One cable, its ends in the right order; devices that no section declares are left to `lint`."""
    ends = [Port(*words[key].partition("/")[::2]) for key in ("a", "b")]
    for end in ends:
        if not end.device or not end.name:
            values.faults.add(entry.line, "/".join(end), "expected device/port")
            return None
    rail, plane, own, length = numbers.link_values(words, entry.line, values.faults)
    try:
        via = path_of(words.get("via", ""))
    except ValueError as error:
        values.faults.add(entry.line, words["via"], str(error))
        return None
    cable = Cable(ends[0], ends[1], rail, plane, own or speed, words.get("label", ""), length, entry.line, via)
    return oriented(cable, groups.devices)

"""A plan from native YAML, and its section `qos` as text. docs/plan.md explains every key."""

import re
from collections.abc import Iterator, Sequence

from truerail.files.problems import Faults, PlanError
from truerail.files.yaml_values import Values, one_each, whole
from truerail.model import Cable, LoadBalancing, Plan, Port, QosBuffer, QosProfile, Rail, Role, Transport
from truerail.model.columns import grouped
from truerail.model.yaml_tree import Node, read_tree
from truerail.plans import numbers
from truerail.plans.orient import oriented, path_of
from truerail.plans.plan_keys import CABLE, CABLE_WORDS, PLAN, QOS, QOS_BUFFER, QOS_CLASS, RAIL, TRUSTS, WATCHDOGS
from truerail.plans.yaml_links import Groups, Links, host_links, read_groups, read_panels, uplinks


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


# ----------------------------------------------------------------------------------------------------------------------
# The section `qos`: read and written.

_SHARE = re.compile(r"0?\.\d{1,9}|1(?:\.0{1,9})?", re.ASCII)


def read_qos(node: Node | None, values: Values) -> QosProfile | None:
    """The declared profile; None without the section. Faults are recorded."""
    if node is None:
        return None
    keys = values.fields(node, QOS)
    return QosProfile(
        trust=values.choice(keys.get("trust"), TRUSTS, None),
        pfc_priorities=_priorities(keys.get("pfc_priorities"), values),
        ecn_priorities=_priorities(keys.get("ecn_priorities"), values),
        global_pause=values.yes(keys["global_pause"], default=False) if "global_pause" in keys else None,
        watchdog=values.choice(keys.get("watchdog"), WATCHDOGS, None),
        dscp_to_priority=_classes(keys.get("dscp"), values),
        mtu=values.number(keys.get("mtu"), numbers.MOST_MTU),
        buffers=_buffers(keys.get("buffers"), values),
        roles=tuple(_roles(keys.get("roles"), values)),
    )


def _priorities(node: Node | None, values: Values) -> tuple[int, ...] | None:
    return None if node is None else tuple(sorted(set(values.numbers(node, numbers.HIGHEST_PRIORITY))))


def _classes(node: Node | None, values: Values) -> tuple[tuple[int, int], ...]:
    """Pairs of a DSCP and its priority; a DSCP with two priorities is a fault."""
    found: dict[int, int] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, QOS_CLASS)
        priority = values.number(keys.get("priority"), numbers.HIGHEST_PRIORITY)
        for dscp in values.numbers(keys.get("values"), numbers.HIGHEST_DSCP):
            if priority is not None and found.setdefault(dscp, priority) != priority:
                values.faults.add(entry.line, str(dscp), f"this DSCP has priority {found[dscp]} above")
    return tuple(sorted(found.items()))


def _buffers(node: Node | None, values: Values) -> tuple[QosBuffer, ...]:
    found: dict[float | None, QosBuffer] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, QOS_BUFFER)
        one = QosBuffer(
            numbers.speed_of(keys.get("speed"), values),
            values.number(keys.get("ecn_min_bytes"), numbers.MOST_BYTES),
            values.number(keys.get("ecn_max_bytes"), numbers.MOST_BYTES),
            values.read(keys.get("ecn_probability"), _share, "expected a probability above 0, up to 1"),
            values.number(keys.get("headroom_bytes"), numbers.MOST_BYTES),
        )
        if one.speed_gbps in found:
            values.wrong(keys.get("speed", entry), "expected one entry for each speed")
        if one.ecn_min_bytes is not None and one.ecn_max_bytes is not None and one.ecn_min_bytes > one.ecn_max_bytes:
            values.wrong(keys["ecn_min_bytes"], f"expected no more than ecn_max_bytes, {one.ecn_max_bytes}")
        found.setdefault(one.speed_gbps, one)
    return tuple(found.values())


def _share(text: str) -> float | None:
    return float(text) or None if _SHARE.fullmatch(text.strip()) else None


def _roles(node: Node | None, values: Values) -> Iterator[Role]:
    known = tuple(role.value for role in Role)
    for name in values.names(node):
        if name in known:
            yield Role(name)
        elif node is not None:
            values.faults.add(node.line, name, f"expected one of {', '.join(known)}")


def qos_lines(profile: QosProfile) -> list[str]:
    """The section, from which `read_qos` reads the same profile."""
    pairs = {
        "trust": profile.trust,
        "pfc_priorities": _list(profile.pfc_priorities),
        "ecn_priorities": _list(profile.ecn_priorities),
        "global_pause": None if profile.global_pause is None else "yes" if profile.global_pause else "no",
        "watchdog": profile.watchdog,
        "mtu": numbers.plain(profile.mtu) or None,
        "roles": _list(profile.roles) if profile.roles else None,
    }
    lines = [f"  {key}: {value}" for key, value in pairs.items() if value is not None]
    by_priority = grouped((priority, dscp) for dscp, priority in profile.dscp_to_priority)
    classes = [f"    - {{values: {_list(dscps)}, priority: {priority}}}" for priority, dscps in by_priority.items()]
    lines += ["  dscp:", *classes] if classes else []
    buffers = [f"    - {{{', '.join(_buffer(one))}}}" for one in profile.buffers]
    lines += ["  buffers:", *buffers] if buffers else []
    return ["qos:", *lines] if lines else ["qos: {}"]


def _list(values: Sequence[object] | None) -> str | None:
    return None if values is None else f"[{', '.join(map(str, values))}]"


def _buffer(one: QosBuffer) -> Iterator[str]:
    for key, value in zip(QOS_BUFFER.names, one, strict=True):
        if value is not None:
            yield f"{key}: {value:.9f}".rstrip("0") if key == "ecn_probability" else f"{key}: {numbers.plain(value)}"

"""A plan as native YAML: regular parts folded into the generative form, everything else cable by cable."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from truerail.files.nodesets import fold
from truerail.files.problems import PlanError
from truerail.files.yaml_text import Entry, quoted, section
from truerail.model import Cable, Device, Panel, Plan, Port, Rail, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.plans.numbers import plain
from truerail.plans.orient import cable_words
from truerail.plans.plan_keys import SECTIONS
from truerail.plans.plan_yaml_read import qos_lines, read_yaml

# ----------------------------------------------------------------------------------------------------------------------
# Devices and cables of a plan folded into the groups, `host_links` and `uplinks` of native YAML.


Nics = tuple[tuple[str, ...], ...]


def nics_of(plan: Plan) -> dict[str, Nics]:
    """Each host's ports by rail and plane; only for hosts whose rails and planes count from 0 without gaps."""
    ports: dict[str, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    for cable in plan.host_cables:
        if cable.rail is not None:
            ports[cable.a.device][cable.rail].setdefault(cable.plane or 0, cable.a.name)
    found: dict[str, Nics] = {}
    for host, rails in ports.items():
        whole = sorted(rails) == list(range(len(rails)))
        if whole and all(sorted(planes) == list(range(len(planes))) for planes in rails.values()):
            found[host] = tuple(tuple(rails[rail][plane] for plane in sorted(rails[rail])) for rail in sorted(rails))
    return found


def device_entries(plan: Plan, role: Role, nics: dict[str, Nics]) -> list[Entry]:
    """The entries of one role's section: devices that share everything but name, pod, rack, unit and address."""
    groups: dict[tuple[object, ...], list[Device]] = defaultdict(list)
    for device in plan.of_role(role):
        reported = (bool(device.pod), bool(device.rack), device.unit is not None, bool(device.address))
        lists = (len(device.aliases), len(device.chassis_ids), len(device.serials))
        groups[device.platform, device.gpus, nics.get(device.name), reported, lists].append(device)
    return [_entry(part, nics, units) for group in groups.values() for part, units in _by_units(group)]


def _by_units(group: list[Device]) -> Iterator[tuple[list[Device], list[int]]]:
    """The group with the units of a rack, where all its racks have the same; else a group for each unit."""
    units = _units_by_place(group)
    if units or group[0].unit is None:
        yield group, units
        return
    for unit, part in grouped((device.unit or 0, device) for device in group).items():
        yield part, [unit]


def _entry(group: list[Device], nics: dict[str, Nics], by_place: Sequence[int]) -> Entry:
    first = group[0]
    return {
        "nodes": fold([device.name for device in group]),
        "pod": _runs([device.pod for device in group]),
        "rack": _runs([device.rack for device in group]),
        "unit": fold([str(unit) for unit in by_place]),
        "address": fold([device.address for device in group]) if first.address else "",
        "platform": first.platform,
        **{key: _columns([getattr(device, key) for device in group]) for key in ("aliases", "chassis_ids", "serials")},
        "gpus": plain(first.gpus),
        "nics": _nics(nics.get(first.name, ())),
    }


def _runs(names: list[str]) -> str:
    """`p[1-4]` where the names come in equal runs, as a reader shares them out again; else one name a device."""
    if not names[0]:
        return ""
    distinct = list(dict.fromkeys(names))
    each = -(-len(names) // len(distinct))
    shared = [distinct[min(at // each, len(distinct) - 1)] for at in range(len(names))]
    return fold(distinct if shared == names else names)


def _units_by_place(devices: Sequence[Device]) -> list[int]:
    """The units of a rack in the order of its devices, if they are the same in every rack; else empty."""
    racks = grouped((device.rack, device.unit) for device in devices).values()
    longest = max(racks, key=len)
    units = [unit for unit in longest if unit is not None]
    return units if units == longest and all(rack == units[: len(rack)] for rack in racks) else []


def _columns(lists: list[tuple[str, ...]]) -> list[str]:
    return [fold(column) for column in zip(*lists, strict=True)]


def _nics(nics: Nics) -> str | list[str]:
    if all(len(ports) == 1 for ports in nics):
        return fold([ports[0] for ports in nics])
    return [f"[{', '.join(_in_flow(port) for port in ports)}]" for ports in nics]


def _in_flow(name: str) -> str:
    text = quoted(name)
    return f'"{text}"' if (text == name and not name.isascii()) or "," in text or "[" in text else text


class Folded(NamedTuple):
    """An entry of a section, and the cables that it describes."""

    entry: Entry
    cables: tuple[Cable, ...]


def fold_host_links(plan: Plan, nics: dict[str, Nics]) -> list[Folded]:
    """Groups of hosts that reach the same leaves: rail by rail the same ports, or left to explicit cables."""
    of_host: dict[tuple[str, int | None], dict[int, Cable]] = defaultdict(dict)
    for cable in plan.host_cables:
        if cable.rail is not None and _foldable(cable) and cable.a.device in nics:
            of_host[cable.a.device, cable.plane].setdefault(cable.rail, cable)
    blocks: dict[tuple[object, ...], list[list[Cable]]] = defaultdict(list)
    for (_, plane), by_rail in of_host.items():
        row = [by_rail[rail] for rail in sorted(by_rail)]
        speeds = {cable.speed_gbps for cable in row}
        if len(speeds) == 1:
            key = (plane, speeds.pop(), tuple(sorted(by_rail)), tuple(cable.b.device for cable in row))
            blocks[key].append(row)
    folded = (_fold_block(rows, nics) for rows in blocks.values())
    return _merged([one for one in folded if one], plan)


def _foldable(cable: Cable) -> bool:
    return not cable.label and cable.length_m is None and not cable.via


def _fold_block(rows: list[list[Cable]], nics: dict[str, Nics]) -> Folded | None:
    """Hosts with the same leaves; None where their ports are not the same on every leaf."""
    rows.sort(key=lambda row: natural_key(row[0].b.name))
    leaves = [cable.b.device for cable in rows[0]]
    distinct = list(dict.fromkeys(leaves))
    each, rest = divmod(len(leaves), len(distinct))
    if rest or leaves != [leaf for leaf in distinct for _ in range(each)]:
        return None
    columns = [[row[at].b.name for row in rows] for at in range(len(leaves))]
    if any(column != columns[at % each] for at, column in enumerate(columns)):
        return None
    rails = [cable.rail for cable in rows[0]]
    every = all(list(range(len(nics[row[0].a.device]))) == rails for row in rows)
    entry: Entry = {
        "hosts": fold([row[0].a.device for row in rows]),
        "leaves": fold(distinct),
        "ports": [fold(column) for column in columns[:each]] if each > 1 else fold(columns[0]),
        "rails": "" if every else fold([plain(rail) for rail in rails]),
    }
    return _folded(entry, rows)


def _folded(entry: Entry, rows: list[list[Cable]]) -> Folded:
    """The entry with what its cables have in common."""
    first = rows[0][0]
    entry = {**entry, "plane": plain(first.plane), "speed": plain(first.speed_gbps), "within_pod": "no"}
    return Folded(entry, tuple(cable for row in rows for cable in row))


def _merged(blocks: list[Folded], plan: Plan) -> list[Folded]:
    """One entry for all pods that are alike: blocks whose devices are exactly one pod each, and the pods differ."""
    alike: dict[tuple[str, ...], dict[str, Folded]] = defaultdict(dict)
    result: list[Folded] = []
    for block in blocks:
        ends = {name for cable in block.cables for name in (cable.a.device, cable.b.device)}
        pods = {plan.devices[name].pod for name in ends}
        key = tuple(str(value) for name, value in block.entry.items() if name not in ("hosts", "leaves"))
        pod = pods.pop()
        if pods or not pod or pod in alike[key]:
            result.append(block)
        else:
            alike[key][pod] = block
    for by_pod in alike.values():
        result += [_joined(list(by_pod.values()))] if by_pod else []
    return result


def _joined(blocks: list[Folded]) -> Folded:
    entry = dict(blocks[0].entry)
    cables = tuple(cable for block in blocks for cable in block.cables)
    entry["hosts"] = fold(list(dict.fromkeys(cable.a.device for cable in cables)))
    entry["leaves"] = ",".join(str(block.entry["leaves"]) for block in blocks)
    del entry["within_pod"]
    return Folded(entry, cables)


def fold_uplinks(plan: Plan) -> list[Folded]:
    """Switches that reach the same switches above with equally many cables."""
    groups: dict[tuple[object, ...], list[list[Cable]]] = defaultdict(list)
    for device in plan.devices.values():
        cables = [cable for cable in plan.uplinks_of(device.name) if _foldable(cable)]
        if device.role is Role.HOST or not cables or any(plan.role_of(c.b.device) is None for c in cables):
            continue
        uppers = tuple(sorted({cable.b.device for cable in cables}, key=natural_key))
        speeds, planes = {cable.speed_gbps for cable in cables}, {cable.plane for cable in cables}
        if len(speeds) == len(planes) == 1 and len(cables) % len(uppers) == 0:
            cables.sort(key=lambda cable: (natural_key(cable.b.device), natural_key(cable.a.name)))
            ports = tuple(cable.a.name for cable in cables)
            groups[uppers, ports, speeds.pop(), planes.pop(), device.role].append(cables)
    folded = (_fold_mesh(rows, key[0]) for key, rows in groups.items() if isinstance(key[0], tuple))
    return [one for one in folded if one]


def _fold_mesh(rows: list[list[Cable]], uppers: Sequence[str]) -> Folded | None:
    """None where the ports above are not the same on every upper device."""
    parallel = len(rows[0]) // len(uppers)
    rows.sort(key=lambda row: natural_key(row[0].b.name))
    columns = [
        [cable.b for row in rows for cable in row[at * parallel : (at + 1) * parallel]] for at in range(len(uppers))
    ]
    to_ports = [port.name for port in columns[0]]
    if any(column != [Port(upper, name) for name in to_ports] for upper, column in zip(uppers, columns, strict=True)):
        return None
    entry: Entry = {
        "from": fold([row[0].a.device for row in rows]),
        "to": fold(uppers),
        "ports": fold([cable.a.name for cable in rows[0]]),
        "to_ports": fold(to_ports),
    }
    return _folded(entry, rows)


# ----------------------------------------------------------------------------------------------------------------------
# The YAML of these groups, and of everything else cable by cable.


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

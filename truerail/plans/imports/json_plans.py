"""Cable lists in JSON: NVIDIA Air and NetQ, NetBox, Nautobot, Apstra, Batfish, CANU, SONiC's DEVICE_NEIGHBOR, Arista's
cabling check.

Each reader takes the parsed file and returns its rows, or None where the file is of another format.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from truerail.errors import QueryError
from truerail.plans.imports.headers import header_of
from truerail.plans.imports.import_row import End, ImportRow, Rows
from truerail.plans.imports.tables import Table, read_tables
from truerail.plans.numbers import speed_gbps

Reader = Callable[[Any], Rows | None]


def mentions_cloud(text: str) -> bool:
    """Whether a text lists hosts by their place in a cloud's network, as OCI's topology of RDMA hosts."""
    return _CLOUD.search(text) is not None


_MOST_NESTED = 4
_CLOUD = re.compile(r"(?:compute[-_]?)?(?:hpc[-_]?island|network[-_]?block|local[-_]?block)[-_]?id", re.IGNORECASE)


def _get(value: Any, *path: str) -> Any:
    """A nested value; None where a step is missing."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    """A name or a number; empty for what is neither."""
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _gathered(cables: Iterator[ImportRow]) -> Rows:
    rows = Rows()
    for cable in cables:
        rows.add(cable)
    return rows


def air(data: Any) -> Rows | None:
    """NVIDIA Air: a link is a list of two ends with their MACs, one of which may be the word `unconnected`."""
    nodes, links = _get(data, "content", "nodes"), _get(data, "content", "links")
    if not isinstance(nodes, Mapping) or not isinstance(links, list):
        return None
    rows = Rows()
    open_ends = 0
    for link in links:
        ends = [end for one in link if (end := _air_end(one))] if isinstance(link, list) else []
        if len(ends) == 2:
            rows.add(ImportRow(ends[0], ends[1]))
        else:
            open_ends += 1
    if open_ends:
        rows.notes.append(f"{open_ends:,} ports without a cable are left out")
    return rows


def _air_end(one: Any) -> End | None:
    device, port, mac = (_text(_get(one, name)) for name in ("node", "interface", "mac"))
    return End(device, port, mac=mac.lower()) if device and port else None


def nautobot(data: Any) -> Rows | None:
    """Nautobot's GraphQL: devices with their interfaces, each cable at both ends."""
    devices = _get(data, "data", "devices")
    if not isinstance(devices, list):
        return None
    kinds = {_text(one.get("name")): one for one in _dicts(devices)}
    return _gathered(
        ImportRow(
            _nautobot_end(kinds, device, _text(interface.get("name"))),
            _nautobot_end(kinds, _text(_get(far, "device", "name")), _text(far.get("name"))),
            label=_text(_get(interface, "cable", "label")),
        )
        for device, of_device in kinds.items()
        for interface in _dicts(of_device.get("interfaces"))
        if isinstance(far := interface.get("connected_interface"), Mapping)
    )


def _nautobot_end(devices: Mapping[str, Mapping[str, Any]], device: str, port: str) -> End:
    known = devices.get(device, {})
    unit = known.get("position")
    return End(
        device,
        port,
        _text(_get(known, "rack", "name")),
        unit if isinstance(unit, int) else None,
        _text(_get(known, "role", "name")),
    )


def netbox(data: Any) -> Rows | None:
    """NetBox's REST answer of cables (`a_terminations` since 3.3, `termination_a` before), or its GraphQL `cable_list`,
    whose terminations say of which end they are.
    """
    cables = _dicts(data if isinstance(data, list) else _get(data, "results") or _get(data, "data", "cable_list"))
    if not any(_NETBOX.intersection(cable) for cable in cables):
        return None
    return _gathered(
        ImportRow(
            _netbox_end(cable, "a"),
            _netbox_end(cable, "b"),
            label=_text(cable.get("label")),
            where=f"cable {_text(cable.get('id'))}",
        )
        for cable in cables
    )


_NETBOX = frozenset(("a_terminations", "termination_a", "terminations"))


def _netbox_end(cable: Mapping[str, Any], side: str) -> End:
    """The end, where it is one port; a cable with several ports at an end (breakout) is listed as none."""
    found = _dicts(cable.get(f"{side}_terminations")) or _dicts([cable.get(f"termination_{side}")])
    if not found:
        found = [one for one in _dicts(cable.get("terminations")) if _text(one.get("cable_end")).lower() == side]
    if len(found) != 1:
        return End("", "")
    port = found[0].get("object") or found[0].get("termination") or found[0]
    return End(_text(_get(port, "device", "name")), _text(_get(port, "name")))


def netbox_interfaces(data: Any) -> Rows | None:
    """NetBox's and Nautobot's REST answer of interfaces: each with its device, and the endpoint that its cable leads
    to, through patch panels. One with several endpoints (breakout) is no cable.
    """
    found = _dicts(data if isinstance(data, list) else _get(data, "results"))
    found = [one for one in found if isinstance(one.get("device"), Mapping) and _CONNECTED.intersection(one)]
    if not found:
        return None
    return _gathered(
        ImportRow(
            End(_text(_get(one, "device", "name")), _text(one.get("name"))),
            End(_text(_get(far[0], "device", "name")), _text(far[0].get("name"))) if len(far) == 1 else End("", ""),
            label=_text(_get(one, "cable", "label")),
            where=f"interface {_text(_get(one, 'device', 'name'))}/{_text(one.get('name'))}",
        )
        for one in found
        for far in [_dicts(one.get("connected_endpoints")) or _dicts([one.get("connected_endpoint")])]
        if far
    )


_CONNECTED = frozenset(("connected_endpoints", "connected_endpoint"))


def apstra(data: Any) -> Rows | None:
    """Apstra's cabling map: links with two endpoints, each an interface and a system."""
    links = _get(data, "links")
    if not isinstance(links, list) or not any("endpoints" in link for link in _dicts(links)):
        return None
    return _gathered(
        ImportRow(
            *_apstra_ends(ends[0], ends[1]),
            speed_gbps=speed_gbps(_text(link.get("speed"))),
            label=_text(link.get("label")),
        )
        for link in _dicts(links)
        if len(ends := _dicts(link.get("endpoints"))) == 2
    )


def _apstra_ends(*ends: Mapping[str, Any]) -> tuple[End, End]:
    """An endpoint without an interface has no name there: its row is listed as no cable."""
    a, b = (
        End(
            _text(_get(end, "system", "label")),
            _text(_get(end, "interface", "if_name")),
            kind=_text(_get(end, "system", "role")),
        )
        for end in ends
    )
    return a, b


def batfish(data: Any) -> Rows | None:
    """Batfish's layer 1 topology: edges in one or both directions."""
    edges = _get(data, "edges")
    if not isinstance(edges, list) or not any("node1" in edge for edge in _dicts(edges)):
        return None
    return _gathered(ImportRow(_batfish_end(edge, "node1"), _batfish_end(edge, "node2")) for edge in _dicts(edges))


def _batfish_end(edge: Mapping[str, Any], name: str) -> End:
    return End(_text(_get(edge, name, "hostname")), _text(_get(edge, name, "interfaceName")))


def canu(data: Any) -> Rows | None:
    """CANU's topology (paddle, CCJ): nodes with ports that name their peers by number. Slot and port name a port."""
    nodes = _dicts(_get(data, "topology"))
    if not nodes or not all("common_name" in node for node in nodes):
        return None
    known = {node.get("id"): node for node in nodes}
    return _gathered(
        ImportRow(
            _canu_end(node, port, ""),
            _canu_end(known.get(port.get("destination_node_id"), {}), port, "destination_"),
            speed_gbps=speed_gbps(_text(port.get("speed"))),
        )
        for node in nodes
        for port in _dicts(node.get("ports"))
        if port.get("destination_node_id") is not None
    )


def _canu_end(node: Mapping[str, Any], cable: Mapping[str, Any], side: str) -> End:
    slot, port = cable.get(f"{side}slot"), cable.get(f"{side}port")
    rack, unit = _text(_get(node, "location", "rack")), _text(_get(node, "location", "elevation"))
    name = f"{slot}:{port}" if slot else _text(port)
    digits = unit.lstrip("uU")
    kind = f"switch {_text(node.get('architecture'))}" if node.get("type") == "switch" else _text(node.get("type"))
    return End(_text(node.get("common_name")), name, rack, int(digits) if digits.isdigit() else None, kind)


def netq(data: Any) -> Rows | None:
    """NetQ's topology graph: tiers of nodes with an id and a name, and groups of links between ids."""
    graphs = [graph for graph in _dicts(data) if "nodes" in graph and "links" in graph]
    if not graphs:
        return None
    nodes = [
        node for graph in graphs for tier in _dicts(graph["nodes"]) for node in _dicts(tier.get("compounded_nodes"))
    ]
    known = {_text(node.get("id")): node for node in nodes}
    return _gathered(
        ImportRow(_netq_end(known, ends[0]), _netq_end(known, ends[1]))
        for graph in graphs
        for group in _dicts(graph["links"])
        for link in _dicts(group.get("compounded_links"))
        if len(ends := _dicts(link.get("interfaces"))) == 2
    )


def _netq_end(known: Mapping[str, Mapping[str, Any]], end: Mapping[str, Any]) -> End:
    node = known.get(_text(end.get("node")), {})
    return End(_text(node.get("name")), _text(end.get("interface")), kind=_text(node.get("device_type")))


def sonic(data: Any) -> Rows | None:
    """A SONiC switch's config_db: DEVICE_NEIGHBOR by local port, with the peer's name and port; in the form of its
    Configuration.md by the peer's name, with both ports. A dump of the database has flat keys, `TABLE|key`. Raises
    `QueryError` where the file does not name its switch.
    """
    tables: dict[str, Any] = dict(data) if isinstance(data, Mapping) else {}
    for key, value in list(tables.items()):
        table, parted, rest = str(key).partition("|")
        if parted and isinstance(value, Mapping):
            tables[table] = {**(_get(tables, table) or {}), rest: value}
    neighbors = tables.get("DEVICE_NEIGHBOR")
    if not isinstance(neighbors, Mapping):
        return None
    name = _text(_get(tables, "DEVICE_METADATA", "localhost", "hostname"))
    if not name:
        raise QueryError(
            "a config_db that does not name its switch: expected the hostname in DEVICE_METADATA, localhost"
        )
    kinds = _get(tables, "DEVICE_NEIGHBOR_METADATA") or {}
    return _gathered(
        ImportRow(
            End(name, _text(_get(peer, "local_port")) or key, kind="leaf"),
            End(far, _text(_get(peer, "port")), kind=_text(_get(kinds, far, "type")) or _text(_get(peer, "type"))),
        )
        for key, peer in neighbors.items()
        for far in [_text(_get(peer, "name")) or (key if _get(peer, "local_port") else "")]
    )


def arista_check(data: Any) -> Rows | None:
    """Arista's cabling check: level, device, number of the port, and the peer with the number of its port."""
    if not isinstance(data, Mapping) or not data or not all(str(key).startswith("level") for key in data):
        return None
    return _gathered(
        ImportRow(End(device, _text(port)), End(_text(peer[0]), _text(peer[1])))
        for devices in data.values()
        if isinstance(devices, Mapping)
        for device, ports in devices.items()
        if isinstance(ports, Mapping)
        for port, peer in ports.items()
        if isinstance(peer, list) and len(peer) == 2
    )


def records(data: Any) -> Rows | None:
    """Cables as records, `[{"source_name": ..., "source_port": ..., "dest_name": ..., ...}]`, also in lists below the
    keys of mappings, by names of their own, or with a mapping for each end: their keys are the columns of a table.
    LLDPq's `lldpq-p2p-v1` and sFlow-RT's topology are of this form, as are many exports.
    """
    tables = list(_tables(data, "", _MOST_NESTED))
    if not tables:
        return None
    rows = Rows()
    read_tables(tables if len(tables) > 1 else [Table("", tables[0].rows)], rows)
    return rows


def _tables(value: Any, path: str, deep: int) -> Iterator[Table]:
    """The lists of records below a value, and the mappings of them, each a sheet named by its keys."""
    inner = value.items() if isinstance(value, Mapping) else ()
    flat = [_flat(one) for one in _dicts(list(value.values()) if isinstance(value, Mapping) else value)]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    if header_of(keys).complete:
        lines = [(at, [_text(one.get(key)) for key in keys]) for at, one in enumerate(flat, 1)]
        yield Table(path, [(0, keys), *lines])
    elif deep:
        for key, below in inner:
            yield from _tables(below, f"{path}.{key}" if path else str(key), deep - 1)


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record whose ends are mappings as a flat one: `{"a": {"device": ...}}` has `a device`."""
    found: dict[str, Any] = {}
    for key, value in record.items():
        inner = value.items() if isinstance(value, Mapping) else ()
        found |= {f"{key} {name}": of for name, of in inner} or {str(key): value}
    return found


READERS: Final[dict[str, Reader]] = {
    "NVIDIA Air": air,
    "Nautobot GraphQL": nautobot,
    "NetBox cables": netbox,
    "NetBox interfaces": netbox_interfaces,
    "Apstra cabling map": apstra,
    "Batfish layer 1": batfish,
    "CANU": canu,
    "SONiC DEVICE_NEIGHBOR": sonic,
    "Arista cabling check": arista_check,
    "NetQ topology graph": netq,
}
"""By the name of the format."""

"""Cable lists in JSON: NVIDIA Air and NetQ, Apstra, Batfish, CANU, SONiC's DEVICE_NEIGHBOR, Arista's cabling check.

Each reader takes the parsed file and returns its rows, or None where the file is of another format.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from truerail.errors import QueryError
from truerail.plans.imports import netbox_plans
from truerail.plans.imports.cable_tables import Table, read_tables
from truerail.plans.imports.headers import header_of
from truerail.plans.imports.import_row import End, ImportRow, Rows, dicts, end_at, get, text
from truerail.plans.imports.misspelled import check_headers
from truerail.plans.numbers import speed_gbps

Reader = Callable[[Any], Rows | None]
_MOST_NESTED = 4
CLOUD = re.compile(r"(?:compute[-_]?)?(?:hpc[-_]?island|network[-_]?block|local[-_]?block)[-_]?id", re.IGNORECASE)
"""A list of hosts by their place in a cloud's network, as OCI's topology of RDMA hosts."""


def air(data: Any) -> Rows | None:
    """NVIDIA Air: a link is a list of two ends with their MACs, one of which may be the word `unconnected`. What its
    SDK is given is the content alone.
    """
    content = get(data, "content") or data
    nodes, links = get(content, "nodes"), get(content, "links")
    if not isinstance(nodes, Mapping) or not isinstance(links, list) or not any(isinstance(one, list) for one in links):
        return None
    ends = [[end for one in link if (end := _air_end(nodes, one))] if isinstance(link, list) else [] for link in links]
    rows = Rows.of(ImportRow(two[0], two[1]) for two in ends if len(two) == 2)
    if open_ends := sum(len(two) != 2 for two in ends):
        rows.notes.append(f"{open_ends:,} ports without a cable are left out")
    return rows


def _air_end(nodes: Mapping[str, Any], one: Any) -> End | None:
    device, port, mac = (text(get(one, name)) for name in ("node", "interface", "mac"))
    return End(device, port, kind=text(get(nodes, device, "os")), mac=mac.lower()) if device and port else None


def apstra(data: Any) -> Rows | None:
    """Apstra's cabling map: links with two endpoints, each an interface and a system."""
    links = get(data, "links")
    if not isinstance(links, list) or not any("endpoints" in link for link in dicts(links)):
        return None
    rows = Rows()
    for number, link in enumerate(dicts(links), 1):
        # an endpoint without an interface has no name there: its row is listed as no cable
        found = dicts(link.get("endpoints"))
        ends = [end_at(end, "system.label", "interface.if_name", "system.role") for end in found]
        speed, label = speed_gbps(text(link.get("speed"))), text(link.get("label"))
        rows.add_link(ends, f"link {number}", speed_gbps=speed, label=label)
    return rows


def batfish(data: Any) -> Rows | None:
    """Batfish's layer 1 topology: edges in one or both directions."""
    edges = get(data, "edges")
    if not isinstance(edges, list) or not any("node1" in edge for edge in dicts(edges)):
        return None
    nodes = ("node1", "node2")
    return Rows.of_links([end_at(get(edge, of), "hostname", "interfaceName") for of in nodes] for edge in dicts(edges))


def canu(data: Any) -> Rows | None:
    """CANU's topology (paddle, CCJ): nodes with ports that name their peers by number. Slot and port name a port."""
    nodes = dicts(get(data, "topology"))
    if not nodes or not all("common_name" in node for node in nodes):
        return None
    known = {node.get("id"): node for node in nodes}
    return Rows.of(
        ImportRow(
            _canu_end(node, port, ""),
            _canu_end(known.get(port.get("destination_node_id"), {}), port, "destination_"),
            speed_gbps=speed_gbps(text(port.get("speed"))),
        )
        for node in nodes
        for port in dicts(node.get("ports"))
        if port.get("destination_node_id") is not None
    )


def _canu_end(node: Mapping[str, Any], cable: Mapping[str, Any], side: str) -> End:
    slot, port = cable.get(f"{side}slot"), cable.get(f"{side}port")
    rack, unit = text(get(node, "location", "rack")), text(get(node, "location", "elevation"))
    name = f"{slot}:{port}" if slot else text(port)
    digits = unit.lstrip("uU")
    kind = f"switch {text(node.get('architecture'))}" if node.get("type") == "switch" else text(node.get("type"))
    return End(text(node.get("common_name")), name, rack, int(digits) if digits.isdigit() else None, kind)


def netq(data: Any) -> Rows | None:
    """NetQ's topology graph: tiers of nodes with an id and a name, and groups of links between ids."""
    graphs = [graph for graph in dicts(data) if "nodes" in graph and "links" in graph]
    if not graphs:
        return None
    nodes = [node for graph in graphs for tier in dicts(graph["nodes"]) for node in dicts(tier.get("compounded_nodes"))]
    known = {text(node.get("id")): node for node in nodes}
    groups = (group for graph in graphs for group in dicts(graph["links"]))
    links = (link for group in groups for link in dicts(group.get("compounded_links")))
    return Rows.of_links([_netq_end(known, end) for end in dicts(link.get("interfaces"))] for link in links)


def _netq_end(known: Mapping[str, Mapping[str, Any]], end: Mapping[str, Any]) -> End:
    node = known.get(text(end.get("node")), {})
    return End(text(node.get("name")), text(end.get("interface")), kind=text(node.get("device_type")))


def sonic(data: Any) -> Rows | None:
    """A SONiC switch's config_db: DEVICE_NEIGHBOR by local port, with the peer's name and port; in the form of its
    Configuration.md by the peer's name, with both ports. A dump of the database has flat keys, `TABLE|key`; the golden
    config of a switch with several ASICs has such tables for each, joined by ports of its backplane. Raises
    `QueryError` where the file does not name its switch.
    """
    tables = _sonic_tables(data) if isinstance(data, Mapping) else {}
    neighbors = tables.get("DEVICE_NEIGHBOR")
    if not isinstance(neighbors, Mapping):
        return None
    name = text(get(tables, "DEVICE_METADATA", "localhost", "hostname"))
    if not name:
        raise QueryError(
            "a config_db that does not name its switch: expected the hostname in DEVICE_METADATA, localhost"
        )
    kinds = get(tables, "DEVICE_NEIGHBOR_METADATA") or {}
    rows = Rows()
    for key, peer in neighbors.items():
        near = End(name, text(get(peer, "local_port")) or key, kind="leaf")
        far = text(get(peer, "name")) or (key if get(peer, "local_port") else "")
        kind = text(get(kinds, far, "type")) or text(get(peer, "type"))
        if near.port.startswith(_BACKPLANE):
            rows.leave_out("within its chassis", f"{near.device}/{near.port}")
        else:
            rows.add(ImportRow(near, End(far, text(get(peer, "port")), kind=kind)))
    return rows


_ASIC: Final = re.compile(r"localhost|asic\d+")
_BACKPLANE: Final = "Ethernet-BP"


def _sonic_tables(data: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a config_db; those of its ASICs as one."""
    tables: dict[str, Any] = {}
    parts = [one for key, one in data.items() if _ASIC.fullmatch(str(key)) and isinstance(one, Mapping)]
    for key, value in ((str(key), value) for part in (data, *parts) for key, value in part.items()):
        table, parted, rest = key.partition("|")
        if isinstance(value, Mapping):
            tables[table] = {**tables.get(table, {}), **({rest: value} if parted else value)}
    return tables


def arista_check(data: Any) -> Rows | None:
    """Arista's cabling check: level, device, number of the port, and the peer with the number of its port."""
    if not isinstance(data, Mapping) or not data or not all(str(key).startswith("level") for key in data):
        return None
    return Rows.of(
        ImportRow(End(device, text(port)), End(text(far[0]), text(far[1])), where=f"{device}/{port}")
        for devices in data.values()
        if isinstance(devices, Mapping)
        for device, ports in devices.items()
        if isinstance(ports, Mapping)
        for port, peer in ports.items()
        for far in [peer if isinstance(peer, list) and len(peer) == 2 else ("", "")]
    )


def records(data: Any, file: str) -> Rows | None:
    """Cables as records, `[{"source_name": ..., "source_port": ..., "dest_name": ..., ...}]`, also in lists below the
    keys of mappings, by names of their own, or with a mapping for each end: their keys are the columns of a table.
    LLDPq's `lldpq-p2p-v1` and sFlow-RT's topology are of this form, as are many exports. Raises `PlanError` for
    misspelled keys.
    """
    tables = list(_tables(data, "", _MOST_NESTED))
    check_headers(tables, file)
    if not any(header_of(table.rows[0][1]).complete for table in tables):
        return None
    rows = Rows()
    read_tables(tables if len(tables) > 1 else [Table("", tables[0].rows)], rows)
    return rows


def _tables(value: Any, path: str, deep: int) -> Iterator[Table]:
    """The lists of records below a value, and the mappings of them, each a sheet named by its keys."""
    inner = value.items() if isinstance(value, Mapping) else ()
    flat = [_flat(one) for one in dicts(list(value.values()) if isinstance(value, Mapping) else value)]
    keys = list(dict.fromkeys(key for one in flat for key in one))
    if (keys and isinstance(value, list)) or header_of(keys).complete:
        lines = [(at, [text(one.get(key)) for key in keys]) for at, one in enumerate(flat, 1)]
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
    "NetBox cables": netbox_plans.cables,
    "NetBox interfaces": netbox_plans.interfaces,
    "Nautobot GraphQL": netbox_plans.devices,
    "Apstra cabling map": apstra,
    "Batfish layer 1": batfish,
    "CANU": canu,
    "SONiC DEVICE_NEIGHBOR": sonic,
    "Arista cabling check": arista_check,
    "NetQ topology graph": netq,
}
"""By the name of the format."""

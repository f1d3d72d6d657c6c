"""Cable lists in YAML: containerlab and Hedgehog. netlab and topograph name no ports and are refused for that reason.

Each reader takes the file's documents and returns its rows, or None where the file is of another format.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from truerail.errors import QueryError
from truerail.plans.imports.import_row import End, ImportRow, Rows

Documents = Sequence[Any]
Reader = Callable[[Documents], Rows | None]


def containerlab(documents: Documents) -> Rows | None:
    """containerlab: `endpoints` of two texts `node:interface`, or of two mappings; `type: host` and others leave it."""
    topology = _mapping(documents[0]).get("topology") if len(documents) == 1 else None
    if not isinstance(topology, Mapping) or not isinstance(topology.get("links"), list):
        return None
    nodes = _mapping(topology.get("nodes"))
    rows = Rows()
    for number, link in enumerate(topology["links"], 1):
        ends = [end for one in _list(_mapping(link).get("endpoints")) if (end := _lab_end(nodes, one))]
        if len(ends) == 2:
            rows.add(ImportRow(ends[0], ends[1], number))
        else:
            rows.leave_out("not a cable between two nodes", f"link {number}")
    return rows


def _lab_end(nodes: Mapping[str, Any], one: Any) -> End | None:
    if isinstance(one, Mapping):
        node, port = str(one.get("node") or ""), str(one.get("interface") or "")
    else:
        node, _, port = str(one).partition(":")
    kind = str(_mapping(nodes.get(node)).get("kind") or "")
    return End(node, port, kind=kind) if node and port and node not in ("host", "mgmt-net", "macvlan") else None


def hedgehog(documents: Documents) -> Rows | None:
    """Hedgehog's wiring: Connections, whose links name two ports as `device/port`; Switches and Servers by kind."""
    named = [_mapping(one) for one in documents]
    if not any(str(one.get("apiVersion")).startswith("wiring.githedgehog.com/") for one in named):
        return None
    kinds = {
        str(_mapping(one.get("metadata")).get("name")): str(_mapping(one.get("spec")).get("role") or one.get("kind"))
        for one in named
    }
    rows = Rows()
    for one in named:
        if one.get("kind") == "Connection":
            for link in _links(one.get("spec")):
                rows.add(ImportRow(_port(kinds, link[0]), _port(kinds, link[1])))
    return rows


def _links(spec: Any) -> Iterator[list[str]]:
    """All pairs of ports below a Connection's spec, whatever its type is called."""
    if isinstance(spec, list):
        for one in spec:
            yield from _links(one)
    elif isinstance(spec, Mapping):
        ports = [str(end["port"]) for end in spec.values() if isinstance(end, Mapping) and "port" in end]
        if len(ports) == 2:
            yield ports
        else:
            for one in spec.values():
                yield from _links(one)


def _port(kinds: Mapping[str, str], text: str) -> End:
    device, _, port = text.partition("/")
    return End(device, port, kind=kinds.get(device, ""))


def netlab(documents: Documents) -> Rows | None:
    """netlab: its links name nodes only. Raises QueryError."""
    first = _mapping(documents[0]) if documents else {}
    if "nodes" in first and isinstance(first.get("links"), list) and "topology" not in first:
        raise QueryError("a netlab topology names no ports: netlab numbers them when it creates the lab")
    return None


def topograph(documents: Documents) -> Rows | None:
    """topograph's models: trees of switches and nodes. Raises QueryError."""
    first = _mapping(documents[0]) if documents else {}
    if isinstance(first.get("switches"), Mapping) and ("blocks" in first or "nodes" in first):
        raise QueryError("a topograph model is a tree of switches and nodes without ports")
    return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


READERS: Final[dict[str, Reader]] = {
    "containerlab": containerlab,
    "Hedgehog wiring": hedgehog,
    "netlab": netlab,
    "topograph": topograph,
}
"""By the name of the format."""

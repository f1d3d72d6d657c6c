"""Cable lists in YAML: containerlab, Hedgehog, netlab and topograph. The last two name devices and no ports.

Each reader takes the file's documents and returns its rows, or None where the file is of another format.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from truerail.files.nodesets import Budget, expand
from truerail.plans.imports.import_row import End, ImportRow, Rows, UnnamedPorts
from truerail.plans.imports.tables import UNNAMED_NOTE

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
            rows.add(ImportRow(ends[0], ends[1], where=f"link {number}"))
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
    """netlab: links are texts `a-b`, lists, or mappings with nodes as keys or in `interfaces`; `lag.members` are links.

    netlab itself numbers the ports of each node in the order of its links.
    """
    first = _mapping(documents[0]) if documents else {}
    if "nodes" not in first or not isinstance(first.get("links"), list) or "topology" in first:
        return None
    named = first["nodes"]
    kinds = (
        {str(one): str(_mapping(of).get("device") or "") for one, of in named.items()}
        if isinstance(named, Mapping)
        else {str(one): "" for one in _list(named)}
    )
    rows, unnamed = Rows(notes=[UNNAMED_NOTE]), UnnamedPorts()
    for number, link in enumerate(_members(first["links"]), 1):
        nodes = _netlab_nodes(link, kinds)
        if len(nodes) == 2:
            a, b = (End(node, unnamed.next(node), kind=kinds[node]) for node in nodes)
            rows.add(ImportRow(a, b, where=f"link {number}"))
        else:
            rows.leave_out("not a cable between two nodes", f"link {number}")
    return rows


def _members(links: Sequence[Any]) -> Iterator[Any]:
    """All links; those of a group or of a lag by themselves."""
    for link in links:
        lag = _mapping(link).get("lag")
        inner = _mapping(link).get("lag.members") or _mapping(lag).get("members")
        yield from _list(inner) if inner else [link]


def _netlab_nodes(link: Any, kinds: Mapping[str, str]) -> list[str]:
    """The nodes of a link. A name may have a hyphen of its own, so that a text is cut where both parts are nodes."""
    if isinstance(link, str):
        cuts = (at for at, sign in enumerate(link) if sign == "-")
        pairs = ([link[:at], link[at + 1 :]] for at in cuts)
        return next((pair for pair in pairs if set(pair) <= kinds.keys()), [])
    if isinstance(link, Mapping) and isinstance(link.get("interfaces"), list):
        link = [_mapping(one).get("node") if isinstance(one, Mapping) else one for one in link["interfaces"]]
    return [str(one) for one in link if str(one) in kinds] if isinstance(link, list | Mapping) else []


def topograph(documents: Documents) -> Rows | None:
    """topograph's models: switches with the switches below them, and blocks or switches with node sets."""
    first = _mapping(documents[0]) if documents else {}
    switches = first.get("switches")
    if not isinstance(switches, Mapping) or not ("blocks" in first or "nodes" in first):
        return None
    blocks = [_mapping(one) for one in _list(first.get("blocks"))]
    below: list[tuple[str, Any, str]] = [
        (str(name), _mapping(of).get(key), kind)
        for name, of in switches.items()
        for key, kind in (("switches", "switch"), ("nodes", "host"))
    ]
    below += [(str(one.get("switch") or ""), one.get("nodes"), "host") for one in blocks]
    rows, unnamed, budget = Rows(notes=[UNNAMED_NOTE]), UnnamedPorts(), Budget()
    for upper, names, kind in below:
        for name in (name for text in _list(names) for name in expand(str(text), budget)):
            lower = End(name, unnamed.next(name), kind=kind)
            rows.add(
                ImportRow(
                    lower, End(upper, unnamed.next(upper) if upper else "", kind="switch"), where=f"switch {upper}"
                )
            )
    return rows


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

"""Cable lists in YAML: containerlab, Hedgehog, Cisco Modeling Labs, Arista's labs and AVD, netlab and topograph. The
last two name devices and no ports.

Each reader takes the file's documents and returns its rows, or None where the file is of another format.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from truerail.files.nodesets import Budget, expand
from truerail.plans.imports.cable_tables import UNNAMED_NOTE
from truerail.plans.imports.import_row import UNNAMED, End, ImportRow, Rows, UnnamedPorts, dicts, end_at, get, text

Documents = Sequence[Any]
Reader = Callable[[Documents], Rows | None]


def containerlab(documents: Documents) -> Rows | None:
    """containerlab: `endpoints` of two texts `node:interface`, or of two mappings; `type: host` and others leave it. A
    node without a kind has that of its group, else the default one.
    """
    topology = _mapping(documents[0]).get("topology") if len(documents) == 1 else None
    if not isinstance(topology, Mapping) or not isinstance(topology.get("links"), list):
        return None
    groups, default = _mapping(topology.get("groups")), _mapping(topology.get("defaults")).get("kind")
    kinds = {
        name: str(of.get("kind") or _mapping(groups.get(str(of.get("group")))).get("kind") or default or "")
        for name, of in _by_name(_mapping(topology.get("nodes"))).items()
    }
    links = (_list(get(link, "endpoints")) for link in topology["links"])
    return Rows.of_links(([end for one in ends if (end := _lab_end(kinds, one))] for ends in links), "nodes")


def _lab_end(kinds: Mapping[str, str], one: Any) -> End | None:
    if isinstance(one, Mapping):
        node, port = str(one.get("node") or ""), str(one.get("interface") or "")
    else:
        node, _, port = str(one).partition(":")
    return End(node, port, kind=kinds.get(node, "")) if node and port and node not in _NO_NODES else None


_NO_NODES: Final = ("host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy")
"""What containerlab has in the place of a node where a link leaves the lab."""


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
            name = _mapping(one.get("metadata")).get("name")
            for link in [*_links(one.get("spec"))] or [[]]:
                rows.add_link([_port(kinds, end) for end in link], f"connection {name}")
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
    """netlab: links are texts `a-b`, lists, or mappings with nodes as keys or in `interfaces`; `lag.members` and the
    members of a group are links. All links may be a mapping of such lists.

    netlab itself numbers the ports of each node in the order of its links, except those that have an `ifname`. Sources:
    netlab.tools/links, netlab.tools/groups.
    """
    first = _mapping(documents[0]) if documents else {}
    links, kinds = first.get("links"), _netlab_kinds(first)
    if not kinds or not isinstance(links, list | Mapping) or "topology" in first:
        return None
    groups = [links] if isinstance(links, list) else links.values()
    listed = [link for group in groups for link in (group if isinstance(group, list) else [group])]
    rows, unnamed = Rows(), UnnamedPorts()
    for number, link in enumerate(_members(listed), 1):
        nodes = _netlab_nodes(link, kinds)
        ends = [End(node, port or unnamed.next(node), kind=kinds[node]) for node, port in nodes if len(nodes) == 2]
        rows.add_link(ends, f"link {number}", "nodes")
    unknown = any(end.port.startswith(UNNAMED) for row in rows.found for end in (row.a, row.b))
    rows.notes += [UNNAMED_NOTE] if unknown else []
    return rows


def _netlab_kinds(topology: Mapping[str, Any]) -> dict[str, str]:
    """The word for each node's device. Nodes may stand in groups alone, where these create them."""
    named, groups = topology.get("nodes"), _mapping(topology.get("groups"))
    other = str(topology.get("defaults.device") or _mapping(topology.get("defaults")).get("device") or "")
    kinds = {str(name): str(_mapping(of).get("device") or other) for name, of in _mapping(named).items()}
    for one in _list(named):
        if name := _mapping(one).get("name") if isinstance(one, Mapping) else one:
            kinds[str(name)] = str(_mapping(one).get("device") or other)
    for group in (_mapping(group) for group in groups.values()):
        if groups.get("_auto_create") or group.get("_auto_create"):
            kinds |= {str(one): str(group.get("device") or other) for one in _list(group.get("members"))}
    return kinds


def _members(links: Sequence[Any]) -> Iterator[Any]:
    """All links; those of a group or of a lag by themselves."""
    for link in links:
        of = _mapping(link)
        inner = of.get("lag.members") or _mapping(of.get("lag")).get("members") or ("group" in of and of.get("members"))
        yield from _members(inner) if isinstance(inner, list) else [link]


def _netlab_nodes(link: Any, kinds: Mapping[str, str]) -> list[tuple[str, str]]:
    """The nodes of a link, each with the name of its port if the link has one. A name may have a hyphen of its own, so
    that a text is cut where both parts are nodes.
    """
    if isinstance(link, str):
        cuts = (at for at, sign in enumerate(link) if sign == "-")
        pairs = ([link[:at].strip(), link[at + 1 :].strip()] for at in cuts)
        return [(node, "") for node in next((pair for pair in pairs if set(pair) <= kinds.keys()), [])]
    of = _mapping(link)
    if isinstance(of.get("interfaces"), list):
        ends = [one if isinstance(one, Mapping) else {"node": one} for one in of["interfaces"]]
    elif of:
        words: dict[str, dict[str, Any]] = {}
        for key, value in of.items():  # `r2.ospf.cost: 3` names r2 as well
            node, dot, attribute = str(key).partition(".")
            words.setdefault(node, {}).update({attribute: value} if dot else _mapping(value))
        ends = [{**own, "node": node} for node, own in words.items()]
    else:
        ends = [{"node": one} for one in _list(link)]
    return [(str(end["node"]), str(end.get("ifname") or "")) for end in ends if str(end.get("node")) in kinds]


def topograph(documents: Documents) -> Rows | None:
    """topograph's models: switches with the switches below them, and blocks or switches with node sets. Both may be
    mappings, or lists of mappings with names. A switch with none below is a leaf, also one without nodes.
    """
    first = _mapping(documents[0]) if documents else {}
    switches = _by_name(first.get("switches"))
    blocks = _by_name(first.get("blocks") or first.get("capacity_blocks"))
    if not switches or not (blocks or "blocks" in first or "nodes" in first):
        return None
    keys = (("switches", "leaf switch"), ("nodes", "host"))
    below: list[tuple[str, Any, str]] = [(n, of.get(key), kind) for n, of in switches.items() for key, kind in keys]
    above = {str(block): name for name, of in switches.items() for block in _list(of.get("capacity_blocks"))}
    below += [(str(one.get("switch") or above.get(name, "")), one.get("nodes"), "host") for name, one in blocks.items()]
    tiers = {name: "switch" for name, of in switches.items() if of.get("switches")}
    rows, unnamed, budget = Rows(notes=[UNNAMED_NOTE]), UnnamedPorts(), Budget()
    for upper, names, kind in below:
        for name in (name for one in _list(names) for name in expand(str(one), budget)):
            lower = End(name, unnamed.next(name), kind=tiers.get(name, kind))
            a = End(upper, unnamed.next(upper) if upper else "", kind=tiers.get(upper, "leaf switch"))
            rows.add_link([lower, a], f"{name} below {upper or 'no switch'}")
    return rows


def _by_name(value: Any) -> dict[str, Mapping[str, Any]]:
    """Mappings by their names: they are the keys, or in `name`; one without is named by its place."""
    if isinstance(value, Mapping):
        return {str(name): _mapping(of) for name, of in value.items()}
    return {str(_mapping(of).get("name") or at): _mapping(of) for at, of in enumerate(_list(value))}


def modeling_labs(documents: Documents) -> Rows | None:
    """Cisco Modeling Labs: links join `n1` and `n2` by `i1` and `i2`, ids of nodes and of their interfaces."""
    first = _mapping(documents[0]) if documents else {}
    nodes = {str(one.get("id")): one for one in dicts(first.get("nodes")) if "node_definition" in one}
    if not nodes or not isinstance(first.get("links"), list):
        return None
    return Rows.of_links(
        [_modeled(nodes.get(str(get(link, f"n{side}")), {}), str(get(link, f"i{side}"))) for side in (1, 2)]
        for link in first["links"]
    )


def _modeled(node: Mapping[str, Any], interface: str) -> End:
    ports = {str(one.get("id")): text(one.get("label")) for one in dicts(node.get("interfaces"))}
    return End(text(node.get("label")), ports.get(interface, ""), kind=text(node.get("node_definition")))


def arista_lab(documents: Documents) -> Rows | None:
    """Arista's labs (Test Drive, cEOS-Topo, Vane): nodes and hosts with `neighbors` of `port`, `neighborDevice` and
    `neighborPort`; nodes are a mapping, or a list of mappings of one node each.
    """
    first = _mapping(documents[0]) if documents else {}
    nodes = {name: (of, key) for key in ("nodes", "hosts") for name, of in _each_node(first.get(key))}
    peers = [(name, one, key) for name, (of, key) in nodes.items() for one in dicts(of.get("neighbors"))]
    if not any("neighborDevice" in one for _, one, _ in peers):
        return None
    rows = Rows()
    for name, one, key in peers:
        a = End(name, text(one.get("port")), kind="host" if key == "hosts" else "")
        b = End(text(one.get("neighborDevice")), text(one.get("neighborPort")))
        rows.add(ImportRow(a, b, where=f"neighbor {b.device} of {name}"))
    return rows


def _each_node(value: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for group in [value] if isinstance(value, Mapping) else dicts(value):
        yield from ((str(name), _mapping(of)) for name, of in group.items())


def avd(documents: Documents) -> Rows | None:
    """Arista AVD's structured configs, each of one device: `ethernet_interfaces` with `peer` and `peer_interface`,
    which may be in `metadata`. Both ends of a cable list it. Source: avd `examples/dual-dc-l3ls/intended`.
    """
    ports = [
        (str(one["hostname"]), port, {**port, **_mapping(port.get("metadata"))})
        for one in map(_mapping, documents)
        if one.get("hostname")
        for port in dicts(one.get("ethernet_interfaces"))
    ]
    if not any("peer_interface" in words for _, _, words in ports):
        return None
    far = (end_at(words, "peer", "peer_interface", "peer_type") for _, _, words in ports)
    near = (End(name, text(port.get("name"))) for name, port, _ in ports)
    return Rows.of(ImportRow(a, b) for a, b in zip(near, far, strict=True) if b.device)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


READERS: Final[dict[str, Reader]] = {
    "containerlab": containerlab,
    "Hedgehog wiring": hedgehog,
    "Cisco Modeling Labs": modeling_labs,
    "Arista lab": arista_lab,
    "Arista AVD": avd,
    "netlab": netlab,
    "topograph": topograph,
}
"""By the name of the format."""

"""The devices of a YAML plan (`hosts`, `leaves`, `spines`, `superspines`), and its generated cables: `host_links` (NICs
to leaves) and `uplinks` (a tier to the one above).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from truerail.files.problems import hint
from truerail.files.yaml_values import Values, one_each, several_each, spread, units
from truerail.model import Cable, Device, Panel, Port, Role
from truerail.model.columns import grouped
from truerail.model.yaml_tree import Node
from truerail.plans.numbers import MOST_GPUS, MOST_PLANES, MOST_RAILS, speed_of
from truerail.plans.plan_keys import HOST_LINKS, HOSTS, PANELS, SECTIONS, SWITCHES, UPLINKS

Nics = list[tuple[str, ...]]
"""A host's NICs in rail order, each with its ports in plane order."""


@dataclass
class Groups:
    """The device sections: devices by name, and the NICs of each host."""

    devices: dict[str, Device] = field(default_factory=dict)
    nics: dict[str, Nics] = field(default_factory=dict)

    def of_role(self, role: Role) -> list[str]:
        """The names of the devices of one role, in the order of the file."""
        return [device.name for device in self.devices.values() if device.role is role]


def read_groups(sections: dict[str, Node], values: Values) -> Groups:
    """The devices of all four sections."""
    groups = Groups()
    for section, role in SECTIONS.items():
        for entry in values.entries(sections.get(section)):
            _read_entry(entry, role, groups, values)
    return groups


def read_panels(node: Node | None, values: Values) -> dict[str, Panel]:
    """The patch panels that have a place."""
    found: dict[str, Panel] = {}
    for entry in values.entries(node):
        keys = values.fields(entry, PANELS)
        names = values.names(keys.get("nodes"))
        racks = spread(keys.get("rack"), len(names), values)
        found |= zip(names, map(Panel, racks, units(keys.get("unit"), racks, values)), strict=True)
    return found


def _read_entry(entry: Node, role: Role, groups: Groups, values: Values) -> None:
    keys = values.fields(entry, HOSTS if role is Role.HOST else SWITCHES)
    if "nodes" not in keys:
        return
    names = values.names(keys["nodes"])
    new = _devices(names, role, keys, values, entry.line)
    for name, device in zip(names, new, strict=True):
        if "/" in name:
            values.faults.add(keys["nodes"].line, name, "a device's name must not contain '/'")
        if name in groups.devices:
            values.faults.add(keys["nodes"].line, name, "a duplicate device")
        groups.devices[name] = device
    if role is Role.HOST:
        nics = _nics(keys.get("nics"), values)
        groups.nics.update(dict.fromkeys(names, nics))


def _devices(names: list[str], role: Role, keys: dict[str, Node], values: Values, line: int) -> list[Device]:
    """One device a name; what is a node set expands together with the names."""
    count = len(names)
    pods, racks = (spread(keys.get(key), count, values) for key in ("pod", "rack"))
    places = units(keys.get("unit"), racks, values)
    addresses = one_each(keys.get("address"), count, values)
    lists = ("aliases", "chassis_ids", "serials")
    aliases, chassis, serials = (several_each(keys.get(key), count, values) for key in lists)
    platform = values.text(keys.get("platform"))
    gpus = values.number(keys.get("gpus"), MOST_GPUS)
    return [
        Device(
            *(name, role, pods[i], addresses[i], platform, racks[i], places[i]),
            *(aliases[i], chassis[i], serials[i], gpus, line),
        )
        for i, name in enumerate(names)
    ]


def _nics(node: Node | None, values: Values) -> Nics:
    """A list in rail order; an item may be a list of its own: the ports of one NIC, plane by plane."""
    nics: Nics = []
    for one in [] if node is None else [node] if node.items is None else node.items:
        if one.items is None:
            nics += [(name,) for name in values.names(one)]
        else:
            nics.append(tuple(values.names(one)))
    return nics


# ----------------------------------------------------------------------------------------------------------------------
# The generated cables.


@dataclass
class Links:
    """Where the links are read: what they join, their default speed, and the values."""

    groups: Groups
    speed: float | None
    values: Values

    def devices(self, node: Node | None, roles: Sequence[Role]) -> list[str]:
        """The devices named, or all of the first role; devices that no section declares are faults."""
        if node is None:
            return self.groups.of_role(roles[0])
        names = self.values.names(node)
        known = [name for name in names if self._is(name, roles, node)]
        return known if len(known) == len(names) else []

    def _is(self, name: str, roles: Sequence[Role], node: Node) -> bool:
        device = self.groups.devices.get(name)
        if device is None:
            near = hint(name, list(self.groups.devices)[:5000])
            self.values.faults.add(node.line, name, f"no section declares this device{near}")
        elif device.role not in roles:
            expected = " or ".join(roles)
            self.values.faults.add(node.line, name, f"is a {device.role}, expected a {expected}")
        return device is not None and device.role in roles

    def pairs(
        self, below: list[str], above: list[str], keys: dict[str, Node], entry: Node
    ) -> Iterator[tuple[list[str], list[str]]]:
        """Which devices are cabled to which: pod by pod where both sides have pods, else all to all."""
        lower, upper = (grouped((self.groups.devices[name].pod, name) for name in names) for names in (below, above))
        if not self.values.yes(keys.get("within_pod"), "" not in lower and "" not in upper):
            yield below, above
            return
        for pod in sorted(lower.keys() - upper.keys()):
            self.values.faults.add(entry.line, pod, "no device above in this pod; `within_pod: no` joins across pods")
        yield from ((devices, upper[pod]) for pod, devices in lower.items() if pod in upper)


def host_links(entry: Node, links: Links) -> list[Cable]:
    """The cables of one `host_links` entry: rail r of every host to the leaf that carries rail r."""
    values = links.values
    keys = values.fields(entry, HOST_LINKS)
    hosts, leaves = links.devices(keys.get("hosts"), [Role.HOST]), links.devices(keys.get("leaves"), [Role.LEAF])
    if not hosts or not leaves or "ports" not in keys:
        if "ports" in keys and not values.faults.found:
            values.wrong(entry, "no hosts or no leaves to join")
        return []
    nics = [links.groups.nics[host] for host in hosts]
    rails = values.numbers(keys.get("rails"), MOST_RAILS) or list(range(max(map(len, nics))))
    if not rails:
        if not values.faults.found:
            values.wrong(entry, "no NICs to join: the key 'nics' is missing in `hosts`")
        return []
    plane = values.number(keys.get("plane"), MOST_PLANES)
    speed = speed_of(keys.get("speed"), values) or links.speed
    cables: list[Cable] = []
    for pod_hosts, pod_leaves in links.pairs(hosts, leaves, keys, entry):
        where = _host_ports(pod_leaves, rails, len(pod_hosts), keys, values)
        for at, host in enumerate(pod_hosts if where else ()):
            for rail in rails:
                name = _nic_port(host, rail, plane, links, entry)
                if name is not None:
                    cables.append(Cable(Port(host, name), where[rail][at], rail, plane, speed, line=entry.line))
    return cables


def _nic_port(host: str, rail: int, plane: int | None, links: Links, entry: Node) -> str | None:
    """The name of the host's port of a rail and plane; a fault where the host has none."""
    nics = links.groups.nics[host]
    ports = nics[rail] if rail < len(nics) else ()
    if len(ports) == 1:
        return ports[0]
    if plane is not None and plane < len(ports):
        return ports[plane]
    lacks = f"{len(ports)} ports: say `plane`" if plane is None else f"no port for plane {plane}"
    why = f"the NIC of rail {rail} has {lacks}" if ports else f"`nics` names {len(nics)} NICs, none for rail {rail}"
    links.values.faults.add(entry.line, host, why)
    return None


def _host_ports(
    leaves: list[str], rails: list[int], hosts: int, keys: dict[str, Node], values: Values
) -> dict[int, list[Port]]:
    """For each rail, the leaf ports of the hosts in order. Empty, with a fault noted, where they do not go in."""
    node = keys["ports"]
    if len(rails) % len(leaves):
        values.wrong(node, f"{len(rails)} rails do not divide evenly over {len(leaves)} leaves {_say(leaves)}")
        return {}
    each = len(rails) // len(leaves)
    sets = _port_sets(node, each, keys, values)
    short = [names for names in sets if len(names) < hosts]
    if short or len(sets) != each:
        if short:
            values.wrong(node, f"{len(short[0])} ports for {hosts} hosts on each rail of a leaf such as {leaves[0]}")
        return {}
    return {rail: [Port(leaves[at // each], name) for name in sets[at % each][:hosts]] for at, rail in enumerate(rails)}


def _port_sets(node: Node, each: int, keys: dict[str, Node], values: Values) -> list[list[str]]:
    """The ports of each rail of one leaf: given one by one, in blocks, or in turn."""
    if node.items is not None and each > 1:
        if len(node.items) != each:
            values.wrong(node, f"a leaf carries {each} rails: give one port set for each of them, or one for all")
            return []
        return [values.names(one) for one in node.items]
    names = values.names(node)
    block = len(names) // each
    if values.choice(keys.get("ports_by"), ("rail", "host"), "rail") == "host":
        return [names[first::each] for first in range(each)]
    return [names[first * block : (first + 1) * block] for first in range(each)]


def uplinks(entry: Node, links: Links, rails_of: dict[str, tuple[int, ...]]) -> list[Cable]:
    """The cables of one `uplinks` entry: every device of `from` to every device of `to`, in equal numbers.

    `rails_of` returns the rails that each leaf carries, for `by_rail`.
    """
    values = links.values
    keys = values.fields(entry, UPLINKS)
    below = links.devices(keys.get("from"), [Role.LEAF, Role.SPINE])
    above = links.devices(keys.get("to"), [Role.SPINE, Role.SUPERSPINE])
    if not below or not above or not {"ports", "to_ports"} <= keys.keys():
        if not values.faults.found:
            values.wrong(entry, "no devices to join below or above")
        return []
    cables: list[Cable] = []
    for lower, upper in links.pairs(below, above, keys, entry):
        by_rail = values.yes(keys.get("by_rail"), False)
        for some, theirs in _by_rail(lower, upper, rails_of, keys, values) if by_rail else [(lower, upper)]:
            cables += _mesh(some, theirs, keys, links, entry)
    return cables


def _by_rail(
    lower: list[str], upper: list[str], rails_of: dict[str, tuple[int, ...]], keys: dict[str, Node], values: Values
) -> Iterator[tuple[list[str], list[str]]]:
    """The leaves that carry the same rails, and the share of the spines that is theirs."""
    groups = grouped((rails_of.get(name, ()), name) for name in lower)
    if len(upper) % len(groups):
        values.wrong(keys["by_rail"], f"{len(upper)} devices above do not divide evenly over {len(groups)} rail groups")
        return
    share = len(upper) // len(groups)
    for at, (_, leaves) in enumerate(sorted(groups.items())):
        yield leaves, upper[at * share : (at + 1) * share]


def _mesh(lower: list[str], upper: list[str], keys: dict[str, Node], links: Links, entry: Node) -> list[Cable]:
    """Every lower device to every upper one, with as many parallel cables as the ports allow."""
    values = links.values
    ports, to_ports = values.names(keys["ports"]), values.names(keys["to_ports"])
    in_turn = values.choice(keys.get("ports_by"), ("spine", "turn"), "spine") == "turn"
    parallel = len(ports) // len(upper)
    if parallel * len(upper) != len(ports) or not parallel:
        values.wrong(keys["ports"], f"{len(ports)} ports do not divide evenly over {len(upper)} devices {_say(upper)}")
        return []
    if parallel * len(lower) > len(to_ports):
        needed = f"{parallel * len(lower)} = {len(lower)} devices with {parallel} cables to each"
        values.wrong(keys["to_ports"], f"{len(to_ports)} ports are fewer than the needed {needed}")
        return []
    plane = values.number(keys.get("plane"), MOST_PLANES)
    speed = speed_of(keys.get("speed"), values) or links.speed
    cables = []
    for low, device in enumerate(lower):
        for at, name in enumerate(ports):
            turn, high = divmod(at, len(upper)) if in_turn else reversed(divmod(at, parallel))
            target = Port(upper[high], to_ports[low * parallel + turn])
            cables.append(Cable(Port(device, name), target, None, plane, speed, "", None, entry.line))
    return cables


def _say(names: list[str]) -> str:
    return f"({names[0]})" if len(names) == 1 else f"({names[0]} to {names[-1]})"

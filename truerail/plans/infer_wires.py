"""What is plugged where, from LLDP of both ends or a discovery, without any plan; and what is above the leaves."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from truerail.analysis.cabling import Wiring, join
from truerail.analysis.cabling.discovery import COLLECTOR as DISCOVERY
from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.analysis.cabling.spellings import sort_of
from truerail.model import Cable, Device, Neighbor, Plan, Port, Role, Snapshot
from truerail.model.columns import NONE, grouped
from truerail.model.names import device_key, natural_key, port_key, short_name
from truerail.plans.infer_fabric import fabric_roles

_SWITCH_COLLECTORS = ("lldp_switch", "lldp_snmp", "if_snmp")
_HOST_COLLECTORS = ("gpu_nic_topology", "rdma_link")


@dataclass(frozen=True)
class Wires:
    """Joined pairs of ports. `hosts` and `switches` are all devices heard of, `vague` are switch ports that hear a host
    whose own port could not be named.
    """

    hosts: frozenset[str]
    switches: frozenset[str]
    peer: dict[Port, Port]
    vague: dict[Port, str]
    strangers: tuple[str, ...]
    """Devices heard of that are neither like a host nor like a switch."""


def wires_of(snapshot: Snapshot) -> Wires:
    """Joins all neighbours of a snapshot."""
    roles = _roles(snapshot) | fabric_roles(snapshot)
    known = Plan(devices={name: Device(name, role) for name, role in roles.items()}, cables=())
    wiring = join(known, snapshot)
    ports, names = wiring.index.ports, wiring.index.devices.names
    partner = wiring.partner[: len(ports)]
    joined = np.flatnonzero(partner >= 0)
    spelling = _Spelling(wiring, snapshot, roles)
    spelled = {code: spelling.of(ports.port(code)) for code in {*joined.tolist(), *partner[joined].tolist()}}
    peer = {spelled[int(code)]: spelled[int(partner[code])] for code in joined}
    tellers = {reading.device for reading in snapshot.readings} - roles.keys()  # of a fabric that they need not be in
    hosts, switches, strangers = _distinguished(roles, [spelling.device(name) for name in names if name not in tellers])
    if not switches:
        switches = _heard_by_hosts(peer, hosts, strangers)
        strangers = tuple(name for name in strangers if name not in switches)
    vague = {}
    for code in np.flatnonzero((wiring.heard[: len(ports)] >= 0) & (partner == NONE)).tolist():
        host = spelling.device(names[int(wiring.heard[code])])
        if host in hosts:
            vague[spelling.of(ports.port(code))] = host
    return Wires(hosts, switches, peer, vague, strangers)


def _heard_by_hosts(peer: dict[Port, Port], hosts: frozenset[str], strangers: tuple[str, ...]) -> frozenset[str]:
    """The switches where none answered: a sort of devices by their names, to which two ports of hosts or more go."""
    ends = Counter(sort_of(far.device) for near, far in peer.items() if near.device in hosts)
    return frozenset(name for name in strangers if ends[sort_of(name)] > 1)


class _Spelling:
    """Names as the devices themselves write them: a port as its own device does, a silent device as its like do."""

    def __init__(self, wiring: Wiring, snapshot: Snapshot, roles: dict[str, Role]) -> None:
        table, names = snapshot.table(Neighbor), wiring.index.devices.names
        self._own: dict[tuple[str, str], str] = {}
        for code, port in zip(wiring.identity.devices_of(table).tolist(), table.column("port"), strict=True):
            key = (names[code], port_key(port))
            self._own[key] = max(self._own.get(key, ""), port, key=len)  # `Ethernet1/1` rather than `Eth1/1`
        self._roles = roles
        self._plain = all(name == short_name(device_key(name)) for name in roles)

    def of(self, port: Port) -> Port:
        """The port's name for a plan."""
        return Port(self.device(port.device), self._own.get((port.device, port_key(port.name)), port.name))

    def device(self, name: str) -> str:
        """A device that did not answer is written short and in small letters where all that answered are."""
        return name if name in self._roles or not self._plain else short_name(device_key(name))


def _roles(snapshot: Snapshot) -> dict[str, Role]:
    """The devices that answered: a host reports GPUs and RDMA, a switch its ports.

    A Linux switch answers `lldpctl` as a host does, so LLDP alone makes a host only if no device reports GPUs or RDMA.
    """
    votes: dict[str, int] = defaultdict(int)
    for reading in snapshot.readings:
        if reading.collector in _HOST_COLLECTORS:
            votes[reading.device] += 4
        elif reading.collector in _SWITCH_COLLECTORS:
            votes[reading.device] -= 2
        elif reading.collector != DISCOVERY:  # which any machine may report, of the fabric or not
            votes[reading.device] += 0
    reported = {name: Role.HOST if vote > 0 else Role.LEAF for name, vote in votes.items() if vote}
    shapes = {sort_of(name): role for name, role in reported.items()}
    rest = Role.LEAF if Role.HOST in shapes.values() else Role.HOST
    return {name: reported.get(name) or shapes.get(sort_of(name), rest) for name in votes}


def _distinguished(roles: dict[str, Role], names: list[str]) -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
    """A device that did not answer is a host or a switch if its name differs from one of theirs in numbers only."""
    shapes: dict[str, Role] = {}
    for name, role in roles.items():
        shapes.setdefault(sort_of(name), role)
    nodes = {name for name in names if name not in roles and canonical_guid(name)}  # adapters without a name
    found = {name: roles.get(name) or shapes.get(sort_of(name)) for name in names if name not in nodes}
    hosts = frozenset(name for name, role in found.items() if role is Role.HOST)
    switches = frozenset(name for name, role in found.items() if role is Role.LEAF)
    return hosts, switches, tuple(name for name, role in found.items() if role is None)


def uplinks(wires: Wires, leaves: set[str], renamed: dict[str, str]) -> tuple[dict[str, Role], list[Cable]]:
    """The roles of the switches above the leaves, and the cables to them.

    `renamed` are leaves whose names seem swapped. Where the ports above then follow the order of the leaves better,
    they confirm the swap, and the cables are planned under the expected names.
    """
    tiers = _tiers(wires, leaves)
    level = {Role.LEAF: 1, Role.SPINE: 2, Role.SUPERSPINE: 3}
    rank = {**dict.fromkeys(leaves, 1), **{name: level[role] for name, role in tiers.items()}}
    pairs = [
        (low, high)
        for low, high in wires.peer.items()
        if low.device in rank and high.device in rank and rank[low.device] < rank[high.device]
    ]
    if renamed:
        swapped = [(Port(renamed.get(low.device, low.device), low.name), high) for low, high in pairs]
        pairs = swapped if _disorder(swapped) < _disorder(pairs) else pairs
    pairs.sort(key=lambda pair: (natural_key(pair[0].device), natural_key(pair[0].name)))
    return tiers, [Cable(low, high) for low, high in pairs]


def nameless(wires: Wires) -> Plan:
    """The links of a fabric whose adapters announce no host, as they are: an adapter's cable is undecided."""
    links = wires.peer.items()
    held = grouped((near.device, Cable(far, near)) for near, far in links if far.device not in wires.switches)
    several = {name for name, cables in held.items() if len(cables) > 1}
    spines = {near.device for near, far in links if far.device in several} - several  # with an adapter each, of SHARP
    leaves = held.keys() - spines
    ends = [cable for leaf in sorted(leaves, key=natural_key) for cable in held[leaf]]
    tiers, above = uplinks(wires, leaves, {})
    roles = {**{cable.a.device: Role.HOST for cable in ends}, **dict.fromkeys(leaves, Role.LEAF), **tiers}
    devices = {name: Device(name, role) for name, role in roles.items()}
    undecided = {cable.a: "its adapter announces no host" for cable in ends}
    source = "inferred from the snapshot"
    return Plan(devices, (*ends, *above), "inferred", source=source, inferred=True, undecided=undecided)


def _tiers(wires: Wires, leaves: set[str]) -> dict[str, Role]:
    """Switches next to leaves are spines, switches next to those superspines. One that serves hosts is neither."""
    serves = {peer.device for port, peer in wires.peer.items() if port.device in wires.hosts}
    found: dict[str, Role] = {}
    for below, role in ((leaves, Role.SPINE), (found.keys(), Role.SUPERSPINE)):
        near = {peer.device for port, peer in wires.peer.items() if port.device in below}
        new = (near & wires.switches) - leaves - found.keys() - serves
        found |= dict.fromkeys(sorted(new, key=natural_key), role)
    return found


def _disorder(pairs: list[tuple[Port, Port]]) -> int:
    """How often, going up the ports of a switch above, the device below goes down."""
    by_device = grouped((high.device, (natural_key(high.name), natural_key(low.device))) for low, high in pairs)
    count = 0
    for rows in by_device.values():
        devices = [device for _, device in sorted(rows)]
        count += sum(one > other for one, other in pairwise(devices))
    return count

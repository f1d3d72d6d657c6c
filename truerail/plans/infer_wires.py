"""What is plugged where, from LLDP of both ends or a discovery, without any plan; and what is above the leaves.

The discovery of an InfiniBand fabric names all of its switches, and hosts with their adapters, though no switch answers
and perhaps few hosts do. A switch's ports have numbers, a host's are RDMA devices. An adapter that announces no host is
left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from truerail.analysis.cabling import Wiring, join
from truerail.analysis.cabling.discovery import COLLECTOR as DISCOVERY
from truerail.analysis.cabling.discovery import discoveries
from truerail.analysis.cabling.host_nics import HostSays
from truerail.analysis.cabling.ib_names import canonical_guid, is_factory_name, spellings
from truerail.analysis.cabling.spellings import sort_of
from truerail.model import Cable, Device, LoadBalancing, Neighbor, Plan, Port, RdmaLink, Role, Snapshot, Transport
from truerail.model.columns import NONE, grouped
from truerail.model.names import device_key, natural_key, port_key, short_name

_SWITCH_COLLECTORS = ("lldp_switch", "lldp_snmp", "if_snmp")
_HOST_COLLECTORS = ("gpu_nic_topology", "rdma_link")


class Wires(NamedTuple):
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
    unnamed = np.flatnonzero((wiring.heard[: len(ports)] >= 0) & (partner == NONE)).tolist()
    heard = ((code, spelling.device(names[int(wiring.heard[code])])) for code in unnamed)
    vague = {spelling.of(ports.port(code)): host for code, host in heard if host in hosts}
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
    shapes = {sort_of(name): role for name, role in reversed(roles.items())}  # of one sort, the first decides
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
    rank = {name: role.tier for name, role in {**dict.fromkeys(leaves, Role.LEAF), **tiers}.items()}
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
    below = ([device for _, device in sorted(rows)] for rows in by_device.values())
    return sum(one > other for devices in below for one, other in pairwise(devices))


def fabric_roles(snapshot: Snapshot) -> dict[str, Role]:
    """Every named host and every switch of the discoveries; a switch without a name of its own under its GUID."""
    guids = _switches(snapshot)
    hosts = {fact.of: Role.HOST for fact in _ends(snapshot) if fact.of and not _numbered(fact)}
    return {name: role for name, role in hosts.items() if not canonical_guid(name)} | dict.fromkeys(guids, Role.LEAF)


def with_guids(plan: Plan, snapshot: Snapshot, renamed: Mapping[str, str]) -> Plan:
    """The plan of an InfiniBand fabric with the GUIDs of its switches, except those whose names seem swapped.

    This distinguishes labels swapped later from a crossed bundle. Other plans stay as they are.
    """
    guids = _switches(snapshot)
    if not guids:
        return plan
    own = {name: guid for name, guid in guids.items() if guid != name and name not in {*renamed, *renamed.values()}}
    devices = {
        name: replace(device, chassis_ids=(own[name],)) if name in own else device
        for name, device in plan.devices.items()
    }
    return replace(plan, devices=devices, transport=Transport.INFINIBAND, load_balancing=LoadBalancing.ADAPTIVE)


def adapters(snapshot: Snapshot, says: Mapping[str, HostSays]) -> dict[str, HostSays]:
    """The RDMA devices of hosts that did not report them, from the discoveries. A host that lacks some that most hosts
    have is left out: its links may be down.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for fact in _ends(snapshot):
        if fact.of and not _numbered(fact) and not canonical_guid(fact.of) and not canonical_guid(fact.port):
            found[fact.of].add(fact.port)
    models = Counter(frozenset(names) for names in found.values())
    models.update(frozenset(link.device for link in one.links) for one in says.values() if one.links)
    return {
        host: HostSays(links=tuple(RdmaLink(name, 1, None, None) for name in sorted(names, key=natural_key)))
        for host, names in found.items()
        if not (host in says and says[host].links)
        and not any(names < model and count >= models[frozenset(names)] for model, count in models.items())
    }


def _ends(snapshot: Snapshot) -> Iterator[Neighbor]:
    for number in discoveries(snapshot).tolist():
        yield from (fact for fact in snapshot.readings[number].facts if isinstance(fact, Neighbor))


def _numbered(fact: Neighbor) -> bool:
    return fact.port.isdigit() and fact.of != fact.of_guid


def _switches(snapshot: Snapshot) -> dict[str, str]:
    """The GUID of every switch by its name; of one that shares its name, or has none of its own, under the GUID."""
    named = grouped((fact.of, fact.of_guid) for fact in _ends(snapshot) if fact.of and fact.of_guid and _numbered(fact))
    found: dict[str, str] = {}
    for name, guids in named.items():
        alone = len({*guids}) == 1 and not is_factory_name(name)
        found |= {spellings(name)[-1] if alone else guid: guid for guid in guids}
    return found

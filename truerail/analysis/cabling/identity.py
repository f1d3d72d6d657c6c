"""Resolves identities in one place: which device a reading is from, and which planned device every neighbour is.

`claims` resolves neighbours, `local` a device's own port names, `macs` the owners of MACs. A device may also announce
another device's name (`announce`): its own reading is then filed under the name it announces, so that both ends refer
to the same device, and `Identity.announces` contains its real identity. Two devices that announce one name are
distinguished by their MACs, and reported (`Identity.duplicates`).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truerail.analysis.cabling.announce import announced
from truerail.analysis.cabling.claims import Claims, nameless_chassis, read_claims
from truerail.analysis.cabling.discovery import Discovery, discovered
from truerail.analysis.cabling.fit import Fit, fit_devices
from truerail.analysis.cabling.fit_ports import fit_ports, ports_of
from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import Codes, Mask, distinct
from truerail.model.index import PlanIndex
from truerail.model.nccl_facts import JOB_COLLECTORS
from truerail.model.plan import Plan
from truerail.model.probe_facts import PROBE_COLLECTORS
from truerail.model.snapshot import Snapshot, Table

# ----------------------------------------------------------------------------------------------------------------------
# Matches nodes without a name of their own to planned switches by their places in the fabric.
#
# Unmanaged switches all have the name `Quantum-2 Mellanox Technologies`, and the chips of a director are named by its
# boards (`MF0;core:MCS8500/L03/U1`). Where the plan has names of its own for them and no GUIDs, only the wiring
# identifies them: a node is the planned switch to which the plan wires more than two thirds of what is seen on it,
# where that is also more than two thirds of what is seen of the switch's planned cables. Leaves are found by their
# hosts, then spines by the leaves. A switch in another's place, with all its cables, is therefore the switch of that
# place.


LAYERS = 3
"""Layers of switches: leaves, spines, a core above them."""
_MIN_CABLES = 2
_SHARE = 2 / 3


def placed(index: PlanIndex, claims: Claims, nameless: Collection[int], free: Collection[int]) -> dict[int, int]:
    """Nodes without a name, by code, to the planned switches in whose places they are. `free` are planned switches that
    no node is known to be.
    """
    ports = index.ports
    node = np.concatenate([ports.device_of(claims.u), claims.w])
    far = index.far_ends(np.concatenate([claims.v, claims.u]))
    use = (far >= 0) & np.isin(node, list(nameless))
    node, planned = node[use], ports.device_of(far[use])
    votes, count = np.unique(node << 32 | planned, return_counts=True)
    of_node, switch = votes >> 32, votes & 0xFFFFFFFF
    size = len(index.devices.names)
    by_node, by_switch = (np.bincount(code, weights=count, minlength=size) for code in (of_node, switch))
    sure = (count >= _MIN_CABLES) & (count > _SHARE * by_node[of_node]) & (count > _SHARE * by_switch[switch])
    sure &= np.isin(switch, list(free))
    return dict(zip(of_node[sure].tolist(), switch[sure].tolist(), strict=True))


def contested_places(index: PlanIndex, claims: Claims, by_place: Mapping[int, int]) -> dict[int, int]:
    """Planned switches that a node matches by its hosts, while most of its uplinks are in the places of the uplinks of
    one other switch of its tier: the switch by hosts to the switch by uplinks.
    """
    ports, tier = index.ports, index.devices.tiers
    node = np.concatenate([ports.device_of(claims.u), claims.w])
    far = np.concatenate([claims.v, claims.u])
    cable = index.cables_at(far)
    use = (cable >= 0) & (far >= 0) & np.isin(node, list(by_place.values()))
    node, far, cable = node[use], far[use], cable[use]
    use = (index.b[cable] == far) & (tier[ports.device_of(far)] > tier[node])
    node, planned = node[use], index.a_device[cable[use]]
    votes, count = np.unique(node << 32 | planned, return_counts=True)
    of_node, switch = votes >> 32, votes & 0xFFFFFFFF
    total = np.bincount(of_node, weights=count, minlength=len(tier))
    other = (switch != of_node) & (tier[switch] == tier[of_node])
    sure = other & (count >= _MIN_CABLES) & (count > _SHARE * total[of_node])
    return dict(zip(of_node[sure].tolist(), switch[sure].tolist(), strict=True))


def boxes(index: PlanIndex, claims: Claims, nodes: Collection[int], switches: Collection[int]) -> frozenset[int]:
    """Of these planned switches, those whose cables may be on further nodes (`nodes`, without a name): chips of one
    box, or a switch of its own in a wrong place. A node with most of its cables where one switch is planned is of that
    switch; nodes that have cables to each other alone, as the chips with the uplinks of each box, are of any.
    """
    ports, open_ = index.ports, list(nodes)
    node = np.concatenate([ports.device_of(claims.u), claims.w])
    other = np.concatenate([claims.w, ports.device_of(claims.u)])
    far = index.far_ends(np.concatenate([claims.v, claims.u]))
    among, use = np.isin(node, open_), far >= 0
    votes, count = np.unique(node[among & use] << 32 | ports.device_of(far[among & use]), return_counts=True)
    size = len(index.devices.names)
    total = np.bincount(votes >> 32, weights=count, minlength=size)
    inside = np.bincount(node[among & np.isin(other, open_)], minlength=size)
    if ((total < _MIN_CABLES) & (inside >= _MIN_CABLES)).any():
        return frozenset(switches)
    most = (count >= _MIN_CABLES) & (count > _SHARE * total[votes >> 32])
    return frozenset((votes[most] & 0xFFFFFFFF).tolist()).intersection(switches)


def unplaced(index: PlanIndex, met: Collection[int]) -> frozenset[int]:
    """Planned switches that no node is known to be, and that the plan identifies by their names alone."""
    ids = ((code, (name, *of.chassis_ids)) for code, (name, of) in enumerate(index.plan.devices.items()))
    open_ = ((code, texts) for code, texts in ids if index.devices.tier[code] > 0 and code not in met)
    return frozenset(code for code, texts in open_ if not any(map(canonical_guid, texts)))


def without(claims: Claims, index: PlanIndex, nodes: Collection[int]) -> Claims:
    """The claims that have none of these nodes at either end."""
    ends = np.array([*nodes], dtype=np.int64)
    return claims.where(~np.isin(claims.w, ends) & ~np.isin(index.ports.device_of(claims.u), ends))


# ----------------------------------------------------------------------------------------------------------------------
# Resolves identities in one place: which device a reading is from, and which planned device every neighbour is.


@dataclass(frozen=True)
class Identity:
    """The claims of a snapshot in the plan's terms, and the identities found on the way."""

    names: LocalNames
    claims: Claims
    strange: Mapping[int, int] = field(default_factory=dict)
    """Unplanned names of devices identified by their MACs or cables: code of the name to that of the device."""
    duplicates: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Names announced by more than one device: code of the name to the codes of those devices."""
    discovery: Discovery | None = None
    """The result of the discovery of an InfiniBand fabric, where there is one."""
    placed: Mapping[int, int] = field(default_factory=dict)
    """Switches without a name of their own that the wiring shows to be planned ones: code to code."""
    contested: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """Of the unplaced, those that are one planned switch by their hosts and another by their uplinks: code to codes."""
    unplaced: frozenset[int] = frozenset()
    """Switches without a name of their own, while planned switches remain without a node: each may be any of these."""
    misnamed: Mapping[int, int] = field(default_factory=dict)
    """Hosts that announce another planned host's name while no device announces theirs: device code to that of the
    name. They are identified by their MACs, and their readings stay their own.
    """

    fit: Fit = field(default_factory=Fit)
    """What planned names mean that the devices do not use."""

    @property
    def index(self) -> PlanIndex:
        """The plan's names as numbers."""
        return self.names.index

    @property
    def unnamed(self) -> Mask:
        """Cables whose planned names are a question, shape (cables,)."""
        open_, cables = self.fit.open, self.index.plan.cables
        if not open_:
            return np.zeros(len(cables), dtype=bool)
        return np.array([not open_.isdisjoint(cable[:2]) for cable in cables], dtype=bool)

    @property
    def announces(self) -> Mapping[int, int]:
        """Devices that announce another planned device's name: device code to the code of the name it announces."""
        return self.names.announces

    def filed(self, name: str) -> int:
        """The code under which a reading's device is filed."""
        return self.names.filed(name)

    def devices_of(self, table: Table[Any]) -> Codes:
        """The device code of every row of a table, under the name it announces."""
        return self.names.devices_of(table)

    def local_ports(self, device: Codes, names: Codes) -> Codes:
        """Port codes of a device's own names for its ports."""
        return self.names.ports(device, names)


def identify(plan: Plan, snapshot: Snapshot) -> Identity:
    """Resolves every neighbour of a snapshot: again where the plan uses other names than the devices."""
    fit, found, at = Fit(), _identified(PlanIndex(plan), snapshot), 0
    asked = [Fit(), Fit(), Fit()]
    while at < len(asked):  # of devices, of switches' ports, of hosts' ports: each that is found may show more of all
        if at == 1:
            ports = ports_of(
                found.names, found.claims, found.discovery.ports if found.discovery else found.claims.u[:0]
            )
        more = fit_ports(ports, hosts=at == 2) if at else fit_devices(found.names, found.claims)
        again = at == 0 or not asked[at].open.isdisjoint(more.ports.keys() | more.open)
        asked[at] = (Fit() if again else asked[at]) + more.part(open=True)
        at += 1
        if more.devices or not more.ports.keys() <= fit.ports.keys():
            fit += more.part(open=False)
            found, at = _identified(PlanIndex(plan, fit.devices, fit.ports), snapshot), 0
    return replace(found, fit=sum(asked, fit))


def _identified(index: PlanIndex, snapshot: Snapshot) -> Identity:
    """Resolves every neighbour. Reads the names twice only where some device announces another's."""
    names = LocalNames(index, snapshot)
    claims = read_claims(names)
    by_number = _by_number(names, claims)
    if by_number:
        names = LocalNames(index, snapshot, by_number=by_number)
        claims = read_claims(names)
    found = discovered(names)
    owners, announces, duplicates = announced(index, claims, None if found is None else found.votes)
    misnamed = _misnamed(index, claims, announces)
    announces = {owner: name for owner, name in announces.items() if owner not in misnamed}
    split = frozenset([*duplicates, *misnamed.values()])
    if owners or announces or split:
        names = LocalNames(index, snapshot, announces, by_number=by_number)
        claims, found = read_claims(names, owners, split), discovered(names, owners, split)
    if found is None:
        known_ids = nameless_chassis(names, claims)
        if known_ids:
            claims = read_claims(names, owners, split, known_ids)
        return Identity(names, claims, owners, duplicates, misnamed=misnamed)
    found, by_place, contested, open_ = _placed(names, found, owners, split)
    more = boxes(index, found.claims, open_, by_place.values())
    found = replace(found, unnumbered=found.unnumbered | more) if more else found
    reported = without(found.claims, index, open_) if open_ else found.claims
    shared = {**found.shared, **duplicates}
    return Identity(names, claims.and_(reported), owners, shared, found, by_place, contested, open_, misnamed)


def _misnamed(index: PlanIndex, claims: Claims, announces: Mapping[int, int]) -> dict[int, int]:
    """Of the devices that announce another's name, the hosts whose own name is not heard from any device: the names are
    not swapped; this is, for example, a clone of the other's image.
    """
    heard = set(distinct(claims.named).tolist())
    hosts = ((owner, name) for owner, name in announces.items() if index.devices.is_host(owner))
    return {owner: name for owner, name in hosts if owner not in heard and name not in announces}


def _by_number(names: LocalNames, claims: Claims) -> frozenset[int]:
    """Hosts that number their RDMA devices otherwise than other hosts, and more of whose cables are right by these
    numbers than by the addresses of the NICs: the plan means them by number.
    """
    hosts = names.renumbered
    if not hosts:
        return frozenset()
    by_address = _right_cables(names.index, claims)
    by_number = _right_cables(names.index, read_claims(LocalNames(names.index, names.seen, by_number=frozenset(hosts))))
    return frozenset(host for host in hosts if by_number[host] > by_address[host])


def _right_cables(index: PlanIndex, claims: Claims) -> Codes:
    """How often a device hears, or is heard, where it is planned: by device code."""
    reported = (claims.v >= 0) & (index.far_ends(claims.v) == claims.u)
    ends = np.concatenate([claims.u[reported], claims.v[reported]])
    return np.bincount(index.ports.device_of(ends), minlength=len(index.devices.names))


def _placed(
    names: LocalNames, found: Discovery, owners: Mapping[int, int], split: frozenset[int]
) -> tuple[Discovery, dict[int, int], dict[int, tuple[int, int]], frozenset[int]]:
    """The discovery with its nameless switches resolved to the planned ones in whose places they are, layer by layer;
    their identities, those that are another by their uplinks than by their hosts, and those that may be any planned
    one.
    """
    by_place: dict[int, int] = {}
    free = unplaced(names.index, frozenset(found.devices.tolist()))
    for _ in range(LAYERS):
        new = placed(names.index, found.claims, found.nameless, free) if free and found.nameless else {}
        if not new:
            break
        by_place |= new
        again = discovered(names, {**owners, **by_place}, split)
        assert again is not None  # noqa: S101 - there was one, see above
        found, free = again, free.difference(new.values())
    other = contested_places(names.index, found.claims, by_place)
    contested = {node: (switch, other[switch]) for node, switch in by_place.items() if switch in other}
    if contested:
        by_place = {node: switch for node, switch in by_place.items() if node not in contested}
        again = discovered(names, {**owners, **by_place}, split)
        assert again is not None  # noqa: S101 - as above
        found, free = again, free.union(other)
    return found, by_place, contested, found.nameless if free else frozenset()


NOT_POLLED = JOB_COLLECTORS | PROBE_COLLECTORS
"""Readings of these do not show that a device answers."""


def who_answered(identity: Identity) -> tuple[Mask, Mask]:
    """Which devices returned any data, and which their LLDP neighbours. Shapes (devices + 1,)."""
    devices = identity.index.devices
    answers: dict[str, bool] = {}
    codes = {name: identity.filed(name) for name in dict.fromkeys(one.device for one in identity.names.seen.readings)}
    for reading in identity.names.seen.readings:
        if not reading.error and not answers.get(reading.device) and reading.collector not in NOT_POLLED:
            answers[reading.device] = reading.collector.startswith("lldp")
    read = devices.marked([codes[name] for name in answers])
    listened = devices.marked([codes[name] for name, lldp in answers.items() if lldp])
    if identity.discovery is not None:  # the cabling of a device met in a discovery is known without a login
        read[identity.discovery.devices] = listened[identity.discovery.devices] = True
    return read, listened

"""Resolves identities in one place: which device a reading is from, and which planned device every neighbour is.

`claims` resolves neighbours, `local` a device's own port names, `macs` the owners of MACs. A device may also announce
another device's name (`announce`): its own reading is then filed under the name it announces, so that both ends refer
to the same device, and `Identity.announces` contains its real identity. Two devices that announce one name are
distinguished by their MACs, and reported (`Identity.duplicates`).

Which device announces which name.

A device may announce another device's hostname, or one that is not in the plan. Two witnesses show this: its MACs,
which its own list of interfaces contains, and the other ends of its cables: where u hears port q of X, but port q of
device D hears u, then D announces itself as X.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truerail.analysis.cabling.claims import Claims, nameless_chassis, read_claims
from truerail.analysis.cabling.discovery import Discovery, discovered
from truerail.analysis.cabling.fit import Fit, fit_devices
from truerail.analysis.cabling.fit_ports import fit_ports, ports_of
from truerail.analysis.cabling.ib_nodes import LAYERS, boxes, contested_places, placed, unplaced, without
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.index import PlanIndex
from truerail.model.nccl_facts import JOB_COLLECTORS
from truerail.model.plan import Plan
from truerail.model.probe_facts import PROBE_COLLECTORS
from truerail.model.snapshot import Snapshot, Table

_TIMES_ITS_OWN = 4
"""How many times as often as under its own name a device must be heard under another's to count as announcing it."""
_TIMES_IN_CYCLE = 2
"""The same for devices that bear each other's names in a closed circle, taken together. Neighbours that a port still
shows point to scattered names, and a MAC that two devices share is found under both of their names equally often:
neither closes a circle by a majority at each device.
"""


def announced(
    index: PlanIndex, claims: Claims, more: Codes | None = None
) -> tuple[dict[int, int], dict[int, int], dict[int, tuple[int, ...]]]:
    """Names and the devices that announce them: (unplanned names and their owners, devices under another's name, shared
    names).

    A device that is heard under its own name as well does not announce another's: its MAC is found on both. A name that
    is not in the plan and that several devices announce, such as a factory default, has no owner.

    `more` are further votes: a name announced << 32 | the device that owns it.
    """
    votes = _votes(index, claims, more)
    planned = index.devices.planned
    by_owner: dict[int, Counter[int]] = {}
    for (name, owner), count in votes.items():
        by_owner.setdefault(owner, Counter())[name] = count
    circled = _circled(by_owner, planned)
    says: dict[int, set[int]] = {}
    for owner, counts in by_owner.items():
        name, count = _most(counts)
        sure = count >= 2 and (owner in circled or count >= _TIMES_ITS_OWN * counts[owner])
        if name >= planned or name == owner or sure:
            says.setdefault(name, set()).add(owner)
    names = {name: min(owners) for name, owners in says.items() if name >= planned and len(owners) == 1}
    says = {name: owners for name, owners in says.items() if name < planned or len(owners) > 1}
    _without_swapped(index, claims, votes, says)
    duplicates = {name: tuple(sorted(owners)) for name, owners in says.items() if len(owners) > 1}
    announces = {owner: name for name, owners in says.items() if len(owners) == 1 for owner in owners if owner != name}
    return names, announces, duplicates


def _most(counts: Counter[int]) -> tuple[int, int]:
    """The name with the most votes, and their number."""
    ((name, count),) = counts.items() if len(counts) == 1 else counts.most_common(1)
    return name, count


def _circled(by_owner: Mapping[int, Counter[int]], planned: int) -> frozenset[int]:
    """Planned devices that bear each other's names in a closed circle."""
    bears: dict[int, int] = {}
    for owner, counts in by_owner.items():
        name, count = _most(counts)
        if owner != name and max(owner, name) < planned and count > counts[owner]:
            bears[owner] = name
    found: set[int] = set()
    open_ends = set(bears)
    while open_ends:
        walk = [open_ends.pop()]
        while (following := bears.get(walk[-1], NONE)) in open_ends:
            open_ends.remove(following)
            walk.append(following)
        circle = walk[walk.index(following) :] if following in walk else []
        others = sum(by_owner[one][bears[one]] for one in circle)
        if others >= _TIMES_IN_CYCLE * sum(by_owner[one][one] for one in circle):
            found.update(circle)
    return frozenset(found)


def _without_swapped(
    index: PlanIndex, claims: Claims, votes: Counter[tuple[int, int]], says: dict[int, set[int]]
) -> None:
    """Removes hosts from the names of others where the only evidence comes from swapped switches: what hears such a
    switch hears the other.
    """
    swapped = _swapped_switches(index, votes) if any(len(owners) > 1 for owners in says.values()) else None
    if swapped:
        sure = _votes(index, claims.where(~np.isin(index.ports.device_of(claims.u), list(swapped))), None)
        for name, owners in says.items():
            if name in owners:
                owners -= {one for one in owners if one != name and index.devices.is_host(one) and not sure[name, one]}


def _swapped_switches(index: PlanIndex, votes: Counter[tuple[int, int]]) -> frozenset[int]:
    """Planned switches under each other's names, by most of the evidence for each."""
    best: dict[int, tuple[int, int]] = {}
    for (name, owner), count in sorted(votes.items()):
        if max(name, owner) < index.devices.planned and not index.devices.is_host(owner):
            best[owner] = max(best.get(owner, (0, NONE)), (count, name))
    return frozenset(owner for owner, (_, name) in best.items() if name != owner and name in best)


def _votes(index: PlanIndex, claims: Claims, more: Codes | None) -> Counter[tuple[int, int]]:
    """(name announced, device that owns it) with the number of claims that support it, wherever there is a witness."""
    pairs = [_pack(claims.named, claims.witness), _reverse_votes(index, claims)]
    if more is not None:
        pairs.append(more)
    packed, counts = np.unique(np.concatenate(pairs), return_counts=True)
    votes = zip(packed.tolist(), counts.tolist(), strict=True)
    return Counter({(pair >> 32, pair & 0xFFFFFFFF): count for pair, count in votes if pair >= 0})


def _reverse_votes(index: PlanIndex, claims: Claims) -> Codes:
    """Votes of the other ends, packed: u hears X, no port of X hears u, but a port of device D does, and of no other
    device.
    """
    ports = index.ports
    hears = np.flatnonzero((claims.v >= 0) & (claims.v != claims.u))
    back = distinct(claims.v[hears] << 32 | ports.device_of(claims.u[hears]))
    if not len(back):
        return np.empty(0, dtype=np.int64)
    _, start, count = np.unique(back >> 32, return_index=True, return_counts=True)
    heard = back[start] >> 32
    known = np.flatnonzero(claims.w >= 0)
    u, w, name = claims.u[known], claims.w[known], claims.named[known]
    agreed = np.isin(u << 32 | w, back)
    place = np.minimum(np.searchsorted(heard, u), len(heard) - 1)
    only = (heard[place] == u) & (count[place] == 1)
    other, hit = back[start[place]] & 0xFFFFFFFF, ~agreed & only
    return np.concatenate([_pack(name[agreed], name[agreed]), _pack(name[hit], other[hit])])


def _pack(name: Codes, owner: Codes) -> Codes:
    return np.where((name >= 0) & (owner >= 0), name << 32 | owner, NONE)


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
            shown = found.discovery.ports if found.discovery else found.claims.u[:0]
            ports = ports_of(found.names, found.claims, shown)
        more = fit_ports(ports, hosts=at == 2) if at else fit_devices(found.names, found.claims)
        asked[at] = (asked[at].besides(more) if at else Fit()) + more.part(open=True)
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

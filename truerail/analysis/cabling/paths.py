"""From GPU to NIC to rail: which rail each NIC should serve, according to the host's own PCI topology.

`nvidia-smi topo -m` ranks the NICs of a host for every GPU. GPU g of G belongs to the rail at place g * R // G of the
plan's R rails; where the whole fabric agrees on another convention (a vendor's slot order), that convention applies. A
NIC whose nearest GPUs belong to another rail than planned was enumerated in another order than the plan assumes: its
cable is right. Equal hosts give equal topologies, so each distinct one is evaluated once.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, cast

import numpy as np

from truerail.analysis.cabling.spellings import is_by_place
from truerail.model.columns import Codes, distinct, grouped
from truerail.model.facts import GpuNicPath, NetLink, RdmaLink
from truerail.model.plan import Transport

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring

CLOSENESS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4, "SOC": 4}
"""nvidia-smi's terms from near to far; NCCL ranks them alike (src/graph/topo.h)."""

_Key = tuple[int, int]
"""A GPU's number, and the number of GPUs of its host."""
_MAX_RAILS = 62
"""Rails are bits of a signed 64-bit integer."""


@dataclass(frozen=True)
class GpuRails:
    """Rails as bit sets (bit r is rail r), by port code, and per host the GPUs that the plan's NIC order does not suit.

    `near[port]`: the rails whose GPUs are nearest to this NIC; 0 where the topology does not show it.
    `misordered[host code]`: GPU to (rails by convention, rails that the plan gives to its nearest NICs).
    `nearest[host code]`: for the same hosts, GPU to the ports of its nearest NICs.
    """

    near: Codes
    misordered: Mapping[int, Mapping[int, tuple[int, int]]]
    nearest: Mapping[int, Mapping[int, tuple[int, ...]]]
    row: Mapping[int, int]
    """Host code to the index of the reading that contains its topology."""
    not_evaluated: tuple[int, ...] = ()
    """Codes of planned hosts whose topology is inconclusive: none of its NICs could be matched to a planned one, or no
    GPU is nearer to some of them than to others.
    """
    untested: tuple[int, ...] = ()
    """GPUs whose nearest NICs have another rail in the plan than their index gives, on most hosts, where no NIC is seen
    at a switch port that would confirm it: the vendor's order, or all hosts of a model name their NICs in another one.
    """
    _reported: tuple["_Host", ...] = ()
    _convention: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def by_own_index(self, rails: list[int]) -> Codes:
        """`near` if each GPU has the rail of its own index, also where the convention is another."""
        near = np.zeros_like(self.near)
        for host in self._reported:
            for gpu, nics in host.pattern.gpus.items():
                near[[host.ports[nic] for nic in nics]] |= _own_rail((gpu, host.pattern.size), rails)
        return near

    def is_unusual(self, rails: list[int]) -> bool:
        """Whether the convention gives a GPU other rails than that of its own index."""
        return any(found and not found & _own_rail(key, rails) for key, found in self._convention.items())

    def alike(self) -> "list[Alike]":
        """Every host with a known topology, grouped with those that are alike."""
        alike = grouped((id(host.pattern), host) for host in self._reported)
        return [self._alike(hosts) for hosts in alike.values()]

    def _alike(self, hosts: "list[_Host]") -> "Alike":
        pattern = hosts[0].pattern
        wanted = {gpu: self._convention[gpu, pattern.size] for gpu in pattern.gpus}
        suits = {gpu: pattern.rails(gpu, pattern.planned) == rails for gpu, rails in wanted.items() if rails}
        return Alike(np.array([host.ports for host in hosts], dtype=np.int64), pattern.gpus, suits)


@dataclass(frozen=True)
class Alike:
    """Hosts of one topology and one order of rails. `ports` are their planned NICs, shape (hosts, NICs); `nearest` is
    GPU to positions among these NICs; `suits` is whether those carry the GPU's own rails, without GPUs for which that
    is unknown.
    """

    ports: Codes
    nearest: Mapping[int, tuple[int, ...]]
    suits: Mapping[int, bool]


def rails_in(bits: int) -> tuple[int, ...]:
    """The rails of a bit set, ascending."""
    return tuple(rail for rail in range(bits.bit_length()) if bits >> rail & 1)


@dataclass(frozen=True)
class _Host:
    """The topology of a host in the plan's terms. Hosts of one model, cabled alike, share one `pattern`."""

    code: int
    ports: tuple[int, ...]
    """The port of each of its planned NICs."""
    pattern: "_Pattern"


@dataclass(frozen=True)
class _Pattern:
    """GPU to its nearest NICs, as positions in `_Host.ports`; the rails planned for each NIC, and those seen; the
    number of GPUs, as far as their numbers show it, with those that are near to none.
    """

    gpus: Mapping[int, tuple[int, ...]]
    planned: tuple[int, ...]
    seen: tuple[int, ...]
    size: int

    def rails(self, gpu: int, of: tuple[int, ...]) -> int:
        """The rails of the GPU's nearest NICs as a bit set."""
        return reduce(or_, (of[nic] for nic in self.gpus[gpu]))


def gpu_rails(wiring: "Wiring") -> GpuRails:
    """Joins topology, RDMA devices and planned rails."""
    hosts, reading, not_evaluated = _hosts(wiring)
    like = Counter(id(host.pattern) for host in hosts)
    patterns = {id(host.pattern): host.pattern for host in hosts}
    by_plan: dict[_Key, Counter[int]] = {}
    by_sight: dict[_Key, Counter[int]] = {}
    for key, pattern in patterns.items():
        for gpu in pattern.gpus:
            votes = by_plan.setdefault((gpu, pattern.size), Counter())
            votes[pattern.rails(gpu, pattern.planned)] += like[key]
            on_sight = pattern.rails(gpu, pattern.seen)
            if on_sight:
                by_sight.setdefault((gpu, pattern.size), Counter())[on_sight] += like[key]
    rails = rails_of(wiring)
    convention = {key: _convention(key, rails, votes, by_sight.get(key, Counter())) for key, votes in by_plan.items()}
    convention |= _of_few(convention, by_plan, rails)
    evaluated = {key: _evaluated(pattern, convention) for key, pattern in patterns.items()}
    near = np.zeros(len(wiring.partner), dtype=np.int64)
    if hosts:
        everywhere = np.array([port for host in hosts for port in host.ports])
        near[everywhere] = [rails for host in hosts for rails in evaluated[id(host.pattern)][0]]
    misordered = {host.code: evaluated[id(host.pattern)][1] for host in hosts if evaluated[id(host.pattern)][1]}
    nearest = {
        host.code: {gpu: tuple(host.ports[nic] for nic in nics) for gpu, nics in host.pattern.gpus.items()}
        for host in hosts
        if host.code in misordered
    }
    untested = sorted({key[0] for key in convention if _is_untested(key, rails, convention[key], by_sight)})
    return GpuRails(near, misordered, nearest, reading, not_evaluated, tuple(untested), tuple(hosts), convention)


def rails_of(wiring: "Wiring") -> list[int]:
    """The numbers of the plan's rails, ascending: people begin with 0 or with 1."""
    return distinct(wiring.index.rail[wiring.index.rail >= 0]).tolist() or [0]


def _is_untested(key: _Key, rails: list[int], convention: int, by_sight: Mapping[_Key, Counter[int]]) -> bool:
    """Whether only the plan gives a GPU other rails than that of its own index."""
    return convention != 0 and not convention & _own_rail(key, rails) and key not in by_sight


def _own_rail(key: _Key, rails: list[int]) -> int:
    """The rail of a GPU's own index as a bit set."""
    return 1 << rails[key[0] * len(rails) // key[1]]


def _evaluated(pattern: _Pattern, convention: Mapping[_Key, int]) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """The rails that each NIC is near to, and the GPUs whose nearest NICs the plan gives other rails."""
    near = [0] * len(pattern.planned)
    misordered: dict[int, tuple[int, int]] = {}
    for gpu, nics in sorted(pattern.gpus.items()):
        wanted, given = convention[gpu, pattern.size], pattern.rails(gpu, pattern.planned)
        for nic in nics:
            near[nic] |= wanted
        if given and wanted not in (0, given):
            misordered[gpu] = (wanted, given)
    return near, misordered


def _convention(key: _Key, rails: list[int], by_plan: Counter[int], by_sight: Counter[int]) -> int:
    """The rails of a GPU: its own index's rail if plan or cabling agree with that for most hosts, else the plan's."""
    natural = _own_rail(key, rails)
    for votes in (by_plan, by_sight):
        if votes:
            most, count = votes.most_common(1)[0]
            if most & natural and 2 * count > votes.total():
                return most
    most, count = by_plan.most_common(1)[0]
    return most if 2 * count > by_plan.total() else 0


def _of_few(convention: Mapping[_Key, int], by_plan: Mapping[_Key, Counter[int]], rails: list[int]) -> dict[_Key, int]:
    """GPUs for which most hosts of their size show no NIC nearby, so that the few that do would only agree with
    themselves: they have their own index's rail where all other GPUs have theirs.
    """
    shown: dict[int, int] = {}
    for (_, gpus), votes in by_plan.items():
        shown[gpus] = max(shown.get(gpus, 0), votes.total())
    few = {key for key, votes in by_plan.items() if 2 * votes.total() <= shown[key[1]]}
    natural = {key: _own_rail(key, rails) for key in convention}
    odd = {gpus for (gpu, gpus), found in convention.items() if (gpu, gpus) not in few and found != natural[gpu, gpus]}
    return {key: natural[key] for key in few if key[1] not in odd}


def _rail_bits(wiring: "Wiring") -> tuple[Codes, Codes]:
    """Per port: the planned rail of its cable, and the rail of the place where it is seen, as bit sets."""
    index = wiring.index
    size = len(wiring.partner)
    own = np.zeros(size, dtype=np.int64)
    railed = (index.rail >= 0) & (index.rail < _MAX_RAILS)
    own[index.a[railed]] = 1 << index.rail[railed]
    own[index.b[railed]] = 1 << index.rail[railed]
    seen = np.zeros(size, dtype=np.int64)
    seen[index.a[railed]] = own[wiring.partner[index.a[railed]]] * (wiring.partner[index.a[railed]] >= 0)
    _add_heard(wiring, np.flatnonzero(railed & index.from_host), seen)
    return own, seen


def _add_heard(wiring: "Wiring", cables: Codes, seen: Codes) -> None:
    """The rail of a NIC that hears a leaf without its port, where the plan has one rail of its host there."""
    index = wiring.index
    pair = index.a_device[cables] << 32 | index.b_device[cables]
    pairs, first, count = np.unique(pair, return_index=True, return_counts=True)
    vague = cables[(wiring.partner[index.a[cables]] < 0) & (wiring.heard[index.a[cables]] >= 0)]
    wanted = index.a_device[vague] << 32 | wiring.heard[index.a[vague]]
    if len(vague):
        at = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
        only = (pairs[at] == wanted) & (count[at] == 1)
        seen[index.a[vague[only]]] = 1 << index.rail[cables[first[at[only]]]]


def _hosts(wiring: "Wiring") -> tuple[list[_Host], dict[int, int], tuple[int, ...]]:
    """Every host that reported its topology and its RDMA devices; the reading that contains the topology; and the
    planned hosts whose topology could not be used.
    """
    nics_of = _planned_nics(wiring)
    planned, seen = _rail_bits(wiring)
    patterns: dict[tuple[object, ...], _Pattern | None] = {}
    hosts: list[_Host] = []
    reading_of: dict[int, int] = {}
    not_evaluated: set[int] = set()
    railed = set(wiring.index.a_device[wiring.index.from_host].tolist())
    for number, reading in enumerate(wiring.seen.readings):
        if not reading.facts or type(reading.facts[0]) is not GpuNicPath:
            continue
        code = wiring.identity.filed(reading.device)
        nics = nics_of.get(code)
        if code in railed:
            not_evaluated.add(code)
        if nics is None:
            continue
        names, ports = nics
        of_plan, of_sight = tuple(planned[list(ports)].tolist()), tuple(seen[list(ports)].tolist())
        key = (id(reading.facts), names, of_plan, of_sight)
        if key not in patterns:
            paths, whole = cast("tuple[GpuNicPath, ...]", reading.facts), not wiring.index.plan.inferred
            gpus = _nearest(paths, names, of_plan, whole=whole)
            size = max((path.gpu for path in paths), default=0) + 1
            patterns[key] = _Pattern(gpus, of_plan, of_sight, size) if gpus else None
        pattern = patterns[key]
        if pattern is not None:
            hosts.append(_Host(code, ports, pattern))
            reading_of[code] = number
    return hosts, reading_of, tuple(sorted(not_evaluated.difference(reading_of)))


def _nearest(
    paths: tuple[GpuNicPath, ...], nics: tuple[str, ...], rails: tuple[int, ...], *, whole: bool
) -> dict[int, tuple[int, ...]]:
    """GPU to the positions of its nearest NICs among `nics`, with their planned `rails`. GPUs that are equally near to
    all of them are left out, and those that share no more than a NUMA node with NICs of several rails: such a tie is no
    affinity.

    A plan is `whole` if it was written by hand; an inferred one lacks the NICs whose cables were not seen, so that a
    GPU to which one of these is nearest is left out, too.
    """
    position = grouped((name, number) for number, name in enumerate(nics))
    levels: dict[int, dict[int, int]] = {}
    unplanned: dict[int, int] = {}
    for path in paths:
        level = CLOSENESS.get(path.level)
        members = position.get(path.device or path.nic, ())
        if level is None:
            continue
        for nic in members:
            levels.setdefault(path.gpu, {})[nic] = level
        if not members and not whole:
            unplanned[path.gpu] = min(level, unplanned.get(path.gpu, level))
    found: dict[int, tuple[int, ...]] = {}
    for gpu, of in levels.items():
        nearest = min(of.values())
        chosen = tuple(nic for nic, level in sorted(of.items()) if level == nearest)
        is_tie = nearest >= CLOSENESS["NODE"] and len({rails[nic] for nic in chosen}) > 1
        if len(chosen) < len(of) and nearest <= unplanned.get(gpu, nearest) and not is_tie:
            found[gpu] = chosen
    return found


def _planned_nics(wiring: "Wiring") -> dict[int, tuple[tuple[str, ...], tuple[int, ...]]]:
    """Host code to its planned NICs: names of the RDMA devices, and their ports. NICs outside the plan are left out.
    The device of a bond covers each of the bond's members, so its name comes once for each. For a host that does not
    report its RDMA devices the names in the plan are used: on InfiniBand they are RDMA devices.
    """
    found = _named_in_plan(wiring) if wiring.index.plan.transport is Transport.INFINIBAND else {}
    nics = grouped((host, (device, port)) for host, device, _, port in rdma_of_nics(wiring))
    return found | {host: (tuple(one[0] for one in own), tuple(one[1] for one in own)) for host, own in nics.items()}


def rdma_of_nics(wiring: "Wiring") -> Iterator[tuple[int, str, int, int]]:
    """Host code, RDMA device and its port, and the code of the planned NIC: one for each member of a bond."""
    index, rdma = wiring.index, wiring.seen.table(RdmaLink)
    row, port = wiring.identity.names.rdma_members()
    cable = index.cables_at(port)
    use = np.flatnonzero((cable >= 0) & index.from_host[cable]) if len(rdma) else np.empty(0, dtype=np.int64)
    of_link = wiring.identity.devices_of(rdma), rdma.column("device"), rdma.column("port")
    yield from zip(*(one[row[use]].tolist() for one in of_link), port[use].tolist(), strict=True)


def _named_in_plan(wiring: "Wiring") -> dict[int, tuple[tuple[str, ...], tuple[int, ...]]]:
    """Host code to its planned NICs by the names that the plan gives them, and their ports."""
    index = wiring.index
    ports = grouped(zip(index.a_device[index.from_host].tolist(), index.a[index.from_host].tolist(), strict=True))
    return {host: (tuple(index.spell(port).name for port in own), tuple(own)) for host, own in ports.items()}


# ----------------------------------------------------------------------------------------------------------------------
# Where a host's NICs are plugged into the host: by PCI address, or by a name that follows from the place.


def nic_places(wiring: "Wiring") -> dict[int, str]:
    """The location of each planned NIC, by its port: its PCI address, or a name that follows from its location."""
    names, seen = wiring.identity.names, wiring.seen
    found: dict[int, str] = {}
    planned = wiring.index.a[wiring.index.from_host]
    rdma, links = (names.rdma_ports, seen.table(RdmaLink).rows), (names.link_ports, seen.table(NetLink).rows)
    for ports, rows in (rdma, links):
        for row in np.flatnonzero(np.isin(ports, planned)).tolist():
            one = rows[row]
            said = (one.pci_address, one.netdev, one.device if isinstance(one, RdmaLink) else None)
            place = next((word for word in said if word and is_by_place(word)), None)
            if place:
                found[int(ports[row])] = place.lower()
    return found

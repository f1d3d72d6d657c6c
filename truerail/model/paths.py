"""From GPU to NIC to rail: which rail each NIC should serve, as the host's own PCI topology says.

`nvidia-smi topo -m` ranks the NICs of a host for every GPU. GPU g of G belongs to rail g * R // G; where the whole
fabric agrees on another convention (a vendor's slot order), that convention is taken. A NIC whose nearest GPUs
belong to another rail than the plan gives it was enumerated in another order than the plan assumes: nothing is
wrong with its cable. Equal hosts give equal answers, so each distinct answer is read once.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from truerail.model.facts import GpuNicPath, RdmaLink
from truerail.model.index import NONE
from truerail.model.snapshot import Codes
from truerail.model.wiring import Wiring

_CLOSENESS = {"PIX": 0, "PXB": 1, "PHB": 2, "NODE": 3, "SYS": 4, "SOC": 4}
"""nvidia-smi's words from near to far; NCCL ranks them alike (src/graph/topo.h)."""


@dataclass(frozen=True)
class GpuRails:
    """Rails as bit sets (bit r is rail r), by port code, and per host the GPUs that the plan's NIC order does not suit.

    `near[port]`: the rails whose GPUs are nearest to this NIC; 0 where the topology does not tell.
    `misordered[host code]`: GPU to (rails by convention, rails that the plan gives to its nearest NICs).
    """

    near: Codes
    misordered: Mapping[int, Mapping[int, tuple[int, int]]]
    row: Mapping[int, int]
    """Host code to the index of the reading that holds its topology."""


def rails_in(bits: int) -> tuple[int, ...]:
    """The rails of a bit set, ascending."""
    return tuple(rail for rail in range(bits.bit_length()) if bits >> rail & 1)


def gpu_rails(wiring: Wiring) -> GpuRails:
    """Joins topology, RDMA devices and planned rails. Computed once for each wiring, kept with it."""
    found: GpuRails | None = wiring.__dict__.get("_gpu_rails")
    if found is None:
        found = wiring.__dict__["_gpu_rails"] = _join(wiring)
    return found


_Nearest = dict[int, frozenset[int]]  # GPU to the port codes of its nearest planned NICs


def _join(wiring: Wiring) -> GpuRails:
    nearest, reading = _nearest_nics(wiring)
    planned, seen = _rail_bits(wiring)
    by_plan: dict[tuple[int, int], Counter[int]] = {}
    by_sight: dict[tuple[int, int], Counter[int]] = {}
    bits: dict[int, dict[int, tuple[int, int]]] = {}
    for host, gpus in nearest.items():
        for gpu, ports in gpus.items():
            of_plan, of_sight = _union(planned, ports), _union(seen, ports)
            bits.setdefault(host, {})[gpu] = (of_plan, of_sight)
            key = (gpu, max(gpus) + 1)
            by_plan.setdefault(key, Counter())[of_plan] += 1
            if of_sight:
                by_sight.setdefault(key, Counter())[of_sight] += 1
    rails = int(wiring.index.rail.max(initial=NONE)) + 1
    convention = {key: _convention(key, rails, votes, by_sight.get(key, Counter())) for key, votes in by_plan.items()}
    near = np.zeros(len(wiring.partner), dtype=np.int64)
    misordered: dict[int, dict[int, tuple[int, int]]] = {}
    for host, gpus in nearest.items():
        for gpu, ports in gpus.items():
            wanted = convention[gpu, max(gpus) + 1]
            near[list(ports)] |= wanted
            if wanted and bits[host][gpu][0] != wanted:
                misordered.setdefault(host, {})[gpu] = (wanted, bits[host][gpu][0])
    return GpuRails(near, misordered, reading)


def _convention(key: tuple[int, int], rails: int, by_plan: Counter[int], by_sight: Counter[int]) -> int:
    """The rails of a GPU: its own index's rail if plan or cabling agree with that for most hosts, else what the
    plan says.
    """
    gpu, gpus = key
    natural = 1 << (gpu * rails // gpus)
    for votes in (by_plan, by_sight):
        if votes:
            most, count = votes.most_common(1)[0]
            if most & natural and 2 * count > votes.total():
                return most
    most, count = by_plan.most_common(1)[0]
    return most if 2 * count > by_plan.total() else 0


def _union(rails: Codes, ports: frozenset[int]) -> int:
    bits = 0
    for port in ports:
        bits |= int(rails[port])
    return bits


def _rail_bits(wiring: Wiring) -> tuple[Codes, Codes]:
    """Per port: the rail the plan gives its cable, and the rail of the place where it is seen, as bit sets."""
    index = wiring.index
    size = len(wiring.partner)
    own = np.zeros(size, dtype=np.int64)
    railed = (index.rail >= 0) & (index.rail < 62)
    own[index.a[railed]] = 1 << index.rail[railed]
    own[index.b[railed]] = 1 << index.rail[railed]
    seen = np.zeros(size, dtype=np.int64)
    seen[index.a[railed]] = own[wiring.partner[index.a[railed]]] * (wiring.partner[index.a[railed]] >= 0)
    return own, seen


def _nearest_nics(wiring: Wiring) -> tuple[dict[int, _Nearest], dict[int, int]]:
    """Host code to GPU to the ports of its nearest planned NICs; only where the topology tells NICs apart."""
    identity = wiring.identity
    ports_of = _rdma_ports_of_hosts(wiring)
    best_of: dict[tuple[int, tuple[str, ...]], dict[int, frozenset[str]]] = {}
    nearest: dict[int, _Nearest] = {}
    reading_of: dict[int, int] = {}
    for number, reading in enumerate(identity.seen.readings):
        if not reading.facts or type(reading.facts[0]) is not GpuNicPath:
            continue
        host = identity.filed(reading.device)
        nics = ports_of.get(host)
        if not nics:
            continue
        key = (id(reading.facts), tuple(nics))
        best = best_of.get(key)
        if best is None:
            paths = tuple(fact for fact in reading.facts if isinstance(fact, GpuNicPath))
            best = best_of[key] = _best(paths, frozenset(nics))
        nearest[host] = {gpu: frozenset(nics[name] for name in names) for gpu, names in best.items()}
        reading_of[host] = number
    return nearest, reading_of


def _best(paths: tuple[GpuNicPath, ...], nics: frozenset[str]) -> dict[int, frozenset[str]]:
    """GPU to its nearest NICs among `nics`. GPUs that are equally near to all of them are left out."""
    levels: dict[int, dict[str, int]] = {}
    for path in paths:
        name = path.device or path.nic
        if name in nics and path.level in _CLOSENESS:
            levels.setdefault(path.gpu, {})[name] = _CLOSENESS[path.level]
    best: dict[int, frozenset[str]] = {}
    for gpu, of in levels.items():
        nearest = min(of.values())
        chosen = frozenset(name for name, level in of.items() if level == nearest)
        if len(chosen) < len(of):
            best[gpu] = chosen
    return best


def _rdma_ports_of_hosts(wiring: Wiring) -> dict[int, dict[str, int]]:
    """Host code to RDMA device name to the port code of its planned NIC. NICs outside the plan are left out."""
    identity, index = wiring.identity, wiring.index
    rdma = identity.seen.table(RdmaLink)
    if not len(rdma):
        return {}
    devices = identity.devices_of(rdma)
    names = rdma.column("device")
    netdevs = index.ports.name_codes(rdma.column("netdev"))
    own = np.where(netdevs >= 0, netdevs, index.ports.name_codes(names))
    ports = identity.local_ports(devices, own)
    cable = index.cables_at(ports)
    use = np.flatnonzero((cable >= 0) & index.from_host[cable])
    found: dict[int, dict[str, int]] = {}
    for host, name, port in zip(devices[use].tolist(), names[use].tolist(), ports[use].tolist(), strict=True):
        found.setdefault(host, {})[name] = port
    return found

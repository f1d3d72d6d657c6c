"""The ends of a job's connections: rank, host, NIC, planned port, rail. And which planned port a network device of a
host is, by the names that NCCL prints: RDMA devices, or interfaces.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truerail.analysis.cabling.joined import State, Wiring
from truerail.analysis.cabling.paths import rdma_of_nics
from truerail.model.columns import NONE, Codes, grouped
from truerail.model.nccl_facts import NcclHop, NcclNic, NcclOverride, NcclRank


@dataclass(frozen=True)
class HostNics:
    """Ports by host code and RDMA device; `planned_rail[cable]`, and `rail[cable]` where its end is plugged in: that of
    the place where it is seen, and the planned one where it is not seen elsewhere. -1 is unknown.
    """

    ports: Mapping[tuple[int, str], tuple[int, ...]]
    planned: Mapping[tuple[int, str], int]
    """By host code and the planned name of a port."""
    rail: Codes
    planned_rail: Codes
    cable: Mapping[int, int]
    """Host port to its cable."""

    def of(self, host: int, devices: Iterable[str]) -> tuple[int, ...]:
        """The planned ports of a device, or of several that are fused; empty if one of them is unknown."""
        found: list[int] = []
        for name in devices:
            device, _, number = name.partition(":")
            ports = self.ports.get((host, f"{device}:{number or 1}"), ())
            if not ports and (host, device) in self.planned:
                ports = (self.planned[host, device],)
            if not ports:
                return ()
            found += ports
        return tuple(dict.fromkeys(found))

    def rails(self, ports: Iterable[int]) -> frozenset[int]:
        """The rails on which these ports are plugged in; empty if one is unknown."""
        return _rails(self.rail, [self.cable[port] for port in ports])

    def planned_rails(self, ports: Iterable[int]) -> frozenset[int]:
        """The planned rails of these ports; empty if one has none."""
        return _rails(self.planned_rail, [self.cable[port] for port in ports])


def _rails(of: Codes, cables: list[int]) -> frozenset[int]:
    found = frozenset(of[cables].tolist()) if cables else frozenset[int]()
    return frozenset() if NONE in found else found


def host_nics(wiring: Wiring) -> HostNics:
    """The planned NICs of all hosts."""
    index = wiring.index
    ports = grouped(((host, f"{device}:{number}"), port) for host, device, number, port in rdma_of_nics(wiring))
    from_host = np.flatnonzero(index.from_host).tolist()
    planned = {(int(index.a_device[one]), index.a_port(one).name): int(index.a[one]) for one in from_host}
    seen = {key: tuple(dict.fromkeys(found)) for key, found in ports.items()}
    cable_of = {int(index.a[one]): one for one in reversed(from_host)}
    return HostNics(seen, planned, _rails_as_seen(wiring), index.rail, cable_of)


def _rails_as_seen(wiring: Wiring) -> Codes:
    index = wiring.index
    rail = index.rail.copy()
    wrong = np.flatnonzero(wiring.state == State.WRONG)
    at = index.cables_at(wiring.place[wrong])
    rail[wrong] = np.where(at >= 0, index.rail[at], NONE)
    return rail


Devices = Mapping[int, NcclNic]
SOCKET = "Socket"


@dataclass(frozen=True, slots=True)
class Nic:
    """A network device that ends of connections use. Equal for all of them that use the same."""

    host: int
    """Code of the host; -1 if unknown."""
    index: int
    devices: tuple[str, ...]
    """Empty if the log does not list them."""
    ports: tuple[int, ...]
    """Planned ports; empty if unknown. Several if devices are fused, in a bond, or replaced by routing."""
    rails: frozenset[int]
    """Where these ports are plugged in; empty if that is unknown."""
    planned_rails: frozenset[int]
    overridden: bool = False
    """Whether routing by subnets may have replaced it by another one."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection."""

    hop: NcclHop
    nic: Nic

    @property
    def rank(self) -> int:
        """The rank at this end."""
        return self.hop.from_rank if self.hop.direction == "send" else self.hop.to_rank

    @property
    def key(self) -> tuple[str | None, int, int | None, int, int]:
        """Equal for the two ends of one connection."""
        hop = self.hop
        return hop.comm, hop.channel, hop.connection, hop.from_rank, hop.to_rank


class NicFinder:
    """The NIC of each end of a connection."""

    def __init__(
        self,
        nics: HostNics,
        host_of: Mapping[str | None, int],
        listed: Iterable[NcclNic],
        overrides: Iterable[NcclOverride],
        ranks: Iterable[NcclRank],
    ) -> None:
        self._nics = nics
        self._host_of = host_of
        self._listed: dict[tuple[str | None, str | None], dict[int, NcclNic]] = {}
        for one in listed:
            self._listed.setdefault((one.host, one.process), {})[one.index] = one
        self._overrides: dict[tuple[str | None, int], set[int]] = {}
        for other in overrides:
            self._overrides.setdefault((other.host, other.nic), set()).add(other.used)
        self._process = {(rank.comm, rank.host, rank.rank): rank.process for rank in ranks}
        self._found: dict[tuple[str | None, str | None, int], Nic] = {}

    def ends(self, hops: Iterable[NcclHop]) -> Iterator[End]:
        """The hops with their NICs, each once."""
        for hop in dict.fromkeys(hops):
            process = hop.process
            if hop.proxy_rank is not None:
                process = self._process.get((hop.comm, hop.host, hop.proxy_rank), hop.process)
            key = (hop.host, process, hop.nic)
            nic = self._found.get(key)
            if nic is None:
                nic = self._found[key] = self._nic(*key)
            yield End(hop, nic)

    def devices(self, host: str | None, process: str | None) -> Devices:
        """The devices that a process lists, by index."""
        return self._listed.get((host, process)) or self._listed.get((host, None), {})

    def listed(self) -> Iterator[tuple[str | None, Devices]]:
        """Every list of devices, and the host that printed it."""
        for (host, _), devices in self._listed.items():
            yield host, devices

    def nic(self, host: str | None, listed: NcclNic) -> Nic:
        """A listed device."""
        return self._of(self._host_of.get(host, NONE), listed.index, listed.devices)

    def _nic(self, host: str | None, process: str | None, index: int) -> Nic:
        code = self._host_of.get(host, NONE)
        devices = self.devices(host, process)
        used = self._overrides.get((host, index), set())
        names = [devices[one].devices if one in devices else () for one in (index, *sorted(used))]
        nic = self._of(code, index, names[0])
        if not used:
            return nic
        others = [self._of(code, index, one) for one in names]
        ports = tuple(dict.fromkeys(port for one in others for port in one.ports))
        known = all(one.ports for one in others)
        rails = nic.rails if len({one.rails for one in others}) == 1 else frozenset[int]()
        return Nic(code, index, names[0], ports if known else (), rails, nic.planned_rails, True)

    def _of(self, code: int, index: int, devices: tuple[str, ...]) -> Nic:
        ports = self._nics.of(code, devices) if code >= 0 and devices else ()
        return Nic(code, index, devices, ports, self._nics.rails(ports), self._nics.planned_rails(ports))

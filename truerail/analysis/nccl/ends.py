"""The ends of a job's connections: rank, host, NIC, planned port, rail."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from truerail.analysis.nccl.printed_nics import HostNics
from truerail.model.columns import NONE
from truerail.model.nccl_facts import NcclHop, NcclNic, NcclOverride, NcclRank

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

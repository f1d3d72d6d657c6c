"""Which planned port a network device of a host is, by the names that NCCL prints: RDMA devices, or interfaces."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from truerail.analysis.cabling.joined import State, Wiring
from truerail.model.columns import NONE, Codes
from truerail.model.facts import RdmaLink


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
    rdma = wiring.seen.table(RdmaLink)
    row, port = wiring.identity.names.rdma_members()
    cable = index.cables_at(port)
    ports: dict[tuple[int, str], list[int]] = {}
    if len(rdma):
        host = wiring.identity.devices_of(rdma)[row]
        use = np.flatnonzero((cable >= 0) & index.from_host[cable])
        for at in use.tolist():
            link = rdma.rows[int(row[at])]
            ports.setdefault((int(host[at]), f"{link.device}:{link.port}"), []).append(int(port[at]))
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

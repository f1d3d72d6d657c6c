"""A host's NICs and GPUs from its own readings, read for one host on request."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.paths import CLOSENESS
from truerail.analysis.cabling.witnesses import serial_number
from truerail.analysis.optics_lanes import optic_ports
from truerail.model.columns import NONE, Codes, distinct, equals, grouped
from truerail.model.facts import GpuNicPath, Neighbor, NetLink, Optic, RdmaLink
from truerail.model.names import printable
from truerail.views.pieces import GpuLink, Nic

_RDMA_PORT = re.compile(r"^(.+?)[:/]\d+$")


class Nics:
    """NICs and GPUs of a snapshot, by host or by MAC."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._nearest: dict[int, Mapping[int, tuple[tuple[int, str], ...]]] = {}

    def nic(self, port: int) -> Nic | None:
        """The facts about this port; None if its host reports none."""
        link, rdma = self.link(port), self.rdma(port)
        if link is None and rdma is None:
            return None
        netdev = link.netdev if link else rdma.netdev if rdma else None
        pci = (link.pci_address if link else None) or (rdma.pci_address if rdma else None)
        speed = link.speed_gbps if link and link.speed_gbps is not None else rdma.rate_gbps if rdma else None
        return Nic(
            netdev=_safe(netdev),
            rdma=_safe(rdma.device if rdma else None),
            pci=_safe(pci),
            mac=_safe(link.mac if link else None),
            mtu=link.mtu if link else None,
            speed_gbps=speed,
            link=self.link_state(port),
        )

    def link(self, port: int) -> NetLink | None:
        """The interface of a port as its device reports it."""
        row = int(self._wiring.states.link_row[port])
        return self._wiring.states.links[row] if row >= 0 else None

    def rdma(self, port: int) -> RdmaLink | None:
        """The RDMA device of a port as its host reports it."""
        row = int(self._wiring.states.rdma_row[port])
        return self._wiring.states.rdma[row] if row >= 0 else None

    def link_state(self, port: int) -> str | None:
        """`disabled`, `down` or `up`; None if unknown."""
        states, one = self._wiring.states, np.array([port])
        reported = (("disabled", states.disabled), ("down", states.down), ("up", states.up))
        return next((word for word, holds in reported if port != NONE and holds(one)[0]), None)

    def names(self, port: int) -> Iterator[str]:
        """Every other name of a port: netdev, altnames, RDMA device, PCI address."""
        link, rdma = self.link(port), self.rdma(port)
        if link is not None:
            yield from (name for name in (link.netdev, *link.aliases, link.pci_address) if name)
        if rdma is not None:
            yield from (name for name in (rdma.device, rdma.netdev, rdma.pci_address) if name)

    def is_rdma(self, port: int, text: str) -> bool:
        """Whether this is the port's RDMA device: `mlx5_3`, or `mlx5_3/1` as `rdma link` prints it."""
        rdma, shape = self.rdma(port), _RDMA_PORT.match(text)
        return rdma is not None and rdma.device.lower() in (text.lower(), shape.group(1).lower() if shape else "")

    def gpus(self, host: int, ports: Codes, port: int) -> tuple[GpuLink, ...]:
        """The GPUs to which this port's NIC is the nearest, or one of the nearest, of the planned `ports` of its host.
        Empty if the host does not report its topology.
        """
        near = self.nearest(host, ports)
        return tuple(GpuLink(gpu, level) for gpu in sorted(near) for nic, level in near[gpu] if nic == port)

    def nearest(self, host: int, ports: Codes) -> Mapping[int, tuple[tuple[int, str], ...]]:
        """GPU to its nearest planned NICs (port, level). A GPU equally near to all of several NICs is left out."""
        found = self._nearest.get(host)
        if found is None:
            found = self._nearest[host] = self._read(host, ports)
        return found

    def _read(self, host: int, ports: Codes) -> Mapping[int, tuple[tuple[int, str], ...]]:
        known = ((rdma.device, port) for port in ports.tolist() if (rdma := self.rdma(port)) is not None)
        names = grouped(known)  # the device of a bond is that of each member
        paths = (path for path in self._wiring.once(topologies_of).get(host, ()) if path.level in CLOSENESS)
        near = ((path.gpu, (port, path.level)) for path in paths for port in names.get(path.device or path.nic, ()))
        return {gpu: nearest for gpu, nics in grouped(near).items() if (nearest := _nearest(nics))}

    def port_hearing(self, mac: str) -> int:
        """The port that hears this MAC as its neighbour's port or chassis; -1 if none does, or several do."""
        claims, seen = self._wiring.identity.claims, self._wiring.seen
        table = seen.table(Neighbor)
        for column in ("port_id", "chassis_id"):
            rows = np.flatnonzero(equals(table.column(column), mac))
            ports = distinct(claims.u[np.isin(claims.row, rows)])
            if len(ports) == 1:
                return int(ports[0])
        return NONE


def serials_of(wiring: Wiring) -> Mapping[str, Sequence[int]]:
    """The ports with a module or cable of each serial number, in capitals. The wiring owns it."""
    rows = wiring.seen.table(Optic).rows
    ports, first = np.unique(optic_ports(wiring), return_index=True)
    serials = (serial_number(rows[row].serial) for row in first.tolist())
    return grouped((serial, port) for serial, port in zip(serials, ports.tolist(), strict=True) if serial and port >= 0)


def topologies_of(wiring: Wiring) -> Mapping[int, Sequence[GpuNicPath]]:
    """A host's topology, by the host's code. The wiring owns it."""
    reported = (one for one in wiring.seen.readings if one.facts and type(one.facts[0]) is GpuNicPath)
    filed = wiring.identity.filed
    return {filed(reading.device): cast("tuple[GpuNicPath, ...]", reading.facts) for reading in reported}


def _nearest(nics: list[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    best = min(CLOSENESS[level] for _, level in nics)
    chosen = tuple(nic for nic in nics if CLOSENESS[nic[1]] == best)
    return chosen if len(chosen) < len(nics) or len(nics) == 1 else ()


def _safe(text: str | None) -> str | None:
    return None if text is None else printable(text, 64)

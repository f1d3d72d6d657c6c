"""The state of every port as its own device tells it: carrier, administrative state, RDMA state, speed, MTU.

An IPoIB interface may be down, or never set up, above an InfiniBand port that works: what it says of itself is its own.

Most ports are right where LLDP says so, and nobody asks for their link. So states are read for the ports asked about,
and columns over all ports are made when a rule first wants one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from truerail.model.columns import NONE, Codes, Mask
from truerail.model.facts import LinkSpeed, NetLink, RdmaLink
from truerail.model.wiring.discovery import discoveries
from truerail.model.wiring.ib_names import ipoib_guid
from truerail.model.wiring.identity import Identity

YES, NO = 1, 0
_OPERSTATE_DOWN = {"DOWN", "LOWERLAYERDOWN", "NOTPRESENT"}
_ACTIVE = {"ACTIVE", "ACTIVE_DEFER"}


@dataclass(frozen=True)
class PortStates:
    """What ports say of themselves. 1 is yes, 0 is no, -1 is not told; NaN is not told.

    `link_row`, `rdma_row` and `speed_row` are the rows of the NetLink, RdmaLink and LinkSpeed tables by port code, -1
    where no row is; the last slot is that of port -1. Columns have the same shape. `found` is whether the discovery of
    an InfiniBand fabric found a link there; None where there was none.
    """

    links: list[NetLink]
    rdma: list[RdmaLink]
    speeds: list[LinkSpeed]
    link_row: Codes
    rdma_row: Codes
    speed_row: Codes
    found: Codes | None = None

    def down(self, port: Codes) -> Mask:
        """Whether the port's own device, or else a discovery, says that it has no link. False where nothing is known,
        and for port -1.
        """
        return np.asarray(self.dark(port) | (self.unlinked(port) & ~self.lit(port)), dtype=bool)

    def dark(self, port: Codes) -> Mask:
        """Whether the port's own device says that it has no link."""
        carrier, active = self._carrier(port), self.rdma_active[port]
        return np.asarray((carrier == NO) | ((active == NO) & (carrier != YES)), dtype=bool)

    def lit(self, port: Codes) -> Mask:
        """Whether the port's own device says that it has link."""
        carrier, active = self._carrier(port), self.rdma_active[port]
        return np.asarray((carrier == YES) | ((active == YES) & (carrier != NO)), dtype=bool)

    def linked(self, port: Codes) -> Mask:
        """Whether a discovery found a link at the port."""
        return np.asarray(self._found(port) == YES, dtype=bool)

    def unlinked(self, port: Codes) -> Mask:
        """Whether a discovery met the port's switch and found no link there."""
        return np.asarray(self._found(port) == NO, dtype=bool)

    def up(self, port: Codes) -> Mask:
        """Whether the port's own device, or else a discovery, says that it has link."""
        return np.asarray(self.lit(port) | (self.linked(port) & ~self.dark(port)), dtype=bool)

    def _found(self, port: Codes) -> Codes:
        return np.full(len(port), NONE, dtype=np.int64) if self.found is None else self.found[port]

    def disabled(self, port: Codes) -> Mask:
        """Whether the port is switched off by its operator: down by design."""
        off = self._ask(self.rdma_row[port], lambda row: self.rdma[row].physical_state == "DISABLED")
        return np.asarray((self._ask(self.link_row[port], self._enabled) == NO) | (off == YES), dtype=bool)

    def _carrier(self, port: Codes) -> Codes:
        return self._ask(self.link_row[port], self._has_carrier)

    def _has_carrier(self, row: int) -> int:
        link = self.links[row]
        if ipoib_guid(link.mac):
            return NONE
        if "NO-CARRIER" in link.flags or (link.operstate or "").upper() in _OPERSTATE_DOWN:
            return NO
        return YES if "LOWER_UP" in link.flags or (link.operstate or "").upper() == "UP" else NONE

    def _enabled(self, row: int) -> int:
        flags = self.links[row].flags
        return NONE if not flags or ipoib_guid(self.links[row].mac) else YES if "UP" in flags else NO

    @staticmethod
    def _ask(rows: Codes, told: Callable[[int], int]) -> Codes:
        return np.array([NONE if row < 0 else told(row) for row in rows.tolist()], dtype=np.int64)

    @cached_property
    def rdma_active(self) -> Codes:
        """Whether the RDMA port is active."""
        told = [NONE if link.state is None else YES if link.state in _ACTIVE else NO for link in self.rdma]
        return np.array([*told, NONE], dtype=np.int64)[self.rdma_row]  # row -1 is the last

    @cached_property
    def mtu(self) -> Codes:
        """The interface's MTU in bytes."""
        told = [NONE if link.mtu is None else link.mtu for link in self.links]
        return np.array([*told, NONE], dtype=np.int64)[self.link_row]

    @cached_property
    def speed_gbps(self) -> npt.NDArray[np.float64]:
        """The speed of the link, from the interface, else from its RDMA device, else from the system's files."""
        of_link = np.array([*(link.speed_gbps for link in self.links), None], dtype=np.float64)[self.link_row]
        of_rdma = np.array([*(link.rate_gbps for link in self.rdma), None], dtype=np.float64)[self.rdma_row]
        of_file = np.array([*(speed.gbps for speed in self.speeds), None], dtype=np.float64)[self.speed_row]
        told = np.where(np.isnan(of_link), of_rdma, of_link)
        return np.where(np.isnan(told), of_file, told)


def port_states(identity: Identity) -> PortStates:
    """Finds the rows of NetLink, RdmaLink and LinkSpeed for the identity's ports."""
    names, seen = identity.names, identity.seen
    ports = names.link_ports(), names.rdma_ports(), _speed_ports(identity)  # may add ports: size comes after
    size = len(identity.index.ports)
    link_row, rdma_row, speed_row = (_rows(size, port) for port in ports)
    told = seen.table(NetLink).rows, seen.table(RdmaLink).rows, seen.table(LinkSpeed).rows
    return PortStates(*told, link_row, rdma_row, speed_row, _found(identity, size))


def _speed_ports(identity: Identity) -> Codes:
    """The port of every row of the LinkSpeed table: an RDMA device is the port that its host says it is. -1 where
    nothing else was told of the port.
    """
    names, table, ports = identity.names, identity.seen.table(LinkSpeed), identity.index.ports
    device, name = names.devices_of(table), ports.name_codes(table.column("port"))
    found = names.rdma_called(device, name)
    found = np.where(found >= 0, found, names.as_planned(ports.find(device, name)))
    if identity.discovery is None:
        return found
    rows, at = np.flatnonzero(np.isin(table.reading, discoveries(identity.seen))), identity.discovery.at
    told = (table.rows[row] for row in rows.tolist())
    found[rows] = [at.get((speed.of_guid or speed.of or "", speed.port), NONE) for speed in told]
    return found


def _found(identity: Identity, size: int) -> Codes | None:
    """Whether each port has a link as a discovery tells. A host's adapter that it did not meet may be in another
    fabric; a switch that it met has no link where it tells none.
    """
    if identity.discovery is None:
        return None
    index = identity.index
    found = np.full(size + 1, NONE, dtype=np.int64)
    planned = np.arange(index.planned_ports)
    device = index.ports.device_of(planned)
    switch = np.array([*index.devices.tier, NONE], dtype=np.int64)[device] > 0
    found[planned[switch & np.isin(device, identity.discovery.devices)]] = NO
    found[identity.discovery.ports] = YES
    return found


def _rows(size: int, port: Codes) -> Codes:
    rows = np.full(size + 1, NONE, dtype=np.int64)
    rows[port] = np.arange(len(port))
    rows[size] = NONE
    return rows

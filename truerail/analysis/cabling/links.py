"""The state of every port as its own device reports it: carrier, administrative state, RDMA state, speed, MTU.

How missing carrier is reported (Linux 6.12, each driver's query_port): mlx5, mlx4, bnxt_re, irdma, erdma, mana, hns,
qedr, ocrdma and siw report `DOWN` and `DISABLED` for a RoCE port without carrier, ionic and rxe `DOWN` and `POLLING`.
So the physical state of a RoCE port does not show whether its operator disabled it: only the missing `UP` flag of its
interface does. On InfiniBand `DISABLED` is the operator's. EFA always reports `ACTIVE`: its state is unknown.

An IPoIB interface may be down, or never configured, above an InfiniBand port that works: its state is its own.

Columns over all rows are computed on first use, and each kind of state is evaluated once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from truerail.analysis.cabling.discovery import discoveries
from truerail.analysis.cabling.ib_names import ipoib_guid
from truerail.analysis.cabling.identity import Identity
from truerail.model.columns import NONE, Codes, Mask, Numbers, factorize
from truerail.model.facts import DownReason, LinkSpeed, NetLink, RdmaLink
from truerail.model.plan import Transport

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring

YES, NO = 1, 0
_OPERSTATE_DOWN = {"DOWN", "LOWERLAYERDOWN", "NOTPRESENT"}
_ACTIVE = {"ACTIVE", "ACTIVE_DEFER"}
_TRAINED = {"INIT", "ARMED"}
RDMA_CAP_GBPS = 400.0
_ALWAYS_ACTIVE = ("efa", "rdmap")
"""Prefixes of EFA device names: its driver's own, and udev's for an RDMA device without a link layer (rdma-core
kernel-boot/rdma_rename.c). Linux drivers/infiniband/hw/efa/efa_verbs.c, efa_query_port: always ACTIVE, LINK_UP.
"""

_OF_ALL_ROWS = ("_link_words", "_trained", "rdma_active")


@dataclass(frozen=True)
class PortStates:
    """Port states by their own devices. 1 is yes, 0 is no, -1 is unknown; NaN is unknown.

    `link_row`, `rdma_row` and `speed_row` are the rows of the NetLink, RdmaLink and LinkSpeed tables by port code, -1
    where there is no row; the last slot is that of port -1. Columns have the same shape. `found` is whether the
    discovery of an InfiniBand fabric found a link there; None where there was none.
    """

    links: list[NetLink]
    rdma: list[RdmaLink]
    speeds: list[LinkSpeed]
    link_row: Codes
    rdma_row: Codes
    speed_row: Codes
    found: Codes | None = None
    shared: Mask | None = None
    """Per row of the RdmaLink table: whether it covers several ports, the members of a bond; None where none does."""
    infiniband: bool = False
    """Whether an RDMA port that does not report its link layer is an InfiniBand port."""

    def derived(self) -> dict[str, Any]:
        """What is derived from all rows, for `with_derived`: who has it reads no row to know a port's state."""
        return {name: getattr(self, name) for name in _OF_ALL_ROWS}

    def with_derived(self, derived: Mapping[str, Any]) -> "PortStates":
        """The states with what `derived` gave, which is not derived again."""
        self.__dict__.update(derived)
        return self

    def down(self, port: Codes) -> Mask:
        """Whether the port's own device, or else a discovery, reports no link. False where nothing is known, and for
        port -1.
        """
        return np.asarray(self.dark(port) | (self.unlinked(port) & ~self.lit(port)), dtype=bool)

    def dark(self, port: Codes) -> Mask:
        """Whether the port's own device reports no link."""
        carrier, active = self._carrier(port), self.rdma_active[port]
        return np.asarray((carrier == NO) | ((active == NO) & (carrier != YES) & ~self._trained[port]), dtype=bool)

    @cached_property
    def _trained(self) -> Mask:
        """Whether the RDMA port has its link and waits for the subnet manager: `INIT` and `ARMED` follow link training
        (InfiniBand Architecture Specification, volume 1, link states).
        """
        by_row = np.array([*(link.state in _TRAINED for link in self.rdma), False], dtype=bool)  # row -1 is the last
        return np.asarray(by_row[self.rdma_row], dtype=bool)

    def lit(self, port: Codes) -> Mask:
        """Whether the port's own device reports link."""
        carrier, active = self._carrier(port), self.rdma_active[port]
        return np.asarray((carrier == YES) | ((active == YES) & (carrier != NO)), dtype=bool)

    def linked(self, port: Codes) -> Mask:
        """Whether a discovery found a link at the port."""
        return np.asarray(self._found(port) == YES, dtype=bool)

    def unlinked(self, port: Codes) -> Mask:
        """Whether a discovery met the port's switch and found no link there."""
        return np.asarray(self._found(port) == NO, dtype=bool)

    def up(self, port: Codes) -> Mask:
        """Whether the port's own device, or else a discovery, reports link."""
        return np.asarray(self.lit(port) | (self.linked(port) & ~self.dark(port)), dtype=bool)

    def _found(self, port: Codes) -> Codes:
        return np.full(len(port), NONE, dtype=np.int64) if self.found is None else self.found[port]

    def disabled(self, port: Codes) -> Mask:
        """Whether the port's operator disabled it: down by design. False where no data shows it."""
        off = self._ask(self.rdma_row[port], self._off)
        return np.asarray((self._enabled(port) == NO) | (off == YES), dtype=bool)

    def _carrier(self, port: Codes) -> Codes:
        return self._link_words[0][self.link_row[port]]

    @cached_property
    def _link_words(self) -> tuple[Codes, Codes]:
        """Whether each row of the NetLink table has carrier, and whether its operator left it enabled; row -1 is the
        last.

        A fabric has a handful of different flags and states: each is evaluated once.
        """
        kind, kinds = factorize(map(_FLAGS_AND_STATE, self.links))
        carrier = np.array([*(_has_carrier(*words) for words in kinds), NONE], dtype=np.int64)[[*kind, NONE]]
        enabled = np.array([*(_is_enabled(flags) for flags, _ in kinds), NONE], dtype=np.int64)[[*kind, NONE]]
        long = (row for row, mac in enumerate(map(_MAC, self.links)) if mac is not None and len(mac) > _MAC_DIGITS)
        ipoib = [row for row in long if ipoib_guid(self.links[row].mac)]
        carrier[ipoib] = enabled[ipoib] = NONE
        return carrier, enabled

    def _enabled(self, port: Codes) -> Codes:
        return self._link_words[1][self.link_row[port]]

    def empty(self, port: Codes) -> Mask:
        """Whether the port's cage has no module, as its device reports, and the port is or may be
        administratively up.
        """
        bare = [row >= 0 and self.links[row].down_reason == "no module" for row in self.link_row[port].tolist()]
        return np.asarray(np.array(bare, dtype=bool) & ~self.disabled(port), dtype=bool)

    def down_reasons(self, port: Codes) -> list[DownReason | None]:
        """Why each port has no link, as its own device reports it; None where it reports no reason, or has link."""
        given = [self.links[row].down_reason if row >= 0 else None for row in self.link_row[port].tolist()]
        off = (self.disabled(port) & self.down(port)).tolist()
        return ["switched off" if by_operator else reason for by_operator, reason in zip(off, given, strict=True)]

    def unread_below_rdma(self, port: Codes) -> Mask:
        """Whether the RDMA port of Ethernet is down, without data from the interface that shows whether its operator
        disabled it.
        """
        ethernet = [row >= 0 and not self._of_infiniband(self.rdma[row]) for row in self.rdma_row[port].tolist()]
        unread = self._enabled(port) == NONE
        return np.asarray(np.array(ethernet, dtype=bool) & unread & (self.rdma_active[port] == NO), dtype=bool)

    def _of_infiniband(self, link: RdmaLink) -> bool:
        return self.infiniband if link.link_layer is None else link.link_layer == "InfiniBand"

    def _off(self, row: int) -> int:
        link = self.rdma[row]
        return YES if link.physical_state == "DISABLED" and self._of_infiniband(link) else NONE

    @staticmethod
    def _ask(rows: Codes, reported: Callable[[int], int]) -> Codes:
        return np.array([NONE if row < 0 else reported(row) for row in rows.tolist()], dtype=np.int64)

    @cached_property
    def rdma_active(self) -> Codes:
        """Whether the RDMA port is active; -1 for a device that always is, and for the members of a bond whose device
        is active: it is while one of them has carrier.
        """
        by_row = np.array([*map(_is_active, self.rdma), NONE], dtype=np.int64)  # row -1 is the last
        if self.shared is not None:
            by_row[:-1][self.shared & (by_row[:-1] == YES)] = NONE
        return by_row[self.rdma_row]

    @cached_property
    def mtu(self) -> Codes:
        """The interface's MTU in bytes."""
        reported = [NONE if link.mtu is None else link.mtu for link in self.links]
        return np.array([*reported, NONE], dtype=np.int64)[self.link_row]

    @cached_property
    def speed_is_capped(self) -> Mask:
        """Whether the speed is known from an RDMA device of Ethernet alone and may be higher: more than 200 Gb/s is
        reported as 400 where the driver gives no number of lanes (Linux drivers/infiniband/core/verbs.c,
        ib_get_width_and_speed).
        """
        of_link, of_file, of_rdma = self._speeds
        capped = np.flatnonzero(of_rdma == RDMA_CAP_GBPS)
        rdma = self.rdma_row[capped]
        capped = capped[[not self._of_infiniband(self.rdma[row]) for row in rdma.tolist()]] if len(capped) else capped
        found = np.zeros(len(of_rdma), dtype=bool)
        found[capped] = True
        return np.asarray(found & np.isnan(of_link) & np.isnan(of_file), dtype=bool)

    @cached_property
    def speed_gbps(self) -> Numbers:
        """The speed of the link, from the interface, else from the system's files, else from its RDMA device."""
        of_link, of_file, of_rdma = self._speeds
        of_port = np.where(np.isnan(of_link), of_file, of_link)
        return np.where(np.isnan(of_port), of_rdma, of_port)

    @cached_property
    def able_gbps(self) -> Numbers:
        """The speed in Gb/s that both ends of the port's link support, where it is reported to be above the current
        speed.
        """
        return np.array([*map(_ABLE_GBPS, self.speeds), None], dtype=np.float64)[self.speed_row]

    @cached_property
    def _speeds(self) -> tuple[Numbers, Numbers, Numbers]:
        """Speeds of each port by the interface, the system's files and the RDMA device."""
        of_link = np.array([*map(_GBPS, self.links), None], dtype=np.float64)
        of_rdma = np.array([*map(_rate_gbps, self.rdma), None], dtype=np.float64)
        return of_link[self.link_row], _file_gbps(self.speeds)[self.speed_row], of_rdma[self.rdma_row]


_FLAGS_AND_STATE = itemgetter(NetLink._fields.index("flags"), NetLink._fields.index("operstate"))
_MAC_DIGITS = 17
_MAC = itemgetter(NetLink._fields.index("mac"))
_GBPS = itemgetter(NetLink._fields.index("speed_gbps"))
_ABLE_GBPS = itemgetter(LinkSpeed._fields.index("able_gbps"))
_FILE_PORT, _FILE_GBPS = itemgetter(LinkSpeed._fields.index("port")), itemgetter(LinkSpeed._fields.index("gbps"))


def _has_carrier(flags: tuple[str, ...], operstate: str | None) -> int:
    state = (operstate or "").upper()
    if "NO-CARRIER" in flags or state in _OPERSTATE_DOWN:
        return NO
    return YES if "LOWER_UP" in flags or state == "UP" else NONE


def _is_active(link: RdmaLink) -> int:
    if link.state is None or link.device.startswith(_ALWAYS_ACTIVE):
        return NONE
    return YES if link.state in _ACTIVE else NO


def _is_enabled(flags: tuple[str, ...]) -> int:
    return NONE if not flags else YES if "UP" in flags else NO


def _rate_gbps(link: RdmaLink) -> float | None:
    """The rate of an RDMA port, where it is that of its link: one that is down reports its driver's default (40 Gb/s
    with mlx5, 2.5 with bnxt_re), an EFA always 100.
    """
    if link.rate_gbps is None:
        return None
    runs = link.state in (None, *_ACTIVE) and not link.device.startswith(_ALWAYS_ACTIVE)
    return link.rate_gbps if runs else None


def _file_gbps(speeds: Sequence[LinkSpeed]) -> Numbers:
    """The speed of each row of the LinkSpeed table, NaN where it means nothing; row -1 is the last."""
    port, names = factorize(map(_FILE_PORT, speeds))  # some hundred names in a fabric
    found = np.array([*map(_FILE_GBPS, speeds), None], dtype=np.float64)
    found[:-1][np.array([name.startswith(_ALWAYS_ACTIVE) for name in names], dtype=bool)[port]] = np.nan
    return found


def port_states(identity: Identity) -> PortStates:
    """Finds the rows of NetLink, RdmaLink and LinkSpeed for the identity's ports."""
    names, seen = identity.names, identity.names.seen
    links, speeds = names.link_ports, _speed_ports(identity)  # may add ports: size comes after
    row, port = names.rdma_members()
    size = len(identity.index.ports)
    link_row, speed_row = _rows(size, links), _rows(size, speeds)
    rdma_row = _rows(size, port, row)
    count = np.bincount(row, minlength=len(seen.table(RdmaLink)))
    shared = count > 1 if (count > 1).any() else None
    reported = seen.table(NetLink).rows, seen.table(RdmaLink).rows, seen.table(LinkSpeed).rows
    infiniband = identity.index.plan.transport is Transport.INFINIBAND
    return PortStates(*reported, link_row, rdma_row, speed_row, _found(identity, size), shared, infiniband)


def _speed_ports(identity: Identity) -> Codes:
    """The port of every row of the LinkSpeed table: an RDMA device is the port that its host reports for it. -1 where
    no other data exists for the port.
    """
    names, ports = identity.names, identity.index.ports
    table = names.seen.table(LinkSpeed)
    device, name = names.devices_of(table), ports.names_in(table, "port")
    found = names.rdma_called(device, name)
    found = np.where(found >= 0, found, names.as_planned(ports.find(device, name)))
    if identity.discovery is None:
        return found
    rows, at = np.flatnonzero(np.isin(table.reading, discoveries(names.seen))), identity.discovery.at
    reported = (table.rows[row] for row in rows.tolist())
    found[rows] = [at.get((speed.of_guid or speed.of or "", speed.port), NONE) for speed in reported]
    return found


def _found(identity: Identity, size: int) -> Codes | None:
    """Whether each port has a link by the discovery. A host's adapter that it did not meet may be in another fabric; a
    switch that it met has no link where it reports none, unless it reports a link without its port.
    """
    if identity.discovery is None:
        return None
    index = identity.index
    found = np.full(size + 1, NONE, dtype=np.int64)
    planned = np.arange(index.planned_ports)
    device = index.ports.device_of(planned)
    switch = index.devices.tiers[device] > 0
    met = np.isin(device, identity.discovery.devices) & ~np.isin(device, list(identity.discovery.unnumbered))
    found[planned[switch & met]] = NO
    found[identity.discovery.ports] = YES
    return found


def _rows(size: int, port: Codes, row: Codes | None = None) -> Codes:
    """The row of each port, -1 without one; without given rows, rows are counted in order."""
    rows = np.full(size + 1, NONE, dtype=np.int64)
    rows[port] = np.arange(len(port)) if row is None else row
    rows[size] = NONE
    return rows


# ----------------------------------------------------------------------------------------------------------------------
# Why a cable without link carries nothing, and how to repair it: one text for the finding and for its cause.
#
# A switch that reports a reason narrows the repair down to one port. A cable at its planned place is never moved: it is
# reseated or replaced, or the module is.


_SAYS: Mapping[DownReason, str] = {
    "no module": "{port} has no module",
    "module not accepted": "{device} does not accept the module in {port}",
    "hardware failure": "{device} reports a hardware failure at {port}",
    "error-disabled": "{device} shut {port} after an error",
    "no light": "{port} receives no light",
}
"""Order of the reasons where the two ends report different ones: a missing part before a dark one."""
_DO: Mapping[DownReason, str] = {
    "no module": "Put a module into {port}, or reseat the one in it, and seat the cable of {other} there.",
    "module not accepted": "Replace the module in {port} by one that {device} supports at this speed.",
    "hardware failure": "Replace the module in {port}; if that does not help, have the port of {device} repaired.",
    "error-disabled": "Check the log of {device} for why it shut {port}, fix that, then switch the port off and on.",
}
_RESEAT = "Reseat the cable at {port} and at {other}; if it stays down, try another cable, then another transceiver."
_UNREAD = " First check with `ip link` on {device} whether the interface is switched off: it was not read."


def link_repair(wiring: "Wiring", cable: int) -> tuple[str, str]:
    """Why the planned cable has no link, as its ports report it (empty where none does), and the likely repair."""
    index, states = wiring.index, wiring.states
    a, b = index.a_port(cable), index.b_port(cable)
    codes = np.array([index.a[cable], index.b[cable]])
    given = dict(zip((a, b), states.down_reasons(codes), strict=True))
    for reason, summary in _SAYS.items():
        for port, other in ((a, b), (b, a)):
            if given[port] == reason:
                words = {"port": port, "other": other, "device": port.device}
                return summary.format(**words), _DO.get(reason, _RESEAT).format(**words)
    action = _RESEAT if not states.unread_below_rdma(codes[:1])[0] else _RESEAT + _UNREAD
    return "", action.format(port=a, other=b, device=a.device)

"""Which port a MAC belongs to, by the devices' own lists of interfaces."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

import numpy as np

from truerail.model.columns import NONE, PIECE, Codes, Mask, Objects, equals, grouped, looked_up
from truerail.model.facts import NetLink
from truerail.model.names import canonical_mac

if TYPE_CHECKING:
    from truerail.analysis.cabling.local import LocalNames

_DPU_MAC_OFFSET = 0x10
_ARM_MAC_OFFSETS = (_DPU_MAC_OFFSET, 0x25)
"""Offsets of the MAC of a BlueField's ARM above that of the host's port: tools use either (dsx-ai-factory
infra-controller, issues 4503 and 4804).
"""
_NO_MAC = "00:00:00:00:00:00"
_VIRTUAL = {"bridge", "veth", "vlan", "vxlan", "tun", "dummy", "ifb", "macvlan", "ipvlan"}


def shared_macs(names: "LocalNames") -> Mapping[str, tuple[int, ...]]:
    """MACs that planned ports of several devices list, and the codes of those ports."""
    return dict(sorted(names.macs.shared.items()))


class MacOwners(Protocol):
    """Who owns a MAC."""

    @property
    def by_mac(self) -> Mapping[str, int]:
        """The port that owns each MAC, -1 where several do."""

    def port_of(self, mac: str) -> int:
        """The port that owns this MAC; -1 if none does, or several do."""


class MacTable:
    """Ports and devices by MAC. A MAC on two devices has no owner."""

    def __init__(self, names: "LocalNames") -> None:
        links, planned = names.seen.table(NetLink), names.index.planned_ports
        mac, (kind, kinds), port = links.column("mac"), links.codes("kind"), names.link_ports
        virtual = np.array([*map(_VIRTUAL.__contains__, kinds), False], dtype=bool)[kind]
        virtual &= (port < 0) | (port >= planned)  # in a virtual fabric a planned NIC is a veth
        use = ~(equals(mac, None) | equals(mac, _NO_MAC) | virtual)
        macs, ports = mac[use].tolist(), port[use].tolist()
        self._devices = names.index.ports.device_of
        self._port: dict[str, int] = {}
        self._device: dict[str, int] = {}
        self.shared: dict[str, tuple[int, ...]] = {}
        """MACs that planned ports of several devices list, and those ports."""
        for start in range(0, len(macs), PIECE):  # in pieces, so that other threads get their turn
            self._port.update(zip(macs[start : start + PIECE], ports[start : start + PIECE], strict=True))
        if len(self._port) < len(macs):
            shared = {mac for mac, count in Counter(macs).items() if count > 1}
            members = set(names.members().tolist())
            rows = ((mac, port) for mac, port in zip(macs, ports, strict=True) if mac in shared)
            self._settle(rows, planned, members)

    def _settle(self, rows: Iterable[tuple[str, int]], planned: int, members: Collection[int]) -> None:
        """MACs of several interfaces: for a bond and its member the owner is the planned one, without a plan the only
        member; in all other cases there is no owner.
        """
        by_mac = grouped(rows)
        for mac, ports in by_mac.items():
            meant = [port for port in ports if port < planned]
            one_owner = len(set(self._devices(np.array(ports)).tolist())) == 1
            if len(set(self._devices(np.array(meant, dtype=np.int64)).tolist())) > 1:
                self.shared[mac] = tuple(sorted(set(meant)))
            meant = meant or [port for port in ports if port in members]
            self._port[mac] = meant[0] if one_owner and len(meant) == 1 else NONE
            if one_owner and len(meant) != 1:
                self._device[mac] = int(self._devices(np.array(ports[:1]))[0])

    def owners(self, macs: Objects) -> tuple[Codes, Codes]:
        """The port that owns each MAC, -1 where unknown, and the device: known also where several of its ports, such as
        the members of a bond, share the MAC. Shapes (n,).
        """
        port = looked_up(self._port, macs)
        device = self._devices(port)
        return port, np.where(device >= 0, device, looked_up(self._device, macs)) if self._device else device

    @property
    def by_mac(self) -> Mapping[str, int]:
        """The port that owns each MAC, -1 where several do."""
        return self._port

    def port_of(self, mac: str) -> int:
        """The port that owns this MAC; -1 if none does, or several do."""
        return self._port.get(mac, NONE)

    def devices(self, chassis: Objects) -> Codes:
        """The device that owns each chassis id, -1 where unknown."""
        return self._devices(looked_up(self._port, chassis))

    def ports(self, port_id: Objects, is_mac: Mask) -> Codes:
        """The port that owns each port id that is a MAC by its type, -1 where unknown or not a MAC."""
        found, rows = np.full(len(port_id), NONE, dtype=np.int64), np.flatnonzero(is_mac)
        found[rows] = looked_up(self._port, port_id[rows])
        return found

    def offset_ports(self, port_id: Objects, where: Mask) -> Codes:
        """The port whose MAC is 0x10 less, for selected rows: a DPU in NIC mode announces itself with this offset.

        Only a hint (nv-config-manager tolerates the same offset): the next host's MACs may be 0x10 away as well.
        """
        found = np.full(len(port_id), NONE, dtype=np.int64)
        for row in np.flatnonzero(where).tolist():
            mac = canonical_mac(port_id[row] or "")
            if mac is not None:
                found[row] = self._port.get(_below(mac, _DPU_MAC_OFFSET), NONE)
        return found

    def arm_ports(self, ids: Iterable[Objects], where: Mask, host: Codes) -> Codes:
        """For selected rows, sent by the ARM of a DPU: the port of the DPU's `host` whose MAC is a known offset less
        than one of the ids; -1 where there is none, or not exactly one, or where two rows hint at one port.
        """
        found = np.full(len(where), NONE, dtype=np.int64)
        columns = list(ids)
        for row in np.flatnonzero(where).tolist():
            macs = {mac for column in columns if (mac := canonical_mac(column[row] or ""))}
            lower = {_below(mac, less) for mac in macs if mac not in self._port for less in _ARM_MAC_OFFSETS}
            ports = np.array(sorted({self._port[mac] for mac in lower if mac in self._port}), dtype=np.int64)
            own = ports[self._devices(ports) == host[row]]
            found[row] = own[0] if len(own) == 1 else NONE
        port, count = np.unique(found, return_counts=True)
        return np.where(np.isin(found, port[count > 1]), NONE, found)


def _below(mac: str, less: int) -> str:
    """The MAC so many addresses below this canonical one."""
    return canonical_mac(f"{int(mac.replace(':', ''), 16) - less & 0xFFFFFFFFFFFF:012x}") or ""

"""Which port a MAC belongs to, by the devices' own lists of interfaces."""

import numpy as np

from truerail.model.facts import NetLink
from truerail.model.index import NONE
from truerail.model.local import LocalNames
from truerail.model.names import canonical_mac
from truerail.model.snapshot import Codes, Objects

_DPU_MAC_OFFSET = 0x10
_VIRTUAL = {"bridge", "veth", "vlan", "vxlan", "tun", "dummy", "ifb", "macvlan", "ipvlan"}


class MacTable:
    """Ports and devices by MAC. A MAC on two devices belongs to nobody."""

    def __init__(self, names: LocalNames) -> None:
        links = names.seen.table(NetLink)
        self._port: dict[str, int] = {}
        self._device: dict[str, int] = {}
        if not len(links):
            return
        index = names.index
        device = names.devices_of(links)
        ports = names.ports(device, index.ports.name_codes(links.column("netdev")))
        planned = index.planned_ports
        columns = (links.column("mac"), links.column("kind"), device.tolist(), ports.tolist())
        for mac, kind, owner, port in zip(*columns, strict=True):
            if mac is None or kind in _VIRTUAL or mac == "00:00:00:00:00:00":
                continue
            known = self._device.setdefault(mac, owner)
            if known != owner:
                self._device[mac] = self._port[mac] = NONE
                continue
            before = self._port.setdefault(mac, port)
            if before != port and before >= planned > port:
                self._port[mac] = port  # a bond and its member share a MAC: the planned one is meant
            elif before != port and before < planned and port < planned:
                self._port[mac] = NONE

    def devices(self, chassis: Objects) -> Codes:
        """The device that owns each chassis id, -1 where unknown."""
        get = self._device.get
        return np.array([get(c, NONE) for c in chassis], dtype=np.int64)

    def ports(self, port_id: Objects, kind: Objects) -> Codes:
        """The port that owns each port id of type `mac`, -1 where unknown or not a MAC."""
        get = self._port.get
        return np.array(
            [
                NONE if t != "mac" or p is None else get(p, NONE) if p in self._port else self._offset(p)
                for p, t in zip(port_id, kind, strict=True)
            ],
            dtype=np.int64,
        )

    def _offset(self, mac: str) -> int:
        """A DPU in NIC mode announces the MAC of its port plus 0x10 (nv-config-manager tolerates the same offset)."""
        if not self._port:
            return NONE
        canonical = canonical_mac(mac)
        if canonical is None:
            return NONE
        if canonical in self._port:
            return self._port[canonical]
        number = int(canonical.replace(":", ""), 16) - _DPU_MAC_OFFSET
        return self._port.get(canonical_mac(f"{number & 0xFFFFFFFFFFFF:012x}") or "", NONE)

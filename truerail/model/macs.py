"""Which port a MAC belongs to, by the devices' own lists of interfaces."""

from collections import Counter

import numpy as np

from truerail.model.facts import NetLink
from truerail.model.index import NONE, Mask, equals
from truerail.model.local import LocalNames
from truerail.model.names import canonical_mac
from truerail.model.snapshot import Codes, Objects

_DPU_MAC_OFFSET = 0x10
_NO_MAC = "00:00:00:00:00:00"
_VIRTUAL = {"bridge", "veth", "vlan", "vxlan", "tun", "dummy", "ifb", "macvlan", "ipvlan"}


class MacTable:
    """Ports and devices by MAC. A MAC on two devices belongs to nobody."""

    def __init__(self, names: LocalNames) -> None:
        links, planned = names.seen.table(NetLink), names.index.planned_ports
        mac, kind = links.column("mac"), links.column("kind")
        use = ~(equals(mac, None) | equals(mac, _NO_MAC) | np.array([k in _VIRTUAL for k in kind], dtype=bool))
        owners, ports = names.devices_of(links)[use].tolist(), names.link_ports()[use].tolist()
        macs = mac[use].tolist()
        self._device: dict[str, int] = dict(zip(macs, owners, strict=True))
        self._port: dict[str, int] = dict(zip(macs, ports, strict=True))
        if len(self._port) == len(macs):
            return
        shared = {mac for mac, count in Counter(macs).items() if count > 1}
        rows = [row for row in zip(macs, owners, ports, strict=True) if row[0] in shared]
        self._settle(rows, planned)

    def _settle(self, rows: list[tuple[str, int, int]], planned: int) -> None:
        """MACs that stand on several interfaces: a bond and its member mean the planned one; anything else nobody."""
        by_mac: dict[str, list[tuple[int, int]]] = {}
        for mac, owner, port in rows:
            by_mac.setdefault(mac, []).append((owner, port))
        for mac, places in by_mac.items():
            one_owner = len({owner for owner, _ in places}) == 1
            meant = [port for _, port in places if port < planned]
            self._device[mac] = places[0][0] if one_owner else NONE
            self._port[mac] = meant[0] if one_owner and len(meant) == 1 else NONE

    def devices(self, chassis: Objects) -> Codes:
        """The device that owns each chassis id, -1 where unknown."""
        get = self._device.get
        return np.array([get(c, NONE) for c in chassis], dtype=np.int64)

    def ports(self, port_id: Objects, kind: Objects) -> Codes:
        """The port that owns each port id of type `mac`, -1 where unknown or not a MAC."""
        get, is_mac = self._port.get, equals(kind, "mac")
        return np.array([get(p, NONE) if m else NONE for p, m in zip(port_id, is_mac, strict=True)], dtype=np.int64)

    def offset_ports(self, port_id: Objects, where: Mask) -> Codes:
        """The port whose MAC is 0x10 less, for chosen rows: so a DPU in NIC mode announces itself.

        Only a hint (nv-config-manager tolerates the same offset): the next host's MACs may be 0x10 away as well.
        """
        found = np.full(len(port_id), NONE, dtype=np.int64)
        for row in np.flatnonzero(where).tolist():
            mac = canonical_mac(port_id[row] or "")
            if mac is not None:
                number = int(mac.replace(":", ""), 16) - _DPU_MAC_OFFSET
                found[row] = self._port.get(canonical_mac(f"{number & 0xFFFFFFFFFFFF:012x}") or "", NONE)
        return found

"""A device's own names for itself and its ports, brought to the plan's.

A reading is filed under the name that its device announces. A plan may name a host's port by netdev, RDMA device, PCI
address, or `nicN`; what the host itself calls it is one of these, and its other answers say which belong together.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truerail.model.facts import NetLink, RdmaLink
from truerail.model.index import NONE, PlanIndex
from truerail.model.names import natural_key
from truerail.model.snapshot import Codes, Snapshot, Table

_ORDINAL_NIC = re.compile(r"^nic[-_ ]?(\d+)$", re.IGNORECASE)


@dataclass(frozen=True)
class LocalNames:
    """Who answers, and which of its ports it means. `announces`: device code to the code of the name it announces."""

    index: PlanIndex
    seen: Snapshot
    announces: Mapping[int, int] = field(default_factory=dict)

    def filed(self, name: str) -> int:
        """The code under which a reading's device is filed: that of the name it announces."""
        code = self.index.devices.find_or_add(name)
        return self.announces.get(code, code)

    def devices_of(self, table: Table[Any]) -> Codes:
        """The device code of every row of a table, under the name it announces."""
        codes = np.array([self.filed(name) for name in table.devices], dtype=np.int64)
        return codes[table.device] if len(codes) else np.empty(0, dtype=np.int64)

    def ports(self, device: Codes, names: Codes) -> Codes:
        """Port codes of a device's own names for its ports, brought to the plan's names where the plan uses others."""
        ports = self.index.ports.find_or_add(device, names)
        return self._aliases.get(len(self.index.ports), ports)

    @property
    def _aliases(self) -> "_Aliases":
        found: _Aliases | None = self.__dict__.get("_alias_table")
        if found is None:
            found = self.__dict__["_alias_table"] = _Aliases(self)
        return found


class _Aliases:
    """Netdev to planned port, for hosts whose planned ports are RDMA devices, PCI addresses or `nicN`."""

    def __init__(self, names: LocalNames) -> None:
        index = names.index
        pairs: list[tuple[Codes, Codes]] = []
        rdma = names.seen.table(RdmaLink)
        if len(rdma):
            device = names.devices_of(rdma)
            netdev = index.ports.name_codes(rdma.column("netdev"))
            netdev = np.where(netdev >= 0, netdev, index.ports.name_codes(rdma.column("device")))
            own = index.ports.find_or_add(device, netdev)
            for other in (rdma.column("device"), rdma.column("pci_address")):
                pairs += [(own, index.ports.find(device, index.ports.name_codes(other)))]
            pairs.append(_ordinals(index, device, own, rdma))
        links = names.seen.table(NetLink)
        if len(links):
            device = names.devices_of(links)
            own = index.ports.find_or_add(device, index.ports.name_codes(links.column("netdev")))
            pairs.append((own, index.ports.find(device, index.ports.name_codes(links.column("pci_address")))))
            rows = [(i, alias) for i, aliases in enumerate(links.column("aliases")) for alias in aliases]
            if rows:
                at = np.array([i for i, _ in rows], dtype=np.int64)
                pairs.append((own[at], index.ports.find(device[at], index.ports.name_codes(a for _, a in rows))))
        self._map = np.arange(len(index.ports), dtype=np.int64)
        for own, other in pairs:
            # a netdev that the plan knows under its own name needs no alias; ifAlias is free text and must not give one
            use = (other >= 0) & (other < index.planned_ports) & (own >= index.planned_ports)
            self._map[own[use]] = other[use]

    def get(self, size: int, ports: Codes) -> Codes:
        """The planned port for each port; the port itself where there is no alias."""
        if size > len(self._map):
            self._map = np.concatenate([self._map, np.arange(len(self._map), size, dtype=np.int64)])
        return np.where(ports >= 0, self._map[ports], NONE) if size else ports


def _ordinals(index: PlanIndex, device: Codes, own: Codes, rdma: Table[RdmaLink]) -> tuple[Codes, Codes]:
    """`nic3` in a plan is the fourth RDMA device of the host, in the order in which it lists those that the plan
    can mean.
    """
    wanted: dict[int, dict[int, int]] = {}
    for cable in np.flatnonzero(index.from_host):
        match = _ORDINAL_NIC.match(index.a_port(int(cable)).name)
        if match:
            wanted.setdefault(int(index.a_device[cable]), {})[int(match.group(1))] = int(index.a[cable])
    if not wanted:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    rows: dict[int, list[tuple[tuple[tuple[int, int, str], ...], int]]] = {}
    for row, (host, port) in enumerate(zip(device.tolist(), own.tolist(), strict=True)):
        if host in wanted:
            rows.setdefault(host, []).append((natural_key(rdma.rows[row].device), port))
    found: list[tuple[int, int]] = []
    for host, nics in rows.items():
        for ordinal, (_, port) in enumerate(sorted(nics)):
            if ordinal in wanted[host]:
                found.append((port, wanted[host][ordinal]))
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]

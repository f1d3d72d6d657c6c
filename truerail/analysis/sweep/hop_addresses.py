"""Whose addresses answer: from an address to a planned switch, and to its port where the address is that of a port.

Witnesses: the addresses that switches report of their interfaces, the management address of the plan and the
inventory, and those that neighbours announce over LLDP. An address of two devices (anycast) names neither. One that no
device has stays unknown: it is counted, and never guessed.
"""

from collections.abc import Iterator
from ipaddress import ip_address
from typing import TYPE_CHECKING

import numpy as np

from truerail.model.columns import NONE, Codes
from truerail.model.facts import Neighbor, NetAddress

if TYPE_CHECKING:
    from truerail.analysis.cabling.joined import Wiring


def canonical(address: str) -> str:
    """An IP address in its usual spelling; other text as it is."""
    try:
        return str(ip_address(address.partition("%")[0]))
    except ValueError:
        return address


class HopAddresses:
    """The planned devices and ports of addresses. It holds codes only."""

    def __init__(self, wiring: "Wiring") -> None:
        self._port: dict[str, int] = {}
        self._device: dict[str, int] = {}
        for address, device, port in (*_of_interfaces(wiring), *_announced(wiring)):
            known = self._device.setdefault(canonical(address), device)
            if known != device:
                self._device[canonical(address)] = NONE
            elif port >= 0:
                self._port.setdefault(canonical(address), port)

    def find(self, addresses: list[str | None]) -> tuple[Codes, Codes]:
        """Device and port codes of addresses, -1 where unknown. Shapes (n,)."""
        spelled = {one: canonical(one) for one in set(addresses) if one is not None}
        device = {one: self._device.get(name, NONE) for one, name in spelled.items()}
        port = {one: self._port.get(name, NONE) if device[one] >= 0 else NONE for one, name in spelled.items()}
        return (
            np.array([NONE if one is None else device[one] for one in addresses], dtype=np.int64),
            np.array([NONE if one is None else port[one] for one in addresses], dtype=np.int64),
        )


def _of_interfaces(wiring: "Wiring") -> Iterator[tuple[str, int, int]]:
    table = wiring.seen.table(NetAddress)
    index = wiring.index
    device = wiring.identity.devices_of(table)
    port = index.ports.find(device, index.ports.name_codes(table.column("netdev")))
    for fact, owner, at in zip(table.rows, device.tolist(), port.tolist(), strict=True):
        if 0 <= owner < index.devices.planned:
            yield fact.address, owner, at


def _announced(wiring: "Wiring") -> Iterator[tuple[str, int, int]]:
    devices = wiring.index.devices
    for code, device in enumerate(wiring.index.plan.devices.values()):
        if device.address:
            yield device.address, code, NONE
    sent = ((fact.system_name, fact.management_addresses) for fact in wiring.seen.table(Neighbor).rows)
    announced = {(name, address) for name, addresses in sent if name for address in addresses}
    for name, address in sorted(announced):
        code = devices.find(name)
        if 0 <= code < devices.planned:
            yield address, code, NONE

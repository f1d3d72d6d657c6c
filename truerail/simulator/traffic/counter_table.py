"""The counters of one device at one time, before they are printed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.quantities import Quantity
from truerail.simulator.traffic.ledger import PLACE, Key, Ledger
from truerail.simulator.traffic.net import Net

Columns = Mapping[str, Quantity | Key]
"""A platform's words for what it counts: over all priorities, or as a key; braces are RDMA's priority."""


@dataclass(frozen=True)
class CounterTable:
    """`ports` as the device names them, `rdma` their RDMA devices on a host, `values` by quantity and port."""

    ports: tuple[str, ...]
    rdma: tuple[str, ...]
    values: np.ndarray[tuple[int, ...], np.dtype[np.uint64]]
    priority: int

    def of(self, quantity: Quantity, *, rdma: bool = False) -> list[int]:
        """One quantity by port: over all priorities, or only RDMA's."""
        values: list[int] = self.values[PLACE[quantity, rdma]].tolist()
        return values

    def rows(self, columns: Columns) -> Iterator[tuple[str, dict[str, int]]]:
        """Each port, and what it counted by these words."""
        keys = [key if isinstance(key, tuple) else (key, False) for key in columns.values()]
        words = [word.format(self.priority) for word in columns]
        values = [self.of(quantity, rdma=rdma) for quantity, rdma in keys]
        return ((port, dict(zip(words, row, strict=True))) for port, *row in zip(self.ports, *values, strict=True))


def sheet_of(net: Net, ledger: Ledger, machine: str, ago_seconds: float, priority: int) -> CounterTable:
    """A machine's counters this many seconds ago, within the ledger's last step."""
    ports = net.span_of(machine)
    values = ledger.as_of(ago_seconds, ports).astype(np.uint64)
    world = net.world
    if not world.is_host(machine):
        return CounterTable(tuple(world.fabric.ports[machine]), (), values, priority)
    names = [world.nic_name(machine, slot) for slot in range(net.nic.shape[1])]
    return CounterTable(tuple(name.netdev for name in names), tuple(name.rdma for name in names), values, priority)

"""The counters of one device at one time, before they are printed."""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.quantities import Quantity
from truerail.simulator.traffic.ledger import PLACE, Ledger
from truerail.simulator.traffic.net import Net


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


def sheet_of(net: Net, ledger: Ledger, machine: str, ago_seconds: float, priority: int) -> CounterTable:
    """A machine's counters this many seconds ago, within the ledger's last step."""
    ports = net.span_of(machine)
    values = ledger.as_of(ago_seconds, ports).astype(np.uint64)
    world = net.world
    if not world.is_host(machine):
        return CounterTable(tuple(world.fabric.ports[machine]), (), values, priority)
    names = [world.nic_name(machine, slot) for slot in range(net.nic.shape[1])]
    return CounterTable(tuple(name.netdev for name in names), tuple(name.rdma for name in names), values, priority)

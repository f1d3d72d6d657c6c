"""Each port's counters since its manufacture: one row for each quantity, one column for each port."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from truerail.analysis.counters.quantities import Kind, Quantity, kind_of
from truerail.simulator.traffic.net import Net, Rates

Q = Quantity
Key = tuple[Quantity, bool]
"""A quantity, and whether it counts only RDMA's priority."""

KEYS: tuple[Key, ...] = (
    (Q.TX_BYTES, False), (Q.RX_BYTES, False), (Q.TX_PACKETS, False), (Q.RX_PACKETS, False),
    (Q.TX_BYTES, True), (Q.RX_BYTES, True), (Q.TX_PACKETS, True), (Q.RX_PACKETS, True),
    (Q.TX_PAUSE_FRAMES, True), (Q.RX_PAUSE_FRAMES, True), (Q.TX_PAUSE_US, True), (Q.RX_PAUSE_US, True),
    (Q.RX_PAUSE_TRANSITIONS, True), (Q.WATCHDOG_STORMS, True), (Q.NIC_STORM_WARNINGS, False),
    (Q.NIC_STORM_ERRORS, False), (Q.RX_DISCARDS, False), (Q.TX_DISCARDS, False), (Q.RX_DISCARDS, True),
    (Q.RX_ERRORS, False), (Q.LINK_DOWNS, False), (Q.SYMBOL_ERRORS, False), (Q.CORRECTED_BITS, False),
    (Q.RX_BITS, False), (Q.FEC_CORRECTED, False), (Q.FEC_UNCORRECTED, False), (Q.ECN_MARKED_PACKETS, True),
    (Q.ECN_RECEIVED_PACKETS, False), (Q.CNP_SENT, False), (Q.CNP_HANDLED, False), (Q.CNP_IGNORED, False),
    (Q.OUT_OF_BUFFER, False), (Q.OUT_OF_SEQUENCE, False), (Q.PACKET_SEQUENCE_ERRORS, False),
    (Q.ACK_TIMEOUTS, False), (Q.RNR_NAKS, False), (Q.PCI_STALLED_EVENTS, False),
    (Q.QUEUE_DROPS, True), (Q.QUEUE_WATERMARK_BYTES, True), (Q.FLOWS, False), (Q.FEC_SYMBOLS, False),
    (Q.TX_GLOBAL_PAUSE_FRAMES, False), (Q.RX_GLOBAL_PAUSE_FRAMES, False),
)  # fmt: skip
PLACE = {key: number for number, key in enumerate(KEYS)}


@dataclass
class Ledger:
    """`total` are the counts at `at` (seconds), `gained` the increments of the last step of `seconds`; shapes
    (quantities, ports). A gauge's total is its level.
    """

    total: Rates
    gained: Rates
    at: float = 0.0
    seconds: float = 1.0
    _gauges: tuple[int, ...] = field(default=tuple(PLACE[key] for key in KEYS if kind_of(key[0]) is Kind.GAUGE))

    def close(self, gained: Rates, seconds: float) -> None:
        """Adds a step."""
        self.total += gained
        self.total[self._gauges, :] = gained[self._gauges, :]
        self.gained, self.at, self.seconds = gained.copy(), self.at + seconds, seconds
        self.gained[self._gauges, :] = 0

    def as_of(self, ago: Rates | float, ports: slice = slice(None)) -> Rates:
        """The counts of these ports this many seconds ago, within the last step. Shape (quantities, ports)."""
        share = np.clip(ago / self.seconds, 0.0, 1.0)
        return np.asarray(np.floor(self.total[:, ports] - self.gained[:, ports] * share))


def new_ledger(ports: int, seed: int) -> Ledger:
    """Counters with a past: every port has carried traffic before, some have lost frames long ago."""
    rng = np.random.default_rng([seed, 0xC0])
    total = np.zeros((len(KEYS), ports))
    for key, row in PLACE.items():
        match kind_of(key[0]):
            case Kind.TRAFFIC:
                total[row] = np.floor(rng.uniform(1e9, 1e13, ports))
            case Kind.ERRORS:
                total[row] = rng.integers(0, 5, ports)
    return Ledger(total, np.zeros_like(total))


# ----------------------------------------------------------------------------------------------------------------------
# The counters of one device at one time, before they are printed.

Counts = Mapping[Quantity, int]
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

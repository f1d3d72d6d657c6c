"""Each port's counters since its manufacture: one row for each quantity, one column for each port."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Kind, Quantity, kind_of
from truerail.model import Counter
from truerail.model.columns import Codes
from truerail.simulator.traffic.flow_routes import Switching
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


# ----------------------------------------------------------------------------------------------------------------------
# The counters that collectors read of a port, under the names of each kind of device.

NIC_COUNTERS: tuple[tuple[str, Key], ...] = (
    ("rx_packets_phy", (Q.RX_PACKETS, False)),
    ("tx_packets_phy", (Q.TX_PACKETS, False)),
    ("rx_bytes_phy", (Q.RX_BYTES, False)),
    ("tx_bytes_phy", (Q.TX_BYTES, False)),
    ("rx_crc_errors_phy", (Q.RX_ERRORS, False)),
    ("rx_symbol_err_phy", (Q.SYMBOL_ERRORS, False)),
    ("rx_discards_phy", (Q.RX_DISCARDS, False)),
    ("tx_discards_phy", (Q.TX_DISCARDS, False)),
    ("link_down_events_phy", (Q.LINK_DOWNS, False)),
    ("rx_bits_phy", (Q.RX_BITS, False)),
    ("rx_corrected_bits_phy", (Q.CORRECTED_BITS, False)),
    ("tx_pause_storm_warning_events", (Q.NIC_STORM_WARNINGS, False)),
    ("tx_pause_storm_error_events", (Q.NIC_STORM_ERRORS, False)),
    ("outbound_pci_stalled_wr_events", (Q.PCI_STALLED_EVENTS, False)),
    ("rx_prio{}_bytes", (Q.RX_BYTES, True)),
    ("rx_prio{}_packets", (Q.RX_PACKETS, True)),
    ("rx_prio{}_discards", (Q.RX_DISCARDS, True)),
    ("tx_prio{}_bytes", (Q.TX_BYTES, True)),
    ("tx_prio{}_packets", (Q.TX_PACKETS, True)),
    ("rx_prio{}_pause", (Q.RX_PAUSE_FRAMES, True)),
    ("rx_prio{}_pause_duration", (Q.RX_PAUSE_US, True)),
    ("tx_prio{}_pause", (Q.TX_PAUSE_FRAMES, True)),
    ("tx_prio{}_pause_duration", (Q.TX_PAUSE_US, True)),
    ("rx_prio{}_pause_transition", (Q.RX_PAUSE_TRANSITIONS, True)),
)
"""mlx5's counters of a port in its own order (Linux counters.rst); braces are the priority."""
RDMA_COUNTERS: tuple[tuple[str, Key], ...] = (
    ("out_of_buffer", (Q.OUT_OF_BUFFER, False)),
    ("out_of_sequence", (Q.OUT_OF_SEQUENCE, False)),
    ("rnr_nak_retry_err", (Q.RNR_NAKS, False)),
    ("packet_seq_err", (Q.PACKET_SEQUENCE_ERRORS, False)),
    ("local_ack_timeout_err", (Q.ACK_TIMEOUTS, False)),
    ("rp_cnp_ignored", (Q.CNP_IGNORED, False)),
    ("rp_cnp_handled", (Q.CNP_HANDLED, False)),
    ("np_ecn_marked_roce_packets", (Q.ECN_RECEIVED_PACKETS, False)),
    ("np_cnp_sent", (Q.CNP_SENT, False)),
)
NARROW = frozenset((Q.OUT_OF_BUFFER, Q.OUT_OF_SEQUENCE, Q.RNR_NAKS, Q.PACKET_SEQUENCE_ERRORS, Q.ACK_TIMEOUTS))
"""mlx5's queue counters: 32 bits wide in the device."""
SWITCH_COUNTERS: dict[str, tuple[Key, ...]] = {
    "port_counters": (
        (Q.TX_BYTES, False), (Q.RX_BYTES, False), (Q.TX_PACKETS, False), (Q.RX_PACKETS, False), (Q.RX_ERRORS, False),
        (Q.TX_DISCARDS, False), (Q.RX_DISCARDS, False), (Q.LINK_DOWNS, False), (Q.FEC_SYMBOLS, False),
        (Q.FEC_CORRECTED, False), (Q.FEC_UNCORRECTED, False),
    ),
    "pfc_counters": (
        (Q.RX_PAUSE_FRAMES, True), (Q.TX_PAUSE_FRAMES, True), (Q.RX_PAUSE_US, True), (Q.TX_PAUSE_US, True),
        (Q.RX_PAUSE_TRANSITIONS, True), (Q.WATCHDOG_STORMS, True),
    ),
    "queue_counters": (
        (Q.TX_PACKETS, True), (Q.TX_BYTES, True), (Q.QUEUE_DROPS, True), (Q.ECN_MARKED_PACKETS, True),
        (Q.QUEUE_WATERMARK_BYTES, True),
    ),
}  # fmt: skip
_QUEUE_WORDS = {Q.TX_PACKETS: Q.QUEUE_PACKETS, Q.TX_BYTES: Q.QUEUE_BYTES}
_FRAMES = frozenset((Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_FRAMES))
_DURATIONS = frozenset((Q.RX_PAUSE_US, Q.TX_PAUSE_US, Q.RX_PAUSE_TRANSITIONS))


@dataclass(frozen=True, slots=True)
class Form:
    """A collector's counters of a port: names, rows of the ledger, and a mask for the width of each (counters, 1)."""

    counters: tuple[Counter, ...]
    rows: Codes
    mask: npt.NDArray[np.uint64]


PFC_MISSING, PFC_TOTALS, NOT_COUNTED = "pfc_missing", "pfc_total_only", "na_cells"
GLOBAL_PAUSE = "global_pause"
_GLOBAL = (
    (Counter("rx_global_pause"), (Q.RX_GLOBAL_PAUSE_FRAMES, False)),
    (Counter("tx_global_pause"), (Q.TX_GLOBAL_PAUSE_FRAMES, False)),
)
"""What mlx5 counts in place of the priorities' pauses where a link's global pause (IEEE 802.3x) is on."""
_NOT_COUNTED = frozenset(
    (Q.RX_PAUSE_US, Q.TX_PAUSE_US, Q.RX_PAUSE_TRANSITIONS, Q.QUEUE_DROPS, Q.RX_DISCARDS, Q.ECN_MARKED_PACKETS,
     Q.FEC_SYMBOLS, Q.FEC_CORRECTED, Q.FEC_UNCORRECTED)
)  # fmt: skip
"""Quantities that some ASICs do not count, and SONiC's tables show as `N/A`."""


def form_of(
    collector: str, switching: Switching, gaps: frozenset[str] = frozenset(), *, durations: bool, priorities: bool,
    flows: bool,
) -> Form:  # fmt: skip
    """The form of a collector; `durations`, `priorities` and `flows` as in `Polls`, `gaps` what the device lacks:
    pauses (`pfc_missing`), their priorities and times (`pfc_total_only`), what its ASIC does not count (`na_cells`).
    """
    named = _named(collector, switching, durations=durations, priorities=priorities, flows=flows)
    if not gaps.isdisjoint((PFC_MISSING, GLOBAL_PAUSE)):
        named = [(counter, key) for counter, key in named if "_pause" not in counter.counter]
    if GLOBAL_PAUSE in gaps and collector == "nic_counters":
        named += _GLOBAL
    if PFC_TOTALS in gaps and collector == "pfc_counters":
        named = [(Counter(counter.counter), key) for counter, key in named if key[0] in _FRAMES]
    if NOT_COUNTED in gaps:
        named = [(counter, key) for counter, key in named if key[0] not in _NOT_COUNTED]
    rows = np.array([PLACE[key] for _, key in named])
    mask = [(1 << 32) - 1 if collector == "rdma_counters" and key[0] in NARROW else (1 << 64) - 1 for _, key in named]
    return Form(tuple(counter for counter, _ in named), rows, np.array(mask, dtype=np.uint64)[:, None])


def _named(
    collector: str, switching: Switching, *, durations: bool, priorities: bool, flows: bool
) -> list[tuple[Counter, Key]]:
    priority = switching.priority
    if collector == "nic_counters":  # mlx5 counts pauses only if PFC is on
        reported = [(name, key) for name, key in NIC_COUNTERS if switching.lossless or "_pause" not in name]
        return [(Counter(name.format(priority), priority if key[1] else None), key) for name, key in reported]
    if collector == "rdma_counters":
        extra = [(Counter(Q.FLOWS.value), (Q.FLOWS, False))] if flows else []
        return [(Counter(name), key) for name, key in RDMA_COUNTERS] + extra
    keys = [key for key in SWITCH_COUNTERS[collector] if durations or key[0] not in _DURATIONS]
    keys = [key for key in keys if priorities or not (key[1] and key[0] in _QUEUE_WORDS)]
    return [(Counter(_word(collector, key[0]), priority if key[1] else None), key) for key in keys]


def _word(collector: str, quantity: Quantity) -> str:
    word = _QUEUE_WORDS.get(quantity, quantity) if collector == "queue_counters" else quantity
    return word.value

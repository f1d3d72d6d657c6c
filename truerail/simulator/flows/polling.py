"""How counters reach whoever asks: a little late, sometimes not at all, sometimes from a cache."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from truerail.model import Counter, PortCounters, Reading
from truerail.model.counters.quantities import Quantity
from truerail.model.index import Devices
from truerail.model.snapshot import Codes
from truerail.simulator.flows.ledger import PLACE, Key, Ledger, Q
from truerail.simulator.flows.net import Net, Rates
from truerail.simulator.flows.paths import Switching

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
"""mlx5's counters of a port in its own order (Linux counters.rst); braces stand for the priority."""
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
        (Q.TX_DISCARDS, False), (Q.RX_DISCARDS, False), (Q.LINK_DOWNS, False), (Q.SYMBOL_ERRORS, False),
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
_CACHE_SECONDS = 30.0
"""No answer from a cache is older: agents refresh theirs every 5 to 30 seconds."""
_QUEUE_WORDS = {Q.TX_PACKETS: Q.QUEUE_PACKETS, Q.TX_BYTES: Q.QUEUE_BYTES}
_DURATIONS = frozenset((Q.RX_PAUSE_US, Q.TX_PAUSE_US, Q.RX_PAUSE_TRANSITIONS))


@dataclass(frozen=True, slots=True)
class Polls:
    """How devices are polled and answer. Shares are of all polls of a device.

    A device is asked up to `jitter` times the step late; `lost` polls fail; `cached` ones give what the device knew
    at the poll before; a `reset` device has counted from zero since. Without `durations`, switches count pause frames
    only. `flows` lets hosts say how many queue pairs they use.
    """

    jitter: float = 0.2
    lost: float = 0.0
    cached: float = 0.0
    reset: float = 0.0
    durations: bool = True
    flows: bool = True


@dataclass
class Poller:
    """Reads a ledger as collectors do. `base` is what each port had counted when its device was last reset."""

    net: Net
    polls: Polls
    switching: Switching
    rng: np.random.Generator
    _base: Rates | None = None
    _kept: dict[str, tuple[Reading, ...]] = field(default_factory=dict)
    _forms: dict[tuple[str, bool], "_Form"] = field(default_factory=dict)

    def readings(self, ledger: Ledger, at: datetime) -> list[Reading]:
        """One round. `at` is the time of the ledger's end."""
        count = len(self.net.devices)
        ago = self.rng.random(count) * self.polls.jitter * ledger.seconds
        values = ledger.as_of(ago[self.net.device])
        values = self._since_reset(values, self.rng.random(count) < self.polls.reset)
        lost, cached = self.rng.random(count) < self.polls.lost, self.rng.random(count) < self.polls.cached
        whole = values.astype(np.uint64)
        found: list[Reading] = []
        for device, name, ports in self._answering():
            stamp = at.timestamp() - float(ago[device])
            kept = self._kept.get(name, ())
            if lost[device]:
                found += [Reading(name, of, at, error="no answer in time") for of in self._collectors(device)]
            elif cached[device] and kept and stamp - kept[0].read_at <= _CACHE_SECONDS:
                found += [replace(reading, at=at, read_at=stamp) for reading in kept]
            else:
                self._kept[name] = tuple(self._device(device, name, ports, whole, at, stamp))
                found += self._kept[name]
        return found

    def _since_reset(self, values: Rates, reset: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Rates:
        if self._base is None:
            self._base = np.zeros_like(values)
        ports = reset[self.net.device]
        self._base[:, ports] = values[:, ports]
        gauges = [PLACE[Q.QUEUE_WATERMARK_BYTES, True], PLACE[Q.FLOWS, False]]
        self._base[gauges] = 0
        return np.maximum(values - self._base, 0)

    def _answering(self) -> Iterator[tuple[int, str, slice]]:
        """Devices that can be read: number, the name that their readings are filed under, and their ports."""
        world = self.net.world
        known = Devices(world.fabric.plan)
        begin = np.searchsorted(self.net.device, np.arange(len(self.net.devices) + 1)).tolist()
        for number, device in enumerate(self.net.devices):
            if device not in world.absent:
                name = known.names[known.find(world.folder(device))]
                yield number, name, slice(begin[number], begin[number + 1])

    def _collectors(self, device: int) -> Sequence[str]:
        return ("nic_counters", "rdma_counters") if device < self.net.hosts else tuple(SWITCH_COUNTERS)

    def _device(
        self, device: int, name: str, ports: slice, values: np.ndarray[tuple[int, ...], np.dtype[np.uint64]],
        at: datetime, read_at: float,
    ) -> Iterator[Reading]:  # fmt: skip
        for collector in self._collectors(device):
            form = self._form(collector)
            columns = values[form.rows, ports] & form.mask[:, None]
            rows = map(tuple, columns.T.tolist())
            names = self._port_names(device, collector)
            facts = tuple(PortCounters(port, form.counters, row) for port, row in zip(names, rows, strict=True))
            yield Reading(name, collector, at, facts, read_at=float(read_at))

    def _port_names(self, device: int, collector: str) -> list[str]:
        world, machine = self.net.world, self.net.devices[device]
        if device >= self.net.hosts:
            return world.fabric.ports[machine]
        slots = range(self.net.nic.shape[1])
        if collector == "rdma_counters":
            return [f"{world.nic_name(machine, slot).rdma}/1" for slot in slots]
        return [world.nic_name(machine, slot).netdev for slot in slots]

    def _form(self, collector: str) -> "_Form":
        key = (collector, self.polls.durations)
        if key not in self._forms:
            self._forms[key] = _form(collector, self.polls, self.switching)
        return self._forms[key]


@dataclass(frozen=True, slots=True)
class _Form:
    """What a collector reads of a port: names, rows of the ledger, and a mask for the width of each."""

    counters: tuple[Counter, ...]
    rows: Codes
    mask: np.ndarray[tuple[int], np.dtype[np.uint64]]


def _form(collector: str, polls: Polls, switching: Switching) -> _Form:
    named = _named(collector, polls, switching)
    rows = np.array([PLACE[key] for _, key in named])
    mask = [(1 << 32) - 1 if collector == "rdma_counters" and key[0] in NARROW else (1 << 64) - 1 for _, key in named]
    return _Form(tuple(counter for counter, _ in named), rows, np.array(mask, dtype=np.uint64))


def _named(collector: str, polls: Polls, switching: Switching) -> list[tuple[Counter, Key]]:
    priority = switching.priority
    if collector == "nic_counters":  # mlx5 counts pauses only where PFC is on
        told = [(name, key) for name, key in NIC_COUNTERS if switching.lossless or "_pause" not in name]
        return [(Counter(name.format(priority), priority if key[1] else None), key) for name, key in told]
    if collector == "rdma_counters":
        extra = [(Counter(Q.FLOWS.value), (Q.FLOWS, False))] if polls.flows else []
        return [(Counter(name), key) for name, key in RDMA_COUNTERS] + extra
    keys = [key for key in SWITCH_COUNTERS[collector] if polls.durations or key[0] not in _DURATIONS]
    return [(Counter(_word(collector, key[0]), priority if key[1] else None), key) for key in keys]


def _word(collector: str, quantity: Quantity) -> str:
    word = _QUEUE_WORDS.get(quantity, quantity) if collector == "queue_counters" else quantity
    return word.value

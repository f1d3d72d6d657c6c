"""Quantities that counters count: one name for each, whatever a vendor calls it, and how its counter behaves.

Directions are those of the port that counts: `tx_pause_frames` are sent by it and pause the neighbour. Sources of the
names: Linux mlx5 counters.rst, bnxt_ethtool.c, ice_ethtool.c, ionic_stats.c; hw_counters of mlx5 (counters.c), bnxt_re
(hw_counters.c), irdma (verbs.c), EFA (efa_verbs.c); AMD's device-metrics-exporter for ionic's RDMA; IF-MIB (RFC 2863);
IEEE8021-PFC-MIB; SONiC's SAI statistics. Collectors that read tables use these names directly.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from truerail.model.facts import Counter


class Kind(StrEnum):
    """How a counter behaves when it goes backwards, and what is still known then."""

    TRAFFIC = "traffic"
    """Counts traffic: after a reset the interval is unknown."""
    ERRORS = "errors"
    """Counts faults: after a reset the value is a lower bound."""
    GAUGE = "gauge"
    """A level, never differenced."""


class Quantity(StrEnum):
    """A counted quantity. Times are in microseconds, sizes in bytes."""

    TX_BYTES = "tx_bytes"
    RX_BYTES = "rx_bytes"
    TX_PACKETS = "tx_packets"
    RX_PACKETS = "rx_packets"
    TX_PAUSE_FRAMES = "tx_pause_frames"
    RX_PAUSE_FRAMES = "rx_pause_frames"
    TX_PAUSE_US = "tx_pause_us"
    RX_PAUSE_US = "rx_pause_us"
    RX_PAUSE_TRANSITIONS = "rx_pause_transitions"
    TX_GLOBAL_PAUSE_FRAMES = "tx_global_pause_frames"
    RX_GLOBAL_PAUSE_FRAMES = "rx_global_pause_frames"
    WATCHDOG_STORMS = "watchdog_storms"
    WATCHDOG_DROPS = "watchdog_tx_drops"
    """What the watchdog drops of a queue while it holds a storm there: they grow in a storm alone."""
    NIC_STORM_WARNINGS = "nic_storm_warnings"
    NIC_STORM_ERRORS = "nic_storm_errors"
    RX_DISCARDS = "rx_discards"
    TX_DISCARDS = "tx_discards"
    RX_ERRORS = "rx_errors"
    TX_ERRORS = "tx_errors"
    LINK_DOWNS = "link_downs"
    CRC_ERRORS = "crc_errors"
    SYMBOL_ERRORS = "symbol_errors"
    """Symbols that FEC did not correct, or that arrived without FEC."""
    FEC_SYMBOLS = "fec_symbols"
    """Symbols that FEC corrected; on some platforms those that it did not correct (see docs/counters.md)."""
    CORRECTED_BITS = "corrected_bits"
    RX_BITS = "rx_bits"
    FEC_CORRECTED = "fec_corrected"
    FEC_UNCORRECTED = "fec_uncorrected"
    ECN_MARKED_PACKETS = "ecn_marked_packets"
    ECN_RECEIVED_PACKETS = "ecn_received_packets"
    CNP_SENT = "cnp_sent"
    CNP_HANDLED = "cnp_handled"
    CNP_IGNORED = "cnp_ignored"
    OUT_OF_BUFFER = "out_of_buffer"
    OUT_OF_SEQUENCE = "out_of_sequence"
    PACKET_SEQUENCE_ERRORS = "packet_sequence_errors"
    ACK_TIMEOUTS = "ack_timeouts"
    RNR_NAKS = "rnr_naks"
    RETRANSMITTED_PACKETS = "retransmitted_packets"
    """Some are normal where a transport spreads packets over paths (EFA's SRD)."""
    RETRIES_EXCEEDED = "retries_exceeded"
    """Connections that ended because every retry went unanswered."""
    PCI_STALLED_EVENTS = "pci_stalled_events"
    TRANSMIT_WAIT = "transmit_wait"
    QUEUE_PACKETS = "queue_packets"
    QUEUE_BYTES = "queue_bytes"
    QUEUE_DROPS = "queue_drops"
    QUEUE_WATERMARK_BYTES = "queue_watermark_bytes"
    FLOWS = "flows"
    """RC queue pairs in use (a gauge)."""


Q = Quantity
_TRAFFIC = {
    Q.TX_BYTES, Q.RX_BYTES, Q.TX_PACKETS, Q.RX_PACKETS, Q.TX_PAUSE_FRAMES, Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_US,
    Q.RX_PAUSE_US, Q.RX_PAUSE_TRANSITIONS, Q.TX_GLOBAL_PAUSE_FRAMES, Q.RX_GLOBAL_PAUSE_FRAMES, Q.RX_BITS,
    Q.ECN_MARKED_PACKETS, Q.ECN_RECEIVED_PACKETS, Q.CNP_SENT, Q.CNP_HANDLED, Q.TRANSMIT_WAIT, Q.QUEUE_PACKETS,
    Q.QUEUE_BYTES,
}  # fmt: skip
_GAUGES = {Q.QUEUE_WATERMARK_BYTES, Q.FLOWS}


def kind_of(quantity: Quantity) -> Kind:
    """How a quantity's counter behaves."""
    if quantity in _GAUGES:
        return Kind.GAUGE
    return Kind.TRAFFIC if quantity in _TRAFFIC else Kind.ERRORS


@dataclass(frozen=True, slots=True)
class Column:
    """One counter: its quantity, its priority if it is per priority, and its width in bits.

    A counter that counts in steps has a `scale`; one that counts each event several times has a `divisor`; one that
    stops at its maximum instead of wrapping has a `ceiling`, and its increments are unknown from there on.
    """

    quantity: Quantity
    priority: int | None = None
    bits: int = 64
    scale: int = 1
    divisor: int = 1
    ceiling: int | None = None


_EXACT: dict[str, Quantity] = {
    # Linux, any driver that counts what the wire carries (mlx5's rx_bytes leaves RDMA out, its *_phy do not)
    "rx_bytes_phy": Q.RX_BYTES, "tx_bytes_phy": Q.TX_BYTES,
    "rx_packets_phy": Q.RX_PACKETS, "tx_packets_phy": Q.TX_PACKETS,
    "rx_bytes.nic": Q.RX_BYTES, "tx_bytes.nic": Q.TX_BYTES,
    "rx_total_frames": Q.RX_PACKETS, "tx_total_frames": Q.TX_PACKETS,
    "rx_discards_phy": Q.RX_DISCARDS, "tx_discards_phy": Q.TX_DISCARDS,
    "rx_stat_discard": Q.RX_DISCARDS, "rx_dropped.nic": Q.RX_DISCARDS, "tx_errors_phy": Q.TX_ERRORS,
    "rx_crc_errors_phy": Q.CRC_ERRORS, "rx_crc_errors.nic": Q.CRC_ERRORS,
    "rx_symbol_err_phy": Q.SYMBOL_ERRORS, "rx_pcs_symbol_err_phy": Q.SYMBOL_ERRORS,
    "rx_corrected_bits_phy": Q.CORRECTED_BITS, "rx_bits_phy": Q.RX_BITS,
    "link_down_events_phy": Q.LINK_DOWNS, "link_down_events": Q.LINK_DOWNS,
    "rx_global_pause": Q.RX_GLOBAL_PAUSE_FRAMES, "tx_global_pause": Q.TX_GLOBAL_PAUSE_FRAMES,
    "tx_pause_storm_warning_events": Q.NIC_STORM_WARNINGS, "tx_pause_storm_error_events": Q.NIC_STORM_ERRORS,
    "continuous_roce_pause_events": Q.NIC_STORM_WARNINGS, "outbound_pci_stalled_wr_events": Q.PCI_STALLED_EVENTS,
    # RDMA: mlx5's queue counters are 32 bits wide in the device, the congestion counters 64
    "out_of_buffer": Q.OUT_OF_BUFFER, "out_of_sequence": Q.OUT_OF_SEQUENCE,
    "packet_seq_err": Q.PACKET_SEQUENCE_ERRORS, "local_ack_timeout_err": Q.ACK_TIMEOUTS,
    "rnr_nak_retry_err": Q.RNR_NAKS, "np_ecn_marked_roce_packets": Q.ECN_RECEIVED_PACKETS, "np_cnp_sent": Q.CNP_SENT,
    "rp_cnp_handled": Q.CNP_HANDLED, "rp_cnp_ignored": Q.CNP_IGNORED,
    "cc_rx_ce_pkts": Q.ECN_RECEIVED_PACKETS, "cc_rx_cnp_pkts": Q.CNP_HANDLED, "cc_tx_cnp_pkts": Q.CNP_SENT,
    # bnxt_re, irdma, EFA (rdma statistic)
    "rx_ecn_marked_pkts": Q.ECN_RECEIVED_PACKETS, "tx_cnp_pkts": Q.CNP_SENT,
    "rx_cnp_pkts": Q.CNP_HANDLED, "oos_drop_count": Q.OUT_OF_SEQUENCE,
    "seq_err_naks_rcvd": Q.PACKET_SEQUENCE_ERRORS, "to_retransmits": Q.ACK_TIMEOUTS,
    "rnr_naks_rcvd": Q.RNR_NAKS, "active_rc_qps": Q.FLOWS,
    "RxECNMrkd": Q.ECN_RECEIVED_PACKETS, "cnpSent": Q.CNP_SENT, "cnpHandled": Q.CNP_HANDLED,
    "cnpIgnored": Q.CNP_IGNORED, "rx_drops": Q.RX_DISCARDS, "tx_drops": Q.TX_DISCARDS,
    "rx_out_of_buffer": Q.OUT_OF_BUFFER, "rx_roce_discards": Q.RX_DISCARDS,
    "rx_roce_errors": Q.RX_ERRORS, "max_retry_exceeded": Q.RETRIES_EXCEEDED,
    "retrans_pkts": Q.RETRANSMITTED_PACKETS, "retrans_timeout_events": Q.ACK_TIMEOUTS,
    "tcpRetransSegs": Q.RETRANSMITTED_PACKETS,
    # ionic (AMD Pollara, Vulcano): ethtool's counts of the port; its rx_bytes are those of its own rings, without RDMA
    "octets_rx_ok": Q.RX_BYTES, "octets_tx_ok": Q.TX_BYTES, "frames_rx_ok": Q.RX_PACKETS, "frames_tx_ok": Q.TX_PACKETS,
    "frames_rx_bad_fcs": Q.CRC_ERRORS, "frames_rx_bad_all": Q.RX_ERRORS,
    "frames_tx_bad": Q.TX_ERRORS, "frames_rx_dropped": Q.RX_DISCARDS,
    "frames_rx_pripause": Q.RX_PAUSE_FRAMES, "frames_tx_pripause": Q.TX_PAUSE_FRAMES,
    "frames_rx_pause": Q.RX_GLOBAL_PAUSE_FRAMES, "frames_tx_pause": Q.TX_GLOBAL_PAUSE_FRAMES,
    # ionic's RDMA: the names come from its firmware, which spells some of them in two ways
    "tx_rdma_cnp_pkts": Q.CNP_SENT, "rx_rdma_cnp_pkts": Q.CNP_HANDLED,
    "rx_rdma_ecn_pkts": Q.ECN_RECEIVED_PACKETS, "req_rx_pkt_seq_err": Q.PACKET_SEQUENCE_ERRORS,
    "req_rx_rnr_retry_err": Q.RNR_NAKS, "req_tx_retry_excd_err": Q.RETRIES_EXCEEDED,
    "tx_rdma_ack_timeout": Q.ACK_TIMEOUTS, "resp_rx_outof_buf": Q.OUT_OF_BUFFER,
    "resp_rx_out_of_buf": Q.OUT_OF_BUFFER, "resp_rx_outouf_seq": Q.OUT_OF_SEQUENCE,
    "resp_rx_out_of_seq": Q.OUT_OF_SEQUENCE, "resp_tx_pkt_seq_err": Q.OUT_OF_SEQUENCE,
    # bnxt_en, ice, i40e, ixgbe, any driver (ethtool -S, ip -s link)
    "rx_fcs_err_frames": Q.CRC_ERRORS, "rx_pcs_symbol_err": Q.FEC_SYMBOLS,
    "rx_corrected_bits": Q.CORRECTED_BITS, "rx_fec_corrected_blocks": Q.FEC_CORRECTED,
    "rx_fec_uncorrectable_blocks": Q.FEC_UNCORRECTED, "rx_stat_err": Q.RX_ERRORS,
    "tx_stat_error": Q.TX_ERRORS, "tx_stat_discard": Q.TX_DISCARDS, "tx_errors.nic": Q.TX_ERRORS,
    "port.rx_bytes": Q.RX_BYTES, "port.tx_bytes": Q.TX_BYTES, "port.rx_dropped": Q.RX_DISCARDS,
    "port.rx_crc_errors": Q.CRC_ERRORS, "port.tx_errors": Q.TX_ERRORS,
    "link_xoff_rx.nic": Q.RX_GLOBAL_PAUSE_FRAMES, "link_xoff_tx.nic": Q.TX_GLOBAL_PAUSE_FRAMES,
    "port.link_xoff_rx": Q.RX_GLOBAL_PAUSE_FRAMES, "port.link_xoff_tx": Q.TX_GLOBAL_PAUSE_FRAMES,
    "rx_flow_control_xoff": Q.RX_GLOBAL_PAUSE_FRAMES, "tx_flow_control_xoff": Q.TX_GLOBAL_PAUSE_FRAMES,
    "carrier_down_count": Q.LINK_DOWNS, "stats64.rx.errors": Q.RX_ERRORS, "stats64.tx.errors": Q.TX_ERRORS,
    # IF-MIB and IEEE8021-PFC-MIB
    "ifHCInOctets": Q.RX_BYTES, "ifHCOutOctets": Q.TX_BYTES,
    "ifHCInUcastPkts": Q.RX_PACKETS, "ifHCOutUcastPkts": Q.TX_PACKETS,
    "ifInDiscards": Q.RX_DISCARDS, "ifOutDiscards": Q.TX_DISCARDS,
    "ifInErrors": Q.RX_ERRORS, "ifOutErrors": Q.TX_ERRORS,
    "ieee8021PfcRequests": Q.TX_PAUSE_FRAMES, "ieee8021PfcIndications": Q.RX_PAUSE_FRAMES,
    "cpfcIfPriorityRequests": Q.TX_PAUSE_FRAMES, "cpfcIfPriorityIndications": Q.RX_PAUSE_FRAMES,
}  # fmt: skip
_NARROW = frozenset((
    "out_of_buffer", "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "ifInDiscards",
    "ifOutDiscards", "ifInErrors", "ifOutErrors", "ieee8021PfcRequests", "ieee8021PfcIndications",
))  # fmt: skip
"""Those of them that have 32 bits; the others have 64."""
_INFINIBAND = {
    "port_xmit_wait": Column(Q.TRANSMIT_WAIT, ceiling=0xFFFFFFFF),
    "port_xmit_discards": Column(Q.TX_DISCARDS, ceiling=0xFFFF), "port_rcv_errors": Column(Q.RX_ERRORS, ceiling=0xFFFF),
    "symbol_error": Column(Q.SYMBOL_ERRORS, ceiling=0xFFFF), "link_downed": Column(Q.LINK_DOWNS, ceiling=0xFF),
    "port_xmit_data": Column(Q.TX_BYTES, scale=4), "port_rcv_data": Column(Q.RX_BYTES, scale=4),
    "port_xmit_packets": Column(Q.TX_PACKETS), "port_rcv_packets": Column(Q.RX_PACKETS),
}  # fmt: skip
"""InfiniBand's port counters in sysfs. They stop at all ones, in the widths of rdma-core's `libibmad/fields.c`. The
data counters count in units of four bytes, and have 64 bits there.
"""

_TRANSITIONS = {name: Column(Q.LINK_DOWNS, divisor=2) for name in (
    "link_status_changes", "carrier_transitions", "carrier_changes",
)}  # fmt: skip
"""Counters of link changes in both directions: down and up again are two. Of an odd number of changes half of one is
left out: the link is then in the other state than at the first. EOS `linkStatusChanges`, NVUE, Linux.
"""

_BOTH_WAYS = (
    (r"WAY_prio(\d)_pause", "pause_frames"),
    (r"WAY_prio(\d)_pause_duration", "pause_us"),
    (r"WAY_prio(\d)_bytes", "bytes"),
    (r"WAY_prio(\d)_packets", "packets"),
    (r"WAY_pfc_ena_frames_pri(\d)", "pause_frames"),
    (r"pfc_pri(\d)_WAY_duration_us", "pause_us"),
    (r"WAY_bytes_pri(\d)", "bytes"),
    (r"WAY_packets_pri(\d)", "packets"),
    (r"WAY_pause_prio_(\d)", "pause_frames"),
    (r"WAY_pause_duration_prio_(\d)", "pause_us"),
    (r"WAY_pripause_(\d)_1us_count", "pause_us"),
    (r"frames_WAY_pri_(\d)", "packets"),
    (r"WAY_priority_(\d)_xoff\.nic", "pause_frames"),
    (r"(?:port\.)?WAY_priority_(\d)_xoff", "pause_frames"),
)
"""Counters that exist of both directions, with `WAY` for `rx` and `tx`, and the quantity without its direction."""
_BY_PRIORITY: tuple[tuple[re.Pattern[str], Quantity], ...] = (
    (re.compile(r"rx_prio(\d)_pause_transition"), Q.RX_PAUSE_TRANSITIONS),
    (re.compile(r"rx_prio(\d)_(?:buf_)?discards?"), Q.RX_DISCARDS),
    (re.compile(r"pfc_pri(\d)_rx_transitions"), Q.RX_PAUSE_TRANSITIONS),
    (re.compile(r"rx_pause_transition_prio_(\d)"), Q.RX_PAUSE_TRANSITIONS),
    *(
        (re.compile(of.replace("WAY", way)), Quantity(f"{way}_{what}"))
        for of, what in _BOTH_WAYS
        for way in ("rx", "tx")
    ),
)
_SECOND_BEST = {name: Quantity(name) for name in ("rx_bytes", "tx_bytes", "rx_packets", "tx_packets")}
"""Used where no other name counts the wire itself. A switch's collectors use these names for the wire; for a host's
driver `_COUNTS_THE_WIRE` decides what they mean.
"""
DRIVERS = frozenset(("nic_counters", "rdma_counters"))
"""Collectors whose counters have the names of the host's driver."""
_COUNTS_THE_WIRE = frozenset(("rx_total_frames", "rx_pfc_frames", "rdma_read_bytes", "rdma_read_wrs", "recv_bytes"))
"""With one of these counters present, a driver's `rx_bytes` is all traffic of the port: bnxt_en's port block
(bnxt_ethtool.c), and EFA, whose port carries nothing but RDMA (efa_verbs.c). In most drivers it is the sum of their own
rings, without RDMA (mlx5, ionic), in bnxt_re RDMA alone.
"""
_PLAIN_PAUSE = {
    "rx_pause_frames": Column(Q.RX_GLOBAL_PAUSE_FRAMES), "tx_pause_frames": Column(Q.TX_GLOBAL_PAUSE_FRAMES),
}  # fmt: skip
"""Meaning of these names in bnxt_en, which counts PFC separately as `rx_pfc_frames`."""
_WORDS = {quantity.value: quantity for quantity in Quantity}


@lru_cache(maxsize=4096)
def columns_of(counters: tuple[Counter, ...], collector: str = "") -> tuple[Column | None, ...]:
    """Column of each of these counters; None where no rule uses it. Of two names for one quantity the first is used.

    `collector` read them: bytes and packets of an unknown driver are not taken as those of the wire.
    """
    plain = _SECOND_BEST if collector not in DRIVERS or _count_the_wire(counters) else {}
    own = _PLAIN_PAUSE if Counter("rx_pfc_frames") in counters else {}
    found = [own.get(counter.counter) or _column(counter) for counter in counters]
    taken = {(column.quantity, column.priority) for column in found if column}
    columns: list[Column | None] = []
    given: set[tuple[Quantity, int | None]] = set()
    for counter, column in zip(counters, found, strict=True):
        if column is None and counter.counter in plain:
            quantity = plain[counter.counter]
            if (quantity, counter.priority) not in taken:
                column = Column(quantity, counter.priority)
        if column is not None and (column.quantity, column.priority) in given:
            column = None
        if column is not None:
            given.add((column.quantity, column.priority))
        columns.append(column)
    return tuple(columns)


def _count_the_wire(counters: tuple[Counter, ...]) -> bool:
    """Whether a driver with these counters means the wire by `rx_bytes`; true if all names are those used here."""
    names = {counter.counter for counter in counters}
    return not names.isdisjoint(_COUNTS_THE_WIRE) or names <= _WORDS.keys()


def _column(counter: Counter) -> Column | None:
    name, priority = counter
    if name in _EXACT:
        return Column(_EXACT[name], priority, 32 if name in _NARROW else 64)
    if name in _INFINIBAND or name in _TRANSITIONS:
        return _INFINIBAND.get(name) or _TRANSITIONS[name]
    for pattern, quantity in _BY_PRIORITY:
        match = pattern.fullmatch(name)
        if match:
            return Column(quantity, int(match[1]))
    if name in _WORDS and name not in _SECOND_BEST:
        return Column(_WORDS[name], priority)
    return None

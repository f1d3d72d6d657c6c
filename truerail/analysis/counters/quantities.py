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


_NAMES = {
    Q.TX_BYTES: "tx_bytes_phy tx_bytes.nic octets_tx_ok port.tx_bytes ifHCOutOctets",
    Q.RX_BYTES: "rx_bytes_phy rx_bytes.nic octets_rx_ok port.rx_bytes ifHCInOctets",
    Q.TX_PACKETS: "tx_packets_phy tx_total_frames frames_tx_ok ifHCOutUcastPkts",
    Q.RX_PACKETS: "rx_packets_phy rx_total_frames frames_rx_ok ifHCInUcastPkts",
    Q.TX_PAUSE_FRAMES: "frames_tx_pripause ieee8021PfcRequests cpfcIfPriorityRequests",
    Q.RX_PAUSE_FRAMES: "frames_rx_pripause ieee8021PfcIndications cpfcIfPriorityIndications",
    Q.TX_GLOBAL_PAUSE_FRAMES: "tx_global_pause frames_tx_pause link_xoff_tx.nic port.link_xoff_tx tx_flow_control_xoff",
    Q.RX_GLOBAL_PAUSE_FRAMES: "rx_global_pause frames_rx_pause link_xoff_rx.nic port.link_xoff_rx rx_flow_control_xoff",
    Q.NIC_STORM_WARNINGS: "tx_pause_storm_warning_events continuous_roce_pause_events",
    Q.NIC_STORM_ERRORS: "tx_pause_storm_error_events",
    Q.RX_DISCARDS: (
        "rx_discards_phy rx_stat_discard rx_dropped.nic rx_drops rx_roce_discards frames_rx_dropped "
        "port.rx_dropped ifInDiscards"
    ),
    Q.TX_DISCARDS: "tx_discards_phy tx_drops tx_stat_discard ifOutDiscards",
    Q.RX_ERRORS: "rx_roce_errors frames_rx_bad_all rx_stat_err stats64.rx.errors ifInErrors",
    Q.TX_ERRORS: "tx_errors_phy frames_tx_bad tx_stat_error tx_errors.nic port.tx_errors stats64.tx.errors ifOutErrors",
    Q.LINK_DOWNS: "link_down_events_phy link_down_events carrier_down_count",
    Q.CRC_ERRORS: "rx_crc_errors_phy rx_crc_errors.nic frames_rx_bad_fcs rx_fcs_err_frames port.rx_crc_errors",
    Q.SYMBOL_ERRORS: "rx_symbol_err_phy rx_pcs_symbol_err_phy",
    Q.FEC_SYMBOLS: "rx_pcs_symbol_err",
    Q.CORRECTED_BITS: "rx_corrected_bits_phy rx_corrected_bits",
    Q.RX_BITS: "rx_bits_phy",
    Q.FEC_CORRECTED: "rx_fec_corrected_blocks",
    Q.FEC_UNCORRECTED: "rx_fec_uncorrectable_blocks",
    Q.ECN_RECEIVED_PACKETS: "np_ecn_marked_roce_packets cc_rx_ce_pkts rx_ecn_marked_pkts RxECNMrkd rx_rdma_ecn_pkts",
    Q.CNP_SENT: "np_cnp_sent cc_tx_cnp_pkts tx_cnp_pkts cnpSent tx_rdma_cnp_pkts",
    Q.CNP_HANDLED: "rp_cnp_handled cc_rx_cnp_pkts rx_cnp_pkts cnpHandled rx_rdma_cnp_pkts",
    Q.CNP_IGNORED: "rp_cnp_ignored cnpIgnored",
    Q.OUT_OF_BUFFER: "out_of_buffer rx_out_of_buffer resp_rx_outof_buf resp_rx_out_of_buf",
    Q.OUT_OF_SEQUENCE: "out_of_sequence oos_drop_count resp_rx_outouf_seq resp_rx_out_of_seq resp_tx_pkt_seq_err",
    Q.PACKET_SEQUENCE_ERRORS: "packet_seq_err seq_err_naks_rcvd req_rx_pkt_seq_err",
    Q.ACK_TIMEOUTS: "local_ack_timeout_err to_retransmits retrans_timeout_events tx_rdma_ack_timeout",
    Q.RNR_NAKS: "rnr_nak_retry_err rnr_naks_rcvd req_rx_rnr_retry_err",
    Q.RETRANSMITTED_PACKETS: "retrans_pkts tcpRetransSegs",
    Q.RETRIES_EXCEEDED: "max_retry_exceeded req_tx_retry_excd_err",
    Q.PCI_STALLED_EVENTS: "outbound_pci_stalled_wr_events",
    Q.FLOWS: "active_rc_qps",
}
"""Other names of quantities, which blanks separate: as drivers, their RDMA counters and MIBs have them. Those of bytes
and packets count what the wire carries: `rx_bytes` of mlx5 and ionic leaves RDMA out. The firmware of ionic spells some
names in two ways.
"""
_EXACT = {name: quantity for quantity, names in _NAMES.items() for name in names.split()}
_NARROW = frozenset((
    "out_of_buffer", "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "rnr_nak_retry_err", "ifInDiscards",
    "ifOutDiscards", "ifInErrors", "ifOutErrors", "ieee8021PfcRequests", "ieee8021PfcIndications",
))  # fmt: skip
"""Those of them that have 32 bits, in mlx5's device or in IF-MIB; the others have 64."""
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
    return Column(_WORDS[name], priority) if name in _WORDS and name not in _SECOND_BEST else None

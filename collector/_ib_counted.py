"""InfiniBand's port counters under the names that sysfs gives them, whichever tool prints them.

Sources: rdma-core `libibmad/fields.c` and its older names, the kernel's `drivers/infiniband/core/sysfs.c`; recorded
files of ibdiagnet.
"""

from collector._tally import Tally, own
from truerail.model import Counter

_MOST_32 = 0xFFFFFFFF
_SYSFS = {
    "SymbolErrorCounter": "symbol_error", "SymbolErrors": "symbol_error",
    "LinkErrorRecoveryCounter": "link_error_recovery", "LinkRecovers": "link_error_recovery",
    "LinkDownedCounter": "link_downed", "LinkDowned": "link_downed",
    "PortRcvErrors": "port_rcv_errors", "RcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "RcvRemotePhysErrors": "port_rcv_remote_physical_errors",
    "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors", "RcvSwRelayErrors": "port_rcv_switch_relay_errors",
    "PortXmitDiscards": "port_xmit_discards", "XmtDiscards": "port_xmit_discards",
    "PortXmitConstraintErrors": "port_xmit_constraint_errors", "XmtConstraintErrors": "port_xmit_constraint_errors",
    "PortRcvConstraintErrors": "port_rcv_constraint_errors", "RcvConstraintErrors": "port_rcv_constraint_errors",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors", "LinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors",
    "ExcBufOverrunErrors": "excessive_buffer_overrun_errors",
    "VL15Dropped": "VL15_dropped",
    "PortXmitWait": "port_xmit_wait", "XmtWait": "port_xmit_wait",
    "PortXmitData": "port_xmit_data", "XmtData": "port_xmit_data", "XmtBytes": "port_xmit_data",
    "PortRcvData": "port_rcv_data", "RcvData": "port_rcv_data", "RcvBytes": "port_rcv_data",
    "PortXmitPkts": "port_xmit_packets", "XmtPkts": "port_xmit_packets",
    "PortRcvPkts": "port_rcv_packets", "RcvPkts": "port_rcv_packets",
    "PortUnicastXmitPkts": "unicast_xmit_packets", "PortUnicastRcvPkts": "unicast_rcv_packets",
    "PortMulticastXmitPkts": "multicast_xmit_packets", "PortMulticastRcvPkts": "multicast_rcv_packets",
}  # fmt: skip
_COUNTERS = {word: Counter(name) for word, name in _SYSFS.items()}
TRAFFIC = frozenset(
    word
    for word, name in _SYSFS.items()
    if name.endswith(("_data", "_packets")) or name.startswith(("unicast", "multi"))
)
"""Counters that the extended attribute always has in 64 bits."""


def take(tally: Tally, port: str, word: str, value: int | None, *, wide: bool) -> None:
    """Adds a counter; None means no value. A 32-bit traffic counter (not `wide`) sticks at its maximum: it then counts
    as not reported."""
    if wide or word not in TRAFFIC or value != _MOST_32:
        tally.note(port, _COUNTERS.get(word) or own(word), value)


_OF_IBDIAGNET = {
    "symbol_error_counter": "symbol_error", "link_error_recovery_counter": "link_error_recovery",
    "link_down_counter": "link_downed", "link_downed_counter": "link_downed",
    "port_xmit_discard": "port_xmit_discards", "vl15_dropped": "VL15_dropped",
    "excessive_buffer_errors": "excessive_buffer_overrun_errors",
    "port_xmit_pkts": "port_xmit_packets", "port_rcv_pkts": "port_rcv_packets",
    "port_unicast_xmit_pkts": "unicast_xmit_packets", "port_unicast_rcv_pkts": "unicast_rcv_packets",
    "port_multicast_xmit_pkts": "multicast_xmit_packets", "port_multicast_rcv_pkts": "multicast_rcv_packets",
}  # fmt: skip
_EXTENDED = "_extended"
_OF_TRAFFIC = frozenset(_SYSFS[word] for word in TRAFFIC)
_NO_VALUE = (1 << 64) - 2
"""The two highest values of 64 bits are no counts."""


def take_dumped(tally: Tally, port: str, word: str, value: int) -> None:
    """Adds a counter of `ibdiagnet2.pm`; its 64-bit form, which follows, takes the place of the narrow one."""
    stem = word.removesuffix(_EXTENDED)
    name = _OF_IBDIAGNET.get(stem, stem)
    sticks = stem == word and name in _OF_TRAFFIC and value == _MOST_32
    tally.note(port, Counter(name), None if sticks or value >= _NO_VALUE else value)

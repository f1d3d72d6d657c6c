"""Counters of ports anywhere in an InfiniBand fabric, queried from one device: `perfquery`, `ibqueryerrors`.

Question: which link of the fabric has errors, drops packets, or cannot send? For a host's own ports sysfs has more.
Needs: rdma-core's `perfquery` or `ibqueryerrors`, or NVIDIA's `ibdiagnet`; root, since they send management packets.
Not run on live devices; read from captures.

Formats: `perfquery` with and without `-x`, and its details of errors (`--rcverr`, `--xmtdisc`), several one below the
other; `ibqueryerrors`, also with `--data` and `--details`; ibdiagnet's file `ibdiagnet2.pm`. Sources: rdma-core
`infiniband-diags/perfquery.c` and `ibqueryerrors.c`, recorded answers.

A port is named by `LID 134/1`, LID and port, or by `0x0002c903006e29b0/5`, GUID and port. Counters have the names of
sysfs.

Traps:

- Without `-x` counters have 8, 16 or 32 bits and stick at all ones: traffic at its maximum is skipped; the rules know
  the maximum of error counters.
- With `-x` a device whose CapMask2 lacks 0x2 has no error counters; perfquery prints zeros for them: skipped.
- Port 255 and `port ALL` are sums over a switch's ports: skipped. Port 0 is the switch's own management port.
- `ibdiagnet2.pm`: the node's GUID is behind `N`, `GUID=` is the port's; wide counters (`_extended`) follow narrow ones.
- `ibqueryerrors` shows counters above its thresholds; a missing counter may have any value below.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from collector.formats.counts import Tally, count, may_be_cut, own
from collector.formats.ib_words import guid_text
from collector.formats.ibdiagnet import refuse_unclosed
from collector.formats.text import PASTED, lines
from truerail.errors import UnreadableError
from truerail.model import EVERYWHERE, Counter, Device, PortCounters, collector, minutes, saved_as

_BLOCK = re.compile(r"((?:\w+ )*counters): .*?\bLid (\d+)\b.*? (?:port (\d+)|all ports)\b(.*)")
_SETTINGS = re.compile(r"(?:\w+ )+info: .*")
"""The line above what `smpquery` and `ibportstate` report of a port or node: settings, no counters."""
_EXTENDED = "Port extended counters"
_CAP_MASK2 = re.compile(r"CapMask2: 0x([0-9a-fA-F]+)")
_HAS_ERRORS = 0x2
"""IsAdditionalPortCountersExtendedSupported, bit 1 of the PerfMgt CapabilityMask2 (InfiniBand 1.3, 16.1.3)."""
_VALUE = re.compile(r"([A-Za-z]\w*):\.+(\S*)(?:\s*|\s+#.*|\s{2,}.*)")
"""A counter, and an author's note behind it."""
_NO_COUNTERS = frozenset(("PortSelect", "CounterSelect", "CounterSelect2"))
_ALL = "255"
_ERRORS = re.compile(r"GUID 0x([0-9a-fA-F]{1,16}) port (\w+):(.*)")
_DUMPED = re.compile(r"Port=(\d{1,3}) Lid=0x[0-9a-fA-F]+ GUID=0x([0-9a-fA-F]{1,16})\b(?:.*/N([0-9a-fA-F]{1,16})/P\d+)?")
_DUMPED_VALUE = re.compile(r"([a-z][a-z0-9_]*)=0x([0-9a-fA-F]{1,16})")
_ERROR = re.compile(r" *\[(\w+) == (\d+)( \([^()]*\))?\]")


ASK = (
    *saved_as("perfquery -x", "perfquery", "perfquery -x -a", "perfquery -a", "ibqueryerrors"),
    *saved_as("ibqueryerrors --data", "ibqueryerrors --details", "perfquery -C {port}", "ibdiagnet2.pm"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(1), yields=[PortCounters], megabytes=16, optional=True)
def ib_counters(answer: str, device: Device) -> list[PortCounters]:
    """One `PortCounters` for each reported port, without sums. Raises `UnreadableError`, also if there is none."""
    tally = Tally()
    for recognised, read in _FORMS:
        if recognised(answer):
            read(tally, answer)
            return tally.some()
    raise UnreadableError("not counters of an InfiniBand fabric", line=1, text=lines(answer)[0])


class _Block(NamedTuple):
    """The line above a port's counters."""

    port: str
    """Empty for sums."""
    wide: bool
    errors: bool

    def tells(self, word: str) -> bool:
        """Whether a line below it is a counter of a port."""
        return bool(self.port) and word not in _NO_COUNTERS and (self.errors or word in TRAFFIC)


def _block(found: re.Match[str]) -> _Block:
    wide, mask = found[1] == _EXTENDED, _CAP_MASK2.search(found[4])
    port = "" if found[3] in (None, _ALL) else f"LID {found[2]}/{found[3]}"
    return _Block(port, wide, errors=not wide or mask is None or bool(int(mask[1], 16) & _HAS_ERRORS))


def _from_perfquery(tally: Tally, answer: str) -> None:
    """A last value without anything after it may have lost digits: it is skipped."""
    text = lines(answer)
    block: _Block | None = None
    for number, line in enumerate(text, 1):
        stripped = line.strip(PASTED)
        if heading := _BLOCK.fullmatch(stripped):
            block = _block(heading)
        elif _SETTINGS.fullmatch(stripped):
            block = _Block("", wide=False, errors=False)
        elif value := _VALUE.fullmatch(stripped):
            if block is None:
                raise UnreadableError("a counter of no port: its beginning is missing", line=number, text=line)
            if block.tells(value[1]) and not (number == len(text) and may_be_cut(answer, value[2])):
                take(tally, block.port, value[1], count(value[2], line=number), wide=block.wide)


def _from_ibqueryerrors(tally: Tally, answer: str) -> None:
    for number, line in enumerate(lines(answer), 1):
        stripped = line.strip(PASTED)
        if not stripped.startswith("GUID "):
            continue
        found = _ERRORS.fullmatch(stripped)
        rest = _ERROR.sub("", found[3]).strip() if found else ""
        if found is None or rest:
            raise UnreadableError("not a port's errors, or cut short", line=number, text=line)
        if found[2].isdecimal():
            for word, value, rounded in _ERROR.findall(found[3]):
                take(tally, f"{guid_text(found[1])}/{found[2]}", word, count(value, line=number), wide=bool(rounded))


def _from_ibdiagnet(tally: Tally, answer: str) -> None:
    """A last value without anything after it may have lost digits: it is skipped."""
    refuse_unclosed(answer)
    text, port = lines(answer), ""
    for number, line in enumerate(text, 1):
        stripped = line.strip()
        if heading := _DUMPED.match(stripped):
            port = f"{guid_text(heading[3] or heading[2])}/{heading[1]}"
        elif port and (value := _DUMPED_VALUE.fullmatch(stripped)) and number < len(text):
            take_dumped(tally, port, value[1], int(value[2], 16))


_FORMS: tuple[tuple[Callable[[str], object], Callable[[Tally, str], None]], ...] = (
    (re.compile(r"^[#> \t]*GUID 0x[0-9a-fA-F]+ port ", re.MULTILINE).search, _from_ibqueryerrors),
    (re.compile(r"^[#> \t]*[A-Za-z]\w*:\.\.", re.MULTILINE).search, _from_perfquery),
    (re.compile(r"^[ \t]*Port=\d+ Lid=0x", re.MULTILINE).search, _from_ibdiagnet),
)
"""Test and parser of each form."""


# ----------------------------------------------------------------------------------------------------------------------
# InfiniBand's port counters under the names that sysfs gives them, whichever tool prints them.
#
# Sources: rdma-core `libibmad/fields.c` and its older names, the kernel's `drivers/infiniband/core/sysfs.c`; recorded
# files of ibdiagnet.

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
_TALLY_EXTENDED = "_extended"
_OF_TRAFFIC = frozenset(_SYSFS[word] for word in TRAFFIC)
_NO_VALUE = (1 << 64) - 2
"""The two highest values of 64 bits are no counts."""


def take_dumped(tally: Tally, port: str, word: str, value: int) -> None:
    """Adds a counter of `ibdiagnet2.pm`; its 64-bit form, which follows, takes the place of the narrow one."""
    stem = word.removesuffix(_TALLY_EXTENDED)
    name = _OF_IBDIAGNET.get(stem, stem)
    sticks = stem == word and name in _OF_TRAFFIC and value == _MOST_32
    tally.note(port, Counter(name), None if sticks or value >= _NO_VALUE else value)

"""Cisco NX-OS: pause frames and queues."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from collector.formats.counts import Tally, count, priority, summed
from collector.formats.documents import rows_of
from collector.formats.text import lines, object_of
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters, PortQos

# ----------------------------------------------------------------------------------------------------------------------
# NX-OS' pause frames and PFC settings: `show interface priority-flow-control [detail]`, text and JSON.
#
# Without `detail` the frames are those of all priorities together. `(8)` after the state is the bitmap of priorities in
# hex: priority 3. UCS fabric interconnects name ports `Br-Ethernet1/17/1`. Rows `ii1/1/1` are links inside the device.

_HEADER = re.compile(r"[ \t]*Port[ \t]+Mode[ \t]+Oper")
_PFC_ROW = re.compile(
    r"[ \t]*(?P<port>\S+)[ \t]+(?:Auto|On|Off)[ \t]+(?P<oper>On|Off)[ \t]*(?:\((?P<bitmap>[0-9a-fA-F,]+)\))?"
    r"[ \t]+(?P<rx>[0-9,]{1,26})[ \t]+(?P<tx>[0-9,]{1,26})[ \t]*"
)
_RULER = re.compile(r"[ \t]*[=-]{3,}[ \t]*|slot[ \t]+\d{1,3}[ \t]*")
"""A ruler, or the title of a line card's table: a modular switch prints one for each."""
_PROMPT = re.compile(r"[^\s|]{1,80}[#>][ \t]*(?:show .*)?|[^:]{0,200}:[ \t]*.*")
_OPER = re.compile(r"\s*(on|off)\s*(?:\(([0-9a-f]+)\))?\s*", re.IGNORECASE)
_PFC_PORT = re.compile(r"[ \t]*([A-Za-z-]+[0-9][\w/.-]*):?[ \t]*")
_BITMAP = re.compile(r"[ \t]*VL bitmap:[ \t]*\(([0-9a-fA-F]+)\)[ \t]*")
_STATE = re.compile(r"[ \t]*Oper Mode:[ \t]*(On|Off)\b.*", re.IGNORECASE)
_FRAMES = re.compile(r"[ \t]*(Rx|Tx)[ \t]*\|((?:[ \t]*[0-9,]{1,26}[ \t]*\|){7}[ \t]*[0-9,]{1,26})[ \t]*\|?[ \t]*")
_INSIDE = re.compile(r"ii[0-9]", re.IGNORECASE)
_RX, _TX = Counter("rx_pause_frames"), Counter("tx_pause_frames")


class Port(NamedTuple):
    """A row: the port, the priorities that are paused (None: not reported), frames received and sent."""

    name: str
    priorities: tuple[int, ...] | None
    rx: int | None
    tx: int | None


def counters(answer: Any) -> list[PortCounters] | None:
    """The frames of the ports in a document or a text."""
    if (ports := _ports(answer)) is None:
        return None
    tally = Tally()
    for port in ports:
        tally.note(port.name, _RX, port.rx)
        tally.note(port.name, _TX, port.tx)
    return tally.facts()


def settings(answer: Any) -> list[PortQos] | None:
    """The priorities that are paused on the ports in a document or a text."""
    if (ports := _ports(answer)) is None:
        return None
    return [PortQos(port.name, pfc_priorities=port.priorities) for port in ports if port.priorities is not None]


def _ports(answer: Any) -> list[Port] | None:
    """The ports in a text, or in a document: an object for one row, a list for several."""
    if isinstance(answer, str):
        return _ports_in_text(answer)
    if "TABLE_module" not in object_of(answer) or "TABLE_pfc_interface" not in str(answer):
        return None
    return [
        Port(
            str(row["if_name_str"]), _of_words(row.get("oper")), count(row.get("rx-stats")), count(row.get("tx-stats"))
        )
        for module in rows_of(answer, "module")
        for row in rows_of(module, "pfc_interface")
        if not _INSIDE.match(str(row["if_name_str"]))
    ]


def _of_words(oper: Any) -> tuple[int, ...] | None:
    """The priorities in `On  (8)` or `Off`."""
    found = _OPER.fullmatch(str(oper))
    return _paused(found[1], found[2]) if found else None


def _paused(state: str, bitmap: str | None) -> tuple[int, ...] | None:
    if state.lower() == "off":
        return ()
    return tuple(n for n in range(8) if int(bitmap, 16) >> n & 1) if bitmap else None


def _ports_in_text(answer: str) -> list[Port] | None:
    """The ports in the tables, of two rows for one port the later. Raises `UnreadableError` if a row is cut."""
    if not any(map(_HEADER.match, answer.split("\n"))):
        return None
    text = lines(answer)
    begin = min(at for at, line in enumerate(text) if _HEADER.match(line)) + 1
    found: dict[str, Port] = {}
    for at, line in enumerate(text[begin:], begin + 1):
        row = _PFC_ROW.fullmatch(line)
        if row is None:
            if line.strip() and not any((_RULER.fullmatch(line), _HEADER.match(line), _PROMPT.fullmatch(line.strip()))):
                raise UnreadableError("not a port and its pause frames, or cut", line=at, text=line)
        elif not _INSIDE.match(row["port"]):
            cut = at == len(text) and row["tx"] != "0" and not line.endswith((" ", "\t"))
            found[row["port"]] = Port(
                row["port"], _paused(row["oper"], row["bitmap"]), count(row["rx"]), None if cut else count(row["tx"])
            )
    return list(found.values())


def detailed_counters(answer: str) -> list[PortCounters] | None:
    """The frames by priority from the detailed text. Raises `UnreadableError` for frames below no port."""
    if not any(map(_FRAMES.fullmatch, lines(answer))):
        return None
    tally = Tally()
    port = ""
    for at, line in enumerate(lines(answer), 1):
        frames = _FRAMES.fullmatch(line)
        if frames and not port:
            raise UnreadableError("frames whose port no line names", line=at, text=line)
        if frames:
            for of, reported in enumerate(frames[2].replace("|", " ").split()):
                tally.note(port, Counter(f"{frames[1].lower()}_pause_frames", of), count(reported))
        else:
            named = _PFC_PORT.fullmatch(line)
            port = named[1] if named else port
    return tally.some()


def detailed_settings(answer: str) -> list[PortQos] | None:
    """The paused priorities from the detailed text."""
    if not any(map(_FRAMES.fullmatch, lines(answer))):
        return None
    found: dict[str, PortQos] = {}
    port, state = "", ""
    for line in lines(answer):
        named, oper, bitmap = _PFC_PORT.fullmatch(line), _STATE.fullmatch(line), _BITMAP.fullmatch(line)
        if named:
            port, state = named[1], ""
        elif oper:
            state = oper[1]
        reported = _paused(state, bitmap[1] if bitmap else None) if state else None
        if reported is not None:
            found[port] = PortQos(port, pfc_priorities=reported)
    return list(found.values())


# ----------------------------------------------------------------------------------------------------------------------
# NX-OS' queues: `show queuing interface`, JSON and text.
#
# A row for each port and direction, in it one for each QoS group, in it one for each kind of count (`Tx`, `Dropped`,
# `ECN`) and unit (`Pkts`, `Byts`), with unicast, out-of-band and multicast apart. The groups `CPU` and `SPAN` are
# skipped. A single row is an object in place of a list. The text has a box for each group below `Egress Queuing for`
# and the port, the cells of each kind of count between bars. A grep for one group leaves out the port: such text is
# refused.

_VALUES = ("eq-uc-stat-value", "eq-oobfc-uc-stat-value", "eq-mc-stat-value")
_COUNTED = {
    ("tx", "pkts"): "queue_packets",
    ("tx", "byts"): "queue_bytes",
    ("dropped", "pkts"): "queue_drops",
    ("tail drop", "pkts"): "queue_drops",
    ("wred/afd & tail drop", "pkts"): "queue_drops",
    ("ecn", "pkts"): "ecn_marked_packets",
}
_GROUP = re.compile(r"[ \t]*\|[ \t]*(.{0,20}\b)?QOS GROUP(?:[ \t]+(\d+))?[ \t]*\|[ \t]*", re.IGNORECASE)
_QUEUE_PORT = re.compile(r"[ \t]*(Egress|Ingress) Queu(?:e?ing|es) for ([A-Za-z][\w-]*\d[\w/.]*)\b.*", re.IGNORECASE)
_QUEUE_ROW = re.compile(r"[ \t]*\|[ \t]*([A-Z][\w/& ]{0,40}?) (Pkts|Byts)[ \t]*((?:\|[ \t]*\d{1,20}[ \t]*)+)\|[ \t]*")
_CUT_ROW = re.compile(r"[ \t]*\|[^|]*(?:\|[ \t\d]*)*")


def queue_from_json(found: Any) -> list[PortCounters] | None:
    """Counters of the queues in a document."""
    if "TABLE_queuing_interface" not in str(object_of(found)):
        return None
    tally = Tally()
    for module in rows_of(found, "module"):
        for port in rows_of(module, "queuing_interface"):
            for group in rows_of(port, "qosgrp_egress_stats"):
                of = priority(group.get("eq-qosgrp"))
                for reported in rows_of(group, "qosgrp_egress_stats_entry") if of is not None else ():
                    name = _COUNTED.get((_word(reported, "eq-stat-type"), _word(reported, "eq-stat-units")))
                    if name:
                        value = summed(count(reported.get(kind)) for kind in _VALUES)
                        tally.note(str(port["if_name_str"]), Counter(name, of), value)
    return tally.facts()


_GROUPS = re.compile(rf"^{_GROUP.pattern}\r?$", re.MULTILINE | re.IGNORECASE)


def queue_from_text(answer: str) -> list[PortCounters] | None:
    """Counters of the queues in the text. Raises `UnreadableError` for a box without its port, and for a cut row."""
    if not _GROUPS.search(answer):
        return None
    tally = Tally()
    port, of = "", None
    for number, line in enumerate(lines(answer), 1):
        named, group, row = _QUEUE_PORT.fullmatch(line), _GROUP.fullmatch(line), _QUEUE_ROW.fullmatch(line)
        if named:
            port, of = named[2], None
        elif group:
            of = None if group[1] else priority(group[2])
        elif row and of is not None and not port:
            raise UnreadableError("a queue whose port no line names", line=number, text=line)
        elif row:
            name = _COUNTED.get((row[1].lower(), row[2].lower()))
            values = [count(cell.strip(), line=number) for cell in row[3].split("|") if cell.strip()]
            if name and of is not None:
                tally.note(port, Counter(name, of), summed(values))
        elif of is not None and _CUT_ROW.fullmatch(line) and not line.rstrip().endswith("|"):
            raise UnreadableError("a row of a queue that is cut", line=number, text=line)
    return tally.some()


def _word(reported: Mapping[str, Any], key: str) -> str:
    return str(reported.get(key)).strip().lower()

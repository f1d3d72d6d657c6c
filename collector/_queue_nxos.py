"""NX-OS' queues: `show queuing interface`, JSON and text.

A row for each port and direction, in it one for each QoS group, in it one for each kind of count (`Tx`, `Dropped`,
`ECN`) and unit (`Pkts`, `Byts`), with unicast, out-of-band and multicast apart. The groups `CPU` and `SPAN` are
skipped. A single row is an object in place of a list. The text has a box for each group below `Egress Queuing for` and
the port, the cells of each kind of count between bars. A grep for one group leaves out the port: such text is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector._documents import listed
from collector._tally import Tally, count, priority, summed
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

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
_GROUPS = re.compile(rf"^{_GROUP.pattern}\r?$", re.MULTILINE | re.IGNORECASE)
_PORT = re.compile(r"[ \t]*(Egress|Ingress) Queu(?:e?ing|es) for ([A-Za-z][\w-]*\d[\w/.]*)\b.*", re.IGNORECASE)
_ROW = re.compile(r"[ \t]*\|[ \t]*([A-Z][\w/& ]{0,40}?) (Pkts|Byts)[ \t]*((?:\|[ \t]*\d{1,20}[ \t]*)+)\|[ \t]*")
_CUT_ROW = re.compile(r"[ \t]*\|[^|]*(?:\|[ \t\d]*)*")


def is_json(found: Any) -> bool:
    """Whether this is NX-OS' JSON of queues."""
    return isinstance(found, dict) and "TABLE_queuing_interface" in str(found)


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """Counters of the queues in this document."""
    tally = Tally()
    for module in _rows(found, "module"):
        for port in _rows(module, "queuing_interface"):
            for group in _rows(port, "qosgrp_egress_stats"):
                of = priority(group.get("eq-qosgrp"))
                for reported in _rows(group, "qosgrp_egress_stats_entry") if of is not None else ():
                    name = _COUNTED.get((_word(reported, "eq-stat-type"), _word(reported, "eq-stat-units")))
                    if name:
                        value = summed(count(reported.get(kind)) for kind in _VALUES)
                        tally.note(str(port["if_name_str"]), Counter(name, of), value)
    return tally.facts()


def is_text(answer: str) -> bool:
    """Whether this is the text, with the box of a group in it."""
    return _GROUPS.search(answer) is not None


def from_text(text: Sequence[str]) -> list[PortCounters]:
    """Counters of the queues in the text. Raises `UnreadableError` for a box without its port, and for a cut row."""
    tally = Tally()
    port, of = "", None
    for number, line in enumerate(text, 1):
        named, group, row = _PORT.fullmatch(line), _GROUP.fullmatch(line), _ROW.fullmatch(line)
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


def _rows(found: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    for table in listed(found.get(f"TABLE_{name}")):
        yield from listed(table[f"ROW_{name}"])

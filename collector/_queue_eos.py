"""EOS' queues: JSON of `show qos interfaces ecn counters queue`, text of `show interfaces counters queue detail`.

JSON has the marked packets of each queue. The text has a row for each port, traffic class, drop precedence and kind of
destination: rows of one class are summed, those to several destinations (`MC`) apart. Source of the text: the recorded
answer in ntc-templates (arista_eos), of a switch with virtual output queues.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from collector._tally import Tally, count, priority, size
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

KEY = "intfQueueCounters"
_HEAD = re.compile(
    r"^[ \t]*Port[ \t]+Traffic[ \t]+DropPrec[ \t]+DestType[ \t]+OutEnqPkts[ \t]+OutEnqOctets[ \t]+OutDropPkts"
    r"[ \t]+OutDropOctets[ \t]*$",
    re.MULTILINE,
)
_ROW = re.compile(r"[ \t]*([A-Z][\w-]*\d[\w/.]*)[ \t]+TC(\d)[ \t]+\S+[ \t]+(UC|MC)((?:[ \t]+[\d,]{1,26}){4})[ \t]*")
_BEGUN = re.compile(r"[ \t]*[A-Z][\w-]*\d[\w/.]*(?:[ \t]+TC.*)?")
_NAMES = ("queue_packets", "queue_bytes", "queue_drops", "queue_drop_bytes")


def from_json(found: Mapping[str, Any]) -> list[PortCounters]:
    """The marked packets of each queue; EOS prints words if there is no number."""
    tally = Tally()
    for port, reported in found[KEY].items():
        for queue, value in reported.get("queueCounters", {}).items():
            of = priority(queue)
            if of is not None:
                tally.note(port, Counter("ecn_marked_packets", of), size(value))
    return tally.facts()


def is_text(answer: str) -> bool:
    """Whether the answer has the table of queues."""
    return _HEAD.search(answer.replace("\r", "")) is not None


def from_text(text: Sequence[str]) -> list[PortCounters]:
    """The counters of each port and class. Raises `UnreadableError` for a cut row.

    A last number that no line feed follows may be cut, and is skipped.
    """
    tally, inside = Tally(), False
    for number, line in enumerate(text, 1):
        row = _ROW.fullmatch(line) if inside else None
        if _HEAD.fullmatch(line):
            inside = True
        elif row:
            before = "mc_" if row[3] == "MC" else ""
            cells = row[4].split()
            if number == len(text) and cells[-1] != "0":
                cells.pop()
            for name, cell in zip(_NAMES, cells, strict=False):
                tally.add(row[1], Counter(before + name, priority(row[2])), count(cell, line=number))
        elif inside and _BEGUN.fullmatch(line):
            raise UnreadableError("a row of queues that is cut", line=number, text=line)
    return tally.some()

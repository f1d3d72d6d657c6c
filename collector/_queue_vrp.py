"""VRP's `display qos queue statistics interface`, which does not name its port: the command above it does.

CloudEngine prints two lines for each queue, packets in the first, bytes below them; other switches print a line for
each value below `Queue ID`. Rates are skipped. Source: the configuration guides of CloudEngine, a recorded answer.
"""

import re
from collections.abc import Sequence

from collector._sections import sections
from collector._tally import Tally, count, priority
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_ASKED = re.compile(r"\bdisplay qos queue statistics interface[ \t]+([^\s|]+(?:[ \t]+\d+(?:/\d+)+(?::\d+)?)?)")
_TYPE = re.compile(r"^\d+[a-z]+")
"""`100ge`, as the command line also takes it."""
_HEAD = re.compile(r"[ \t]*Queue[ \t]+CIR/PIR[ \t]+Passed[ \t]+.*\bDropped\b.*")
_ID = re.compile(r"[ \t]*Queue ID[ \t]*:[ \t]*(\d{1,2})[ \t]*")
_SIGN = re.compile(rf"^(?:{_HEAD.pattern}|{_ID.pattern})$", re.MULTILINE)
_NUMBER = r"[ \t]+(\d{1,20})[ \t]+\d+"
_PACKETS = re.compile(rf"[ \t]*(\d)[ \t]+\S+{_NUMBER}{_NUMBER}(?:[ \t]+\S.*)?[ \t]*")
_BYTES = re.compile(rf"[ \t]*\S+{_NUMBER}{_NUMBER}[ \t]*")
_VALUE = re.compile(r"[ \t]*(Passed|Dropped) (Packets|Bytes)[ \t]*:[ \t]*([\d,]{1,26})[ \t]*")
_NAMES = {
    ("Passed", "Packets"): "queue_packets",
    ("Passed", "Bytes"): "queue_bytes",
    ("Dropped", "Packets"): "queue_drops",
    ("Dropped", "Bytes"): "queue_drop_bytes",
}


def is_text(answer: str) -> bool:
    """Whether the answer has queues in one of the two forms."""
    return _SIGN.search(answer.replace("\r", "")) is not None


def counters(text: Sequence[str]) -> list[PortCounters]:
    """The counters of each port and queue. Raises `UnreadableError` for a cut queue, or for one without its port.

    A last line without a line feed may be cut: it is skipped.
    """
    tally = Tally()
    for section in sections(text[:-1], "display", _ASKED):
        port = _TYPE.sub(lambda found: found[0].upper(), re.sub(r"[ \t]", "", section.port))
        of: int | None = None
        table, begun = False, ""
        for number, line in enumerate(section.lines, section.line):
            named, value, packets, below = (kind.fullmatch(line) for kind in (_ID, _VALUE, _PACKETS, _BYTES))
            if begun and not below:
                raise UnreadableError("a queue without the line of its bytes: cut", line=number - 1, text=begun)
            if (named or (table and packets)) and not port:
                raise UnreadableError("a queue whose port no line names", line=number, text=line)
            if named:
                of = priority(named[1])
            elif value and of is not None:
                tally.note(port, Counter(_NAMES[value[1], value[2]], of), count(value[3], line=number))
            elif begun and below:
                _pair(tally, port, of, "Bytes", below.groups())
                begun = ""
            elif table and packets:
                of, begun = priority(packets[1]), line
                _pair(tally, port, of, "Packets", packets.groups()[1:])
            table = table or _HEAD.fullmatch(line) is not None
        if begun:
            raise UnreadableError("a queue without the line of its bytes: cut", line=section.line, text=begun)
    return tally.some()


def _pair(tally: Tally, port: str, of: int | None, unit: str, values: Sequence[str]) -> None:
    """Notes what a queue passed and dropped."""
    for way, value in zip(("Passed", "Dropped"), values, strict=True):
        if of is not None:
            tally.note(port, Counter(_NAMES[way, unit], of), count(value))

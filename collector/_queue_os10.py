"""Dell OS10's `show queuing statistics interface`: a table of queues under the name of its port.

Source: answers of real switches, quoted in a thread of the Linux netdev mailing list. The command takes one port, so
answers are read from captures; several may follow each other. ECN marks are not in it.
"""

import re
from collections.abc import Sequence

from collector._tally import Tally
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_HEAD = re.compile(r"^[ \t]*Queue[ \t]+Packets[ \t]+Bytes[ \t]+Dropped-Packets[ \t]+Dropped-Bytes[ \t]*$", re.MULTILINE)
_PORT = re.compile(r"[ \t]*Interface[ \t]+(?P<port>[A-Za-z][\w/:-]*\d)[ \t]*")
_ROW = re.compile(r"[ \t]*(?P<queue>[0-7])(?P<cells>(?:[ \t]+\d{1,20}){4})[ \t]*")
_CUT = re.compile(r"[ \t]*\d[\d \t]*")
_COUNTERS = ("queue_packets", "queue_bytes", "queue_drops", "queue_drop_bytes")


def is_table(answer: str) -> bool:
    """Whether an answer has such a table."""
    return _HEAD.search(answer.replace("\r", "")) is not None


def counters(text: Sequence[str]) -> list[PortCounters]:
    """The counters of each port and queue. Raises `UnreadableError` for a cut row, or for a table without its port.

    A last number that neither a blank nor a line's end follows may be cut.
    """
    tally, port = Tally(), ""
    for number, line in enumerate(text, 1):
        if named := _PORT.fullmatch(line):
            port = named["port"]
        elif _HEAD.fullmatch(line) and not port:
            raise UnreadableError("a table of queues without its port", line=number, text=line)
        elif (row := _ROW.fullmatch(line)) and (number < len(text) or not line[-1].isdigit()):
            of = [Counter(name, int(row["queue"])) for name in _COUNTERS]
            tally.row(port, of, row["cells"].split(), line=number)
        elif _CUT.fullmatch(line):
            raise UnreadableError("a row of queues that is cut", line=number, text=line)
    return tally.some()

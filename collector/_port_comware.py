"""Comware's `display counters inbound interface` and `outbound`: the same table, its direction in the command above it.

Source: H3C's command reference, answers in public test data. Traps: a value of too many digits is `Overflow`, one that
the port lacks `--`: neither is reported. The table of rates has other labels.
"""

import re
from collections.abc import Sequence

from collector._sections import is_prompt
from collector._tally import Tally, count
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_ASKED = re.compile(r"\bdis\w*[ \t]+count\w*[ \t]+(in|out)\w*[ \t]+int")
_HEAD = re.compile(r"[ \t]*Interface((?:[ \t]+(?:Total|Broadcast|Multicast|Err)[ \t]*\(pkts\)){4})[ \t]*")
_SIGN = re.compile(f"^{_HEAD.pattern}$", re.MULTILINE)
_ROW = re.compile(r"[ \t]*([A-Za-z][\w/:.-]*\d)((?:[ \t]+(?:\d{1,20}|Overflow|--)){4})[ \t]*")
_BEGUN = re.compile(r"[ \t]*[A-Za-z][\w/:.-]*\d(?:[ \t]+[\d\w-]+){0,3}[ \t]*")
_NAMES = {"in": ("rx_packets", "rx_errors"), "out": ("tx_packets", "tx_errors")}


def is_text(answer: str) -> bool:
    """Whether the answer has such a table."""
    return _SIGN.search(answer.replace("\r", "")) is not None


def from_text(text: Sequence[str]) -> list[PortCounters]:
    """Counters of the ports. Raises `UnreadableError` for a table without its command, and for a cut row.

    A last line without a line feed may be cut, and is skipped.
    """
    tally = Tally()
    way, inside = "", False
    for number, line in enumerate(text[:-1], 1):
        asked, row = _ASKED.search(line), _ROW.fullmatch(line)
        if asked:
            way, inside = asked[1], False
        elif _HEAD.fullmatch(line):
            if not way:
                raise UnreadableError("counters whose direction no line names", line=number, text=line)
            inside = True
        elif inside and row:
            total, _, _, errors = (None if cell == "Overflow" else count(cell) for cell in row[2].split())
            for name, value in zip(_NAMES[way], (total, errors), strict=True):
                tally.note(row[1], Counter(name), value)
        elif inside and _BEGUN.fullmatch(line) and not is_prompt(line):
            raise UnreadableError("a row of counters that is cut", line=number, text=line)
    return tally.some()

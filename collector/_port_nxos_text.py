"""Port counters in the paragraphs of NX-OS' `show interface`.

Below a port's first line (`Ethernet1/1 is up`) `RX` and `TX` begin the counters of a direction, several to a line with
blanks between them: `0 input error  0 short frame`. Source: recorded answers in genieparser and ntc-templates.

Traps:

- The rates above the counters, `3034 packets/sec`, are none.
- `storm suppression bytes` are no bytes of the port, and `Stomped CRC` are frames that another switch had broken.
- A port with received counters and none that it sent is cut: the answer is refused.
"""

import re
from collections.abc import Sequence

from collector._tally import Tally, count, words
from truerail.errors import UnreadableError
from truerail.model import PortCounters

_SIGN = re.compile(r"^[ \t]*\d+ input packets\b", re.MULTILINE)
_PORT = re.compile(r"([A-Za-z][A-Za-z-]*\d[\d/.]*) is (?:up|down|administratively down)\b.{0,200}")
_WAY = re.compile(r"[ \t]+(rx|tx)[ \t]*", re.IGNORECASE)
_CELL = re.compile(
    r"(?<![\d,])(\d{1,3}(?:,\d{3})+|\d{1,20}) ([A-Za-z][A-Za-z/ -]{0,60}?)(?=[ \t]{2,}|[ \t]+\d|[ \t]*$)"
)
_RX = words(
    {
        "input packets": "rx_packets",
        "bytes": "rx_bytes",
        "input error": "rx_errors",
        "input errors": "rx_errors",
        "input discard": "rx_discards",
        "crc": "crc_errors",
        "crc/fcs": "crc_errors",
        "rx pause": "rx_global_pause_frames",
    }
)
_TX = words(
    {
        "output packets": "tx_packets",
        "bytes": "tx_bytes",
        "output error": "tx_errors",
        "output errors": "tx_errors",
        "output discard": "tx_discards",
        "tx pause": "tx_global_pause_frames",
    }
)


def is_text(answer: str) -> bool:
    """Whether the answer has counters in such paragraphs."""
    return _SIGN.search(answer) is not None


def from_text(text: Sequence[str]) -> list[PortCounters]:
    """Counters of the ports. Raises `UnreadableError` if a port is cut, or for none.

    A last line without a line feed may be cut, and is skipped.
    """
    tally = Tally()
    port, names, begun = "", None, 0
    for number, line in enumerate([*text[:-1], "End1 is down"], 1):
        named, way = _PORT.fullmatch(line), _WAY.fullmatch(line)
        if (named or way) and names is _RX and not (way and way[1].lower() == "tx"):
            raise UnreadableError("a port's counters are cut: none that it sent", line=begun, text=port)
        if named:
            port, names, begun = named[1], None, number
        elif way and port:
            names = _RX if way[1].lower() == "rx" else _TX
        elif names:
            for value, label in _CELL.findall(line):
                counter = names.get(label.lower())
                if counter:
                    tally.note(port, counter, count(value, line=number))
    return tally.some()

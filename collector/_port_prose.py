"""Counters in the paragraphs of `collector/_port_paragraphs.py`: EOS, IOS-XR, Dell OS10, sonic-cli, VRP, Comware.

Values stand before their labels (`0 input errors, 0 CRC`) or, on VRP, behind them (`Discard:   0,  Pause:   0`). Lines
that begin with `Input` or `Output` change the direction. Traps:

- Comware prints `Input (total)`, then `Input (normal)`, which leaves out broken packets and pauses: of two values under
  one label the first that is reported counts. `-` is a counter that the platform lacks.
- CloudEngine prints `Input :` with bytes before packets, and then `Input:` alone above the kinds of packets.
- Dell prints large values as `5.62e+11`: such a value has lost digits, and is skipped.
- sonic-cli prints the received errors also as those that were sent (`show_interface.j2`): the latter are skipped.
- The rates above the counters have the labels of counters, with `/sec` behind them: they are skipped.
- A port whose output is missing below its input is cut: the answer is refused.
"""

import re
from collections.abc import Iterator, Sequence

from collector._port_paragraphs import Paragraph, paragraphs
from collector._tally import Tally, count
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

_SIGN = re.compile(
    r"^[ \t]*(?:[\d,]+ packets input, [\d,]+ bytes|Input(?: \(total\))?: *(?:[\d,]+|-) packets, ?(?:[\d,]+|-) bytes"
    r"|Input ?: *\d+ bytes, *\d+ packets|Input statistics:)",
    re.MULTILINE | re.IGNORECASE,
)
_OUTPUT = re.compile(r"[ \t]*(?:Output\b(?! (?:queue|flow))|[\d,]+ packets output,)", re.IGNORECASE)
_INPUT = re.compile(r"[ \t]*(?:Input\b(?! flow)|[\d,]+ packets input,)", re.IGNORECASE)
_RATE = re.compile(r"^[ \t]*Description:|\brate\b|/sec|utili[sz]ation|threshold|interval", re.IGNORECASE)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?!\d)|\d+"
_BEFORE = re.compile(rf"(?<![\w.])(?<!\d,)({_NUMBER}|-) ([A-Za-z][A-Za-z-]*(?: [A-Za-z-]+)*)(?=,|\s*$)")
_BEHIND = re.compile(rf"([A-Z][A-Za-z]*(?: [A-Z][a-z]+)*):[ \t]+({_NUMBER})(?=,|\s|$)")
_BOTH = {
    "packets": "packets",
    "packets input": "packets",
    "packets output": "packets",
    "bytes": "bytes",
    "octets": "bytes",
    "total input drops": "discards",
    "total output drops": "discards",
    "discarded": "discards",
    "discard": "discards",
    "input discards": "discards",
    "output discards": "discards",
    "input errors": "errors",
    "output errors": "errors",
    "error": "errors",
    "total error": "errors",
    "pause input": "global_pause_frames",
    "pause output": "global_pause_frames",
    "pauses": "global_pause_frames",
    "pause": "global_pause_frames",
}
"""Label in lower case -> the counter, received or sent."""
_RECEIVED = {"crc": Counter("crc_errors"), "symbol": Counter("symbol_errors")}
"""Labels that mean received frames: EOS prints `0 symbol`, its JSON `symbolErrors`."""
_NEITHER = {
    "carrier transitions": Counter("carrier_transitions"),
    "link status changes since last clear": Counter("link_status_changes"),
}
"""Labels without a direction: EOS counts both ups and downs."""


def is_text(answer: str) -> bool:
    """Whether the answer has counters in such paragraphs."""
    return _SIGN.search(answer) is not None


def from_text(text: Sequence[str]) -> list[PortCounters]:
    """Counters of the ports in the lines of an answer. Raises `UnreadableError` if a port is cut, or for none."""
    tally = Tally()
    for one in paragraphs(text[:-1] if text[-1].strip() else text):  # a line without a line feed may be cut
        _take(tally, one)
    return tally.some()


def _take(tally: Tally, one: Paragraph) -> None:
    way, begun = "", set[str]()
    reported: dict[Counter, int] = {}
    for number, line in one.lines:
        if _RATE.search(line):
            continue
        way = "tx" if _OUTPUT.match(line) else "rx" if _INPUT.match(line) else way
        for label, value in _cells(line):
            counter = _counter(way, label)
            read = count(value, line=number) if counter else None
            if counter and read is not None:
                reported.setdefault(counter, read)
                begun.add(way)
    if begun - {""} == {"rx"}:
        raise UnreadableError("a port's counters are cut", line=one.lines[-1][0], text=one.port)
    for counter, read in reported.items():
        tally.note(one.port, counter, read)


def _cells(line: str) -> Iterator[tuple[str, str]]:
    """Labels in lower case, and their values."""
    body = line.partition(":")[2] if _INPUT.match(line) or _OUTPUT.match(line) else line
    for value, label in _BEFORE.findall(body if ":" in line else line):
        yield label.lower(), value
    for label, value in _BEHIND.findall(line):
        yield label.lower(), value


def _counter(way: str, label: str) -> Counter | None:
    if label in _NEITHER:
        return _NEITHER[label]
    if label in _RECEIVED:
        return _RECEIVED[label] if way == "rx" else None
    if label == "error" and way == "tx":
        return None
    return Counter(f"{way}_{_BOTH[label]}") if way and label in _BOTH else None

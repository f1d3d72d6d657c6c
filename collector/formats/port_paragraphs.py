"""A paragraph for each port: its state, speed and counters."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from collector.formats.counts import Tally, count
from collector.formats.port_words import PortState, PortStatus, gbps, of_word, of_words, status
from collector.formats.text import lines, spelled
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters

# ----------------------------------------------------------------------------------------------------------------------
# Answers that have a paragraph for each port, as IOS-XR, Dell OS10, SONiC's `sonic-cli`, VRP and Comware print them.
#
# | network OS | command | a paragraph begins with |
# |---|---|---|
# | IOS-XR | `show interfaces` | `FourHundredGigE0/0/0/0 is up, line protocol is up` |
# | Dell OS10, sonic-cli | `show interface` | `Ethernet 1/1/1 is up, line protocol is down` |
# | VRP, Comware 5 | `display interface` | `100GE1/0/1 current state : UP`, in Comware behind a blank |
# | Comware 7 | `display interface` | the port's name alone, then `Current state: UP` |
#
# Sources: recorded answers in ntc-templates (cisco_xr, huawei_vrp, hp_comware), public answers of OS10, the template
# `show_interface.j2` of SONiC's management framework.
#
# Traps:
#
# - Dell's and SONiC's first word is the admin state, and the line protocol is the link. Elsewhere the first word is the
#   link. The line `LineSpeed` shows whose paragraph it is.
# - Only ports of the chassis are read: no aggregates, VLANs, loopbacks, subinterfaces.
# - A description may say anything, but stands in its own line behind `Description:`.

_LINE = re.compile(
    r"(?P<port>[A-Za-z][A-Za-z-]* ?\d+(?:/[A-Z]*\d+)*(?::\d+)?) is (?P<first>administratively down|up|down), "
    r"line protocol is (?P<second>administratively down|up|down)\b.{0,120}"
)
_CURRENT = re.compile(r" ?(?P<port>[A-Za-z0-9][\w/:-]*) current state ?: ?(?P<state>.{1,120})")
_BELOW = re.compile(r"[ \t]*Current state: ?(?P<state>.{1,120})")
_CHASSIS = re.compile(
    r"(?=\d*[A-Za-z])\d*[A-Za-z][A-Za-z-]*(?: ?\d+(?:/[A-Z]*\d+)+(?::\d+)?|(?<=Ethernet) ?\d+(?::\d+)?)"
)
_DELL = re.compile(r"[ \t]*LineSpeed (?P<speed>\d+[MGT])(?:B|bps|bit)?\b.{0,200}")


class Paragraph(NamedTuple):
    """One port: its name, its state, the speed where Dell's line has it, and its lines with their 1-based numbers."""

    port: str
    state: PortState
    line_speed: str | None
    lines: list[tuple[int, str]]


def paragraphs(text: Sequence[str]) -> list[Paragraph]:
    """The ports of the chassis in the lines of an answer, in its order; none if it has no such paragraphs."""
    begun: list[tuple[re.Match[str] | None, str, list[tuple[int, str]]]] = []
    for number, line in enumerate(text, 1):
        named = _BELOW.fullmatch(line) and number > 1 and _CHASSIS.fullmatch(text[number - 2].strip())
        head = _LINE.fullmatch(line) or _CURRENT.fullmatch(line)
        if named:
            begun.append((_BELOW.fullmatch(line), text[number - 2].strip(), []))
        elif head:
            begun.append((head, head["port"], []))
        elif begun:
            begun[-1][2].append((number, line))
    return [_paragraph(head, port, lines) for head, port, lines in begun if head and _CHASSIS.fullmatch(port)]


def _paragraph(head: re.Match[str], port: str, lines: list[tuple[int, str]]) -> Paragraph:
    dell = next((found for _, line in lines if (found := _DELL.fullmatch(line))), None)
    words = head.groupdict()
    if "state" in words:
        state = _displayed(words["state"])
    elif dell:
        state = of_words(words["second"], words["first"])
    else:
        state = of_words("down", "down") if "admin" in words["first"] else of_words(words["first"], "up")
    return Paragraph(port, state, dell["speed"] if dell else None, lines)


def _displayed(words: str) -> PortState:
    """The state from `UP`, `DOWN`, `Administratively DOWN`, `ERROR DOWN(link-flap)`, `DOWN (Transceiver offline)`."""
    low = words.strip().lower()
    if "administratively" in low or low.startswith("*down"):
        return of_words("down", "down")
    if low.startswith("error down"):
        return PortState(up=False, enabled=True, reason="error-disabled")
    if "link-aggregation interface down" in low:
        return PortState()
    word = low.partition("(")[0].strip()
    return of_words(word, "up") if word in ("up", "down") else of_word(word)


# ----------------------------------------------------------------------------------------------------------------------
# Counters in such paragraphs: EOS, IOS-XR, Dell OS10, sonic-cli, VRP, Comware.
#
# Values stand before their labels (`0 input errors, 0 CRC`) or, on VRP, behind them (`Discard:   0,  Pause:   0`).
# Lines that begin with `Input` or `Output` change the direction. Traps:
#
# - Comware prints `Input (total)`, then `Input (normal)`, which leaves out broken packets and pauses: of two values
#   under one label the first that is reported counts. `-` is a counter that the platform lacks.
# - CloudEngine prints `Input :` with bytes before packets, and then `Input:` alone above the kinds of packets.
# - Dell prints large values as `5.62e+11`: such a value has lost digits, and is skipped.
# - sonic-cli prints the received errors also as those that were sent (`show_interface.j2`): the latter are skipped.
# - The rates above the counters have the labels of counters, with `/sec` behind them: they are skipped.
# - A port whose output is missing below its input is cut: the answer is refused.

_OUTPUT = re.compile(r"[ \t]*(?:Output\b(?! (?:queue|flow))|[\d,]+ packets output,)", re.IGNORECASE)
_INPUT = re.compile(r"[ \t]*(?:Input\b(?! flow)|[\d,]+ packets input,)", re.IGNORECASE)
_RATE = re.compile(r"^[ \t]*Description:|\brate\b|/sec|utili[sz]ation|threshold|interval", re.IGNORECASE)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?!\d)|\d+"
_BEFORE = re.compile(rf"(?<![\w.])(?<!\d,)({_NUMBER}|-) ([A-Za-z][A-Za-z-]*(?: [A-Za-z-]+)*)(?=,|\s*$)")
_BEHIND = re.compile(rf"([A-Z][A-Za-z]*(?: [A-Z][a-z]+)*):[ \t]+({_NUMBER})(?=,|\s|$)")
_BOTH = spelled(
    {
        "packets": "packets, packets input, packets output",
        "bytes": "bytes, octets",
        "discards": "total input drops, total output drops, discarded, discard, input discards, output discards",
        "errors": "input errors, output errors, error, total error",
        "global_pause_frames": "pause input, pause output, pauses, pause",
    }
)
"""Label in lower case -> the counter, received or sent."""
_RECEIVED = {"crc": Counter("crc_errors"), "symbol": Counter("symbol_errors")}
"""Labels that mean received frames: EOS prints `0 symbol`, its JSON `symbolErrors`."""
_NEITHER = {
    "carrier transitions": Counter("carrier_transitions"),
    "link status changes since last clear": Counter("link_status_changes"),
}
"""Labels without a direction: EOS counts both ups and downs."""


_COUNTED = re.compile(
    r"^[ \t]*(?:[\d,]+ packets input, [\d,]+ bytes|Input(?: \(total\))?: *(?:[\d,]+|-) packets, ?(?:[\d,]+|-) bytes"
    r"|Input ?: *\d+ bytes, *\d+ packets|Input statistics:)",
    re.MULTILINE | re.IGNORECASE,
)


def from_text(answer: str) -> list[PortCounters] | None:
    """Counters of the ports in an answer. Raises `UnreadableError` if a port is cut, or for none."""
    if not _COUNTED.search(answer):
        return None
    tally, text = Tally(), lines(answer)
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


# ----------------------------------------------------------------------------------------------------------------------
# States and speeds in such paragraphs.
#
# Speeds: `Full-duplex, 400000Mb/s, ...` (IOS-XR), `LineSpeed 100G, Auto-Negotiation off` (Dell OS10), `LineSpeed 25GB`
# (sonic-cli), `Speed : 100000,  Loopback: NONE` (VRP, in Mb/s), `100Gbps-speed mode, full-duplex mode` (Comware).

_XR = re.compile(r"[ \t]+(?:Full|Half)-duplex, (\d+Mb/s),.{0,200}", re.IGNORECASE)
_VRP = re.compile(r"[ \t]*Speed[ \t]*:[ \t]*(\d{2,7}),.{0,200}")
_COMWARE = re.compile(r"[ \t]*(\d{1,4}[MGT]bps)-speed mode ?,.{0,200}", re.IGNORECASE)


def statuses(text: Sequence[str]) -> list[PortStatus]:
    """The ports in the lines of an answer, in its order; none if it has no such paragraphs."""
    return [status(one.port, one.state, gbps(one.line_speed) or _speed(one)) for one in paragraphs(text)]


def _speed(one: Paragraph) -> float | None:
    for _, line in one.lines:
        if found := _XR.fullmatch(line) or _VRP.fullmatch(line) or _COMWARE.fullmatch(line):
            return gbps(found[1])
    return None

"""NX-OS' pause frames and PFC settings: `show interface priority-flow-control [detail]`, text and JSON.

Without `detail` the frames are those of all priorities together. `(8)` after the state is the bitmap of priorities in
hex: priority 3. UCS fabric interconnects name ports `Br-Ethernet1/17/1`. Rows `ii1/1/1` are links inside the device.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from collector._answer import lines
from collector._documents import listed
from collector._tally import Tally, count
from truerail.errors import UnreadableError
from truerail.model import Counter, PortCounters, PortQos

_HEADER = re.compile(r"[ \t]*Port[ \t]+Mode[ \t]+Oper")
_ROW = re.compile(
    r"[ \t]*(?P<port>\S+)[ \t]+(?:Auto|On|Off)[ \t]+(?P<oper>On|Off)[ \t]*(?:\((?P<bitmap>[0-9a-fA-F,]+)\))?"
    r"[ \t]+(?P<rx>[0-9,]{1,26})[ \t]+(?P<tx>[0-9,]{1,26})[ \t]*"
)
_RULER = re.compile(r"[ \t]*[=-]{3,}[ \t]*|slot[ \t]+\d{1,3}[ \t]*")
"""A ruler, or the title of a line card's table: a modular switch prints one for each."""
_PROMPT = re.compile(r"[^\s|]{1,80}[#>][ \t]*(?:show .*)?|[^:]{0,200}:[ \t]*.*")
_OPER = re.compile(r"\s*(on|off)\s*(?:\(([0-9a-f]+)\))?\s*", re.IGNORECASE)
_PORT = re.compile(r"[ \t]*([A-Za-z-]+[0-9][\w/.-]*):?[ \t]*")
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


def counters(found: Sequence[Port]) -> list[PortCounters]:
    """The frames of these ports."""
    tally = Tally()
    for port in found:
        tally.note(port.name, _RX, port.rx)
        tally.note(port.name, _TX, port.tx)
    return tally.facts()


def settings(found: Sequence[Port]) -> list[PortQos]:
    """The priorities that are paused on these ports."""
    return [PortQos(port.name, pfc_priorities=port.priorities) for port in found if port.priorities is not None]


def is_json(found: Any) -> bool:
    """Whether this is NX-OS' JSON."""
    return isinstance(found, dict) and "TABLE_module" in found and "TABLE_pfc_interface" in str(found)


def from_json(found: Mapping[str, Any]) -> list[Port]:
    """The ports in a document: an object for one row, a list for several."""
    return [
        Port(
            str(row["if_name_str"]), _of_words(row.get("oper")), count(row.get("rx-stats")), count(row.get("tx-stats"))
        )
        for row in _rows(found)
        if not _INSIDE.match(str(row["if_name_str"]))
    ]


def _rows(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for modules in listed(found["TABLE_module"]):
        for module in listed(modules["ROW_module"]):
            for ports in listed(module.get("TABLE_pfc_interface")):
                yield from listed(ports["ROW_pfc_interface"])


def _of_words(oper: Any) -> tuple[int, ...] | None:
    """The priorities in `On  (8)` or `Off`."""
    found = _OPER.fullmatch(str(oper))
    return _paused(found[1], found[2]) if found else None


def _paused(state: str, bitmap: str | None) -> tuple[int, ...] | None:
    if state.lower() == "off":
        return ()
    return tuple(n for n in range(8) if int(bitmap, 16) >> n & 1) if bitmap else None


def is_text(answer: str) -> bool:
    """Whether this is NX-OS' table."""
    return any(map(_HEADER.match, answer.split("\n")))


def from_text(answer: str) -> list[Port]:
    """The ports in the tables, of two rows for one port the later. Raises `UnreadableError` if a row is cut."""
    text = lines(answer)
    begin = min(at for at, line in enumerate(text) if _HEADER.match(line)) + 1
    found: dict[str, Port] = {}
    for at, line in enumerate(text[begin:], begin + 1):
        row = _ROW.fullmatch(line)
        if row is None:
            if line.strip() and not any((_RULER.fullmatch(line), _HEADER.match(line), _PROMPT.fullmatch(line.strip()))):
                raise UnreadableError("not a port and its pause frames, or cut", line=at, text=line)
        elif not _INSIDE.match(row["port"]):
            cut = at == len(text) and row["tx"] != "0" and not line.endswith((" ", "\t"))
            found[row["port"]] = Port(
                row["port"], _paused(row["oper"], row["bitmap"]), count(row["rx"]), None if cut else count(row["tx"])
            )
    return list(found.values())


def is_detail(answer: str) -> bool:
    """Whether this is the detailed text."""
    return any(map(_FRAMES.fullmatch, lines(answer)))


def detailed_counters(answer: str) -> list[PortCounters]:
    """The frames by priority from the detailed text. Raises `UnreadableError` for frames below no port."""
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
            named = _PORT.fullmatch(line)
            port = named[1] if named else port
    return tally.some()


def detailed_settings(answer: str) -> list[PortQos]:
    """The paused priorities from the detailed text."""
    found: dict[str, PortQos] = {}
    port, state = "", ""
    for line in lines(answer):
        named, oper, bitmap = _PORT.fullmatch(line), _STATE.fullmatch(line), _BITMAP.fullmatch(line)
        if named:
            port, state = named[1], ""
        elif oper:
            state = oper[1]
        reported = _paused(state, bitmap[1] if bitmap else None) if state else None
        if reported is not None:
            found[port] = PortQos(port, pfc_priorities=reported)
    return list(found.values())

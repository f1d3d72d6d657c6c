"""The answer of systemd's `networkctl lldp`: a table for people, or JSON from systemd 257 on."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from collector._answer import decode
from truerail.errors import UnreadableError
from truerail.model import Neighbor
from truerail.model.names import canonical_mac

_HEADER = re.compile(
    r"\s*LINK\s+CHASSIS[- ]ID\s+SYSTEM[- ]NAME\s+CAPS\s+PORT[- ]ID\s+(?P<last>PORT[- ]DESCRIPTION)\s*$"
)
_WORD = re.compile(r"\S+")
_CAPABILITIES = re.compile(r"[o.][p.][b.][w.][r.][t.][d.][a.][c.][s.][m.]")
"""A letter or a dot for each capability of IEEE 802.1AB, in order."""
_COUNT = re.compile(r"\s*(?:Total entries displayed: )?(\d+)(?: neighbou?r(?:\(s\)|s)? listed\.?)?\s*$")
_FOOT = ("Capability Flags:", "Total entries")
_ABSENT = frozenset(("", "-", "n/a"))


def is_table(text: Sequence[str]) -> bool:
    """Whether one of the lines is the header of the table."""
    return any("CHASSIS" in line and _HEADER.match(line) for line in text)


def neighbors_from_table(text: Sequence[str]) -> Iterator[Neighbor]:
    """Neighbours in the lines of the table. A truncated interface name, or fewer rows than the footer announces, raise
    `UnreadableError`; any other truncated cell is None."""
    last, count = -1, 0
    for number, line in enumerate(text, 1):
        header = _HEADER.match(line)
        if header:
            last, count = header.start("last"), 0
        elif last >= 0 and line.strip():
            total = _COUNT.match(line)
            if total and int(total[1]) != count:
                raise UnreadableError(f"{count} rows before this line: cut short", line=number, text=line)
            if total or line.lstrip().startswith(_FOOT):
                last = -1
                continue
            row = _row(line, last, number)
            yield row._replace(port_id=None) if number == len(text) and _is_open(row.port_id, line) else row
            count += 1
    if not count and last >= 0:
        raise UnreadableError("neither a row nor the count of rows below the head of the table: cut short")


def _row(line: str, last: int, number: int) -> Neighbor:
    """A row by its words: the text before the capabilities is the name. `last` is where the description begins."""
    words = list(_WORD.finditer(line))
    at = next((at for at, word in enumerate(words) if at > 1 and _ends_name(word[0], at)), len(words))
    if at + 1 >= len(words) or _cut(words[0][0]):
        raise UnreadableError("not a row of `networkctl lldp`, or its interface is cut", line=number, text=line)
    start = words[at + 1].start()
    if start < last < len(line) and line[last - 1] == " ":
        port, description = line[start:last], line[last:]
    else:
        port, gap, description = line[start:].strip().partition("  ")
        if not gap and " " in port:  # columns that do not line up: where the port ends is unknown
            port, description = "", ""
    return _neighbor(words[0][0], words[1][0], line[words[1].end() : words[at].start()], port, description)


def _ends_name(word: str, at: int) -> bool:
    """Whether this is the capabilities cell; `-` is one only if a name cell precedes it."""
    return _CAPABILITIES.fullmatch(word) is not None or (at > 2 and word in _ABSENT)


def _is_open(port_id: str | None, line: str) -> bool:
    """Whether a port id ends the answer without a line feed and may be incomplete; the rest of the row counts."""
    return port_id is not None and line.rstrip().endswith(port_id)


def _cut(cell: str) -> bool:
    return "…" in cell or "..." in cell


def _neighbor(link: str, chassis: Any, name: Any, port: Any, description: Any) -> Neighbor:
    chassis_id = _cell(chassis)
    is_mac = chassis_id is not None and canonical_mac(chassis_id) is not None
    return Neighbor(
        link,
        chassis_id,
        "mac" if is_mac else None,
        _cell(name),
        _cell(port),
        None,
        _cell(description),
    )


def _cell(value: Any) -> str | None:
    text = value.strip() if type(value) is str else ""
    return None if text in _ABSENT or _cut(text) else text


def neighbors_from_networkctl_json(answer: str) -> Iterator[Neighbor]:
    """Neighbours in the answer of `networkctl lldp --json=short`. Raises `UnreadableError`."""
    document = decode(answer)
    for link in _list(document):
        name = link.get("InterfaceName") if type(link) is dict else None
        if type(name) is not str:
            raise UnreadableError("a link without InterfaceName: not networkctl's list of neighbours")
        for seen in _list(link):
            if type(seen) is not dict or "ChassisID" not in seen or "PortID" not in seen:
                raise UnreadableError(f"a neighbour on {name} without ChassisID or PortID")
            get = seen.get
            yield _neighbor(name, get("ChassisID"), get("SystemName"), get("PortID"), get("PortDescription"))


def _list(holder: Any) -> list[Any]:
    neighbors = holder.get("Neighbors", []) if type(holder) is dict else None
    if type(neighbors) is not list:
        raise UnreadableError("no list of `Neighbors`: not networkctl's list of neighbours")
    return neighbors

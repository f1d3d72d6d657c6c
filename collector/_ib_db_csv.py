"""ibdiagnet's database, `ibdiagnet2.db_csv`: tables between `START_` and `END_`.

The tables NODES, PORTS and LINKS are read; with LINKS alone nodes are named by their GUIDs. In PORTS the active speed
is a number whose bytes are the regular, the extended and the vendor-specific speed. The same bits under `LinkSpeedEn`
and `LinkWidthEn`, else `...Sup`, give the speeds and widths that a port may run at. Sources: the notes in the file
itself, recorded files of ibdiagnet 2.10, the codes of rdma-core's `libibmad/dump.c`.
"""

import re
from collections.abc import Iterator, Mapping

from collector._ib_ibdiagnet import refuse_unclosed
from collector._ib_links import End, Fact, Links
from collector._ib_words import EXTENDED, WIDTHS, Node, adapter, columns, gbps, guid_cell, port_cell, switch
from truerail.errors import UnreadableError

_COLUMNS = {
    "NODES": ("NodeDesc", "NodeType", "NodeGUID"),
    "PORTS": ("NodeGuid", "PortNum", "LinkWidthActv", "LinkSpeedActv"),
    "LINKS": ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"),
}
"""The tables that are read, and their columns."""
_LINKS = re.compile(r"^START_(?:LINKS|NODES)\r?$", re.MULTILINE)
_ADAPTER = "1"
"""The NodeType of a channel adapter; 2 is a switch, 3 a router."""
_REGULAR = {1: "SDR", 2: "DDR", 4: "QDR"}
_MOST_REGULAR = "FDR10"
_SDR_GBPS = 2.5


def recognised(answer: str) -> bool:
    """Whether the answer contains the table of links or of nodes."""
    return _LINKS.search(answer) is not None


def from_db_csv(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    refuse_unclosed(answer)
    links = Links()
    for row, number in _table(answer, "NODES"):
        key = guid_cell(row["NodeGUID"], number)
        make = adapter if row["NodeType"] == _ADAPTER else switch
        links.node(key, make, key, row["NodeDesc"].strip('"'))
    ports = [(_end(row, "", number), row) for row, number in _table(answer, "PORTS")]
    speeds = {end: _speed(row) for end, row in ports}
    most = {end: _most(row) for end, row in ports}
    for row, number in _table(answer, "LINKS"):
        ends = first, second = _end(row, "1", number), _end(row, "2", number)
        for key, _port in ends:
            links.node(key, _nameless, key, "")
        able = _able(most.get(first), most.get(second))
        links.link(first, second, speeds.get(first), number, able)
        links.link(second, first, speeds.get(second), number, able)
    return links.facts()


def _end(row: Mapping[str, str], side: str, number: int) -> End:
    return guid_cell(row[f"NodeGuid{side}"], number), port_cell(row[f"PortNum{side}"], number)


def _nameless(guid: str | None, description: str) -> Node:
    """A node of which only the GUID is reported."""
    return switch(guid, description)


def _speed(row: Mapping[str, str]) -> float | None:
    reported = row["LinkSpeedActv"]
    code = int(reported) if reported.isdecimal() else 0
    regular, extended, own = code & 0xFF, code >> 8 & 0xFF, code >> 16 & 0xFF
    lane = EXTENDED.get(extended) or (_MOST_REGULAR if own & 1 else _REGULAR.get(regular, ""))
    return gbps(WIDTHS.get(row["LinkWidthActv"], ""), lane)


def _most(row: Mapping[str, str]) -> tuple[float, float] | None:
    """Number of lanes and Gb/s per lane that a port may run at; None where either is not reported."""
    reported = row.get("LinkSpeedEn", row.get("LinkSpeedSup", ""))
    wide = row.get("LinkWidthEn", row.get("LinkWidthSup", ""))
    code, mask = (int(text) if text.isdecimal() else 0 for text in (reported, wide))
    regular, extended, own = code & 0xFF, code >> 8 & 0xFF, code >> 16 & 0xFF
    names = [name for bit, name in _REGULAR.items() if regular & bit] + [_MOST_REGULAR] * (own & 1)
    names += [name for bit, name in EXTENDED.items() if extended & bit]
    lanes = [gbps(width, "SDR") for bit, width in WIDTHS.items() if mask & int(bit)]
    rates = [gbps("1x", name) for name in names]
    widest, fastest = (
        max(map(float, filter(None, lanes)), default=0.0),
        max(map(float, filter(None, rates)), default=0.0),
    )
    return (widest / _SDR_GBPS, fastest) if widest and fastest else None


def _able(one: tuple[float, float] | None, other: tuple[float, float] | None) -> float | None:
    """Highest rate in Gb/s that both ends of a link may run at."""
    return min(one[0], other[0]) * min(one[1], other[1]) if one and other else None


def _table(answer: str, name: str) -> Iterator[tuple[Mapping[str, str], int]]:
    """The rows of a table by their headings, with their lines; none where it is missing. Only the first cell, a
    description, may have commas in it.
    """
    begin = re.search(rf"^START_{name}\r?\n", answer, re.MULTILINE)
    if begin is None:
        return
    end = answer.find(f"\nEND_{name}", begin.end() - 1)
    first = answer.count("\n", 0, begin.end()) + 1
    if end < 0:
        raise UnreadableError(f"cut short: the end of the table {name} is missing", line=first)
    headings, *rows = answer[begin.end() : end].replace("\r", "").split("\n")
    names = headings.split(",")
    columns(names, _COLUMNS[name], first)
    for number, line in enumerate(rows, first + 1):
        cells = line.rsplit(",", len(names) - 1)
        if len(cells) != len(names):
            raise UnreadableError("a row with too few cells", line=number, text=line)
        yield dict(zip(names, cells, strict=True)), number

"""The files of `ibdiagnet`."""

import re
from collections.abc import Iterable, Iterator, Mapping

from collector.formats.ib_words import EXTENDED, WIDTHS, End, Fact, Links, adapter, gbps, guid_text, switch
from collector.formats.text import lines
from truerail.errors import UnreadableError

# ----------------------------------------------------------------------------------------------------------------------
# What the files that NVIDIA's ibdiagnet writes have in common, and its list of links, `ibdiagnet2.lst`.
#
# Sources: ibutils' `ibdiagnet` manual, recorded files of ibdiagnet 2.10.

_BEGUN = re.compile("^# File created at", re.MULTILINE)
_CLOSED = re.compile("^# File closed at", re.MULTILINE)
_END = r"\{ (\w\w) Ports:[^{]* NodeGUID:([0-9a-fA-F]{1,16}) [^{]*?(?:\{(.*?)\} | )LID:[0-9a-fA-F]+ PN:([0-9a-fA-F]+) \}"
_GUID = re.compile(r"(?:0x)?[0-9a-fA-F]{1,16}")
_PORT = re.compile(r"[0-9]{1,3}")
_LINK = re.compile(rf"\s*{_END} {_END} PHY=(\S+) LOG=\S+ SPD=(\S+)")


def _guid_cell(cell: str, line: int) -> str:
    """The GUID in a table's cell. Raises `UnreadableError` if it is not one."""
    if not _GUID.fullmatch(cell):
        raise UnreadableError("not a GUID", line=line, text=cell)
    return guid_text(cell)


def _port_cell(cell: str, line: int) -> int:
    """The port number in a table's cell. Raises `UnreadableError` if it is not one."""
    if not _PORT.fullmatch(cell):
        raise UnreadableError("not the number of a port", line=line, text=cell)
    return int(cell)


def _refuse_missing(headings: Iterable[str], needed: Iterable[str], line: int) -> None:
    """Raises `UnreadableError` where a table lacks a column."""
    if missing := set(needed).difference(headings):
        raise UnreadableError(f"a table without {', '.join(sorted(missing))}", line=line)


def refuse_unclosed(answer: str) -> None:
    """Raises `UnreadableError` for a file of ibdiagnet whose last line is missing."""
    if _BEGUN.search(answer) and not _CLOSED.search(answer):
        raise UnreadableError(
            "cut short: ibdiagnet closes its files with a line that is missing", line=answer.count("\n")
        )


ibdiagnet_recognised = re.compile(r"^[ \t]*\{ \w\w Ports:", re.MULTILINE).search
"""Whether any line begins like a link of a `.lst` file."""


def from_lst(answer: str) -> Iterator[Fact]:
    """Both ends of each link in a `.lst` file, which has a line for each. Raises `UnreadableError` with the line."""
    refuse_unclosed(answer)
    links = Links()
    for number, line in enumerate(lines(answer), 1):
        if not line.lstrip().startswith("{"):
            continue
        found = _LINK.fullmatch(line.rstrip())
        if found is None:
            raise UnreadableError("not a link, or cut short", line=number, text=line)
        ends = []
        for kind, guid, description, port in (found.group(1, 2, 3, 4), found.group(5, 6, 7, 8)):
            key = guid_text(guid)
            links.node(key, adapter if kind == "CA" else switch, key, description or "")
            ends.append((key, int(port, 16)))
        links.link(ends[0], ends[1], gbps(found[9], found[10]), number)
    return links.facts()


# ----------------------------------------------------------------------------------------------------------------------
# ibdiagnet's database, `ibdiagnet2.db_csv`: tables between `START_` and `END_`.
#
# The tables NODES, PORTS and LINKS are read; with LINKS alone nodes are named by their GUIDs. In PORTS the active speed
# is a number whose bytes are the regular, the extended and the vendor-specific speed. The same bits under `LinkSpeedEn`
# and `LinkWidthEn`, else `...Sup`, give the speeds and widths that a port may run at. Sources: the notes in the file
# itself, recorded files of ibdiagnet 2.10, the codes of rdma-core's `libibmad/dump.c`.

_COLUMNS = {
    "NODES": ("NodeDesc", "NodeType", "NodeGUID"),
    "PORTS": ("NodeGuid", "PortNum", "LinkWidthActv", "LinkSpeedActv"),
    "LINKS": ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"),
}
"""The tables that are read, and their columns."""
_ADAPTER = "1"
"""The NodeType of a channel adapter; 2 is a switch, 3 a router."""
_REGULAR = {1: "SDR", 2: "DDR", 4: "QDR"}
_MOST_REGULAR = "FDR10"
_SDR_GBPS = 2.5


csv_recognised = re.compile(r"^START_(?:LINKS|NODES)\r?$", re.MULTILINE).search
"""Whether the answer contains the table of links or of nodes."""


def from_db_csv(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    refuse_unclosed(answer)
    links = Links()
    for row, number in _table(answer, "NODES"):
        key = _guid_cell(row["NodeGUID"], number)
        make = adapter if row["NodeType"] == _ADAPTER else switch
        links.node(key, make, key, row["NodeDesc"].strip('"'))
    ports = [(_end(row, "", number), row) for row, number in _table(answer, "PORTS")]
    speeds = {end: _speed(row) for end, row in ports}
    most = {end: _most(row) for end, row in ports}
    for row, number in _table(answer, "LINKS"):
        ends = first, second = _end(row, "1", number), _end(row, "2", number)
        for key, _port in ends:
            links.node(key, switch, key, "")  # where only the GUID is reported
        able = _able(most.get(first), most.get(second))
        links.link(first, second, speeds.get(first), number, able)
        links.link(second, first, speeds.get(second), number, able)
    return links.facts()


def _end(row: Mapping[str, str], side: str, number: int) -> End:
    return _guid_cell(row[f"NodeGuid{side}"], number), _port_cell(row[f"PortNum{side}"], number)


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
    widest = max(map(float, filter(None, lanes)), default=0.0)
    fastest = max(map(float, filter(None, rates)), default=0.0)
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
    _refuse_missing(names, _COLUMNS[name], first)
    for number, line in enumerate(rows, first + 1):
        cells = line.rsplit(",", len(names) - 1)
        if len(cells) != len(names):
            raise UnreadableError("a row with too few cells", line=number, text=line)
        yield dict(zip(names, cells, strict=True)), number


# ----------------------------------------------------------------------------------------------------------------------
# ibdiagnet's tables of ports: `net_dump`, one for each switch, and `net_dump_ext`, one for all nodes.
#
# Ports appear with their label (`1/16/2`, ASIC, cage and port of a Quantum-2) and their number. The peer's port appears
# with its label alone; the last part of an adapter's, `B184D0F0/0/0/1`, is its number. `net_dump_ext` names a peer by
# LID and label. Source: recorded files of ibdiagnet 2.10.

_SWITCH = re.compile(r'\s*"(.*)",[^,"]*, 0x([0-9a-fA-F]{1,16}), LID \d+')
_HEADER = re.compile(r"^[ \t]*(?:Ty[ \t]*:[ \t]*)?#[ \t]*:.*: N(?:eighbor|ode) Desc", re.MULTILINE)
_LID_AND_PORT = re.compile(r"(\d+)\s*\(([^()]*)\)")
_NUMBER = re.compile(r"(?:.*/)?(\d+)")
_OF_ONE = ("#", "LWA", "LSA", "Neighbor Guid", "N#", "Neighbor Description")
_OF_ALL = ("Ty", "#", "#IB", "GUID", "LID", "LWA", "LSA", "Conn LID (#)", "Node Desc")
"""The columns that are read from a switch's table and from the table of all nodes."""
Row = Mapping[str, str]
_Pending = list[tuple[End, tuple[str, str], Row, int]]
"""An end, the key of its peer (GUID or LID, and label), its row, and the line."""


dump_recognised = _HEADER.search
"""Whether the answer contains the headings of either table."""


def from_net_dump(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    refuse_unclosed(answer)
    links = Links()
    pending: _Pending = []
    ends: dict[tuple[str, str], End] = {}
    for key, row, number in _rows(links, answer):
        port = row.get("IB#") or row.get("#IB") or row["#"]
        end = (key, _port_cell(port, number))
        if row["#"] != port and row.get("Ty") != "CA":
            links.label(end, row["#"])
        ends[key, row["#"]] = end
        if "Ty" in row:
            ends[row["LID"].partition(" ")[0], row["#"]] = end
            peer = _LID_AND_PORT.fullmatch(row["Conn LID (#)"])
            reported = (peer[1], peer[2]) if peer else None
        else:
            reported = (_guid_cell(row["Neighbor Guid"], number), row["N#"]) if row["Neighbor Guid"] else None
        if reported:
            pending.append((end, reported, row, number))
    for end, reported, row, number in pending:
        links.link(end, _peer(links, ends, reported, row, number), gbps(row["LWA"], row["LSA"]), number)
    return links.facts()


def _peer(links: Links, ends: Mapping[tuple[str, str], End], reported: tuple[str, str], row: Row, number: int) -> End:
    """The other end. A node without a table of its own is an adapter."""
    if reported in ends:
        return ends[reported]
    port = _NUMBER.fullmatch(reported[1])
    if "Ty" in row or port is None:
        raise UnreadableError("nothing else is said of its peer", line=number, text=" port ".join(reported))
    links.node(reported[0], adapter, reported[0], row["Neighbor Description"].strip('"'))
    return reported[0], int(port[1])


def _rows(links: Links, answer: str) -> Iterator[tuple[str, Row, int]]:
    """Each row: its node, its cells by heading, its line. Descriptions come last and may contain anything."""
    key, headings = "", list[str]()
    for number, line in enumerate(lines(answer), 1):
        if found := _SWITCH.fullmatch(line.rstrip()):
            key = guid_text(found[2])
            links.node(key, switch, key, found[1])
        elif _HEADER.match(line):
            headings = [cell.strip() for cell in line.split(":")]
            _refuse_missing(headings, _OF_ALL if "Ty" in headings else _OF_ONE, number)
        elif headings and " : " in line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split(":", len(headings) - 1)]
            if len(cells) < len(headings):
                raise UnreadableError("a row with too few cells: cut short", line=number, text=line)
            row = dict(zip(headings, cells, strict=True))
            if "Ty" in row:
                key = _guid_cell(row["GUID"], number)
                links.node(key, adapter if row["Ty"] == "CA" else switch, key, row["Node Desc"].strip('"'))
            if not key:
                raise UnreadableError("a port of no switch: its beginning is missing", line=number, text=line)
            yield key, row, number

"""ibdiagnet's tables of ports: `net_dump`, one for each switch, and `net_dump_ext`, one for all nodes.

Ports appear with their label (`1/16/2`, ASIC, cage and port of a Quantum-2) and their number. The peer's port appears
with its label alone; the last part of an adapter's, `B184D0F0/0/0/1`, is its number. `net_dump_ext` names a peer by
LID and label. Source: recorded files of ibdiagnet 2.10.
"""

import re
from collections.abc import Iterator, Mapping

from collector._answer import lines
from collector._ib_ibdiagnet import refuse_unclosed
from collector._ib_links import End, Fact, Links
from collector._ib_words import adapter, columns, gbps, guid_cell, guid_text, port_cell, switch
from truerail.errors import UnreadableError

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


def recognised(answer: str) -> bool:
    """Whether the answer contains the headings of either table."""
    return _HEADER.search(answer) is not None


def from_net_dump(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    refuse_unclosed(answer)
    links = Links()
    pending: _Pending = []
    ends: dict[tuple[str, str], End] = {}
    for key, row, number in _rows(links, answer):
        port = row.get("IB#") or row.get("#IB") or row["#"]
        end = (key, port_cell(port, number))
        if row["#"] != port and row.get("Ty") != "CA":
            links.label(end, row["#"])
        ends[key, row["#"]] = end
        if "Ty" in row:
            ends[row["LID"].split()[0], row["#"]] = end
            peer = _LID_AND_PORT.fullmatch(row["Conn LID (#)"])
            reported = (peer[1], peer[2]) if peer else None
        else:
            reported = (guid_cell(row["Neighbor Guid"], number), row["N#"]) if row["Neighbor Guid"] else None
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
            columns(headings, _OF_ALL if "Ty" in headings else _OF_ONE, number)
        elif headings and " : " in line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split(":", len(headings) - 1)]
            if len(cells) < len(headings):
                raise UnreadableError("a row with too few cells: cut short", line=number, text=line)
            row = dict(zip(headings, cells, strict=True))
            if "Ty" in row:
                key = guid_cell(row["GUID"], number)
                links.node(key, adapter if row["Ty"] == "CA" else switch, key, row["Node Desc"].strip('"'))
            if not key:
                raise UnreadableError("a port of no switch: its beginning is missing", line=number, text=line)
            yield key, row, number

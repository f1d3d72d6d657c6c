"""SONiC's neighbours: the blocks of `sonic-cli`, and `show lldp table` in its plain form.

The table is read row by row as slices, in a third of the time of `_lldp_table`: only as SONiC itself prints it, whole
and nothing beside it: title, labels, a ruler below them, cells in their columns, the total. Anything else is left to
the parser for all tables (None), with the same facts where both read it.
Source: sonic-utilities `scripts/lldpshow`, which lays out the table with tabulate's "simple" format.
"""

import re
from collections.abc import Mapping, Sequence

from collector._lldp_words import identified, reported
from truerail.errors import UnreadableError
from truerail.model import Neighbor

_TITLE = "Capability codes: (R) Router, (B) Bridge, (O) Other"
_LABELS = ["LocalPort", "RemoteDevice", "RemotePortID", "Capability", "RemotePortDescr"]
_RUN = re.compile("-+")
_CLOSING = re.compile("-{10,}")
_TOTAL = re.compile(r"Total entries displayed: {1,4}(\d{1,6})")
_PORT = re.compile(r"[Ee]th[a-z]*\d[\d/]*")
_INTERFACE = re.compile(r"Interface:[ \t]+(\S+?),via:[ \t]*LLDP[ \t]*")
_VALUE = re.compile(r"[ \t]+(ChassisID|SysName|PortID|PortDescr):[ \t]*(.*?)[ \t]*")
_RULER = re.compile(r"-{20,}[ \t]*")


def of_framework(rows: Sequence[str]) -> list[Neighbor] | None:
    """The neighbours that `sonic-cli` shows (`lldp_neighbor_show.j2` of SONiC's management framework), a block for
    each between rulers; None for anything else. Raises `UnreadableError` if the last block is cut.
    """
    blocks: list[tuple[str, dict[str, str]]] = []
    closed = True
    for line in rows:
        begun, keyed = _INTERFACE.fullmatch(line), _VALUE.fullmatch(line)
        closed = _RULER.fullmatch(line) is not None or (closed and not begun)
        if begun:
            blocks.append((begun[1], {}))
        elif keyed and blocks:
            blocks[-1][1].setdefault(keyed[1], keyed[2])
    if blocks and not closed:
        raise UnreadableError("a neighbour without the ruler below it: the answer is cut", text=blocks[-1][0])
    return [_framed(port, values) for port, values in blocks] or None


def _framed(port: str, values: Mapping[str, str]) -> Neighbor:
    return Neighbor(
        port,
        *identified(values.get("ChassisID")),
        reported(values.get("SysName")),
        *identified(values.get("PortID")),
        reported(values.get("PortDescr")),
    )


def plain_table(answer: str) -> list[Neighbor] | None:
    """The neighbours in a plain table, in its order; None for anything else."""
    if not answer.startswith(_TITLE):
        return None
    lines = answer.split("\n")
    if len(lines) < 6 or lines[0] != _TITLE or lines[1].split() != _LABELS or "\r" in answer or "\t" in answer:
        return None
    head, ruler, rows = lines[1], lines[2], lines[3:-3]
    starts = [run.start() for run in _RUN.finditer(ruler)]
    total = _TOTAL.fullmatch(lines[-2])
    if starts != [head.index(label) for label in _LABELS] or ruler.strip("- ") or len(ruler) < len(head.rstrip()):
        return None
    if lines[-1] or total is None or int(total[1]) != len(rows) or not _CLOSING.fullmatch(lines[-3]):
        return None
    found = []
    _, name_at, id_at, capability_at, description_at = starts
    for row in rows:
        port, name, port_id = row[:name_at].strip(), row[name_at:id_at].strip(), row[id_at:capability_at].strip()
        gaps = row[name_at - 2 : name_at] + row[id_at - 2 : id_at] + row[capability_at - 2 : capability_at]
        gaps += row[description_at - 2 : description_at]
        if not (name and port_id and _PORT.fullmatch(port)) or gaps.strip(" "):
            return None
        described = reported(row[description_at:])
        found.append(Neighbor(port, None, None, reported(name), *identified(port_id), described))
    return found

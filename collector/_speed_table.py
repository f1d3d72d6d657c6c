"""Tables of ports: `show interfaces status` of EOS, NX-OS and SONiC, `display interface brief` of Huawei's VRP, and
those of `collector/_speed_layouts.py`.

EOS and NX-OS print `Port Name Status Vlan Duplex Speed Type`. The name is free text: it may be empty, contain blanks,
or look like a row itself, and mail programs squeeze the columns. So a row is read backwards from the last word that is
a duplex; the module's type follows the speed. NX-OS' tables of tunnels and VLANs have no duplex.

SONiC prints `Interface Lanes Speed MTU FEC Alias Vlan Oper Admin Type ...`, cells two blanks or more apart. Only the
module's type may be missing, so the cells up to `Admin` are in place. Edgecore adds `Oper Speed` at the end.

VRP prints `Interface PHY Protocol InUti OutUti inErrors outErrors`, members indented below their trunk, `(10G)` after
a name, and no speed, which `display interface ethernet brief` has. Only physical ports are read.
Sources: sonic-utilities `scripts/intfutil` and `tests/intfutil_test.py`, ntc-templates' and genieparser's recordings.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from collector import _speed_layouts
from collector._counted import may_be_cut
from collector._port_words import of_vrp, of_word, of_words
from collector._speed_status import PortStatus, gbps, status
from truerail.errors import UnreadableError

_GAP = re.compile(r"[ \t]{2,}")
_DUPLEX = frozenset(("full", "half", "auto", "a-full", "a-half", "unconf"))
_CISCO = ("status", "duplex", "speed")
_VRP = ["interface", "phy", "protocol"]
_VRP_PORT = re.compile(r"((?:\w*Ethernet|\d*X?GE|MEth)\d+(?:[/:]\d+)*)(?:\(\w+\))?")
_VRP_CELLS = 7
_VRP_ETHERNET, _ETHERNET_CELLS, _BANDWIDTH = ["interface", "phy", "auto-neg", "duplex"], 8, 4
"""`Interface PHY Auto-Neg Duplex BW InUti OutUti Trunk Description`, where a description may be missing."""
_LONGEST_ROW = 1000
Row = Callable[[str], PortStatus | None]


def statuses(answer: str, text: Sequence[str]) -> list[PortStatus] | None:
    """The rows below every header of such a table in the lines of an answer; None if there is no header."""
    found: list[PortStatus] = []
    row: Row | None = None
    begun = False
    for at, drawn in enumerate(text, 1):
        line = drawn.replace("|", "  ") if drawn.startswith("|") else drawn
        words = line.lower().split(maxsplit=1)
        if words and words[0] in ("port", "interface", "name"):
            row = _reader(line)
            begun = begun or row is not None
        elif row and words and len(line) <= _LONGEST_ROW:
            reported = row(line)
            found += [reported] if reported and not (at == len(text) and _cut(answer, line, reported)) else []
    return _reasoned(found) if begun else None


def _reasoned(found: list[PortStatus]) -> list[PortStatus]:
    """The rows, with missing modules only where they count. If ports with link have no module either, the platform
    reads none (a virtual switch).
    """
    blind = any(port.up and port.reason for port in found)
    return [port._replace(reason=None) if port.up or (blind and port.reason == "no module") else port for port in found]


def _cut(answer: str, line: str, reported: PortStatus) -> bool:
    """Whether the answer ends inside this row's speed, which may then have lost digits or its unit."""
    return may_be_cut(answer, line) and gbps(line.split()[-1]) == reported.gbps is not None


def _reader(header: str) -> Row | None:
    layout = _speed_layouts.layout_of(header)
    if layout:
        return partial(_speed_layouts.row, layout)
    labels = _GAP.split(header.strip().lower())
    if {"interface", "speed", "oper", "admin"}.issubset(labels):
        return lambda line: _sonic(labels, line)
    words = header.lower().split()
    if words[:3] == _VRP:
        return _vrp
    if words[:4] == _VRP_ETHERNET:
        return partial(_vrp, cells_least=_ETHERNET_CELLS, bandwidth=_BANDWIDTH)
    in_order = [word for word in words if word in _CISCO]
    return _cisco if in_order == list(_CISCO) else None


def _sonic(labels: Sequence[str], line: str) -> PortStatus | None:
    cells = _GAP.split(line.strip())
    if len(cells) <= max(labels.index("oper"), labels.index("admin")):
        return None
    reported = dict(zip(labels, cells, strict=False))
    empty = reported.get("type", "").upper() == "N/A" and len(cells) >= len(labels) - 1
    state = of_words(reported["oper"], reported["admin"])
    if empty and state.enabled:
        state = state._replace(reason="no module")  # even for a port with link, until all rows are read
    running = reported.get("oper speed", "") if len(cells) == len(labels) else ""
    mtu = reported.get("mtu", "")
    speed = gbps(running) or gbps(reported["speed"])
    alias = reported.get("alias", "")
    found = status(reported["interface"], state, speed, int(mtu) if mtu.isdecimal() else None)
    return found._replace(alias=alias) if alias not in ("", "N/A", "-", reported["interface"]) else found


def _vrp(line: str, cells_least: int = _VRP_CELLS, bandwidth: int | None = None) -> PortStatus | None:
    cells = line.split()
    found = _VRP_PORT.fullmatch(cells[0])
    if found is None:
        return None
    if len(cells) < cells_least:
        raise UnreadableError("a row with too few cells: the table is cut", text=line)
    return status(found[1], of_vrp(cells[1]), None if bandwidth is None else gbps(cells[bandwidth]))


def _cisco(line: str) -> PortStatus | None:
    words = line.split()
    at = next(_duplexes(words), 0)
    if not at or at + 1 == len(words):
        return None
    vlan = at - 2 if words[at - 2] == "in" else at - 1  # a member of a bundle is "in Po49"
    if vlan < 2 or any(of_word(word).up is not None for word in words[at + 2 :]):
        return None
    return status(words[0], of_word(words[vlan - 1], " ".join(words[at + 2 :])), gbps(words[at + 1]))


def _duplexes(words: Sequence[str]) -> Iterator[int]:
    """Positions of the words that are a duplex, the last first; in `auto auto` the second is the speed."""
    for at in range(len(words) - 1, 2, -1):
        if words[at] in _DUPLEX and words[at - 1] not in _DUPLEX:
            yield at

"""A row for each port: its state and speed."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from collector.formats.counts import may_be_cut
from collector.formats.port_words import PortStatus, gbps, of_vrp, of_word, of_words, status
from truerail.errors import UnreadableError

# ----------------------------------------------------------------------------------------------------------------------
# Tables of ports that one expression reads row by row: IOS-XR, NX-OS, Comware, OS10, AOS-CX, Junos and others.
#
# | network OS | table | rests on |
# |---|---|---|
# | Cisco IOS-XR | `show interfaces brief` | recorded answers (ntc-templates, cisco_xr) |
# | Cisco NX-OS | `show interface brief` | recorded answers (genieparser, nxos) |
# | Comware | `display interface brief`, bridge and route mode | recorded answers (ntc-templates, hp_comware) |
# | Dell OS10 | `show interface status` | answers in the Cray switch guides (Cray-HPE/docs-csm) and Dell's user guide |
# | AOS-CX | `show interface physical`, `show interface brief` | recorded answers (ntc-templates, aruba_aoscx) |
# | Junos | `show interfaces terse` | recorded answers (genieparser, junos) |
# | Nokia SR Linux | `show interface brief` | answers in Nokia's and containerlab's documentation |
# | Ruijie RGOS | `show interfaces status` | an answer of a D-Link DGS-3610, which runs it (NOC project) |
# | sonic-cli | `show interface status` | documentation alone: Dell's Enterprise SONiC user guide, SONiC's designs |
#
# Traps:
#
# - IOS-XR shows the bandwidth, which `bandwidth` in the configuration replaces: `show interfaces` has the link's speed.
# - IOS-XR's MTU includes the Ethernet header: not read.
# - NX-OS' header has two lines, of which the second is like no other's; a module may be missing in a port that is off.
# - Dell OS10 shows `down` also for most ports that are administratively down: whether they are is unknown.
# - AOS-CX' `physical` has two or three columns more where ports are copper.
# - A description is free text between port and state (OS10), or the last cell: a word in it is no state.
# - Only ports of the chassis are read: no aggregates, VLANs, loopbacks, subinterfaces.

_STATE = dict.fromkeys(("adm", "admin-down", "no", "disable", "disabled"), "down") | {"yes": "up", "enable": "up"}
"""Words of a column that are an admin state."""
_KILO = 1000


class Layout(NamedTuple):
    """A table: its header, what a port's first cell looks like, and a row."""

    header: re.Pattern[str]
    port: re.Pattern[str]
    row: re.Pattern[str]
    shows_admin: bool = True
    """Whether `down` is another word than that of a port that is administratively down."""


def _layout(header: str, port: str, row: str, *, shows_admin: bool = True) -> Layout:
    return Layout(re.compile(header), re.compile(port), re.compile(row), shows_admin)


_SLASHED = r"[A-Za-z-]*\d*[A-Za-z-]*\d+(?:/[A-Z]*\d+)+(?::\d+)?"
LAYOUTS = (
    _layout(
        r"\s*Name\s+State\s+State\s+Type\s+\(byte\)\s+\(Kbps\)\s*",
        r"\s*(?:Mg0/\S+|[A-Z][A-Za-z]\d+(?:/[A-Z]*\d+){3,4})(?=\s)",
        r"\s*(?P<port>\S+)\s+(?P<oper>up|down|admin-down)\s+\S+\s+\S+\s+\d+\s+(?P<kilobits>\d+)\s*",
    ),
    _layout(
        r"\s*Interface\s+Ch ?#\s*",
        r"\s*Eth(?:ernet)?\d+(?:/\d+)+(?=\s)",
        r"\s*(?P<port>\S+)\s+\S+\s+\S+\s+\S+\s+(?P<oper>up|down)\s+(?P<why>\S.*?)\s+"
        r"(?P<speed>[^\s(]+)\(\w\)\s+(?:--|\d+)\s*",
        shows_admin=False,
    ),
    _layout(
        r"\s*Interface\s+Status\s+Vlan\s+Duplex\s+Speed\s+Type\s*",
        r"\s*[A-Za-z]+ ?\d+(?:/\d+)+(?=\s)",
        r"\s*(?P<port>[A-Za-z]+ ?\S+)\s+(?P<oper>up|down|disabled)\s+\S+\s+\S+\s+(?P<speed>\S+)(?:\s.*)?",
        shows_admin=False,
    ),
    _layout(
        r"\s*Interface\s+Link\s+Speed\s+Duplex\s+Type\s+PVID\b.*",
        rf"\s*{_SLASHED}(?=\s)",
        r"\s*(?P<port>\S+)\s+(?P<oper>UP|DOWN|ADM|Stby)(?:\([^)]*\))?\s+(?P<speed>[^\s(]+)(?:\(a\))?\s+\S+\s.*",
    ),
    _layout(
        r"\s*Interface\s+Link\s+Protocol\s+(?:Primary|Main) IP\b.*",
        rf"\s*{_SLASHED}(?=\s)",
        r"\s*(?P<port>\S+)\s+(?P<oper>UP|DOWN|ADM|Stby)(?:\([^)]*\))?\s+\S+(?:\s.*)?",
    ),
    _layout(
        r"\s*Port\s+Description\s+Status\s+Speed\s+Duplex\s+Mode\s+Vlan\b.*",
        r"\s*(?:Eth|ethernet) ?\d+(?:/\d+){2}(?::\d+)?(?=\s)",
        r"\s*(?P<port>[A-Za-z]+ ?\S+)\s+(?:\S.*\s)?(?P<oper>up|down|admin-down)\s+"
        r"(?P<speed>\d+[MGT]?|auto|--|-)(?:\s.*)?",
        shows_admin=False,
    ),
    _layout(
        r"\s*Port\s+Type\s+Status\s+Config\s+Status\s+\|\s+Config\b.*",
        r"\s*\d+/\d+/\d+(?::\d+)?(?=\s)",
        r"\s*(?P<port>\S+)\s+\S+(?: \S+)*\s{2,}(?P<oper>up|down)\s+(?P<admin>up|down)\s+"
        r"(?P<speed>[^\s-]+|--)(?:-[FH]Dx)?(?=(?:.*?\s(?P<why>No XCVR installed)\b)?)(?:\s+\S+){4}.*",
    ),
    _layout(
        r"\s*Port\s+Native\s+Mode\s+Type\s+Enabled\s+Status\s+Reason\s+Speed\b.*",
        r"\s*\d+/\d+/\d+(?::\d+)?(?=\s)",
        r"\s*(?P<port>\S+)\s+\S+\s+\S+\s+\S+(?: \S+)*?\s+(?P<admin>yes|no)\s+(?P<oper>up|down)"
        r"(?:\s+(?P<why>[A-Z]\S*(?: \S+)*))?\s{2,}(?P<speed>\d+|--)\s.*",
    ),
    _layout(
        r"\s*Interface\s+Admin\s+Link\s+Proto\s+Local\b.*",
        r"(?:(?:et|xe|ge|mge|fte)-\d+/\d+/\d+(?::\d+)?|fxp\d|v?me\d|em\d|re\d:mgmt-\d)(?=\s)",
        r"(?P<port>\S+)\s+(?P<admin>up|down)\s+(?P<oper>up|down)(?:\s.*)?",
    ),
    _layout(
        r"\s*Port\s+Admin State\s+Oper State\s+Speed\b.*",
        r"\s*(?:ethernet-\d+/\d+(?:/\d+)?|mgmt\d)(?=\s)",
        r"\s*(?P<port>\S+)\s+(?P<admin>enable|disable)\s+(?P<oper>up|down)(?:\s+(?P<speed>\d+[MGT]))?(?:\s.*)?",
    ),
    _layout(
        r"\s*Name\s+Description\s+Oper\s+Reason\s+Auto-?Neg\s+Speed\s+MTU\b.*",
        r"\s*Eth\S*\d(?=\s)",
        r"\s*(?P<port>\S+)\s+(?:\S.*\s)?(?P<oper>up|down)\s+(?P<why>[a-z][\w-]*)\s+\S+\s+(?P<speed>\S+)\s+"
        r"(?P<mtu>\d+)(?:\s+(?P<alias>\S+))?\s*",
    ),
    _layout(
        r"\s*Name\s+Description\s+Admin\s+Oper\s+(?:Auto-?Neg\s+)?Speed\s+MTU\b.*",
        r"\s*Eth\S*\d(?=\s)",
        r"\s*(?P<port>\S+)\s+(?:\S.*\s)?(?P<admin>up|down)\s+(?P<oper>up|down)\s+(?:(?:on|off)\s+)?"
        r"(?P<speed>\d+(?:GB)?|-)\s+(?P<mtu>\d+)(?:\s+(?P<alias>\S+))?\s*",
    ),
)


def row(layout: Layout, line: str) -> PortStatus | None:
    """The port of a row; None for a line of another interface. Raises `UnreadableError` for a row that is cut."""
    if not layout.port.match(line):
        return None
    found = layout.row.fullmatch(line)
    if found is None:
        raise UnreadableError("a row with too few cells: the table is cut", text=line)
    cells = found.groupdict()
    oper, why = cells["oper"].lower(), cells.get("why") or ""
    off = oper in _STATE or of_word(why).enabled is False
    shown = cells.get("admin") or ("up" if layout.shows_admin else "")
    admin = "down" if off else _STATE.get(shown, shown)
    state = of_words(_STATE.get(oper, oper), admin, why)
    kilobits, mtu = cells.get("kilobits"), cells.get("mtu")
    speed = str(int(kilobits) // _KILO) if kilobits else (cells.get("speed") or "").removesuffix("B")
    reported = status(cells["port"], state, gbps(speed), int(mtu) if mtu else None)
    return reported._replace(alias=cells.get("alias"))


# ----------------------------------------------------------------------------------------------------------------------
# Tables of ports: `show interfaces status` of EOS, NX-OS and SONiC, `display interface brief` of Huawei's VRP, and
# those that one expression reads.
#
# EOS and NX-OS print `Port Name Status Vlan Duplex Speed Type`. The name is free text: it may be empty, contain blanks,
# or look like a row itself, and mail programs squeeze the columns. So a row is read backwards from the last word that
# is a duplex; the module's type follows the speed. NX-OS' tables of tunnels and VLANs have no duplex.
#
# SONiC prints `Interface Lanes Speed MTU FEC Alias Vlan Oper Admin Type ...`, cells two blanks or more apart. Only the
# module's type may be missing, so the cells up to `Admin` are in place. Edgecore adds `Oper Speed` at the end.
#
# VRP prints `Interface PHY Protocol InUti OutUti inErrors outErrors`, members indented below their trunk, `(10G)` after
# a name, and no speed, which `display interface ethernet brief` has. Only physical ports are read.
# Sources: sonic-utilities `scripts/intfutil` and `tests/intfutil_test.py`, ntc-templates' and genieparser's recordings.

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
    if layout := next((layout for layout in LAYOUTS if layout.header.fullmatch(header)), None):
        return partial(row, layout)
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
    if len(cells) <= max(map(labels.index, ("speed", "oper", "admin"))):
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

"""Tables of ports that one expression reads row by row: IOS-XR, NX-OS, Comware, OS10, AOS-CX, Junos and others.

| network OS | table | rests on |
|---|---|---|
| Cisco IOS-XR | `show interfaces brief` | recorded answers (ntc-templates, cisco_xr) |
| Cisco NX-OS | `show interface brief` | recorded answers (genieparser, nxos) |
| Comware | `display interface brief`, bridge and route mode | recorded answers (ntc-templates, hp_comware) |
| Dell OS10 | `show interface status` | answers in the Cray switch guides (Cray-HPE/docs-csm) and Dell's user guide |
| AOS-CX | `show interface physical`, `show interface brief` | recorded answers (ntc-templates, aruba_aoscx) |
| Junos | `show interfaces terse` | recorded answers (genieparser, junos) |
| Nokia SR Linux | `show interface brief` | answers in Nokia's and containerlab's documentation |
| Ruijie RGOS | `show interfaces status` | an answer of a D-Link DGS-3610, which runs it (NOC project) |
| sonic-cli | `show interface status` | documentation alone: Dell's Enterprise SONiC user guide, SONiC's designs |

Traps:

- IOS-XR shows the bandwidth, which `bandwidth` in the configuration replaces: `show interfaces` has the link's speed.
- IOS-XR's MTU includes the Ethernet header: not read.
- NX-OS' header has two lines, of which the second is like no other's; a module may be missing in a port that is off.
- Dell OS10 shows `down` also for most ports that are administratively down: whether they are is unknown.
- AOS-CX' `physical` has two or three columns more where ports are copper.
- A description is free text between port and state (OS10), or the last cell: a word in it is no state.
- Only ports of the chassis are read: no aggregates, VLANs, loopbacks, subinterfaces.
"""

import re
from typing import NamedTuple

from collector._port_words import of_word, of_words
from collector._speed_status import PortStatus, gbps, status
from truerail.errors import UnreadableError

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


_SLASHED = r"[A-Za-z-]*\d*[A-Za-z-]*\d+(?:/[A-Z]*\d+)+(?::\d+)?"
LAYOUTS = (
    Layout(
        re.compile(r"\s*Name\s+State\s+State\s+Type\s+\(byte\)\s+\(Kbps\)\s*"),
        re.compile(r"\s*(?:Mg0/\S+|[A-Z][A-Za-z]\d+(?:/[A-Z]*\d+){3,4})(?=\s)"),
        re.compile(r"\s*(?P<port>\S+)\s+(?P<oper>up|down|admin-down)\s+\S+\s+\S+\s+\d+\s+(?P<kilobits>\d+)\s*"),
    ),
    Layout(
        re.compile(r"\s*Interface\s+Ch ?#\s*"),
        re.compile(r"\s*Eth(?:ernet)?\d+(?:/\d+)+(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+\S+\s+\S+\s+\S+\s+(?P<oper>up|down)\s+(?P<why>\S.*?)\s+"
            r"(?P<speed>[^\s(]+)\(\w\)\s+(?:--|\d+)\s*"
        ),
        shows_admin=False,
    ),
    Layout(
        re.compile(r"\s*Interface\s+Status\s+Vlan\s+Duplex\s+Speed\s+Type\s*"),
        re.compile(r"\s*[A-Za-z]+ ?\d+(?:/\d+)+(?=\s)"),
        re.compile(r"\s*(?P<port>[A-Za-z]+ ?\S+)\s+(?P<oper>up|down|disabled)\s+\S+\s+\S+\s+(?P<speed>\S+)(?:\s.*)?"),
        shows_admin=False,
    ),
    Layout(
        re.compile(r"\s*Interface\s+Link\s+Speed\s+Duplex\s+Type\s+PVID\b.*"),
        re.compile(rf"\s*{_SLASHED}(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+(?P<oper>UP|DOWN|ADM|Stby)(?:\([^)]*\))?\s+(?P<speed>[^\s(]+)(?:\(a\))?\s+\S+\s.*"
        ),
    ),
    Layout(
        re.compile(r"\s*Interface\s+Link\s+Protocol\s+(?:Primary|Main) IP\b.*"),
        re.compile(rf"\s*{_SLASHED}(?=\s)"),
        re.compile(r"\s*(?P<port>\S+)\s+(?P<oper>UP|DOWN|ADM|Stby)(?:\([^)]*\))?\s+\S+(?:\s.*)?"),
    ),
    Layout(
        re.compile(r"\s*Port\s+Description\s+Status\s+Speed\s+Duplex\s+Mode\s+Vlan\b.*"),
        re.compile(r"\s*(?:Eth|ethernet) ?\d+(?:/\d+){2}(?::\d+)?(?=\s)"),
        re.compile(
            r"\s*(?P<port>[A-Za-z]+ ?\S+)\s+(?:\S.*\s)?(?P<oper>up|down|admin-down)\s+"
            r"(?P<speed>\d+[MGT]?|auto|--|-)(?:\s.*)?"
        ),
        shows_admin=False,
    ),
    Layout(
        re.compile(r"\s*Port\s+Type\s+Status\s+Config\s+Status\s+\|\s+Config\b.*"),
        re.compile(r"\s*\d+/\d+/\d+(?::\d+)?(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+\S+(?: \S+)*\s{2,}(?P<oper>up|down)\s+(?P<admin>up|down)\s+"
            r"(?P<speed>[^\s-]+|--)(?:-[FH]Dx)?(?=(?:.*?\s(?P<why>No XCVR installed)\b)?)(?:\s+\S+){4}.*"
        ),
    ),
    Layout(
        re.compile(r"\s*Port\s+Native\s+Mode\s+Type\s+Enabled\s+Status\s+Reason\s+Speed\b.*"),
        re.compile(r"\s*\d+/\d+/\d+(?::\d+)?(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+\S+\s+\S+\s+\S+(?: \S+)*?\s+(?P<admin>yes|no)\s+(?P<oper>up|down)"
            r"(?:\s+(?P<why>[A-Z]\S*(?: \S+)*))?\s{2,}(?P<speed>\d+|--)\s.*"
        ),
    ),
    Layout(
        re.compile(r"\s*Interface\s+Admin\s+Link\s+Proto\s+Local\b.*"),
        re.compile(r"(?:(?:et|xe|ge|mge|fte)-\d+/\d+/\d+(?::\d+)?|fxp\d|v?me\d|em\d|re\d:mgmt-\d)(?=\s)"),
        re.compile(r"(?P<port>\S+)\s+(?P<admin>up|down)\s+(?P<oper>up|down)(?:\s.*)?"),
    ),
    Layout(
        re.compile(r"\s*Port\s+Admin State\s+Oper State\s+Speed\b.*"),
        re.compile(r"\s*(?:ethernet-\d+/\d+(?:/\d+)?|mgmt\d)(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+(?P<admin>enable|disable)\s+(?P<oper>up|down)(?:\s+(?P<speed>\d+[MGT]))?(?:\s.*)?"
        ),
    ),
    Layout(
        re.compile(r"\s*Name\s+Description\s+Oper\s+Reason\s+Auto-?Neg\s+Speed\s+MTU\b.*"),
        re.compile(r"\s*Eth\S*\d(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+(?:\S.*\s)?(?P<oper>up|down)\s+(?P<why>[a-z][\w-]*)\s+\S+\s+(?P<speed>\S+)\s+"
            r"(?P<mtu>\d+)(?:\s+(?P<alias>\S+))?\s*"
        ),
    ),
    Layout(
        re.compile(r"\s*Name\s+Description\s+Admin\s+Oper\s+(?:Auto-?Neg\s+)?Speed\s+MTU\b.*"),
        re.compile(r"\s*Eth\S*\d(?=\s)"),
        re.compile(
            r"\s*(?P<port>\S+)\s+(?:\S.*\s)?(?P<admin>up|down)\s+(?P<oper>up|down)\s+(?:(?:on|off)\s+)?"
            r"(?P<speed>\d+(?:GB)?|-)\s+(?P<mtu>\d+)(?:\s+(?P<alias>\S+))?\s*"
        ),
    ),
)


def layout_of(header: str) -> Layout | None:
    """The table that a line is the header of."""
    return next((layout for layout in LAYOUTS if layout.header.fullmatch(header)), None)


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

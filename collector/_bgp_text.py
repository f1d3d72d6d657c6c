"""BGP sessions over unnumbered interfaces in text: FRR's, NVUE's and EOS' summaries, FRR's `show bgp neighbors`.

FRR prints a peer's own name and its port in one cell, `spine01(swp51)`, or the port alone before the peer has said its
name; a cell that is too long has its row on the next line. The last number is the count of prefixes of a session that
is up; a word is its state. NVUE prints no name, and a line for each address family. EOS and NX-OS print
`fe80::1%Et1`. Sources: recorded answers in Cumulus Linux' documentation, FRR `bgpd/bgp_vty.c` (bgp_show_summary),
ntc-templates (arista_eos).
"""

import re
from collections.abc import Iterator, Sequence

from collector._station_rows import is_port
from truerail.model import BgpPeer

_SIGN = re.compile(
    r"BGP router identifier |BGP summary information for VRF |BGP neighbor (?:on|is) |Neighbor\s+(?:V|AS)\s"
)
_ROW = re.compile(r"([^\s(]+)(?:\((\S+)\))?\s+4\s+\d+(?:\.\d+)?(?:\s+\d+){5}\s+(\S+)\s+(\S+(?: \(Admin\))?)(?:\s.*)?")
_NVUE = re.compile(r"([ \t]*)Neighbor +AS +State +.*")
_NVUE_ROW = re.compile(r"(\S+) +(?:\d+(?:\.\d+)? +)?([a-z]\S*)(?: .*)?", re.IGNORECASE)
_STATES = {state.lower(): state for state in ("Established", "Idle", "Active", "Connect", "OpenSent", "OpenConfirm")}
_REST = re.compile(r"\s+4\s+\d+")
_LINK_LOCAL = re.compile(r"(?:\S.*\s)?([0-9a-fA-F:]+)%(\S+)\s+(.*)")
_STATE = re.compile(r"\b(Estab(?:lished)?|Idle ?\(Admin\)|Idle|Active|Connect|OpenSent|OpenConfirm)(?!\S)")
_NEIGHBOR = re.compile(r"BGP neighbor (?:on (\S+): (\S+)|is \S+), .*")
_UP = re.compile(r"\d+|\(Policy\)|NoNeg|N/A", re.IGNORECASE)
_ESTABLISHED = "Established"


def peers(text: Sequence[str]) -> list[BgpPeer] | None:
    """The sessions whose key is a port; None if the lines are no such answer."""
    said = [line.rstrip() for line in text if line.strip()]
    if not any(_SIGN.match(line.strip()) for line in said):
        return None
    if any(_NEIGHBOR.match(line.strip()) for line in said):
        return list(_neighbors(said))
    for at, line in enumerate(said):
        if title := _NVUE.fullmatch(line):
            return list(_nvue(said[at + 1 :], title[1]))
    return list(dict.fromkeys(_summary(said)))


def _summary(text: Sequence[str]) -> Iterator[BgpPeer]:
    begun = ""
    for line in text:
        row = f"{begun} {line.strip()}" if begun and _REST.match(line) else line.strip()
        begun = line.strip() if len(line.split()) == 1 else ""
        if found := _ROW.fullmatch(row):
            name, port, _, state = found.groups()
            name, port = (name, port) if port else (None, name)
            address, _, scope = port.rpartition("%")  # NX-OS' `fe80::1%Ethernet1/2`
            if is_port(scope):
                yield BgpPeer(scope, name, address or None, _ESTABLISHED if _UP.fullmatch(state) else state)
        elif (scoped := _LINK_LOCAL.fullmatch(row)) and is_port(scoped[2]):
            said = _STATE.search(scoped[3])
            state = said[1].replace("(", " (").replace("  ", " ") if said else None
            yield BgpPeer(scoped[2], None, scoped[1], _ESTABLISHED if state and state[:5] == "Estab" else state)


def _nvue(rows: Sequence[str], indent: str) -> Iterator[BgpPeer]:
    for row in rows:
        found = _NVUE_ROW.fullmatch(row.removeprefix(indent))
        if found and is_port(found[1]):
            yield BgpPeer(found[1], None, None, _STATES.get(found[2].lower(), found[2]))


def _neighbors(text: Sequence[str]) -> Iterator[BgpPeer]:
    peer: BgpPeer | None = None
    for line in (*text, "BGP neighbor is 0.0.0.0, end"):
        begun = _NEIGHBOR.match(line.strip())
        key, _, value = (part.strip() for part in line.partition(":"))
        if begun:
            if peer:
                yield peer
            peer = BgpPeer(begun[1], None, begun[2]) if begun[1] and is_port(begun[1]) else None
        elif peer and key == "Hostname":
            peer = peer._replace(hostname=value or None)
        elif peer and line.strip().startswith("BGP state = ") and peer.state is None:
            peer = peer._replace(state=line.partition("=")[2].split(",")[0].strip())
        elif peer and line.strip() == "Administratively shut down":
            peer = peer._replace(state="Idle (Admin)")

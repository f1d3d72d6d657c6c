"""BGP sessions over interfaces without addresses (unnumbered): which device is behind which port, by its own name.

Question: what does the BGP peer on this port call itself, and are its BGP and BFD sessions up?
Needs: a read-only login; on Linux the right to run `vtysh`.

Formats: JSON of FRR `show bgp [vrf all] summary json` and `show bgp [vrf all] neighbors json`, also below VRFs; of EOS
`show bgp summary vrf all | json`; of NX-OS `show bgp all summary vrf all | json`. As text the summaries of FRR, NVUE
and EOS, and FRR's neighbors. Sources: recorded answers of FRR 7.0 and 8.4 and of NX-OS; Arista's EOS command API; FRR
`bgpd/bgp_bfd.c` (`peerBfdInfo`) and `bgp_vty.c` (`adminShutDown`).

Traps:

- A session between addresses may cross other devices: it shows no port, and is left out. So most answers of NX-OS have
  none.
- While a port is down, FRR shows `Idle`, but the peer's name stays, and `peerState` says `OK`: only `Established`
  counts.
- The name is what the peer calls itself, as in LLDP, and may be wrong in the same ways.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from collector.formats.documents import listed, unwrapped
from collector.formats.table import is_port
from collector.formats.text import blocks, is_json, lines
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, BgpPeer, Command, Device, collector, minutes, saved_as

_STATES = ("state", "bgpState", "peerState")
_SIGNS = ("bgpNeighborAddr", "peers", "TABLE_vrf", "vrfs", "remoteAs")


ASK = (
    Command("vtysh -c 'show bgp vrf all neighbors json'", ("cumulus", "linux", "sonic")),
    Command("vtysh -c 'show bgp vrf all summary json'", ("cumulus", "linux", "sonic")),
    Command("show bgp summary vrf all | json", ("eos",)),
    Command("show bgp all summary vrf all | json", ("nxos",)),
    *saved_as("show bgp summary json", "show bgp neighbors json", "net show bgp vrf all neighbor json"),
    *saved_as("show bgp summary", "show ip bgp summary", "show bgp neighbors", "net show bgp summary"),
    *saved_as("nv show vrf default router bgp neighbor"),
)
_VOLATILE = {
    b'"remoteAs"': rb'"(?:\w+(?:Sent|Recv|Rcvd|Msecs?)|peerUptime\w*|bgpTimer\w*|lastUpdate)": ?(?:"[^"]*"|[0-9]+)'
}


@collector(on=SWITCHES, ask=ASK, every=minutes(1), yields=[BgpPeer], optional=True, volatile=_VOLATILE)
def bgp_peers(answer: str, device: Device) -> list[BgpPeer]:
    """One `BgpPeer` for each session whose key is a port, in the answer's order. Raises `UnreadableError`."""
    if not is_json(answer) and (found := peers(lines(answer)[:-1])) is not None:
        return found
    if not any(f'"{sign}"' in answer for sign in _SIGNS):
        raise UnreadableError("not an answer about BGP sessions", line=1, text=answer.strip().split("\n")[0])
    return list(dict.fromkeys(_peers(unwrapped(answer))))


def _peers(found: Any) -> Iterator[BgpPeer]:
    """Sessions at any depth: below VRFs and address families."""
    for row in listed(found):
        if not isinstance(row, dict):
            continue
        if "neighborid" in row:
            yield from _peer(str(row["neighborid"]), row)
            continue
        for key, value in row.items():
            if isinstance(value, dict) and ("remoteAs" in value or "bgpState" in value or "peerState" in value):
                yield from _peer(key, value)
            elif isinstance(value, dict | list):
                yield from _peers(value)


def _peer(key: str, row: dict[str, Any]) -> Iterator[BgpPeer]:
    """The session, if its key is a port, or a link-local address on one (`fe80::1%Et1`)."""
    address, percent, port = key.partition("%")
    if not percent:
        address, port = str(row.get("bgpNeighborAddr") or ""), key
    if is_port(port):
        state = next((str(row[name]) for name in _STATES if name in row), None)
        if row.get("adminShutDown"):
            state = "Idle (Admin)"
        bfd = row.get("peerBfdInfo", {}).get("status")
        yield BgpPeer(port, row.get("hostname") or None, address or None, state, bfd)


# ----------------------------------------------------------------------------------------------------------------------
# BGP sessions over unnumbered interfaces in text: FRR's, NVUE's and EOS' summaries, FRR's `show bgp neighbors`.
#
# FRR prints a peer's own name and its port in one cell, `spine01(swp51)`, or the port alone before the peer has said
# its name; a cell that is too long has its row on the next line. The last number is the count of prefixes of a session
# that is up; a word is its state. NVUE prints no name, and a line for each address family. EOS and NX-OS print
# `fe80::1%Et1`. Sources: recorded answers in Cumulus Linux' documentation, FRR `bgpd/bgp_vty.c` (bgp_show_summary),
# ntc-templates (arista_eos).

_SIGN = re.compile(
    r"BGP router identifier |BGP summary information for VRF |BGP neighbor (?:on|is) |Neighbor\s+(?:V|AS)\s"
)
_ROW = re.compile(r"([^\s(]+)(?:\((\S+)\))?\s+4\s+\d+(?:\.\d+)?(?:\s+\d+){5}\s+(\S+)\s+(\S+(?: \(Admin\))?)(?:\s.*)?")
_NVUE = re.compile(r"([ \t]*)Neighbor +AS +State +.*")
_NVUE_ROW = re.compile(r"(\S+) +(?:\d+(?:\.\d+)? +)?([a-z]\S*)(?: .*)?", re.IGNORECASE)
_TEXT_STATES = {
    state.lower(): state for state in ("Established", "Idle", "Active", "Connect", "OpenSent", "OpenConfirm")
}
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
            yield BgpPeer(found[1], None, None, _TEXT_STATES.get(found[2].lower(), found[2]))


def _neighbors(text: Sequence[str]) -> Iterator[BgpPeer]:
    for begun, below in blocks(map(str.strip, text), _NEIGHBOR):
        if begun[1] and is_port(begun[1]):
            peer = BgpPeer(begun[1], None, begun[2])
            for line in below:
                key, _, value = (part.strip() for part in line.partition(":"))
                if key == "Hostname":
                    peer = peer._replace(hostname=value or None)
                elif line.startswith("BGP state = ") and peer.state is None:
                    peer = peer._replace(state=line.partition("=")[2].split(",")[0].strip())
                elif line == "Administratively shut down":
                    peer = peer._replace(state="Idle (Admin)")
            yield peer

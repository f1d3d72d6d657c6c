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

from collections.abc import Iterator
from typing import Any

from collector import _bgp_text
from collector._answer import is_json, lines
from collector._documents import listed, unwrapped
from collector._station_rows import is_port
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, BgpPeer, Command, Device, collector, minutes

_STATES = ("state", "bgpState", "peerState")
_SIGNS = ("bgpNeighborAddr", "peers", "TABLE_vrf", "vrfs", "remoteAs")


@collector(
    on=SWITCHES,
    ask=[
        Command("vtysh -c 'show bgp vrf all neighbors json'", ("cumulus", "linux", "sonic")),
        Command("vtysh -c 'show bgp vrf all summary json'", ("cumulus", "linux", "sonic")),
        Command("show bgp summary vrf all | json", ("eos",)),
        Command("show bgp all summary vrf all | json", ("nxos",)),
        *(
            Command(text, ("capture",))
            for text in (
                "show bgp summary json",
                "show bgp neighbors json",
                "net show bgp vrf all neighbor json",
                "show bgp summary",
                "show ip bgp summary",
                "show bgp neighbors",
                "net show bgp summary",
                "nv show vrf default router bgp neighbor",
            )
        ),
    ],
    every=minutes(1),
    yields=[BgpPeer],
    optional=True,
    volatile={
        b'"remoteAs"': rb'"(?:\w+(?:Sent|Recv|Rcvd|Msecs?)|peerUptime\w*|bgpTimer\w*|lastUpdate)": ?(?:"[^"]*"|[0-9]+)'
    },
)
def bgp_peers(answer: str, device: Device) -> list[BgpPeer]:
    """One `BgpPeer` for each session whose key is a port, in the answer's order. Raises `UnreadableError`."""
    if not is_json(answer) and (found := _bgp_text.peers(lines(answer)[:-1])) is not None:
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

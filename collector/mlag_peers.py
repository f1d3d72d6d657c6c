"""The state of a switch's MLAG or vPC pair: its peer link, and the keepalive beside it.

Question: does this switch still reach the other one of its pair?
Needs: a read-only login.

| network OS | answers |
|---|---|
| Cumulus Linux | `clagctl -j`, `net show clag json` |
| Arista EOS | `show mlag`, also `\\| json` |
| Cisco NX-OS | `show vpc`, also `\\| json` |
| AOS-CX | `show vsx status` |
| VRP | `display dfs-group 1 m-lag`: the heartbeat alone |

Sources: recorded answers in SuzieQ and genieparser; Arista's ANTA (`VerifyMlagStatus`: `state` `active`, `negStatus`
`connected`, `peerLinkStatus` and `localIntfStatus` `up`) for EOS.

Trap: EOS with MLAG disabled answers `{"state": "disabled"}`, NX-OS without a domain `"vpc-domain-id": "not
configured"`: there is no pair, and the answer is refused.
"""

from collections.abc import Iterator
from typing import Any

from collector import _mlag_text
from collector._answer import is_json, lines
from collector._documents import listed, unwrapped
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, MlagPeer, collector, minutes


@collector(
    on=SWITCHES,
    ask=[
        Command("clagctl -j", ("cumulus",)),
        Command("net show clag json", ("cumulus",)),
        Command("show mlag | json", ("eos",)),
        Command("show vpc | json", ("nxos",)),
        *(
            Command(text, ("capture",))
            for text in ("show mlag", "show vpc", "show vsx status", "display dfs-group 1 m-lag")
        ),
    ],
    every=minutes(5),
    yields=[MlagPeer],
    optional=True,
)
def mlag_peers(answer: str, device: Device) -> list[MlagPeer]:
    """The switch's `MlagPeer`. Raises `UnreadableError`."""
    if is_json(answer):
        return list(_from_json(unwrapped(answer)))
    found = _mlag_text.peer([line.strip() for line in lines(answer)[:-1]])
    if found is None:
        raise UnreadableError("not an answer about an MLAG pair", line=1, text=answer.strip()[:80])
    return [found]


def _from_json(found: Any) -> Iterator[MlagPeer]:
    status = found.get("status") if isinstance(found, dict) else None
    if isinstance(status, dict) and "peerAlive" in status:
        backup = status.get("backupActive") if status.get("backupIp") else None
        yield MlagPeer(status.get("peerIf"), status["peerAlive"], backup)
    elif isinstance(found, dict) and _mlag_text.is_domain(found.get("vpc-domain-id")):
        links = [row for table in listed(found.get("TABLE_peerlink")) for row in listed(table["ROW_peerlink"])]
        alive = {"peer-alive": True, "peer-not-reachable": False}.get(found.get("vpc-peer-keepalive-status", ""))
        formed = found.get("vpc-peer-status")
        name = links[0].get("peerlink-ifindex") if links else None
        yield MlagPeer(name, None if formed is None else formed == "peer-ok", alive)
    elif isinstance(found, dict) and "negStatus" in found:
        states = found.get("state"), found["negStatus"], found.get("peerLinkStatus")
        yield MlagPeer(found.get("peerLink"), states == ("active", "connected", "up"))
    else:
        raise UnreadableError("not an answer about an MLAG pair")

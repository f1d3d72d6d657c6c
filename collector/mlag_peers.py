"""The state of a switch's MLAG or vPC pair: its peer link, and the keepalive beside it.

Question: does this switch still reach the other one of its pair?
Needs: a read-only login.

| network OS | answers |
|---|---|
| Cumulus Linux | `clagctl -j`, `net show clag json` |
| Arista EOS | `show mlag`, also `\\| json` |
| Cisco NX-OS | `show vpc`, also `\\| json` |

Sources: recorded answers in SuzieQ and genieparser; Arista's ANTA (`VerifyMlagStatus`: `state` `active`, `negStatus`
`connected`, `peerLinkStatus` and `localIntfStatus` `up`) for EOS.

Trap: EOS with MLAG disabled answers `{"state": "disabled"}`, NX-OS without a domain `"vpc-domain-id": "not
configured"`: there is no pair, and the answer is refused.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from collector.formats.documents import rows_of, unwrapped
from collector.formats.text import is_json, lines
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, MlagPeer, SharedLag, collector, commands, minutes, saved_as

ASK = (
    *commands("cumulus", "clagctl -j", "net show clag json"),
    Command("show mlag | json", ("eos",)),
    Command("show vpc | json", ("nxos",)),
    *saved_as("show mlag", "show vpc"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(5), yields=[MlagPeer], optional=True)
def mlag_peers(answer: str, device: Device) -> list[MlagPeer]:
    """The switch's `MlagPeer`. Raises `UnreadableError`."""
    if is_json(answer):
        return list(_from_json(unwrapped(answer)))
    found = peer([line.strip() for line in lines(answer)[:-1]])
    if found is None:
        raise UnreadableError("not an answer about an MLAG pair", line=1, text=answer.strip()[:80])
    return [found]


def _from_json(found: Any) -> Iterator[MlagPeer]:
    status = found.get("status") if isinstance(found, dict) else None
    if isinstance(status, dict) and "peerAlive" in status:
        backup = status.get("backupActive") if status.get("backupIp") else None
        yield MlagPeer(status.get("peerIf"), status["peerAlive"], backup)
    elif isinstance(found, dict) and is_domain(found.get("vpc-domain-id")):
        links = list(rows_of(found, "peerlink"))
        alive = {"peer-alive": True, "peer-not-reachable": False}.get(found.get("vpc-peer-keepalive-status", ""))
        formed = found.get("vpc-peer-status")
        name = links[0].get("peerlink-ifindex") if links else None
        yield MlagPeer(name, None if formed is None else formed == "peer-ok", alive)
    elif isinstance(found, dict) and "negStatus" in found:
        states = found.get("state"), found["negStatus"], found.get("peerLinkStatus")
        yield MlagPeer(found.get("peerLink"), states == ("active", "connected", "up"))
    else:
        raise UnreadableError("not an answer about an MLAG pair")


# ----------------------------------------------------------------------------------------------------------------------
# Text about MLAG and vPC pairs: the pair's own state, and the link aggregations that both switches share.
#
# Sources: recorded answers in genieparser (nxos, `show vpc`) and ntc-templates (arista_eos, `show mlag`), Arista's
# guide to MLAG for `show mlag interfaces`.

_VPC = re.compile(r"(\d+)\s+((?:Po|port-channel)\d+)\s+(up|down)\*?(?:\s.*)?", re.IGNORECASE)
_EOS = re.compile(
    r"(\d+)\s+(?:.*\s)?(active-full|active-partial|inactive|configured|disabled)\s+((?:Po|Port-Channel)\d+)\s+"
    r"((?:Po|Port-Channel)\d+|-)\s+\S+/\S+.*"
)
_EOS_NO_REMOTE = re.compile(
    r"(\d+)\s+(?:.*\s)?(active-partial|inactive|configured|disabled)\s+((?:Po|Port-Channel)\d+)\s+\S+/\S+.*"
)
_FORMED, _ALIVE = "peer adjacency formed ok", "peer is alive"


def shared(text: Sequence[str]) -> Iterator[SharedLag]:
    """The link aggregations of a pair in stripped lines of text; none if it is another answer."""
    below = ""
    for line in text:
        title = line.lower()
        if title.startswith("vpc ") and title.endswith("status"):
            below = title
        elif below == "vpc status" and (found := _VPC.fullmatch(line)):
            yield SharedLag(found[2], found[1], None, "dual" if found[3].lower() == "up" else "down")
        elif found := _EOS.fullmatch(line):
            peer = None if found[4] == "-" else found[4]
            yield SharedLag(found[3], found[1], peer, "dual" if found[2] == "active-full" else found[2])
        elif found := _EOS_NO_REMOTE.fullmatch(line):
            yield SharedLag(found[3], found[1], None, found[2])


def is_domain(reported: object) -> bool:
    """Whether this is the id of a vPC domain. A switch without one reports `not configured`."""
    return reported is not None and str(reported).strip().isdigit()


def peer(text: Sequence[str]) -> MlagPeer | None:
    """The state of the pair; None if it is another answer, or if there is no pair."""
    values = {key.strip().lower(): value.strip() for key, _, value in (line.partition(":") for line in text)}
    if "peer status" in values and is_domain(values.get("vpc domain id")):
        return _vpc(text, values)
    if "negotiation status" in values and "peer-link" in values:
        if values.get("state", "").lower() == "disabled":
            return None
        state = (values.get("state"), values["negotiation status"], values.get("peer-link status"))
        formed = tuple(str(word).lower() for word in state) == ("active", "connected", "up")
        return MlagPeer(values["peer-link"] or None, formed)
    return None


def _vpc(text: Sequence[str], values: Mapping[str, str]) -> MlagPeer:
    below, link = False, None
    for line in text:
        below = line.lower() == "vpc peer-link status" or (below and line.lower() != "vpc status")
        if below and link is None and (found := _VPC.fullmatch(line)):
            link = found[2]
    keepalive = values.get("vpc keep-alive status", "").lower()
    alive = keepalive == _ALIVE if keepalive.startswith(("peer ", "suspended")) else None
    return MlagPeer(link, values["peer status"].lower() == _FORMED, alive)

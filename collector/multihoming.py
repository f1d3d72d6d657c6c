"""Link aggregations that two switches share: MLAG, vPC, and EVPN Ethernet segments.

Question: which lag of this switch and which of another one lead to the same host?
Needs: a read-only login.

| network OS | answers |
|---|---|
| Cumulus Linux, FRR | `clagctl -j`, `net show clag json`, `nv show evpn multihoming esi -o json`, `show evpn es` |
| Arista EOS | `show mlag interfaces [detail]`, also `\\| json` |
| | `show bgp evpn instance` |
| Cisco NX-OS | `show vpc`, also `\\| json`; `show nve ethernet-segment` |
| Junos | `show evpn instance esi-info\\|extensive` |
| Nokia SR Linux | `show system network-instance ethernet-segments` |

Sources: recorded answers in SuzieQ and genieparser, and in public notes of labs; Arista's EOS command API.

Traps: an id is the same on both switches, and means nothing on a third one. VXLAN interfaces of Cumulus have the id 0.
An Ethernet segment's id is unique in the fabric; it is listed for each VLAN, and for VXLAN and IRB interfaces, which
are no lags. This shows that two switches share a host, and not which.
"""

import re
from collections.abc import Iterator
from typing import Any

from collector import mlag_peers
from collector.formats.documents import rows_of, unwrapped
from collector.formats.table import is_remote
from collector.formats.text import is_json, lines
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, SharedLag, collector, commands, minutes, saved_as

_SEGMENT = re.compile(r"ESI[ \t]*:[ \t]*([0-9a-fA-F.:]+)")
_VPC_UP = ("1", "up")
"""NX-OS reports a vPC's state as a number or, on other releases, as a word."""
_PARENT = re.compile(r"(?:Parent |Local )?interface[ \t]*:[ \t]*([A-Za-z][^\s,]*)", re.IGNORECASE)
"""FRR prints a dash for a segment of other switches alone."""
_ESI = re.compile(r"[0-9a-f]{2}(?::[0-9a-f]{2}){9}", re.IGNORECASE)
_FRR_SEGMENT = re.compile(rf"({_ESI.pattern})[ \t]+[A-Z]*L[A-Z]*[ \t]+([A-Za-z]\S*)", re.IGNORECASE)
_JUNOS_LAG = re.compile(r"(ae\d+)\.\d+")


ASK = (
    *commands("cumulus", "clagctl -j", "net show clag json"),
    Command("show mlag interfaces | json", ("eos",)),
    *commands("nxos", "show vpc | json", "show nve ethernet-segment"),
    *saved_as("nv show evpn multihoming esi -o json", "show evpn es", "show evpn es detail", "show vpc"),
    *saved_as("show mlag interfaces", "show mlag interfaces detail", "show bgp evpn instance"),
    *saved_as("show evpn instance esi-info", "show evpn instance extensive"),
    *saved_as("show system network-instance ethernet-segments"),
)


@collector(on=SWITCHES, ask=ASK, every=minutes(5), yields=[SharedLag], optional=True)
def multihoming(answer: str, device: Device) -> list[SharedLag]:
    """One `SharedLag` for each shared lag, in the answer's order. Raises `UnreadableError`."""
    if is_json(answer):
        return list(_from_json(unwrapped(answer)))
    text = [line.strip() for line in lines(answer)[:-1]]
    found = [*dict.fromkeys(_segments(text)), *mlag_peers.shared(text)]
    if not found:
        raise UnreadableError("not an answer about shared link aggregations", line=1, text=answer.strip()[:80])
    return found


def _from_json(found: Any) -> Iterator[SharedLag]:
    if isinstance(found, dict) and "clagIntfs" in found:
        for lag, row in found["clagIntfs"].items():
            yield SharedLag(lag, str(row["clagId"]), row.get("peerIf"), row.get("status"))
    elif isinstance(found, dict) and ("vpc-domain-id" in found or "TABLE_vpc" in found):
        for row in rows_of(found, "vpc"):
            state = "dual" if str(row.get("vpc-port-state")).lower() in _VPC_UP else "down"
            yield SharedLag(row["vpc-ifindex"], str(row["vpc-id"]), None, state)
    elif isinstance(found, dict) and isinstance(found.get("interfaces"), dict):
        for lag_id, row in found["interfaces"].items():
            state = "dual" if row.get("status") == "active-full" else row.get("status")
            yield SharedLag(row["localInterface"], str(lag_id), row.get("peerInterface"), state)
    elif isinstance(found, dict) and found and all(_ESI.fullmatch(key) for key in found):
        for segment, row in found.items():
            if row.get("local-interface"):
                yield SharedLag(row["local-interface"], segment)
    else:
        raise UnreadableError("not an answer about shared link aggregations")


def _segments(text: list[str]) -> Iterator[SharedLag]:
    segment = None
    for line in text:
        if found := _SEGMENT.match(line):
            segment = found[1]
        elif found := _FRR_SEGMENT.match(line):
            yield SharedLag(found[2], found[1])
        elif segment and (found := _PARENT.match(line)):
            if not is_remote(found[1]):
                yield SharedLag(_JUNOS_LAG.sub(r"\1", found[1]), segment)
            segment = None

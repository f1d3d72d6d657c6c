"""The MAC address table of a switch: which MACs it has learned on which port.

Question: behind which port of the switch is which machine?
Needs: a read-only login; on Linux `bridge` of iproute2.

| network OS | answers |
|---|---|
| Cumulus Linux, Linux | `bridge [-j] fdb show`; `nv show bridge domain br_default mac-table`, text and `-o json` |
| SONiC | `show mac` |
| Arista EOS | `show mac address-table`, `show mac-address-table unicast`, as JSON and text |
| Cisco NX-OS | `show mac address-table`, as JSON and text |
| Junos | `show ethernet-switching table [detail]`, as JSON, XML and text; `show bridge mac-table`, XML |
| AOS-CX, Comware, VRP, Dell OS9 and OS10, IOS-XR | their tables |

Sources: recorded answers in SuzieQ, ntc-templates, napalm and genieparser; sonic-utilities `scripts/fdbshow`; iproute2
`bridge/fdb.c`. Traps:

- A routed port has no entry: an empty table shows nothing.
- Entries that no frame on a port made are left out: the switch's own MACs (`permanent`, `self`), tunnels to
  other switches (`vxlan`, `nve`, `vtep`, `esi`), a port that SONiC could not resolve and shows as a number.
- Junos' flags are several, of which the first is the kind: `DLR,SD` is dynamic, `S,NM` is static.
- An entry that came over an MLAG peer link (`+` on NX-OS, `peerDynamic` on EOS, `R` on Junos) has `by_peer`.
- Two answers without a prompt between them are refused where a heading or the time of the answer (IOS-XR) comes again,
  or a port of the kernel's bridge with another MAC of its own. `bridge fdb` without `permanent` rows shows no second
  device.
- Ages change with every answer and are not read. An entry stays for 300 seconds after the last frame, unless the link
  goes down.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

from collector.formats.documents import document, listed, rows_of
from collector.formats.table import has_title, is_port, is_remote, refuse_several, stations
from collector.formats.text import lines, small_count
from collector.nos import cumulus_forms
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, Command, Device, MacEntry, collector, commands, minutes, saved_as
from truerail.model.names import canonical_mac

_LEARNED = ("dynamic", "learn", "peerdynamic", "d", "dl", "dr", "dlr", "port-access-security")
_STATIC = ("static", "s", "sl", "security", "secure", "sticky", "config")
_NOT_LEARNED = ("permanent", "self", "local")
_LINUX = "dev"
_NVUE = {"interface", "mac"}
"""What each of NVUE's rows has, below its number."""
_JUNOS_TABLES = ("macdb", "ethernet-switching-table", "ethernet-switching-table-information")
_JUNOS_ROWS = (
    ("l2ng-l2-mac-logical-interface", "l2ng-l2-mac-address", "l2ng-l2-vlan-id", "l2ng-l2-mac-flags"),
    ("l2-mac-logical-interface", "l2-mac-address", "l2-bridge-vlan", "l2-mac-flags"),
    ("mac-interface", "mac-address", "mac-vlan-tag", "mac-type"),
    ("mac-interfaces-list", "mac-address", "mac-vlan-tag", "mac-type"),
)
"""Port, MAC, VLAN and flags: of switches since 13.2X50, of MX routers, of older switches. In the order of trial."""
_UNTYPED = re.compile(r"^[ \t]*No\.[ \t]+Vlan[ \t]+MacAddress[ \t]+Port[ \t\r]*$", re.MULTILINE)
"""SONiC's table before 2018: no type, and learned entries alone."""
_PORT_FIRST = re.compile(r"^[ \t]*Interface[ \t]+MAC Address[ \t]", re.IGNORECASE | re.MULTILINE)
"""Edgecore's first column; with other systems it has VLANs, whose names may look like ports'."""
_MULTICAST = re.compile(r"^[>#]?[ \t]*Multicast Mac Address Table[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
"""EOS' second table: groups, which no device of that MAC sends."""


ASK = (
    Command("bridge -j fdb show", ("linux", "cumulus")),
    Command("show mac", ("sonic",)),
    *commands("eos nxos", "show mac address-table | json", "show mac address-table"),
    *commands("junos", "show ethernet-switching table | display json", "show ethernet-switching table"),
    Command("display mac-address", ("comware", "vrp")),
    *saved_as("bridge fdb show", "nv show bridge domain br_default mac-table -o json"),
    *saved_as("nv show bridge domain br_default mac-table", "show mac-address-table unicast | json"),
    *saved_as("show ethernet-switching table detail | display json"),
    *saved_as("show l2vpn forwarding bridge-domain mac-address location"),
    *saved_as("show l2vpn mac-learning mac all location all", "show ethernet-switching table | display xml"),
    *saved_as("show bridge mac-table | display xml"),
)


_VOLATILE = {
    b'"unicastTable"': rb'"lastMove": ?[0-9.eE+]+',
    b'"disp_mac_addr"': rb'"disp_age": ?"[0-9]*"',
    b"Last Move": rb"(?:[0-9]+ days?, )?[0-9]+:[0-9]+:[0-9]+ ago",
}


@collector(on=SWITCHES, ask=ASK, every=minutes(1), yields=[MacEntry], megabytes=16, optional=True, volatile=_VOLATILE)
def mac_table(answer: str, device: Device) -> list[MacEntry]:
    """One `MacEntry` for each MAC learned or configured on a port, in the answer's order. Raises `UnreadableError`."""
    if (found := document(answer)) is not None:
        return list(_from_json(found))
    entries = list(_from_text(answer))
    refuse_several(answer)
    return entries


def _entry(port: Any, mac: Any, vlan: Any, kind: str, moves: Any = None) -> Iterator[MacEntry]:
    """The entry, unless no frame on a port made it."""
    found, words = canonical_mac(str(mac)), kind.strip().lower().partition(",")[0]
    of_kind = _kind(words)
    if found and of_kind and is_port(str(port)) and not is_remote(str(port)):
        by_peer = words in ("peerdynamic", "dr", "dlr")
        yield MacEntry(str(port), found, small_count(str(vlan)), of_kind, small_count(str(moves)), by_peer)


def _kind(words: str) -> Literal["dynamic", "static"] | None:
    if words in _LEARNED or words.startswith("learn"):
        return "dynamic"
    return "static" if words in _STATIC or words.startswith("static") else None


def _from_json(found: Any) -> Iterator[MacEntry]:
    if isinstance(found, dict) and "unicastTable" in found:
        for row in found["unicastTable"]["tableEntries"]:
            kind, moves = row["entryType"], row.get("moves")
            yield from _entry(row["interface"], row["macAddress"], row.get("vlanId"), kind, moves)
    elif isinstance(found, dict) and "TABLE_mac_address" in found:
        for row in rows_of(found, "mac_address"):
            yield from _entry(row["disp_port"], row["disp_mac_addr"], row.get("disp_vlan"), row["disp_type"])
    elif isinstance(found, dict) and any(key.endswith(_JUNOS_TABLES) for key in found):
        yield from _junos(found)
    elif found == [] or (
        found and all(isinstance(row, dict) and "mac" in row and "ifname" in row for row in listed(found))
    ):
        for row in listed(found):
            yield from _linux(row["ifname"], row["mac"], row.get("vlan"), {row.get("state", ""), *row.get("flags", ())})
    elif (
        found
        and isinstance(found, dict)
        and all(isinstance(row, dict) and row.keys() >= _NVUE for row in found.values())
    ):
        for row in found.values():
            yield from _linux(row["interface"], row["mac"], row.get("vlan"), {row.get("entry-type", "")})
    else:
        raise UnreadableError("not a MAC table")


def _linux(port: str, mac: str, vlan: Any, words: set[str]) -> Iterator[MacEntry]:
    """A row of the kernel's bridge. `dst` names another switch's tunnel end."""
    if not words & {*_NOT_LEARNED, "dst"}:
        yield from _entry(port, mac, vlan, "static" if "static" in words else "dynamic")


def _junos(found: Any) -> Iterator[MacEntry]:
    """Rows at any depth. An extensive row names flags of its own, and no letters: its entry was learned."""
    if isinstance(found, list):
        for one in found:
            yield from _junos(one)
    elif isinstance(found, dict):
        for names in _JUNOS_ROWS:
            if names[0] in found:
                port, mac, vlan, kind = (_data(found, name) for name in names)
                yield from _entry(port, mac, vlan, kind or "D")
                return
        for value in found.values():
            yield from _junos(value)


def _data(row: dict[str, Any], key: str) -> str | None:
    one = next(iter(listed(row.get(key))), None)
    while isinstance(one, dict):  # a value in its wrapper, or a list of ports in its own
        one = next(iter(listed(one["data"] if "data" in one else one.get("mac-interfaces"))), None)
    return None if one is None else str(one).strip(",")


def _from_text(answer: str) -> Iterator[MacEntry]:
    if (rows := cumulus_forms.macs_from_table(lines(answer))) is not None:
        for row in rows:
            yield from _linux(*row)
        return
    found = list(_rows(answer))
    titled = has_title(answer, "mac", "vlan", "port|interface|learned") and not has_title(answer, "ip address", "mac")
    if has_title(answer, "device id", "local int"):  # LLDP's list: with MACs as ports, its capabilities look like kinds
        raise UnreadableError("not a MAC table but one of neighbors", line=1, text=answer.strip().split("\n")[0])
    if not found and not titled and not any(row.of_bridge for row in stations(answer)):  # all of them the kernel's own
        raise UnreadableError("not a MAC table", line=1, text=answer.strip().split("\n")[0])
    yield from found


def _rows(answer: str) -> Iterator[MacEntry]:
    learning = "dynamic" if has_title(answer, "next hop(s)", "mac address") or _UNTYPED.search(answer) else ""
    leading = _PORT_FIRST.search(answer) is not None
    for row in stations(_MULTICAST.split(answer)[0]):
        words = [word.lower() for word in row.words]
        if row.of_bridge:
            at = words.index(_LINUX)
            vlan = words[words.index("vlan") + 1] if "vlan" in words[:-1] else None
            yield from _linux("".join(row.words[at + 1 : at + 2]), row.mac, vlan, set(words))
            continue
        if row.address:  # a table of neighbours' addresses
            continue
        kind = learning or next((first for word in words if _kind(first := word.partition(",")[0])), "")
        ports = [port for port in row.ports if port != row.words[0]] if row.at and not leading else row.ports
        if kind and ports:
            for entry in _entry(ports[0], row.mac, row.vlan, kind):
                yield entry._replace(by_peer=entry.by_peer or words[0] == "+")

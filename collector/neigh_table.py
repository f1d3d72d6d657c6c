"""The neighbour tables of a device: the MAC behind each IP address (ARP, RFC 826; ND, RFC 4861), and on which port.

Question: whose MAC answers on this port?
Needs: a read-only login; on Linux `ip` of iproute2.

| network OS | answers |
|---|---|
| Linux, Cumulus Linux, SONiC | `ip [-j] neigh show`, `nv show interface neighbor`; SONiC also `show arp` |
| Arista EOS | `show arp vrf all`, `show ipv6 neighbors vrf all`, as JSON and text |
| Cisco NX-OS | `show ip arp detail vrf all`, as JSON and text |
| Junos | `show arp`, as JSON, XML and text; `show ipv6 neighbors`, JSON and XML |
| IOS-XR, AOS-CX, Comware, VRP, Dell | `show arp`, `show ipv6 neighbors`, `display arp`, `display ipv6 neighbors` |

Sources: recorded answers in SuzieQ, ntc-templates and genieparser; iproute2 `ip/ipneigh.c`. Traps:

- A host's table shows who is in its subnets, not who is on its cables: hosts are not asked.
- Rows without a MAC (`FAILED`, `INCOMPLETE`, IOS-XR's `[Mcast adjacency]`) are left out. A row in the state
  `interface`, of the type `I` on VRP, without an age on Dell OS9, is the device's own address.
- `169.254.0.1 PERMANENT proto zebra` on an unnumbered port is made by FRR; its MAC is the real peer's.
- Two answers without a prompt between them are refused where a heading, a total or an address comes again, or IPv4
  rows stand on both sides of IPv6 ones. Two `ip neigh` of one family each, with no address in common, look like one.
- On a VLAN interface the row shows no cable, unless the port behind it is printed: EOS `Vlan10, Port-Channel3`, Junos
  `irb.20 [xe-0/0/2.0]`, NX-OS in `detail`.
"""

import re
from collections.abc import Iterator
from typing import Any

from collector.formats.documents import document, listed
from collector.formats.table import has_title, refuse_several, stations
from collector.formats.text import lines
from truerail.errors import UnreadableError
from truerail.model import SWITCHES, AddressEntry, Command, Device, collector, commands, minutes, saved_as
from truerail.model.names import canonical_mac

_EOS = {"ipV4Neighbors", "ipV6Neighbors"}
_LINUX = {"dst", "dev", "state"}
"""What each row has. Routes have no state."""
_VRP_ND = re.compile(
    r"^[ \t]*IPv6 Address[ \t]*: (?P<address>\S+)[ \t]*\n[ \t]*Link-layer[ \t]*: (?P<mac>\S+)"
    r"[ \t]+State[ \t]*: (?P<state>\S+)[ \t]*\n[ \t]*Interface[ \t]*: (?P<interface>\S+)[ \t]",
    re.MULTILINE,
)
_VRP_TOTAL = re.compile(r"^[ \t]*Total: *\d", re.MULTILINE)
_NVUE_TITLE = re.compile(r"[ \t]*Interface +(?=IP/IPV6 +LLADD?R\(MAC\))", re.IGNORECASE)
_VRFS = frozenset(("vpn-instance", "vrf"))
"""Titles of a last column with names of VRFs, which may look like ports': `vpn1`, `rail-2`."""
_WORD = re.compile(r"\S+")
_NO_MAC = "00:00:00:00:00:00"
"""What NX-OS prints for an address that has not answered; IOS-XR says `Incomplete` as well."""
_ANSWERING = frozenset(("reach", "reachable", "stale", "delay", "probe"))
_STATES = _ANSWERING.union(("permanent", "incomplete", "incmp", "failed", "noarp", "dynamic", "interface", "static"))
_ND = ("ipv6-nd-interface-name", "ipv6-nd-neighbor-address", "ipv6-nd-neighbor-l2-address")


ASK = (
    Command("ip -j neigh show", ("linux", "cumulus", "sonic")),
    Command("show arp", ("iosxr",)),
    *commands("eos", "show arp vrf all | json", "show arp vrf all"),
    *commands("nxos", "show ip arp detail vrf all | json", "show ip arp detail vrf all"),
    *commands("junos", "show arp | display json", "show arp no-resolve"),
    Command("show ipv6 neighbors", ("iosxr",)),
    Command("display arp", ("comware",)),
    *saved_as("ip neigh show", "nv show interface neighbor", "display arp all", "display arp brief"),
    *saved_as("display ipv6 neighbors", "show arp | display xml", "show ipv6 neighbors | display xml"),
    *saved_as("show ipv6 neighbors vrf all | json"),
)


_VOLATILE = {
    b" lladdr ": rb" (?:REACHABLE|STALE|DELAY|PROBE)\b",
    b'"lladdr"': rb'"(?:REACHABLE|STALE|DELAY|PROBE)"',
    b'"ipV4Neighbors"': rb'"age": ?[0-9]+',
    b'"ip-addr-out"': rb'"time-stamp": ?"[^"]*"',
}


@collector(on=SWITCHES, ask=ASK, every=minutes(1), yields=[AddressEntry], optional=True, volatile=_VOLATILE)
def neigh_table(answer: str, device: Device) -> list[AddressEntry]:
    """One `AddressEntry` for each address with a MAC, in the answer's order. Raises `UnreadableError`."""
    found = document(answer)
    entries = list(_from_text(answer) if found is None else _from_json(found))
    if found is None:
        refuse_several(answer)
    return [entry for entry in entries if entry.mac != _NO_MAC or entry.state]


def _entry(interface: Any, address: Any, mac: Any, port: Any = None, state: Any = None) -> AddressEntry:
    """A row. A port is given only if it is another one than the interface."""
    found = canonical_mac(str(mac))
    if found is None:
        raise UnreadableError("not a MAC", text=str(mac))
    behind = str(port) if port and port != interface else None
    return AddressEntry(str(interface), str(address), found, behind, None if state in _ANSWERING else state)


def _from_json(found: Any) -> Iterator[AddressEntry]:
    if isinstance(found, dict) and any(_EOS & vrf.keys() for vrf in found.get("vrfs", {}).values()):
        for vrf in found["vrfs"].values():
            for row in (*vrf.get("ipV4Neighbors", ()), *vrf.get("ipV6Neighbors", ())):
                interface, _, port = row["interface"].partition(", ")
                yield _entry(interface, row["address"], row["hwAddress"], port)
    elif isinstance(found, dict) and ("TABLE_vrf" in found or "TABLE_afi" in found):
        yield from _nxos(found)
    elif isinstance(found, dict) and any(key in found for key in ("arp-table-information", "ipv6-nd-information")):
        yield from _junos(found)
    elif found == [] or (found and all(isinstance(row, dict) and row.keys() >= _LINUX for row in listed(found))):
        for row in listed(found):
            if "lladdr" in row:
                state = " ".join(row.get("state", ())).lower() or None
                yield _entry(row["dev"], row["dst"], row["lladdr"], None, state)
    else:
        raise UnreadableError("not a table of neighbours' addresses")


def _nxos(found: Any) -> Iterator[AddressEntry]:
    """Rows at any depth: below each VRF, and for IPv6 below each address family."""
    for one in listed(found):
        if "mac" in one and "intf-out" in one:
            address = one.get("ip-addr-out", one.get("ipv6-addr"))
            if canonical_mac(str(one["mac"])):
                yield _entry(one["intf-out"], address, one["mac"], one.get("phy-intf"))
            continue
        for value in one.values():
            if isinstance(value, dict | list):
                yield from _nxos(value)


def _junos(found: dict[str, Any]) -> Iterator[AddressEntry]:
    for table in (*found.get("arp-table-information", ()), *found.get("ipv6-nd-information", ())):
        for row in table.get("arp-table-entry", ()):
            yield _of_junos(row, "interface-name", "ip-address", "mac-address")
        for row in table.get("ipv6-nd-entry", ()):
            if _data(row, _ND[2]) not in (None, "none"):
                yield _of_junos(row, *_ND)


def _of_junos(row: dict[str, Any], *keys: str) -> AddressEntry:
    interface, address, mac = (_data(row, key) for key in keys)
    name, _, port = str(interface).partition(" [")
    return _entry(name, address, mac, port.rstrip("]"))


def _data(row: dict[str, Any], key: str) -> str | None:
    one = next(iter(listed(row.get(key))), None)
    return None if one is None else str(one["data"] if isinstance(one, dict) else one)


def _of_vrp(answer: str) -> Iterator[AddressEntry]:
    """VRP's `display ipv6 neighbors`: a paragraph for each address, two keys on a line, and a total below them."""
    text = answer.replace("\r", "")
    total = _VRP_TOTAL.search(text)
    for found in _VRP_ND.finditer(text):
        if total and found.start() > total.start():
            line = text.count("\n", 0, found.start()) + 1
            raise UnreadableError("an address below the total: the answers of two devices", line=line)
        if canonical_mac(found["mac"]):
            yield _entry(found["interface"], found["address"], found["mac"], None, found["state"].lower())


def _arranged(answer: str) -> str:
    """The same text without the names of VRFs, with an IPv6 address that NX-OS prints above its row in that row, and
    with the interface in each row that NVUE prints in its first.

    A word that begins left of the column of VRFs is none of theirs: interfaces are long.
    """
    column, kept, titled, interface = 0, list[str](), 0, ""
    for line in lines(answer):
        if found := _NVUE_TITLE.match(line):
            titled = found.end()
        elif titled:
            interface = line[:titled].strip() or interface
            line = f"{interface} {line[titled:]}"
        if kept and line.startswith("  ") and kept[-1].count(":") > 1 and len(kept[-1].split()) == 1:
            kept.append(f"{kept.pop().rstrip()} {line}")
            continue
        title = line.lower().rstrip()
        if title.rpartition(" ")[2] in _VRFS and "mac" in title:
            column = title.rindex(" ")
        last = max((word.start() for word in _WORD.finditer(line)), default=0) if column else 0
        kept.append(f"{line[:last]}-" if last > column else line)
    return "\n".join(kept)


def _from_text(answer: str) -> Iterator[AddressEntry]:
    if _VRP_ND.search(answer.replace("\r", "")):
        yield from _of_vrp(answer)
        return
    rows = list(stations(_arranged(answer)))
    found = [row for row in rows if row.address and not row.of_bridge]
    titled = has_title(answer, "address", "mac|hardware|link-layer|hwaddr", "interface|iface")
    if not found and (rows or not titled) and not has_title(answer, " dev ", "failed|incomplete"):
        raise UnreadableError("not a table of neighbours' addresses", line=1, text=answer.strip().split("\n")[0])
    # Junos with resolved names: a column between address and interface
    named = has_title(answer, "mac address", "address         name")
    on_vlans = has_title(answer, "macaddress", "iface", "vlan")  # SONiC prints the port behind a VLAN instead of it
    own = {"I"} if has_title(answer, "vpn-instance|expire(m)|exp(m)", "interface") else set()
    ageless = has_title(answer, "protocol", "age", "hardware")  # IOS and Dell OS9 print no age for an own address
    without = 0
    for row in found:
        words = [word.lower() for word in row.words]
        if "dev" in words:
            interface, port = row.words[words.index("dev") + 1], None
        elif on_vlans and words[-1].isdigit():
            interface, port = f"Vlan{row.words[-1]}", next(iter(row.ports), None)
        else:
            name = row.words.index(str(row.address)) + 1 if named else -1
            ports = row.ports_without(name)
            if not ports:
                without += 1
                continue
            if ports[-1].startswith("Vl "):  # Dell OS9 prints the port before the interface
                ports.reverse()
            interface, port = ports[0], ports[1] if len(ports) > 1 else None
        of_device = own & {*row.words} or (ageless and "-" in words[: row.at])
        state = next((word for word in reversed(words) if word in _STATES), "interface" if of_device else None)
        yield _entry(interface, row.address, row.mac, port, state)
    if found and without == len(found):
        raise UnreadableError("no row names its interface", line=found[0].line)

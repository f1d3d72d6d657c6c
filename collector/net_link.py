"""The network interfaces of a host or of a switch that is Linux.

Question: which interfaces exist, with which names, MAC and PCI address, and are they up?
Needs: iproute2 4.16 or newer for JSON, which is what is asked for; no root. The text form is read from captures.

Format: a list with one object for each interface: `ifname`, `flags`, `mtu`, `operstate`, `address`, `master`,
`altnames`, `ifalias`, `link`; with `-d` also `linkinfo` and, from iproute2 5.12 and Linux 5.14 on, `parentbus` and
`parentdev`.
Source of the format: iproute2's `ip/ipaddress.c`. `ip -j addr` prints the same objects with the addresses in them.

Traps:

- A value that does not apply is absent, not null. Without `-d` a virtual interface looks like a physical one.
- `operstate` is UNKNOWN for drivers that do not report it; the flag `LOWER_UP` is the carrier.
- A bond's member has the bond's MAC in `address` and its own in `permaddr`, if the two differ: its own is reported.
  Kernels before 5.6 have it only in `linkinfo.info_slave_data.perm_hwaddr`, which `-d` shows.
- `link` (IFLA_LINK) is the interface below a VLAN, macvlan or ipvlan, and the other end of a veth: the kind decides.
  `link_index` takes its place where that interface is in another network namespace, and names nothing here.
- Loopback is left out. No speed is printed: it stays None.
"""

from operator import index
from typing import Any

from collector.formats.ip_links import interfaces, net_links
from truerail.model import EVERYWHERE, Command, Device, NetLink, collector, minutes, saved_as

UPPER_KINDS = ("vlan", "macvlan", "ipvlan")
"""Kinds whose `link` is the interface that carries their packets (linux/if_link.h)."""


ASK = (
    Command("ip -j -d link", ("linux", "cumulus", "sonic")),
    *saved_as("ip -j link", "ip -j -s link", "ip -j -d addr", "ip -j addr", "ip -j address", "ip -j a"),
    *saved_as("ip -d link", "ip link"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(1), yields=[NetLink])
def net_link(answer: str, device: Device) -> list[NetLink]:
    """One `NetLink` for each interface but loopback, in the answer's order. Raises `UnreadableError`."""
    found = net_links(answer, UPPER_KINDS)
    return [_link(entry) for entry in interfaces(answer)] if found is None else found


def _link(entry: dict[str, Any]) -> NetLink:
    get = entry.get
    aliases = get("altnames") or ()
    alias = get("ifalias")
    info = get("linkinfo")
    kind = info.get("info_kind") if info else _vlan(entry)
    flags = tuple(get("flags") or ())
    mtu = get("mtu")
    return NetLink(
        entry["ifname"],
        (_permanent(entry) if "SLAVE" in flags else None) or get("address"),
        None if mtu is None else index(mtu),
        get("operstate"),
        flags,
        None,
        get("parentdev") if get("parentbus") == "pci" else None,
        get("master"),
        (*aliases, alias) if alias else tuple(aliases),
        kind,
        below=get("link") if kind in UPPER_KINDS else None,
    )


def _vlan(entry: dict[str, Any]) -> str | None:
    """`vlan` for `eth1.100` on `eth1`: without `-d` nothing else shows that the interface is not a port of that MAC."""
    below = entry.get("link")
    return "vlan" if below and str(entry["ifname"]).startswith(f"{below}.") else None


def _permanent(entry: dict[str, Any]) -> str | None:
    """The permanent MAC of a bond's member."""
    data = (entry.get("linkinfo") or {}).get("info_slave_data") or {}
    mac: str | None = entry.get("permaddr") or data.get("perm_hwaddr")
    return mac

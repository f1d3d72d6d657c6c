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

from msgspec import UNSET, DecodeError, Struct
from msgspec.json import Decoder

from collector.formats.ip_links import interfaces
from truerail.model import EVERYWHERE, Command, Device, NetLink, collector, minutes, saved_as

ASK = (
    Command("ip -j -d link", ("linux", "cumulus", "sonic")),
    *saved_as("ip -j link", "ip -j -s link", "ip -j -d addr", "ip -j addr", "ip -j address", "ip -j a"),
    *saved_as("ip -d link", "ip link"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(1), yields=[NetLink])
def net_link(answer: str, device: Device) -> list[NetLink]:
    """One `NetLink` for each interface but loopback, in the answer's order. Raises `UnreadableError`."""
    links = _decoded(answer) or [_of_entry(entry) for entry in interfaces(answer)]
    return [_net_link(one) for one in links if one.link_type != "loopback"]


# ----------------------------------------------------------------------------------------------------------------------
# `ip -j link` where it is as iproute2 prints it: decoded straight into what counts, in less than half the time.
#
# Source: iproute2's `ip/ipaddress.c` and `ip/iplink_bond_slave.c`. Anything else, from the lists of other commands to a
# value of another type, is for the reader of all forms: its errors name what is wrong.


class _SlaveData(Struct, gc=False):
    perm_hwaddr: str | None = None


class _Info(Struct, gc=False):
    info_kind: str | None = None
    info_slave_data: _SlaveData | None = None


class _Link(Struct, gc=False):
    ifname: str
    flags: tuple[str, ...] = ()
    mtu: int | None = None
    operstate: str | None = None
    link_type: str | None = None
    address: str | None = None
    permaddr: str | None = None
    master: str | None = None
    link: str | None = None
    ifalias: str | None = None
    altnames: tuple[str, ...] = ()
    linkinfo: _Info | None = None
    parentbus: str | None = None
    parentdev: str | None = None
    port: Any = UNSET
    mac: Any = UNSET
    identifier: Any = UNSET


_DECODER = Decoder(list[_Link])
_UPPER_KINDS = ("vlan", "macvlan", "ipvlan")
"""Kinds whose `link` is the interface that carries their packets (linux/if_link.h)."""


def _decoded(answer: str) -> list[_Link]:
    """The interfaces as iproute2 prints them; none where the answer is anything else, right or wrong."""
    try:
        listed = _DECODER.decode(answer)
    except (DecodeError, RecursionError, UnicodeError):
        return []
    return [] if any(map(_foreign, listed)) else listed


def _of_entry(entry: dict[str, Any]) -> _Link:
    """An interface of the reader of all forms, whose values may have any type."""
    info, mtu = entry.get("linkinfo"), entry.get("mtu")
    member = info.get("info_slave_data") or {} if info else {}
    values = {key: entry[key] for key in _Link.__struct_fields__ if entry.get(key) is not None} | {
        "linkinfo": _Info(info.get("info_kind"), _SlaveData(member.get("perm_hwaddr"))) if info else None,
        "mtu": None if mtu is None else index(mtu),
        "flags": tuple(entry.get("flags") or ()),
        "altnames": tuple(entry.get("altnames") or ()),
    }
    return _Link(**values)


def _foreign(link: _Link) -> bool:
    """Whether it is an entry of another command's list, or has no information in its `linkinfo`."""
    info = link.linkinfo
    return not (link.port is link.mac is link.identifier is UNSET) or (
        info is not None and info.info_kind is None and info.info_slave_data is None
    )


def _net_link(link: _Link) -> NetLink:
    name, flags, info, below, alias, own = link.ifname, link.flags, link.linkinfo, link.link, link.ifalias, None
    kind = info.info_kind if info else "vlan" if below and name.startswith(f"{below}.") else None
    if "SLAVE" in flags:
        own = link.permaddr or (info.info_slave_data.perm_hwaddr if info and info.info_slave_data else None)
    return NetLink(
        name,
        own or link.address,
        link.mtu,
        link.operstate,
        flags,
        None,
        link.parentdev if link.parentbus == "pci" else None,
        link.master,
        (*link.altnames, alias) if alias else link.altnames,
        kind,
        None,
        below if kind in _UPPER_KINDS else None,
    )

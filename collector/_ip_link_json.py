"""`ip -j link` where it is as iproute2 prints it: decoded straight into what counts, in less than half the time.

Source: iproute2's `ip/ipaddress.c` and `ip/iplink_bond_slave.c`. Anything else, from the lists of other commands to a
value of another type, is for the reader of all forms: its errors name what is wrong.
"""

from typing import Any

from msgspec import UNSET, DecodeError, Struct
from msgspec.json import Decoder

from truerail.model import NetLink


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


def net_links(answer: str, upper_kinds: tuple[str, ...]) -> list[NetLink] | None:
    """Each interface but loopback; None where the answer is anything else, right or wrong, or lists nothing.

    `upper_kinds` are the kinds whose `link` is the interface that carries their packets.
    """
    try:
        listed = _DECODER.decode(answer)
    except (DecodeError, RecursionError, UnicodeError):
        return None
    if not listed or any(map(_foreign, listed)):
        return None
    return [_net_link(one, upper_kinds) for one in listed if one.link_type != "loopback"]


def _foreign(link: _Link) -> bool:
    """Whether it is an entry of another command's list, or has no information in its `linkinfo`."""
    info = link.linkinfo
    return not (link.port is link.mac is link.identifier is UNSET) or (
        info is not None and info.info_kind is None and info.info_slave_data is None
    )


def _net_link(link: _Link, upper_kinds: tuple[str, ...]) -> NetLink:
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
        below if kind in upper_kinds else None,
    )

"""The IP addresses of a host's or switch's interfaces.

Question: which global IPv4 and IPv6 addresses does each interface have?
Needs: iproute2 4.16 or newer for JSON, which is what is asked for; no root. The text form is read from captures.

Format: a list with one object for each interface; `addr_info` has one object for each address: `family`, `local`,
`prefixlen`, `scope`. Source of the format: iproute2's `ip/ipaddress.c`.

Traps:

- Link-local and host scope are unrelated to a rail's subnet: only scope `global` is reported, without loopback.
- A point-to-point address has its peer in `address` and its own in `local`: its own is reported.
- An answer of `ip -j link` has no `addr_info` at all: refused, since it does not show that there are no addresses.
"""

from collections.abc import Iterator

from collector.formats.ip_links import interfaces
from truerail.errors import UnreadableError
from truerail.model import EVERYWHERE, Command, Device, NetAddress, collector, minutes, saved_as

ASK = (
    Command("ip -j addr", ("linux", "cumulus", "sonic")),
    *saved_as("ip -j address", "ip -j a", "ip -j -d addr", "ip -j -s addr", "ip addr", "ip a"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(5), yields=[NetAddress])
def net_address(answer: str, device: Device) -> Iterator[NetAddress]:
    """One `NetAddress` for each global address, in the answer's order. Raises `UnreadableError`."""
    for link in interfaces(answer):
        name, addresses = link["ifname"], link.get("addr_info")
        if type(addresses) is not list:
            raise UnreadableError(f"interface {name} has no `addr_info`: not the answer of `ip -j addr`")
        for one in filter(None, addresses):
            if type(one) is not dict or type(one.get("local")) is not str or type(one.get("prefixlen")) is not int:
                raise UnreadableError(f"an address of {name} without `local` or `prefixlen`")
            if one.get("scope") == "global" and one.get("family") in ("inet", "inet6"):
                yield NetAddress(name, one["local"], one["prefixlen"])

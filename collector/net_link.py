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

from collector.formats.ip_links import net_links
from truerail.model import EVERYWHERE, Command, Device, NetLink, collector, minutes, saved_as

ASK = (
    Command("ip -j -d link", ("linux", "cumulus", "sonic")),
    *saved_as("ip -j link", "ip -j -s link", "ip -j -d addr", "ip -j addr", "ip -j address", "ip -j a"),
    *saved_as("ip -d link", "ip link"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(1), yields=[NetLink])
def net_link(answer: str, device: Device) -> list[NetLink]:
    """One `NetLink` for each interface but loopback, in the answer's order. Raises `UnreadableError`."""
    return net_links(answer)

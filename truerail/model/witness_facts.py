"""Facts that show a cable beside LLDP: tables of addresses, sessions, link aggregations, machines' serial numbers.

Rows like those of `facts.py`, which names them among all facts.
"""

from typing import Literal, NamedTuple, TypeAlias

from truerail.model.fact_kinds import OCTET, fact


@fact("MAC tables", vlan=(0, 2**24), moves=(0, 2**40))
class MacEntry(NamedTuple):
    """One row of a switch's MAC address table (IEEE 802.1Q filtering database)."""

    port: str
    mac: str
    vlan: int | None = None
    kind: Literal["dynamic", "static"] = "dynamic"
    """`dynamic` if the switch learned it from a frame on this port."""
    moves: int | None = None
    """How often the MAC moved between ports, if the switch counts it."""
    by_peer: bool = False
    """Whether the entry came over an MLAG peer link, so that the frame was not received on this port."""


@fact("neighbour tables")
class AddressEntry(NamedTuple):
    """One row of an ARP or ND table: the MAC behind an IP address."""

    interface: str
    address: str
    mac: str
    port: str | None = None
    """The physical port behind a VLAN interface, if the device reports it."""
    state: str | None = None
    """`permanent`, `incomplete`, `interface`, ... in lower case, as the device prints it; None while the neighbour
    answers, or answered not long ago: then the word changes with each answer.
    """


@fact("BGP sessions")
class BgpPeer(NamedTuple):
    """One BGP session over an interface without an address of its own (unnumbered): the key is the local port."""

    interface: str
    hostname: str | None = None
    """The name that the peer gives itself (FQDN capability, draft-walton-bgp-hostname-capability)."""
    address: str | None = None
    """The peer's link-local address."""
    state: str | None = None
    """`Established`, `Idle`, ... as in RFC 4271; `Idle (Admin)` where its operator shut the session."""
    bfd: str | None = None
    """`Up` or `Down`: the BFD session (RFC 5880) beside it, if it has one and the answer shows it."""


@fact("members of lags", partner_port=(0, 2**16), aggregator=(0, 2**16), actor_state=OCTET, partner_state=OCTET)
class LagMember(NamedTuple):
    """One member of a link aggregation, and what its LACP partner says of itself (IEEE 802.1AX)."""

    port: str
    lag: str | None = None
    partner_system: str | None = None
    """The MAC of the partner's system; None if no LACP was received."""
    partner_port: int | None = None
    """The partner's own number of its port."""
    aggregator: int | None = None
    actor_state: int | None = None
    """The port's own LACP state, the octet of IEEE 802.1AX: 1 activity, 2 short timeout, 4 aggregation, 8
    synchronization, 16 collecting, 32 distributing, 64 defaulted (no LACP received), 128 expired."""
    partner_state: int | None = None
    """The same of the partner's port, as last received."""
    selected: bool | None = None
    """Whether its aggregator is the one that carries the traffic of the lag."""


@fact("shared link aggregations")
class SharedLag(NamedTuple):
    """One link aggregation that two switches share (MLAG, vPC, EVPN Ethernet segment)."""

    lag: str
    id: str
    """The same on each of the switches that share it."""
    peer_lag: str | None = None
    state: str | None = None
    """`dual` where the other switch has a working member as well; else as the device prints it."""


@fact("MLAG peer links")
class MlagPeer(NamedTuple):
    """The connection of a switch to the other one of its MLAG or vPC pair, as this switch reports it."""

    peer_link: str | None = None
    """The interface of the peer link."""
    up: bool | None = None
    """Whether the pair is formed: the peer link works, and the other switch answers over it."""
    backup: bool | None = None
    """Whether the keepalive beside the peer link works; None where there is none."""


@fact("serial numbers of machines")
class MachineIdentity(NamedTuple):
    """One serial number of a machine itself: it stays with the machine, whatever that is called and wherever it is
    cabled."""

    component: str
    """`system`, `chassis`, `board`, or `uuid` for the system's UUID (SMBIOS)."""
    serial: str


WitnessFact: TypeAlias = MacEntry | AddressEntry | BgpPeer | LagMember | SharedLag | MlagPeer | MachineIdentity

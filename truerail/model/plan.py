"""The plan: devices, the cables between them, and the fabric's transport and load balancing.

A `Plan` is a value. `truerail.plans` reads, writes and checks plan files; matching the plan's names with the
names that devices give themselves is `truerail.analysis.cabling.identity`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from hashlib import blake2s
from typing import Any, NamedTuple

from truerail.model.columns import grouped
from truerail.model.owner import Owner


class Role(StrEnum):
    """The role of a device; tiers go upwards in this order."""

    HOST = "host"
    LEAF = "leaf"
    SPINE = "spine"
    SUPERSPINE = "superspine"

    @property
    def tier(self) -> int:
        """0 for a host, 1 for a leaf, 2 for a spine, 3 for a superspine."""
        return _TIERS[self]


_TIERS = {Role.HOST: 0, Role.LEAF: 1, Role.SPINE: 2, Role.SUPERSPINE: 3}


# ----------------------------------------------------------------------------------------------------------------------
# The QoS of lossless traffic as a plan declares it. What is `None`, or empty, is not declared.

SWITCH_ONLY = frozenset(("watchdog", "ecn_min_bytes", "ecn_max_bytes", "ecn_probability", "headroom_bytes"))
"""Settings that NICs do not have."""
_BY_SPEED = SWITCH_ONLY - {"watchdog"}


class QosBuffer(NamedTuple):
    """Buffers of switch ports of one speed; of all speeds that have none of their own where `speed_gbps` is None."""

    speed_gbps: float | None = None
    ecn_min_bytes: int | None = None
    """The queue length from which packets are marked."""
    ecn_max_bytes: int | None = None
    ecn_probability: float | None = None
    """The share of packets that are marked at `ecn_max_bytes`."""
    headroom_bytes: int | None = None
    """At least so much takes in what is under way after a pause was sent."""


@dataclass(frozen=True, slots=True)
class QosProfile:
    """The settings of all ports that carry RDMA. Fields are named as in `PortQos`."""

    trust: str | None = None
    pfc_priorities: tuple[int, ...] | None = None
    ecn_priorities: tuple[int, ...] | None = None
    global_pause: bool | None = None
    watchdog: str | None = None
    dscp_to_priority: tuple[tuple[int, int], ...] = ()
    """Pairs of a DSCP and its priority, ascending; other DSCPs are not declared."""
    mtu: int | None = None
    """Of NICs, in bytes; switch ports take at least as much."""
    buffers: tuple[QosBuffer, ...] = ()
    roles: tuple[Role, ...] = ()
    """Devices of these roles only; all where empty."""

    def wanted(self, field: str, *, host: bool, speed_gbps: float | None = None) -> Any:
        """The declared value of a setting for a port; None where there is none. Empty priorities mean off."""
        if host and field in SWITCH_ONLY:
            return None
        if field not in _BY_SPEED:
            return getattr(self, field) if field != "dscp_to_priority" else self.dscp_to_priority or None
        found = {one.speed_gbps: getattr(one, field) for one in self.buffers if getattr(one, field) is not None}
        return found.get(speed_gbps, found.get(None))

    def accepts(self, field: str, actual: Any, wanted: Any, *, host: bool) -> bool:
        """Whether an actual value is as wanted. A NIC may respond to congestion on further priorities; a switch port
        may take larger frames and have more headroom; a DSCP without an entry has priority 0.
        """
        if field == "dscp_to_priority":
            return bool(self.of_declared(actual) == wanted)
        if field == "ecn_priorities" and host:
            return set(wanted) <= set(actual)
        if field == "headroom_bytes" or (field == "mtu" and not host):
            return bool(actual >= wanted)
        return bool(actual == wanted)

    def of_declared(self, pairs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        """The priorities of the declared DSCPs in a port's map."""
        actual = dict(pairs)
        return tuple((dscp, actual.get(dscp, 0)) for dscp, _ in self.dscp_to_priority)


# ----------------------------------------------------------------------------------------------------------------------
# Devices, the cables between them, and the plan that has both.


class Port(NamedTuple):
    """A port of a device: the subject of nearly everything. Prints as `gpu-012/enp26s0f0np0`."""

    device: str
    name: str

    def __str__(self) -> str:
        return f"{self.device}/{self.name}"


@dataclass(frozen=True, slots=True)
class Device:
    """A host or a switch. `address` is its management address, `aliases` and `chassis_ids` are further names that it
    may announce.
    """

    name: str
    role: Role = Role.HOST
    pod: str = ""
    address: str = ""
    platform: str = ""
    rack: str = ""
    unit: int | None = None
    aliases: tuple[str, ...] = ()
    chassis_ids: tuple[str, ...] = ()
    serials: tuple[str, ...] = ()
    """Serial numbers or UUIDs of the machine: which one it is, whatever it is called."""
    gpus: int | None = None
    """Number of GPUs of a host, if planned."""
    line: int = field(default=0, compare=False, repr=False)
    """The line of the plan file that declares it; 0 if there is none."""


class Cable(NamedTuple):
    """One planned cable. `a` is the end nearer to the GPUs (the host's, the leaf's for an uplink), `b` the end
    above it.
    """

    a: Port
    b: Port
    rail: int | None = None
    plane: int | None = None
    speed_gbps: float | None = None
    label: str = ""
    length_m: float | None = None
    line: int = 0
    """The line of the plan file that declares it; 0 if there is none."""
    via: tuple[Port, ...] = ()
    """The ports of patch panels between `a` and `b`, in this order. `T12:3` is position 3 of a trunk."""

    @property
    def path(self) -> tuple[Port, ...]:
        """All ports from `a` to `b`."""
        return (self.a, *self.via, self.b)


def path_text(ports: Iterable[Port]) -> str:
    """`pp-1/3 > pp-2/3`, as plans have it."""
    return " > ".join(map(str, ports))


class Panel(NamedTuple):
    """Where a patch panel is: it passes cables on, and is no device."""

    rack: str = ""
    unit: int | None = None


@dataclass(frozen=True, slots=True)
class Rail:
    """One rail of the fabric: NIC N of every host. `subnets` and `vlans` are those of its NICs."""

    index: int
    name: str = ""
    vlans: tuple[int, ...] = ()
    subnets: tuple[str, ...] = ()
    line: int = field(default=0, compare=False, repr=False)
    """The line of the plan file that declares it; 0 if there is none."""


class Transport(StrEnum):
    """The network that carries RDMA: decides which rules apply."""

    ROCE = "roce"
    INFINIBAND = "infiniband"
    EFA = "efa"


class LoadBalancing(StrEnum):
    """How switches spread flows: decides how even uplinks must be."""

    ECMP = "ecmp"
    ADAPTIVE = "adaptive"
    SPRAY = "spray"


@dataclass(frozen=True)
class Plan(Owner):
    """The intent: every planned device and cable.

    `devices` maps a device's planned name to it. `inferred` marks a plan that was inferred from the fabric itself by
    consensus: its content is likely, not intended. `undecided` are host ports of an inferred plan with an ambiguous
    place, with the reason: planned where they are seen, never evaluated as right.
    """

    devices: Mapping[str, Device]
    cables: tuple[Cable, ...]
    name: str = ""
    rails: Mapping[int, Rail] = field(default_factory=dict)
    transport: Transport = Transport.ROCE
    load_balancing: LoadBalancing = LoadBalancing.ECMP
    qos: QosProfile | None = None
    """The declared QoS of all ports that carry RDMA."""
    source: str = ""
    inferred: bool = False
    undecided: Mapping[Port, str] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What reading its file left out, and how it decided what the file does not say."""
    panels: Mapping[str, Panel] = field(default_factory=dict)
    """The patch panels that have a place, by name."""
    places: Mapping[tuple[Port, Port], tuple[str, str]] = field(default_factory=dict, compare=False, repr=False)
    """Where a table names the two ends of a cable, if lines do not say it: `sheet 'IB' row 12, column E`."""

    @cached_property
    def digest(self) -> str:
        """Equal for plans with the same devices, serial numbers, cables and QoS, whatever their file."""
        parts = [(f"{d.name} {d.role} {d.pod} {d.rack} {d.unit}", *d.serials) for d in self.devices.values()]
        cables = [f"{c.a} {c.b} {c.rail} {c.plane} {c.speed_gbps} {c.label}{path_text(c.via)}" for c in self.cables]
        text = "\n".join(map(" ".join, parts)) + "\0" + "\n".join(cables) + (f"\0{self.qos!r}" if self.qos else "")
        return blake2s(text.encode(), digest_size=8).hexdigest()

    @cached_property
    def _cable_at(self) -> dict[Port, Cable]:
        table: dict[Port, Cable] = {}
        for cable in self.cables:
            table.setdefault(cable.a, cable)
            table.setdefault(cable.b, cable)
        return table

    def cable_at(self, port: Port) -> Cable | None:
        """The cable planned at this port, if any."""
        return self._cable_at.get(port)

    def peer_of(self, port: Port) -> Port | None:
        """The port at the other end of the planned cable, if any."""
        cable = self._cable_at.get(port)
        return None if cable is None else cable.b if cable.a == port else cable.a

    def placed(self, name: str) -> Device | None:
        """The device or patch panel of this name: its rack and unit. A panel is none of `devices`."""
        panel = self.panels.get(name)
        return self.devices.get(name) or (Device(name, rack=panel.rack, unit=panel.unit) if panel else None)

    def rail_of(self, port: Port) -> int | None:
        """The rail of the planned cable at this port; None for an uplink or an unplanned port."""
        cable = self._cable_at.get(port)
        return None if cable is None else cable.rail

    @cached_property
    def _uplinks(self) -> dict[str, tuple[Cable, ...]]:
        above = (cable for cable in self.cables if self.role_of(cable.a.device) is not Role.HOST)
        return {device: tuple(cables) for device, cables in grouped((cable.a.device, cable) for cable in above).items()}

    def uplinks_of(self, device: str) -> tuple[Cable, ...]:
        """The cables from this switch to the tier above."""
        return self._uplinks.get(device, ())

    def role_of(self, device: str) -> Role | None:
        """The planned role of a device, None if it is not in the plan."""
        found = self.devices.get(device)
        return None if found is None else found.role

    def of_role(self, role: Role) -> tuple[Device, ...]:
        """All devices of one role, in the plan's order."""
        return tuple(d for d in self.devices.values() if d.role is role)

    @property
    def host_cables(self) -> Iterable[Cable]:
        """The cables that start at a host."""
        return (c for c in self.cables if self.role_of(c.a.device) is Role.HOST)

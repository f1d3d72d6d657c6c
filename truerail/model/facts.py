"""What devices can tell: one small, typed, immutable row per kind of fact.

A fact does not name the device that reported it: that is the `Reading` it came in. Facts are named tuples rather than
dataclasses because a fabric of 100,000 GPUs has half a million of them a round: a frozen dataclass costs five times as
much to make, and a tuple transposes into columns at once. `None` means that the answer did not say; it is never a zero.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

Bounds: TypeAlias = tuple[float, float]
"""The lowest and the highest value that a number can have, far outside of anything that exists, well inside of 64 bits:
`bounds.py` has what happens beyond.
"""
ANY_NUMBER: Bounds = (0, 2**20)
SECONDS: Bounds = (0, 2**40)
GBPS: Bounds = (0.0, 1e6)
DBM: Bounds = (-200.0, 200.0)
K = TypeVar("K")


class Kind(NamedTuple):
    """What is known of a kind of fact beside its fields."""

    words: str
    """What its facts are, to an operator: `no answer has PCIe links`."""
    bounds: Mapping[str, Bounds]


KINDS: dict[type[Any], Kind] = {}
"""Every kind of fact, in the order of this file."""


def fact(words: str, **bounds: Bounds) -> Callable[[type[K]], type[K]]:
    """Declares a kind of fact; `bounds` are those of its fields that are numbers."""

    def declare(kind: type[K]) -> type[K]:
        KINDS[kind] = Kind(words, bounds)
        return kind

    return declare


DownReason: TypeAlias = Literal[
    "switched off", "no module", "no light", "error-disabled", "module not accepted", "hardware failure"
]
"""Why a port has no link, as its own device reports it: its operator switched it off; its cage is empty; nothing shines
in; its switch shut it after an error; its switch does not accept the module; the port or its module is broken.
"""


@fact("neighbours", ttl_seconds=SECONDS, age_seconds=SECONDS)
class Neighbor(NamedTuple):
    """One neighbour on one port: heard there over LLDP (IEEE 802.1AB; LLDP-MIB lldpRemTable), or found by the discovery
    of an InfiniBand fabric, in which one device tells the links of all.
    """

    port: str
    """The local port, as the device that answers names it; as the discovery does where another device is meant."""
    chassis_id: str | None = None
    chassis_id_type: str | None = None
    """`mac`, `ifname`, `ifalias`, `local`, `ip`, `component`, ... in lldpd's words."""
    system_name: str | None = None
    port_id: str | None = None
    port_id_type: str | None = None
    port_description: str | None = None
    ttl_seconds: int | None = None
    age_seconds: int | None = None
    """Seconds since the neighbour was first heard, not since its last frame."""
    management_addresses: tuple[str, ...] = ()
    via: str | None = None
    """`LLDP`, `CDPv2`, `InfiniBand`, ...; None where the source speaks of LLDP only and does not say."""
    of: str | None = None
    """The device whose port this is, where another one answers: a switch by its whole node description, a host by the
    host part of it. None for the device that answers.
    """
    of_guid: str | None = None
    """The node GUID of that device: `0x` and 16 hexadecimal digits in lower case."""
    local_port_id: str | None = None
    """The id under which the device that answers sends this port itself, where it says so: Junos' SNMP index."""


@fact("the GPU topology", gpu=ANY_NUMBER)
class GpuNicPath(NamedTuple):
    """How one GPU reaches one NIC inside a host (`nvidia-smi topo -m`)."""

    gpu: int
    nic: str
    """`NIC0` as the matrix names it; the device's own name where the matrix uses device names as columns."""
    device: str | None
    """`mlx5_0` from the NIC legend, None when the answer carries no legend."""
    level: str
    """`PIX`, `PXB`, `PHB`, `NODE`, `SYS`, ... as printed."""


@fact("RDMA links", port=ANY_NUMBER, rate_gbps=GBPS)
class RdmaLink(NamedTuple):
    """One port of one RDMA device and the netdev above it (`rdma link` and its older relatives)."""

    device: str
    port: int
    state: str | None
    """`ACTIVE`, `DOWN`, `INIT`, `ARMED`, ...: the words of `rdma link`, whatever command answered."""
    physical_state: str | None
    """`LINK_UP`, `POLLING`, `DISABLED`, ...: the words of `rdma link`, whatever command answered."""
    netdev: str | None = None
    rate_gbps: float | None = None
    link_layer: str | None = None
    """`Ethernet` or `InfiniBand`."""
    pci_address: str | None = None
    guid: str | None = None
    """The node GUID: `0x` and 16 hexadecimal digits in lower case."""


@fact("network interfaces", mtu=ANY_NUMBER, speed_gbps=GBPS)
class NetLink(NamedTuple):
    """One network interface of a host or a switch (`ip -j link`, IF-MIB)."""

    netdev: str
    mac: str | None = None
    mtu: int | None = None
    operstate: str | None = None
    """`UP`, `DOWN`, `UNKNOWN`, `LOWERLAYERDOWN`, ... (RFC 2863, in the kernel's words)."""
    flags: tuple[str, ...] = ()
    """Kernel flags such as `UP` (administratively), `LOWER_UP` (carrier), `NO-CARRIER`, `SLAVE`."""
    speed_gbps: float | None = None
    pci_address: str | None = None
    master: str | None = None
    aliases: tuple[str, ...] = ()
    """Other names of the same interface: altnames, ifAlias, ifDescr."""
    kind: str | None = None
    """`bond`, `vlan`, `bridge`, `veth`, ... where the kernel says; None for a physical interface."""
    down_reason: DownReason | None = None
    """Why there is no link, where a switch gives a reason; None where there is link, or no reason."""


@fact("the speed of links", gbps=GBPS, able_gbps=GBPS)
class LinkSpeed(NamedTuple):
    """The speed at which the link of one port runs (sysfs, a switch's CLI; width and lanes in an InfiniBand fabric)."""

    port: str
    """The netdev, or the RDMA device where that tells it; the number of an InfiniBand switch's port."""
    gbps: float
    of: str | None = None
    """The device whose port this is, where another one answers, as in `Neighbor`."""
    of_guid: str | None = None
    able_gbps: float | None = None
    """What both ends of the link support, where an InfiniBand discovery says that this is more: lanes were lost, or a
    slower rate was trained."""


@fact("ids that ports send in LLDP")
class PortIdentity(NamedTuple):
    """The id that one port of a switch sends in LLDP, as the switch itself says."""

    port: str
    port_id: str


@fact("IP addresses", prefix_length=(0, 128))
class NetAddress(NamedTuple):
    """One IP address of one interface (`ip -j addr`)."""

    netdev: str
    address: str
    prefix_length: int


class Counter(NamedTuple):
    """The name of a counter as the device prints it, and the priority (traffic class) that it counts, if any."""

    counter: str
    priority: int | None = None


@fact("counters of ports")
class PortCounters(NamedTuple):
    """The counters of one port, read at one time.

    `counters` is one tuple shared by all ports that print the same names, `values` what each counted: a fabric has two
    million values a round, and a fact for each of them would cost more than evaluating them.
    """

    port: str
    counters: tuple[Counter, ...]
    values: tuple[int, ...]
    lag_seconds: float | None = None
    """How much older than the newest port of the answer they are, where the device tells when it renewed each port."""

    def rows(self) -> Iterator[dict[str, object]]:
        """One object for each counter: port, counter, value, priority."""
        for (counter, priority), value in zip(self.counters, self.values, strict=True):
            yield {"port": self.port, "counter": counter, "value": value, "priority": priority}


@fact("the QoS of ports")
class PortQos(NamedTuple):
    """How a port treats lossless traffic (`mlnx_qos`, `dcb`, a switch's PFC and ECN settings)."""

    port: str
    trust: str | None = None
    """`dscp` or `pcp`: by what a packet's priority is reported."""
    pfc_priorities: tuple[int, ...] | None = None
    """Priorities that are paused instead of dropped."""
    ecn_priorities: tuple[int, ...] | None = None
    """Priorities on which congestion is marked (switch), or answered by slowing down (NIC)."""
    global_pause: bool | None = None
    """Whether the link's plain pause (IEEE 802.3x) is on, which stops all priorities."""
    watchdog: str | None = None
    """What the PFC watchdog does: `drop`, `forward`, `alert`, `disabled`."""


@fact("PCIe links", speed_gts=GBPS, width=ANY_NUMBER, max_speed_gts=GBPS, max_width=ANY_NUMBER)
class PcieLink(NamedTuple):
    """The PCIe link of one device as negotiated and as it could be (sysfs `current_link_speed`, `max_link_width`)."""

    pci_address: str
    speed_gts: float | None = None
    width: int | None = None
    max_speed_gts: float | None = None
    max_width: int | None = None
    device: str | None = None
    """`mlx5_3` or `GPU3` where the answer says so."""


@fact("settings of hosts")
class HostSetting(NamedTuple):
    """One thing that a host's system says of itself: `nvidia_peermem` `loaded`, `iommu` `on`, `acs` `enabled`, ..."""

    name: str
    value: str
    device: str | None = None
    """PCI address or port where the setting is that of one."""


@fact(
    "readings of optics",
    lane=ANY_NUMBER,
    rx_power_dbm=DBM,
    tx_power_dbm=DBM,
    bias_ma=(-1e6, 1e6),
    temperature_celsius=(-1e4, 1e4),
    rx_power_low_dbm=DBM,
    rx_power_high_dbm=DBM,
)
class Optic(NamedTuple):
    """One lane of a pluggable module (`ethtool -m`, a switch's transceiver table)."""

    port: str
    lane: int | None = None
    rx_power_dbm: float | None = None
    tx_power_dbm: float | None = None
    bias_ma: float | None = None
    temperature_celsius: float | None = None
    rx_power_low_dbm: float | None = None
    """The module's own alarm threshold."""
    rx_power_high_dbm: float | None = None
    vendor: str | None = None
    part: str | None = None
    serial: str | None = None


Fact: TypeAlias = (
    Neighbor
    | GpuNicPath
    | RdmaLink
    | NetLink
    | LinkSpeed
    | PortIdentity
    | NetAddress
    | PortCounters
    | PortQos
    | PcieLink
    | HostSetting
    | Optic
)
"""A kind of fact: each class with `@fact`, for the type checker."""

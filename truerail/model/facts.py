"""Facts that devices report: one small, typed, immutable row per kind of fact.

A fact does not name the device that reported it: its `Reading` does. Facts are named tuples rather than dataclasses
because a fabric of 100,000 GPUs has half a million of them per round: a frozen dataclass costs five times as much to
create, and a tuple transposes into columns at once. `None` means not reported; it is never a zero.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from truerail.model.fact_kinds import ANY_NUMBER, BYTES, DBM, GBPS, SECONDS, SHARE, fact
from truerail.model.job_facts import PodOfJob, SchedulerJob, SchedulerNode, TopologyUnit
from truerail.model.nccl_facts import NcclFact
from truerail.model.probe_facts import ProbeFact, RdmaTest
from truerail.model.witness_facts import WitnessFact

DownReason: TypeAlias = Literal[
    "switched off", "no module", "no light", "error-disabled", "module not accepted", "hardware failure"
]
"""Why a port has no link, as its own device reports it: administratively down; no module; no light received; shut by
its switch after an error; module not accepted by its switch; port or module broken.
"""


@fact("neighbours", ttl_seconds=SECONDS, age_seconds=SECONDS)
class Neighbor(NamedTuple):
    """One neighbour on one port: heard there over LLDP (IEEE 802.1AB; LLDP-MIB lldpRemTable), or found by the discovery
    of an InfiniBand fabric, in which one device reports the links of all.
    """

    port: str
    """The local port, named as by the reporting device; as by the discovery if it is another device's port."""
    chassis_id: str | None = None
    chassis_id_type: str | None = None
    """`mac`, `ifname`, `ifalias`, `local`, `ip`, `component`, ... in lldpd's terms."""
    system_name: str | None = None
    port_id: str | None = None
    port_id_type: str | None = None
    port_description: str | None = None
    ttl_seconds: int | None = None
    age_seconds: int | None = None
    """Seconds since the neighbour was first heard, not since its last frame."""
    management_addresses: tuple[str, ...] = ()
    via: str | None = None
    """`LLDP`, `CDPv2`, `InfiniBand`, ...; None if the source reports only LLDP and does not name it."""
    of: str | None = None
    """The device that has this port, if another one reports it: a switch by its whole node description, a host by the
    host part of it. None for the reporting device itself.
    """
    of_guid: str | None = None
    """The node GUID of that device: `0x` and 16 hexadecimal digits in lower case."""
    local_port_id: str | None = None
    """The port id that the reporting device itself sends for this port, if reported: Junos' SNMP index."""


@fact("the GPU topology", gpu=ANY_NUMBER)
class GpuNicPath(NamedTuple):
    """How one GPU reaches one NIC inside a host (`nvidia-smi topo -m`)."""

    gpu: int
    nic: str
    """`NIC0` as in the matrix; the device's own name if the matrix uses device names as columns."""
    device: str | None
    """`mlx5_0` from the NIC legend, None if the answer has no legend."""
    level: str
    """`PIX`, `PXB`, `PHB`, `NODE`, `SYS`, ... as printed."""


@fact("RDMA links", port=ANY_NUMBER, rate_gbps=GBPS, active_mtu=ANY_NUMBER)
class RdmaLink(NamedTuple):
    """One port of one RDMA device and the netdev above it (`rdma link` and its older relatives)."""

    device: str
    port: int
    state: str | None
    """`ACTIVE`, `DOWN`, `INIT`, `ARMED`, ...: the words of `rdma link`, whatever the command."""
    physical_state: str | None
    """`LINK_UP`, `POLLING`, `DISABLED`, ...: the words of `rdma link`, whatever the command."""
    netdev: str | None = None
    rate_gbps: float | None = None
    link_layer: str | None = None
    """`Ethernet` or `InfiniBand`."""
    pci_address: str | None = None
    guid: str | None = None
    """The node GUID: `0x` and 16 hexadecimal digits in lower case."""
    active_mtu: int | None = None
    """Payload bytes of a packet, that peers must agree on: 256 to 4096 (`ibv_devinfo`)."""


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
    """`bond`, `vlan`, `bridge`, `veth`, ... if the kernel reports it; None for a physical interface."""
    down_reason: DownReason | None = None
    """Why there is no link, if a switch reports it; None with link, or without a reason."""
    below: str | None = None
    """The interface that a `vlan`, `macvlan` or `ipvlan` is on, by its netdev (IFLA_LINK); None if that is not
    reported, or is in another network namespace."""


@fact("the speed of links", gbps=GBPS, able_gbps=GBPS)
class LinkSpeed(NamedTuple):
    """The speed at which the link of one port runs (sysfs, a switch's CLI; width and lanes in an InfiniBand fabric)."""

    port: str
    """The netdev, or the RDMA device if that reports it; the number of an InfiniBand switch's port."""
    gbps: float
    of: str | None = None
    """The device that has this port, if another one reports it, as in `Neighbor`."""
    of_guid: str | None = None
    able_gbps: float | None = None
    """The rate that both ends of the link support, if an InfiniBand discovery reports a higher one: lanes were lost, or
    the link trained at a lower rate."""


@fact("ids that ports send in LLDP")
class PortIdentity(NamedTuple):
    """The id that one port of a switch sends in LLDP, as the switch itself reports it."""

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

    `counters` is one tuple shared by all ports with the same names, `values` their values: a fabric has two million
    values per round, and a fact for each of them would cost more than evaluating them.
    """

    port: str
    counters: tuple[Counter, ...]
    values: tuple[int, ...]
    lag_seconds: float | None = None
    """Age relative to the newest port of the answer, if the device reports when it refreshed each port."""

    def rows(self) -> Iterator[dict[str, object]]:
        """One object for each counter: port, counter, value, priority."""
        for (counter, priority), value in zip(self.counters, self.values, strict=True):
            yield {"port": self.port, "counter": counter, "value": value, "priority": priority}


@fact("the QoS of ports", ecn_min_bytes=BYTES, ecn_max_bytes=BYTES, ecn_probability=SHARE, headroom_bytes=BYTES)
class PortQos(NamedTuple):
    """A port's settings for lossless traffic (`mlnx_qos`, `dcb`, a switch's PFC and ECN settings)."""

    port: str
    trust: str | None = None
    """`dscp` or `pcp`: the field that gives a packet's priority."""
    pfc_priorities: tuple[int, ...] | None = None
    """Priorities that are paused instead of dropped."""
    ecn_priorities: tuple[int, ...] | None = None
    """Priorities on which a switch marks congestion, or a NIC reacts to it by slowing down."""
    global_pause: bool | None = None
    """Whether the link's global pause (IEEE 802.3x) is on, which pauses all priorities."""
    watchdog: str | None = None
    """The PFC watchdog's action: `drop`, `forward`, `alert`, `disabled`."""
    dscp_to_priority: tuple[tuple[int, int], ...] | None = None
    """Pairs of a DSCP and the priority that the port gives it, ascending; a DSCP without a pair has priority 0."""
    ecn_min_bytes: int | None = None
    """The shortest queue of a lossless priority from which on packets are marked."""
    ecn_max_bytes: int | None = None
    """The queue from which on `ecn_probability` of the packets, or all, are marked."""
    ecn_probability: float | None = None
    headroom_bytes: int | None = None
    """The smallest buffer of a lossless priority for what arrives after a pause was sent."""


@fact("PCIe links", speed_gts=GBPS, width=ANY_NUMBER, max_speed_gts=GBPS, max_width=ANY_NUMBER)
class PcieLink(NamedTuple):
    """The PCIe link of one device, negotiated and maximum (sysfs `current_link_speed`, `max_link_width`)."""

    pci_address: str
    speed_gts: float | None = None
    width: int | None = None
    max_speed_gts: float | None = None
    max_width: int | None = None
    device: str | None = None
    """`mlx5_3` or `GPU3`, if reported."""


@fact("NVLinks", gpu=ANY_NUMBER, link=ANY_NUMBER, gigabytes_per_second=GBPS)
class NvLink(NamedTuple):
    """One NVLink of one GPU (`nvidia-smi nvlink -s`)."""

    gpu: int
    link: int
    active: bool
    gigabytes_per_second: float | None = None
    """The rate of an active link in each direction."""


@fact("GPU processes", pid=ANY_NUMBER)
class GpuProcess(NamedTuple):
    """One process on one GPU (`nvidia-smi --query-compute-apps`)."""

    gpu: str
    """The GPU's UUID, as the driver writes it."""
    pid: int | None
    """None where the driver hides it."""


@fact("settings of hosts")
class HostSetting(NamedTuple):
    """One setting of a host: `nvidia_peermem` `loaded`, `iommu` `on`, `acs` `enabled`, ..."""

    name: str
    value: str
    device: str | None = None
    """PCI address or port, if the setting belongs to one."""


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
    medium: Literal["cable", "module"] | None = None
    """`cable` for an end of a cable with fixed ends (copper, active optical), whose both ends carry one serial number;
    `module` for a pluggable one, behind which any fibre may be."""


@fact("bit error rates", before_fec=SHARE, after_fec=SHARE, seconds=(0.0, 1e12), corrected=(0, 2**62))
class BitErrorRate(NamedTuple):
    """The share of wrong bits that one port receives, as its device computed it (SONiC's `fec-stats`, `mlxlink -c`).

    A rate is worth as much as the time that it covers: some devices compute it over one second, others since their
    counters were cleared. `seconds` and `corrected` say how much is behind it.
    """

    port: str
    before_fec: float | None = None
    """Before forward error correction (FEC): a level that every PAM4 link has."""
    after_fec: float | None = None
    """What the link's error correction left; after its retries, where it has any."""
    seconds: float | None = None
    """The time that both rates cover, up to now."""
    corrected: int | None = None
    """Codewords that FEC corrected since the same device's counters began, which is not the time of the rates."""


Fact: TypeAlias = (
    SchedulerJob
    | SchedulerNode
    | TopologyUnit
    | PodOfJob
    | NcclFact
    | ProbeFact
    | RdmaTest
    | WitnessFact
    | Neighbor
    | GpuNicPath
    | RdmaLink
    | NetLink
    | LinkSpeed
    | PortIdentity
    | NetAddress
    | PortCounters
    | PortQos
    | PcieLink
    | NvLink
    | GpuProcess
    | HostSetting
    | Optic
    | BitErrorRate
)
"""A kind of fact: each class with `@fact`, for the type checker."""

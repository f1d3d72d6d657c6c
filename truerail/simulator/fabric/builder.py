"""Fabrics of any shape: a few numbers define a plan and its machines."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.model import Cable, Device, LoadBalancing, Panel, Plan, Port, Rail, Role, Transport
from truerail.model.columns import grouped
from truerail.simulator.fabric.servers import Model
from truerail.simulator.platforms import platforms

SPEED_GBPS = 400.0
"""The speed of every link of a simulated fabric, as planned, unless its shape has another."""


_PLANES = "abcdefgh"
"""The letters of planes in the names of leaves; a PCI device has eight functions, and so a NIC eight ports."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a fabric. Hosts are spread evenly over pods; every pod has its own leaves.

    `rails_per_leaf` puts several rails on one leaf, in blocks of ports or, with `stride`, interleaved. `planes` gives
    each NIC as many ports, each to a leaf of its own plane. `uplinks` is cables per leaf, spread evenly over the spines
    (0 spines: rail-only). With `superspines` every pod has its own spines, each with one cable to every superspine.
    `platforms` are shared out among leaves, and again among spines, in equal blocks; `models` among hosts, one after
    the other. `host_ports` is the plan's naming of host ports: `netdev`, `rdma` or `pci`. The platform `infiniband`, of
    all switches or none, makes it an InfiniBand fabric: its switches do not answer, and one host reports its discovery.
    `nic` is the driver of the compute NICs: `mlx5`, `bnxt`, `ionic` or `efa`, or `azure`, whose virtual machines have
    `mlx5_ib0`. `sonic_lanes` are the lanes of a SONiC switch's port; `stacked` Junos switches consist of several boxes.
    `trunk` is the number of links in a trunk between the patch panels of a rack of hosts and of the switches, of one
    rail after the other or, `trunk_by` host, of one host after the other; 0: hosts are cabled to leaves directly.
    """

    hosts: int = 64
    rails: int = 8
    pods: int = 1
    rails_per_leaf: int = 1
    stride: bool = False
    planes: int = 1
    spines: int = 4
    uplinks: int = 8
    superspines: int = 0
    spare_ports: int = 4
    gpus: int = 0
    models: tuple[str, ...] = ("xe9680",)
    style: str = "enp"
    storage: bool = False
    host_ports: str = "netdev"
    platforms: tuple[str, ...] = ("cumulus",)
    subnets: bool = False
    nic: str = "mlx5"
    speed_gbps: float = SPEED_GBPS
    sonic_lanes: int = 4
    stacked: bool = False
    trunk: int = 0
    trunk_by: str = "rail"

    def port_name(self, platform: str, number: int) -> str:
        """The name of the port with this number, counted from 1, on a switch of this platform."""
        return platforms()[platform].port_name(number, self)

    def __post_init__(self) -> None:
        if self.hosts < self.pods or self.pods < 1 or self.rails < 1 or not 1 <= self.planes <= len(_PLANES):
            raise ValueError(f"a fabric needs a rail, a host in every pod, and 1 to {len(_PLANES)} planes")
        if self.rails % self.rails_per_leaf:
            raise ValueError(f"{self.rails} rails do not share leaves by {self.rails_per_leaf}")
        if self.infiniband and set(self.platforms) != {"infiniband"}:
            raise ValueError("an InfiniBand fabric has no switches of other platforms")
        if self.spines and self.uplinks % self.spines:
            raise ValueError(f"{self.uplinks} uplinks do not spread evenly over {self.spines} spines")

    @property
    def infiniband(self) -> bool:
        """Whether it is an InfiniBand fabric."""
        return "infiniband" in self.platforms

    @property
    def hosts_per_pod(self) -> int:
        """Hosts in every pod, except perhaps the last."""
        return -(-self.hosts // self.pods)


@dataclass(slots=True)
class Fabric:
    """A plan and the machines behind it. All keys are planned names.

    `models` has each host's model, `ports` the numbers of each switch's ports by their names, ascending, `order`
    numbers all machines (for MACs and addresses), `spare` has the free ports of each leaf.
    """

    shape: Shape
    plan: Plan
    models: dict[str, Model]
    ports: dict[str, dict[str, int]]
    order: dict[str, int]
    spare: dict[str, list[str]]


@dataclass(slots=True)
class _Builder:
    shape: Shape
    devices: dict[str, Device] = field(default_factory=dict)
    cables: list[Cable] = field(default_factory=list)
    used: dict[str, int] = field(default_factory=dict)
    spare: dict[str, list[str]] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)

    def switch(self, name: str, role: Role, pod: str, share: float, unit: int) -> None:
        platforms = self.shape.platforms
        platform = platforms[int(share * len(platforms))]
        rack = f"{pod}-net" if pod else "net"
        self.devices[name] = Device(name, role, pod, platform=platform, rack=rack, unit=unit)
        self.used[name] = 0

    def next_port(self, switch: str) -> Port:
        self.used[switch] += 1
        return self.port(switch, self.used[switch])

    def port(self, switch: str, number: int) -> Port:
        return Port(switch, self.shape.port_name(self.devices[switch].platform, number))


def build(shape: Shape) -> Fabric:
    """The fabric of this shape."""
    builder = _Builder(shape)
    _hosts(builder)
    _leaves(builder)
    _host_cables(builder)
    panels = _panels(builder) if shape.trunk else {}
    _spare_ports(builder)
    _upper_tiers(builder)
    rails = {
        rail: Rail(rail, f"rail{rail}", subnets=(f"10.{rail}.0.0/16",) if shape.subnets else ())
        for rail in range(shape.rails)
    }
    plan = Plan(
        builder.devices,
        tuple(builder.cables),
        name=f"{shape.hosts}x{shape.rails}",
        rails=rails,
        transport=_transport(shape),
        load_balancing=LoadBalancing.ADAPTIVE if shape.infiniband else LoadBalancing.ECMP,
        source="simulator",
        panels=panels,
    )
    ports = {
        switch: {shape.port_name(builder.devices[switch].platform, number): number for number in range(1, used + 1)}
        for switch, used in builder.used.items()
    }
    order = {name: number for number, name in enumerate(builder.devices)}
    return Fabric(shape, plan, builder.models, ports, order, builder.spare)


def _transport(shape: Shape) -> Transport:
    if shape.infiniband:
        return Transport.INFINIBAND
    return Transport.EFA if shape.nic == "efa" else Transport.ROCE


def _pod_name(shape: Shape, pod: int) -> str:
    return f"p{pod + 1}" if shape.pods > 1 else ""


def _hosts(builder: _Builder) -> None:
    shape = builder.shape
    models = [
        Model(name, shape.rails, shape.planes, shape.gpus or shape.rails, shape.style, shape.storage, shape.nic)
        for name in shape.models
    ]
    digits = max(3, len(str(shape.hosts)))
    for host in range(shape.hosts):
        name, pod = f"gpu-{host + 1:0{digits}}", _pod_name(shape, host // shape.hosts_per_pod)
        model = models[host % len(models)]
        rack = f"{pod}-r{host % shape.hosts_per_pod // 4 + 1:02}".lstrip("-")
        builder.devices[name] = Device(name, Role.HOST, pod, rack=rack, unit=1 + 8 * (host % 4), gpus=model.gpus)
        builder.models[name] = model


def leaf_name(shape: Shape, pod: int, rail: int, plane: int) -> str:
    """The leaf that carries this rail and plane in this pod."""
    prefix = f"{_pod_name(shape, pod)}-" if shape.pods > 1 else ""
    return f"{prefix}leaf-{rail // shape.rails_per_leaf}{_PLANES[plane] if shape.planes > 1 else ''}"


def _leaves(builder: _Builder) -> None:
    shape = builder.shape
    groups = shape.rails // shape.rails_per_leaf
    total, number = shape.pods * groups * shape.planes, 0
    for pod in range(shape.pods):
        for group in range(groups):
            for plane in range(shape.planes):
                name = leaf_name(shape, pod, group * shape.rails_per_leaf, plane)
                builder.switch(name, Role.LEAF, _pod_name(shape, pod), number / total, unit=number % 40 + 1)
                number += 1


def _host_cables(builder: _Builder) -> None:
    shape = builder.shape
    for host, (name, model) in enumerate(builder.models.items()):
        pod, place = divmod(host, shape.hosts_per_pod)
        in_pod = min(shape.hosts_per_pod, shape.hosts - pod * shape.hosts_per_pod)
        for slot, nic in enumerate(model.names):
            rail, plane = divmod(slot, shape.planes)
            leaf = leaf_name(shape, pod, rail, plane)
            share = rail % shape.rails_per_leaf
            number = place * shape.rails_per_leaf + share if shape.stride else share * in_pod + place
            builder.used[leaf] = max(builder.used[leaf], number + 1)
            a = Port(name, getattr(nic, shape.host_ports))
            named_plane = plane if shape.planes > 1 else None
            builder.cables.append(Cable(a, builder.port(leaf, number + 1), rail, named_plane, shape.speed_gbps))


_TRUNKS_OF_PANEL = 12


def _panels(builder: _Builder) -> dict[str, Panel]:
    """Leads the cables of each rack of hosts through a panel there, trunks, and panels beside the switches."""
    by_rack = grouped((builder.devices[cable.a.device].rack, number) for number, cable in enumerate(builder.cables))
    panels: dict[str, Panel] = {}
    trunks, size = 0, builder.shape.trunk
    for rack, numbers in by_rack.items():
        if builder.shape.trunk_by == "rail":
            numbers.sort(key=lambda number: (builder.cables[number].rail, builder.cables[number].plane, number))
        near = f"pp-{rack}"
        panels[near] = Panel(rack, 42)
        for at, number in enumerate(numbers):
            trunks += at % size == 0
            panel, place = divmod(trunks - 1, _TRUNKS_OF_PANEL)
            far, position = f"pp-net-{panel + 1}", at % size + 1
            panels.setdefault(far, Panel("net", 42 + panel))
            front, rear = str(place * size + position), f"T{trunks}:{position}"
            via = Port(near, str(at + 1)), Port(near, rear), Port(far, rear), Port(far, front)
            builder.cables[number] = builder.cables[number]._replace(via=via)
    return panels


def _spare_ports(builder: _Builder) -> None:
    for leaf in builder.used:
        builder.spare[leaf] = [builder.next_port(leaf).name for _ in range(builder.shape.spare_ports)]


def _upper_tiers(builder: _Builder) -> None:
    shape = builder.shape
    leaves = list(builder.used)
    if not shape.spines:
        return
    for pod in range(shape.pods) if shape.superspines else (None,):
        name = "" if pod is None else _pod_name(shape, pod)
        spines = [f"{name}-spine-{i + 1}".lstrip("-") for i in range(shape.spines)]
        for i, spine in enumerate(spines):
            builder.switch(spine, Role.SPINE, name, i / shape.spines, unit=i + 1)
        below = [leaf for leaf in leaves if not name or builder.devices[leaf].pod == name]
        builder.cables.extend(_mesh(builder, below, spines, shape.uplinks // shape.spines))
    if shape.superspines:
        spines = [device for device in builder.used if builder.devices[device].role is Role.SPINE]
        tops = [f"superspine-{i + 1}" for i in range(shape.superspines)]
        for i, top in enumerate(tops):
            builder.switch(top, Role.SUPERSPINE, "", i / shape.superspines, unit=i + 1)
        builder.cables.extend(_mesh(builder, spines, tops, 1))


def _mesh(builder: _Builder, below: list[str], above: list[str], parallel: int) -> Iterator[Cable]:
    for low in below:
        for high in above:
            for _ in range(parallel):
                yield Cable(builder.next_port(low), builder.next_port(high), speed_gbps=builder.shape.speed_gbps)

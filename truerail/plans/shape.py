"""The key figures of a plan: ports and capacity of every switch, oversubscription, bisection bandwidth."""

from dataclasses import dataclass

from truerail.model import Cable, Plan, Role
from truerail.model.columns import grouped


@dataclass(frozen=True, slots=True)
class SwitchShape:
    """One switch: its capacity down and up, in Gb/s of one direction; None if a cable has no speed."""

    name: str
    role: Role
    pod: str
    rails: tuple[int, ...]
    planes: tuple[int, ...]
    down_ports: int
    up_ports: int
    down_gbps: float | None
    up_gbps: float | None

    @property
    def oversubscription(self) -> float | None:
        """Capacity down over capacity up, 1.0 is non-blocking; by number of ports where speeds are not planned.

        None without uplinks.
        """
        if not self.up_ports:
            return None
        if self.down_gbps is None or self.up_gbps is None:
            return self.down_ports / self.up_ports
        return self.down_gbps / self.up_gbps


@dataclass(frozen=True, slots=True)
class Shape:
    """The fabric in numbers. `tiers` maps leaf and spine to the capacity of all their uplinks together, in Gb/s."""

    hosts: int
    gpus: int | None
    rails: tuple[int, ...]
    planes: tuple[int, ...]
    pods: tuple[str, ...]
    switches: tuple[SwitchShape, ...]
    host_cables: int
    uplinks: int
    tiers: dict[Role, float | None]

    @property
    def leaves(self) -> tuple[SwitchShape, ...]:
        """The leaves, in the plan's order."""
        return tuple(switch for switch in self.switches if switch.role is Role.LEAF)

    @property
    def bisection_gbps(self) -> float | None:
        """The total capacity of the narrowest tier's uplinks, in Gb/s; 0 without spines, None without speeds.

        8 leaves with 32 uplinks of 400 Gb/s are 102,400 Gb/s.
        """
        known = [capacity for capacity in self.tiers.values() if capacity is not None]
        if len(known) < len(self.tiers):
            return None
        return min(known, default=0.0)

    @property
    def bisection_gbytes_per_second(self) -> float | None:
        """The same in GB/s: 12,800 GB/s, that is 12.8 TB/s, for the fabric above."""
        capacity = self.bisection_gbps
        return None if capacity is None else capacity / 8


def describe(plan: Plan) -> Shape:
    """The shape of a plan. Linear in its cables."""
    below = grouped((cable.b.device, cable) for cable in plan.cables if cable.a.device != cable.b.device)
    switches = tuple(
        _switch(device.name, device.role, device.pod, below.get(device.name, []), _up(plan, device.name))
        for device in plan.devices.values()
        if device.role is not Role.HOST
    )
    hosts = plan.of_role(Role.HOST)
    counts = [host.gpus for host in hosts]
    host_cables = list(plan.host_cables)
    return Shape(
        hosts=len(hosts),
        gpus=None if None in counts else sum(count or 0 for count in counts),
        rails=tuple(sorted({cable.rail for cable in host_cables if cable.rail is not None})),
        planes=tuple(sorted({cable.plane for cable in host_cables if cable.plane is not None})),
        pods=tuple(dict.fromkeys(device.pod for device in plan.devices.values() if device.pod)),
        switches=switches,
        host_cables=len(host_cables),
        uplinks=len(plan.cables) - len(host_cables),
        tiers=_tiers(switches),
    )


def _up(plan: Plan, name: str) -> tuple[Cable, ...]:
    """The cables from a switch to others above it; a faulty plan may have some from a switch to itself."""
    return tuple(cable for cable in plan.uplinks_of(name) if cable.b.device != name)


def _switch(name: str, role: Role, pod: str, down: list[Cable], up: tuple[Cable, ...]) -> SwitchShape:
    rails = {cable.rail for cable in down if cable.rail is not None}
    planes = {cable.plane for cable in down if cable.plane is not None}
    return SwitchShape(
        name, role, pod, tuple(sorted(rails)), tuple(sorted(planes)), len(down), len(up), _capacity(down), _capacity(up)
    )


def _capacity(cables: list[Cable] | tuple[Cable, ...]) -> float | None:
    """Gb/s of all cables together; None where one has no speed."""
    speeds = [cable.speed_gbps for cable in cables if cable.speed_gbps is not None]
    return sum(speeds, 0.0) if len(speeds) == len(cables) else None


def _tiers(switches: tuple[SwitchShape, ...]) -> dict[Role, float | None]:
    tiers: dict[Role, float | None] = {}
    for switch in switches:
        if switch.up_ports:
            so_far = tiers.get(switch.role, 0.0)
            tiers[switch.role] = None if so_far is None or switch.up_gbps is None else so_far + switch.up_gbps
    return tiers

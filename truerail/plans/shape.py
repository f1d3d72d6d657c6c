"""The key figures of a plan: ports and capacity of every switch, oversubscription, bisection bandwidth."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from truerail.model import Cable, Device, Plan, Role
from truerail.model.columns import grouped


class SwitchShape(NamedTuple):
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


class Shape(NamedTuple):
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
        return min(known, default=0.0) if len(known) == len(self.tiers) else None

    @property
    def bisection_gbytes_per_second(self) -> float | None:
        """The same in GB/s: 12,800 GB/s, that is 12.8 TB/s, for the fabric above."""
        capacity = self.bisection_gbps
        return None if capacity is None else capacity / 8


def describe(plan: Plan) -> Shape:
    """The shape of a plan. Linear in its cables."""
    below = grouped((cable.b.device, cable) for cable in plan.cables if cable.a.device != cable.b.device)
    switches = tuple(
        _switch(device, below.get(device.name, ()), plan.uplinks_of(device.name))
        for device in plan.devices.values()
        if device.role is not Role.HOST
    )
    hosts = plan.of_role(Role.HOST)
    counts = [host.gpus for host in hosts]
    host_cables = list(plan.host_cables)
    return Shape(
        hosts=len(hosts),
        gpus=None if None in counts else sum(count or 0 for count in counts),
        rails=_distinct(cable.rail for cable in host_cables),
        planes=_distinct(cable.plane for cable in host_cables),
        pods=tuple(dict.fromkeys(device.pod for device in plan.devices.values() if device.pod)),
        switches=switches,
        host_cables=len(host_cables),
        uplinks=len(plan.cables) - len(host_cables),
        tiers=_tiers(switches),
    )


def _switch(device: Device, down: Sequence[Cable], uplinks: Sequence[Cable]) -> SwitchShape:
    """Its cables; a faulty plan may have some from a switch to itself among the uplinks."""
    up = [cable for cable in uplinks if cable.b.device != device.name]
    rails, planes = _distinct(cable.rail for cable in down), _distinct(cable.plane for cable in down)
    down_gbps, up_gbps = (_total([cable.speed_gbps for cable in cables]) for cables in (down, up))
    return SwitchShape(device.name, device.role, device.pod, rails, planes, len(down), len(up), down_gbps, up_gbps)


def _distinct(numbers: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(sorted({number for number in numbers if number is not None}))


def _total(speeds: Sequence[float | None]) -> float | None:
    """All together, in Gb/s; None where one is unknown."""
    known = [speed for speed in speeds if speed is not None]
    return sum(known, 0.0) if len(known) == len(speeds) else None


def _tiers(switches: tuple[SwitchShape, ...]) -> dict[Role, float | None]:
    up = grouped((switch.role, switch.up_gbps) for switch in switches if switch.up_ports)
    return {role: _total(capacities) for role, capacities in up.items()}

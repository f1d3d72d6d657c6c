"""A complete changing fabric: its plan, its inventory, its transport, and its director."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from truerail.errors import NoRoomError
from truerail.model import Plan, Target
from truerail.poller import Ambient
from truerail.simulator.fabric.builder import Shape, build
from truerail.simulator.fabric.demo_fabric import STORY, living_shape
from truerail.simulator.fabric.world import World, as_planned
from truerail.simulator.faults.planting import KINDS, Fault
from truerail.simulator.live.director import DAILY, Director, Pace, StandingFaults
from truerail.simulator.live.living_traffic import LivingTraffic
from truerail.simulator.live.living_world import Daemons, LivingWorld
from truerail.simulator.live.transport import SimulatedTransport
from truerail.simulator.simulation import random_of
from truerail.simulator.traffic import FlowFault

QUICK = Daemons(tx_seconds=5.0, hold=4)
"""LLDP daemons with short timers: two minutes are too long for a demo."""
TROUBLE_SECONDS = (45.0, 120.0)
"""Default range until the next fault of the traffic."""
TIMEOUT_SECONDS = 3.0
"""Login timeout of the fabric's devices."""


@dataclass(frozen=True, slots=True)
class LivingFabric:
    """Everything that a service needs to monitor it, and a demo or a test to change it."""

    plan: Plan
    targets: tuple[Target, ...]
    transport: SimulatedTransport
    director: Director
    living: LivingWorld
    traffic: LivingTraffic


def living_fabric(
    hosts: int = 64,
    rails: int = 8,
    faults: Sequence[Fault] = (),
    seed: int = 1,
    *,
    troubles: Sequence[FlowFault] = (),
    shape: Shape | None = None,
    pace: Pace | None = None,
    ambient: Ambient | None = None,
) -> LivingFabric:
    """The changing fabric of `truerail demo`. It starts with these faults and continues with further faults of cables;
    without any, with as many of the demo's faults as fit, and then those of an ordinary day. Troubles stay until they
    are lifted; with them alone, no other faults appear. The same seed and clock give the same scenario. Raises
    `NoRoomError` if the fabric is too small for the given faults.
    """
    alone = bool(troubles) and not faults
    world = as_planned(build(shape or living_shape(hosts, rails, [one.kind for one in troubles], faults)), "inventory")
    living = LivingWorld(world, ambient or Ambient(), QUICK)
    standing = StandingFaults(living, random_of(seed, "faults"))
    for fault in sorted(() if alone else faults or STORY, key=lambda fault: KINDS.index(fault.kind)):
        with nullcontext() if faults else suppress(NoRoomError):
            standing.plant(fault, living.ether.began)
    living.settle()
    script = () if alone else tuple(dict.fromkeys(faults)) or tuple(DAILY)
    traffic = LivingTraffic(living, seed)
    pace = pace or (Pace() if alone else Pace(trouble_seconds=TROUBLE_SECONDS))
    director = Director(living, standing, traffic, script, pace, random_of(seed, "script"))
    for trouble in troubles:
        director.disturb(trouble, stays=True)
    transport = SimulatedTransport(living, traffic, random_of(seed, "latency"))
    return LivingFabric(world.fabric.plan, targets(world), transport, director, living, traffic)


def targets(world: World) -> tuple[Target, ...]:
    """The inventory of a simulated fabric."""
    return tuple(
        Target(
            device.name,
            world.address(device.name),
            device.role,
            device.platform or "linux",
            device.pod,
            device.rack,
            device.unit,
            TIMEOUT_SECONDS,
        )
        for device in world.fabric.plan.devices.values()
    )

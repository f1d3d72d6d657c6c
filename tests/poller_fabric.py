"""The fabric of tests with pollers in processes of their own: each process builds the same one."""

import sys
from dataclasses import replace

from tests.fake_fleet import targets
from truerail.model import CauseKind, Role
from truerail.poller.device_poller import Limits
from truerail.poller.fleet import Work
from truerail.poller.polling import intervals
from truerail.simulator import Fault, Shape, Simulation, simulate

PROGRAM = (sys.executable, "-m", "tests.simulated_poller")
SHAPE = Shape(hosts=6, rails=4, spines=2, uplinks=2)
QUICK = ("lldp_host", "lldp_switch", "net_link", "rdma_link")


def simulation() -> Simulation:
    """Two cables of one host are swapped."""
    return simulate(SHAPE, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=4, folders="inventory")


def work(seconds: float = 0.3) -> Work:
    """All devices, with short intervals for what this fabric reports."""
    made = simulation()
    every = intervals(dict.fromkeys(QUICK, seconds))
    return Work(tuple(targets(made)), dict(made.plan.devices), every, 30.0, 0.0, Limits())


def zoned_work(seconds: float = 0.5, *, planned: bool = True) -> Work:
    """The same devices in two zones, spines in `core`, all others in `pods`; unplanned as a poller of a bus has it."""
    made = work()
    spine = {name for name, device in made.devices.items() if device.role is Role.SPINE}
    zoned = tuple(replace(one, zone="core" if one.name in spine else "pods") for one in made.targets)
    every = intervals(dict.fromkeys(("lldp_host", "lldp_switch"), seconds))
    devices = made.devices if planned else {}
    return replace(made, targets=zoned, devices=devices, every_seconds=every, patience_seconds=2.0)

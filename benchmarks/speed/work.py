"""The work that tools are compared on: one fabric's links as each tool wants them, and texts of one host and switch."""

import json
from dataclasses import dataclass
from typing import Any

from truerail.model import Device, Plan, Role
from truerail.simulator import Noise, Shape, Simulation, simulate

HOSTS = 1000


@dataclass(frozen=True, slots=True)
class Texts:
    """Answers of 8 GPUs and 12 NICs, 12 RDMA devices, 10 LLDP neighbours of a host, 64 of a switch."""

    topo: str
    rdma: str
    lldp: str
    nxos: str


def texts() -> Texts:
    """The texts whose reading is timed."""
    host = _answers(Shape(hosts=1, rails=8, spines=0, storage=True), "gpu-001")
    ten = _answers(Shape(hosts=1, rails=10, spines=0), "gpu-001")
    leaf = _answers(Shape(hosts=64, rails=2, spines=0, platforms=("nxos",)), "leaf-1", Noise(mixed=True))
    return Texts(
        host["nvidia-smi topo -m"], host["rdma link"], ten["lldpctl -f json0"], leaf["show lldp neighbors detail"]
    )


def _answers(shape: Shape, folder: str, noise: Noise | None = None) -> dict[str, str]:
    return dict(simulate(shape, noise=noise or Noise()).answers())[folder]


def fabric() -> Simulation:
    """A clean fabric of EOS switches whose hosts announce their ports by name, as ANTA wants them."""
    shape = Shape(hosts=HOSTS, rails=8, pods=16, spines=8, uplinks=32, platforms=("eos",))
    return simulate(shape, noise=Noise(labels=True))


def for_peers(simulation: Simulation, read: Texts) -> dict[str, Any]:
    """The same links and texts for `peers.py`."""
    switches = [
        _switch(simulation.plan, simulation.plan.devices[folder], answers)
        for folder, answers in simulation.answers()
        if simulation.plan.devices[folder].role is not Role.HOST
    ]
    return {
        "switches": switches,
        "topo": read.topo,
        "columns": 20,
        "topo_rows": 20 + 12,
        "rdma": read.rdma,
        "rdma_rows": 12,
        "nxos": read.nxos,
        "nxos_rows": 64,
    }


def _switch(plan: Plan, switch: Device, answers: dict[str, str]) -> dict[str, Any]:
    eos = json.loads(answers["show lldp neighbors detail | json"])
    planned = {}
    for cable in plan.cables:
        for here, there in ((cable.a, cable.b), (cable.b, cable.a)):
            if here.device == switch.name:
                planned[here.name] = there
    return {
        "name": switch.name,
        "eos": eos,
        "anta": [
            {"port": port, "neighbor_device": peer.device, "neighbor_port": peer.name} for port, peer in planned.items()
        ],
        "napalm_expected": {
            port: {"list": [{"hostname": peer.device, "port": peer.name}]} for port, peer in planned.items()
        },
        "napalm_actual": {
            port: [
                {"hostname": one["systemName"], "port": one["neighborInterfaceInfo"]["interfaceId_v2"]}
                for one in heard["lldpNeighborInfo"]
            ]
            for port, heard in eos["lldpNeighbors"].items()
        },
    }

"""A small fabric in memory for tests of the engine: a plan, what is really cabled and named, and the facts that
follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from truerail.model import (
    Cable,
    Device,
    Fact,
    GpuNicPath,
    Neighbor,
    NetLink,
    Plan,
    Port,
    RdmaLink,
    Reading,
    Role,
    Snapshot,
)

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)


def make_plan(hosts: int = 8, rails: int = 4, spines: int = 2, spare: int = 0) -> Plan:
    """`hosts` x `rails`, one leaf a rail, each leaf with one uplink to each spine."""
    del spare  # ports beyond the planned ones exist by being seen
    devices = {f"h{i}": Device(f"h{i}", Role.HOST, gpus=rails) for i in range(1, hosts + 1)}
    devices |= {f"leaf-{r}": Device(f"leaf-{r}", Role.LEAF) for r in range(rails)}
    devices |= {f"spine-{s}": Device(f"spine-{s}", Role.SPINE) for s in range(1, spines + 1)}
    cables = [
        Cable(Port(f"h{i}", f"nic{chr(97 + r)}"), Port(f"leaf-{r}", f"swp{i}"), rail=r)
        for i in range(1, hosts + 1)
        for r in range(rails)
    ]
    cables += [
        Cable(Port(f"leaf-{r}", f"swp{100 + s}"), Port(f"spine-{s}", f"swp{r + 1}"))
        for r in range(rails)
        for s in range(1, spines + 1)
    ]
    return Plan(devices, tuple(cables))


def rails_only(hosts: Sequence[str], rails: int, nic: str = "nic") -> Plan:
    """Each of these hosts with one NIC on the leaf of each rail, and nothing above."""
    leaves = {f"leaf-{rail}": Device(f"leaf-{rail}", Role.LEAF) for rail in range(rails)}
    cables = tuple(
        Cable(Port(host, f"{nic}{rail}"), Port(f"leaf-{rail}", f"swp{at}"), rail=rail)
        for at, host in enumerate(hosts, 1)
        for rail in range(rails)
    )
    return Plan({host: Device(host) for host in hosts} | leaves, cables)


def snapshot_of(facts: Mapping[str, Sequence[Fact]]) -> Snapshot:
    """What these devices report, with one reading for each kind of fact."""
    collectors = {Neighbor: "lldp_host", NetLink: "net_link", RdmaLink: "rdma_link"}
    readings = [
        Reading(device, collectors[kind], AT, tuple(fact for fact in reported if type(fact) is kind))
        for device, reported in facts.items()
        for kind in dict.fromkeys(map(type, reported))
    ]
    return Snapshot(AT, readings)


@dataclass
class World:
    """What is really there. `where` maps a lower port to the place its cable is in; names and NIC orders may be
    swapped.
    """

    plan: Plan
    where: dict[Port, Port | None] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    """Machine to the hostname it announces."""
    nic_names: dict[str, dict[str, str]] = field(default_factory=dict)
    """Host to (planned NIC name, the name that this slot's NIC really has)."""
    unread: set[str] = field(default_factory=set)
    deaf: set[str] = field(default_factory=set)
    """Devices whose own LLDP hears nothing."""
    topology: bool = True
    folders_by_inventory: bool = False

    def __post_init__(self) -> None:
        self.where = {c.a: c.b for c in self.plan.cables} | self.where

    def swap(self, one: Port, other: Port) -> None:
        """Swaps two cables."""
        self.where[one], self.where[other] = self.where[other], self.where[one]

    def exchange_names(self, one: str, other: str) -> None:
        """Swaps the hostnames of two machines."""
        self.called[one], self.called[other] = self.name(other), self.name(one)

    def name(self, machine: str) -> str:
        """What a machine calls itself."""
        return self.called.get(machine, machine)

    def folder(self, machine: str) -> str:
        """The name under which a machine's answers are kept."""
        return machine if self.folders_by_inventory else self.name(machine)

    def port(self, machine: str, slot: str) -> str:
        """The name of a port as its machine says it."""
        return self.nic_names.get(machine, {}).get(slot, slot)

    def snapshot(self) -> Snapshot:
        """What every machine answers."""
        return Snapshot(AT, [r for machine in self.plan.devices for r in self._answers(machine)])

    def _answers(self, machine: str) -> list[Reading]:
        if machine in self.unread:
            return []
        folder = self.folder(machine)
        readings = [Reading(folder, "lldp_host", AT, tuple(self._heard(machine)))]
        if self.plan.devices[machine].role is Role.HOST:
            readings.append(Reading(folder, "net_link", AT, tuple(self._links(machine))))
            readings.append(Reading(folder, "rdma_link", AT, tuple(self._rdma(machine))))
            if self.topology:
                readings.append(Reading(folder, "gpu_nic_topology", AT, tuple(self._topo(machine))))
        return readings

    def _heard(self, machine: str) -> list[Neighbor]:
        if machine in self.deaf:
            return []
        ends = [(a, b) for a, b in self.where.items() if b is not None]
        ends += [(b, a) for a, b in ends]
        heard = []
        for own, peer in ends:
            if own.device != machine:
                continue
            name, host = self.port(peer.device, peer.name), self.plan.devices[peer.device].role is Role.HOST
            heard.append(
                Neighbor(
                    port=self.port(machine, own.name),
                    system_name=self.name(peer.device),
                    port_id=mac_of(peer) if host else name,
                    port_id_type="mac" if host else "ifname",
                    port_description=name,
                )
            )
        return heard

    def _slots(self, machine: str) -> list[Port]:
        return [c.a for c in self.plan.cables if c.a.device == machine]

    def _links(self, machine: str) -> list[NetLink]:
        return [
            NetLink(
                netdev=self.port(machine, slot.name),
                mac=mac_of(slot),
                operstate="UP" if self.where[slot] else "DOWN",
                flags=("UP", "LOWER_UP") if self.where[slot] else ("UP", "NO-CARRIER"),
            )
            for slot in self._slots(machine)
        ]

    def _rdma(self, machine: str) -> list[RdmaLink]:
        return [
            RdmaLink(f"mlx5_{i}", 1, "ACTIVE" if self.where[slot] else "DOWN", None, self.port(machine, slot.name))
            for i, slot in enumerate(self._slots(machine))
        ]

    def _topo(self, machine: str) -> list[GpuNicPath]:
        slots = range(len(self._slots(machine)))
        return [
            GpuNicPath(gpu, f"NIC{nic}", f"mlx5_{nic}", "PIX" if gpu == nic else "NODE")
            for gpu in slots
            for nic in slots
        ]


def mac_of(port: Port) -> str:
    """A MAC of its own for every port."""
    number = sum(ord(c) * 251**i for i, c in enumerate(str(port))) % 0xFFFFFFFF
    return "b8:ce:" + ":".join(f"{number >> s & 0xFF:02x}" for s in (24, 16, 8, 0))

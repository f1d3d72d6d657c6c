"""What is heard of a neighbour: everything that any of the formats prints about it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.model import Port
from truerail.simulator.ports import Announced, announced, port_name
from truerail.simulator.world import World

DESCRIPTIONS = {
    "linux": "Ubuntu 22.04.5 LTS Linux 5.15.0-122-generic #132-Ubuntu SMP Thu Aug 29 13:45:52 UTC 2024 x86_64",
    "cumulus": "Cumulus Linux version 5.9.1 running on Mellanox Technologies Ltd. MSN4700",
    "snmp": "Cumulus Linux version 5.9.1 running on Mellanox Technologies Ltd. MSN4700",
    "sonic": (
        "SONiC Software Version: SONiC.202311.2 - HwSku: ACS-MSN4700 - Distribution: Debian 11.9 - "
        "Kernel: 5.10.0-23-2-amd64"
    ),
    "eos": "Arista Networks EOS version 4.31.2F running on an Arista Networks DCS-7060DX5-64S",
    "nxos": "Cisco Nexus Operating System (NX-OS) Software 10.3(4a)",
    "junos": "Juniper Networks, Inc. qfx5220-32cd Ethernet Switch, kernel JUNOS 22.4R3-S2.11-EVO",
}
TTL_SECONDS = 120
"""lldpd's default: a frame every 30 s, kept for four times as long."""
TAKEN_AT = 1795183200.0
"""When a capture is taken: 2026-11-20T14:00Z, as seconds since the epoch."""
OUT_OF_BAND = "oob-sw-1"
STORAGE = "stor-sw-1"


@dataclass(frozen=True, slots=True)
class Speaker:
    """One machine as its LLDP frames describe it."""

    name: str
    chassis: str
    description: str
    address: str
    router: bool
    """Whether it forwards; a host announces itself as a station."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One neighbour on one local port. `number` is the local port's place in its machine; 0 is management."""

    local: str
    number: int
    speaker: Speaker
    port: Announced
    age_seconds: int
    ttl_seconds: int = TTL_SECONDS


@dataclass(slots=True)
class Ether:
    """All LLDP frames of a world. What each machine and switch port says of itself is worked out once and kept.

    `elapsed_seconds` is how much older everything has become since the world began; `now` is the devices' clock.
    """

    world: World
    ttl_seconds: int = TTL_SECONDS
    elapsed_seconds: int = 0
    now: float = TAKEN_AT
    _speakers: dict[str, Speaker] = field(default_factory=dict)
    _numbers: dict[str, dict[str, int]] = field(default_factory=dict)
    _labels: dict[Port, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.world.labels:
            for cable in self.world.fabric.plan.cables:
                self._labels[cable.a] = f"to-{cable.b.device}:{cable.b.name}"
                self._labels[cable.b] = f"to-{cable.a.device}:{cable.a.name}"

    def number(self, jack: Port) -> int:
        """The number of a switch port in its switch, counted from 1."""
        numbers = self._numbers.get(jack.device)
        if numbers is None:
            ports = self.world.fabric.ports[jack.device]
            numbers = {name: number for number, name in enumerate(ports, 1)}
            self._numbers[jack.device] = numbers
        return numbers[jack.name]

    def speaker(self, machine: str) -> Speaker:
        """What a machine says of itself."""
        speaker = self._speakers.get(machine)
        if speaker is None:
            speaker = self._speakers[machine] = self._describe(machine)
        return speaker

    def _describe(self, machine: str) -> Speaker:
        world = self.world
        name, address = world.announced_name(machine), world.address(machine)
        if world.is_host(machine):
            return Speaker(name, world.host_mac(machine, -1), DESCRIPTIONS["linux"], address, router=False)
        platform = world.platform(machine)
        return Speaker(name, world.switch_mac(machine, 0), DESCRIPTIONS[platform], address, router=True)

    def label(self, jack: Port) -> str:
        """The description somebody configured on a port: where the plan wants it to lead. Empty where nobody did."""
        return self._labels.get(self.world.announced_port(jack), "")

    def says(self, jack: Port) -> Announced:
        """What one port says of itself. A host's lldpd sends MAC and netdev; a configured label displaces both."""
        world = self.world
        if not world.is_host(jack.device):
            return announced(world.platform(jack.device), self.number(jack), self.label(jack))
        slot = world.slot(jack)
        netdev, label = world.nic_name(jack.device, slot).netdev, self.label(jack)
        if label:
            return Announced("ifname", netdev, label)
        return Announced("mac", world.host_mac(jack.device, slot), netdev)

    def heard(self, jack: Port, local: str, number: int) -> Iterator[Heard]:
        """The neighbours on one jack; a stale one is the older."""
        current = self.world.far.get(jack)
        for other in self.world.heard(jack):
            age = first_age(self.world, jack, number)
            age = self.elapsed_seconds + (age if other is not current else age // 60)
            yield Heard(local, number, self.speaker(other.device), self.says(other), age, self.ttl_seconds)

    def switch_neighbors(self, switch: str, management: str) -> Iterator[Heard]:
        """All neighbours of a switch in the order of its ports, that on its management port first."""
        if self.world.management:
            yield out_of_band(self, switch, management)
        for number, name in enumerate(self.world.fabric.ports[switch], 1):
            yield from self.heard(Port(switch, name), name, number)


def first_age(world: World, jack: Port, number: int) -> int:
    """Seconds for which the neighbour on a jack has been there when the world begins."""
    return 3600 + 37 * world.fabric.order[jack.device] + 11 * number


def out_of_band(ether: Ether, machine: str, local: str) -> Heard:
    """The management switch, as a machine hears it on its management port."""
    number = ether.world.fabric.order[machine] + 1
    speaker = Speaker(OUT_OF_BAND, "44:38:39:00:00:01", DESCRIPTIONS["cumulus"], "10.255.0.1", router=True)
    name = port_name("cumulus", number)
    age = 7200 + number + ether.elapsed_seconds
    return Heard(local, 0, speaker, Announced("ifname", name, name), age, ether.ttl_seconds)


def storage(ether: Ether, host: str, local: str, index: int) -> Heard:
    """A storage switch, as a host hears it on a storage NIC."""
    number = 4 * ether.world.fabric.order[host] + index + 1
    speaker = Speaker(STORAGE, "44:38:39:00:01:01", DESCRIPTIONS["eos"], "10.255.1.1", router=True)
    age = 7200 + number + ether.elapsed_seconds
    port = Announced("ifname", port_name("eos", number), "")
    return Heard(local, 50 + index, speaker, port, age, ether.ttl_seconds)

"""What is heard of a neighbour: everything that any of the formats prints about it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from truerail.model import Port
from truerail.simulator.behaviours import labels, names
from truerail.simulator.frames import TTL_SECONDS, Announced, Frame, Speaker, Tells
from truerail.simulator.platforms import linux, switches
from truerail.simulator.platforms.linux import HostPort
from truerail.simulator.platforms.switches import SwitchPort
from truerail.simulator.ports import port_name
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
TAKEN_AT = 1795183200.0
"""When a capture is taken: 2026-11-20T14:00Z, as seconds since the epoch."""
OUT_OF_BAND = "oob-sw-1"
STORAGE = "stor-sw-1"
_NAMELESS = ("default_name", "rename", "clone_name", "clone_chassis")
"""Behaviours under which the name that is heard says of no planned host alone that it is this one."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One neighbour on one local port. `number` is the local port's place in its machine; 0 is management."""

    local: str
    number: int
    speaker: Speaker
    port: Announced
    age_seconds: int
    ttl_seconds: int = TTL_SECONDS
    via: str = "LLDP"


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
        self._labels.update(labels.configured(self.world))

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
        chassis = names.chassis_of(world, machine)
        if world.is_host(machine):
            return Speaker(name, world.host_mac(chassis, -1), DESCRIPTIONS["linux"], address, router=False)
        platform = world.platform(machine)
        return Speaker(name, world.switch_mac(chassis, 0), DESCRIPTIONS[platform], address, router=True)

    def label(self, jack: Port) -> str:
        """The description somebody configured on a port: where the plan wants it to lead. Empty where nobody did."""
        return self._labels.get(self.world.announced_port(jack), "")

    def summary(self, jack: Port) -> Announced:
        """What the first speaker on a port says of it."""
        return self.frames(jack)[0].port

    def frames(self, jack: Port) -> tuple[Frame, ...]:
        """What goes out of a port, the frames of the machine itself first."""
        if not self.world.is_host(jack.device):
            return (switches.frame(self._switch_port(jack), self.world.behaviours),)
        return self._host_frames(self._host_port(jack))

    def _switch_port(self, jack: Port) -> SwitchPort:
        world, number = self.world, self.number(jack)
        return SwitchPort(
            jack.device,
            world.platform(jack.device),
            number,
            jack.name,
            self.speaker(jack.device),
            world.switch_mac(jack.device, number),
            self.label(jack),
            jack.device not in world.absent,
            self._anycast(jack.device),
            names.shares_chassis(world, jack.device),
        )

    def _anycast(self, switch: str) -> str:
        """The address that both switches of an MLAG announce beside their own (VXLAN's anycast end point)."""
        if not names.is_mlag(self.world, switch):
            return ""
        return f"2001:db8:a::{self.world.fabric.order[names.mlag_pair(self.world, switch)[0]] + 1:x}"

    def _host_port(self, jack: Port) -> HostPort:
        world, host = self.world, jack.device
        slot = world.slot(jack)
        netdev = names.netdev(world, host, world.nic_name(host, slot).netdev)
        alias, is_read = self.label(jack), host not in world.absent
        return HostPort(host, self.speaker(host), netdev, world.host_mac(host, slot), slot, alias, is_read)

    def _host_frames(self, port: HostPort) -> tuple[Frame, ...]:
        """What a host's agents send from one port."""
        behaviours, host = self.world.behaviours, port.host
        if behaviours.hits("efa", host) or behaviours.hits("ttl0", host):
            return ()
        is_nameless = any(behaviours.hits(name, host) for name in _NAMELESS)
        if behaviours.hits("dpu", host):
            own = linux.arm(port, behaviours.value("dpu_offset"))
            return (replace(own, tells=Tells.NOTHING) if is_nameless else own,)
        if variant := behaviours.value_for("hpe_fw", host):
            return (linux.hpe_firmware(port, variant),)
        if behaviours.hits("boot_phase", host):
            return (replace(linux.firmware(port), is_second=False),)
        firmware = behaviours.value_for("fw_lldp", host)
        if firmware == "only":
            return (replace(linux.firmware(port), is_second=False),)
        own = linux.networkd(port) if behaviours.hits("networkd", host) else linux.lldpd(port)
        if is_nameless or names.is_paired(self.world, "clone_name", host):
            own = replace(own, tells=self._tells(port, own))
        more = [linux.firmware(port)] if firmware else []
        if behaviours.hits("msap_change", host, port.slot):
            more.append(replace(linux.lldpd_after_alias(port), is_second=True))
        if kind := behaviours.value_for("second_speaker", host, port.slot):
            more.append(linux.second(port, kind))
        if behaviours.hits("cdp_beside", host, port.slot):
            more.append(replace(own, via="CDPv2", is_second=True))
        return (own, *more)

    def _tells(self, port: HostPort, own: Frame) -> Tells:
        """What a frame tells whose name, or whose chassis id, is another's too: its MACs say which machine sends it,
        where that answers. systemd-networkd sends no MAC, and a machine id that no other answer has.
        """
        shares_name = self.world.behaviours.hits("default_name", port.host)
        shares_name |= names.is_paired(self.world, "clone_name", port.host)
        return Tells.NOTHING if own.speaker.chassis_type == "local" and shares_name else port.by_mac

    def heard(self, jack: Port, local: str, number: int) -> Iterator[Heard]:
        """The neighbours on one jack; a stale one is the older, a second speaker now older, now younger."""
        current = self.world.far.get(jack)
        for other in self.world.heard(jack):
            age = first_age(self.world, jack, number)
            age = self.elapsed_seconds + (age if other is not current else age // 60)
            frames = self.frames(other)
            if number % 2:
                frames = frames[::-1]
            for place, frame in enumerate(frames):
                ttl = frame.ttl_seconds if frame.ttl_seconds != TTL_SECONDS else self.ttl_seconds
                speaker = names.shown(self.world, frame.speaker, other.device, jack.device)
                yield Heard(local, number, speaker, frame.port, age + 3 * place, ttl, frame.via)

    def switch_neighbors(self, switch: str, management: str) -> Iterator[Heard]:
        """All neighbours of a switch in the order of its ports, that on its management port first."""
        if self.world.management:
            yield out_of_band(self, switch, management)
        for number, name in enumerate(self.world.fabric.ports[switch], 1):
            jack = Port(switch, name)
            if jack in self.world.guests:
                yield guest(self, jack, number)
            yield from self.heard(jack, name, number)


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


def guest(ether: Ether, jack: Port, number: int) -> Heard:
    """A server that the plan does not have, as a switch hears it."""
    name = ether.world.guests[jack]
    serial = ether.world.fabric.order[jack.device] * 256 + number
    own = linux.shifted("04:3f:72:00:00:00", 4 * serial)
    speaker = Speaker(name, own, DESCRIPTIONS["linux"], f"10.254.{serial >> 8 & 255}.{serial & 255}", router=False)
    port = Announced("mac", linux.shifted(own, 1), "enp129s0f0np0")
    return Heard(jack.name, number, speaker, port, 9000 + number + ether.elapsed_seconds, ether.ttl_seconds)

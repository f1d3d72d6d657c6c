"""LLDP agents of a Linux host: lldpd, systemd-networkd, the firmware of its NICs, the ARM of a DPU."""

from dataclasses import dataclass, replace
from hashlib import md5

from truerail.model import Port
from truerail.simulator.behaviours import identities
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.fabric.lldp_frames import Announced, Frame, Speaker, Tells
from truerail.simulator.fabric.world import World, shifted

IDRAC_TTL_SECONDS = 480
"""dell/iDRAC-Redfish-Scripting#301."""
_NAMELESS = ("default_name", "rename", "clone_name", "clone_chassis")
"""Behaviours under which a heard name alone identifies no planned host."""
_DPU_OFFSETS = {"0x10": 0x10, "0x25": 0x25}


@dataclass(frozen=True, slots=True)
class HostPort:
    """One NIC port of a host, and the host, as known to its LLDP agents. `is_read`: whether the host answers."""

    host: str
    speaker: Speaker
    netdev: str
    mac: str
    slot: int
    alias: str
    is_read: bool

    @property
    def by_mac(self) -> Tells:
        """How far a bare MAC identifies the port: fully if the host's own answers contain it."""
        return Tells.PORT if self.is_read else Tells.NOTHING


def frames(ether: Ether, jack: Port) -> tuple[Frame, ...]:
    """The frames of a host's agents on one port, those of the host itself first."""
    port = _host_port(ether, jack)
    world, host = ether.world, port.host
    behaviours = world.behaviours
    if behaviours.hits("efa", host) or behaviours.hits("ttl0", host):
        return ()
    is_nameless = any(behaviours.hits(name, host) for name in _NAMELESS)
    if behaviours.hits("dpu", host):
        own = arm(port, behaviours.value("dpu_offset"))
        return (replace(own, tells=Tells.NOTHING) if is_nameless else own,)
    if variant := behaviours.value_for("hpe_fw", host):
        return (hpe_firmware(port, variant),)
    of_firmware = behaviours.value_for("fw_lldp", host)
    if of_firmware == "only" or behaviours.hits("boot_phase", host):
        return (replace(firmware(port), is_second=False),)
    own = networkd(port) if behaviours.hits("networkd", host) else lldpd(port)
    if is_nameless or identities.is_paired(world, "clone_name", host):
        own = replace(own, tells=_tells(world, port, own))
    more = [firmware(port)] if of_firmware else []
    if behaviours.hits("msap_change", host, port.slot):
        # lldpd's frame after an alias was set: a new identity of the same port
        more.append(Frame(port.speaker, Announced("ifname", port.netdev, "uplink"), is_second=True))
    if kind := behaviours.value_for("second_speaker", host, port.slot):
        more.append(second(port, kind))
    if behaviours.hits("cdp_beside", host, port.slot):
        more.append(replace(own, via="CDPv2", is_second=True))
    return (own, *more)


def _host_port(ether: Ether, jack: Port) -> HostPort:
    world, host = ether.world, jack.device
    slot = world.slot(jack)
    netdev = identities.netdev(world, host, world.nic_name(host, slot).netdev)
    alias, is_read = ether.label(jack), host not in world.absent
    return HostPort(host, ether.speaker(host), netdev, world.host_mac(host, slot), slot, alias, is_read)


def _tells(world: World, port: HostPort, own: Frame) -> Tells:
    """How far a frame with an ambiguous name or chassis id identifies its port: its MACs identify the machine if that
    answers. systemd-networkd sends no MAC, and a machine id that no other answer has.
    """
    shares_name = world.behaviours.hits("default_name", port.host)
    shares_name |= identities.is_paired(world, "clone_name", port.host)
    return Tells.NOTHING if own.speaker.chassis_type == "local" and shares_name else port.by_mac


def lldpd(port: HostPort) -> Frame:
    """lldpd sends the port's MAC, or its name as soon as the interface has an alias (lldpd interfaces.c)."""
    if port.alias:
        return Frame(port.speaker, Announced("ifname", port.netdev, port.alias))
    return Frame(port.speaker, Announced("mac", port.mac, port.netdev))


def networkd(port: HostPort) -> Frame:
    """systemd-networkd sends the machine id, the interface's name and the short hostname, and no address."""
    machine_id = md5(port.host.encode(), usedforsecurity=False).hexdigest()
    speaker = Speaker(port.speaker.name.partition(".")[0], machine_id, "", "", port.speaker.router, "local")
    return Frame(speaker, Announced("ifname", port.netdev, ""))


def firmware(port: HostPort) -> Frame:
    """NIC firmware sends the port's MAC for chassis and port, and no name."""
    return Frame(_nameless(port.mac), Announced("mac", port.mac, ""), tells=port.by_mac, is_second=True)


def hpe_firmware(port: HostPort, variant: str) -> Frame:
    """An HPE server's NIC firmware: a UUID of the server and the slot as text with blanks (genieparser, nxos)."""
    digits = md5(port.host.encode(), usedforsecurity=False).hexdigest().upper()
    uuid = f"{digits[:4]}-{digits[4:8]}-{digits[8:12]}-{digits[12:20]}-{digits[20:28]}"
    nameless = replace(_nameless(uuid), chassis_type="local")
    text = f"PCI-E Slot {1 + port.slot // 2}, Port {1 + port.slot % 2}"
    if variant == "mac":
        return Frame(nameless, Announced("mac", port.mac, text), tells=port.by_mac)
    return Frame(nameless, Announced("local", text, "ConnectX-7, 400G OSFP"), tells=Tells.NOTHING)


def arm(port: HostPort, offset: str) -> Frame:
    """The ARM of a BlueField in DPU mode: its own hostname, `p0`, its own MAC."""
    mac = shifted(port.mac, _DPU_OFFSETS.get(offset, 0x800000))
    speaker = replace(port.speaker, name=f"dpu-{port.speaker.name}", chassis=mac, address="", more_addresses=())
    return Frame(speaker, Announced("ifname", "p0", "p0"), tells=Tells.DEVICE)


def second(port: HostPort, kind: str) -> Frame:
    """A second neighbour on the port of the host's lldpd."""
    speaker = port.speaker
    match kind:
        case "dpu":
            return replace(arm(port, "none"), is_second=True)
        case "vlan":
            return Frame(speaker, Announced("ifname", f"{port.netdev}.100", ""), is_second=True)
        case "bmc":
            idrac = replace(speaker, name="PowerEdge XE9680", chassis=shifted(port.mac, 0x900000), description="iDRAC")
            return Frame(idrac, Announced("local", "DSMPMM3 Dedicated", ""), IDRAC_TTL_SECONDS, is_second=True)
        case "bridge":
            guest = replace(speaker, name=f"vm-{port.slot}.guests.example.net", chassis=shifted(port.mac, 0xA00000))
            return Frame(guest, Announced("mac", shifted(port.mac, 0xA00001), "ens3"), is_second=True)
    return firmware(port)


def _nameless(chassis: str) -> Speaker:
    return Speaker("", chassis, "", "", router=False)

"""What a switch says of one of its ports over LLDP, by network operating system."""

from dataclasses import dataclass, replace

from truerail.simulator.behaviours.chosen import Behaviours
from truerail.simulator.frames import Announced, Frame, Speaker, Tells
from truerail.simulator.platforms import sonic
from truerail.simulator.ports import if_index

ANYCAST = "2001:db8::12"
"""An address that all leaves of an EVPN fabric announce beside their own (suzieq, dual-bgp spine01)."""
_MAKERS = {
    "junos": "Juniper Networks, Inc., QFX Series",
    "eos": "Arista Networks, 7060 Series",
    "nxos": "Cisco Systems, Nexus 9000",
}


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """One port of a switch, and the switch: what its LLDP agent knows.

    `name` is the port's in configurations, `label` what somebody configured as its description. `is_read` says whether
    the switch answers.
    """

    switch: str
    platform: str
    number: int
    name: str
    speaker: Speaker
    mac: str
    label: str
    is_read: bool
    anycast: str = ""
    """An address that its MLAG's other switch announces too."""
    is_shared: bool = False
    """Whether that switch has the same chassis id."""


def frame(port: SwitchPort, behaviours: Behaviours) -> Frame:
    """What goes out of this port. Of two switches with one chassis id, lldpd shows one name: none tells which it is."""
    sent = _frame(port, behaviours)
    speaker = sent.speaker
    if behaviours.hits("chassis_per_port", port.switch) and port.platform == "nxos":
        speaker = replace(speaker, chassis=port.mac)
    if behaviours.hits("mgmt_anycast", port.switch):
        speaker = replace(speaker, more_addresses=(*speaker.more_addresses, ANYCAST))
    if port.anycast:
        speaker = replace(speaker, more_addresses=(*speaker.more_addresses, port.anycast))
    return replace(sent, speaker=speaker, tells=Tells.NOTHING if port.is_shared else sent.tells)


def alias(port: SwitchPort, behaviours: Behaviours) -> str:
    """The alias of a SONiC port."""
    return sonic_alias(port.number, behaviours)


def sonic_alias(number: int, behaviours: Behaviours) -> str:
    """The alias of the SONiC port with this number."""
    split = sub_ports(behaviours)
    return sonic.alias(behaviours.value("sonic_alias"), number, cage_ports=split if split > 1 else _halves(behaviours))


def sub_ports(behaviours: Behaviours) -> int:
    """How many ports of a SONiC switch share a cage of eight lanes by the breakout mode that is set."""
    return sonic.SUB_PORTS.get(behaviours.value("sonic_split"), 1)


def _halves(behaviours: Behaviours) -> int:
    return 2 if "sonic_breakout" in behaviours else 1


def _frame(port: SwitchPort, behaviours: Behaviours) -> Frame:
    name, speaker = port.name, port.speaker
    text = _text(port, behaviours)
    match port.platform:
        case "sonic":
            if behaviours.hits("sonic_mac_portid", port.switch, port.number):
                return Frame(speaker, sonic.starting(name, speaker.chassis))
            own = alias(port, behaviours)
            configured = own if behaviours.value("descr") == "alias" else text
            tells = Tells.PORT if port.is_read or not configured else Tells.DEVICE
            return Frame(speaker, sonic.announced(name, own, configured), tells=tells)
        case "junos":
            if behaviours.value("junos_portid") == "ifname":
                return Frame(speaker, Announced("ifname", name, text or name))
            index = str(if_index("junos", port.number))
            tells = Tells.PORT if port.is_read or not text else Tells.DEVICE
            return Frame(speaker, Announced("local", index, text or name), tells=tells)
        case "eos":
            return Frame(speaker, Announced("ifname", name, text))
        case "nxos" if "nxos_short_portid" in behaviours:
            return Frame(speaker, Announced("ifname", name.replace("Ethernet", "Eth"), text or name))
    return Frame(speaker, Announced("ifname", name, text or name))


def _text(port: SwitchPort, behaviours: Behaviours) -> str:
    if behaviours.value("descr") == "vendor_default":
        return f"{_MAKERS.get(port.platform, 'HUAWEI, AR Series')}, {port.name} Interface"
    return port.label

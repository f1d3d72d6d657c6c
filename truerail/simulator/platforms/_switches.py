"""Common parts of switches: their ports for LLDP agents and command lines, and spellings."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from truerail.analysis.counters import Quantity
from truerail.model import Port
from truerail.simulator.behaviours import Behaviours, identities
from truerail.simulator.fabric.lldp_frames import Announced, Frame, Speaker, Tells
from truerail.simulator.platforms._platform import Link, Tool, Tools

if TYPE_CHECKING:
    from truerail.simulator.fabric.ether import Ether
    from truerail.simulator.fabric.world import World
    from truerail.simulator.traffic.ledger import CounterTable, Counts

MTU = 9216
ANYCAST = "2001:db8::12"
"""An address that all leaves of an EVPN fabric announce in addition to their own (suzieq, dual-bgp spine01)."""


@dataclass(frozen=True, slots=True)
class SwitchPort:
    """One port of a switch, and the switch, as known to its LLDP agent.

    `name` is the port's in configurations, `label` the description that it announces, empty where none is configured.
    `is_read` is whether the switch answers.
    """

    switch: str
    number: int
    name: str
    speaker: Speaker
    mac: str
    label: str
    is_read: bool
    behaviours: Behaviours


Announce = Callable[[SwitchPort], Frame]
"""A platform's LLDP frame of one port."""


def by_name(port: SwitchPort) -> Frame:
    """The port's name, and its description, by default its name."""
    return Frame(port.speaker, Announced("ifname", port.name, port.label or port.name))


def by_name_alone(port: SwitchPort) -> Frame:
    """The port's name; without a configured description the TLV is absent."""
    return Frame(port.speaker, Announced("ifname", port.name, port.label))


def sends(announce: Announce) -> Callable[["Ether", Port], tuple[Frame, ...]]:
    """The frames of a switch that announces its ports so. For two switches with one chassis id, lldpd shows one name:
    nothing shows which it is.
    """

    def frames(ether: "Ether", jack: Port) -> tuple[Frame, ...]:
        world, switch = ether.world, jack.device
        sent = announce(_port(ether, jack))
        more = list(sent.speaker.more_addresses)
        if world.behaviours.hits("mgmt_anycast", switch):
            more.append(ANYCAST)
        if identities.is_mlag(world, switch):
            # the address that both switches of an MLAG announce in addition to their own (VXLAN's anycast VTEP)
            more.append(f"2001:db8:a::{world.fabric.order[identities.mlag_pair(world, switch)[0]] + 1:x}")
        tells = Tells.NOTHING if identities.shares_chassis(world, switch) else sent.tells
        return (replace(sent, speaker=replace(sent.speaker, more_addresses=tuple(more)), tells=tells),)

    return frames


def _port(ether: "Ether", jack: Port) -> SwitchPort:
    world, number = ether.world, ether.number(jack)
    switch, behaviours = jack.device, world.behaviours
    label = ether.label(jack)
    if behaviours.value("descr") == "vendor_default":
        label = f"{world.system(switch).maker}, {jack.name} Interface"
    speaker, mac = ether.speaker(switch), world.switch_mac(switch, number)
    return SwitchPort(switch, number, jack.name, speaker, mac, label, switch not in world.absent, behaviours)


def links(ether: "Ether", switch: str) -> Iterator[Link]:
    """The ports of a switch in the order of their numbers, without its management port."""
    world = ether.world
    for name in world.fabric.ports[switch]:
        jack = Port(switch, name)
        off, module = jack in world.switched_off, world.has_module(jack)
        yield Link(name, world.carrier(jack), world.speed_gbps(jack), ether.label(jack), off, module)


def prints_links(render: Callable[[Iterable[Link]], str]) -> Tool:
    """A tool that prints the state and speed of a switch's ports."""
    return lambda ether, switch: render(links(ether, switch))


Q = Quantity
_COUNTED = (Q.RX_PACKETS, Q.RX_BYTES, Q.RX_ERRORS, Q.RX_DISCARDS, Q.TX_PACKETS, Q.TX_BYTES, Q.TX_DISCARDS, Q.LINK_DOWNS)


def counted(sheet: "CounterTable | None") -> Callable[[str], "Counts"]:
    """From a port to what it counted; 0 where there is no traffic."""
    rows = zip(sheet.ports, *map(sheet.of, _COUNTED), strict=True) if sheet else ()
    found = {port: dict(zip(_COUNTED, values, strict=True)) for port, *values in rows}
    return lambda port: found[port] if sheet else dict.fromkeys(_COUNTED, 0)


def is_asked_otherwise(world: "World", switch: str) -> bool:
    """Whether another command is used: with `World.mixed`, switches of one platform differ in their commands."""
    return world.mixed and world.fabric.order[switch] % 2 == 1


def answered(tools: Tools) -> Callable[["Ether", str], dict[str, str]]:
    """The answers of a switch in a capture, by command."""
    return lambda ether, switch: as_pasted(ether, switch, {text: tool(ether, switch) for text, tool in tools.items()})


def as_pasted(ether: "Ether", switch: str, found: dict[str, str]) -> dict[str, str]:
    """The answers with a terminal's additions: the prompt with the command, carriage returns, the prompt again."""
    if not ether.world.behaviours.hits("cli_noise", switch):
        return found
    return {command: f"{switch}# {command}\n{text}{switch}# ".replace("\n", "\r\n") for command, text in found.items()}


def speed_word(gbps: float) -> str:
    """`400G`, `2.5G`, as switches print a speed from 1 Gb/s on."""
    return f"{gbps:g}G"


def cisco_mac(mac: str, kind: str = "mac") -> str:
    """`b83f.d200.0001`, as Cisco and Arista print a MAC; an id of another kind as it is."""
    digits = mac.replace(":", "")
    return ".".join(digits[i : i + 4] for i in (0, 4, 8)) if kind == "mac" else mac

"""What a switch answers, by network operating system."""

from collections.abc import Iterable, Iterator, Sequence

from truerail.model import Port
from truerail.simulator.behaviours.chosen import NONE, Behaviours
from truerail.simulator.platforms import switches
from truerail.simulator.render import eos, ip_link, junos, lldpd, modules, nvue, nxos, snmp, sonic, sysfs
from truerail.simulator.render.beacon import Ether, Heard
from truerail.simulator.render.links import Link, links
from truerail.simulator.world import World

_MTU = 9216
_SKEW_SECONDS = -5 * 3600
"""How far the clock of a switch may be behind."""
_LINUX_MANAGEMENT = "eth0"
_MANAGEMENT = {"eos": "Management1", "nxos": "mgmt0", "junos": "re0:mgmt-0"}


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer. With `World.mixed`, switches of one platform differ in which command they were asked."""
    platform = ether.world.platform(switch)
    heard = neighbors(ether, switch)
    if platform == "snmp":
        return {snmp.WALK: snmp.walk(ether, switch, heard)}
    found = _lldp(ether, switch, heard) | _states(ether, switch)
    if platform == "cumulus" and ether.world.behaviours.hits("dac_serial", switch):
        jacks = (Port(switch, name) for name in ether.world.fabric.ports[switch])
        found[modules.ON_SWITCH] = modules.memory(ether.world, ((jack.name, jack) for jack in jacks))
    if ether.world.behaviours.hits("cli_noise", switch):
        found = {command: _noisy(switch, command, text) for command, text in found.items()}
    return found


def _noisy(switch: str, command: str, text: str) -> str:
    """What a terminal adds: the prompt with the command, carriage returns, the prompt again."""
    return f"{switch}# {command}\n{text}{switch}# ".replace("\n", "\r\n")


def _lldp(ether: Ether, switch: str, heard: Sequence[Heard]) -> dict[str, str]:
    world = ether.world
    platform, other, behaviours = world.platform(switch), _is_other(world, switch), world.behaviours
    match platform:
        case "eos":
            now = ether.now + (_SKEW_SECONDS if behaviours.hits("clock_skew", switch) else 0)
            short = behaviours.hits("eos_quoted_id", switch)
            text = eos.lldp_json(world.fabric.ports[switch], heard, now, short_macs=short)
            return {"show lldp neighbors detail | json": text}
        case "nxos" if behaviours.hits("nxos_brief_name_as_chassis", switch):
            return {"show lldp neighbors | json native": nxos.brief_json(heard)}
        case "nxos" if other:
            return {"show lldp neighbors detail": nxos.lldp_text(heard)}
        case "nxos":
            return {"show lldp neighbors detail | json": nxos.lldp_json(heard)}
        case "junos" if behaviours.hits("junos_no_portid", switch):
            return {"show lldp neighbors | display xml": junos.brief_xml(heard)}
        case "junos":
            return {"show lldp neighbors detail | display json": junos.lldp_json(heard)}
    details = ip_link.link(interfaces(ether, switch), details=False)
    return {**_linux_lldp(platform, heard, other=other), "ip -j link": details}


def _is_other(world: World, switch: str) -> bool:
    return world.mixed and world.fabric.order[switch] % 2 == 1


def _states(ether: Ether, switch: str) -> dict[str, str]:
    """What the switch says of its ports' states and speeds."""
    world, found = ether.world, list(links(ether, switch))
    behaviours = world.behaviours
    match world.platform(switch):
        case "eos":
            zero = behaviours.value("down_speed") == "zero"
            return {"show interfaces status | json": eos.status_json(found, zero_when_down=zero)}
        case "nxos" if behaviours.hits("nxos_word", switch) or behaviours.hits("nxos_two_lines", switch):
            no_module = behaviours.hits("nxos_two_lines", switch)
            return {"show interface": nxos.interface_text(found, no_module=no_module)}
        case "nxos" if _is_other(world, switch):
            return {"show interface status": nxos.status_text(found)}
        case "nxos":
            return {"show interface status | json": nxos.status_json(found)}
        case "junos":
            return {"show interfaces media | display json": junos.media_json(found)}
        case "sonic":
            return {"show interfaces status": sonic_status(found, behaviours)}
    return {sysfs.SPEEDS: linux_speeds(found)}


def sonic_status(found: Iterable[Link], behaviours: Behaviours = NONE) -> str:
    """SONiC's table of its ports."""
    lanes = 8 // switches.sub_ports(behaviours)
    return sonic.status(found, _MTU, lambda number: switches.sonic_alias(number, behaviours), lanes)


def linux_speeds(found: Iterable[Link]) -> str:
    """The speeds in sysfs of a switch that is Linux underneath."""
    return sysfs.speeds((), [Link(_LINUX_MANAGEMENT, up=True, gbps=1.0), *found])


def _linux_lldp(platform: str, heard: Sequence[Heard], *, other: bool) -> dict[str, str]:
    if platform == "sonic":
        return {"show lldp table": sonic.lldp_table(heard)} if other else {"lldpctl -f json": lldpd.json(heard)}
    return (
        {"nv show interface lldp -o json": nvue.lldp_json(heard)} if other else {"lldpctl -f json0": lldpd.json0(heard)}
    )


def neighbors(ether: Ether, switch: str) -> list[Heard]:
    """Everybody whom the switch hears, in the order of its ports, its management port first."""
    platform = ether.world.platform(switch)
    return list(ether.switch_neighbors(switch, _MANAGEMENT.get(platform, _LINUX_MANAGEMENT)))


def interfaces(ether: Ether, switch: str) -> Iterator[ip_link.Interface]:
    """Every interface of a switch that is Linux underneath."""
    world = ether.world
    yield ip_link.Interface(2, _LINUX_MANAGEMENT, world.switch_mac(switch, 0), True, 1500)
    for number, name in enumerate(world.fabric.ports[switch], 1):
        jack = Port(switch, name)
        yield ip_link.Interface(
            world.port_index(switch, number),
            name,
            world.switch_mac(switch, number),
            world.carrier(jack),
            _MTU,
            alias=ether.label(jack),
            off=jack in world.switched_off,
        )

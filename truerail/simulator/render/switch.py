"""What a switch answers, by network operating system."""

from collections.abc import Iterable, Iterator, Sequence

from truerail.model import Port
from truerail.simulator.render import eos, ip_link, junos, lldpd, nvue, nxos, snmp, sonic, sysfs
from truerail.simulator.render.beacon import Ether, Heard
from truerail.simulator.render.links import Link, links

_MTU = 9216
_LINUX_MANAGEMENT = "eth0"
_MANAGEMENT = {"eos": "Management1", "nxos": "mgmt0", "junos": "re0:mgmt-0"}


def answers(ether: Ether, switch: str) -> dict[str, str]:
    """Command to answer. With `World.mixed`, switches of one platform differ in which command they were asked."""
    world = ether.world
    platform = world.platform(switch)
    other = world.mixed and world.fabric.order[switch] % 2 == 1
    heard = neighbors(ether, switch)
    match platform:
        case "eos":
            lldp = {"show lldp neighbors detail | json": eos.lldp_json(world.fabric.ports[switch], heard, ether.now)}
        case "nxos" if other:
            lldp = {"show lldp neighbors detail": nxos.lldp_text(heard)}
        case "nxos":
            lldp = {"show lldp neighbors detail | json": nxos.lldp_json(heard)}
        case "junos":
            lldp = {"show lldp neighbors detail | display json": junos.lldp_json(heard)}
        case "snmp":
            return {snmp.WALK: snmp.walk(ether, switch, heard)}
        case _:
            details = ip_link.link(interfaces(ether, switch), details=False)
            lldp = {**_linux_lldp(platform, heard, other=other), "ip -j link": details}
    return lldp | _speeds(platform, list(links(ether, switch)), other=other)


def _speeds(platform: str, found: Sequence[Link], *, other: bool) -> dict[str, str]:
    match platform:
        case "eos":
            return {"show interfaces status | json": eos.status_json(found)}
        case "nxos" if other:
            return {"show interface status": nxos.status_text(found)}
        case "nxos":
            return {"show interface status | json": nxos.status_json(found)}
        case "junos":
            return {"show interfaces media | display json": junos.media_json(found)}
        case "sonic":
            return {"show interfaces status": sonic_status(found)}
    return {sysfs.SPEEDS: linux_speeds(found)}


def sonic_status(found: Iterable[Link]) -> str:
    """SONiC's table of its ports."""
    return sonic.status(found, _MTU)


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
        )

"""What a switch answers, by network operating system."""

from collections.abc import Iterator, Sequence

from truerail.model import Port
from truerail.simulator.render import eos, ip_link, junos, lldpd, nvue, nxos, snmp, sonic
from truerail.simulator.render.beacon import Ether, Heard

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
            return {"show lldp neighbors detail | json": eos.lldp_json(world.fabric.ports[switch], heard, ether.now)}
        case "nxos" if other:
            return {"show lldp neighbors detail": nxos.lldp_text(heard)}
        case "nxos":
            return {"show lldp neighbors detail | json": nxos.lldp_json(heard)}
        case "junos":
            return {"show lldp neighbors detail | display json": junos.lldp_json(heard)}
        case "snmp":
            return {snmp.WALK: snmp.walk(ether, switch, heard)}
    return {
        **_linux_lldp(platform, heard, other=other),
        "ip -j link": ip_link.link(interfaces(ether, switch), details=False),
    }


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

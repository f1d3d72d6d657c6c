"""Switches that are Linux underneath: their interfaces, and their speeds in sysfs."""

from collections.abc import Iterator

from truerail.model import Port
from truerail.simulator.fabric.ether import Ether
from truerail.simulator.platforms._platform import Link
from truerail.simulator.platforms._switches import MTU, links
from truerail.simulator.platforms.linux import ip_link, sysfs_files

OS_RELEASE = "cat /etc/os-release"
_MANAGEMENT = "eth0"


def speeds(ether: Ether, switch: str) -> str:
    """The speeds in sysfs."""
    return sysfs_files.speeds((), [Link(_MANAGEMENT, up=True, gbps=1.0), *links(ether, switch)])


def interfaces(ether: Ether, switch: str) -> Iterator[ip_link.Interface]:
    """Every interface of the switch."""
    world = ether.world
    yield ip_link.Interface(2, _MANAGEMENT, world.switch_mac(switch, 0), True, 1500)
    for name, number in world.fabric.ports[switch].items():
        jack = Port(switch, name)
        index, mac = world.port_index(switch, number), world.switch_mac(switch, number)
        label, off = ether.label(jack), jack in world.switched_off
        yield ip_link.Interface(index, name, mac, world.carrier(jack), MTU, alias=label, off=off)

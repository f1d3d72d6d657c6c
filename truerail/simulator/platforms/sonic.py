"""SONiC: a port announces its alias as a local id, by the vendor's scheme (sonic-buildimage device/*/port_config.ini,
dockers/docker-lldp/lldpmgrd).
"""

from truerail.simulator.frames import Announced

_CAGE_PORTS = 2
"""Sub-ports of a cage that is broken out; with 8 lanes a cage the second is four lanes further."""


def alias(scheme: str, number: int, *, breakout: bool) -> str:
    """The alias of the port with this number, counted from 1, by a vendor's scheme."""
    match scheme:
        case "ethn_n":
            return f"Eth1/{number}"  # Celestica, Dell
        case "gige":
            return f"hundredGigE1/{number}"  # Dell
        case "number":
            return str(number)  # Delta, Marvell
        case "ethernet_n":
            return f"Ethernet{number}"  # Arista 7050QX-32S: the alias of Ethernet0 is Ethernet1
        case "ethernet_n_1":
            return f"Ethernet{number}/1"  # Arista 7060DX5
        case "eth_port":
            return f"Eth{number}(Port{number})"  # Accton
        case "centec":
            return f"eth-0-{number}"
    if breakout:
        cage, lane = divmod(number - 1, _CAGE_PORTS)
        return f"etp{cage + 1}{'ab'[lane]}"
    return f"etp{number}"


def announced(name: str, its_alias: str, configured: str) -> Announced:
    """What lldpmgrd sets: the alias, and the description of CONFIG_DB; without one lldpd sends the netdev's name."""
    return Announced("local", its_alias, configured or name)


def starting(name: str, chassis: str) -> Announced:
    """Before lldpmgrd has come to the port: the chassis MAC, the same on every port (sonic-buildimage#4300)."""
    return Announced("mac", chassis, name)

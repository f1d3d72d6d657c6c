"""SONiC: a port announces its alias as a local id, by the vendor's scheme (sonic-buildimage device/*/port_config.ini,
dockers/docker-lldp/lldpmgrd).
"""

from truerail.simulator.frames import Announced

SUB_PORTS = {"4x200G": 4, "8x100G": 8}
"""Breakout modes of a cage of eight lanes, and the ports that one makes (x86_64-nvidia_sn5600-r0/platform.json,
doc/platform of the 128-port CPO switch): `etp1a` to `etp1h`.
"""


def alias(scheme: str, number: int, *, cage_ports: int = 1) -> str:
    """The alias of the port with this number, counted from 1, by a vendor's scheme; `cage_ports` share a cage."""
    cage, place = divmod(number - 1, cage_ports)
    if cage_ports > 2 and scheme in ("ethernet_n", "ethernet_n_1"):
        return f"Ethernet{cage + 1}/{1 + place * 8 // cage_ports}"  # Arista counts lanes behind the cage
    if cage_ports > 2 and scheme == "ethn_n":
        return f"Eth1/{cage + 1}/{place + 1}"  # Enterprise SONiC, interface-naming standard-ext; not confirmed
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
    if cage_ports > 1:
        return f"etp{cage + 1}{'abcdefgh'[place]}"
    return f"etp{number}"


def announced(name: str, its_alias: str, configured: str) -> Announced:
    """What lldpmgrd sets: the alias, and the description of CONFIG_DB; without one lldpd sends the netdev's name."""
    return Announced("local", its_alias, configured or name)


def starting(name: str, chassis: str) -> Announced:
    """Before lldpmgrd has come to the port: the chassis MAC, the same on every port (sonic-buildimage#4300)."""
    return Announced("mac", chassis, name)

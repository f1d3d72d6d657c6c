"""How switches name their ports, and what they call them in LLDP, by network operating system."""

from dataclasses import dataclass

PLATFORMS = ("cumulus", "sonic", "eos", "nxos", "junos", "snmp")
"""The network operating systems that can be simulated; `snmp` is a switch that is only ever walked."""


def port_name(platform: str, number: int) -> str:
    """The name of the port with this number, counted from 1, as configurations and plans write it."""
    match platform:
        case "sonic":
            return f"Ethernet{4 * (number - 1)}"
        case "eos":
            return f"Ethernet{number}/1"
        case "nxos":
            return f"Ethernet1/{number}"
        case "junos":
            return f"et-0/0/{number - 1}"
        case "infiniband":
            return str(number)
    return f"swp{number}"


@dataclass(frozen=True, slots=True)
class Announced:
    """What one port says of itself over LLDP. `id_type` is in lldpd's words: `mac`, `ifname`, `local`."""

    id_type: str
    id: str
    description: str


def announced(platform: str, number: int, label: str) -> Announced:
    """What a switch port says of itself. `label` is the description somebody configured, empty where nobody did.

    SONiC sends the alias as a local id and the name as the description; Junos sends the SNMP interface index.
    """
    name = port_name(platform, number)
    match platform:
        case "sonic":
            return Announced("local", f"etp{number}", name)
        case "junos":
            return Announced("local", str(if_index(platform, number)), name)
        case "eos":
            return Announced("ifname", name, label)
    return Announced("ifname", name, label or name)


def if_index(platform: str, number: int) -> int:
    """The interface index of the port with this number."""
    return number + (516 if platform == "junos" else 9)

"""How switches name and number their ports, by network operating system."""

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


def if_index(platform: str, number: int) -> int:
    """The interface index of the port with this number."""
    return number + (516 if platform == "junos" else 9)

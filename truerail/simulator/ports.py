"""How switches name and number their ports, by network operating system."""

PLATFORMS = ("cumulus", "sonic", "eos", "nxos", "junos", "snmp")
"""The network operating systems that can be simulated; `snmp` is a switch that is only ever walked."""


MEMBER_PORTS = 12
"""Ports of each box of a stack."""


def port_name(platform: str, number: int, *, lanes: int = 4, stacked: bool = False) -> str:
    """The name of the port with this number, counted from 1, as configurations and plans write it.

    SONiC counts `lanes` a port; the ports of a Junos switch that is `stacked` begin with the number of their box.
    """
    match platform:
        case "sonic":
            return f"Ethernet{lanes * (number - 1)}"
        case "eos":
            return f"Ethernet{number}/1"
        case "nxos":
            return f"Ethernet1/{number}"
        case "junos":
            member, place = divmod(number - 1, MEMBER_PORTS) if stacked else (0, number - 1)
            return f"et-{member}/0/{place}"
        case "infiniband":
            return str(number)
    return f"swp{number}"


def if_index(platform: str, number: int) -> int:
    """The interface index of the port with this number."""
    return number + (516 if platform == "junos" else 9)

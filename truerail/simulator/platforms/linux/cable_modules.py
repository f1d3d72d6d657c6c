"""`ethtool -m` of each port of a Linux machine: the memory of a cable's module (ethtool `qsfp.c`)."""

from collections.abc import Iterator

from truerail.model import Port
from truerail.simulator.fabric.world import World

ON_HOST = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in */device; do n=${n%/*}; "
    '[ -e $n/device/physfn ] || { echo "# ethtool -m $n"; ethtool -m $n; }; done; :'
)
ON_SWITCH = (
    "type ethtool >&2 || exit 127; cd /sys/class/net; for n in swp*; do [ -e $n ] || continue; "
    'echo "# ethtool -m $n"; ethtool -m $n; done; :'
)
_EMPTY = "netlink error: Invalid argument\n"
_COPPER = """	Identifier                                : 0x11 (QSFP28)
	Transmitter technology                    : 0xa0 (Copper cable unequalized)
	Vendor name                               : VENDOR
	Vendor PN                                 : MCP4Y10-N002
	Vendor SN                                 : {serial}
"""


def memory(world: World, ports: Iterator[tuple[str, Port]]) -> str:
    """The answer for these ports, by the name of each and its jack; one without a cable has no module."""
    answer = ""
    for name, jack in ports:
        module = _COPPER.format(serial=_serial(world, jack).ljust(16)) if jack in world.far else _EMPTY
        answer += f"# ethtool -m {name}\n{module}"
    return answer


def _serial(world: World, jack: Port) -> str:
    """The serial number in an end: as drawn, or by behaviour that of the cable, its own, none, the maker's default."""
    if world.serials:
        return world.serials.get(jack, "")
    ends = sorted((jack, world.far[jack]))
    number = f"MT24{int(world.behaviours.draw('dac', *ends) * 1e8):08}VS"
    kinds = {"ends": f"{number}-{'AB'[ends.index(jack)]}", "blank": "", "default": "0" * 16}
    return kinds.get(world.behaviours.value("dac_serial"), number)

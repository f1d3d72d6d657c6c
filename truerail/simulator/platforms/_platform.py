"""A platform's description for the simulator: port names, announcements, output."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from truerail.model import Port
from truerail.simulator.fabric.lldp_frames import Frame, Heard

if TYPE_CHECKING:
    from truerail.simulator.fabric.builder import Shape
    from truerail.simulator.fabric.ether import Ether
    from truerail.simulator.traffic.ledger import CounterTable

Tool = Callable[["Ether", str], str]
"""A machine's output for one command."""
Tools = Mapping[str, Tool]
Print = Callable[["CounterTable"], str]
"""A machine's printed counters."""
PrintsAll = Callable[["Ether", str, "CounterTable | None"], str]
"""A switch's ports, printed with their state and their counters; without a table, no traffic was counted."""
VERSION = "show version"


@dataclass(frozen=True, slots=True)
class Link:
    """One port. `gbps` is the speed of the link in Gb/s; of a port without link, the configured one."""

    name: str
    up: bool
    gbps: float
    label: str = ""
    """The configured description."""
    off: bool = False
    """Whether it is administratively down."""
    module: bool = True
    """Whether a module is in it: a plugged cable has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """One platform. The texts are those of real devices; `tests/recordings` has answers to compare with."""

    description: str
    """Its announced system description."""
    answers: Callable[["Ether", str], dict[str, str]]
    """Command to answer, of a machine in a capture."""
    frames: Callable[["Ether", Port], tuple[Frame, ...]]
    """The LLDP frames sent by a port, those of the machine itself first."""
    neighbors: Callable[["Ether", str], Iterable[Heard]] = lambda ether, switch: ether.switch_neighbors(switch)
    """The LLDP neighbours that a machine lists."""
    port_name: Callable[[int, "Shape"], str] = lambda number, shape: f"swp{number}"
    """The name of the switch port with this number, counted from 1, as in configurations and plans."""
    index_offset: int = 9
    """Offset of a switch port's interface index from its number."""
    management: str = "eth0"
    """The name of the management port."""
    default_name: str = "localhost"
    """The hostname before it is configured."""
    maker: str = "HUAWEI, AR Series"
    """Prefix of its default port descriptions."""
    runs_lldpd: bool = False
    """Whether its list of neighbours is lldpd's."""
    steady: Tools = field(default_factory=dict)
    """The commands of a live device whose answers change only with the fabric."""
    fleeting: Tools = field(default_factory=dict)
    """The commands of a live device whose answers also change with time."""
    counters: Mapping[str, Print] = field(default_factory=dict)
    """The commands that print counters."""
    ports: Mapping[str, PrintsAll] = field(default_factory=dict)
    """The commands that print state and counters of ports in one answer."""


def prints_text(text: str) -> Tool:
    """A tool that prints the same on every machine."""
    return lambda ether, machine: text


def prints_neighbors(render: Callable[[Iterable[Heard]], str]) -> Tool:
    """A tool that prints the neighbours of a host or switch."""
    return lambda ether, machine: render(ether.neighbors(machine))

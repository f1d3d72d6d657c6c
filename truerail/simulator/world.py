"""The machines as they stand: what is plugged where, what each machine calls itself and its NICs, and who hears whom.

Keys are *jacks*: a jack is a `Port` under the planned name of the machine and the planned name of the slot. What a
machine announces is apart from what it is: exchanging two hostnames changes no jack, and crossing two cables no name.
The world starts as the plan wants it; faults and noise change it sparingly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.model import Port, Role
from truerail.simulator.models import Model, NicName
from truerail.simulator.ports import if_index
from truerail.simulator.shape import SPEED_GBPS, Fabric

_HOST_MACS = 0xB83FD2000000
_SWITCH_MACS = 0x1C34DA000000
_HOST_PORTS = 64
_SWITCH_PORTS = 4096
DOMAIN = "dc1.example.net"


def mac(number: int) -> str:
    """A 48-bit number as `b8:3f:d2:00:00:01`."""
    digits = f"{number:012x}"
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2))


@dataclass(slots=True)
class World:
    """`far` maps each cabled jack to the jack at the other end, in both directions.

    `hostname` holds machines that announce another's planned name, `form` how a name is written (`fqdn`, `upper`).
    `nic_order[host][n]` is the NIC whose names sit in slot n, `gpu_order[host][g]` the place of GPU g; absent means
    identity. `dead` are jacks whose cable carries nothing, `off` machines without power, `hung` machines that keep
    their carrier and say nothing, `absent` machines that nobody could read. A `mute` host sends no LLDP, a `deaf` one
    hears none. `stale` lists further neighbours that a jack still remembers, `slow` the speeds in Gb/s of jacks whose
    link does not run at the fabric's.
    """

    fabric: Fabric
    far: dict[Port, Port]
    hostname: dict[str, str] = field(default_factory=dict)
    form: dict[str, str] = field(default_factory=dict)
    nic_order: dict[str, tuple[int, ...]] = field(default_factory=dict)
    gpu_order: dict[str, tuple[int, ...]] = field(default_factory=dict)
    dead: set[Port] = field(default_factory=set)
    off: set[str] = field(default_factory=set)
    hung: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    mute: set[str] = field(default_factory=set)
    deaf: set[str] = field(default_factory=set)
    stale: dict[Port, Port] = field(default_factory=dict)
    slow: dict[Port, float] = field(default_factory=dict)
    folders: str = "hostname"
    labels: bool = False
    management: bool = False
    mixed: bool = False
    strange_files: bool = False
    _slots: dict[str, dict[str, int]] = field(default_factory=dict)

    def is_host(self, machine: str) -> bool:
        """Whether this machine is a host."""
        return machine in self.fabric.models

    def plug(self, a: Port, b: Port) -> None:
        """Puts one cable between two jacks. The jacks they had before must be plugged anew, or `unplug`ged."""
        self.far[a] = b
        self.far[b] = a

    def carrier(self, jack: Port) -> bool:
        """Whether the port sees light: a live cable and a powered machine at the other end."""
        far = self.far.get(jack)
        return far is not None and jack not in self.dead and far.device not in self.off and jack.device not in self.off

    def speed_gbps(self, jack: Port) -> float:
        """The speed at which the jack's link runs, or is configured to run."""
        return self.slow.get(jack, SPEED_GBPS)

    def heard(self, jack: Port) -> Iterator[Port]:
        """The jacks whose LLDP this jack hears or still remembers; on InfiniBand the one that a discovery finds."""
        if self.fabric.shape.infiniband:
            if self.carrier(jack):
                yield self.far[jack]
            return
        if jack.device in self.deaf:
            return
        if self.carrier(jack):
            far = self.far[jack]
            if far.device not in self.mute and far.device not in self.hung:
                yield far
        if jack in self.stale:
            yield self.stale[jack]

    def announced_name(self, machine: str) -> str:
        """The name that a machine gives itself."""
        name = self.hostname.get(machine, machine)
        match self.form.get(machine):
            case "fqdn":
                return f"{name}.{DOMAIN}"
            case "upper":
                return name.upper()
        return name

    def folder(self, machine: str) -> str:
        """The name of the folder that holds a machine's answers."""
        return machine if self.folders == "inventory" else self.announced_name(machine)

    def slot(self, jack: Port) -> int:
        """The number of a host jack's slot."""
        model = self.fabric.models[jack.device]
        return self._slot_numbers(model)[jack.name]

    def _slot_numbers(self, model: Model) -> dict[str, int]:
        numbers = self._slots.get(model.name)
        if numbers is None:
            field_name = self.fabric.shape.host_ports
            numbers = {getattr(name, field_name): slot for slot, name in enumerate(model.names)}
            self._slots[model.name] = numbers
        return numbers

    def named_slot(self, machine: str, slot: int) -> int:
        """The slot that the names in this slot are meant for; the slot itself unless the enumeration changed."""
        order = self.nic_order.get(machine)
        if order is None:
            return slot
        nic, plane = divmod(slot, self.fabric.shape.planes)
        return order[nic] * self.fabric.shape.planes + plane

    def nic_name(self, machine: str, slot: int) -> NicName:
        """The names that the kernel gives the NIC port in this slot."""
        return self.fabric.models[machine].names[self.named_slot(machine, slot)]

    def announced_port(self, jack: Port) -> Port:
        """This jack in the words of its own machine, forms of names aside: what the plan would call it."""
        machine = self.hostname.get(jack.device, jack.device)
        if self.is_host(jack.device) and jack.device in self.nic_order:
            name = self.nic_name(jack.device, self.slot(jack))
            return Port(machine, getattr(name, self.fabric.shape.host_ports))
        return Port(machine, jack.name)

    def host_mac(self, host: str, slot: int) -> str:
        """The MAC of a host's NIC port; slot -1 is its management port, whose MAC is also the chassis id."""
        return mac(_HOST_MACS + self.fabric.order[host] * _HOST_PORTS + slot + 1)

    def switch_mac(self, switch: str, number: int) -> str:
        """The MAC of a switch port by its number; 0 is the chassis."""
        return mac(_SWITCH_MACS + self.fabric.order[switch] * _SWITCH_PORTS + number)

    def address(self, machine: str) -> str:
        """The management address."""
        number = self.fabric.order[machine] + 1
        return f"10.{200 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"

    def platform(self, switch: str) -> str:
        """The network operating system of a switch."""
        return self.fabric.plan.devices[switch].platform

    def port_index(self, switch: str, number: int) -> int:
        """The interface index of a switch port."""
        return if_index(self.platform(switch), number)

    def cables(self) -> Iterator[tuple[Port, Port]]:
        """Every plugged cable once, the end nearer to the GPUs first."""
        devices = self.fabric.plan.devices
        for a, b in self.far.items():
            if devices[a.device].role.tier < devices[b.device].role.tier:
                yield a, b

    def leaves(self) -> list[str]:
        """All leaves, in the plan's order."""
        return [name for name, device in self.fabric.plan.devices.items() if device.role is Role.LEAF]


def as_planned(fabric: Fabric, folders: str = "hostname") -> World:
    """The world in which everything is as the plan wants it."""
    far: dict[Port, Port] = {}
    for cable in fabric.plan.cables:
        far[cable.a] = cable.b
        far[cable.b] = cable.a
    return World(fabric, far, folders=folders)

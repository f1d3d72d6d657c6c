"""The actual machines: cabling, announced names, names of NICs, and which port hears which.

Keys are *jacks*: a jack is a `Port` under the planned name of the machine and the planned name of the slot. What a
machine announces is separate from its identity: swapping two hostnames changes no jack, crossing two cables no name.
The world starts as planned; faults and noise change it sparingly.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from truerail.model import Port, Role
from truerail.simulator.behaviours import NONE, Behaviours, identities
from truerail.simulator.fabric.builder import Fabric
from truerail.simulator.fabric.servers import NicName
from truerail.simulator.platforms import Platform, platforms

# ----------------------------------------------------------------------------------------------------------------------
# Ports on which no neighbour is listed although a cable is plugged: ports that cannot hear, and lost entries.


def hears_nothing(world: "World", jack: Port) -> bool:
    """Whether a behaviour keeps this port from listing its neighbours."""
    behaviours = world.behaviours
    if not behaviours.choices:
        return False
    if world.is_host(jack.device):
        host = jack.device
        if behaviours.value_for("fw_lldp", host) in ("all", "only"):
            return True
        if any(behaviours.hits(name, host) for name in ("dpu", "efa", "networkd", "boot_phase")):
            return True
    elif _is_lost(world, jack):
        return True
    return _is_young(world, jack) or _is_forgotten(world, jack)


def _is_lost(world: "World", jack: Port) -> bool:
    """The last ports of a switch that has more neighbours than its daemon keeps (sonic-buildimage#24685)."""
    choice = world.behaviours.choices.get("lldp_lost_rows")
    if choice is None:
        return False
    ports = world.fabric.ports[jack.device]
    return ports[jack.name] - 1 >= len(ports) * (1.0 - choice.share)


def _is_forgotten(world: "World", jack: Port) -> bool:
    """Before 0.9.7, lldpd forgot all ports of a chassis as one of them was shut (lldpd#221, NEWS 0.9.7)."""
    far = world.far.get(jack)
    if "ttl0_chassis" not in world.behaviours or far is None or not identities.runs_lldpd(world, jack.device):
        return False
    if not world.behaviours.hits("ttl0_chassis", jack.device, far.device):
        return False
    between = [one for one, other in world.far.items() if (one.device, other.device) == (jack.device, far.device)]
    return len(between) > 1


def _is_young(world: "World", jack: Port) -> bool:
    far = world.far.get(jack)
    return far is not None and world.behaviours.hits("young_link", *sorted((jack, far)))


# ----------------------------------------------------------------------------------------------------------------------
# The actual machines: cabling, announced names, names of NICs, and which port hears which.

_HOST_MACS = 0xB83FD2000000
_SWITCH_MACS = 0x1C34DA000000
_HOST_PORTS = 64
_SWITCH_PORTS = 4096


def mac(number: int) -> str:
    """A 48-bit number as `b8:3f:d2:00:00:01`."""
    digits = f"{number:012x}"
    return ":".join(digits[i : i + 2] for i in range(0, 12, 2))


def shifted(address: str, offset: int) -> str:
    """The MAC plus an offset."""
    return mac(int(address.replace(":", ""), 16) + offset)


@dataclass(slots=True)
class World:
    """`far` maps each cabled jack to the jack at the other end, in both directions.

    `hostname` holds machines that announce another's planned name, `form` how a name is written (`fqdn`, `upper`).
    `nic_order[host][n]` is the NIC whose names sit in slot n, `gpu_order[host][g]` the place of GPU g; absent means
    identity. `dead` are jacks whose cable has no link, `off` machines without power, `hung` machines that keep their
    carrier and do not answer, `absent` machines that could not be read. A `mute` host sends no LLDP, a `deaf` one hears
    none. `stale` lists former neighbours that a jack still shows, `slow` the speeds in Gb/s of jacks whose link does
    not run at the fabric's. `switched_off` are jacks that are administratively down, `held_up` those that keep their
    carrier nevertheless, `guests` unplanned machines that are plugged into a jack. Jacks `without_lldp` neither send
    it nor listen; `stations` are the MACs in the table of a switch at its jacks, `serials` the numbers read in the ends
    of cables.
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
    switched_off: set[Port] = field(default_factory=set)
    held_up: set[Port] = field(default_factory=set)
    guests: dict[Port, str] = field(default_factory=dict)
    without_lldp: set[Port] = field(default_factory=set)
    stations: dict[Port, tuple[str, ...]] = field(default_factory=dict)
    serials: dict[Port, str] = field(default_factory=dict)
    behaviours: Behaviours = NONE
    folders: str = "hostname"
    labels: bool = False
    management: bool = False
    mixed: bool = False
    strange_files: bool = False

    def is_host(self, machine: str) -> bool:
        """Whether this machine is a host."""
        return machine in self.fabric.models

    def plug(self, a: Port, b: Port) -> None:
        """Plugs one cable between two jacks. Their former peers must be plugged again, or `unplug`ged."""
        self.far[a] = b
        self.far[b] = a

    def carrier(self, jack: Port) -> bool:
        """Whether the port receives light: a live cable and a powered machine at the other end."""
        if jack in self.guests:
            return True
        far = self.far.get(jack)
        if far is None or jack in self.dead or far.device in self.off or jack.device in self.off:
            return False
        return jack in self.held_up or not {jack, far} & self.switched_off

    def has_module(self, jack: Port) -> bool:
        """Whether a cable with its module is in the port. An unplugged one took its modules along."""
        return jack in self.guests or (jack in self.far and jack not in self.dead)

    def speed_gbps(self, jack: Port) -> float:
        """The speed at which the jack's link runs, or is configured to run."""
        return self.slow.get(jack, self.fabric.shape.speed_gbps)

    def heard(self, jack: Port) -> Iterator[Port]:
        """The jacks whose LLDP this jack hears or still lists; on InfiniBand the one that a discovery finds."""
        if self.fabric.shape.infiniband:
            if self.carrier(jack):
                yield self.far[jack]
            return
        if jack.device in self.deaf or jack in self.without_lldp or hears_nothing(self, jack):
            return
        for member in self._smeared(jack):
            if self.carrier(member) and member in self.far:
                far = self.far[member]
                silent = far.device in self.mute or far.device in self.hung or far in self.without_lldp
                if not silent and far not in self.switched_off:
                    yield far
        if jack in self.stale:
            yield self.stale[jack]

    def _smeared(self, jack: Port) -> list[Port]:
        """The jacks whose neighbours this one lists: its own, or those of all members of its bond."""
        if not self.is_host(jack.device) or not self.behaviours.hits("bond_lldp_smeared", jack.device):
            return [jack]
        first = self.slot(jack) // self.fabric.shape.planes * self.fabric.shape.planes
        return self.jacks(jack.device)[first : first + self.fabric.shape.planes]

    def jacks(self, host: str) -> list[Port]:
        """The host's jacks, in the order of their slots."""
        form = self.fabric.shape.host_ports
        return [Port(host, getattr(name, form)) for name in self.fabric.models[host].names]

    def announced_name(self, machine: str) -> str:
        """The name that a machine announces."""
        name = self.hostname.get(machine, machine)
        match self.form.get(machine):
            case "fqdn":
                return f"{name}.{identities.DOMAIN}"
            case "upper":
                return name.upper()
        return identities.system_name(self, machine, name) if self.behaviours.choices else name

    def folder(self, machine: str) -> str:
        """The name of the folder with a machine's answers."""
        by_name = self.folders != "inventory" and identities.has_own_name(self, machine)
        return self.announced_name(machine) if by_name else machine

    def slot(self, jack: Port) -> int:
        """The number of a host jack's slot."""
        return self.fabric.models[jack.device].slots[jack.name]

    def named_slot(self, machine: str, slot: int) -> int:
        """The planned slot of the names in this slot; the slot itself unless the enumeration changed."""
        order = self.nic_order.get(machine)
        if order is None:
            return slot
        nic, plane = divmod(slot, self.fabric.shape.planes)
        return order[nic] * self.fabric.shape.planes + plane

    def nic_name(self, machine: str, slot: int) -> NicName:
        """The kernel's names of the NIC port in this slot."""
        return self.fabric.models[machine].names[self.named_slot(machine, slot)]

    def announced_port(self, jack: Port) -> Port:
        """This jack as its own machine names it, in the plan's form of names."""
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
        if self.behaviours.hits("switch_mac_shared", switch):
            number = 0
        return mac(_SWITCH_MACS + self.fabric.order[switch] * _SWITCH_PORTS + number)

    def address(self, machine: str) -> str:
        """The management address."""
        number = self.fabric.order[machine] + 1
        return f"10.{200 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"

    def platform(self, switch: str) -> str:
        """The network operating system of a switch."""
        return self.fabric.plan.devices[switch].platform

    def system(self, machine: str) -> Platform:
        """What a machine runs: Linux, or a network operating system."""
        return platforms()["linux" if self.is_host(machine) else self.platform(machine)]

    def chips_of(self, switch: str) -> int:
        """Number of switch chips of a box. Each is its own node and counts its ports from 1."""
        return 2 if self.behaviours.hits("ib_multi_asic", switch) else 1

    def port_index(self, switch: str, number: int) -> int:
        """The interface index of a switch port."""
        return number + self.system(switch).index_offset

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
    """The world in which everything is as planned."""
    world = World(fabric, {}, folders=folders)
    for cable in fabric.plan.cables:
        world.plug(cable.a, cable.b)
    return world

"""What a lab consists of and where each part is: names, addresses, folders, namespaces. Nothing is started here."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from truerail.model import Port, Role
from truerail.simulator.fabric.builder import Fabric, Shape, build

from .system import LabError

RUN = Path("/run/truerail-lab")
"""Holds one folder for each lab. Root's alone to write, and gone after a reboot, as namespaces are."""
MANAGEMENT_PREFIX = "198.18"
"""The network that RFC 2544 sets aside for benchmarks: no real device answers there."""
_NAME = re.compile(r"[a-z][a-z0-9]{0,15}")
_MOST = 99
_NETWORK = {Role.HOST: 1, Role.LEAF: 2, Role.SPINE: 3, Role.SUPERSPINE: 4}


@dataclass(frozen=True)
class Layout:
    """One lab: its name (several may run at once), its size, and the folder that its users get their files in."""

    name: str
    hosts: int
    rails: int
    spines: int
    """In each pod."""
    folder: Path
    pods: int = 1
    superspines: int = 0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise LabError(f"{self.name!r} is no name for a lab: small letters and digits, a letter first")
        for what in ("hosts", "rails", "spines", "pods", "superspines"):
            if not int("spines" not in what) <= getattr(self, what) <= _MOST:
                raise LabError(f"{what} = {getattr(self, what)}: the lab takes up to {_MOST}")
        if self.pods > 1 and not (self.hosts >= self.pods and self.spines and self.superspines):
            raise LabError("several pods take a host in each, spines, and superspines above them")

    @cached_property
    def fabric(self) -> Fabric:
        """The plan and the machines, as the simulator builds them: every leaf has one spare port."""
        size = {"hosts": self.hosts, "rails": self.rails, "spines": self.spines, "uplinks": self.spines}
        return build(Shape(**size, pods=self.pods, superspines=self.superspines, spare_ports=1))

    @cached_property
    def jacks(self) -> tuple[Port, ...]:
        """Every port that a cable fits in, spare ones too."""
        return tuple(Port(device, port) for device in self.devices for port in self.ports(device))

    @cached_property
    def devices(self) -> tuple[str, ...]:
        """All devices' names, hosts first."""
        return tuple(self.fabric.plan.devices)

    @property
    def switches(self) -> tuple[str, ...]:
        """The leaves and the spines."""
        return tuple(self.fabric.ports)

    def ports(self, device: str) -> list[str]:
        """The names of a device's ports in order."""
        model = self.fabric.models.get(device)
        return [nic.netdev for nic in model.names] if model else [*self.fabric.ports[device]]

    def jack(self, text: str) -> Port:
        """`gpu-001/enp26s0f0np0` or `leaf-0/swp1`. Raises `LabError` with what there is instead."""
        device, _, name = text.partition("/")
        port = Port(self.known(device), name)
        if port not in self.jacks:
            raise LabError(f"{device} has no port {name!r}: it has {', '.join(self.ports(device))}")
        return port

    def known(self, device: str) -> str:
        """The device's name again. Raises `LabError` where the lab has no such device."""
        if device not in self.devices:
            raise LabError(f"no device {device!r}: there are {', '.join(self.devices)}")
        return device

    @property
    def root(self) -> Path:
        """Where the lab keeps what it needs while it runs."""
        return RUN / self.name

    def home(self, device: str) -> Path:
        """The folder that the device knows as /run."""
        return self.root / device

    @property
    def prefix(self) -> str:
        """What the names of all of the lab's namespaces begin with."""
        return f"truerail-{self.name}-"

    def namespace(self, device: str) -> str:
        """The network namespace of a device."""
        return self.prefix + device

    @property
    def management(self) -> str:
        """The namespace from which all devices are reached: truerail runs there."""
        return f"{self.prefix}mgmt"

    @property
    def patch_panel(self) -> str:
        """The namespace that all cables run through."""
        return f"{self.prefix}patch"

    def address(self, device: str) -> str:
        """The device's address in the management network."""
        role = self.fabric.plan.devices[device].role
        peers = [other.name for other in self.fabric.plan.of_role(role)]
        return f"{MANAGEMENT_PREFIX}.{_NETWORK[role]}.{peers.index(device) + 1}"

    def mac(self, jack: Port) -> str:
        """The MAC of a port: locally administered, the device's number and the port's in it."""
        number = self.fabric.order[jack.device]
        return f"02:00:5e:{number >> 8:02x}:{number & 255:02x}:{self.ports(jack.device).index(jack.name) + 1:02x}"

    def save(self) -> None:
        """Writes down what `load` reads."""
        text = json.dumps(asdict(self) | {"folder": str(self.folder)})
        self.root.joinpath("layout.json").write_text(text, encoding="utf-8")


def load(name: str) -> Layout:
    """The layout of the lab of this name. Raises `LabError` where none is up."""
    try:
        found = json.loads((RUN / name / "layout.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(f"no lab named {name!r} is up: start one with `up`") from error
    return Layout(**found | {"folder": Path(found["folder"])})


def all_names() -> Iterator[str]:
    """The names of all labs that have a folder, running or left over."""
    return (path.name for path in sorted(RUN.glob("*")) if path.is_dir())

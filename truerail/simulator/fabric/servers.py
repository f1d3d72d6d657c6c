"""Server models: the slot of each NIC, its nearest GPU, and the kernel's names for it."""

import re
from dataclasses import dataclass
from functools import cached_property

BUSES = {
    # PCI bus numbers of the compute NICs, from `lspci` on two common 8-GPU machines
    "xe9680": (26, 60, 77, 94, 156, 188, 204, 220),
    "dgx-h100": (24, 64, 79, 94, 154, 192, 206, 220),
}
_STEMS = {"bnxt": "bnxt_re", "ionic": "ionic_", "azure": "mlx5_ib"}
"""How the names of RDMA devices begin, by their driver."""
STORAGE_BUSES = (41, 170)
"""PCI bus numbers of the two dual-port storage NICs, if a host has them."""


def device_number(rdma: str) -> tuple[int, ...]:
    """The numbers in an RDMA device's name: the sort key of tools."""
    return tuple(map(int, re.findall(r"[0-9]+", rdma)))


def renumbered(rdma: str) -> str:
    """The name of an RDMA device where a NIC before the third of `mlx5_N` is missing or added."""
    stem, _, number = rdma.rpartition("_")
    return f"{stem}_{int(number) + 1}" if stem == "mlx5" and number.isdigit() and int(number) >= 2 else rdma


@dataclass(frozen=True, slots=True)
class NicName:
    """The kernel's names of one NIC port: they move together if the enumeration changes."""

    netdev: str
    rdma: str
    pci: str


@dataclass(frozen=True)
class Model:
    """One server model with `rails` compute NICs of `planes` ports each, and `gpus` GPUs.

    A *slot* is one port of a compute NIC, numbered `nic * planes + plane` in PCI order. `style` is how netdevs are
    named: `enp`, `eth`, `ib` or `rail`; `nic` is their driver. `storage` adds two dual-port NICs that belong to
    no rail.
    """

    name: str
    rails: int
    planes: int
    gpus: int
    style: str = "enp"
    storage: bool = False
    nic: str = "mlx5"

    @cached_property
    def buses(self) -> tuple[int, ...]:
        """PCI bus of each compute NIC, ascending."""
        known = BUSES[self.name]
        return known[: self.rails] if self.rails <= len(known) else tuple(range(16, 16 + 8 * self.rails, 8))

    @cached_property
    def names(self) -> tuple[NicName, ...]:
        """The names meant for each slot."""
        return tuple(
            NicName(self._netdev(nic, plane), self._rdma[bus, plane], f"0000:{bus:02x}:00.{plane}")
            for nic, bus in enumerate(self.buses)
            for plane in range(self.planes)
        )

    @cached_property
    def slots(self) -> dict[str, int]:
        """The slot of each port, by any of its names."""
        return {name: slot for slot, names in enumerate(self.names) for name in (names.netdev, names.rdma, names.pci)}

    @cached_property
    def storage_names(self) -> tuple[NicName, ...]:
        """The names of the storage NICs' ports."""
        return tuple(
            NicName(f"enp{bus}s0f{port}np{port}", self._rdma[bus, port], f"0000:{bus:02x}:00.{port}")
            for bus, port in self._storage_functions
        )

    @property
    def _storage_functions(self) -> list[tuple[int, int]]:
        return [(bus, port) for bus in STORAGE_BUSES for port in (0, 1) if self.storage]

    @cached_property
    def _rdma(self) -> dict[tuple[int, int], str]:
        """PCI bus and function to RDMA device: `mlx5_N`, counted in PCI order over compute and storage NICs alike."""
        functions = [(bus, plane) for bus in self.buses for plane in range(self.planes)]
        functions += self._storage_functions
        return {function: self._device(number, *function) for number, function in enumerate(sorted(functions))}

    def _device(self, number: int, bus: int, port: int) -> str:
        return f"rdmap{bus}s{port}" if self.nic == "efa" else f"{_STEMS.get(self.nic, 'mlx5_')}{number}"

    def _netdev(self, nic: int, plane: int) -> str:
        match self.style:
            case "eth":
                return f"eth{1 + nic * self.planes + plane}"
            case "ib":
                return f"ibp{self.buses[nic]}s0" if self.planes == 1 else f"ibp{self.buses[nic]}s0f{plane}"
            case "rail":
                return f"rail{nic}" if self.planes == 1 else f"rail{nic}p{plane}"
        return f"enp{self.buses[nic]}s0f{plane}np{plane}"

    def near(self, gpu: int, nic: int) -> bool:
        """Whether this GPU and this NIC share a PCIe switch. GPUs share NICs, or NICs GPUs, if there are fewer."""
        if self.gpus >= self.rails:
            return gpu * self.rails // self.gpus == nic
        return nic * self.gpus // self.rails == gpu

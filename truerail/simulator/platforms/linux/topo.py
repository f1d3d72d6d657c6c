"""`nvidia-smi topo -m` as drivers 535 to 580 print it: tabs, a legend, an empty cell before the last column."""

from functools import lru_cache
from typing import NamedTuple

from truerail.simulator.fabric.servers import Model, device_number, renumbered

AZURE_NETWORKING = "mlx5_an0"
"""The virtual function of Azure's accelerated networking (azurehpc, AccelNet_tuning)."""
_CPUS = ("0-55,112-167", "56-111,168-223")
_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

"""


KINDS = (
    *("topo_empty_cell", "topo_sparse", "topo_bond", "topo_gb200", "topo_cx8", "topo_flat", "topo_no_nic", "topo_old"),
    *("gpu_lost", "azure_an"),
)
"""Other forms of a matrix, as recorded from other machines and drivers."""
_OLD_LEGEND = """
Legend:

  X   = Self
  SOC  = Connection traversing PCIe as well as the SMP link between CPU sockets(e.g. QPI)
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe switches (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing a single PCIe switch
  NV#  = Connection traversing a bonded set of # NVLinks
"""
_OLD_LEVELS = {"SYS": "SOC", "NODE": "PHB"}
_GB200_CPUS = (("0-71", "0,3-9,11-17"), ("72-143", "1,19-25,27-33"))
_GB200_GPU_NUMA = (2, 10, 18, 26)


@lru_cache(maxsize=1024)
def topo(model: Model, nic_order: tuple[int, ...], gpu_order: tuple[int, ...], kinds: tuple[str, ...] = ()) -> str:
    """The matrix of a host with NIC names and GPUs in these places (see `World.nic_order`, `World.gpu_order`)."""
    devices = _devices(model, nic_order) if "topo_no_nic" not in kinds else []
    if "topo_bond" in kinds:
        devices = _bonded(model, nic_order)
    if "azure_an" in kinds and devices:
        devices = [(AZURE_NETWORKING, _Place(-1, -9, 0)), *devices]  # by name, as sorted by `ls`
    if "renumbered" in kinds:
        devices = [(renumbered(device), place) for device, place in devices]
    gpus = [(gpu, _Place(gpu_order[gpu], None, int(2 * gpu_order[gpu] >= model.gpus > 1))) for gpu in range(model.gpus)]
    if "gpu_lost" in kinds:
        gpus.pop(len(gpus) // 2)  # the later ones keep their numbers
    old = "topo_old" in kinds
    nic_names = [device if old else f"NIC{i}" for i, (device, _) in enumerate(devices)]
    header = [f"GPU{number}" for number, _ in gpus] + nic_names
    places = [place for _, place in gpus] + [place for _, place in devices]
    tail_heads = ["CPU Affinity"] if old else ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]
    lines = ["\t" + "\t".join([*header, *tail_heads])]
    for i, place in enumerate(places):
        cells = [" X " if i == j else _cell(model, place, other, kinds) for j, other in enumerate(places)]
        tail = _tail(place, kinds) if i < len(gpus) else ("" if old else "\t\t\t")
        lines.append("\t".join([header[i], *cells, tail]))
    if old:
        return "\n".join(lines) + "\n" + _OLD_LEGEND + "\n"
    legend = "".join(f"  NIC{i}: {device}\n" for i, (device, _) in enumerate(devices))
    whole = _LEGEND if devices else _LEGEND.replace("NIC Legend:\n\n", "")
    return "\n".join(lines) + "\n" + whole + legend + "\n"


def _tail(place: "_Place", kinds: tuple[str, ...]) -> str:
    cpus = _CPUS[place.node]
    if "topo_gb200" in kinds:
        cores, numa = _GB200_CPUS[place.node]
        return f"{cores}\t{numa}\t\t{_GB200_GPU_NUMA[place.gpu % 4]}"
    if "topo_old" in kinds:
        return cpus
    if "topo_empty_cell" in kinds and place.node == 0:
        cpus = ""
    return f"{cpus}\t{place.node}\t\tN/A"


def _cell(model: Model, one: "_Place", other: "_Place", kinds: tuple[str, ...]) -> str:
    level = _level(model, one, other)
    gpus = [place for place in (one, other) if place.nic is None]
    if "topo_gb200" in kinds and (len(gpus) == 1 or (not gpus and level != "PIX")):
        return "SYS"
    if "topo_flat" in kinds:
        return "SYS" if one.node != other.node else "PHB" if len(gpus) == 2 else "NODE"
    if "topo_sparse" in kinds and len(gpus) == 1 and gpus[0].gpu % 2:
        return "NODE" if one.node == other.node else "SYS"
    if "topo_cx8" in kinds and level == "PXB":
        return "PIX"
    return _OLD_LEVELS.get(level, level) if "topo_old" in kinds else level


def _bonded(model: Model, nic_order: tuple[int, ...]) -> list[tuple[str, "_Place"]]:
    """One entry of the legend for all ports of a NIC."""
    found = []
    for nic in range(model.rails):
        node = int(2 * nic >= model.rails > 1)
        found.append((f"mlx5_bond_{nic_order[nic]}", _Place(-1, nic, node)))
    found += [(name.rdma, _Place(-1, -1 - i // 2, i // 2)) for i, name in enumerate(model.storage_names)]
    return sorted(found, key=lambda item: ("bond" in item[0], device_number(item[0])))


class _Place(NamedTuple):
    """The place of a GPU (`gpu`) or a NIC (`nic`, None for a GPU); a storage NIC's `nic` is negative."""

    gpu: int
    nic: int | None
    node: int


def _devices(model: Model, nic_order: tuple[int, ...]) -> list[tuple[str, _Place]]:
    """RDMA devices in the order of their numbers, and their places."""
    found: list[tuple[str, _Place]] = []
    for nic in range(model.rails):
        node = int(2 * nic >= model.rails > 1)
        slots = range(nic_order[nic] * model.planes, (nic_order[nic] + 1) * model.planes)
        found += [(model.names[slot].rdma, _Place(-1, nic, node)) for slot in slots]
    found += [(name.rdma, _Place(-1, -1 - i // 2, i // 2)) for i, name in enumerate(model.storage_names)]
    return sorted(found, key=lambda item: device_number(item[0]))


def _level(model: Model, one: _Place, other: _Place) -> str:
    if one.nic is None and other.nic is None:
        return "NV18"
    if one.nic is None or other.nic is None:
        gpu, nic = (one.gpu, other.nic) if one.nic is None else (other.gpu, one.nic)
        if nic is not None and nic >= 0 and model.near(gpu, nic):
            return "PIX" if model.gpus == model.rails else "PXB"
    elif one.nic == other.nic:
        return "PIX"
    return "NODE" if one.node == other.node else "SYS"

"""`nvidia-smi topo -m` as drivers 535 to 580 print it: tabs, a legend, an empty cell before the last column."""

from functools import lru_cache

from truerail.simulator.models import Model

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


@lru_cache(maxsize=1024)
def topo(model: Model, nic_order: tuple[int, ...], gpu_order: tuple[int, ...]) -> str:
    """The matrix of a host whose NIC names and GPUs sit in these places (see `World.nic_order`, `World.gpu_order`)."""
    devices = _devices(model, nic_order)
    gpus = [_Place(gpu_order[gpu], None, int(2 * gpu_order[gpu] >= model.gpus > 1)) for gpu in range(model.gpus)]
    header = [f"GPU{i}" for i in range(len(gpus))] + [f"NIC{i}" for i in range(len(devices))]
    places = gpus + [place for _, place in devices]
    lines = ["\t" + "\t".join([*header, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
    for i, place in enumerate(places):
        cells = [" X " if i == j else _level(model, place, other) for j, other in enumerate(places)]
        tail = f"{_CPUS[place.node]}\t{place.node}\t\tN/A" if i < len(gpus) else "\t\t\t"
        lines.append("\t".join([header[i], *cells, tail]))
    legend = "".join(f"  NIC{i}: {device}\n" for i, (device, _) in enumerate(devices))
    return "\n".join(lines) + "\n" + _LEGEND + legend + "\n"


class _Place:
    """Where a GPU (`gpu`) or a NIC (`nic`, None for a GPU) sits; a storage NIC's `nic` is negative."""

    __slots__ = ("gpu", "nic", "node")

    def __init__(self, gpu: int, nic: int | None, node: int) -> None:
        self.gpu = gpu
        self.nic = nic
        self.node = node


def _devices(model: Model, nic_order: tuple[int, ...]) -> list[tuple[str, _Place]]:
    """RDMA devices in the order of their numbers, and where each sits."""
    found: list[tuple[str, _Place]] = []
    for nic in range(model.rails):
        node = int(2 * nic >= model.rails > 1)
        slots = range(nic_order[nic] * model.planes, (nic_order[nic] + 1) * model.planes)
        found += [(model.names[slot].rdma, _Place(-1, nic, node)) for slot in slots]
    for index, name in enumerate(model.storage_names):
        found.append((name.rdma, _Place(-1, -1 - index // 2, index // 2)))
    return sorted(found, key=lambda item: int(item[0].rpartition("_")[2]))


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

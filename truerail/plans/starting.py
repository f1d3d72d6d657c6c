"""Starting plans: the YAML of a regular fabric, in which its owner enters the real names, and of published designs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from truerail.files.problems import nearest
from truerail.plans.numbers import MOST_RAILS, plain

PORT_NAMES: dict[str, Callable[[int, int], str]] = {
    "cumulus": lambda first, last: f"swp[{first}-{last}]",
    "sonic": lambda first, last: f"Ethernet[{4 * first - 4}-{4 * last - 4}/4]",
    "eos": lambda first, last: f"Ethernet[{first}-{last}]/1",
    "nxos": lambda first, last: f"Ethernet1/[{first}-{last}]",
    "junos": lambda first, last: f"et-0/0/[{first - 1}-{last - 1}]",
    "infiniband": lambda first, last: f"[{first}-{last}]",
}
"""The node set of ports `first` to `last`, counted from 1, as each network operating system names them."""
_UNITS = 40
"""Rack units that hosts may fill."""


@dataclass(frozen=True)
class _Shape:
    """The numbers of a regular fabric.

    `hosts` and `spines` count the whole fabric, `uplinks` the ports of one leaf towards the spines (default: as many as
    it has host ports, so that nothing is oversubscribed). `spines=0` is rail-only. `platform` decides how ports are
    named: a key of `PORT_NAMES`; `split` parts each port of a Cumulus switch, as a breakout cable does. `nics` is a
    node set of the names of a host's NICs, rail 0 first; `hosts_per_rack` fills racks with hosts, `remark` is the first
    line.
    """

    hosts: int
    rails: int
    spines: int = 8
    uplinks: int = 0
    pods: int = 1
    rails_per_leaf: int = 1
    planes: int = 1
    speed_gbps: float = 400
    platform: str = "cumulus"
    uplink_speed_gbps: float | None = None
    load_balancing: str = ""
    split: int = 1
    nics: str = ""
    hosts_per_rack: int = 0
    remark: str = "A starting plan."

    @property
    def hosts_per_pod(self) -> int:
        return -(-self.hosts // self.pods)

    @property
    def down(self) -> int:
        """Host ports of one leaf."""
        return self.hosts_per_pod * self.rails_per_leaf

    @property
    def leaves(self) -> int:
        """Leaves of one pod and plane."""
        return self.rails // self.rails_per_leaf


def new_plan(hosts: int = 64, rails: int = 8, **numbers: Any) -> str:
    """The YAML of a rail-optimized fabric that loads and lints clean. `numbers` are those of `_Shape`. Raises
    ValueError, naming the number, where they do not make a fabric.
    """
    shape = _Shape(hosts, rails, **numbers)
    per_plane = shape.spines // max(shape.planes, 1)
    if "uplinks" not in numbers:
        down = -(-hosts // max(shape.pods, 1)) * shape.rails_per_leaf
        shape = replace(shape, uplinks=-(-down // per_plane) * per_plane if per_plane else 0)
    _check(shape)
    return "\n".join((*_head(shape), *_devices(shape), *_links(shape), ""))


def _check(shape: _Shape) -> None:
    """Raises ValueError for the first number that cannot be."""
    from_one = {"hosts": 100_000, "rails": MOST_RAILS, "pods": shape.hosts, "rails_per_leaf": MOST_RAILS, "planes": 26}
    from_zero = {"hosts_per_rack": _UNITS, "uplinks": 10_000}
    for name, most in {**from_one, **from_zero}.items():
        least = int(name in from_one)
        if not least <= getattr(shape, name) <= most:
            raise ValueError(f"{name} is {getattr(shape, name)}, expected {least} to {most}")
    if shape.platform not in PORT_NAMES:
        raise ValueError(f"platform is {shape.platform!r}, expected one of {', '.join(PORT_NAMES)}")
    if not 1 <= shape.split <= 8 or (shape.split > 1 and shape.platform != "cumulus"):
        raise ValueError(f"split is {shape.split}, expected 1 to 8, and ports of Cumulus")
    if not 0 < shape.speed_gbps < 100_000:
        raise ValueError(f"speed_gbps is {shape.speed_gbps}, expected Gb/s such as 400")
    if -(-shape.hosts // shape.hosts_per_pod) != shape.pods:
        raise ValueError(f"{shape.hosts} hosts do not fill {shape.pods} pods")
    if shape.rails % shape.rails_per_leaf:
        raise ValueError(f"{shape.rails} rails do not divide evenly by {shape.rails_per_leaf} rails per leaf")
    if not 0 <= shape.spines <= 10_000 or shape.spines % shape.planes:
        raise ValueError(f"{shape.spines} spines do not divide evenly over {shape.planes} planes")
    if shape.spines and (not shape.uplinks or shape.uplinks % (shape.spines // shape.planes)):
        raise ValueError(f"{shape.uplinks} uplinks do not divide evenly over {shape.spines // shape.planes} spines")


def _head(shape: _Shape) -> list[str]:
    return [
        f"# {shape.remark}",
        "# Put in the real names; `truerail plan lint` reports what does not match.",
        "name: fabric",
        f"transport: {'infiniband' if shape.platform == 'infiniband' else 'roce'}",
        f"load_balancing: {shape.load_balancing or ('adaptive' if shape.platform == 'infiniband' else 'ecmp')}",
        f"speed: {plain(shape.speed_gbps)}  # Gb/s of every cable without a speed of its own",
    ]


def _devices(shape: _Shape) -> list[str]:
    pod = [f"pod: {_set('p', 1, shape.pods)}"] if shape.pods > 1 else []
    platform = [] if shape.platform == "infiniband" else [f"platform: {shape.platform}"]
    hosts = [f"nodes: {_set('gpu-', 1, shape.hosts)}", *pod, *_racks(shape), f"gpus: {shape.rails}", *_nics(shape)]
    # One entry a plane, so that the leaves of every plane are shared out over the pods.
    leaves = [[f"nodes: {_leaves(shape, plane)}", *pod, *platform] for plane in range(shape.planes)]
    spines = [[f"nodes: {_spines(shape, plane)}", *platform] for plane in range(shape.planes) if shape.spines]
    return [*_section("hosts", [hosts]), *_section("leaves", leaves), *_section("spines", spines)]


def _racks(shape: _Shape) -> list[str]:
    """Racks of equal numbers of hosts, each of which has as many rack units; whole racks only."""
    racks, rest = divmod(shape.hosts, shape.hosts_per_rack) if shape.hosts_per_rack else (0, 1)
    if rest:
        return []
    height = _UNITS // shape.hosts_per_rack
    last = 1 + height * (shape.hosts_per_rack - 1)
    return [f"rack: {_set('r', 1, racks)}", f'unit: "[1-{last}/{height}]"' if last > 1 else "unit: 1"]


def _nics(shape: _Shape) -> list[str]:
    """NIC N is rail N; with planes, the ports of one NIC in the order of the planes."""
    if shape.planes == 1:
        names = shape.nics or _set("nic", 0, shape.rails - 1)
        return [f"nics: {names}  # rail 0 first; or netdevs, RDMA devices, PCI addresses"]
    ports = [
        f"  - [{', '.join(f'mlx5_{rail * shape.planes + plane}' for plane in range(shape.planes))}]"
        for rail in range(shape.rails)
    ]
    return ["nics:  # rail 0 first; the ports of one NIC, plane 0 first", *ports]


def _links(shape: _Shape) -> list[str]:
    down: list[list[str]] = []
    up: list[list[str]] = []
    first = -(-shape.down // shape.split) * shape.split + 1
    speed = [f"speed: {plain(shape.uplink_speed_gbps)}"] if shape.uplink_speed_gbps else []
    for plane in range(shape.planes):
        leaves, number = f'"{_leaves(shape, plane)}"', f"plane: {plane}"
        one = [f"leaves: {leaves}", number] if shape.planes > 1 else []
        down.append([*one, f'ports: "{_ports(shape, 1, shape.down)}"'])
        if shape.spines:
            top = shape.uplinks // (shape.spines // shape.planes) * shape.leaves * shape.pods
            ends = [f"from: {leaves}", f'to: "{_spines(shape, plane)}"', number] if shape.planes > 1 else []
            ports = f'ports: "{_ports(shape, first, first + shape.uplinks - 1)}"'
            up.append([*ends, ports, f'to_ports: "{_ports(shape, 1, top)}"', *speed])
    return [*_section("host_links", down), *_section("uplinks", up)]


def _ports(shape: _Shape, first: int, last: int) -> str:
    """The node set of the ports of a switch, counted from 1. Parts of a port are counted too; `first` begins one."""
    if shape.split == 1:
        return PORT_NAMES[shape.platform](first, last)
    whole, rest = divmod(last, shape.split)
    parts = f"{_set('swp', (first - 1) // shape.split + 1, whole)}s[0-{shape.split - 1}]"
    sets = [parts] if first <= whole * shape.split else []
    return ",".join([*sets, *([f"{_set(f'swp{whole + 1}s', 0, rest - 1)}"] if rest else [])])


def _section(name: str, entries: list[list[str]]) -> list[str]:
    """One mapping, or a list of them; empty without entries."""
    lines = [f"{name}:"] if entries else []
    for keys in entries:
        lines += [f"  {'' if len(entries) == 1 else '  ' if at else '- '}{key}" for at, key in enumerate(keys)]
    return lines


def _leaves(shape: _Shape, plane: int) -> str:
    pod = f"{_set('p', 1, shape.pods)}-" if shape.pods > 1 else ""
    return pod + _set(f"leaf-{_letter(shape, plane)}", 0, shape.leaves - 1)


def _spines(shape: _Shape, plane: int) -> str:
    return _set(f"spine-{_letter(shape, plane)}", 0, shape.spines // shape.planes - 1)


def _letter(shape: _Shape, plane: int) -> str:
    return f"{chr(ord('a') + plane)}-" if shape.planes > 1 else ""


def _set(prefix: str, first: int, last: int) -> str:
    """`gpu-[001-064]`, or `leaf-0` where there is one."""
    width = max(3, len(str(last))) if prefix == "gpu-" else 1
    low = str(first).zfill(width)
    return f"{prefix}{low}" if first == last else f"{prefix}[{low}-{str(last).zfill(width)}]"


# ----------------------------------------------------------------------------------------------------------------------
# Published designs as starting plans. Each docstring says what its source gives, and what is chosen here.
#
# A template is numbers for `new_plan`; its first line is what `truerail plan new --list` shows.

Numbers = dict[str, Any]


def _numbers(hosts: int, rails: int, **more: Any) -> Numbers:
    return {"hosts": hosts, "rails": rails, **more}


def superpod_h100() -> Numbers:
    """DGX SuperPOD H100: 4 scalable units of 32 hosts, 8 rails of NDR InfiniBand.

    Source: NVIDIA DGX SuperPOD reference architecture RA-11333-001 (DGX H100), and the table of fabric sizes of its
    successor, docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-b200: 4 units have 128
    hosts, 32 leaves, 16 spines, 1,024 cables from hosts and 1,024 between leaves and spines. One host fewer where a
    UFM appliance takes its place. The RDMA devices of the compute ports: DGX H100/H200 User Guide, network ports.
    Chosen here: 4 hosts a rack.
    """
    return _numbers(
        128, 8, pods=4, spines=16, uplinks=32, platform="infiniband", nics="mlx5_[0,3-6,9-11]", hosts_per_rack=4
    )


def gb200_nvl72() -> Numbers:
    """GB200 NVL72: 8 racks of 18 compute trays, 4 rails of NDR InfiniBand.

    Source: DGX SuperPOD GB200 reference architecture
    (docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-gb200, network fabrics): a scalable
    unit is 8 racks, a rack 18 compute trays, a tray 4 GPUs with 400 Gb/s each, and the fabric is aligned to rails.
    Chosen here, because switches of 64 ports take one rack's 18 trays and as many uplinks: a leaf for each rail of a
    rack, and 9 spines that 32 leaves fill. NVLink is not part of the plan.
    """
    return _numbers(144, 4, pods=8, spines=9, uplinks=18, platform="infiniband", nics="mlx5_[0-3]", hosts_per_rack=18)


def hpn_dual_plane() -> Numbers:
    """Alibaba HPN: 2 segments of 128 hosts, 8 rails, 2 ports of 200G a NIC on 2 planes.

    Source: Alibaba HPN: A Data Center Network for Large Language Model Training, SIGCOMM 2024,
    doi.org/10.1145/3651890.3672265: a switch of 51.2 Tb/s has 128 ports of 200 Gb/s to hosts, 8 for spare hosts, and 60
    uplinks of 400 Gb/s, which is 1.07:1; a pod has up to 15 segments; switches above belong to one plane. Chosen here:
    2 segments, and as many switches above in each plane as a leaf has uplinks.
    """
    return _numbers(256, 8, pods=2, planes=2, spines=120, uplinks=60, speed_gbps=200, uplink_speed_gbps=400)


def mrc_8_plane() -> Numbers:
    """MRC: 256 hosts, 4 rails, NICs of 800G as 8 ports of 100G on 8 planes, packets sprayed.

    Source: Resilient AI Supercomputer Networking using MRC and SRv6, arxiv.org/abs/2605.04333: 8 planes of 100 Gb/s,
    two tiers, 131,072 NICs at most, which is 256 down of 512 ports. Chosen here: 256 hosts with 4 NICs, as a GB200 tray
    has, a leaf for each rail and plane, and 8 switches above in each plane, each with 32 cables to a leaf (256 switches
    with one cable each where the fabric is full).
    """
    return _numbers(256, 4, planes=8, spines=64, uplinks=256, speed_gbps=100, load_balancing="spray", split=8)


def spectrum_x() -> Numbers:
    """Spectrum-X: 64 hosts, 8 rails of 400G, ports of 800G split in two, adaptive routing.

    Source: NVIDIA's enterprise reference architecture for HGX (docs.nvidia.com/enterprise-reference-architectures
    /hgx-ai-factory-h100-h200-b200, network physical topologies): non-blocking, rail-optimized, one SuperNIC of 400 Gb/s
    for each GPU; SN5600: 64 ports of 800 Gb/s. Chosen here: 64 hosts, which fill a leaf's 64 half ports down, and 4
    spines, which 8 leaves with 16 half ports each fill.
    """
    return _numbers(64, 8, spines=4, uplinks=64, load_balancing="adaptive", split=2, hosts_per_rack=4)


def rail_only() -> Numbers:
    """Rail-only: 64 hosts, 8 rails, no spines; what changes rails goes over NVLink.

    Source: Rail-only: A Low-Cost High-Performance Network for Training LLMs with Trillion Parameters,
    arxiv.org/abs/2307.12169: rails are not connected with each other. Chosen here: 64 hosts on one switch a rail.
    """
    return _numbers(64, 8, spines=0, hosts_per_rack=4)


_ALL = (superpod_h100, gb200_nvl72, hpn_dual_plane, mrc_8_plane, spectrum_x, rail_only)
TEMPLATES: Final[Mapping[str, Callable[[], Numbers]]] = {of.__name__.replace("_", "-"): of for of in _ALL}


def summary(name: str) -> str:
    """A template in one line."""
    return (TEMPLATES[name].__doc__ or "").partition("\n")[0]


def from_template(name: str | None, changes: Mapping[str, Any]) -> str:
    """The YAML of a template with some numbers changed, of `new_plan`'s own numbers without a name. Other pods keep
    their size. Raises ValueError.
    """
    if name is None:
        return new_plan(**changes)
    if name not in TEMPLATES:
        raise ValueError(f"no template {name!r}{nearest(name, list(TEMPLATES))}")
    numbers = TEMPLATES[name]()
    if "pods" in changes and "hosts" not in changes:
        numbers["hosts"] = numbers["hosts"] // numbers.get("pods", 1) * changes["pods"]
    return new_plan(**{**numbers, "remark": summary(name), **changes})

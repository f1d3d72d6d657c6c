"""A starting plan: the YAML of a regular fabric, in which its owner enters the real names."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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

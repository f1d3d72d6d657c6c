"""Published designs as starting plans. Each docstring says what its source gives, and what is chosen here.

A template is numbers for `new_plan`; its first line is what `truerail plan new --list` shows.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from truerail.files.problems import nearest
from truerail.plans.starting import new_plan

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

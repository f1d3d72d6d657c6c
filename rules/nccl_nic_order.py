"""A job's ranks use NICs of other rails than those of their GPUs.

## Why it matters
GPU N should send through the NIC of rail N. Where NCCL counts the NICs of a host in another order than its peers do, or
a rank picks a distant NIC, its channels leave the rail, or its data crosses the CPU's sockets, although every cable is
right.

## How it is detected
In the job's log, by the index that NCCL gives each NIC, joined with the plan: index, RDMA device, planned port, rail.

- An index is on another planned rail than on most hosts of the job that list it (three or more).
- A rank that uses its own NIC (no PXN) uses one of another planned rail than its GPU's own, by the host's topology
  (`nvidia-smi topo -m`). A GPU that the topology shows near to no NIC is not evaluated.

An index is not a rail: NCCL counts the NICs that it finds, and hosts are compared with each other only.

## What to do
Move no cable. Compare `NCCL_IB_HCA`, the order of cards (NIC001), driver and udev rules with a host that is right.

## Decide
- `N of its indexes`: this host's list differs: NCCL_IB_HCA, another card order, or NICs that NCCL did not find.
- `although its own rail is another one`: look at the topology of the host (NIC001), at NCCL_NET_GDR_LEVEL, and at GPUs
  hidden in containers.

## False positives
A job with fewer GPUs than NICs, whose ranks use the NICs of idle GPUs as well.
"""

from rules._examples import Facts, nccl_lists, railed
from rules._jobs import SHOWN, device_words, evidence, job_of, rail_words, unknown_nics
from rules._links import majority
from truerail.analysis.nccl import End, NcclJob
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, GpuNicPath, RdmaLink, Severity
from truerail.model.columns import tally
from truerail.model.nccl_facts import NcclHop, NcclNic

_LEAST_HOSTS = 3
"""Hosts of which more than half must agree to be a majority, as for MTUs (LNK002)."""
_NVML_DIGITS = 3
"""A number in brackets with fewer digits is a GPU's; a PCI bus id has more, 3b000."""


@rule("JOB003", Severity.WARNING, [], cause=CauseKind.CONFIGURATION, first="where HOST")
def nccl_nic_order(round: Round) -> Findings:
    """Hosts of a job whose NICs are in another order."""
    job = job_of(round)
    indexes, usual = _by_index(job)
    misplaced = _misplaced(job)
    for host in sorted({*indexes, *misplaced}):
        name = job.names(host)
        parts = []
        if found := indexes.get(host):
            shown = [
                f"index {index} ({'+'.join(nic.devices)}) is {rail_words(rails)}, {rail_words(usual[index])} elsewhere"
                for index, (nic, rails) in sorted(found.items())[:SHOWN]
            ]
            parts.append(
                f"{len(found)} of its indexes are on other rails than on most hosts of the job: {', '.join(shown)}"
            )
        ends = misplaced.get(host, [])
        if ends:
            shown = [
                f"rank {end.rank} on GPU{_gpu(end)} uses {device_words(end)} ({rail_words(end.nic.planned_rails)})"
                for end in ends[:SHOWN]
            ]
            parts.append(f"{', '.join(shown)}, although its own rail is another one")
        facts = [nic for nic, _ in indexes.get(host, {}).values()] + [end.hop for end in ends]
        yield nccl_nic_order.found(
            name,
            summary=f"{name}: {'; '.join(parts)}",
            action=f"Move no cable. Compare NCCL_IB_HCA and the order of cards of {name} with a host that is right.",
            confidence=0.9,
            evidence=evidence(round, job, facts[:SHOWN]),
            detail=(
                ("indexes", tuple(sorted(indexes.get(host, {})))),
                ("ranks", tuple(sorted({end.rank for end in ends}))),
            ),
        )
    report_not_evaluated(unknown_nics(job))


def _by_index(job: NcclJob) -> tuple[dict[int, dict[int, tuple[NcclNic, frozenset[int]]]], dict[int, frozenset[int]]]:
    """By host the indexes on other planned rails than on most hosts; and the usual rails of each index."""
    rails: dict[tuple[int, int], tuple[NcclNic, frozenset[int]]] = {}
    several = set()
    for printed, devices in job.finder.listed():
        for index, listed in devices.items():
            nic = job.finder.nic(printed, listed)
            if nic.host >= 0 and nic.planned_rails:
                key = (nic.host, index)
                if rails.setdefault(key, (listed, nic.planned_rails))[1] != nic.planned_rails:
                    several.add(nic.host)  # its processes have lists of their own, and no order is the host's
    votes = tally((index, found) for (host, index), (_, found) in rails.items() if host not in several)
    most = {index: majority(counted, _LEAST_HOSTS) for index, counted in votes.items()}
    usual = {index: found for index, found in most.items() if found is not None}
    odd: dict[int, dict[int, tuple[NcclNic, frozenset[int]]]] = {}
    for (host, index), (listed, found) in rails.items():
        if host not in several and index in usual and found != usual[index]:
            odd.setdefault(host, {})[index] = (listed, found)
    return odd, usual


def _gpu(end: End) -> int | None:
    """The number of the GPU of an end, if the line has it and not a bus id."""
    text = end.hop.from_gpu if end.hop.direction == "send" else end.hop.to_gpu
    return int(text) if text is not None and text.isdecimal() and len(text) < _NVML_DIGITS else None


def _misplaced(job: NcclJob) -> dict[int, list[End]]:
    """By host one end for each rank that uses a NIC of another rail than its GPU's."""
    own = {
        host: (dict(alike.nearest), row.tolist())
        for alike in job.wiring.gpu_rails.alike()
        for host, row in zip(job.wiring.index.ports.device_of(alike.ports[:, 0]).tolist(), alike.ports, strict=True)
    }
    found: dict[int, dict[int, End]] = {}
    for end in job.ends:
        gpu, host = _gpu(end), end.nic.host
        nearest, ports = own.get(host, ({}, []))
        if gpu is None or end.hop.proxy_rank is not None or not end.nic.planned_rails or gpu not in nearest:
            continue
        near = job.nics.planned_rails(ports[nic] for nic in nearest[gpu])
        if near and not near & end.nic.planned_rails:
            found.setdefault(host, {}).setdefault(end.rank, end)
    return {host: list(ends.values()) for host, ends in found.items()}


PLAN = railed(3, rails=3, nic="mlx5_", port="p")


_RIGHT = (0, 1, 2)
_ALIKE = {f"gpu-{host}": nccl_lists(f"gpu-{host}", _RIGHT) for host in (1, 2, 3)}
_PATHS = [
    GpuNicPath(gpu, f"NIC{nic}", f"mlx5_{nic}", "PIX" if gpu == nic else "SYS") for gpu in range(3) for nic in range(3)
]


def _sends(nic: int, proxy: int | None = None) -> Facts:
    """Rank 0, on GPU0 of gpu-1, sends through a NIC."""
    hop = NcclHop("gpu-1", 0, 0, 0, 3, "send", "IB", nic, proxy, gdr=True, from_gpu="0", to_gpu="0")
    links = [RdmaLink(f"mlx5_{one}", 1, "ACTIVE", "LINK_UP", f"mlx5_{one}") for one in range(3)]
    return {"gpu-1": [*links, *_PATHS, *nccl_lists("gpu-1", _RIGHT), hop]}


EXAMPLES = {
    "One host of three lists its NICs in another order.": Case(
        _ALIKE | {"gpu-3": nccl_lists("gpu-3", (1, 0, 2))}, "gpu-3"
    ),
    "A rank on GPU0 sends through the NIC of rail 2.": Case(_sends(2), "gpu-1"),
    # Quiet:
    "All hosts list their NICs alike.": Case(_ALIKE),
    "All hosts list them in the same other order: that is NCCL's own.": Case(
        {f"gpu-{host}": nccl_lists(f"gpu-{host}", (2, 0, 1)) for host in (1, 2, 3)}
    ),
    "GPU0 sends through its own NIC.": Case(_sends(0)),
    "Rank 2 sends for rank 0 (PXN).": Case(_sends(2, proxy=2)),
}

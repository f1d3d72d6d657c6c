"""A NIC of a job works without GPUDirect RDMA, while most of the job's NICs work with it.

## Why it matters
Without GPUDirect RDMA every byte is copied through the host's memory: half the bandwidth, or less, on this NIC, and a
ring is as fast as its slowest hop.

## How it is detected
In the job's log: no connection over this NIC has `/GDRDMA`, and most NICs of the job have it. NICs over TCP are left
out, those are JOB006. Where no NIC of a job has it, the fabric or its cards may not be able to.

## What to do
Look at NIC004 for this host: nvidia-peermem or DMA-BUF, ACS, IOMMU. Then at the distance of GPU and NIC, and at
`NCCL_NET_GDR_LEVEL`.

## Decide
- `without GPUDirect RDMA`: `NCCL_DEBUG=INFO` prints `GPU Direct RDMA Disabled for HCA` with the reason at the begin.
- `NCCL_NET_GDR_LEVEL is`: the job limits GPUDirect RDMA to GPUs that are near enough: compare with the distance.

## False positives
A GPU that is farther from the NIC than NCCL_NET_GDR_LEVEL allows, on a host of another model.
"""

from rules._examples import Facts, nccl_lists, railed
from rules._jobs import MAJORITY, evidence, job_of, rail_words, spelled
from truerail.analysis.nccl import NcclJob
from truerail.analysis.nccl.ends import Nic
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import CauseKind, Finding, Severity
from truerail.model.nccl_facts import NcclHop, NcclSetting


@rule("JOB004", Severity.WARNING, [], cause=CauseKind.SLOW_HOST)
def gpudirect_off_in_job(round: Round) -> Findings:
    """NICs without GPUDirect RDMA where most have it."""
    job = job_of(round)
    used = {nic: counts for nic, counts in job.used.items() if nic.host >= 0 and nic.host not in job.over_sockets}
    with_it = [nic for nic, (_, direct) in used.items() if direct]
    if MAJORITY * len(with_it) <= len(used):
        return
    for nic, (count, direct) in used.items():
        if not direct:
            yield _finding(round, job, nic, count, f"{len(with_it)} of {len(used)}")


def _finding(round: Round, job: NcclJob, nic: Nic, count: int, others: str) -> Finding:
    hop = next(end.hop for end in job.ends if end.nic == nic)
    name = job.names(nic.host)
    subject = spelled(job, nic.ports[0]) if len(nic.ports) == 1 else name
    rails = f" ({rail_words(nic.planned_rails)})" if nic.planned_rails else ""
    levels = job.values("NET_GDR_LEVEL")
    level = f"; NCCL_NET_GDR_LEVEL is {'/'.join(sorted(levels))}" if levels else ""
    return gpudirect_off_in_job.found(
        subject,
        summary=f"{'+'.join(nic.devices) or f'device {nic.index}'} of {name}{rails} carries {count} ends of "
        f"connections of the job without GPUDirect RDMA; {others} NICs of the job have it{level}",
        action=f"Look why GPUDirect RDMA is off on {name}: nvidia-peermem or DMA-BUF, ACS, IOMMU (NIC004).",
        rail=next(iter(nic.planned_rails)) if len(nic.planned_rails) == 1 else None,
        confidence=0.9,
        evidence=evidence(round, job, (hop,)),
    )


PLAN = railed(2, rails=2, nic="mlx5_", port="p")


def _job(*without: tuple[str, int], net: str = "IB") -> Facts:
    """Two hosts, each sends over two NICs."""
    return {
        host: [
            *nccl_lists(host),
            *(NcclHop(host, nic, 0, nic, 2, "send", net, nic, None, gdr=(host, nic) not in without) for nic in (0, 1)),
        ]
        for host in ("gpu-1", "gpu-2")
    }


_LIMITED: Facts = {host: [*facts] for host, facts in _job(("gpu-2", 1)).items()}
_LIMITED["gpu-2"].append(NcclSetting("gpu-2", "NCCL_NET_GDR_LEVEL", "PIX"))

EXAMPLES = {
    "One NIC of four works without it.": Case(_job(("gpu-2", 1)), "gpu-2/mlx5_1"),
    "The job limits the distance of GPU and NIC.": Case(_LIMITED, "gpu-2/mlx5_1"),
    # Quiet:
    "All NICs work with it.": Case(_job()),
    "None works with it: the cards may not be able to.": Case(
        _job(("gpu-1", 0), ("gpu-1", 1), ("gpu-2", 0), ("gpu-2", 1))
    ),
}

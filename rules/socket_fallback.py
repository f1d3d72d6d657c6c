"""A job's host uses TCP sockets, where the plan has RDMA.

## Why it matters
NCCL falls back to TCP without an error: the host copies every byte through the kernel, often over the management
network, at a tenth of the speed, and the whole job waits for it.

## How it is detected
In the job's log: `Using network Socket`, or connections `via NET/Socket`. It is compared with the plan, whose NICs have
RDMA.

## What to do
Look at the begin of the host's log: `No device found`, `Failed to open libibverbs`, a plugin that was not found, or
`NCCL_IB_DISABLE=1`. Then at the host's RDMA ports and its container: /dev/infiniband, the plugin's path, limits.

## Decide
- `NCCL_IB_DISABLE`: the job itself switches RDMA off.
- `of its hosts`: some hosts of the job are affected: compare their drivers, containers and ports with the others'.
- `all hosts`: image, plugin or settings of the job.

## False positives
A job that is meant to use TCP, or tests of it.
"""

from collections.abc import Sequence

from rules._examples import railed
from rules._jobs import evidence, job_of
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import CauseKind, Severity
from truerail.model.nccl_facts import NcclHop, NcclNetwork, NcclSetting


@rule("JOB006", Severity.CRITICAL, [], cause=CauseKind.CONFIGURATION, first="where HOST")
def socket_fallback(round: Round) -> Findings:
    """Hosts of a job that use TCP."""
    job = job_of(round)
    hosts = job.over_sockets
    for host in sorted(hosts):
        name = job.names(host)
        printed = {text for text, code in job.host_of.items() if code == host}
        facts = [one for one in job.all(NcclNetwork) if one.host in printed and one.network == hosts[host]]
        shown = facts or [end.hop for end in job.ends if end.nic.host == host][:1]
        of = "all hosts of the job do" if len(hosts) == len(job.hosts) else f"{len(hosts)} of its hosts do"
        yield socket_fallback.found(
            name,
            summary=f"{name} uses TCP sockets for the job, not RDMA; {of}{_reason(printed, job.all(NcclSetting))}",
            action=f"Look at the RDMA devices, the plugin and the settings of the job on {name}.",
            expected="RDMA",
            observed="TCP",
            evidence=evidence(round, job, shown),
        )


def _reason(printed: set[str | None], settings: Sequence[NcclSetting]) -> str:
    named = [
        f"{one.name}={one.value}"
        for one in settings
        if one.host in printed and (one.name, one.value.lower()) in (("NCCL_IB_DISABLE", "1"), ("NCCL_NET", "socket"))
    ]
    return f"; {', '.join(named)} is set" if named else ""


PLAN = railed(2, nic="mlx5_", port="p")

EXAMPLES = {
    "One host falls back to TCP.": Case(
        {"gpu-1": [NcclNetwork("gpu-1", "IB")], "gpu-2": [NcclNetwork("gpu-2", "Socket")]}, "gpu-2"
    ),
    "The job switches RDMA off.": Case(
        {"gpu-1": [NcclSetting("gpu-1", "NCCL_IB_DISABLE", "1"), NcclHop("gpu-1", 0, 0, 0, 1, "send", "Socket", 0)]},
        "gpu-1",
    ),
    # Quiet:
    "All hosts use RDMA.": Case({host: [NcclNetwork(host, "IB")] for host in ("gpu-1", "gpu-2")}),
}

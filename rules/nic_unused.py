"""A planned NIC carries no connection of a job, while the job's other hosts use theirs on that rail.

## Why it matters
The job has one rail less on this host: its ranks share the other NICs, and the whole job runs at the pace of this host.

## How it is detected
In the job's log: no end of any connection is on this NIC; most hosts with as many ranks use theirs on its rail, and
this host uses others. NCCL leaves out NICs whose port is down, whose device it does not find, or that NCCL_IB_HCA
excludes.
Jobs with fewer channels than a host has rails, as in debug runs, are not evaluated, nor are hosts of whose NICs the
planned port is unknown. A log without the lines that Ray left out is not evaluated.

## What to do
Look whether NCCL lists the device (`NET/IB : Using`): if not, look at its port (NIC002, NIC003) and NCCL_IB_HCA; if it
does, compare the host's topology with its peers'.

## Decide
- `does not list it`: port down, device missing, or excluded by NCCL_IB_HCA.
- `lists it`: NCCL found it and chose others: another distance to the GPUs, or another speed.

## False positives
A job that uses some GPUs of a host only, and not those of this NIC's rail: hosts with equally many ranks may differ.
"""

from collections import Counter
from collections.abc import Iterator

from rules._examples import Facts
from rules._jobs import MAJORITY, evidence, job_of, spelled, unknown_nics
from truerail.analysis.nccl import NcclJob
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NotEvaluated, Severity
from truerail.model.nccl_facts import NcclHop, NcclNic

_LEAST_HOSTS = 2
"""Hosts that use the rail, beside the one that does not."""


@rule("JOB005", severity=Severity.WARNING, needs=[], cause=CauseKind.SLOW_HOST)
def nic_unused(round: Round) -> Iterator[Finding]:
    """Planned NICs that a job leaves out."""
    job = job_of(round)
    if job.values("DEDUP_LOGS"):
        raise InsufficientDataError(NotEvaluated("the log has not all connections: Ray left out lines of its workers"))
    index = job.wiring.index
    rail_of = {port: int(index.rail[cable]) for port, cable in job.nics.cable.items()}
    on_host: dict[int, set[int]] = {}
    for port in rail_of:
        on_host.setdefault(int(index.a_device[job.nics.cable[port]]), set()).add(port)
    blind = {nic.host for nic in job.unknown_nics} | set(job.over_sockets)
    channels = len({end.hop.channel for end in job.ends})
    hosts = [host for host in job.hosts if host not in blind and on_host.get(host, set()) & job.used_ports.keys()]
    rails = {host: {rail_of[port] for port in on_host[host] & job.used_ports.keys()} for host in hosts}
    for host in hosts:
        peers = [other for other in hosts if other != host and job.ranks_on.get(other) == job.ranks_on.get(host)]
        counted = Counter(rail for other in peers for rail in rails[other])
        for port in sorted(on_host[host] - job.used_ports.keys()):
            using = counted[rail_of[port]]
            enough = using >= _LEAST_HOSTS and MAJORITY * using > len(peers) and channels >= len(counted)
            if enough and rail_of[port] >= 0 and rail_of[port] not in rails[host]:
                yield _finding(round, job, host, port, f"{using} of {len(peers)}")
    report_not_evaluated(unknown_nics(job))


def _finding(round: Round, job: NcclJob, host: int, port: int, others: str) -> Finding:
    subject, name = spelled(job, port), job.names(host)
    printed = next(text for text, code in job.host_of.items() if code == host)
    listed = [
        nic
        for printed_by, devices in job.finder.listed()
        if printed_by == printed
        for nic in devices.values()
        if port in job.finder.nic(printed_by, nic).ports
    ]
    lists = any(printed_by == printed for printed_by, _ in job.finder.listed())
    why = "NCCL lists it" if listed else "NCCL does not list it" if lists else "the log has no list of NICs"
    hca = job.values("IB_HCA")
    setting = f"; NCCL_IB_HCA is {'/'.join(sorted(hca))[:200]}" if hca and not listed else ""
    hops = [end.hop for end in job.ends if end.nic.host == host][:1]
    return nic_unused.found(
        subject,
        summary=f"no connection of the job uses {subject}; {others} other hosts with as many ranks use that rail; "
        f"{why}{setting}",
        action=f"Look at port and device of {subject} (NIC002, NIC003), at NCCL_IB_HCA, and at the topology of {name}.",
        rail=job.wiring.index.plan.rail_of(subject),
        confidence=0.8,
        evidence=evidence(round, job, hops),
        detail=(("listed", bool(listed) if lists else None),),
    )


PLAN = "\n".join(f"gpu-{host}/mlx5_{rail} leaf-{rail}/p{host} rail={rail}" for host in (1, 2, 3) for rail in (0, 1))


def _job(*unused: tuple[int, int], listed: tuple[int, ...] = (0, 1)) -> Facts:
    """Three hosts, each sends over two NICs, but for the unused ones."""
    return {
        f"gpu-{host}": [
            *(
                NcclNic(f"gpu-{host}", nic, (f"mlx5_{nic}",), "RoCE")
                for nic in (listed if (host, 1) in unused else (0, 1))
            ),
            *(
                NcclHop(
                    f"gpu-{host}",
                    channel,
                    0,
                    rank,
                    9,
                    "send",
                    "IB",
                    0 if (host, nic) in unused else nic,
                    None,
                    gdr=True,
                )
                for channel, rank, nic in ((0, 2 * host, 0), (1, 2 * host + 1, 1))
            ),
        ]
        for host in (1, 2, 3)
    }


FIRES = (
    Case("One host of three leaves out a NIC that it lists.", facts=_job((3, 1)), finds="gpu-3/mlx5_1"),
    Case("One host of three does not find a NIC.", facts=_job((3, 1), listed=(0,)), finds="gpu-3/mlx5_1"),
)

QUIET = (
    Case("All hosts use both NICs.", facts=_job()),
    Case("All hosts leave it out.", facts=_job((1, 1), (2, 1), (3, 1))),
)

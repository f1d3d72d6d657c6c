"""A planned NIC carries no connection of a job, while the job's other hosts use theirs on that rail.

## Why it matters
The job has one rail less on this host: its ranks share the other NICs, and the whole job runs at the pace of this host.

## How it is detected
In the job's log: no end of any connection is on this NIC; most hosts with as many ranks use theirs on its rail, and
this host uses others; of two hosts, one does not list a device that the other uses. NCCL's own `Unable to open device`
names the host that lacks it. It leaves out NICs whose port is down, whose device it does not find, or that NCCL_IB_HCA
excludes.
Jobs with fewer channels than a host has rails, as in debug runs, are not evaluated, nor are hosts of whose NICs the
planned port is unknown. A log without the lines that Ray left out is not evaluated.

## What to do
Look whether NCCL lists the device (`NET/IB : Using`): if not, look at its port (NIC002, NIC003) and NCCL_IB_HCA; if it
does, compare the host's topology with its peers'.

## Decide
- `cannot open`: the device is there and cannot be used: driver, container, or its namespace.
- `does not list it`: port down, device missing, or excluded by NCCL_IB_HCA.
- `lists it`: NCCL found it and chose others: another distance to the GPUs, or another speed.

## False positives
A job that uses some GPUs of a host only, and not those of this NIC's rail: hosts with equally many ranks may differ.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from rules._examples import Facts, nccl_lists, railed
from rules._jobs import MAJORITY, evidence, job_of, spelled, unknown_nics
from truerail.analysis.nccl import NcclJob
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NotEvaluated, RdmaLink, Severity
from truerail.model.columns import NONE, grouped
from truerail.model.nccl_facts import NcclHop, NcclNic, NcclTrouble

_LEAST_HOSTS = 2
"""Hosts that use the rail, beside the one that does not."""


@rule("JOB005", Severity.WARNING, [], cause=CauseKind.SLOW_HOST)
def nic_unused(round: Round) -> Findings:
    """Planned NICs that a job leaves out."""
    job = job_of(round)
    if job.values("DEDUP_LOGS"):
        raise InsufficientDataError(NotEvaluated("the log has not all connections: Ray left out lines of its workers"))
    index = job.wiring.index
    rail_of = {port: int(index.rail[cable]) for port, cable in job.nics.cable.items()}
    on_host = grouped((int(index.a_device[cable]), port) for port, cable in job.nics.cable.items())
    blind = {nic.host for nic in job.unknown_nics} | set(job.over_sockets)
    channels = len({end.hop.channel for end in job.ends})
    hosts = [host for host in job.hosts if host not in blind and job.used_ports.keys() & on_host.get(host, [])]
    rails = {host: {rail_of[port] for port in job.used_ports.keys() & on_host[host]} for host in hosts}
    lacking = dict(_lacking(job, rail_of))
    for port, trouble in lacking.items():
        yield _cannot_open(round, job, port, trouble)
    for host in hosts:
        peers = [other for other in hosts if other != host and job.ranks_on.get(other) == job.ranks_on.get(host)]
        counted = Counter(rail for other in peers for rail in rails[other])
        for port in sorted({*on_host[host]} - job.used_ports.keys()):
            using = counted[rail_of[port]]
            alone = len(peers) == 1 and _listing(job, host, port) == (True, [])  # of two hosts, one does not find it
            most = using >= (1 if alone else _LEAST_HOSTS) and MAJORITY * using > len(peers)
            enough = most and channels >= len(counted)
            if port not in lacking and enough and rail_of[port] >= 0 and rail_of[port] not in rails[host]:
                yield _finding(round, job, host, port, f"{using} of {len(peers)}")
    report_not_evaluated(unknown_nics(job))


def _listing(job: NcclJob, host: int, port: int) -> tuple[bool, list[NcclNic]]:
    """Whether the log has a host's list of devices, and those of them that are a port."""
    lists = [(name, found) for name, found in job.finder.listed() if job.host_of.get(name) == host]
    devices = [(name, nic) for name, found in lists for nic in found.values()]
    return bool(lists), [nic for name, nic in devices if port in job.finder.nic(name, nic).ports]


def _lacking(job: NcclJob, rail_of: Mapping[int, int]) -> Iterator[tuple[int, NcclTrouble]]:
    """The planned ports whose device NCCL could not open: by its name there, else by its rail on the other hosts."""
    index = job.wiring.index
    for trouble in (one for one in job.all(NcclTrouble) if one.kind == "no device" and one.device):
        host, name = job.host_of.get(trouble.host, NONE), (str(trouble.device),)
        ports = job.nics.of(host, name)
        elsewhere = {rail_of[port] for other in job.hosts for port in job.nics.of(other, name) if port in rail_of}
        if not ports and len(elsewhere) == 1:
            own = (port for port, cable in job.nics.cable.items() if int(index.a_device[cable]) == host)
            ports = tuple(port for port in own if rail_of[port] in elsewhere)
        yield from ((port, trouble) for port in ports)


def _cannot_open(round: Round, job: NcclJob, port: int, trouble: NcclTrouble) -> Finding:
    subject = spelled(job, port)
    return nic_unused.found(
        subject,
        severity=Severity.CRITICAL,
        summary=f"NCCL cannot open {trouble.device} of {subject}: ranks of {subject.device} go without it",
        action=f"Check it on {subject.device}: `ibv_devices`, its driver, and /dev/infiniband in the container.",
        rail=job.wiring.index.plan.rail_of(subject),
        confidence=0.95,
        evidence=evidence(round, job, [trouble]),
        detail=(("device", trouble.device),),
    )


def _finding(round: Round, job: NcclJob, host: int, port: int, others: str) -> Finding:
    subject, name = spelled(job, port), job.names(host)
    lists, listed = _listing(job, host, port)
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


PLAN = railed(3, rails=2, nic="mlx5_", port="p")


def _job(*unused: tuple[int, int], listed: tuple[int, ...] = (0, 1)) -> Facts:
    """Three hosts, each sends over two NICs, but for the unused ones."""
    return {
        f"gpu-{host}": [
            *nccl_lists(f"gpu-{host}", listed if (host, 1) in unused else (0, 1)),
            *(
                NcclHop(f"gpu-{host}", channel, 0, rank, 9, "send", "IB", 0 if (host, nic) in unused else nic, gdr=True)
                for channel, rank, nic in ((0, 2 * host, 0), (1, 2 * host + 1, 1))
            ),
        ]
        for host in (1, 2, 3)
    }


_FIRST, _SECOND = (NcclHop(f"gpu-{rank + 1}", 0, 0, rank, 1 - rank, "send", "IB", 0) for rank in (0, 1))

EXAMPLES = {
    "One host of three leaves out a NIC that it lists.": Case(_job((3, 1)), "gpu-3/mlx5_1"),
    "Of two hosts one does not find a NIC.": Case(
        {host: facts for host, facts in _job((2, 1), listed=(0,)).items() if host != "gpu-3"}, "gpu-2/mlx5_1"
    ),
    "NCCL says which device it cannot open.": Case(
        {"gpu-1": [NcclTrouble("gpu-1", "no device", "mlx5_1"), _FIRST], "gpu-2": [_SECOND]}, "gpu-1/mlx5_1"
    ),
    "It lacks the device by the name that the others have on that rail.": Case(
        {
            "gpu-1": [NcclTrouble("gpu-1", "no device", "erdma_1"), _FIRST],
            "gpu-2": [RdmaLink("erdma_1", 1, "ACTIVE", "LINK_UP", "mlx5_1"), _SECOND],
        },
        "gpu-1/mlx5_1",
    ),
    "One host of three does not find a NIC.": Case(_job((3, 1), listed=(0,)), "gpu-3/mlx5_1"),
    # Quiet:
    "All hosts use both NICs.": Case(_job()),
    "It cannot open a device of no rail.": Case(
        {**_job(), "gpu-1": [*_job()["gpu-1"], NcclTrouble("gpu-1", "no device", "erdma_9")]}
    ),
    "All hosts leave it out.": Case(_job((1, 1), (2, 1), (3, 1))),
}

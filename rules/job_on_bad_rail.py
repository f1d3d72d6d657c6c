"""A running job has hosts on which a fault of the network lies.

## Why it matters
A synchronous job is as fast as its slowest rank: one host whose rail is lost, slow or on a wrong leaf holds up every
GPU of the job, and each hour of it costs all of them.

## How it is detected
A scheduler reports which job runs on which hosts, and a cause affects cables of these hosts, or the hosts themselves.
One finding for each job and cause; it has the cause's severity and ends with the job. Causes that say that something
is intended, or a matter of names only, affect no job. Whether a job is affected is unknown on hosts that are not read,
and where swapped cables explain what is seen as well as swapped names.

## What to do
Repair the cause. Until then let no new job start on these hosts; whether this one is worth a restart elsewhere is for
its owner: `truerail job ID` has the GPU-hours so far.

## Decide
- `is affected`: the lines below it name the causes, their hosts and what they cost. Repair the first one first.
- `GPU-hours unknown`: the scheduler reports no GPUs, or it is not known since when the cause lasts.
  Where the first line says that a scheduler does not answer, its jobs are those of its last answer.

## False positives
A job that does not use the network, and one that has ended since its scheduler answered last.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from rules._examples import Facts, down, hears, railed, undecided
from rules._jobs import away, jobs_of, listed, subject_of, words_of
from truerail.analysis.explained import AFFECTED_BY, DeviceCables, Explained
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.analysis.running_jobs import RunningJob
from truerail.model import Cause, Finding, NotEvaluated, PodOfJob, SchedulerJob, Severity
from truerail.model.columns import Codes, grouped
from truerail.model.names import printable


@rule("JOB001", Severity.CRITICAL, [], first="jobs", after_causes=True)
def job_on_bad_rail(explained: Explained) -> Findings:
    """Jobs with hosts that a cause affects."""
    jobs = jobs_of(explained.round)
    devices = explained.round.cabling.index.devices
    on_host = grouped((host, job) for job in jobs.running for host in job.hosts)
    for key, hosts in explained.hosts_affected.items():
        hit: dict[int, tuple[RunningJob, list[str]]] = {}
        for code in hosts.tolist():
            for job in on_host.get(devices.names[code], ()):
                hit.setdefault(id(job), (job, []))[1].append(devices.names[code])
        for job, names in hit.values():
            yield _finding(explained, job, explained.by_key[key], names)
    report_not_evaluated((*away(jobs), *_in_doubt(explained, on_host)))


def _in_doubt(explained: Explained, on_host: Mapping[str, list[RunningJob]]) -> Iterator[NotEvaluated]:
    """The jobs with hosts of which it is unknown whether a cause affects them."""
    names = explained.round.cabling.index.devices.names
    hosts = [name for code in sorted(explained.hosts_in_doubt) if (name := names[code]) in on_host]
    jobs = {id(job): job for host in hosts for job in on_host[host]}
    if jobs:
        first = words_of(next(iter(jobs.values()))) if len(jobs) == 1 else f"{len(jobs):,} jobs"
        why = f"{first} on {listed(hosts)}: not read, or it is undecided whether cables or names are swapped there"
        of = len(explained.round.jobs.running)
        yield NotEvaluated(why, "job", len(jobs), of, tuple(hosts), rest_evaluated=True)


def _finding(explained: Explained, job: RunningJob, cause: Cause, names: list[str]) -> Finding:
    index = explained.round.cabling.index
    cables = explained.affected[cause.key]
    hosts = [index.devices.find(name) for name in names]
    rails = sorted({int(rail) for rail in index.rail[cables[np.isin(index.a_device[cables], hosts)]].tolist()} - {-1})
    on = f", rail{'s' if len(rails) > 1 else ''} {', '.join(map(str, rails))}" if rails else ""
    part = f", {len(names):,} of its {job.nodes:,} hosts," if job.nodes > 1 else ""
    place = f"{cause.kind.value.replace('-', ' ')} at {printable(listed(list(cause.subjects)), 120)}"
    return job_on_bad_rail.found(
        subject_of(job, cause.key),
        summary=f"{words_of(job)} runs on {listed(names)}{part} with a {place}{on}",
        action=cause.action or f"Repair the {place}.",
        severity=explained.severity(cause),
        rail=rails[0] if len(rails) == 1 else None,
        confidence=cause.confidence,
        detail=(
            (AFFECTED_BY, cause.key),
            ("job", job.key),
            ("scheduler", job.scheduler),
            ("hosts", tuple(names)),
            ("gpus_by_rail", _gpus_by_rail(explained.round, job, cables, hosts)),
        ),
    )


def _gpus_by_rail(round: Round, job: RunningJob, cables: Codes, hosts: list[int]) -> tuple[tuple[int, float], ...]:
    """By rail the job's GPUs on the hosts whose cable the cause affects there, a host's GPUs shared evenly among its
    rails; nothing where the scheduler reports no GPUs.
    """
    each, index = job.gpus_on_a_node, round.cabling.index
    if each is None:
        return ()
    found: dict[int, float] = {}
    for host in hosts:
        own = round.plan.once(DeviceCables).at(index.devices.names[host])
        rails = {*index.rail[own].tolist()} - {-1}
        for rail in {*index.rail[cables[index.a_device[cables] == host]].tolist()} - {-1}:
            found[rail] = found.get(rail, 0.0) + each / len(rails)
    return tuple(sorted(found.items()))


PLAN = railed(3, rails=2)


def _seen(*dark: str) -> Facts:
    """What hosts report: the first NIC of those that are named has no link."""
    return {
        host: [
            down(f"nic{rail}") if host in dark and rail == 0 else hears(f"nic{rail}", f"leaf-{rail}/swp{host[-1]}")
            for rail in (0, 1)
        ]
        for host in ("gpu-1", "gpu-2", "gpu-3")
    }


def _job(job: str, *nodes: str, state: str = "RUNNING") -> SchedulerJob:
    return SchedulerJob(job, int(job), "llama", "ann", state, nodes, 8 * len(nodes), 1763640000)


_CAUSE = "351d1031dc00"
"""The key of the link that is down at gpu-1."""
_CROSSED = [hears("nic1", "leaf-0/swp1"), hears("nic0", "leaf-1/swp1")]

EXAMPLES = {
    "A NIC of one of the job's hosts has no link.": Case(
        _seen("gpu-1") | {"slurm": [_job("7", "gpu-1", "gpu-2"), _job("8", "gpu-3")]}, f"slurm/7@{_CAUSE}"
    ),
    "A job of Kubernetes runs there.": Case(
        _seen("gpu-1") | {"kubernetes": [PodOfJob("ml/llama", "JobSet", "llama-0", "gpu-1", "Running", 8, 0)]},
        f"kubernetes/ml/llama@{_CAUSE}",
    ),
    # Quiet:
    "The job runs on other hosts.": Case(
        _seen("gpu-1") | {"slurm": [_job("7", "gpu-2", "gpu-3"), _job("8", "gpu-1", state="COMPLETED")]}
    ),
    "Every link is up.": Case(_seen() | {"slurm": [_job("7", "gpu-1", "gpu-2")]}),
    "No scheduler is asked.": Case(_seen("gpu-1")),
    "The scheduler has never answered.": undecided(_seen("gpu-1"), errors={"slurm": "timed out"}),
    "A host of the job is not read.": undecided(
        {"gpu-2": _seen()["gpu-2"], "gpu-3": _seen()["gpu-3"], "slurm": [_job("7", "gpu-1", "gpu-2")]},
        errors={"gpu-1": "timed out"},
    ),
    "Two cables of the job's host are swapped, or its NICs are named in the other order.": undecided(
        _seen() | {"gpu-1": _CROSSED, "slurm": [_job("7", "gpu-1", "gpu-2"), _job("8", "gpu-3")]}
    ),
}

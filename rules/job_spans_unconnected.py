"""The hosts of a running job have no common way on a rail.

## Why it matters
NCCL connects GPUs of one rail with each other over that rail. Where some of a job's hosts are on leaves that no uplinks
join to those of the others, their connections time out, or go over another rail where the fabric has a way there.

## How it is detected
A scheduler reports which job runs on which hosts. Two leaves reach each other over uplinks that are seen, or whose
state is unknown: only where not even these join them, the hosts are apart. Cables in unknown state and cables without
a link are left out: what is lost there has a finding of its own.

## What to do
Where an uplink or a host's cable is not where it belongs, repair it: the finding on it says how. Where the plan itself
has no way, as between the pods of a rail-only fabric, the scheduler must not place one job on both:
`truerail export topology` has the groups that reach each other.

## Decide
- `no way to its other N hosts`: the plan has no way. Give the scheduler the right topology: `truerail export topology`.
- `GPU-hours unknown`: what it costs is not counted: whether the job runs at all like this is not known. A cause that
  affects the job as well is listed below it: repair that first.

## False positives
A job that has several communicators, each within one group. Uplinks that the plan does not have.
"""

import numpy as np

from rules._examples import Facts, hears
from rules._jobs import away, jobs_of, listed, subject_of, words_of
from truerail.analysis.cabling import State, Wiring
from truerail.analysis.explained import AFFECTED_BY, DeviceCables, Explained
from truerail.analysis.rule import Case, Findings, report_not_evaluated, rule
from truerail.analysis.running_jobs import RunningJob
from truerail.model import Finding, SchedulerJob, Severity
from truerail.model.columns import Codes, distinct

_SPARE = -1


@rule("JOB009", Severity.CRITICAL, [], first="jobs", after_causes=True)
def job_spans_unconnected(explained: Explained) -> Findings:
    """Jobs of which some hosts cannot reach the others on a rail."""
    jobs = jobs_of(explained.round)
    part = _parts(explained)
    for job in jobs.running:
        if len(job.hosts) > 1 and (found := _apart(explained.round.cabling, part, job)):
            yield _finding(explained, job, found)
    report_not_evaluated(away(jobs))


def _parts(explained: Explained) -> Codes:
    """The connected part in which each host cable ends; -1 where that is unknown or nowhere. Shape (cables,)."""
    wiring, ends = explained.round.cabling, explained.ends
    known = wiring.index.from_host & (wiring.state != State.UNKNOWN) & (ends >= 0)
    return np.where(known, np.append(explained.parts, _SPARE)[ends], _SPARE)


def _apart(wiring: Wiring, part: Codes, job: RunningJob) -> dict[int, list[str]]:
    """By rail, the hosts that have no way to most of the others."""
    index, of = wiring.index, wiring.index.plan.once(DeviceCables)
    cables = np.concatenate([of.at(host) for host in job.hosts])
    cables = cables[(index.rail[cables] >= 0) & (part[cables] >= 0)]
    if len(distinct(part[cables])) < 2:
        return {}
    found: dict[int, list[str]] = {}
    for rail in distinct(index.rail[cables]).tolist():
        own = cables[index.rail[cables] == rail]
        pairs = np.unique(np.stack([part[own], index.a_device[own]]), axis=1)
        groups, sizes = np.unique(pairs[0], return_counts=True)
        most = set(pairs[1][pairs[0] == groups[np.argmax(sizes)]].tolist())
        rest = sorted({*index.a_device[own].tolist()} - most)
        if rest:
            found[rail] = [index.devices.names[host] for host in rest]
    return found


def _finding(explained: Explained, job: RunningJob, apart: dict[int, list[str]]) -> Finding:
    index = explained.round.cabling.index
    hosts = sorted({host for found in apart.values() for host in found})
    rails = sorted(apart)
    on = f"rail{'s' if len(rails) > 1 else ''} {', '.join(map(str, rails))}"
    verb = "has" if len(hosts) == 1 else "have"
    codes = [index.devices.find(host) for host in job.hosts]
    causes = [
        key
        for key, affected in explained.affected.items()
        if np.isin(index.a_device[affected], codes).any() and np.isin(index.rail[affected], rails).any()
    ]
    return job_spans_unconnected.found(
        subject_of(job, "rails"),
        summary=f"{listed(hosts)} of {words_of(job)} {verb} no way to its other {len(job.hosts) - len(hosts):,} hosts "
        f"on {on}: no uplinks join their leaves",
        action="Repair the cables between them, or place the job on hosts that reach each other "
        "(truerail export topology).",
        rail=rails[0] if len(rails) == 1 else None,
        confidence=0.9,
        detail=(
            *(((AFFECTED_BY, causes[0]),) if causes else ()),
            ("job", job.key),
            ("scheduler", job.scheduler),
            ("hosts", tuple(hosts)),
        ),
    )


PLAN = "\n".join(
    f"gpu-{host}/nic{rail} leaf-{rail + 2 * (host > 2)}/swp{host} rail={rail}" for host in (1, 2, 3) for rail in (0, 1)
)
_JOINED = PLAN + "".join(f"\nleaf-{leaf}/up spine-1/p{leaf}" for leaf in range(4))


def _seen(job: tuple[str, ...], *unlinked: str) -> Facts:
    """Every cable of a host is where it is planned, without those of hosts that are named."""
    found: Facts = {
        f"gpu-{host}": [
            hears(f"nic{rail}", f"leaf-{rail + 2 * (host > 2)}/swp{host}")
            for rail in (0, 1)
            if f"gpu-{host}" not in unlinked
        ]
        for host in (1, 2, 3)
    }
    return found | {"slurm": [SchedulerJob("7", 7, "llama", "ann", "RUNNING", job, 8 * len(job), 1763640000)]}


_ALL = ("gpu-1", "gpu-2", "gpu-3")

EXAMPLES = {
    "The plan has no way between the leaves.": Case(_seen(_ALL), "slurm/7@rails"),
    # Quiet:
    "Spines join the leaves.": Case(_seen(_ALL), plan=_JOINED),
    "All hosts of the job are on the same leaves.": Case(_seen(("gpu-1", "gpu-2"))),
    "A job of one host.": Case(_seen(("gpu-3",))),
    "The third host's cables were not seen.": Case(_seen(_ALL, "gpu-3")),
    "No scheduler is asked.": Case({"gpu-1": []}),
    "The scheduler has never answered.": Case(unknown=True, errors={"slurm": "timed out"}),
}

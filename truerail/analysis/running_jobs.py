"""The jobs that run on the fabric's hosts, as schedulers report them.

A scheduler that does not answer leaves its jobs as they were when it last did: they are shown with that time, and are
never taken for ended.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from truerail.model.columns import grouped
from truerail.model.index import Devices
from truerail.model.job_facts import PodOfJob, SchedulerJob
from truerail.model.reading import Reading
from truerail.model.snapshot import Snapshot

SCHEDULERS: Mapping[str, str] = {"slurm_jobs": "slurm", "k8s_pods": "kubernetes", "reported_jobs": "other"}
"""The scheduler behind each collector of jobs."""
RUNNING = frozenset(("RUNNING", "COMPLETING"))
"""States of jobs that hold their nodes."""
_STEP = re.compile(r"([0-9]{1,20}(?:_[0-9]{1,10})?)(?:\+[0-9]{1,5})?(?:\.(?:[0-9]{1,10}|batch|extern|interactive))?")


@dataclass(frozen=True, slots=True)
class RunningJob:
    """One job. `hosts` are the plan's names in the order of the scheduler, `unplanned` nodes that the plan does not
    have. `gpus` are those on all its nodes, None where the scheduler does not say. Times are seconds since 1970.
    """

    key: str
    """What its users call it: `1234`, `324_5`, `ml/llama`. Unique among the jobs of a scheduler."""
    scheduler: str
    source: str
    """The machine that reported it."""
    name: str = ""
    user: str = ""
    hosts: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()
    gpus: int | None = None
    start_at: int | None = None
    end_at: int | None = None
    ids: tuple[str, ...] = ()
    """Other numbers that name it: those of its records, and that of its array."""

    @property
    def nodes(self) -> int:
        """The number of its nodes."""
        return len(self.hosts) + len(self.unplanned)

    @property
    def gpus_on_a_node(self) -> float | None:
        """GPUs on each node, all nodes alike; None where the scheduler does not say."""
        return None if self.gpus is None or not self.nodes else self.gpus / self.nodes


@dataclass(frozen=True, slots=True)
class JobSource:
    """One scheduler: when it last answered (None: never), and why it does not now."""

    name: str
    scheduler: str
    at: datetime | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Jobs:
    """The running jobs of all schedulers that are polled. Without a source nothing is known of jobs."""

    running: tuple[RunningJob, ...] = ()
    sources: tuple[JobSource, ...] = ()
    show_users: bool = True
    show_names: bool = True

    @property
    def known(self) -> bool:
        """Whether every scheduler has answered at least once."""
        return bool(self.sources) and all(source.at is not None for source in self.sources)

    @property
    def away(self) -> tuple[JobSource, ...]:
        """The schedulers that do not answer now."""
        return tuple(source for source in self.sources if source.error)

    def named(self, asked: str) -> tuple[RunningJob, ...]:
        """The jobs with this key, `SOURCE:KEY` where several schedulers have it; else with this id, or of the array
        with it; else with this name, or of this user; else the job of this step or component.
        """
        called = [(job, names_of(job)) for job in self.running]
        for place in range(4):
            if found := tuple(job for job, names in called if asked in names[place]):
                return found
        whole = without_step(asked)
        return self.named(whole) if whole != asked else ()


def without_step(asked: str) -> str:
    """The id of a job of Slurm without its step (`123.0`, `123.batch`) and its component (`123+1`); other text as it
    is (srun(1), "heterogeneous job steps").
    """
    found = _STEP.fullmatch(asked)
    return found[1] if found else asked


def names_of(job: RunningJob) -> Sequence[tuple[str, ...]]:
    """Its keys, ids, names and user: what it is called, the surest first."""
    names = (job.name, job.key.partition("/")[2]) if job.scheduler == "kubernetes" else (job.name,)
    return (job.key, f"{job.source}:{job.key}"), job.ids, names, (job.user,)


def jobs_of(devices: Devices, snapshot: Snapshot, before: Jobs | None = None) -> Jobs:
    """The jobs of a snapshot; those of a scheduler that did not answer are the ones `before`."""
    before = before or Jobs()
    known = {source.name: source for source in before.sources}
    running: list[RunningJob] = []
    sources: list[JobSource] = []
    for reading in snapshot.readings:
        scheduler = SCHEDULERS.get(reading.collector)
        if scheduler is None:
            continue
        if reading.error:
            last = known.get(reading.device)
            sources.append(JobSource(reading.device, scheduler, last.at if last else None, reading.error))
            running += (job for job in before.running if job.source == reading.device)
        else:
            sources.append(JobSource(reading.device, scheduler, reading.at))
            found = _pods(reading, devices) if scheduler == "kubernetes" else _records(reading, scheduler, devices)
            running += (_shown(job, before) for job in found)
    return replace(before, running=_once(running), sources=tuple(sources))


def _once(running: Sequence[RunningJob]) -> tuple[RunningJob, ...]:
    """Each job once: one that a site reports by itself, and that its scheduler also reports when it is asked, is the
    scheduler's.
    """
    asked: dict[str, set[str]] = {}
    for job in running:
        if job.scheduler != "other":
            asked.setdefault(job.key, set()).update(job.hosts)
    return tuple(job for job in running if job.scheduler != "other" or asked.get(job.key, set()).isdisjoint(job.hosts))


def settled(jobs: Jobs, show_users: bool, show_names: bool, other: Collection[str] = ()) -> Jobs:
    """The jobs under other settings: without those of `other` schedulers, which are now other machines."""
    how = Jobs((), tuple(one for one in jobs.sources if one.name not in other), show_users, show_names)
    return replace(how, running=tuple(_shown(job, how) for job in jobs.running if job.source not in other))


def _shown(job: RunningJob, how: Jobs) -> RunningJob:
    """A job without what the settings keep to themselves."""
    if how.show_users and how.show_names:
        return job
    return replace(job, user=job.user if how.show_users else "", name=job.name if how.show_names else "")


def _records(reading: Reading, scheduler: str, devices: Devices) -> Iterator[RunningJob]:
    """Records as jobs: the components of a heterogeneous job are one. Where one answer has different records of one
    name, as that of a federation may, the job has the nodes of all, and its GPUs are unknown.
    """
    facts = (fact for fact in reading.facts if isinstance(fact, SchedulerJob) and fact.nodes)
    running = (fact for fact in facts if not RUNNING.isdisjoint(fact.state.split("+")))
    for key, repeated in grouped((fact.job.partition("+")[0], fact) for fact in running if fact.job).items():
        records = list(dict.fromkeys(repeated))
        nodes = dict.fromkeys(node for record in records for node in record.nodes)
        alone = len({record.job for record in records}) == len(records)
        gpus = _total([record.gpus if alone else None for record in records])
        start = min((record.start_at for record in records if record.start_at is not None), default=None)
        ends = [record.end_at for record in records if record.end_at is not None]
        end = max(ends) if len(ends) == len(records) else None
        array = key.partition("_")[0]
        numbers = [str(record.job_id) for record in records if record.job_id is not None]
        ids = tuple(dict.fromkeys((array, *(number for number in numbers if array == key or number != array))))
        shown = records[0].name or "", records[0].user or ""
        yield RunningJob(key, scheduler, reading.device, *shown, *_placed(nodes, devices), gpus, start, end, ids)


def _pods(reading: Reading, devices: Devices) -> Iterator[RunningJob]:
    running = (fact for fact in reading.facts if isinstance(fact, PodOfJob) and fact.node and fact.phase == "Running")
    for key, pods in grouped((fact.job, fact) for fact in running).items():
        nodes = dict.fromkeys(pod.node for pod in pods if pod.node)
        where, gpus = _placed(nodes, devices), _total([pod.gpus for pod in pods])
        yield RunningJob(key, "kubernetes", reading.device, key.partition("/")[2], "", *where, gpus)


def _total(counts: Sequence[int | None]) -> int | None:
    return None if None in counts else sum(count for count in counts if count is not None)


def _placed(nodes: Mapping[str, None], devices: Devices) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The plan's names of nodes, and the nodes that the plan does not have."""
    hosts: dict[str, None] = {}
    unplanned: list[str] = []
    for node in nodes:
        code = devices.find(node)
        if 0 <= code < devices.planned and devices.is_host(code):
            hosts[devices.names[code]] = None
        else:
            unplanned.append(node)
    return tuple(hosts), tuple(unplanned)

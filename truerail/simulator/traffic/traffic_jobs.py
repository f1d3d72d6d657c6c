"""Jobs on the hosts: training jobs and their traffic, in iterations of computing and communicating."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from random import Random

GROUP_HOSTS = 16
"""Hosts that exchange data all-to-all, like groups of experts; a larger job has several such groups."""

EXPERT_FLOWS = 250
"""Approximate number of sending queue pairs of an expert's NIC in the demo."""


class Pattern(StrEnum):
    """Traffic patterns. All except `pipeline` and `storage` load all the rails that they use."""

    RING = "ring"
    """All-reduce: on each rail every host sends to the next one."""
    ALL_TO_ALL = "all-to-all"
    """On each rail every host sends to all others of its group."""
    ANY_TO_ANY = "any-to-any"
    """Every GPU sends to the GPUs of all other hosts of its group on every rail (all-to-all without PXN): most of it
    crosses the spines, even in one pod.
    """
    PIPELINE = "pipeline"
    """Stages: each host sends to the next, on few rails. Uneven by design."""
    PXN = "pxn"
    """All-to-all after data moved over NVLink to the GPU on its target's rail: some rails of all hosts carry more."""
    STORAGE = "storage"
    """Hosts write to the last few of them: an incast."""


@dataclass(frozen=True, slots=True)
class Job:
    """One job. `hosts` and `slots` are planned names and numbers of NIC ports; it runs from `begins` until `ends`, in
    seconds of the simulation.

    Each iteration computes for `compute_seconds` and then sends `gigabytes` over each NIC. `weights` are the relative
    traffic of each slot, if uneven. `coupling` is the degree to which all wait for the slowest: 1 is a synchronous
    collective, at 0 every flow has its own pace.
    """

    name: str
    hosts: tuple[str, ...]
    pattern: Pattern = Pattern.RING
    slots: tuple[int, ...] = tuple(range(8))
    weights: tuple[float, ...] = ()
    qps: int = 4
    gigabytes: float = 8.0
    compute_seconds: float = 0.15
    coupling: float = 1.0
    begins: float = 0.0
    ends: float = inf

    def __post_init__(self) -> None:
        if len(self.hosts) < 2 or not self.slots or self.qps < 1:
            raise ValueError(f"job {self.name!r} needs two hosts, a NIC and a queue pair")
        if self.weights and len(self.weights) != len(self.slots):
            raise ValueError(f"job {self.name!r} has {len(self.weights)} weights for {len(self.slots)} NICs")

    def runs(self, at: float) -> bool:
        """Whether it runs at this second."""
        return self.begins <= at < self.ends


def pairs(job: Job) -> Iterator[tuple[int, int]]:
    """Sender and receiver, as indexes in the job's hosts."""
    count = len(job.hosts)
    match job.pattern:
        case Pattern.RING:
            yield from ((host, (host + 1) % count) for host in range(count))
        case Pattern.PIPELINE:
            yield from ((host, host + 1) for host in range(count - 1))
        case Pattern.STORAGE:
            targets = max(1, count // GROUP_HOSTS)
            yield from ((host, count - 1 - host % targets) for host in range(count - targets))
        case Pattern.ALL_TO_ALL | Pattern.ANY_TO_ANY | Pattern.PXN:
            for begin in range(0, count, GROUP_HOSTS):
                group = range(begin, min(count, begin + GROUP_HOSTS))
                yield from ((a, b) for a in group for b in group if a != b)


def mixed_jobs(hosts: Sequence[str], slots: int, rng: Random) -> tuple[Job, ...]:
    """An ordinary day: a large ring, experts, a pipeline, and free hosts; each job on adjacent or scattered hosts."""
    free = list(hosts)
    if rng.random() < 0.75:
        rng.shuffle(free)
    every = tuple(range(slots))
    jobs: list[Job] = []
    for name, pattern, share in (
        ("pretrain", Pattern.RING, 0.5),
        ("experts", Pattern.ALL_TO_ALL, 0.25),
        ("stages", Pattern.PIPELINE, 0.125),
    ):
        taken, free = free[: round(share * len(hosts))], free[round(share * len(hosts)) :]
        if len(taken) >= 2:
            jobs.append(_drawn(name, tuple(taken), pattern, every, rng))
    return tuple(jobs)


def _drawn(name: str, hosts: tuple[str, ...], pattern: Pattern, slots: tuple[int, ...], rng: Random) -> Job:
    if pattern is Pattern.PIPELINE:
        slots = tuple(sorted(rng.sample(slots, max(1, len(slots) // 4))))
    return Job(
        name,
        hosts,
        pattern,
        slots,
        qps=1 if pattern is Pattern.ALL_TO_ALL else rng.choice((2, 4, 8)),
        gigabytes=rng.uniform(4.0, 10.0),
        compute_seconds=rng.uniform(0.1, 0.3),
        coupling=0.9 if pattern is Pattern.RING else 0.5,
    )


def demo_jobs(hosts: Sequence[str], slots: int) -> tuple[Job, ...]:
    """The jobs of a demo, in which every fault of traffic can show: half of the hosts train in a synchronous ring; a
    quarter are experts all over the fabric that send to each other's GPUs on all rails, each flow at its own pace, so
    that many flows share every uplink; some are stages of a pipeline, and the rest is free.
    """
    every = tuple(range(slots))
    ring, experts, stages = list(hosts[::2]), list(hosts[1::4]), hosts[3::8]
    Random(0).shuffle(experts)  # noqa: S311 - reproducible is what is wanted, not secret
    fan = max(1, (min(len(experts), GROUP_HOSTS) - 1) * slots)
    qps = max(1, round(EXPERT_FLOWS / fan))
    made: list[tuple[Sequence[str], Callable[[tuple[str, ...]], Job]]] = [
        (ring, lambda of: Job("pretrain", of, Pattern.RING, every, coupling=0.9)),
        (experts, lambda of: Job("experts", of, Pattern.ANY_TO_ANY, every, qps=qps, coupling=0.0)),
        (stages, lambda of: Job("stages", of, Pattern.PIPELINE, every[: max(1, slots // 4)], coupling=0.5)),
    ]
    return tuple(make(tuple(of)) for of, make in made if len(of) > 1)

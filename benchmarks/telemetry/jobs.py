"""A day on a cluster as its operators have it: jobs come and go, write checkpoints, and leave hosts idle."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from truerail.simulator.traffic import Job, Pattern

HOUR = 3600.0
STORAGE_SHARE = 1 / 16
"""Hosts that jobs write their checkpoints to, of all; they take part in no job."""
SIZES = (0.08, 0.12, 0.25, 0.5)
"""Shares of the hosts that a job asks for."""
PATTERNS = (Pattern.RING,) * 4 + (Pattern.ALL_TO_ALL,) * 3 + (Pattern.PIPELINE,) * 2 + (Pattern.PXN,)
SHORTEST, LONGEST = 0.1 * HOUR, 8 * HOUR
WAIT = 0.25 * HOUR
"""Mean seconds from one job's begin to the next one's, as long as hosts are free."""
CHECKPOINT_EVERY = (0.25 * HOUR, 1.0 * HOUR)
CHECKPOINT_SECONDS = (20.0, 60.0)


def jobs_of_day(hosts: Sequence[str], slots: int, seconds: float, rng: Random) -> tuple[Job, ...]:
    """The jobs of a stretch of time, each cut where it writes a checkpoint. Some run already as it begins."""
    stores = max(1, round(STORAGE_SHARE * len(hosts)))
    pool, storage = list(hosts[:-stores]), tuple(hosts[-stores:])
    until = dict.fromkeys(pool, 0.0)
    found: list[Job] = []
    now, number = 0.0, 0
    while now < seconds:
        free = [host for host in pool if until[host] <= now]
        wanted = max(2, round(rng.choice(SIZES) * len(hosts)))
        if len(free) >= wanted:
            job = _drawn(number, _chosen(free, wanted, rng), slots, now, rng)
            until.update(dict.fromkeys(job.hosts, job.ends))
            found += _stretches(job, storage, rng)
            number += 1
        now += rng.expovariate(1 / WAIT) if number > 3 else 0.0 if len(free) >= wanted else 60.0
    return tuple(found)


def _chosen(free: list[str], wanted: int, rng: Random) -> tuple[str, ...]:
    """Side by side where the scheduler packs, anywhere where it does not."""
    if rng.random() < 0.5:
        begin = rng.randrange(len(free) - wanted + 1)
        return tuple(free[begin : begin + wanted])
    return tuple(rng.sample(free, wanted))


def _drawn(number: int, hosts: tuple[str, ...], slots: int, begins: float, rng: Random) -> Job:
    pattern = rng.choice(PATTERNS)
    used = tuple(range(slots))
    if pattern is Pattern.PIPELINE:
        used = tuple(sorted(rng.sample(used, max(1, slots // 4))))
    heavy = rng.sample(used, max(1, len(used) // 4))
    return Job(
        f"job-{number}",
        hosts,
        pattern,
        used,
        tuple(1.0 if slot in heavy else 0.3 for slot in used) if pattern is Pattern.PXN else (),
        qps=1 if pattern in (Pattern.ALL_TO_ALL, Pattern.PXN) else rng.choice((2, 4, 8)),
        gigabytes=rng.uniform(1.0, 10.0),
        compute_seconds=rng.uniform(0.05, 0.6),
        coupling=rng.choice((0.0, 0.5, 0.9, 1.0)),
        begins=begins,
        ends=begins + min(LONGEST, max(SHORTEST, rng.lognormvariate(0.0, 1.0) * HOUR)),
    )


def _stretches(job: Job, storage: tuple[str, ...], rng: Random) -> Iterator[Job]:
    """The job between its checkpoints, and those: all its hosts write, over one NIC each, while the job waits."""
    every, lasts = rng.uniform(*CHECKPOINT_EVERY), rng.uniform(*CHECKPOINT_SECONDS)
    slot, begins, number = rng.choice(job.slots), job.begins, 0
    while begins + every + lasts < job.ends:
        stops = begins + every
        yield replace(job, begins=begins, ends=stops)
        begins, number = stops + lasts, number + 1
        yield Job(
            f"{job.name}-checkpoint", (*job.hosts, *storage), Pattern.STORAGE, (slot,), qps=2, gigabytes=2.0,
            compute_seconds=0.05, coupling=0.0, begins=stops, ends=begins,
        )  # fmt: skip
    yield replace(job, begins=begins)

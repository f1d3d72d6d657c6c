"""How well the logs of drawn jobs are joined with rails.

    python -m benchmarks.nccl.measure [--jobs 1000] [--write PAGE]

`--write` writes the page.
"""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from multiprocessing import Pool
from pathlib import Path
from time import process_time

from benchmarks.accuracy.report import ratio
from benchmarks.nccl.drawn import Key, draw
from collector import collectors
from truerail.analysis.nccl.job_path import JobPath, job_path
from truerail.analysis.round import Round
from truerail.model import Device, Reading, Snapshot, Status
from truerail.model.nccl_facts import NcclHop
from truerail.rounds import evaluate

JOBS = 1000


@dataclass(frozen=True, slots=True)
class Measured:
    """Figures of jobs; they add up."""

    jobs: int = 0
    ends: int = 0
    ends_right: int = 0
    ends_unknown: int = 0
    crossings: int = 0
    crossings_found: int = 0
    crossings_false: int = 0
    one_sided: int = 0
    one_sided_claims: int = 0
    steps: int = 0
    steps_right: int = 0
    orders: int = 0
    orders_right: int = 0
    faulty: int = 0
    false_good: int = 0
    torn: int = 0
    torn_good: int = 0
    crossing: int = 0
    crossing_good: int = 0
    faultless: int = 0
    good: int = 0

    def __add__(self, other: "Measured") -> "Measured":
        return Measured(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def one(seed: int) -> Measured:
    """The figures of one job. Counters are not simulated: the path is judged as if they had been read, without them."""
    job = draw(seed)
    facts = collectors()["nccl_log"].read(job.log, Device("log"))
    snapshot = job.simulation.snapshot()
    readings = [*snapshot.readings, Reading("log", "nccl_log", snapshot.at, facts)]
    round = Round(job.simulation.plan, Snapshot(snapshot.at, readings))
    evaluation = evaluate(round)
    found = round.nccl
    assert found is not None  # noqa: S101 - a drawn log has connections
    rails = {_key(end.hop): end.nic.rails for end in found.ends}
    claimed = {
        (hop.channel, hop.connection or 0, hop.from_rank, hop.to_rank)
        for hop in (crossing.send.hop for crossing in found.crossings)
    }
    counted = tuple(one for one in evaluation.verdicts if not (one.status is Status.UNKNOWN and one.missing))
    path = job_path(found, replace(evaluation, verdicts=counted), counted=True)
    steps, orders = _shapes(path)
    good, clean = path.good is True, job.whole and not job.on_path
    return Measured(
        jobs=1,
        ends=len(job.rails),
        ends_right=sum(rails.get(key) == truth for key, truth in job.rails.items()),
        ends_unknown=sum(not rails.get(key) and bool(truth) for key, truth in job.rails.items()),
        crossings=len(job.crossings),
        crossings_found=len(claimed & job.crossings),
        crossings_false=len(claimed - job.crossings),
        one_sided=not job.whole,
        one_sided_claims=0 if job.whole else len(claimed - job.crossings),
        steps=len(job.steps),
        steps_right=len(steps & job.steps) - len(steps - job.steps),
        orders=len(job.rings),
        orders_right=sum(orders.get(channel) == ring for channel, ring in job.rings.items()),
        faulty=job.on_path,
        false_good=job.on_path and good,
        torn=not job.whole,
        torn_good=not job.whole and good,
        crossing=clean and bool(job.crossings),
        crossing_good=clean and bool(job.crossings) and good,
        faultless=clean and not job.crossings,
        good=clean and not job.crossings and good,
    )


def _shapes(path: JobPath) -> tuple[set[tuple[str, int, int, int]], dict[int, tuple[int, ...]]]:
    """The steps between hosts of rings and trees, and the rings' orders by channel."""
    steps = {(one.kind, one.channel, step.source, step.target) for one in path.chains for step in one.steps}
    return steps, {one.channel: one.ranks for one in path.chains if one.kind == "ring"}


def _key(hop: NcclHop) -> Key:
    ranks = (hop.from_rank, hop.to_rank)
    return str(hop.host), hop.channel, hop.connection or 0, *ranks, hop.direction


def page(of: Measured) -> str:
    """The page."""
    found, false = of.crossings_found, of.crossings_false
    return f"""<!-- Written by `python -m benchmarks.nccl.measure`. Do not edit. -->
# NCCL logs on rails, measured

{of.jobs:,} jobs drawn over simulated fabrics of five shapes: two to five hosts, logs of NCCL 2.4 to 2.27 and RCCL, both
sides or one, with lost lines, glued, wrapped, behind launchers, with PXN, fused NICs and NCCL_CROSS_NIC; two of three
fabrics have a swapped, rotated, moved, dead or slow cable, or a device that does not answer. The logs are written apart
from what reads them. Counters are not simulated: "not the network" is judged as if they had been read.
`python -m benchmarks.nccl.measure` writes this page.

| | |
|---|---|
| ends of connections on the right rail | {of.ends_right:,} of {of.ends:,} |
| unknown, as those of hosts that do not answer | {of.ends_unknown:,} |
| crossings of rails with both ends in the log: precision | {ratio(found, found + false)} |
| recall | {ratio(found, of.crossings)} |
| crossings claimed wrongly in {of.one_sided:,} logs of one side | {of.one_sided_claims} |
| orders of rings as drawn | {of.orders_right:,} of {of.orders:,} |
| steps of rings and trees between hosts (wrong ones subtracted) | {of.steps_right:,} of {of.steps:,} |
| "not the network" said wrongly: {of.faulty:,} jobs with a fault on their path | {of.false_good} |
| {of.torn:,} jobs whose log does not have both ends of every connection | {of.torn_good} |
| {of.crossing:,} jobs without a fault whose connections cross rails | {of.crossing_good} |
| said rightly: {of.faultless:,} jobs with nothing of that | {of.good:,} |
"""


def main(arguments: Iterable[str] | None = None) -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=JOBS, help="how many jobs")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--processes", type=int, help="default: one for each core")
    options = parser.parse_args(arguments if arguments is None else list(arguments))
    began = process_time()
    total = Measured()
    with Pool(options.processes) as pool:
        for measured in pool.imap_unordered(one, range(options.jobs), chunksize=4):
            total += measured
    text = page(total)
    sys.stdout.write(text)
    sys.stderr.write(f"{process_time() - began:.0f} s of this process\n")
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

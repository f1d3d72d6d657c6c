"""How long the page that Prometheus scrapes takes, beside prometheus-client's `generate_latest` on the same series.

    python benchmarks/metrics.py [--write docs/metrics-performance.md] [--hosts 3300 33000]

3,300 hosts of 8 rails give 100,000 samples, 33,000 a million (and need 3 GB). Every judgement is of a snapshot of its
own, as in the service: nothing of the last round's tables is reused but what the exposition itself keeps.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from prometheus_client import Metric, generate_latest
from prometheus_client.registry import Collector
from rich.console import Console

from truerail.model import Plan, Snapshot
from truerail.model.publication import Publication
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.exposition import families
from truerail.rounds import judge
from truerail.simulator import Noise, Shape, Simulation, simulate
from truerail.simulator.simulation import TAKEN_AT

HOSTS = (3300, 33000)
GOALS = {100_000: 0.08, 1_000_000: 0.9}
NOW = TAKEN_AT + timedelta(seconds=30)
COUNTERS = {"rounds_total": 1.0, "event_streams": 1.0}
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Measured:
    """One fabric: CPU seconds, each the best of a few but for `first`, which is once for each plan."""

    hosts: int
    samples: int
    megabytes: float
    first: float
    next: float
    again: float
    pod: float
    library: float


class _Families(Collector):
    """The same series as prometheus-client's families, made anew in each collection as its custom collectors do."""

    def __init__(self, publication: Publication) -> None:
        self._publication = publication

    def collect(self) -> Iterable[Metric]:
        return families(self._publication, COUNTERS, NOW)


def measured(hosts: int) -> Measured:
    """Renders the rounds of a fabric of so many hosts."""
    simulation = _fabric(hosts)
    seen = simulation.snapshot()
    exposition = Exposition()

    def scrape(publication: Publication) -> float:
        return _seconds(lambda: exposition.render(publication, COUNTERS, NOW))

    publication = _judged(simulation.plan, seen)
    first = scrape(publication)
    later = min(scrape(_judged(simulation.plan, Snapshot(TAKEN_AT, seen.readings))) for _ in range(ROUNDS))
    text = exposition.render(publication, COUNTERS, NOW)
    lines = text.count(b"\n")
    samples = lines - text.count(b"\n#") - text.startswith(b"#")
    again = min(scrape(publication) for _ in range(ROUNDS))
    pod = min(_seconds(lambda: exposition.render_pod(publication, "p1", COUNTERS, NOW)) for _ in range(ROUNDS))
    library = min(_seconds(lambda: generate_latest(_Families(publication))) for _ in range(ROUNDS - 1))
    return Measured(hosts, samples, len(text) / 1e6, first, later, again, pod, library)


def _fabric(hosts: int) -> Simulation:
    shape = Shape(hosts=hosts, rails=8, pods=max(1, round(hosts / 128)), spines=16, uplinks=16)
    return simulate(shape, 6, Noise(unreachable=0.02, deaf=0.02), seed=1)


def _judged(plan: Plan, seen: Snapshot) -> Publication:
    return Publication(1, "bench", judge(plan, seen), seen)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def report(rows: list[Measured]) -> str:
    """The page as Markdown."""
    return f"""# The metrics page, as measured

`benchmarks/metrics.py` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}. Absolute
figures drift with the machine; ratios and shapes hold. CPU seconds of one core.

| hosts x 8 | samples | MB | first of a plan | next judgement | the same again | one pod | prometheus-client | ratio \
| goal for the next |
|---|---|---|---|---|---|---|---|---|---|
{"".join(map(_row, rows))}
*First of a plan* also cuts the text of the plan's labels, which is kept until the plan changes. *Next judgement* is
what the first scrape after a round costs, every further one costs *the same again*. *Ratio* is of prometheus-client's
time to the next judgement's.
"""


def _row(one: Measured) -> str:
    goal = next((f"{seconds} s" for size, seconds in GOALS.items() if one.samples <= size * 1.1), "")
    times = (one.first, one.next, one.again, one.pod, one.library)
    cells = (f"{one.hosts:,}", f"{one.samples:,}", f"{one.megabytes:.1f}", *(f"{seconds:.4f}" for seconds in times))
    return f"| {' | '.join(cells)} | {one.library / one.next:.0f} | {goal} |\n"


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--hosts", type=int, nargs="+", default=list(HOSTS), help="sizes of fabrics")
    options = parser.parse_args()
    rows = []
    for hosts in options.hosts:
        Console(stderr=True).print(f"rendering {hosts} hosts")
        rows.append(measured(hosts))
    text = report(rows)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

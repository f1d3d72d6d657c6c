"""How long the page that Prometheus scrapes takes, beside prometheus-client's `generate_latest` on the same series.

    python -m benchmarks.service.metrics [--write PAGE] [--hosts 1200 12500]

1,200 hosts of 8 rails give 100,000 samples with their traffic, 12,500 a million (and need 2 GB). Every evaluation is of
a snapshot of its own, as in the service: nothing of the last round's tables is reused but what the exposition itself
keeps. Where Prometheus is installed, it scrapes the largest fabric and evaluates our rules (five minutes, 5 GB).
"""

import argparse
import gzip
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from shutil import which

import numpy as np
import numpy.typing as npt
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from prometheus_client import Metric, generate_latest
from prometheus_client.registry import Collector
from rich.console import Console

from benchmarks.service.prometheus import Evaluated, evaluated
from tests.metrics_pages import families
from truerail.analysis.counters.traffic import Traffic
from truerail.analysis.ecmp.spread import Spread
from truerail.analysis.published import EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.model import Plan, Snapshot
from truerail.model.columns import distinct
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.plan_rows import REST
from truerail.rounds import evaluate
from truerail.service.otlp_metrics import is_wanted
from truerail.service.otlp_points import portions
from truerail.simulator import Noise, Shape, Simulation, simulate
from truerail.simulator.simulation import TAKEN_AT

HOSTS = (64, 1200, 12500)
GOALS = {100_000: 0.08, 1_000_000: 0.9}
NOW = TAKEN_AT + timedelta(seconds=30)
COUNTERS = {"rounds_total": 1.0, "event_streams": 1.0}
ROUNDS = 3
CHOSEN = (("by default", ()), ("`truerail_link_*`", ("truerail_link_*",)), ("all", ("truerail_*",)))
"""What `otlp.only` chooses."""
LINE = 5e10
"""Bytes per second of 400 Gb/s."""
SILENT = 0.01
"""Share of ports of which no one tells what they carry."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One fabric: CPU seconds, each the best of a few but for `first`, which is once for each plan."""

    hosts: int
    samples: int
    megabytes: float
    first: float
    next: float
    unreported: float
    again: float
    pod: float
    library: float
    gzip: "Gzip"
    otlp: "tuple[Export, ...]"


@dataclass(frozen=True, slots=True)
class Gzip:
    """The page as gzip: its size, CPU seconds of the first scrape of an evaluation and of the next ones."""

    megabytes: float
    first: float
    again: float


@dataclass(frozen=True, slots=True)
class Export:
    """One export by OpenTelemetry, compressed, to a receiver that decodes nothing."""

    chosen: str
    points: int
    requests: int
    megabytes: float
    seconds: float


class _Families(Collector):
    """The same series as prometheus-client's families, made again in each collection as its custom collectors do."""

    def __init__(self, publication: Published) -> None:
        self._publication = publication

    def collect(self) -> Iterable[Metric]:
        return families(self._publication, COUNTERS, NOW)


def measured(hosts: int) -> Measured:
    """Renders the rounds of a fabric of so many hosts."""
    simulation = _fabric(hosts)
    seen = simulation.snapshot()
    exposition = Exposition()

    def scrape(publication: Published) -> float:
        return _seconds(lambda: exposition.render(publication, None, COUNTERS, NOW))

    def evaluated(number: int) -> Published:
        return _carrying(_evaluated(simulation.plan, Snapshot(TAKEN_AT, seen.readings)), number)

    publication = evaluated(0)
    first = scrape(publication)
    later = min(scrape(evaluated(1 + number)) for number in range(ROUNDS))
    unreported = min(scrape(replace(evaluated(0), traffic=None)) for _ in range(ROUNDS))
    text = exposition.render(publication := evaluated(0), None, COUNTERS, NOW)
    lines = text.count(b"\n")
    samples = lines - text.count(b"\n#") - text.startswith(b"#")
    again = min(scrape(publication) for _ in range(ROUNDS))
    name = next((device.pod for device in publication.plan.devices.values() if device.pod), REST)
    pod = min(_seconds(lambda: exposition.render(publication, name, COUNTERS, NOW)) for _ in range(ROUNDS))
    library = min(_seconds(lambda: generate_latest(_Families(publication))) for _ in range(ROUNDS - 1))
    packed = Gzip(
        len(exposition.packed(publication := evaluated(0), None, COUNTERS, NOW)) / 1e6,
        min(_seconds(lambda: exposition.packed(replace(publication), None, COUNTERS, NOW)) for _ in range(ROUNDS)),
        min(_seconds(lambda: exposition.packed(publication, None, COUNTERS, NOW)) for _ in range(ROUNDS)),
    )
    exports = tuple(_exported(exposition, publication, *one) for one in CHOSEN)
    return Measured(hosts, samples, len(text) / 1e6, first, later, unreported, again, pod, library, packed, exports)


def _exported(exposition: Exposition, publication: Published, name: str, only: tuple[str, ...]) -> Export:
    """Everything that an export does but the network."""
    points = requests = size = 0

    def export() -> None:
        nonlocal points, requests, size
        chosen = exposition.series(publication, COUNTERS, NOW, lambda metric: is_wanted(only, metric))
        for data, number in portions(chosen, "bench", 0, 1):
            size += len(gzip.compress(encode_metrics(data).SerializeToString()))
            points, requests = points + number, requests + 1

    seconds = _seconds(export)
    return Export(name, points, requests, size / 1e6, seconds)


def _fabric(hosts: int) -> Simulation:
    shape = Shape(hosts=hosts, rails=8, pods=max(1, round(hosts / 128)), spines=16, uplinks=16)
    return simulate(shape, 6, Noise(unreachable=0.02, deaf=0.02), seed=1)


def _evaluated(plan: Plan, snapshot: Snapshot) -> Published:
    round = Round(plan, snapshot)
    return Published(1, "bench", EvaluatedRound(round, evaluate(round)))


def _carrying(publication: Published, seed: int) -> Published:
    """The same with the traffic of every link; some hosts tell nothing, others each time."""
    rng = np.random.default_rng(seed)
    ports = publication.wiring.index.planned_ports
    silent = rng.random(ports) < SILENT

    def drawn(most: float) -> npt.NDArray[np.float32]:
        return np.where(silent, np.nan, most * rng.random(ports)).astype(np.float32)

    sent, received, stopped, stopping, marked, broken = map(drawn, (LINE, LINE, 0.01, 0.01, 0.001, 1))
    index = publication.wiring.index
    switches = distinct(index.a_device[~index.from_host & (index.a_device >= 0)])
    even = np.ones(len(switches))
    spread = Spread(switches, even, even + rng.random(len(switches)), even > 0)
    speed = np.full(ports, LINE)
    traffic = Traffic(speed, sent, received, stopped, stopping, marked, broken, spread)
    return replace(publication, traffic=traffic)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def report(rows: list[Measured], rules: Evaluated | None) -> str:
    """The page as Markdown."""
    return f"""# The metrics page, as measured

`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}. Absolute
figures drift with the machine; ratios and shapes hold. CPU seconds of one core.

| hosts x 8 | samples | MB | first of a plan | next evaluation | without traffic | the same again \
| one pod | prometheus-client | ratio | goal for the next |
|---|---|---|---|---|---|---|---|---|---|---|
{"".join(map(_row, rows))}
*First of a plan* also cuts the text of the plan's labels, which is kept until the plan changes. *Next evaluation* is
what the first scrape after a round costs, every further one costs *the same again*. *Without traffic* is the next
evaluation with `metrics: {{traffic: false}}`. *Ratio* is of prometheus-client's
time to the next evaluation's.

## As gzip, and by OpenTelemetry

A scraper that accepts gzip gets text that is compressed once for an evaluation. *First* includes rendering what
changed; *again* is every further scrape.

| hosts x 8 | MB | MB as gzip | first | again |
|---|--:|--:|--:|--:|
{"".join(map(_gzip_row, rows))}
An export by OTLP makes the values of one evaluation, encodes and compresses them; CPU seconds of one export:

| hosts x 8 | `otlp.only` | points | requests | MB sent | CPU seconds |
|---|---|--:|--:|--:|--:|
{"".join(line for one in rows for line in _otlp_rows(one))}
That is why an empty `only` leaves out what has a series for each link, uplink, host or switch.
{_rules(rules) if rules else ""}"""


def _gzip_row(one: Measured) -> str:
    packed = one.gzip
    cells = (
        f"{one.hosts:,}",
        f"{one.megabytes:.1f}",
        f"{packed.megabytes:.1f}",
        f"{packed.first:.3f}",
        f"{packed.again:.4f}",
    )
    return f"| {' | '.join(cells)} |\n"


def _otlp_rows(one: Measured) -> Iterable[str]:
    for export in one.otlp:
        cells = (
            f"{one.hosts:,}",
            export.chosen,
            f"{export.points:,}",
            f"{export.requests:,}",
            f"{export.megabytes:.2f}",
        )
        yield f"| {' | '.join(cells)} | {export.seconds:.2f} |\n"


def _rules(found: Evaluated) -> str:
    rows = [*found.groups.items(), *found.dearest.items()]
    lines = "".join(f"| `{name}` | {seconds:.2f} |\n" for name, seconds in rows)
    return f"""
## What the rules cost Prometheus

Prometheus {found.version} scrapes the largest of these fabrics pod by pod, {found.series:,} series, and makes
{found.recorded:,} more of them; it takes {found.memory_mb:,.0f} MB. CPU seconds of one evaluation of each group, and of
the five dearest rules:

| group or rule | CPU seconds |
|---|---|
{lines}"""


def _row(one: Measured) -> str:
    goal = next((f"{seconds} s" for size, seconds in GOALS.items() if one.samples <= size * 1.2), "")
    times = (one.first, one.next, one.unreported, one.again, one.pod, one.library)
    cells = (f"{one.hosts:,}", f"{one.samples:,}", f"{one.megabytes:.1f}", *(f"{seconds:.4f}" for seconds in times))
    return f"| {' | '.join(cells)} | {one.library / one.next:.0f} | {goal} |\n"


def _asked_of_prometheus(hosts: int) -> Evaluated:
    Console(stderr=True).print(f"Prometheus evaluates the rules over {hosts} hosts")
    simulation = _fabric(hosts)
    return evaluated(_carrying(_evaluated(simulation.plan, simulation.snapshot()), 0))


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
    text = report(rows, _asked_of_prometheus(max(options.hosts)) if which("prometheus") else None)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

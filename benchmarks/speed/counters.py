"""How long counters take: a round into the window, and every rule that looks at it, from 10,000 to 200,000 ports.

    python -m benchmarks.speed.counters [--write PAGE] [--ports 10000 50000 200000]

Each size runs in a process of its own, so that its peak of memory is its own. Jobs keep all rails busy, and some things
are wrong, so that rules have something to look at closely: a NIC that pauses its leaf, slow NICs, errors, uplinks that
share their load unevenly.
"""

import argparse
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from rich.console import Console

from benchmarks.speed.clock import run
from rules import rules as all_rules
from truerail.analysis.counters import Window
from truerail.analysis.counters.storage import loaded, packed
from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError, Rule
from truerail.model import Counter, Finding, Plan, PortCounters, Reading, Role, Snapshot
from truerail.model.pause import garbage_collection_paused
from truerail.simulator import Shape, simulate
from truerail.simulator.simulation import TAKEN_AT

PORTS = (10_000, 50_000, 200_000)
PORTS_OF_A_HOST = 17.85
"""In the fabrics below: eight NICs, their leaf ports, and a share of the uplinks."""
ROUNDS = 32
STEP_SECONDS = 10.0
GOAL_SECONDS, GOAL_MB = 2.0, 1500
LINE = 5e10
"""Bytes per second of 400 Gb/s."""
WRONG, PAUSED = 0.0005, 0.02
"""Share of cables that are slow or have errors, and of those that are paused a little."""
WORDS = (
    "tx_bytes", "rx_bytes", "tx_packets", "rx_packets", "rx_pause_frames:3", "tx_pause_frames:3", "rx_pause_us:3",
    "tx_pause_us:3", "rx_discards", "rx_errors", "link_downs", "fec_corrected",
)  # fmt: skip
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """One size. CPU seconds of all threads: what two cores that others use too would take at most."""

    ports: int
    ingest: float
    wiring: float
    rules: dict[str, tuple[float, str]]
    """Seconds of each, and its findings."""
    megabytes: float
    kept: tuple[float, float, float]
    """Seconds to pack and to read the counters, and their megabytes when packed."""

    @property
    def evaluating(self) -> float:
        """All rules together."""
        return sum(seconds for seconds, _ in self.rules.values())


class Traffic:
    """What every port counts: jobs on all rails, and a few things that are wrong."""

    def __init__(self, plan: Plan, seed: int = 1) -> None:
        self._rng = np.random.default_rng(seed)
        ends = [end for cable in plan.cables for end in (cable.a, cable.b)]
        self._names = [end.name for end in ends]
        self._rates = self._drawn(len(plan.cables))
        self._total = np.zeros(self._rates.shape)
        counters = [word.partition(":") for word in WORDS]
        self._counters = tuple(Counter(word, int(priority) if priority else None) for word, _, priority in counters)
        rows: dict[str, list[int]] = {}
        for row, end in enumerate(ends):
            rows.setdefault(end.device, []).append(row)
        asked = {True: "nic_counters", False: "port_counters"}
        self._of = [(device, asked[plan.role_of(device) is Role.HOST], found) for device, found in rows.items()]

    def _drawn(self, cables: int) -> Numbers:
        """Counted per second by every port; the two ends of a cable stand next to each other and agree."""
        rng = self._rng
        up, down = (LINE * rng.normal(0.6, 0.01, cables) for _ in range(2))
        up[rng.random(cables) < WRONG] *= 0.6
        paused = np.where(rng.random(cables) < PAUSED, rng.uniform(0, 40_000, cables), 0.0)
        paused[0] = 950_000
        rates = np.zeros((cables, 2, len(WORDS)))
        rates[:, 0, 0] = rates[:, 1, 1] = up
        rates[:, 0, 1] = rates[:, 1, 0] = down
        rates[:, :, 2:4] = rates[:, :, 0:2] / 4096
        rates[:, 0, 7] = rates[:, 1, 6] = paused
        rates[:, 0, 5] = rates[:, 1, 4] = paused / 80
        for errors in (8, 9):
            rates[:, :, errors][rng.random((cables, 2)) < WRONG] = 3
        rates[:, :, 11] = rng.uniform(0, 1e4, (cables, 2))
        return rates.reshape(2 * cables, len(WORDS))

    def rounds(self, number: int) -> Iterator[list[Reading]]:
        """What the devices answer, round after round."""
        for before in range(number - 1, -1, -1):
            self._total += self._rates * STEP_SECONDS * self._rng.uniform(0.95, 1.05, self._total.shape)
            at = TAKEN_AT - timedelta(seconds=STEP_SECONDS * before)
            counted = cast("list[list[int]]", self._total.astype(np.int64).tolist())
            yield self._answers(at, [tuple(row) for row in counted])

    def _answers(self, at: datetime, values: Sequence[tuple[int, ...]]) -> list[Reading]:
        return [
            Reading(
                device,
                collector,
                at,
                tuple(PortCounters(self._names[row], self._counters, values[row]) for row in rows),
            )
            for device, collector, rows in self._of
        ]


def measured(ports: int) -> Measured:
    """A fabric with so many ports, its window full."""
    hosts = round(ports / PORTS_OF_A_HOST)
    simulation = simulate(Shape(hosts, rails=8, pods=max(1, round(hosts / 128)), spines=16, uplinks=16))
    plan, still_seen = simulation.plan, simulation.snapshot()
    window, ingest = Window(), []
    readings: list[Reading] = []
    for readings in Traffic(plan).rounds(ROUNDS):
        ingest.append(_seconds(partial(window.put, readings)))
    counters = window.view()
    assert counters is not None  # noqa: S101 - all ports count
    seen = Snapshot(TAKEN_AT, [*still_seen.readings, *readings])
    with garbage_collection_paused():
        round_ = Round(plan, seen, counters)
        wiring = _seconds(lambda: round_.cabling)
        evaluated = {code: _evaluated(rule, round_) for code, rule in all_rules().items() if PortCounters in rule.needs}
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Measured(2 * len(plan.cables), min(ingest[-5:]), wiring, evaluated, megabytes, _kept(window))


def _evaluated(rule: Rule, evaluated: Round) -> tuple[float, str]:
    """Seconds, and what came of it. What several rules look at is worked out by the first of them."""
    found: list[Finding] = []
    began = time.process_time()
    try:
        found += rule.findings(evaluated)
    except InsufficientDataError as why:
        return time.process_time() - began, f"undecided: {why}"
    return time.process_time() - began, f"{len(found):,}"


def _kept(counters: Window) -> tuple[float, float, float]:
    """Seconds to pack and to read counters, and their megabytes when packed."""
    began = time.process_time()
    data = packed(counters, {})
    return time.process_time() - began, _seconds(lambda: loaded(data)), len(data) / 1e6


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def report(sizes: Sequence[Measured]) -> str:
    """The page as Markdown."""
    head = " | ".join(f"{one.ports:,} ports" for one in sizes)
    largest = sizes[-1]
    names = {code: rule.name.replace("_", " ") for code, rule in all_rules().items()}
    rules = [
        f"| {code} {names[code]} | {_cells(1000 * one.rules[code][0] for one in sizes)} | {largest.rules[code][1]} |"
        for code in largest.rules
    ]
    lines = "\n".join(rules)
    return f"""# Counters, as measured

`make bench` writes this page, on {os.cpu_count()} cores with Python {sys.version.split()[0]}. Absolute
figures drift with the machine; ratios and shapes hold. Every port tells {len(WORDS)} counters, the window holds 30
samples. CPU seconds of all threads; the goals are for 200,000 ports.

| | {head} | goal |
|---|{"---|" * (len(sizes) + 1)}
| one round into the window, s | {_cells(one.ingest for one in sizes)} | |
| all counter rules, s | {_cells(one.evaluating for one in sizes)} | |
| **both, s** | {_cells(one.ingest + one.evaluating for one in sizes)} | {GOAL_SECONDS} |
| both, microseconds a port | {_cells(1e6 * (one.ingest + one.evaluating) / one.ports for one in sizes)} | constant |
| peak memory of the process, MB | {_cells(one.megabytes for one in sizes)} | {GOAL_MB:,} |
| the counters packed for the journal, in another thread, s | {_cells(one.kept[0] for one in sizes)} | |
| their size, MB | {_cells(one.kept[2] for one in sizes)} | |
| read again at the start, s | {_cells(one.kept[1] for one in sizes)} | |
| cabling joined with the plan, once for all rules, s | {_cells(one.wiring for one in sizes)} | |

The peak includes the plan, the answers about cabling, and the readings of two rounds as they came. It leaves out the
arrays of an evaluation that is still shown when the next round comes (about as large as the window), and the search for
causes. The load is drawn, not simulated: few rules have much to look at closely.

| rule, ms | {head} | findings of the largest |
|---|{"---|" * (len(sizes) + 1)}
{lines}

Rules run in this order. What several of them look at (the pauses as a graph of waits, the load of every link) is worked
out by the first that needs it.
"""


def _cells(values: Iterable[float]) -> str:
    return " | ".join(f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--ports", type=int, nargs="+", default=list(PORTS), help="sizes of fabrics")
    parser.add_argument("--one", type=int, help="measure one size here, print it as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(asdict(measured(options.one))))  # noqa: T201 - the process above reads this
        return 0
    sizes = []
    for ports in options.ports:
        Console(stderr=True).print(f"counting {ports:,} ports")
        sizes.append(
            Measured(**json.loads(run(sys.executable, "-m", "benchmarks.speed.counters", "--one", str(ports)).output))
        )
    text = report(sizes)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

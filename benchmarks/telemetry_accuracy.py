"""How often the cause behind traffic is named right: simulated jobs with one fault each, judged while it goes on.

python benchmarks/telemetry_accuracy.py [--runs 600] [--days 2] [--write docs/telemetry-accuracy.md] [--show]
python benchmarks/telemetry_accuracy.py --seed 17        one run, its truth and what was said of it
"""

import argparse
import sys
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path

from rich.console import Console
from rich.progress import track
from telemetry_drawn import HEALTHY, draw, judged
from telemetry_report import HELD_OUT, Results, report
from telemetry_scoring import Score, score

RUNS = 600
DAYS = 2.0
DAY = 86400.0
EVERY = 300.0
"""Seconds between two judgements of a healthy day."""
CORES = 2


def measure(seeds: Iterable[int]) -> Results:
    """Runs every seed, on two cores."""
    results = Results()
    with Pool(CORES) as pool:
        for seed, kind, found in pool.imap(_one, seeds):
            results.by_kind.setdefault(kind, Score()).add(found)
            batch = results.development if seed < HELD_OUT else results.held_out
            batch.setdefault(kind, Score()).add(found)
    return results


def _one(seed: int) -> tuple[int, str, Score]:
    drawn = draw(seed)
    return seed, drawn.kind, score(drawn)


def healthy(days: float) -> tuple[float, int, int]:
    """Judges healthy fabrics for so long: the days, the critical findings and the warnings that are no congestion."""
    pieces = max(1, round(days * 4))
    with Pool(CORES) as pool:
        alarms = pool.map(_quarter, range(pieces), chunksize=1)
    return pieces / 4, sum(critical for critical, _ in alarms), sum(warnings for _, warnings in alarms)


def _quarter(seed: int) -> tuple[int, int]:
    """A quarter of a day on one fabric with mixed jobs. A finding counts once, however long it stands."""
    drawn = draw(10_000 + seed, HEALTHY)
    marks = [EVERY * number for number in range(1, round(DAY / 4 / EVERY) + 1)]
    loud: dict[str, int] = {}
    for _, judgement, _ in judged(drawn, marks):
        for finding in judgement.findings:
            loud[finding.id] = max(loud.get(finding.id, 0), 0 if _is_load(finding.rule) else finding.severity.rank)
    ranks = list(loud.values())
    return ranks.count(2), ranks.count(1)


def _is_load(rule: str) -> bool:
    return rule in ("PFC002", "ECN001", "INC001", "CAP001")


def show(seed: int, console: Console) -> None:
    """Prints one run's truth and what was said of it at each mark."""
    drawn = draw(seed)
    console.print(f"{drawn}", markup=False)
    for mark, judgement, truth in judged(drawn):
        console.print(f"{mark:.0f} s", markup=False)
        for fault in truth:
            console.print(f"  is    {fault.kind} {fault.variant} {' '.join(fault.ports)}", markup=False)
        for cause in judgement.causes:
            console.print(f"  said  {cause.kind} {' '.join(cause.subjects[:4])}: {cause.says}", markup=False)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=RUNS, help="how many runs (seeds 0 to N-1)")
    parser.add_argument("--days", type=float, default=DAYS, help="how many fabric-days without a fault")
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--show", action="store_true", help="print every mistake")
    parser.add_argument("--seed", type=int, help="show the run of one seed instead")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(options.seed, console)
        return 0
    seeds = range(options.runs)
    results = measure(track(seeds, description="running", console=Console(stderr=True)))
    results.days, results.critical, results.warnings = healthy(options.days)
    text = report(results)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    if options.show:
        for found in results.by_kind.values():
            console.print("\n".join(found.mistakes), markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())

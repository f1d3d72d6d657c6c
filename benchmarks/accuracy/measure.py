"""How often the causes are right: many simulated fabrics are evaluated, and the evaluations measured against the truth.

python -m benchmarks.accuracy.measure [--fabrics 2400] [--write PAGE] [--show]
python -m benchmarks.accuracy.measure --seed 17             one fabric, its truth and what was said of it
python -m benchmarks.accuracy.measure --behaving --seed 17  one whose devices behave as real ones do
"""

import argparse
import sys
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.accuracy import repairs
from benchmarks.accuracy.fabrics import STRAINS, Drawn, draw, draw_behaving, draw_infiniband
from benchmarks.accuracy.report import Results, report
from benchmarks.accuracy.scoring import Score, score
from benchmarks.accuracy.witnesses import SECTION as WITNESSES
from benchmarks.behaviours.measure import alone
from benchmarks.behaviours.results import BehaviourResults, section
from benchmarks.behaviours.scoring import BehaviourScore, behaviour_score
from benchmarks.degradation.report import SECTION as FORECASTS
from benchmarks.telemetry.results import Results as Telemetry
from benchmarks.telemetry.targets import SECTION, summary
from truerail.analysis.round import Round
from truerail.rounds import evaluate

FABRICS = 2400
"""Fabrics whose devices behave as real ones do. Those of plain devices come on top."""
PLAIN = 840
ALONE_SEEDS = 2
FRESH = 420
"""Seeds below this were used while the engine was written; those above were added afterwards."""
INFINIBAND = 240
STRAINED = 150


def measure(seeds: Iterable[int]) -> Results:
    """Evaluates the fabric of each seed."""
    results = Results()
    for seed in seeds:
        drawn = draw(seed)
        findings, found = _evaluated(drawn)
        truth = drawn.simulation.truth
        batch = f"seeds 0 to {FRESH - 1}" if seed < FRESH else f"seeds from {FRESH}"
        for group in (
            results.by_batch.setdefault(batch, Score()),
            results.by_faults.setdefault(len(truth.causes), Score()),
            results.by_noise.setdefault(drawn.noise, Score()),
            results.total,
        ):
            group.add(found)
        if not truth.causes and drawn.noise == "none":
            results.clean.add(found)
            results.clean_findings += findings
        if not found.perfect:
            results.flawed.append((drawn, found))
    return results


def strained(fabrics: int) -> dict[str, tuple[Score, int]]:
    """Evaluates so many fabrics under each strain: their score, and how many of them have no mistake."""
    found: dict[str, tuple[Score, int]] = {}
    for name, strain in STRAINS.items():
        total, perfect = Score(), 0
        for seed in range(fabrics):
            _, one = _evaluated(draw(seed, strain))
            total.add(one)
            perfect += one.perfect
        found[name] = total, perfect
    return found


def discovered(results: Results, fabrics: int) -> None:
    """Evaluates so many fabrics of InfiniBand."""
    for seed in range(fabrics):
        _, one = _evaluated(draw_infiniband(seed))
        results.infiniband.add(one)
        results.infiniband_perfect += one.perfect


def behaving(fabrics: int) -> BehaviourResults:
    """Evaluates so many fabrics whose devices behave as real ones do, and each behaviour alone."""
    results = BehaviourResults()
    with Pool() as pool:
        for seed, flags, score in pool.imap_unordered(behave, range(fabrics), chunksize=8):
            results.add(seed, flags, score)
    results.alone = alone(ALONE_SEEDS if fabrics >= FABRICS else 1)
    return results


def behave(seed: int) -> tuple[int, tuple[str, ...], BehaviourScore]:
    """Evaluates one of them. What cannot be built or evaluated is a problem like any other."""
    try:
        drawn = draw_behaving(seed)
        evaluation = evaluate(Round(drawn.simulation.plan, drawn.simulation.snapshot()))
        return seed, drawn.behaviours, behaviour_score(drawn.simulation, evaluation)
    except Exception as error:  # noqa: BLE001 - one fabric must not end the others
        return seed, (), BehaviourScore(fabrics=1, problems=[f"{type(error).__name__}: {error}"])


def _evaluated(drawn: Drawn) -> tuple[int, Score]:
    """How many findings there are on a fabric, and what its evaluation is worth."""
    evaluation = evaluate(Round(drawn.simulation.plan, drawn.simulation.snapshot()))
    return len(evaluation.findings), score(drawn.simulation.truth, evaluation)


def show(drawn: Drawn, console: Console) -> None:
    """Prints one fabric's truth and what was said of it."""
    evaluation = evaluate(Round(drawn.simulation.plan, drawn.simulation.snapshot()))
    console.print(f"{drawn}", markup=False)
    for cause in (*drawn.simulation.truth.causes, *drawn.simulation.truth.noise):
        maybe = "".join(f", or {other.kind} with {other.moves} moves" for other in cause.alternatives)
        console.print(f"  is    {cause.kind} {' '.join(cause.subjects[:6])}, {cause.moves} moves{maybe}", markup=False)
    for reported in evaluation.causes:
        console.print(f"  said  {reported.kind}, {len(reported.moves)} moves: {reported.summary}", markup=False)
    problems = behaviour_score(drawn.simulation, evaluation).problems
    for mistake in problems if drawn.behaviours else score(drawn.simulation.truth, evaluation).mistakes:
        console.print(f"  {mistake}", markup=False)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabrics", type=int, default=FABRICS, help="how many fabrics (seeds 0 to N-1)")
    parser.add_argument("--behaving", action="store_true", help="with --seed: a fabric of devices as they behave")
    parser.add_argument("--only-behaving", action="store_true", help="leave the fabrics of plain devices out")
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--show", action="store_true", help="print every mistake")
    parser.add_argument("--seed", type=int, help="show the fabric of one seed instead")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(draw_behaving(options.seed) if options.behaving else draw(options.seed), console)
        return 0
    behaved = behaving(options.fabrics)
    if options.only_behaving:
        console.print(section(behaved), markup=False, highlight=False, soft_wrap=True)
        return 0
    plain = range(min(PLAIN, options.fabrics))
    results = measure(track(plain, description="evaluating", console=Console(stderr=True)))
    discovered(results, min(INFINIBAND, options.fabrics))
    results.strained = strained(min(STRAINED, options.fabrics))
    before = options.write.read_text(encoding="utf-8") if options.write and options.write.exists() else ""
    whole = options.fabrics >= FABRICS
    order = repairs.measured(min(repairs.FABRICS, options.fabrics), repairs.HOSTS if whole else 0)
    text = report(results, section(behaved), SECTION.of(before) or summary(Telemetry()), order)
    text = FORECASTS.placed(text, forecasts) if (forecasts := FORECASTS.of(before)) else text
    text = WITNESSES.placed(text, witnesses) if (witnesses := WITNESSES.of(before)) else text
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    if options.show:
        for drawn, found in results.flawed:
            console.print("\n".join([str(drawn), *(f"  {mistake}" for mistake in found.mistakes[:20])]), markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())

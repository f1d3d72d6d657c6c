"""How often polarized tiers and dead members are named right: drawn tiers with known truth, evaluated by the rules.

python -m benchmarks.polarization.measure [--trials 6000] [--write PAGE]
python -m benchmarks.polarization.measure --seed 17        one trial, its truth and what was said of it
"""

import argparse
import sys
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.polarization.drawn import SHARED, draw
from benchmarks.polarization.report import (
    FINE,
    HELD_OUT,
    IMBALANCE,
    MEMBER,
    POLARIZATION,
    UNCLEAR,
    UNREPORTED,
    Outcome,
    Results,
    report,
)
from benchmarks.polarization.traffic import Scene, scene
from rules import rules
from truerail.analysis.ecmp.siblings import unclear
from truerail.analysis.rule import InsufficientDataError

TRIALS = 6000
"""Held-out trials; half as many are of development."""
CORES = 2
WORDS = {"LBL001": POLARIZATION, "LBL003": MEMBER, "LBL002": IMBALANCE}


def measure(seeds: Iterable[int]) -> Results:
    """Runs every seed, on two cores."""
    results = Results()
    with Pool(CORES) as pool:
        for outcome in pool.imap(outcome_of, seeds, chunksize=8):
            results.add(outcome)
    return results


def outcome_of(seed: int) -> Outcome:
    """One trial, evaluated."""
    trial = draw(seed)
    made = scene(trial)
    subjects = {code: _found(code, made) for code in WORDS}
    pod = {f"spine-{number}" for number in range(trial.siblings)}
    b = made.round.balance
    evaluated = b.names(np.flatnonzero(b.evaluated))
    named = subjects["LBL001"] or set()
    dead = {str(made.dead)} if made.dead else set()
    members = subjects["LBL003"] or set()
    return Outcome(
        trial,
        polarized=trial.hash == SHARED and len(made.polarized) > 1,
        named=bool(named & made.polarized),
        false=len(named - made.polarized),
        dead=bool(dead),
        found=bool(members & dead),
        wrong=len(members - dead),
        windows=len(pod & set(evaluated)),
        said=_said(subjects, made, pod),
    )


def _found(code: str, made: Scene) -> set[str] | None:
    """The subjects of a rule's findings; None where it cannot say."""
    try:
        return {finding.subject for finding in rules()[code].findings(made.round)}
    except InsufficientDataError:
        return None


def _said(subjects: dict[str, set[str] | None], made: Scene, pod: set[str]) -> str:
    """What is said of the siblings."""
    for code, word in WORDS.items():
        if pod & {subject.partition("/")[0] for subject in subjects[code] or ()}:
            return word
    if subjects["LBL001"] is None:
        return UNCLEAR if unclear(made.round.siblings) else UNREPORTED
    return FINE


def show(seed: int, console: Console) -> None:
    """Prints a trial, what is true of it and what the rules say."""
    trial = draw(seed)
    made = scene(trial)
    console.print(trial, f"polarized: {sorted(made.polarized)}", f"dead: {made.dead}", sep="\n", markup=False)
    for code in WORDS:
        try:
            for finding in rules()[code].findings(made.round):
                console.print(f"{code} {finding.subject} {finding.summary}", markup=False)
        except InsufficientDataError as why:
            console.print(f"{code} unknown: {why}", markup=False)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS, help="how many held-out trials")
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--seed", type=int, help="show the trial of one seed instead")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(options.seed, console)
        return 0
    seeds = [*range(options.trials // 2), *range(HELD_OUT, HELD_OUT + options.trials)]
    text = report(measure(track(seeds, description="evaluating", console=Console(stderr=True))))
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

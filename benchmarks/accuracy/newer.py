"""Cabling on the platforms that were simulated last, each alone and beside an older one.

    python -m benchmarks.accuracy.newer [--fabrics 40] [--write PAGE]

The fabrics are those of `fabrics.draw` and `fabrics.draw_behaving` with other switches. `--write` replaces the section
of the page, and nothing else of it.
"""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

from benchmarks.accuracy.fabrics import draw, draw_behaving
from benchmarks.accuracy.report import ratio
from benchmarks.accuracy.scoring import Score, score
from benchmarks.behaviours.scoring import BehaviourScore, behaviour_score
from benchmarks.sections import Section
from truerail.analysis.round import Round
from truerail.rounds import evaluate

SECTION = Section("newer platforms")
FABRICS = 40
PLATFORMS: tuple[tuple[str, ...], ...] = (
    ("srlinux",),
    ("iosxr",),
    ("os10",),
    ("aoscx",),
    ("srlinux", "sonic"),
    ("iosxr", "aoscx", "os10"),
)
COLUMNS = (
    "switches",
    "fabrics of each kind",
    "cables",
    "precision",
    "recall",
    "right cables moved",
    "behaving: precision",
    "recall",
    "unknown",
    "right cables moved",
    "faultless ones that are loud",
)
Case = tuple[tuple[str, ...], int]


@dataclass(slots=True)
class Measured:
    """Plain fabrics, and those whose devices behave as real ones do."""

    plain: Score = field(default_factory=Score)
    behaving: BehaviourScore = field(default_factory=BehaviourScore)


def one(case: Case) -> tuple[tuple[str, ...], Score, BehaviourScore]:
    """Evaluates the two fabrics of this seed with these switches."""
    platforms, seed = case
    plain, behaving = draw(seed, platforms=platforms), draw_behaving(seed, platforms=platforms)
    evaluated = evaluate(Round(plain.simulation.plan, plain.simulation.snapshot()))
    behaved = evaluate(Round(behaving.simulation.plan, behaving.simulation.snapshot()))
    return platforms, score(plain.simulation.truth, evaluated), behaviour_score(behaving.simulation, behaved)


def measured(fabrics: int, processes: int | None = None) -> dict[tuple[str, ...], Measured]:
    """So many fabrics of each kind for each of the `PLATFORMS`."""
    found = {platforms: Measured() for platforms in PLATFORMS}
    with Pool(processes) as pool:
        cases = [(platforms, seed) for platforms in PLATFORMS for seed in range(fabrics)]
        for platforms, plain, behaving in pool.imap_unordered(one, cases, chunksize=4):
            found[platforms].plain.add(plain)
            found[platforms].behaving.add(behaving)
    return found


def _row(platforms: tuple[str, ...], of: Measured) -> str:
    plain, odd = of.plain, of.behaving
    causes = sum(plain.causes_found.values())
    return (
        f"| {', '.join(platforms)} | {plain.fabrics} | {plain.cables:,} "
        f"| {ratio(causes, causes + sum(plain.causes_false.values()))} "
        f"| {ratio(causes, causes + sum(plain.causes_missed.values()))} | {plain.moves_of_right} "
        f"| {ratio(odd.causes_found, odd.causes_found + odd.causes_false)} "
        f"| {ratio(odd.causes_found, odd.causes_found + odd.causes_missed)} | {odd.causes_unknown} "
        f"| {odd.right_moved} | {odd.loud} of {odd.faultless} |"
    )


def section(found: dict[tuple[str, ...], Measured]) -> str:
    """The section of the page."""
    rows = "\n".join(_row(*one) for one in found.items())
    return SECTION.marked(f"""## Newer platforms

The fabrics of the first two sections with switches of the platforms that were simulated last: plain ones with up to 6
faults, and ones whose devices behave as real ones do, with up to 3. Their answers are written from recordings, those of
SR Linux from Nokia's YANG.
`python -m benchmarks.accuracy.newer` writes this section.

| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}
{rows}""")


def main(arguments: Iterable[str] | None = None) -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabrics", type=int, default=FABRICS, help="how many fabrics of each kind for each row")
    parser.add_argument("--processes", type=int, help="how many at once")
    parser.add_argument("--write", type=Path, help="replace the section of this page")
    options = parser.parse_args(None if arguments is None else list(arguments))
    found = measured(options.fabrics, options.processes)
    text = section(found)
    if options.write:
        options.write.write_text(SECTION.placed(options.write.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(text)  # noqa: T201 - what the command is for
    for platforms, of in found.items():
        for problem in (*of.plain.mistakes, *of.behaving.problems):
            print(f"{', '.join(platforms)}: {problem}", file=sys.stderr)  # noqa: T201 - as above
    return 0


if __name__ == "__main__":
    sys.exit(main())

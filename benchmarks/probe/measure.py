"""How often a path sweep names faults right: drawn fabrics and faults, probed in simulation, judged as `check` does.

python -m benchmarks.probe.measure [--trials 800] [--write PAGE]
python -m benchmarks.probe.measure --seed 17        one trial, its truth and what was said of it
"""

import argparse
import sys
from collections.abc import Iterable
from multiprocessing import Pool
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.probe.drawn import draw
from benchmarks.probe.forwarding import Network
from benchmarks.probe.probing import LARGE, Sweeper
from benchmarks.probe.report import HELD_OUT, report
from benchmarks.probe.scoring import Outcome, Said, Truth, said_of, scored
from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import Swept, swept
from truerail.probe.follow_ups import HopProbes, beyond, confirming, large_hops, more_packets, unanswered

TRIALS = 800
"""Held-out trials."""
CORES = 2


def measure(seeds: Iterable[int]) -> list[Outcome]:
    """Runs every seed, on two cores."""
    with Pool(CORES) as pool:
        return list(pool.imap(outcome_of, seeds, chunksize=8))


def outcome_of(seed: int) -> Outcome:
    """One trial, evaluated."""
    sweeper, said = judged(seed)
    return scored(sweeper, said)


def judged(seed: int) -> tuple[Sweeper, list[Said]]:
    """A trial's network after all its probes, and what was said of it."""
    sweeper = Sweeper(Network(draw(seed)))
    sweeper.send()
    paths = _swept(sweeper).paths
    _ask(sweeper, unanswered(paths))
    _ask(sweeper, large_hops(paths))
    _ask(sweeper, more_packets(paths))
    first = _swept(sweeper)
    _ask(sweeper, confirming(first.paths, first.losses))
    _ask(sweeper, beyond(first.paths, first.losses))
    return sweeper, said_of(_swept(sweeper))


def _swept(sweeper: Sweeper) -> Swept:
    return swept(Round(sweeper.net.fabric.plan, sweeper.snapshot()))


def _ask(sweeper: Sweeper, wanted: Iterable[HopProbes]) -> None:
    flow_of = {(flow[1], flow[2], flow[3]): flow for flow in sweeper.flows}
    sweeper.ask(
        (flow_of[one.source, one.target, one.source_port], one.ttl, LARGE if one.large else sweeper.small, one.packets)
        for one in wanted
    )


def show(seed: int, console: Console) -> None:
    """Prints a trial, what is true of it and what was said."""
    sweeper, said = judged(seed)
    truth, outcome = Truth(sweeper), scored(sweeper, said)
    console.print(sweeper.net.trial, markup=False)
    for fault, came in zip(sweeper.net.trial.faults, outcome.faults, strict=True):
        console.print("truth", fault.kind, [set(seat) for seat in truth.seats(fault)], came, markup=False)
    for one in said:
        console.print("said", one.code, sorted(one.seat), markup=False)
    console.print("false", outcome.false, markup=False)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS, help="how many held-out trials")
    parser.add_argument("--write", type=Path, help="write the report to this file")
    parser.add_argument("--seed", type=int, help="show the trial of one seed instead")
    parser.add_argument("--development", action="store_true", help="use the seeds that were looked at")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(options.seed, console)
        return 0
    begin = 0 if options.development else HELD_OUT
    seeds = range(begin, begin + options.trials)
    text = report(measure(track(seeds, description="probing", console=Console(stderr=True))))
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

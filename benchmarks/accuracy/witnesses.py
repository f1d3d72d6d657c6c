"""Cabling with LLDP on part of the cables: what MAC tables and cables' serial numbers add, and what they get wrong.

    python -m benchmarks.accuracy.witnesses [--fabrics 100] [--write PAGE]

Every fabric has 512 host cables, six swaps of two cables, and 2 % of its hosts unread; MAC tables and serial numbers
have the noise of `truerail/simulator/faults/noise.py`. `--write` replaces the section of the page, and nothing
else of it.
"""

import argparse
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

from benchmarks.sections import Section
from truerail.analysis.cabling import State
from truerail.analysis.round import Round
from truerail.model import CauseKind
from truerail.rounds import evaluate
from truerail.simulator import Fault, Noise, Shape, simulate

SECTION = Section("witnesses")
FABRICS = 100
LLDP = (1.0, 0.5, 0.1, 0.0)
"""Shares of cables with LLDP at both ends."""
WITNESSES = {
    "LLDP alone": (False, False),
    "and MAC tables": (True, False),
    "and serial numbers": (False, True),
    "and both": (True, True),
}
PLATFORMS = ("cumulus", "sonic", "eos", "nxos", "junos")
FAULTS = [Fault(CauseKind.CABLE_SWAP, "one-host")] * 3 + [Fault(CauseKind.CABLE_SWAP, "across")] * 3
GOAL_JUDGED, GOAL_WRONG = 0.97, 2e-5
_OF_NONE = 3.0
"""The upper bound of a count of which none was seen, at 95 %: the rule of three."""
_ENOUGH = _OF_NONE / GOAL_WRONG


@dataclass(slots=True)
class Counted:
    """Counts over host cables. `right_wrong` are right cables called wrong or missing, `named` the swaps whose two
    cables a cause names, `moved` the cables that moves are ordered for, `right_moved` those of them that are right.
    """

    cables: int = 0
    right: int = 0
    judged: int = 0
    right_wrong: int = 0
    swapped: int = 0
    found: int = 0
    passed: int = 0
    named: int = 0
    moved: int = 0
    right_moved: int = 0

    def add(self, other: "Counted") -> None:
        """Adds the counts of another fabric."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


Case = tuple[int, float, str]


def one(case: Case) -> tuple[float, str, Counted]:
    """Evaluates the fabric of this seed with this share of LLDP and these witnesses."""
    seed, lldp, witnesses = case
    shape = Shape(hosts=64, rails=8, spines=4, uplinks=32, platforms=(PLATFORMS[seed % len(PLATFORMS)],))
    stations, serials = WITNESSES[witnesses]
    noise = Noise(unreachable=0.02, lldp=lldp, stations=stations, serials=serials)
    simulation = simulate(shape, FAULTS, noise, seed, folders="inventory")
    round = Round(simulation.plan, simulation.snapshot())
    evaluation = evaluate(round)
    counted, far = Counted(), simulation.world.far
    for cable, state in zip(simulation.plan.cables, round.cabling.state.tolist(), strict=True):
        if not simulation.world.is_host(cable.a.device):
            continue
        right = far[cable.a] == cable.b
        counted.cables += 1
        counted.right += right
        counted.judged += state in (State.RIGHT, State.WRONG)
        counted.right_wrong += right and state in (State.WRONG, State.MISSING)
        counted.swapped += not right
        counted.found += not right and state == State.WRONG
        counted.passed += not right and state == State.RIGHT
    reported = {(cause.kind, frozenset(cause.subjects)) for cause in evaluation.causes}
    counted.named = sum((cause.kind, frozenset(cause.subjects)) in reported for cause in simulation.truth.causes)
    moves = [move.cable for cause in evaluation.causes for move in cause.moves]
    counted.moved = len(moves)
    counted.right_moved = sum(far[cable] == simulation.plan.peer_of(cable) for cable in moves)
    return lldp, witnesses, counted


def measured(fabrics: int, processes: int | None = None) -> dict[tuple[float, str], Counted]:
    """So many fabrics with every share of LLDP and all witnesses."""
    found = {(share, name): Counted() for share in LLDP for name in WITNESSES}
    cases = [(seed, share, name) for share, name in found for seed in range(_fabrics(fabrics, share, name))]
    with Pool(processes) as pool:
        for share, name, counted in pool.imap_unordered(one, cases, chunksize=4):
            found[share, name].add(counted)
    return found


def _fabrics(fabrics: int, share: float, name: str) -> int:
    """The number of fabrics for a row: many for the one with targets, few where not both witnesses speak."""
    if not all(WITNESSES[name]):
        return max(1, fabrics // 5)
    return fabrics if share else 4 * fabrics


def _row(share: float, name: str, of: Counted) -> str:
    return (
        f"| {share:.0%} | {name} | {of.judged / of.cables:.2%} | {of.right_wrong} of {of.right:,} "
        f"| {of.found / of.swapped:.2%} | {of.passed} | {of.moved:,} | {of.right_moved} |"
    )


def section(found: dict[tuple[float, str], Counted]) -> str:
    """The section of the page."""
    least = found[0.0, "and both"]
    all_of = Counted()
    for counted in found.values():
        all_of.add(counted)
    share, wrong = least.judged / least.cables, least.right_wrong / least.right
    rows = "\n".join(_row(*key, counted) for key, counted in found.items())
    met = {True: "met", False: "not met"}
    enough = met[wrong <= GOAL_WRONG]
    if not least.right_wrong and least.right < _ENOUGH:
        enough = f"none seen; {_OF_NONE / least.right * 1e5:.0f} in 100,000 at most at 95 %"
    still = met[all_of.right_moved == 0]
    return SECTION.marked(f"""## Cabling without LLDP

Fabrics of 64 hosts and 8 rails, each with six swaps of two cables, 2 % of the hosts unread, LLDP on a part of the
cables, on {", ".join(PLATFORMS)} in turn. MAC tables have an entry on 97 % of the ports with a host,
0.5 % of these are old; serial numbers are read at both ends of 90 % of the cables, and 3 % bear the number of another
cable. *Judged* are host cables said to be right or wrong. `python -m benchmarks.accuracy.witnesses` writes this
section; [evidence.md](../../docs/evidence.md) says what each witness proves.

| LLDP on | witnesses | judged | right called wrong | swapped cables found | called right | moves | of right cables |
|---|---|---|---|---|---|---|---|
{rows}

| without LLDP, with MAC tables and serial numbers | target | measured | |
|---|---|---|---|
| cables judged | {GOAL_JUDGED:.0%} at least | {share:.2%} | {met[share >= GOAL_JUDGED]} |
| right cables called wrong | 2 in 100,000 at most | {least.right_wrong} of {least.right:,} | {enough} |
| moves of right cables, in all rows | 0 | {all_of.right_moved} of {all_of.moved:,} | {still} |""")


def main(arguments: Iterable[str] | None = None) -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabrics", type=int, default=FABRICS, help="how many fabrics for each row")
    parser.add_argument("--processes", type=int, help="how many at once")
    parser.add_argument("--write", type=Path, help="replace the section of this page")
    options = parser.parse_args(None if arguments is None else list(arguments))
    text = section(measured(options.fabrics, options.processes))
    if options.write:
        options.write.write_text(SECTION.placed(options.write.read_text(encoding="utf-8"), text), encoding="utf-8")
    print(text)  # noqa: T201 - what the command is for
    return 0


if __name__ == "__main__":
    sys.exit(main())

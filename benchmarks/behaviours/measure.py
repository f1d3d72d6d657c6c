"""Each behaviour of real devices alone: on a faultless fabric, with one swap, one unplugged cable, one swapped leaf.

python -m benchmarks.behaviours.measure [--flag descr=peer_of_plan ...] [--fault swap] [--seed 1] [--seeds 4] [--show]

`--flag` may be given several times, `--together` puts all of them into one fabric.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing import Pool

from rich.console import Console

from benchmarks.behaviours.scoring import BehaviourScore, behaviour_score
from truerail.analysis.round import Round
from truerail.errors import NoRoomError
from truerail.model import CauseKind, Evaluation
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.simulator.behaviours import CATALOGUE, Behaviour, Behaviours

SHAPE = Shape(hosts=12, rails=4, spines=2, uplinks=4, spare_ports=6)
FAULTS: dict[str, tuple[Fault, ...]] = {
    "none": (),
    "swap": (Fault(CauseKind.CABLE_SWAP, "across"),),
    "unplugged": (Fault(CauseKind.LINK_DOWN, "host"),),
    "leaf": (Fault(CauseKind.LEAF_SWAP, "labels"),),
}
"""What is planted beside the behaviour."""

Task = tuple[tuple[str, ...], str, int]


def written() -> Iterator[str]:
    """Every behaviour in each of its variants."""
    for one in CATALOGUE.values():
        yield from (f"{one.name}={value}" for value in one.values)
        if not one.values:
            yield one.name


def fabric(flags: Sequence[str], fault: str, seed: int) -> Simulation:
    """The fabric that shows these behaviours, with this fault."""
    return plant(shape_of([CATALOGUE[name] for name in Behaviours.of(flags).choices]), fault, seed, flags)


def shape_of(behaviours: Sequence[Behaviour]) -> Shape:
    """The shape of a fabric that can show these behaviours."""
    platform = next((one.platform for one in behaviours if one.platform), "cumulus")
    shape = replace(SHAPE, planes=max((one.planes for one in behaviours), default=1), platforms=(platform,))
    return replace(shape, host_ports="rdma") if platform == "infiniband" else shape


def plant(shape: Shape, fault: str, seed: int, flags: Sequence[str]) -> Simulation:
    """The fabric of this shape with this fault; folders are named by inventory."""
    return simulate(shape, FAULTS[fault], seed=seed, folders="inventory", behaviours=flags)


def measured(task: Task) -> tuple[Task, BehaviourScore]:
    """Evaluates one fabric. What cannot be built or evaluated is a problem like any other."""
    try:
        simulation = fabric(*task)
        return task, behaviour_score(simulation, evaluated(simulation))
    except NoRoomError:
        return task, BehaviourScore()
    except Exception as error:  # noqa: BLE001 - one fabric must not end the others
        return task, BehaviourScore(fabrics=1, problems=[f"{type(error).__name__}: {error}"])


def evaluated(simulation: Simulation) -> Evaluation:
    """What a round says of it."""
    return evaluate(Round(simulation.plan, simulation.snapshot()))


def alone(seeds: int, flags: Sequence[str] = ()) -> dict[str, BehaviourScore]:
    """Every behaviour alone, with each fault and so many seeds."""
    tasks: list[Task] = [
        ((flag,), fault, seed) for flag in flags or tuple(written()) for fault in FAULTS for seed in range(seeds)
    ]
    found: dict[str, BehaviourScore] = {}
    with Pool() as pool:
        for task, score in pool.imap_unordered(measured, tasks, chunksize=4):
            score.problems = [f"{task[1]} seed {task[2]}: {problem}" for problem in score.problems]
            found.setdefault(task[0][0], BehaviourScore()).add(score)
    return dict(sorted(found.items()))


def summary(score: BehaviourScore) -> str:
    """One line for a terminal."""
    return (
        f"{score.fabrics} fabrics, {score.right_moved} right cables moved, {score.loud} of {score.faultless} faultless "
        f"ones loud, {score.uncaused} missing without cause; causes: {score.causes_found} found, "
        f"{score.causes_unknown} unknown, {score.causes_missed} missed, {score.causes_false} invented"
    )


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flag", action="append", default=[], help="a behaviour, as name, name=value or name@share")
    parser.add_argument("--together", action="store_true", help="all flags in one fabric")
    parser.add_argument("--fault", choices=list(FAULTS), help="one fault only")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the one fabric that --show prints")
    parser.add_argument("--seeds", type=int, default=2, help="how many seeds of each flag and fault")
    parser.add_argument("--show", action="store_true", help="print what is said of one fabric")
    options = parser.parse_args()
    console = Console(soft_wrap=True)
    if options.show or options.together:
        for fault in [options.fault] if options.fault else list(FAULTS):
            _show(tuple(options.flag), fault, options.seed, console)
        return 0
    for flag, score in alone(options.seeds, options.flag).items():
        console.print(f"{flag}: {summary(score)}", markup=False)
        for problem in score.problems[:6]:
            console.print(f"    {problem}", markup=False)
    return 0


def _show(flags: tuple[str, ...], fault: str, seed: int, console: Console) -> None:
    simulation = fabric(flags, fault, seed)
    evaluation = evaluated(simulation)
    console.print(f"{' '.join(flags)}, fault {fault}, seed {seed}", markup=False)
    for cause in (*simulation.truth.causes, *simulation.truth.noise):
        console.print(f"  is    {cause.kind} {' '.join(cause.subjects)}, {cause.moves} moves", markup=False)
    for said in evaluation.causes:
        console.print(f"  said  {said.kind}, {len(said.moves)} moves: {said.summary}", markup=False)
    for problem in behaviour_score(simulation, evaluation).problems:
        console.print(f"  {problem}", markup=False)


if __name__ == "__main__":
    sys.exit(main())

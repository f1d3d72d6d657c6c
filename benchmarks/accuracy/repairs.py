"""How good the order of repairs is: random fabrics, jobs and windows, beside the exact optimum; and how fast.

    python -m benchmarks.accuracy.repairs [--fabrics 1000] [--hosts 12500] [--write PAGE]
    python -m benchmarks.accuracy.repairs --seed 17     one fabric, its plan and its optimum

`--write` replaces what was measured in the section of the page: `--fabrics 0` or `--hosts 0` leave their part as it is.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from multiprocessing import Pool
from pathlib import Path
from random import Random
from time import perf_counter

import numpy as np
from rich.console import Console

from benchmarks.accuracy.exact_repairs import MOST_SECONDS, Optimum, optimum, violations
from benchmarks.sections import Section
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.errors import NoRoomError
from truerail.files.nodesets import fold
from truerail.model import CableState, CauseKind, Port, Role
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.plan_repair import basis_of, plan_repair, schedule_of
from truerail.questions.plan_repair_answer import RepairPlan
from truerail.questions.question import Asked
from truerail.questions.repair_order import Schedule, at_once, in_order, value
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.simulator.faults.planting import KINDS
from truerail.views.view import warm

FABRICS = 1000
HOSTS = 12_500
FAULTS = 300
NOW = datetime(2026, 11, 20, 14, tzinfo=UTC)
ORDER, TIMES = Section("repairs"), Section("repairs in time")
GOAL_SHARE, GOAL_SECONDS = 0.98, 2.0
SHAPES = (
    Shape(hosts=16, rails=8, spines=0, trunk=8),
    Shape(hosts=16, rails=8, spines=2, uplinks=4, trunk=8),
    Shape(hosts=16, rails=4, planes=2, spines=2, uplinks=4, trunk=8),
    Shape(hosts=24, pods=3, rails=4, spines=2, uplinks=4, superspines=2, trunk=8),
    Shape(hosts=32, pods=2, rails=8, spines=2, uplinks=4, trunk=8),
)


DRAWN = (*KINDS, *3 * (CauseKind.CABLE_SWAP, CauseKind.CABLE_MOVE, CauseKind.LINK_DOWN, CauseKind.DEGRADED_LINK))
"""Kinds of faults: those of single cables are the most usual ones."""


@dataclass(frozen=True)
class Drawn:
    """A fabric with faults, jobs, windows and technicians."""

    seed: int
    simulation: Simulation
    publication: Published
    job: str | None
    window: str | None
    technicians: int

    @property
    def given(self) -> tuple[Asked, str | None, str | None, int]:
        """What the question is asked of, and its parameters."""
        return Asked(self.publication, NoHistory(), NOW), self.job, self.window, self.technicians


@dataclass(frozen=True, slots=True)
class Judged:
    """One order of repairs beside its optimum, in GPU-units. `by_impact` is the same planner without its search: most
    GPUs first.
    """

    seed: int
    repairs: int
    placed: int
    found: float
    best: Optimum
    by_impact: float
    broken: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the optimum, or of its bound."""
        return self.found / self.best.value if self.best.value else 1.0


@dataclass(slots=True)
class Speed:
    """A fabric of many hosts: seconds of the first question, and of the next."""

    hosts: int = 0
    repairs: int = 0
    placed: int = 0
    seconds: list[float] = field(default_factory=list)


def draw(seed: int) -> Drawn:
    """The fabric of this seed: 3 to 16 faults, up to four jobs and four windows, one to three technicians."""
    rng = Random(f"repairs {seed}")  # noqa: S311 - reproducible is what is wanted, not secret
    shape = rng.choice(SHAPES)
    simulation = _simulated(shape, rng, seed)
    publication = publication_of(Round(simulation.plan, simulation.snapshot()))
    hosts = [device.name for device in simulation.plan.of_role(Role.HOST)]
    jobs, windows = "; ".join(_jobs(rng, hosts)) or None, "; ".join(_windows(rng, simulation)) or None
    return Drawn(seed, simulation, publication, jobs, windows, rng.choice((1, 1, 2, 3)))


def _simulated(shape: Shape, rng: Random, seed: int) -> Simulation:
    """With as many of the drawn faults as there is room for."""
    faults = [Fault(rng.choice(DRAWN)) for _ in range(rng.randint(3, 16))]
    while True:
        try:
            return simulate(shape, faults, seed=seed, folders="inventory")
        except NoRoomError:
            faults.pop()


def _jobs(rng: Random, hosts: list[str]) -> Iterator[str]:
    """Up to four jobs: on a part of the hosts, or on all."""
    left = rng.sample(hosts, round(len(hosts) * rng.choice((0, 0.3, 0.7, 1, 1))))
    for number in range(4):
        size = len(left) if number == 3 else rng.randint(0, len(left))
        own, left = sorted(left[:size]), left[size:]
        if own:
            yield f"job{number}={fold(own)}"


def _windows(rng: Random, simulation: Simulation) -> Iterator[str]:
    """Up to four windows of 30 to 150 minutes: half of them for the whole fabric."""
    devices = list(simulation.plan.devices.values())
    pods = sorted({device.pod for device in devices if device.pod})
    for _ in range(rng.randint(0, 4)):
        part = (rng.choice(devices).name, f"rail {rng.randrange(4)}", *(f"pod {pod}" for pod in pods))
        what = "" if rng.random() < 0.5 else f"{rng.choice(part)}="
        starts = NOW + timedelta(minutes=15 * rng.randint(0, 60))
        yield f"{what}{starts:%Y-%m-%dT%H:%MZ}/{15 * rng.randint(2, 10)}m"


def judge(seed: int) -> Judged:
    """Plans the repairs of one fabric, and compares."""
    drawn = draw(seed)
    work = schedule_of(basis_of(*drawn.given))
    start = in_order(work)
    answer = plan_repair(*drawn.given)
    broken = (*violations(work, start), *broken_promises(drawn, answer))
    return Judged(
        seed,
        len(start),
        int((start >= 0).sum()),
        value(work, start),
        optimum(work),
        value(work, _by_impact(work)),
        broken,
    )


def _by_impact(work: Schedule) -> "np.typing.NDArray[np.int64]":
    return at_once(work, np.argsort(-work.weight, kind="stable"))


def broken_promises(drawn: Drawn, answer: RepairPlan) -> list[str]:
    """What an answer asks for that it must not, by the truth of the fabric and not by its own figures."""
    truth, states = drawn.simulation.truth, drawn.publication.evaluation.cable_states
    busy = {name for one in (drawn.job or "").split("; ") if one for name in _expanded(one)}
    hosts = {device.name for device in drawn.simulation.plan.of_role(Role.HOST)}
    busy = busy or hosts
    found = []
    for one in answer.repairs:
        for step in one.steps if one.work == "move" else ():
            port = Port(*str(step.far).split("/", 1))
            if port not in truth.moved | truth.wrong | truth.unknown:
                found.append(f"{one.key} moves {port}, which is right")
            live = states.get(port) is not CableState.MISSING
            if one.when == "now" and port.device in busy and live:
                found.append(f"{one.key} unplugs {port} of a host with a job")
        if one.work == "confirm" and one.steps:
            found.append(f"{one.key} is undecided, and has moves")
    return found


def _expanded(job: str) -> Iterable[str]:
    from truerail.files.nodesets import expand

    return expand(job.rpartition("=")[2])


def speed(hosts: int, faults: int) -> Speed:
    """Times the question on a large fabric, as a service asks it: the evaluation is there."""
    shape = Shape(hosts=hosts, rails=8, pods=max(1, round(hosts / 128)), spines=16, uplinks=16)
    simulation = simulate(shape, faults, seed=1)
    publication = publication_of(Round(simulation.plan, simulation.snapshot()))
    warm(publication)
    found = Speed(hosts)
    for number in range(3):
        begun = perf_counter()
        answer = plan_repair(Asked(replace(publication, number=number), NoHistory(), NOW), None, "tomorrow 22:00/4h", 4)
        found.seconds.append(perf_counter() - begun)
    found.repairs, found.placed = len(answer.repairs), sum(bool(one.when) for one in answer.repairs)
    return found


def measured(fabrics: int, hosts: int) -> str:
    """The sections, measured now; nothing of what is not to be measured."""
    results: list[Judged] = []
    if fabrics:
        with Pool() as pool:
            results = sorted(pool.imap_unordered(judge, range(fabrics), chunksize=8), key=lambda one: one.seed)
    parts = [section(results)] if fabrics else []
    return "\n\n".join([*parts, *([times(speed(hosts, FAULTS))] if hosts else [])])


def section(results: list[Judged]) -> str:
    """The section of benchmarks/results/accuracy.md."""
    found, plain = (sum(getattr(one, name) for one in results) for name in ("found", "by_impact"))
    best = sum(one.best.value for one in results)
    broken = [words for one in results for words in one.broken]
    worst = min((one.share for one in results), default=1.0)
    exact = sum(one.share > 1 - 1e-9 for one in results)
    within = sum(one.share >= GOAL_SHARE for one in results)
    bounds = sum(not one.best.proven for one in results)
    return ORDER.marked(f"""## Order of repairs

`truerail plan-repair` on {len(results)} random fabrics of 16 to 32 hosts, with 3 to 16 faults, up to four jobs and four
maintenance windows, and one to three technicians. The objective is GPU-hours given back until the plan ends. The judge
is the exact optimum of the same repairs (`scipy.optimize.milp`; after {MOST_SECONDS:.0f} s for one fabric, the bound
that no order exceeds), and a check of every constraint that shares no code with the planner: time that allows the
repair, technicians, what may not be done together, what comes first; and by the truth of each fabric that no right
cable is moved, and no plug pulled under a running job.
`python -m benchmarks.accuracy.repairs --seed N` shows one of them.

| | |
|---|---|
| repairs, with a place in the plan | {sum(one.repairs for one in results)}, {sum(one.placed for one in results)} |
| broken constraints | {len(broken)} |
| share of the optimum, over all fabrics | {found / best if best else 1:.4f} |
| worst fabric | {worst:.4f} |
| fabrics within 2 % of the optimum | {within} of {len(results)} |
| fabrics at the optimum | {exact} of {len(results)} |
| fabrics judged by a bound, as no optimum was proven | {bounds} |
| share of the optimum without the search: most GPUs first | {plain / best if best else 1:.4f} |""")


def times(fast: Speed) -> str:
    """The section about a large fabric."""
    return TIMES.marked(
        f"{fast.hosts:,} hosts with {fast.repairs} causes, 4 technicians and one window: {fast.seconds[0]:.2f} s for "
        f"the first question,\n{min(fast.seconds):.2f} s for the next (goal {GOAL_SECONDS:.0f} s); {fast.placed} of "
        "them have a place."
    )


def placed(page: str, text: str) -> str:
    """A page with the measured sections in place of the former ones."""
    for part in (ORDER, TIMES):
        if measured_now := part.of(text):
            page = part.placed(page, measured_now)
    return page


def show(seed: int, console: Console) -> None:
    """Prints one fabric's plan and its optimum."""
    drawn = draw(seed)
    console.print(f"jobs {drawn.job}, windows {drawn.window}, {drawn.technicians} technicians", markup=False)
    console.print(answer_text(plan_repair(*drawn.given), Options(100, details=True)), markup=False)
    console.print(judge(seed), markup=False)


def main() -> int:
    """Measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fabrics", type=int, default=FABRICS, help="how many fabrics (seeds 0 to N-1)")
    parser.add_argument("--hosts", type=int, default=HOSTS, help="size of the fabric that is timed; 0: none")
    parser.add_argument("--write", type=Path, help="replace the section of this file")
    parser.add_argument("--seed", type=int, help="show the fabric of one seed instead")
    options = parser.parse_args()
    console = Console()
    if options.seed is not None:
        show(options.seed, console)
        return 0
    text = measured(options.fabrics, options.hosts)
    if options.write:
        options.write.write_text(placed(options.write.read_text(encoding="utf-8"), text), encoding="utf-8")
    console.print(text, markup=False, highlight=False, soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

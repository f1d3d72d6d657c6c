"""Days on which nothing is wrong: what is said of them nevertheless is a false alarm."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from benchmarks.telemetry.drawn import STEP, polled
from benchmarks.telemetry.jobs import jobs_of_day
from truerail.analysis.counters import Window
from truerail.analysis.round import Round
from truerail.model import Finding, Severity
from truerail.model.pause import garbage_collection_paused
from truerail.rounds import evaluate
from truerail.simulator import Shape, Simulation, simulate
from truerail.simulator.traffic import HABITS, LATER, FlowSimulation, Habits, Polls, flows

DAY = 86400.0
EVERY = 300.0
"""Seconds between two evaluations: as long as the window is, so that each sample is evaluated once."""
SHAPES = (
    Shape(hosts=16, rails=4, spines=2, uplinks=8),
    Shape(hosts=16, rails=8, spines=2, uplinks=8),
    Shape(hosts=24, rails=4, pods=2, spines=4, uplinks=8),
    Shape(hosts=32, rails=4, pods=2, spines=4, uplinks=16),
    Shape(hosts=32, rails=4, pods=2, spines=4, uplinks=8, superspines=4),
    Shape(hosts=32, rails=8, spines=4, uplinks=16),
    Shape(hosts=48, rails=4, spines=4, uplinks=16),
    Shape(hosts=64, rails=4, pods=2, spines=8, uplinks=16, superspines=8),
)
LOAD = ("PFC002", "ECN001", "INC001", "CAP001")
"""Warnings of congestion that jobs make by themselves: it is there, and no false alarm. Critical it is never."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A finding on a day without a fault: said from second `at` on, once however long or often it stands."""

    day: int
    at: float
    rule: str
    severity: str
    subject: str
    summary: str
    true: bool = False
    """Whether it names a host that did restart, or whose PFC is off."""

    @property
    def load(self) -> bool:
        """Whether it warns of what is there: congestion, a host that restarted, or one whose PFC is off."""
        return (self.rule in LOAD or self.true) and self.severity != Severity.CRITICAL

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Day:
    """One day: a fabric, its jobs, and how its devices answer."""

    number: int
    fabric: Simulation
    traffic: FlowSimulation

    def __str__(self) -> str:
        shape = self.fabric.world.fabric.shape
        jobs = len({job.name for job in self.traffic.jobs})
        return f"day {self.number}: {shape.hosts} hosts, {shape.rails} rails, {shape.pods} pods, {jobs} jobs"


def habits_of(number: int) -> tuple[str, ...]:
    """What the devices of a day do that looks ill: each habit on about every third day."""
    rng = Random(f"habits of day {number}")  # noqa: S311 - reproducible is what is wanted, not secret
    more = Random(f"more habits of day {number}")  # noqa: S311 - as above
    return tuple(habit for habit in HABITS if (more if habit in LATER else rng).random() < 0.35)


def draw_day(number: int, seconds: float = DAY, habits: Sequence[str] | None = None) -> Day:
    """The day with this number; the same number gives the same day. `habits` are drawn too unless they are named."""
    rng = Random(f"healthy day {number}")  # noqa: S311 - reproducible is what is wanted, not secret
    shape = SHAPES[number % len(SHAPES)]
    fabric = simulate(shape, seed=number)
    hosts = list(fabric.plan.devices)[: shape.hosts]
    jobs = jobs_of_day(hosts, shape.rails, seconds, rng)
    polls = Polls(
        jitter=rng.choice((0.1, 0.3)),
        lost=rng.choice((0.0, 0.005, 0.02)),
        cached=rng.choice((0.0, 0.01)),
        reset=5e-6,
        silent=5e-6,
        stale=rng.choice((0.0, 2e-5)),
    )
    wanted = habits_of(number) if habits is None else habits
    return Day(number, fabric, flows(fabric, jobs, seed=10_000 + number, polls=polls, habits=wanted))


def alarms_of(day: Day, seconds: float = DAY) -> Iterator[Alarm]:
    """What is said of a day, evaluated every so often. A finding that gets louder counts again."""
    traffic, window = day.traffic, Window(step_seconds=STEP)
    still = day.fabric.snapshot()
    loudest: dict[str, int] = {}
    while traffic.now < seconds:
        seen = polled(traffic, window, still, traffic.now + EVERY)
        with garbage_collection_paused():
            findings = evaluate(Round(day.fabric.plan, seen, window.view())).findings
        for finding in findings:
            if finding.severity.rank > loudest.get(finding.id, 0):
                loudest[finding.id] = finding.severity.rank
                alarm = _alarm(day.number, traffic.now, finding)
                yield replace(alarm, true=finding.subject in _TRUE.get(finding.rule, _none)(traffic.habits))


def _none(_: Habits) -> set[str]:
    return set()


_TRUE: Mapping[str, Callable[[Habits], set[str]]] = {
    "LNK003": lambda habits: habits.restarted,
    "CFG001": lambda habits: habits.without_pfc,
}
"""By rule, the hosts that it rightly names."""


def _alarm(day: int, at: float, finding: Finding) -> Alarm:
    return Alarm(day, at, finding.rule, str(finding.severity), finding.subject, finding.summary)

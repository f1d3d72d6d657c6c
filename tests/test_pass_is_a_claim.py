"""A fault of each kind that counters show, in the weakest conditions: its rule finds it or says unknown, never pass."""

from collections.abc import Iterator
from functools import cache

import pytest

from benchmarks.telemetry.polled_rounds import seen_now
from rules import rules
from truerail.analysis.counters import Window
from truerail.analysis.round import Round
from truerail.analysis.rule import InsufficientDataError
from truerail.model import Snapshot
from truerail.simulator import Shape, Simulation, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, FlowSimulation, Job, Pattern, Polls, Switching, flows
from truerail.simulator.traffic.habits import PORT_CACHE

K = FlowFaultKind
RULES = {
    K.STORM: "PFC001",
    K.SLOW_RECEIVER: "PFC002",
    K.DEADLOCK: "PFC003",
    K.STRAGGLER: "RAL002",
    K.HALF_SPEED: "LNK001",
    K.DIRTY_OPTIC: "LNK004",
    K.FLAPS: "LNK003",
    K.POLARIZATION: "LBL001",
    K.DEAD_MEMBER: "LBL003",
    K.INCAST: "INC001",
}
FEW = Shape(hosts=4, rails=4, spines=2, uplinks=4)
DEEP = Shape(hosts=16, rails=4, pods=2, spines=4, uplinks=8, superspines=4)
WEAK = (
    "two-samples",
    "few-samples",
    "few-flows",
    "few-hosts",
    "totals-only",
    "slow-polls",
    "little-load",
    "port-cache",
)


def conditions() -> Iterator[object]:
    for kind in RULES:
        for weak in WEAK:
            if (kind, weak) == (K.SLOW_RECEIVER, "little-load"):
                continue  # it takes in all that there is
            yield pytest.param(kind, weak, id=f"{kind.value}-{weak}")


@cache
def quiet(shape: Shape) -> tuple[Simulation, Snapshot]:
    """A fabric of this shape, and what it answers without traffic."""
    fabric = simulate(shape, [], seed=5)
    return fabric, fabric.snapshot()


def watched(shape: Shape, traffic: FlowSimulation, rounds: int, step: float = 10.0) -> Round:
    """What a service knows of traffic after so many rounds; the last one is as devices answer, for the evidence."""
    fabric, still = quiet(shape)
    window = Window()
    for _ in range(rounds):
        window.put_answers(traffic.answers())
        traffic.step(step)
    last = traffic.readings()
    window.put(last)
    return Round(fabric.plan, seen_now(still, traffic, last), window.view())


@cache
def faulty(kind: FlowFaultKind, weak: str, coupling: float = 0.0) -> Round:
    """What is seen after the fault has stood for all of the window."""
    shape = FEW if weak == "few-hosts" and kind is not K.POLARIZATION else DEEP
    fabric, _ = quiet(shape)
    hosts = tuple(list(fabric.plan.devices)[: shape.hosts])
    slots = tuple(range(shape.rails))
    load = 0.02 if weak == "little-load" else 2.0
    jobs: tuple[Job, ...] = (
        Job(
            "experts", hosts, Pattern.ALL_TO_ALL, slots, qps=1 if weak == "few-flows" else 4, gigabytes=load,
            compute_seconds=1.0 if weak == "little-load" else 0.1, coupling=coupling,
        ),
    )  # fmt: skip
    jobs = () if kind is K.INCAST else jobs  # what the host sends itself would make it no incast
    polls = Polls(priorities=weak != "totals-only", durations=weak != "totals-only")
    at = str(fabric.plan.cables[0].a) if kind is K.INCAST else ""
    habits = [PORT_CACHE] if weak == "port-cache" else []
    traffic = flows(fabric, jobs, [FlowFault(kind, at=at)], 5, polls=polls, habits=habits)
    rounds = {"two-samples": 2, "few-samples": 3}.get(weak, 16)
    return watched(shape, traffic, rounds, 60.0 if weak == "slow-polls" else 10.0)


def verdict(kind: FlowFaultKind, weak: str, code: str, *, coupling: float = 0.0) -> str:
    """What a rule says."""
    try:
        found = list(rules()[code].findings(faulty(kind, weak, coupling)))
    except InsufficientDataError:
        return "unknown"
    return "fail" if found else "pass"


@pytest.mark.parametrize(("kind", "weak"), [*conditions()])
def test_a_planted_fault_never_passes(kind: FlowFaultKind, weak: str) -> None:
    assert verdict(kind, weak, RULES[kind]) in ("fail", "unknown")


@pytest.mark.parametrize("gaps", [(), ("pfc_total_only",), ("pfc_missing",), ("na_cells",), ("port_cache",)])
def test_what_a_watchdog_drops_of_a_lossless_priority_never_passes(gaps: tuple[str, ...]) -> None:
    fabric, _ = quiet(DEEP)
    hosts = tuple(list(fabric.plan.devices)[: DEEP.hosts])
    jobs = (Job("experts", hosts, Pattern.ALL_TO_ALL, tuple(range(DEEP.rails)), qps=4, gigabytes=2.0),)
    switching = Switching(watchdog=True)
    traffic = flows(fabric, jobs, [FlowFault(K.STORM)], 5, switching=switching, habits=gaps)
    try:
        found = [*rules()["PFC004"].evaluate(watched(DEEP, traffic, 12))]
    except InsufficientDataError:
        found = ["unknown"] if gaps else []
    assert found


BESIDE = [(K.STRAGGLER, "RAL001", weak) for weak in WEAK]
BESIDE += [(K.INCAST, "ECN001", weak) for weak in WEAK if weak != "few-hosts"]
"""Three senders mark one packet in 1,300, which ECN001 calls healthy."""


@pytest.mark.parametrize(("kind", "code", "weak"), BESIDE)
def test_the_rule_beside_it_does_not_pass_either(kind: FlowFaultKind, code: str, weak: str) -> None:
    assert verdict(kind, weak, code) in ("fail", "unknown")


@pytest.mark.parametrize("weak", WEAK)
@pytest.mark.parametrize("coupling", [0.9, 1.0])
def test_a_straggler_in_step_with_its_peers_never_passes(weak: str, coupling: float) -> None:
    """A synchronous collective goes at the rate of its slowest NIC: all rates are alike."""
    assert verdict(K.STRAGGLER, weak, "RAL002", coupling=coupling) in ("fail", "unknown")

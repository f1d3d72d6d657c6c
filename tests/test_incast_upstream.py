"""An incast explains what it does to its senders: marks at its own leaf, and pauses that pass switches too weakly."""

from collections.abc import Sequence
from functools import cache

import pytest

from benchmarks.telemetry.polled_rounds import seen_now
from truerail.analysis.counters import Window
from truerail.analysis.round import Round
from truerail.model import CauseKind, Evaluation
from truerail.outputs.report_json import document
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, Job, Pattern, Polls, flows

PODS = Shape(hosts=16, rails=4, pods=2, spines=4, uplinks=8, superspines=4)
ONE_POD = Shape(hosts=16, rails=4, spines=2, uplinks=4)


@cache
def evaluated(shape: Shape, *, busy: bool) -> Evaluation:
    """Six minutes of an incast to the first NIC of the plan, beside a job of all the other hosts where it is busy."""
    fabric = simulate(shape, [], seed=5)
    receiver = fabric.plan.cables[0].a
    others = tuple(name for name in list(fabric.plan.devices)[: shape.hosts] if name != receiver.device)
    slots = tuple(range(shape.rails))
    jobs = [Job("experts", others, Pattern.ALL_TO_ALL, slots, qps=4, gigabytes=2.0, compute_seconds=0.1)]
    faults = [FlowFault(FlowFaultKind.INCAST, at=str(receiver))]
    traffic = flows(fabric, jobs if busy else [], faults, 5, polls=Polls())
    window, still = Window(), fabric.snapshot()
    last = traffic.readings()
    window.put(last)
    for _ in range(40):
        traffic.step(10.0)
        last = traffic.readings()
        window.put(last)
    return evaluate(Round(fabric.plan, seen_now(still, traffic, last), window.view()))


def about(evaluation: Evaluation, rule: str) -> dict[str, Sequence[str]]:
    """The subjects of the findings of a rule to the subjects of their cause, as the report has them."""
    report = document(evaluation)
    subjects = {cause["id"]: cause["subjects"] for cause in report["causes"]}
    return {one["subject"]: subjects[one["cause"]] for one in report["findings"] if one["rule"] == rule}


@pytest.mark.parametrize("shape", [PODS, ONE_POD], ids=["pods", "one pod"])
def test_an_incast_alone_is_one_cause(shape: Shape) -> None:
    (cause,) = evaluated(shape, busy=False).causes
    assert cause.kind is CauseKind.OVERLOAD
    assert {finding.rule for finding in evaluated(shape, busy=False).findings} == {"INC001", "PFC002", "ECN001"}
    assert len(cause.explains) == len(evaluated(shape, busy=False).findings)


def test_pressure_at_the_senders_spines_is_the_incasts() -> None:
    pressed = about(evaluated(PODS, busy=True), "PFC002")
    assert {port.partition("-")[0] for port in pressed} > {"p1", "p2"}, "some of it is in the senders' pod"
    assert set(map(tuple, pressed.values())) == {("p1-leaf-0/swp1",)}


def test_marks_of_another_job_are_not_the_incasts() -> None:
    marked = about(evaluated(PODS, busy=True), "ECN001")
    assert marked["p1-leaf-0"] == ["p1-leaf-0/swp1"]
    assert all(cause == [leaf] for leaf, cause in marked.items() if leaf != "p1-leaf-0")
    assert len(marked) > 1

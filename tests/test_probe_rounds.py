"""Later rounds of a path sweep: their budget, and their recordings joined with the first ones."""

import json
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np

from benchmarks.probe.cost import most_in_a_second, nics_of, rendered
from truerail.model.columns import NONE
from truerail.model.probe_facts import FULL_TTL
from truerail.probe.follow_ups import MOST_SECONDS, HopProbes, merged, round_of
from truerail.probe.host_tasks import ProbePlan, Settings, plan_run
from truerail.probe.path_sweep import USUAL, sweep_of
from truerail.simulator import Shape
from truerail.simulator.fabric.builder import build

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
PLAN = build(Shape(hosts=16, rails=2, pods=2, spines=2, uplinks=2, superspines=2, spare_ports=0)).plan


def swept() -> ProbePlan:
    """A sweep's first round."""
    nics = nics_of(PLAN)
    return plan_run((), Settings(what=("paths", "loss")), AT, {}, sweep_of(PLAN, nics, (), USUAL, across_rails=True))


def recording(**tables: Any) -> str:
    """A host's recording."""
    empty: dict[str, Any] = {"sends": [], "hears": [], "sent": [], "heard": [], "hops": [], "trouble": []}
    return json.dumps({"truerail_probe": 1, "run": "r", **empty, **tables})


FLOW = {"flow": 1}
SENT = recording(
    sends=[FLOW], sent=[[1, 50000, 64, 64, 3], [1, 50000, 2, 64, 2]], hops=[[1, 50000, 2, 64, "10.0.0.1", "x", 0, 1]]
)
HEARD = recording(hears=[FLOW], heard=[[1, 50000, 64, 64, 104, "eth0", 3]])


def test_a_sweep_asks_each_hop_twice_and_no_nic_asks_one_ttl_twice_in_a_second() -> None:
    plan = swept()
    assert plan.sweep
    rows = [(pair.source.cable, row) for pair, flow in rendered(plan.flows) for row in flow["paced"]]
    assert {row[3] for _, row in rows} == {2}
    ports = {(nic, row[0]): row[1] for nic, row in rows}
    assert len(rows) == sum(Counter((nic, row[0]) for nic, row in rows).values())
    assert {row[1] for _, row in rows} == {1, 2, 3, 4, 5}
    assert len(ports) == sum(flow["source_ports"] for _, flow in rendered(plan.flows))

    when = np.array([row[4] + again * row[5] for _, row in rows for again in range(2)])
    of = np.array([nic * 8 + row[1] for nic, row in rows for _ in range(2)])
    assert most_in_a_second(of, when) == 1
    assert plan.seconds > max(when)


def test_later_rounds_keep_the_budget_and_end() -> None:
    plan = swept()
    assert plan.sweep
    pairs = [pair for pair in plan.sweep.planned.pairs if pair.hops == 5]
    first = {
        pair.source.cable: flow["source_port"]
        for pair, flow in reversed(list(rendered(plan.flows)))
        if pair.pinglist == "P"
    }
    nic = {port: nic.cable for port, nic in plan.sweep.nic_of.items()}
    questions = [HopProbes(one.source, one.target, first[nic[one.source]], 3, 900, NONE) for one in pairs]
    questions += [HopProbes(one.source, one.target, first[nic[one.source]], FULL_TTL, 50) for one in pairs[:3]]
    later = round_of(plan, questions)
    assert later
    rows = [row for _, flow in rendered(later.flows) for row in flow["paced"]]
    ending = [row for row in rows if row[1] == 3]
    asked = sum(1 / row[5] for row in ending)
    assert asked <= USUAL.mean_of(0) + 1e-9
    assert max(row[4] + row[5] * (row[3] - 1) for row in rows) <= MOST_SECONDS
    assert {row[3] for row in ending} < set(range(1, 900))
    assert later.run == plan.run
    assert round_of(plan, ()) is None


def test_recordings_of_later_rounds_are_added() -> None:
    both = merged({"a": SENT, "b": HEARD}, {"a": SENT, "b": HEARD})
    a, b = json.loads(both["a"]), json.loads(both["b"])
    assert a["sent"] == [[1, 50000, 64, 64, 6], [1, 50000, 2, 64, 4]]
    assert a["hops"] == [[1, 50000, 2, 64, "10.0.0.1", "x", 0, 2]]
    assert b["heard"] == [[1, 50000, 64, 64, 104, "eth0", 6]]


def test_packets_whose_listener_is_no_witness_are_not_added() -> None:
    late = json.loads(HEARD) | {"trouble": [["started late", "", None, 900, None]]}
    for more in ({"a": SENT}, {"a": SENT, "b": json.dumps(late)}):
        found = merged({"a": SENT, "b": HEARD}, more)
        assert json.loads(found["a"])["sent"] == [[1, 50000, 64, 64, 3], [1, 50000, 2, 64, 4]]
        assert json.loads(found["b"])["heard"] == [[1, 50000, 64, 64, 104, "eth0", 3]]
        assert not json.loads(found["b"])["trouble"]


def test_a_first_recording_that_is_not_understood_stays() -> None:
    assert merged({"a": "no JSON", "b": HEARD}, {"a": SENT, "b": HEARD})["a"] == "no JSON"

"""What a path sweep sends: enough flows for every conclusion, no switch asked too often, and what is asked again."""

from collections import Counter
from math import log
from random import Random

import numpy as np
import pytest

from benchmarks.probe.fabrics import SHAPES, Shape, fabric
from tests.sweep_fabrics import TWO_TIERS, graph_of, swept_paths
from truerail.analysis.rule import Case
from truerail.analysis.sweep.losses import losses_of, tail
from truerail.model import Port
from truerail.model.probe_facts import FULL_TTL
from truerail.probe.follow_ups import confirming, more_packets, unanswered
from truerail.probe.path_sweep import A_SECOND_AND_SWITCH, MISSED, USUAL, path_sweep, ports_for
from truerail.testing.cases import plan_of


def test_ports_leave_no_member_out() -> None:
    assert [ports_for(members) for members in (1, 2, 4, 8, 16, 32, 64)] == [1, 15, 37, 85, 186, 400, 849]
    assert ports_for(4, places=32) == 45


def test_the_worst_second_of_thousands_of_switches_is_within_the_budget() -> None:
    assert USUAL.mean_of(999) == USUAL.mean_of(0) > USUAL.mean_of(1000)
    switch_seconds, windows = 3_600 * 12_000, 10  # 12,500 hosts; seconds that begin at any time
    assert switch_seconds * windows * tail(int(A_SECOND_AND_SWITCH) + 1, USUAL.mean_of(3_600)) < 0.05
    assert switch_seconds * tail(int(A_SECOND_AND_SWITCH) + 1, USUAL.mean_of(0)) > 1


@pytest.mark.parametrize("shape", SHAPES[1:3], ids=lambda shape: shape.name)
def test_every_leaf_has_flows_for_its_uplinks_and_those_above(shape: Shape) -> None:
    plan = fabric(shape).plan
    sweep = path_sweep(plan, across_rails=True)
    leaf_of = {cable.a: cable.b.device for cable in plan.host_cables}
    flows = Counter[str]()
    for pair in sweep.pairs:
        if pair.hops > 3:
            flows[leaf_of[pair.source]] += pair.source_ports
        assert leaf_of[pair.target] != leaf_of[pair.source] or pair.hops == 1
    spine = sum(flows.values()) / len(flows) * shape.rails / shape.spines
    assert spine * log(1 - 1 / shape.cores) < log(MISSED / (4 * shape.cores * shape.spines))
    assert {pair.source.device for pair in sweep.pairs} == {cable.a.device for cable in plan.host_cables}
    assert {pair.hops for pair in sweep.pairs} == {1, 3, 5}
    assert sweep.busiest <= USUAL.mean_of(0) < A_SECOND_AND_SWITCH


def test_a_large_fabric_is_swept_more_slowly_and_not_its_switches_asked_more() -> None:
    lines = [f"h{leaf}x{n}/nic0 leaf-{leaf}/p{n} rail=0" for leaf in range(6) for n in range(60)]
    lines += [f"leaf-{leaf}/up{spine} spine-{spine}/d{leaf}" for leaf in range(6) for spine in range(2)]
    sweep = path_sweep(plan_of(Case(plan="\n".join(lines))))
    assert sweep.busiest == pytest.approx(USUAL.mean_of(0))
    nics = {Port(f"h{leaf}x{n}", "nic0") for leaf in range(2) for n in range(3)}
    assert {pair.source for pair in path_sweep(plan_of(Case(plan="\n".join(lines))), nics=nics).pairs} == nics


def test_leaves_without_uplinks_are_swept_under_themselves() -> None:
    plan = plan_of(Case(plan="h1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-0/p2 rail=0\nh3/nic0 leaf-1/p1 rail=0"))
    sweep = path_sweep(plan)
    assert [(str(pair.source), str(pair.target), pair.hops) for pair in sweep.pairs] == [
        ("h1/nic0", "h2/nic0", 1),
        ("h2/nic0", "h1/nic0", 1),
    ]
    assert path_sweep(plan_of(Case(plan=""))).pairs == ()


def test_what_did_not_answer_is_asked_again_and_links_with_few_packets_get_more() -> None:
    graph = graph_of(TWO_TIERS)
    flows = [("h0", "h1")] * 4
    paths = swept_paths(
        graph,
        flows,
        lambda flow: ("leaf-0", f"spine-{flow}", "leaf-1"),
        packets=300,
        answers=lambda flow, ttl: 0 if (flow, ttl) == (3, 2) else 2,
    )
    assert [(one.source_port, one.ttl, one.packets) for one in unanswered(paths)] == [(3, 2, 1)]
    more = list(more_packets(paths))
    assert [(one.source_port, one.ttl, one.packets) for one in more] == [(flow, FULL_TTL, 700) for flow in range(3)]
    assert str(more[0].source) == "h0/nic0"


def test_a_tie_is_asked_behind_each_of_its_links_with_others_beside() -> None:
    graph = graph_of(TWO_TIERS)
    flows = [("h0", "h1")] * 32 + [("h2", "h0")] * 8
    paths = swept_paths(
        graph,
        flows,
        lambda flow: (flows[flow][0].replace("h", "leaf-"), f"spine-{flow % 4}", flows[flow][1].replace("h", "leaf-")),
        packets=400,
        lost=lambda flow: 8 if flow < 32 and flow % 4 == 1 else 0,
    )
    losses = losses_of(paths)
    (seat,) = losses.lossy_seats
    assert len(seat.segments) == 2
    asked = list(confirming(paths, losses))
    behind = Counter(
        one.ttl for one in asked if one.source_port < 32 and one.source_port % 4 == 1 for _ in range(one.packets)
    )
    assert behind[2] >= 8 / seat.rate
    assert behind[3] >= 8 / seat.rate
    assert any(one.source_port >= 32 for one in asked)
    clean = swept_paths(graph, flows, lambda flow: ("leaf-0", "spine-1", "leaf-1"), packets=10)
    assert not list(confirming(clean, losses_of(clean)))
    assert np.all(clean.flows.lost == 0)


def test_distances_are_those_of_the_links_also_where_switches_are_no_twins() -> None:
    draw = Random(7)
    lines = [f"h{leaf}/nic0 leaf-{leaf}/p0 rail=0" for leaf in range(6)]
    lines += [f"leaf-{a}/up{b} spine-{b}/d{a}" for a in range(6) for b in range(4) if a < 2 or draw.random() < 0.6]
    lines += [f"spine-{b}/up{c} superspine-{c}/d{b}" for b in range(4) for c in range(2) if draw.random() < 0.7]
    graph = graph_of("\n".join(lines))
    names = graph.index.devices.names
    twins = {names[one]: names[other] for one, other in graph.twins.items()}
    assert twins["leaf-1"] == "leaf-0"
    tail, head, _ = graph.edges
    links = set(zip(tail.tolist(), head.tolist(), strict=True))
    for target in range(len(names)):
        known = {target: 0}
        front = [target]
        for one in front:
            for other in sorted(a for a, b in links if b == one and a not in known):
                known[other] = known[one] + 1
                front.append(other)
        assert graph.hops_to(target).tolist() == [known.get(device, -1) for device in range(len(names))]

"""Where swept flows lose packets: seats, ties, the confirming step, and losses without a seat."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.sweep_fabrics import PARALLEL, TWO_TIERS, graph_of, names, swept_paths
from truerail.analysis.sweep.choices import choices_of, dependence, flows_for, gamma_tail, information
from truerail.analysis.sweep.confirming import confirmed
from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import _trials, losses_of, tail, together
from truerail.analysis.sweep.packet_seats import cut_offs
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.analysis.sweep.seats import Seat, Trials, locate

PAIRS = [(f"h{a}", f"h{b}") for a in range(3) for b in range(3) if a != b]
FLOWS = [PAIRS[n % 6] for n in range(144)]


@pytest.fixture(scope="module")
def graph() -> PlanGraph:
    return graph_of(TWO_TIERS)


def way(flow: int) -> tuple[str, ...]:
    source, target = (name.replace("h", "leaf-") for name in FLOWS[flow])
    return source, f"spine-{flow // 6 % 4}", target


def over(flow: int, *links: str) -> bool:
    """Whether a flow passes a link: `leaf-0>spine-1`."""
    return any(f"{a}>{b}" in links for a, b in zip(way(flow), way(flow)[1:], strict=False))


def located(graph: PlanGraph, paths: FlowPaths) -> list[list[str]]:
    return [names(graph, seat.segments) for seat in losses_of(paths).seats]


def test_two_lossy_links_that_meet_in_a_third_are_named_and_not_the_third(graph: PlanGraph) -> None:
    bad = ("spine-1>leaf-1", "spine-1>leaf-2")
    paths = swept_paths(graph, FLOWS, way, packets=400, lost=lambda flow: 8 if over(flow, *bad) else 0)
    assert sorted(located(graph, paths)) == [["spine-1/d1 -> leaf-1/up1"], ["spine-1/d2 -> leaf-2/up1"]]


def test_two_silent_links_are_two(graph: PlanGraph) -> None:
    bad = ("leaf-0>spine-1", "leaf-2>spine-3")
    paths = swept_paths(
        graph,
        FLOWS,
        way,
        lost=lambda flow: 100 if over(flow, *bad) else 0,
        answers=lambda flow, ttl: 0 if over(flow, *bad) and ttl > 1 else 2,
    )
    losses = losses_of(paths)
    assert sorted(located(graph, paths)) == [["leaf-0/up1 -> spine-1/d0"], ["leaf-2/up3 -> spine-3/d2"]]
    assert len(losses.silent_seats) == 2
    assert not losses.lossy_seats
    assert not len(losses.unplaced)


def test_nics_that_nothing_reaches_are_no_links(graph: PlanGraph) -> None:
    paths = swept_paths(graph, FLOWS, way, lost=lambda flow: 100 if FLOWS[flow][1] == "h2" else 0)
    losses = losses_of(paths)
    assert not losses.seats
    assert [str(graph.index.spell(int(nic))) for nic in losses.off] == ["h2/nic0"]


def test_one_of_parallel_cables_that_no_answer_tells_apart_is_silent() -> None:
    graph = graph_of(PARALLEL)
    flows = [("h0", "h1"), ("h1", "h0")] * 32
    paths = swept_paths(
        graph,
        flows,
        by_spine(flows, lambda flow: flow // 2 % 2),
        lost=lambda flow: 100 if flow % 8 == 0 else 0,
        answers=lambda flow, ttl: 0 if flow % 8 == 0 and ttl > 1 else 2,
    )
    losses = losses_of(paths)
    both = ["leaf-0 -> spine-0 (one of 2 cables)", "spine-0 -> leaf-1 (one of 2 cables)"]
    assert located(graph, paths) == [both]
    assert losses.silent(losses.seats[0])


def test_losses_of_unknown_paths_have_no_seat(graph: PlanGraph) -> None:
    paths = swept_paths(
        graph,
        FLOWS,
        way,
        packets=400,
        lost=lambda flow: 4 if over(flow, "leaf-0>spine-2") else 0,
        answers=lambda flow, ttl: 0 if ttl == 2 and FLOWS[flow][0] == "h0" else 2,
    )
    losses = losses_of(paths)
    assert not losses.seats
    ((leaf, flows),) = together(losses)
    assert graph.index.devices.names[leaf] == "leaf-0"
    assert set(flows.tolist()) == {flow for flow in range(len(FLOWS)) if over(flow, "leaf-0>spine-2")}


def test_where_paths_change_loss_is_seated_at_leaves(graph: PlanGraph) -> None:
    paths = swept_paths(graph, FLOWS, way, packets=400, lost=lambda flow: 8 if FLOWS[flow][1] == "h1" else 0)
    losses = losses_of(replace(paths, changing=0.5))
    assert losses.by_device
    assert [names(graph, seat.segments) for seat in losses.seats] == [["leaf-1/p0 -> h1/nic0"]]


TIE = ("leaf-0/up1 -> spine-1/d0", "spine-1/d1 -> leaf-1/up1")


def by_spine(flows: list[tuple[str, str]], spine: Callable[[int], int]) -> Callable[[int], tuple[str, ...]]:
    """The way of each flow between hosts with a leaf each."""
    ends = [(source.replace("h", "leaf-"), target.replace("h", "leaf-")) for source, target in flows]
    return lambda flow: (ends[flow][0], f"spine-{spine(flow)}", ends[flow][1])


def tied(graph: PlanGraph, missing: tuple[int, int], *, others: int = 0) -> list[str]:
    """What the confirming step leaves of a tie, where of 400 probes behind each link some have no answer; `others` of
    those that do not pass the tie.
    """
    flows = [("h0", "h1")] * 8 + [("h2", "h1"), ("h2", "h0")] * 4
    spine = [1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 2, 1, 2, 1, 2, 1].__getitem__
    paths = swept_paths(
        graph,
        flows,
        by_spine(flows, spine),
        packets=400,
        lost=lambda flow: 8 if flow < 4 else 0,
        answers=lambda flow, ttl: 100 - (missing[ttl - 2] if flow < 4 and ttl > 1 else others if ttl > 1 else 0),
        asked=100,
    )
    (seat,) = locate_of(paths)
    return names(graph, confirmed(paths, seat).segments)


def locate_of(paths: FlowPaths) -> list[Seat]:
    return locate(_trials(paths, np.ones(len(paths.flows), dtype=bool))[0])


def test_probes_that_end_behind_each_link_of_a_tie_tell_where_loss_begins(graph: PlanGraph) -> None:
    assert tied(graph, (2, 2)) == [TIE[0]]
    assert tied(graph, (0, 2)) == [TIE[1]]


def test_switches_that_limit_their_answers_confirm_nothing(graph: PlanGraph) -> None:
    assert tied(graph, (30, 60)) == list(TIE)
    assert tied(graph, (2, 2), others=40) == list(TIE)


def test_a_seat_of_one_link_or_device_needs_no_confirming(graph: PlanGraph) -> None:
    paths = swept_paths(graph, FLOWS, way)
    trials = Trials(
        np.array([1000]), np.array([100]), np.array([0, 0]), np.array([4 * graph.cables, 4 * graph.cables + 1])
    )
    (seat,) = locate(trials)
    assert confirmed(paths, seat) is seat
    assert not locate(Trials(np.array([1000]), np.array([1]), np.array([0]), np.array([0])))


def test_large_packets_that_end_silently_are_seated_by_the_last_hop_that_they_reach(graph: PlanGraph) -> None:
    cut = "spine-2>leaf-1"
    paths = swept_paths(
        graph,
        FLOWS,
        way,
        large=lambda flow: 0 if over(flow, cut) else 3,
        large_answers=lambda flow, ttl: 0 if over(flow, cut) and ttl > 2 else 1,
    )
    (found,) = cut_offs(paths, losses_of(paths))
    assert names(graph, found.segments) == ["spine-2/d1 -> leaf-1/up2"]
    assert found.mtu is None


def test_information_is_zero_for_independent_choices_and_whole_for_repeated_ones() -> None:
    one = np.arange(64) % 4
    assert information(one, np.stack([one, np.arange(64) // 4 % 4])).round(6).tolist() == [2.0, 0.0]
    repeated = dependence(one, one)
    assert (repeated.bits, repeated.possible) == (2.0, 2.0)
    assert repeated.chance < 1e-9
    assert dependence(one[:4], one[:4]).chance == 1.0
    assert not dependence(one, np.zeros(64, dtype=np.int64)).half


def test_half_of_the_bits_by_chance_is_counted_by_shuffles() -> None:
    rng = np.random.default_rng(3)
    found = [dependence(rng.integers(0, 4, 9), rng.integers(0, 4, 9)) for _ in range(4)]
    assert any(one.half and 1e-3 < one.chance < 1 for one in found)


def test_tails_are_bounds() -> None:
    assert gamma_tail(1.0, 2.0, 1.0) == gamma_tail(1.0, 0.5, 0.0) == 1.0
    assert gamma_tail(3.0, 0.5, 0.01) < 1e-9
    assert tail(1, 2.0) == 1.0
    assert 8e-4 < tail(3, 0.18) < 2e-3


def test_more_members_need_more_flows() -> None:
    assert [flows_for(members) for members in (2, 8, 16, 32, 64)] == [64, 64, 128, 256, 512]


def test_paths_of_one_switch_have_no_choices(graph: PlanGraph) -> None:
    paths = swept_paths(graph, [("h0", "h0")] * 2, lambda _: ("leaf-0",))
    choices = choices_of(paths, losses_of(paths))
    assert not choices.spreads
    assert not choices.idle

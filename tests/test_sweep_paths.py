"""Paths of swept flows: hops to planned links, what is filled, and what stays unknown."""

from dataclasses import replace

import numpy as np
import pytest

from tests.sweep_fabrics import PARALLEL, TWO_TIERS, graph_of, names, port, spelled, swept_paths
from truerail.analysis.sweep.flow_paths import FlowPaths, paths_of
from truerail.analysis.sweep.flow_tables import Flows, Hops
from truerail.analysis.sweep.hop_addresses import canonical
from truerail.analysis.sweep.plan_graph import PlanGraph
from truerail.analysis.sweep.swept import coverage_of


@pytest.fixture(scope="module")
def graph() -> PlanGraph:
    return graph_of(TWO_TIERS)


def test_links_are_named_in_both_directions(graph: PlanGraph) -> None:
    leaf, spine = (np.array([graph.index.devices.find(name)]) for name in ("leaf-1", "spine-2"))
    nowhere = np.array([-1])
    up, down = graph.between(leaf, spine, nowhere), graph.between(spine, leaf, nowhere)
    assert names(graph, [*up, *down]) == ["leaf-1/up2 -> spine-2/d1", "spine-2/d1 -> leaf-1/up2"]
    assert spelled(graph, [*graph.tails(down), *graph.tails(up)]) == ["spine-2", "leaf-1"]
    assert graph.between(leaf, leaf, nowhere).tolist() == [-1]
    assert names(graph, graph.of_device(spine).tolist()) == ["spine-2"]
    assert graph.tails(graph.of_device(spine)).tolist() == [-1]


def test_of_parallel_cables_the_port_of_arrival_shows_which() -> None:
    graph = graph_of(PARALLEL)
    leaf, spine = (np.array([graph.index.devices.find(name)]) for name in ("leaf-0", "spine-1"))
    one = graph.between(leaf, spine, np.array([port(graph, "spine-1/d01")]))
    either = graph.between(leaf, spine, np.array([-1]))
    assert names(graph, [*one, *either]) == ["leaf-0/up3 -> spine-1/d01", "leaf-0 -> spine-1 (one of 2 cables)"]


def test_a_plan_without_cables_has_no_links() -> None:
    graph = graph_of("")
    assert graph.between(np.array([-1]), np.array([-1]), np.array([-1])).tolist() == [-1]
    paths = swept_paths_of_nothing(graph)
    assert not len(paths.flows)
    assert coverage_of(paths).paths_planned == 0


def swept_paths_of_nothing(graph: PlanGraph) -> FlowPaths:
    none = np.zeros(0, dtype=np.int64)
    flows = Flows(*(none,) * 8, none.astype(bool))
    return paths_of(graph, flows, Hops(none, none, none.astype(bool), *(none,) * 5))


def test_hops_that_the_plan_leaves_no_choice_for_are_filled(graph: PlanGraph) -> None:
    way = ("leaf-0", "spine-1", "leaf-1")
    paths = swept_paths(graph, [("h0", "h1")] * 2, lambda _: way, answers=lambda _, ttl: 2 if ttl == 2 else 0)
    assert [spelled(graph, row) for row in paths.node] == [list(way)] * 2
    assert paths.whole.all()


def test_a_hop_with_a_choice_stays_unknown(graph: PlanGraph) -> None:
    flows = [("h0", "h1")] * 2
    paths = swept_paths(
        graph, flows, lambda _: ("leaf-0", "spine-1", "leaf-1"), answers=lambda flow, ttl: 0 if flow and ttl == 2 else 2
    )
    assert spelled(graph, paths.node[1]) == ["leaf-0", "", "leaf-1"]
    assert paths.whole.tolist() == [True, False]


def test_the_port_of_the_next_hop_names_the_one_before(graph: PlanGraph) -> None:
    paths = swept_paths(
        graph,
        [("h0", "h1")] * 2,
        lambda _: ("leaf-0/p0", "spine-3/d0", "leaf-1/up3"),
        answers=lambda flow, ttl: 0 if flow and ttl == 2 else 2,
    )
    assert spelled(graph, paths.node[1]) == ["leaf-0", "spine-3", "leaf-1"]


def test_ports_of_switches_that_answer_from_another_port_are_not_trusted(graph: PlanGraph) -> None:
    """Linux answers from the port where the answer leaves, unless it is set otherwise."""
    paths = swept_paths(graph, [("h0", "h1")] * 2, lambda flow: ("leaf-0", "spine-3/d2", "leaf-1/up0"))
    assert (paths.port < 0).all()
    assert paths.whole.all()


def test_a_path_that_the_plan_does_not_have_is_not_whole(graph: PlanGraph) -> None:
    paths = swept_paths(graph, [("h0", "h1")], lambda _: ("leaf-0", "leaf-2", "leaf-1"))
    assert not paths.whole.any()


def test_a_first_hop_on_another_leaf_speaks_for_no_link(graph: PlanGraph) -> None:
    paths = swept_paths(graph, [("h0", "h1")], lambda _: ("leaf-2", "spine-1", "leaf-1"))
    assert paths.strayed.all()
    assert not paths.whole.any()


def test_two_devices_at_one_ttl_are_a_path_that_changes(graph: PlanGraph) -> None:
    paths = swept_paths(graph, [("h0", "h1")] * 4, lambda _: ("leaf-0", "spine-1", "leaf-1"))
    other = {name: np.concatenate([getattr(paths.hops, name)] * 2) for name in paths.hops.__dataclass_fields__}
    device = other["device"]
    second = np.arange(len(device)) >= len(device) // 2
    spines = [graph.index.devices.find(name) for name in ("spine-1", "spine-2")]
    device[second & (device == spines[0])] = spines[1]
    changed = paths_of(graph, paths.flows, replace(paths.hops, **other))
    assert changed.changing == 1.0
    assert spelled(graph, changed.node[0]) == ["leaf-0", "", "leaf-1"]


def test_coverage_counts_links_paths_and_hops(graph: PlanGraph) -> None:
    paths = swept_paths(graph, [("h0", "h1")] * 2, lambda flow: ("leaf-0", f"spine-{flow}", "leaf-1"), packets=600)
    coverage = coverage_of(paths)
    assert coverage.segment.shape == (24,)
    assert coverage.packets.sum() == 4 * 600
    assert int(coverage.short_of(600).sum()) == 20
    assert coverage.words == "2 of 4 planned paths were seen, 6 of 6 hops are known by name"


def test_an_address_has_one_spelling() -> None:
    assert canonical("2001:DB8:0:0::1") == canonical("2001:db8::1%eth0") == "2001:db8::1"
    assert canonical("no address") == "no address"

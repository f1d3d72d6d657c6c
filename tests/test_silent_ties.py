"""Which of the silent links that explain a loss alike the silence of the switches behind them leaves."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.sweep_fabrics import PARALLEL, graph_of, names, swept_paths
from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import losses_of
from truerail.model.probe_facts import FULL_TTL
from truerail.probe.follow_ups import beyond

THREE_TIERS = "\n".join(
    [f"h{pod}{n}/nic0 leaf-{pod}/p{n} rail=0" for pod in range(2) for n in range(2)]
    + [f"leaf-{pod}/up{spine} spine-{pod}{spine}/d0" for pod in range(2) for spine in range(2)]
    + [
        f"spine-{pod}{spine}/up{core} superspine-{spine}{core}/d{pod}"
        for pod in range(2)
        for spine in range(2)
        for core in range(2)
    ]
)
"""Two pods: each core has one link to each, so the one up and the one down carry the same flows."""
FLOWS = [("h00", "h10") if n % 2 else ("h10", "h00") for n in range(96)]
UP, DOWN = "spine-00/up1 -> superspine-01/d0", "superspine-01/d1 -> spine-10/up1"


def way(flow: int) -> tuple[str, ...]:
    """The switches of a flow: both choices spread evenly."""
    pods = (0, 1) if flow % 2 else (1, 0)
    spine, core = flow // 2 % 2, flow // 4 % 2
    return (
        f"leaf-{pods[0]}",
        f"spine-{pods[0]}{spine}",
        f"superspine-{spine}{core}",
        f"spine-{pods[1]}{spine}",
        f"leaf-{pods[1]}",
    )


def dead(flow: int) -> bool:
    """Whether a flow passes the silent link, between pods 0 and 1 over superspine-01."""
    return bool(flow % 2) and way(flow)[2] == "superspine-01"


def swept(answers: Callable[[int, int], int], also: Callable[[int], bool] = lambda flow: False) -> FlowPaths:
    """A sweep that loses the flows of the silent link, and others."""
    return swept_paths(
        graph_of(THREE_TIERS), FLOWS, way, lost=lambda flow: 100 if dead(flow) or also(flow) else 0, answers=answers
    )


def up_is_silent(flow: int, ttl: int) -> int:
    return 0 if dead(flow) and ttl > 2 else 2


def seats_of(paths: FlowPaths) -> list[list[str]]:
    return [names(paths.graph, seat.segments) for seat in losses_of(paths).silent_seats]


def test_a_core_that_answers_all_others_was_not_reached() -> None:
    assert seats_of(swept(up_is_silent)) == [[UP]]


def test_a_core_that_answers_the_lost_flows_sends_on_the_silent_link() -> None:
    assert seats_of(swept(lambda flow, ttl: 0 if dead(flow) and ttl > 3 else 2)) == [[DOWN]]


def no_core_answers(flow: int, ttl: int) -> int:
    return 0 if ttl == 3 else up_is_silent(flow, ttl)


def half_of_its_answers(flow: int, ttl: int) -> int:
    return flow // 8 % 2 * 2 if way(flow)[2] == "superspine-01" and ttl == 3 else up_is_silent(flow, ttl)


def half_for_others(flow: int, ttl: int) -> int:
    return 0 if dead(flow) and ttl > 2 else half_of_its_answers(flow, ttl)


@pytest.mark.parametrize("answers", [no_core_answers, half_for_others])
def test_a_core_that_does_not_answer_others_decides_nothing(answers: Callable[[int, int], int]) -> None:
    (seat,) = seats_of(swept(answers))
    assert {UP, DOWN} <= set(seat)


def test_a_core_whose_way_back_is_not_in_use_decides_nothing() -> None:
    back = swept(up_is_silent, also=lambda flow: not flow % 2 and way(flow)[2] == "superspine-01")
    both = [sorted(seat) for seat in seats_of(back)]
    assert any({UP, DOWN} <= set(seat) for seat in both)


def test_an_unknown_address_behind_the_last_switch_is_an_answer() -> None:
    paths = swept(up_is_silent)
    hops = paths.hops
    lost = np.array([dead(flow) for flow in hops.flow.tolist()])
    unknown = replace(hops, answered=np.where(lost & (hops.ttl == 3) & ~hops.large, 2, hops.answered))
    assert seats_of(replace(paths, hops=unknown)) == [[UP, DOWN]]


def test_what_is_asked_of_a_silent_tie() -> None:
    paths = swept(half_for_others)
    asked = list(beyond(paths, losses_of(paths)))
    assert {one.ttl for one in asked if dead(one.source_port)} == {3, 4}
    assert sum(one.packets for one in asked if dead(one.source_port) and one.ttl == 3) >= 8
    assert not any(one.ttl == FULL_TTL for one in asked)
    others = [one for one in asked if not dead(one.source_port)]
    assert {way(one.source_port)[one.ttl - 1] for one in others} == {"spine-00", "superspine-01"}
    assert not list(beyond(swept(up_is_silent), losses_of(swept(up_is_silent))))


@pytest.mark.parametrize(
    ("flows", "spine", "named"),
    [
        (64, "spine-1", ["leaf-0 -> spine-0 (one of 2 cables)"]),
        (8, "spine-1", [f"leaf-0 -> spine-{n} (one of 2 cables)" for n in (0, 1)]),
        (64, "", [f"leaf-0 -> spine-{n} (one of 2 cables)" for n in (0, 1)]),
    ],
    ids=["enough flows", "too few flows", "a spine that never answers"],
)
def test_one_dead_cable_of_a_bundle_is_told_apart_by_flows_and_not_by_their_packets(
    flows: int, spine: str, named: list[str]
) -> None:
    paths = swept_paths(
        graph_of(PARALLEL),
        [("h0", "h1")] * flows,
        lambda flow: ("leaf-0", "spine-0" if flow % 4 < 2 else spine, "leaf-1"),
        lost=lambda flow: 0 if flow % 4 else 100,
        answers=lambda flow, ttl: 2 if flow % 4 or ttl == 1 else 0,
    )
    (seat,) = seats_of(paths)
    assert [link for link in seat if link.startswith("leaf-0")] == named

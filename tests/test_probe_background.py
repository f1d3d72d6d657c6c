"""What the service probes in the background, without a network: shares of the pairs, and results that get too old."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from tests.probed_fabric import nics_of_plan
from truerail.analysis.round import Round
from truerail.errors import CommandError
from truerail.model import NetLink, Plan, ProbeReach, ProbeTrouble, Reading, Snapshot
from truerail.model.plan import QosProfile
from truerail.probe.background import FAR, NEAR, Results, Turn, of_round, plan_paths, plan_turn, turn_of_paths, turns_of
from truerail.probe.host_tasks import Settings
from truerail.probe.path_sweep import Budget
from truerail.probe.pinglists import SWEPT, USUAL, Share, pairs_of
from truerail.service.settings import ProbeSettings
from truerail.simulator import Shape
from truerail.simulator.fabric.builder import build

if TYPE_CHECKING:
    pass

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
EVERY = timedelta(minutes=10)
SLOW = Settings(packets_per_second=20)
PLAN = build(Shape(hosts=16, rails=2, pods=2, spines=2, uplinks=2, spare_ports=0)).plan
NICS = tuple(nics_of_plan(PLAN))
ALL = Turn(USUAL, Share())


def _recordings(turn: Turn, why: str = "busy") -> dict[str, str]:
    """What hosts would leave that take no part."""
    planned = plan_turn(turn, PLAN, NICS, SLOW, AT, {nic.host: why for nic in NICS})
    return {host: json.dumps(planned.recording_of(host, why)) for host in planned.left_out}


def test_a_small_fabric_is_probed_in_one_run() -> None:
    assert turns_of(NICS, EVERY, SLOW, 7) == (ALL,)
    assert turns_of((), EVERY, SLOW, 7) == (ALL,)


def test_what_does_not_fit_a_quarter_of_the_interval_comes_in_turns_and_nothing_is_left() -> None:
    seen = set()
    every = timedelta(seconds=6)
    first = turns_of(NICS, every, SLOW, 0)
    assert [turn.lists for turn in first] == [NEAR, FAR]
    assert first[0].share.of > 1
    for number in range(first[0].share.of * first[1].share.of):
        for turn in turns_of(NICS, every, SLOW, number):
            pairs = pairs_of(PLAN, NICS, turn.lists, turn.share)
            assert len(pairs) < len(pairs_of(PLAN, NICS, turn.lists)) or turn.share.of == 1
            seen |= {(pair.source.cable, pair.to.cable) for pair in pairs}
    assert seen == {(pair.source.cable, pair.to.cable) for pair in pairs_of(PLAN, NICS, USUAL)}


@pytest.mark.parametrize("name", ["A", "B", "C", "D", "E"])
def test_the_shares_of_a_list_are_all_of_it_and_share_nothing(name: str) -> None:
    parts = [pairs_of(PLAN, NICS, (name,), Share(number, 3)) for number in range(3)]
    whole = pairs_of(PLAN, NICS, (name,))
    assert sorted(pair for part in parts for pair in part) == sorted(whole)
    assert all(len(part) < len(whole) for part in parts)


def test_paths_are_swept_one_rail_after_the_other_within_the_budget() -> None:
    asked = Settings(what=("paths", "loss"), packets_per_second=20, budget=Budget(50.0, 10.0))
    rails = []
    for number in range(3):
        turn = turn_of_paths(NICS, number)
        assert turn == Turn((SWEPT,), Share(number % 2, 2))
        planned = plan_paths(turn, PLAN, NICS, asked, AT, {}, EVERY)
        rails.append(
            {pair.source.group[0] for pair in planned.flows.pairs} | {pair.to.group[0] for pair in planned.flows.pairs}
        )
        assert {pair.pinglist for pair in planned.flows.pairs} == {SWEPT}
        assert planned.sweep is not None
        assert planned.sweep.planned.busiest < asked.budget.per_switch
    assert rails == [{0}, {1}, {0}]
    assert turn_of_paths((), 0) is None


def test_a_sweep_that_takes_too_long_is_not_made_in_the_background() -> None:
    slow = Settings(what=("paths", "loss"), packets_per_second=20, budget=Budget(1.0, 0.1))
    with pytest.raises(CommandError, match=r"the paths of rail 0 are not swept: that takes [\d,]+ s"):
        plan_paths(Turn((SWEPT,), Share(0, 2)), PLAN, NICS, slow, AT, {}, EVERY)
    fast = Settings(what=("paths", "loss"), packets_per_second=20, budget=Budget(50.0, 10.0))
    with pytest.raises(CommandError, match="and at most 1 s are allowed in the background"):
        plan_paths(Turn((SWEPT,), Share(0, 2)), PLAN, NICS, fast, AT, {}, timedelta(seconds=1))


def test_results_count_until_their_turn_should_have_come_twice_more() -> None:
    results = Results()
    results.put(ALL, AT, EVERY, _recordings(ALL))
    (one, *others) = results.readings(AT + EVERY)
    assert len(others) == 15
    assert {type(fact) for fact in one.facts} == {ProbeReach, ProbeTrouble}
    assert not results.any_old(AT - timedelta(minutes=1))
    assert results.any_old(AT - timedelta(hours=1)), "the clock was set back: how old it is is not known"
    late = AT + 2 * EVERY + timedelta(seconds=1)
    assert not results.any_old(AT + EVERY)
    assert results.any_old(late)
    assert [reading.facts for reading in results.readings(late)] == [()] * 16
    assert not results.any_old(late)


def test_shares_are_kept_side_by_side_until_the_lists_are_cut_in_another_way() -> None:
    results, near, far = Results(), Turn(NEAR, Share(0, 2)), Turn(FAR, Share(0, 1))
    results.put(near, AT, EVERY, _recordings(near))
    results.put(far, AT + EVERY, EVERY, _recordings(far))
    (first, *_) = results.readings(AT + EVERY)
    runs = {fact.run for fact in first.facts}  # type: ignore[union-attr]  # facts of probes
    assert len(runs) == 2
    assert first.at == AT
    kinds = [type(fact) for fact in first.facts]
    assert kinds == sorted(kinds, key=[ProbeReach, ProbeTrouble].index), "a reading's facts are grouped by kind"
    results.put(Turn(NEAR, Share(0, 3)), AT + EVERY, EVERY, {})
    (first, *_) = results.readings(AT + EVERY)
    assert len({fact.run for fact in first.facts}) == 1  # type: ignore[union-attr]  # facts of probes
    results.put(ALL, AT + EVERY, EVERY, {})
    assert not any(reading.facts for reading in results.readings(AT + EVERY))


def test_the_plan_gives_size_and_class_where_it_declares_them() -> None:
    assert (_of(PLAN, mtu=0).mtu, _of(PLAN, mtu=1500).mtu) == (9000, 1500)
    declared = Plan(
        PLAN.devices, PLAN.cables, qos=QosProfile(pfc_priorities=(4,), dscp_to_priority=((10, 1), (34, 4)), mtu=4200)
    )
    assert (_of(declared, mtu=0).mtu, _of(declared).dscp) == (4200, 34)
    assert _of(declared, 9216, 9216, mtu=0).mtu == 4200


@pytest.mark.parametrize(
    ("mtus", "sent"),
    [((4200, 4200, 9000), 4200), ((9216, 9000, 9216), 9216), ((4200, 9216), 9216), ((1500, 1500, 9000), 9000)],
)
def test_large_packets_are_those_of_most_nics_where_the_plan_declares_none(mtus: tuple[int, ...], sent: int) -> None:
    assert _of(PLAN, *mtus, mtu=0).mtu == sent


def _of(plan: Plan, *mtus: int, **settings: int) -> Settings:
    """The settings of a round in which the first NICs report these MTUs, beside one that is not planned, and their
    switches larger ones.
    """
    cables = [cable for cable in plan.cables if cable.rail is not None]
    links = [Reading(one.a.device, "net_link", AT, (NetLink(one.a.name, mtu=mtu), NetLink("mgmt", mtu=576)))
             for one, mtu in zip(cables[::2], mtus, strict=False)]  # fmt: skip
    of_leaf = {
        one.b.device: [NetLink(c.b.name, mtu=9400) for c in cables if c.b.device == one.b.device] for one in cables
    }
    links += [Reading(leaf, "net_link", AT, tuple(ports)) for leaf, ports in of_leaf.items()]
    return of_round(Settings(**settings), Round(plan, Snapshot(AT, links)))  # type: ignore[arg-type]  # a test names its fields


@pytest.mark.parametrize("wrong", [{"every": "59s"}, {"packets_per_second": 101}, {"user": "a b"}])
def test_settings_that_would_probe_too_much_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ProbeSettings.model_validate(wrong)
    assert ProbeSettings().every == EVERY

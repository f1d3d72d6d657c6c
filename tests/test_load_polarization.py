"""What a repeated hash leaves to each switch, what chance leaves, and what no one can tell."""

from dataclasses import replace
from itertools import combinations, product
from math import comb, exp, inf

import numpy as np
import pytest

from rules import rules
from truerail.analysis.counters.carried import carried_of, overall
from truerail.analysis.ecmp.confined import Numbered, Sibling, matched, patterns
from truerail.analysis.ecmp.flow_bounds import senders
from truerail.analysis.ecmp.occupancy import chi_square_below
from truerail.analysis.ecmp.siblings import polarized, unclear
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.model import NetLink
from truerail.model.plan import LoadBalancing
from truerail.testing.cases import scene

NAN = float("nan")
Rates = dict[str, dict[str, float | list[float]]]


def sibling(place: int, used: set[int], below: int = 4, members: int = 8, group: int | None = None) -> Sibling:
    return Sibling(place if group is None else group, below, frozenset({place}), members, frozenset(used))


@pytest.mark.parametrize(("below", "members"), [(4, 8), (6, 9), (12, 18), (7, 8), (16, 16), (4, 6)])
def test_members_that_are_left_are_those_that_some_hash_reaches(below: int, members: int) -> None:
    for place in range(below):
        one = sibling(place, set(), below, members)
        by_remainder = {value % members for value in range(below * members) if value % below == place}
        assert one.residues(0) == by_remainder
        whole = below * members
        by_range = {value * members // whole for value in range(whole) if value * below // whole == place}
        assert one.ranges == by_range


def test_a_switch_behind_several_places_gets_what_all_of_them_leave() -> None:
    one = Sibling(0, 12, frozenset({0, 1}), 9, frozenset())
    assert one.residues(0) == {0, 1, 3, 4, 6, 7}
    assert one.residues(1) == {1, 2, 4, 5, 7, 8}


def test_patterns_are_found_in_the_plans_order_turned_or_reordered() -> None:
    in_order = list(patterns([sibling(n, {n, n + 4}) for n in range(4)]))
    assert [(len(one.groups), one.classes, round(exp(one.ways))) for one in in_order[:1]] == [(4, 4, 4)]
    turned = list(patterns([sibling(n, {(n + 1) % 4, (n + 1) % 4 + 4}) for n in range(4)]))
    assert turned[0].allowed == [{(n + 1) % 4, (n + 1) % 4 + 4} for n in range(4)]
    (reordered, *_) = patterns([sibling(n, {2 * n, 7 - 2 * n}) for n in range(4)])
    assert reordered.allowed == [{2 * n, 7 - 2 * n} for n in range(4)]
    assert round(exp(reordered.ways)) == comb(8, 2) * comb(6, 2) * comb(4, 2)


def test_one_sibling_in_four_may_not_fit() -> None:
    fit = [sibling(n, {n, n + 4}) for n in range(3)]
    (one, *_) = patterns([*fit, sibling(3, set(range(7)))])
    assert one.groups.tolist() == [0, 1, 2]
    assert round(exp(one.ways)) == 16  # four turns, and four that may be the one
    assert list(patterns([*fit[:2], sibling(2, set(range(7))), sibling(3, set(range(8)))])) == []
    assert list(patterns([sibling(0, {0}), Sibling(1, 0, frozenset(), 8, frozenset({1}))])) == []
    assert list(patterns([])) == []


def test_matching_finds_offers_whenever_there_are_enough() -> None:
    sets = [frozenset(of) for size in range(3) for of in combinations(range(2), size)]
    for needs, offers in product(product(sets, repeat=3), repeat=2):
        place = matched(needs, offers)
        possible = any(
            all(needs[n] <= offers[at[n]] for n in range(3)) for at in product(range(3), repeat=3) if len(set(at)) == 3
        )
        assert (place is not None) == possible
        if place is not None:
            assert sorted(place) == [0, 1, 2]
            assert all(needs[n] <= offers[place[n]] for n in range(3))


@pytest.mark.parametrize(
    ("value", "freedom", "chance"),
    [(6.571, 14, 0.05), (2.0, 2, 0.63212), (3.841, 1, 0.95), (0.0, 3, 0.0), (23.685, 14, 0.95), (1e6, 3, 1.0)],
)
def test_chi_square_is_that_of_the_tables(value: float, freedom: int, chance: float) -> None:
    assert chi_square_below(value, freedom) == pytest.approx(chance, abs=2e-5)


def leaf(loads: list[float], flows: float = 0.0, balancing: LoadBalancing = LoadBalancing.ECMP) -> Round:
    members, hosts = len(loads), 16
    plan = [f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(hosts)]
    plan += [f"leaf-0/up{s} spine-{s}/p0 speed=400" for s in range(members)]
    rates: Rates = {f"leaf-0/up{s}": {"tx_bytes": load} for s, load in enumerate(loads)}
    rates |= {f"h{n}/nic0": {"tx_bytes": sum(loads) / hosts, **({"flows": flows} if flows else {})} for n in range(16)}
    case = Case(plan="\n".join(plan), rates=rates, load_balancing=balancing)
    return scene(case)


def hashed(flows: int, members: int, seed: int, dead: int = 1) -> list[float]:
    counts = np.bincount(np.random.default_rng(seed).integers(0, members - dead, flows), minlength=members)
    return (counts * 1.5e11 / flows).tolist()


def test_a_dead_member_needs_flows_that_queue_pairs_or_evenness_tell() -> None:
    assert leaf([*[1e10] * 15, 0.0]).dead_members == {0: pytest.approx(0, abs=1e-4)}
    spread = hashed(260, 16, seed=2)
    assert not leaf(spread).dead_members
    assert leaf(spread, flows=80.0).dead_members
    assert not leaf(hashed(40, 16, seed=1), flows=80.0).dead_members


def test_few_flows_leave_a_member_idle_and_are_no_dead_member() -> None:
    for flows, seed in product((8, 16, 32, 64), range(25)):
        assert not leaf(hashed(flows, 8, seed, dead=0), flows=flows / 8).dead_members


def test_steered_traffic_needs_even_others() -> None:
    even, uneven = [0.0, *[1e10] * 7], [0.0, *[2e10, 1e10] * 3, 2e10]
    assert leaf(even, balancing=LoadBalancing.ADAPTIVE).dead_members == {0: 0.0}
    assert not leaf(uneven, balancing=LoadBalancing.ADAPTIVE).dead_members


def test_the_fewest_senders_are_the_fastest_and_who_does_not_tell_counts_for_none() -> None:
    b = leaf([1e10, 1e10, 1e10, 1e10]).balance
    ports = Numbered(b).b.telemetry.wiring.index.b[:16]
    assert [senders(b, ports, total) for total in (0.0, 2e9, 6e9, 4e10, 9e10)] == [0, 1, 3, 16, 16]
    case = rules()["LBL001"].fires[0]
    silent = scene(replace(case, plan=case.plan + "\nh1/nic0 leaf-0/p1 rail=0")).balance
    port = silent.telemetry.wiring.index.b[silent.telemetry.wiring.index.from_host]
    assert senders(silent, port, 1e9) == 0


def test_queue_pairs_of_some_hosts_claim_their_part_and_cap_nothing() -> None:
    plan = [f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(4)]
    plan += [f"leaf-0/up{s} spine-{s}/p0 speed=400" for s in range(2)]
    rates: Rates = {f"h{n}/nic0": {"tx_bytes": 1e10, **({"flows": 80.0} if n else {})} for n in range(4)}
    rates |= {f"leaf-0/up{s}": {"tx_bytes": 2e10} for s in range(2)}
    assert scene(Case(plan="\n".join(plan), rates=rates)).flow_bounds.claimed.tolist() == [30]


CASE = rules()["LBL001"].fires[0]


def reported(case: Case, code: str = "LBL001") -> set[str]:
    return {finding.subject for finding in rules()[code].findings(scene(case))}


def test_siblings_with_one_that_does_not_fit_are_named_without_it() -> None:
    all_used = {f"spine-3/up{t}": {"tx_bytes": 1.5e10} for t in range(8)}
    assert reported(replace(CASE, rates={**CASE.rates, **all_used})) == {"spine-0", "spine-1", "spine-2"}


def test_a_switch_with_a_member_down_is_evaluated_by_its_own_number_of_members() -> None:
    down = replace(CASE, facts={"spine-0": [NetLink("up7", operstate="DOWN")]})
    assert reported(down) == {"spine-1", "spine-2", "spine-3"}


def test_idle_uplinks_that_may_be_chance_are_unknown() -> None:
    few = {port: of for port, of in CASE.rates.items() if port.startswith(("spine-", "leaf-0/"))}
    only = "\n".join(line for line in CASE.plan.splitlines() if "leaf-" not in line or "leaf-0/" in line)
    one = {f"spine-{s}/up{t}": {"tx_bytes": 1e10 * (t == s)} for s in range(2) for t in range(8)}
    two = "\n".join(line for line in only.splitlines() if "spine-2" not in line and "spine-3" not in line)
    case = replace(CASE, plan=two, rates={**few, **one})
    assert len(unclear(scene(case).siblings)) == 1
    with pytest.raises(InsufficientDataError, match=r"more flows: in a tier of one pod uplinks stay idle"):
        reported(case)


@pytest.mark.parametrize("code", ["LBL001", "LBL002", "LBL003"])
def test_a_tier_of_which_nobody_tells_is_unknown(code: str) -> None:
    quiet = rules()["LBL001"].quiet[0]
    assert reported(quiet, code) == set()
    below = {port: of for port, of in quiet.rates.items() if port.startswith("leaf-")}
    with pytest.raises(InsufficientDataError, match=r"uplinks of 4 of (4|16) switches"):
        reported(replace(quiet, rates=below), code)
    idle = {port: {"tx_bytes": 1e3} for port in quiet.rates if port.startswith("spine-")}
    assert reported(replace(quiet, rates={**below, **idle}), code) == set()


def test_bundles_whose_half_is_idle_by_few_flows_are_unknown() -> None:
    case = next(case for case in rules()["LBL001"].fires if "second link" in case.summary)
    few = {port: of for port, of in case.rates.items() if "/up" in port} | {
        f"leaf-{n}/p{h}": {"rx_bytes": 16e10 if not h else 0.0} for n in range(4) for h in range(24)
    }
    assert not polarized(scene(replace(case, rates=few)).siblings)
    with pytest.raises(InsufficientDataError, match="more flows"):
        reported(replace(case, rates=few))


def carried(readings: list[float]) -> list[float]:
    plan = "h1/nic0 leaf-0/p1 rail=0 speed=400"
    rates: Rates = {"h1/nic0": {"tx_bytes": readings}, "leaf-0/p1": {"rx_errors": 0.0}}
    telemetry = scene(Case(plan=plan, rates=rates)).telemetry
    sent = carried_of(telemetry).tx[telemetry.wiring.index.a]
    assert np.isnan(overall(sent)).tolist() == [bool(np.isnan(sent).any())]
    return [round(value / 1e9, 2) for value in sent[0].tolist()]


def test_a_device_that_is_polled_every_thirty_seconds_is_reported() -> None:
    assert carried([NAN, NAN, 3e9] * 4) == [1.0, 1.0, 1.0, 1.0]


def test_a_gap_is_not_filled_by_what_came_behind_it() -> None:
    assert np.isnan(carried([1e9] * 4 + [NAN] * 4 + [1e9] * 4)[1:3]).all()
    assert inf not in carried([1e9] * 12)

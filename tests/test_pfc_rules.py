"""The PFC rules beyond their examples: whole trees, one-sided and broken counters, circles, and many things at once."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import rules
from tests.draws import draws
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.errors import NotFoundError
from truerail.model import Finding, PortQos, Severity, Transport
from truerail.outputs.options import Options
from truerail.outputs.report_words import Tone
from truerail.questions.answer_text import answer_text, tone_of
from truerail.questions.storm import Storm, storm
from truerail.rounds import evaluate, publication_of
from truerail.testing.cases import plan_of, scene
from truerail.views.plain import answer_from_json, as_json

Rates = dict[str, dict[str, float | Sequence[float]]]
NAN = float("nan")
CODES = ("PFC001", "PFC002", "PFC003", "PFC004", "PFC005")


def found(
    code: str, plan: str, rates: Mapping[str, Mapping[str, float | Sequence[float]]], **more: Any
) -> list[Finding]:
    case = Case(more.pop("facts", {}), plan=plan, rates=rates, **more)
    return list(rules()[code].findings(scene(case)))


def stopped(priority: int = 3) -> dict[str, float | Sequence[float]]:
    return {f"rx_pause_us:{priority}": 1e6, f"rx_pause_transitions:{priority}": 0, f"tx_bytes:{priority}": 0}


def stops(priority: int = 3) -> dict[str, float | Sequence[float]]:
    return {f"tx_pause_us:{priority}": 1e6}


def add(rates: Rates, port: str, counters: Mapping[str, float | Sequence[float]]) -> None:
    rates.setdefault(port, {}).update(counters)


def plan_of_tree(leaves: int, hosts: int, spines: int) -> str:
    """`hosts` on each leaf, each leaf with a cable to each spine."""
    lines = [
        f"gpu-{leaf * hosts + n}/nic0 leaf-{leaf}/swp{n} speed=400" for leaf in range(leaves) for n in range(hosts)
    ]
    lines += [f"leaf-{leaf}/swp{90 + s} spine-{s}/swp{leaf} speed=400" for leaf in range(leaves) for s in range(spines)]
    return "\n".join(lines)


def with_rest(plan: str, rates: Rates) -> Rates:
    """The same, and links of which neither end counts anything yet count no pause or drop."""
    ends = [line.split()[:2] for line in plan.splitlines()]
    return rates | {a: {"rx_pause_us:3": 0.0, "rx_discards": 0.0} for a, b in ends if a not in rates and b not in rates}


def spread(
    random: Random, leaves: int, hosts: int, spines: int, root: int, priority: int, rates: Rates
) -> dict[str, int]:
    """A storm that begins at a host and spreads at random. Gives the ports that must be victims, with their hops."""
    home, place = divmod(root, hosts)
    victims: dict[str, int] = {}

    def pause(waiting: str, on: str, hops: int) -> None:
        victims[waiting] = hops
        ends = random.choice(((waiting,), (on,), (waiting, on)))
        if waiting in ends:
            add(rates, waiting, stopped(priority))
        if on in ends:
            add(rates, on, stops(priority))

    pause(f"leaf-{home}/swp{place}", f"gpu-{root}/nic0", 1)
    for n in range(hosts):
        if n != place and random.random() < 0.8:
            pause(f"gpu-{home * hosts + n}/nic0", f"leaf-{home}/swp{n}", 2)
    for s in range(spines):
        if random.random() < 0.7:
            pause(f"spine-{s}/swp{home}", f"leaf-{home}/swp{90 + s}", 2)
            for leaf in range(leaves):
                reached = f"leaf-{leaf}/swp90" if leaf != home and random.random() < 0.6 else ""
                if reached:
                    pause(f"leaf-{leaf}/swp{90 + s}", f"spine-{s}/swp{leaf}", 3)
    return victims


@settings(max_examples=draws(8, 240), deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 4), st.integers(2, 5), st.integers(1, 3))
def test_the_culprit_is_the_root_of_any_tree(seed: int, leaves: int, hosts: int, spines: int) -> None:
    random, rates = Random(seed), Rates()
    root = random.randrange(leaves * hosts)
    victims = spread(random, leaves, hosts, spines, root, 3, rates)
    (one,) = found("PFC001", plan_of_tree(leaves, hosts, spines), rates)
    assert one.subject == f"gpu-{root}/nic0"
    lengths_reported = any("rx_pause_us:3" in counters for counters in rates.values())
    assert one.severity is (Severity.CRITICAL if lengths_reported else Severity.WARNING)
    assert {victim["port"]: victim["hops"] for victim in dict(one.detail)["victims"]} == victims
    plan = plan_of_tree(leaves, hosts, spines)
    assert found("PFC003", plan, with_rest(plan, rates)) == []


@settings(max_examples=draws(5, 80), deadline=None)
@given(st.integers(0, 2**32))
def test_three_priorities_are_three_trees(seed: int) -> None:
    random, rates = Random(seed), Rates()
    roots = random.sample(range(12), 3)
    for priority, root in zip((3, 4, 6), roots, strict=True):
        spread(random, 3, 4, 2, root, priority, rates)
    got = found("PFC001", plan_of_tree(3, 4, 2), rates)
    assert {(f.subject, dict(f.detail)["priority"]) for f in got} == {
        (f"gpu-{root}/nic0", priority) for priority, root in zip((3, 4, 6), roots, strict=True)
    }


def test_one_culprit_on_two_priorities_is_one_finding() -> None:
    (one,) = found("PFC001", plan_of_tree(1, 2, 0), {"leaf-0/swp0": {**stopped(3), **stopped(4)}})
    assert dict(one.detail)["priorities"] == [3, 4]
    assert "priorities 3, 4" in one.summary


def test_two_storms_on_one_leaf_are_two_findings_less_sure() -> None:
    rates: Rates = {"leaf-0/swp0": stopped(), "leaf-0/swp1": stopped(), "gpu-2/nic0": stopped()}
    got = found("PFC001", plan_of_tree(1, 3, 0), rates)
    assert {f.subject for f in got} == {"gpu-0/nic0", "gpu-1/nic0"}
    assert {f.confidence for f in got} == {0.6}


@pytest.mark.parametrize("holes", [(5,), (10, 11), (9, 11)])
def test_missed_polls_and_resets_change_nothing(holes: Sequence[int]) -> None:
    us = [NAN if n in holes else 1e6 for n in range(12)]
    rates: Rates = {"leaf-0/swp0": {"rx_pause_us:3": us, "tx_bytes:3": 0}, "gpu-1/nic0": {"tx_bytes": 1e9}}
    assert [f.subject for f in found("PFC001", plan_of_tree(1, 2, 0), rates)] == ["gpu-0/nic0"]
    rates["leaf-0/swp0"]["rx_pause_us:3"] = [*[1e6] * 8, -1e7, *[1e6] * 3]
    assert [f.subject for f in found("PFC001", plan_of_tree(1, 2, 0), rates)] == ["gpu-0/nic0"]


def test_a_storm_that_is_over_is_not_reported() -> None:
    us = [*[1e6] * 8, 0, 0, 0, 0]
    rates: Rates = {"leaf-0/swp0": {"rx_pause_us:3": us, "rx_pause_transitions:3": 1, "tx_bytes:3": us}}
    plan = plan_of_tree(1, 2, 0)
    assert found("PFC001", plan, with_rest(plan, rates)) == []


@settings(max_examples=draws(8, 120), deadline=None)
@given(st.integers(0, 2**32), st.floats(0.1, 0.99))
def test_heavy_incast_is_never_a_storm(seed: int, share: float) -> None:
    random = Random(seed)
    rates: Rates = {"leaf-0/swp0": {"tx_bytes": 4.9e10, "tx_bytes:3": 4.9e10, "rx_pause_us:3": 0.0}}
    for n in range(1, 6):
        transitions, jitter = random.uniform(500, 100_000), random.uniform(0.8, 1)
        rates[f"gpu-{n}/nic0"] = {
            "rx_pause_us:3": 1e6 * share * jitter, "rx_pause_transitions:3": transitions,
            "tx_bytes:3": random.uniform(1e8, 2e10),
        }  # fmt: skip
        rates[f"leaf-0/swp{n}"] = {"tx_pause_us:3": 1e6 * share * jitter}
    plan = plan_of_tree(1, 6, 0)
    assert found("PFC001", plan, rates) == []
    assert found("PFC003", plan, rates) == []
    (pressed,) = found("PFC002", plan, rates)
    assert (pressed.subject, dict(pressed.detail)["sub_cause"]) == ("leaf-0/swp0", "incast")
    assert len(dict(pressed.detail)["victims"]) == 5


def test_a_silent_watchdog_is_no_evidence_against() -> None:
    rates: Rates = {"leaf-0/swp0": {**stopped(), "watchdog_storms:3": 0}}
    (one,) = found("PFC001", plan_of_tree(1, 2, 0), rates)
    assert (one.severity, dict(one.detail)["watchdog"]) == (Severity.CRITICAL, False)


@pytest.mark.parametrize(
    ("counters", "word"),
    [
        ({"nic_storm_errors": 1}, "nic watchdog"), ({"pci_stalled_events": 1}, "pcie stalled"),
        ({"out_of_buffer": 4}, "no receive buffers"), ({"rx_discards:3": 4}, "slow host"),
        ({"rx_bytes:3": 1e9}, "slow receiver"), ({"rx_bytes": 0}, "nic or driver"),
        ({"rx_discards": 0}, "slow receiver"), ({}, "nic not read"),
    ],
)  # fmt: skip
def test_why_a_nic_pauses(counters: dict[str, float], word: str) -> None:
    rates: Rates = {"leaf-0/swp0": stopped(), "gpu-0/nic0": {**stops(), **counters}}
    (one,) = found("PFC001", plan_of_tree(1, 2, 0), rates)
    assert dict(one.detail)["sub_cause"] == word


def test_a_switch_whose_egress_does_not_show() -> None:
    rates: Rates = {"gpu-0/nic0": stopped(), "leaf-0/swp1": {"tx_bytes": 1e6}}
    (one,) = found("PFC001", plan_of_tree(1, 2, 0), rates)
    assert (one.subject, one.confidence) == ("leaf-0/swp0", 0.6)


@pytest.mark.parametrize("second", [1e6, 7e5])
def test_of_several_ports_at_one_distance_none_is_the_root_unless_one_is_paused_more(second: float) -> None:
    """The egress of leaf-0 does not show, and spine-1 is not monitored: two ports each are paused next to them."""
    less = stopped() | {"rx_pause_us:3": second}
    inside: Rates = {"gpu-0/nic0": stopped(), "gpu-1/nic0": less, "leaf-0/swp2": {"tx_bytes": 1e6}}
    (leaf,) = found("PFC001", plan_of_tree(1, 3, 0), inside)
    behind: Rates = {"leaf-0/swp90": stopped(), "leaf-1/swp90": less}
    (spine,) = found("PFC001", plan_of_tree(2, 2, 1), behind)
    if second < 1e6:
        assert (leaf.subject, spine.subject) == ("leaf-0/swp0", "leaf-0/swp90")
        return
    assert (leaf.subject, spine.subject) == ("leaf-0", "spine-0")
    assert {one.confidence for one in (leaf, spine)} == {0.4}
    assert {one.rail for one in (leaf, spine)} == {None}
    assert all(len(dict(one.detail)["victims"]) == 2 for one in (leaf, spine))


def test_pressure_that_reaches_a_switch_at_several_ports_alike_names_the_switch() -> None:
    pressed = {"rx_pause_us:3": 3e5, "rx_pause_transitions:3": 4e4, "tx_bytes:3": 3e10}
    rates: Rates = {"gpu-0/nic0": {**pressed}, "gpu-1/nic0": {**pressed}, "leaf-0/swp2": {"tx_bytes": 1e6}}
    (one,) = found("PFC002", plan_of_tree(1, 3, 0), rates)
    assert (one.subject, one.confidence) == ("leaf-0", 0.4)


def test_a_storm_of_which_only_the_switch_is_known_is_a_tree_with_the_switch_as_its_culprit() -> None:
    rates: Rates = {"leaf-0/swp90": stopped(), "leaf-1/swp90": stopped()}
    publication = shown(rates)
    (tree,) = storm(publication, None).storms
    assert (tree.culprit, tree.behind, tree.rail) == ("spine-0", False, None)
    assert tree.finding in {one.id for one in publication.evaluation.findings}
    (cause,) = (one for one in publication.evaluation.causes if one.kind == "pfc-storm")
    assert cause.subjects[0] == "spine-0"


def test_counted_over_all_priorities_joins_the_one_in_use() -> None:
    rates: Rates = {
        "gpu-0/nic0": stops(), "leaf-0/swp0": {"rx_pause_frames": 12_000, "tx_bytes": 0},
        "leaf-0/swp1": {"tx_pause_frames": 12_000},
    }  # fmt: skip
    (one,) = found("PFC001", plan_of_tree(1, 2, 0), rates)
    detail = dict(one.detail)
    assert (detail["priority"], detail["source"]) == (3, "both ends")
    assert "some ports count all priorities together" in one.summary
    assert {victim["port"] for victim in detail["victims"]} == {"leaf-0/swp0", "gpu-1/nic0"}


@pytest.mark.parametrize("switches", [2, 3, 4])
def test_circles_of_switches(switches: int) -> None:
    names = ["spine-0", "leaf-1", "spine-2", "leaf-3"][:switches]
    pairs = list(zip(names, [*names[1:], names[0]], strict=True))
    plan = "\n".join(f"{a}/out{n} {b}/in{n} speed=400" for n, (a, b) in enumerate(pairs))
    rates: Rates = {f"{a}/out{n}": stopped() for n, (a, _) in enumerate(pairs)}
    (one,) = found("PFC003", plan, rates)
    assert set(dict(one.detail)["cycle"]) == set(names)
    assert len(dict(one.detail)["ports"]) == switches
    assert found("PFC001", plan, rates) == []
    flowing: Rates = {port: {"rx_pause_us:3": 9e5, "rx_pause_transitions:3": 1, "tx_bytes:3": 1e6} for port in rates}
    (round_about,) = found("PFC001", plan, flowing)
    assert found("PFC003", plan, flowing) == []
    assert round_about.subject.partition("/")[0] in names


def test_two_priorities_with_one_circle_are_one_finding() -> None:
    plan = "leaf-0/a spine-0/a speed=400\nleaf-0/b spine-0/b speed=400"
    both = {**stopped(3), **stopped(4)}
    assert [f.subject for f in found("PFC003", plan, {"leaf-0/a": both, "spine-0/b": both})] == ["leaf-0"]


def test_what_cannot_be_said_is_not_said() -> None:
    plan = plan_of_tree(1, 2, 0)
    for code in CODES:
        with pytest.raises(InsufficientDataError, match="no port that answered"):
            found(code, plan, {"leaf-0/swp0": {"tx_bytes": 1e9}})
        with pytest.raises(InsufficientDataError):
            found(code, plan, {})
        assert not rules()[code].applies_to(plan_of(Case(plan=plan, transport=Transport.EFA)))
        assert not rules()[code].applies_to(plan_of(Case(plan=plan, transport=Transport.INFINIBAND)))
    with pytest.raises(InsufficientDataError, match="speeds"):
        found("PFC001", "gpu-0/nic0 leaf-0/swp0", {"leaf-0/swp0": {"rx_pause_frames:3": 9_000}})
    with pytest.raises(InsufficientDataError, match="neither settings nor pauses"):
        found("PFC004", plan, {"leaf-0/swp0": {"rx_discards": 9}})


def test_priorities_that_do_not_exist_break_nothing() -> None:
    rates: Rates = {"leaf-0/swp0": {"rx_pause_frames:9": 9, "queue_drops:9": 9, "rx_discards": 0}}
    qos = {"leaf-0": [PortQos("swp0", pfc_priorities=(3, 99)), PortQos("swp77", pfc_priorities=(3,)), PortQos("swp1")]}
    plan = plan_of_tree(1, 2, 0)
    for code in ("PFC004", "PFC005"):
        assert found(code, plan, with_rest(plan, rates), facts=qos) == []


def test_a_port_that_pauses_wrongly_in_two_ways() -> None:
    rates: Rates = {"gpu-0/nic0": {"tx_pause_frames:0": 5, "tx_pause_frames:1": 5, "tx_global_pause_frames": 5}}
    (one,) = found("PFC005", plan_of_tree(1, 2, 0), rates, facts={"gpu-0": [PortQos("nic0", pfc_priorities=(3,))]})
    assert "priorities 0, 1" in one.summary
    assert "global pause" in one.summary


def test_too_many_slow_ports_are_reported_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.analysis.pfc.culprits.MOST_PRESSED", 2)
    slow: Rates = {f"leaf-0/swp{n}": {"rx_pause_us:3": 3e5, "rx_pause_transitions:3": 9e3} for n in range(5)}
    got = found("PFC002", plan_of_tree(1, 5, 0), slow)
    assert len(got) == 2
    assert all("3 more ports are under such pressure" in f.summary for f in got)


def shown(rates: Rates, **more: Any) -> Any:
    made = scene(Case(plan=plan_of_tree(2, 8, 1), rates=rates, **more))
    return publication_of(made, evaluate(made, only=CODES))


def storming() -> Rates:
    rates: Rates = {"gpu-0/nic0": stops(), "leaf-0/swp0": stopped(), "leaf-0/swp90": stops(), "spine-0/swp0": stopped()}
    return rates | {f"gpu-{n}/nic0": stopped() for n in range(1, 8)}


def test_the_tree_as_an_answer() -> None:
    publication = shown(storming())
    answer = storm(publication, None)
    (tree,) = answer.storms
    assert (tree.culprit, tree.level, tree.priority) == ("gpu-0/nic0", "storm", 3)
    assert tree.hosts == tuple(f"gpu-{n}" for n in range(1, 8))
    assert {(node.device, node.kind, node.hops) for node in tree.nodes} >= {
        ("gpu-0", "culprit", 0), ("leaf-0", "between", 1), ("spine-0", "victim", 2), ("gpu-3", "victim", 2),
    }  # fmt: skip
    assert tree.finding == publication.evaluation.findings[0].id
    assert (answer.summary, answer.action, tone_of(answer)) == (tree.summary, tree.action, Tone.BAD)
    assert answer_from_json(Storm, as_json(answer)) == answer
    assert storm(publication, "gpu-3").storms == storm(publication, "leaf-0/swp0").storms == answer.storms
    assert storm(publication, "gpu-9").storms == ()
    assert tone_of(storm(publication, "gpu-9")) is Tone.GOOD
    with pytest.raises(NotFoundError):
        storm(publication, "nobody")


@pytest.mark.parametrize("details", [False, True])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_the_tree_is_drawn(details: bool, ascii_only: bool) -> None:
    text = answer_text(storm(shown(storming())), Options(100, details=details, ascii=ascii_only))
    assert "gpu-0/nic0" in text
    assert "gpu-[1-7]" in text
    assert ("gpu-[1-7],spine-0  8 ports wait" in text) is not details
    assert ("└─" in text) is not ascii_only
    assert text.isascii() or not ascii_only


def test_no_storm_and_nobody_can_tell() -> None:
    calm = storm(shown({"leaf-0/swp0": {"rx_pause_us:3": 10, "tx_bytes": 1e9}}))
    assert (calm.reported, calm.summary, tone_of(calm)) == (True, "there is no PFC storm", Tone.GOOD)
    dark = storm(shown({}))
    assert (dark.reported, tone_of(dark)) == (False, Tone.DOUBT)
    assert storm(shown(storming(), transport=Transport.EFA)).storms == ()


def test_a_deadlock_among_the_answers() -> None:
    rates: Rates = {"leaf-0/swp90": stopped(), "spine-0/swp0": stopped(), "gpu-1/nic0": stopped()}
    answer = storm(shown(rates))
    assert [line.subject for line in answer.deadlocks] == ["leaf-0"]
    assert tone_of(answer) is Tone.BAD
    assert "Deadlocks" in answer_text(answer, Options(100))
    assert storm(shown(rates), "gpu-1").deadlocks == answer.deadlocks
    assert storm(shown(rates), "gpu-9").deadlocks == ()


def cached(readings: Mapping[int, float], **counters: float) -> dict[str, float | Sequence[float]]:
    """Counters refreshed at some of the samples only: seconds paused since the last refresh, by sample."""
    found: dict[str, float | Sequence[float]] = {
        name: [NAN if n not in readings else rate for n in range(12)] for name, rate in counters.items()
    }
    return found | {"rx_pause_us:3": [readings[n] * 1e5 if n in readings else NAN for n in range(12)]}


@pytest.mark.parametrize(
    ("received", "sent"),
    [
        ({1: 30, 4: 30, 7: 30, 10: 30}, {2: 30, 5: 30, 9: 30}),
        ({1: 10, 5: 30, 7: 30, 11: 30}, {}),
        ({1: 20, 4: 30, 8: 30}, {2: 20, 5: 30, 9: 30}),
    ],
)
def test_a_refresh_that_a_poll_just_misses_hides_no_deadlock(
    received: Mapping[int, float], sent: Mapping[int, float]
) -> None:
    plan = "leaf-0/a spine-0/a speed=400\nleaf-0/b spine-0/b speed=400"
    late = cached(received, **{"tx_bytes:3": 0})
    rates: Rates = {"leaf-0/a": late, "spine-0/b": stopped() if sent else late}
    if sent:
        rates["spine-0/a"] = {"tx_pause_us:3": cached(sent)["rx_pause_us:3"]}
    assert [f.subject for f in found("PFC003", plan, rates)] == ["leaf-0"]
    assert found("PFC001", plan, rates) == []


@pytest.mark.parametrize("share", [0.9, 0.2])
def test_a_circle_that_may_stand_still_is_no_storm_at_one_of_its_ports(share: float) -> None:
    plan = "leaf-0/a spine-0/a speed=400\nleaf-0/b spine-0/b speed=400"
    unsure: dict[str, float | Sequence[float]] = {"rx_pause_us:3": 9e5}
    rates: Rates = {"leaf-0/a": unsure, "spine-0/b": {"rx_pause_us:3": share * 1e6}}
    (one,) = found("PFC001", plan, rates)
    assert found("PFC003", plan, rates) == []
    assert (one.subject in ("leaf-0", "spine-0"), one.severity, one.confidence) == (True, Severity.WARNING, 0.4)
    assert dict(one.detail)["sub_cause"] == "switches wait in a circle"
    assert "or a deadlock" in one.summary
    flows: Rates = {port: {**unsure, "rx_pause_transitions:3": 1, "tx_bytes:3": 1e6} for port in rates}
    (moving,) = found("PFC001", plan, flows)
    assert "/" in moving.subject

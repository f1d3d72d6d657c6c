"""What slows a NIC down: congestion notifications, pauses, the other end of its flows, or only itself."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.telemetry.polled_rounds import round_after
from rules import rules
from truerail.analysis.rule import InsufficientDataError
from truerail.causes import explain
from truerail.model import Cause, CauseKind, Finding, NetLink, Reading, Severity
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import Job, flows
from truerail.testing.cases import scene

LEVEL = 3e10
CUT, MARKED = {"cnp_handled": 5e3}, {"ecn_received_packets": 5e3}
SLOW = {"tx_bytes": 0.75 * LEVEL, "rx_bytes": 0.75 * LEVEL}
Rates = dict[str, dict[str, Any]]


def rates_with(changed: Mapping[str, Mapping[str, float]], of_all: dict[str, float] | None = None) -> Rates:
    """Ten hosts of four NICs, all alike but for what is changed."""
    same = {"tx_bytes": LEVEL, "rx_bytes": LEVEL} | (of_all or {})
    return {f"h{h}/nic{r}": same | dict(changed.get(f"h{h}/nic{r}", {})) for h in range(10) for r in range(4)} | {
        port: dict(of) for port, of in changed.items() if port.startswith("leaf")
    }


def evaluated(code: str, rates: Rates, **more: Any) -> list[Finding]:
    case = replace(rules()["RAL002"].fires[0], rates=rates, **more)
    return list(rules()[code].findings(scene(case)))


def causes_of(rates: Rates) -> tuple[Cause, ...]:
    made = scene(replace(rules()["RAL002"].fires[0], rates=rates))
    return explain(made, [*rules()["RAL001"].findings(made), *rules()["RAL002"].findings(made)])


def test_who_counts_no_congestion_is_believed_less() -> None:
    reported = {"cnp_handled": 0.0, "ecn_received_packets": 0.0}
    for of_all, confidence, summary in (
        (reported, 0.8, "without congestion"),
        ({}, 0.6, "no counter shows congestion"),
    ):
        (finding,) = evaluated("RAL002", rates_with({"h4/nic2": SLOW}, of_all))
        assert (finding.subject, finding.confidence) == ("h4/nic2", confidence)
        assert summary in finding.summary


@pytest.mark.parametrize(
    ("here", "of_all", "fires"),
    [
        (CUT | MARKED, {}, False),
        (CUT | MARKED, CUT | MARKED, True),
        ({"cnp_handled": 50.0, "ecn_received_packets": 50.0}, {}, True),
        ({"rx_pause_us:3": 2e5} | MARKED, {}, False),
        ({"rx_pause_us:3": 5e4} | MARKED, {}, True),
    ],
    ids=["more than its peers", "as its peers", "now and then", "paused for what it lacks", "paused for less"],
)
def test_congestion_explains_a_nic_where_it_is_reported_more_of_it_than_its_peers(
    here: dict[str, float], of_all: dict[str, float], *, fires: bool
) -> None:
    assert bool(evaluated("RAL002", rates_with({"h4/nic2": SLOW | here}, of_all))) is fires


def test_pauses_count_as_the_leaf_sends_them() -> None:
    pausing = {"h4/nic2": SLOW | MARKED, "leaf-2/p4": {"tx_pause_us:3": 2e5}}
    assert evaluated("RAL002", rates_with(pausing)) == []


def test_what_the_other_end_sends_too_slowly_is_not_blamed_on_who_receives_it() -> None:
    ring = {"h4/nic2": dict.fromkeys(SLOW, LEVEL / 2), "h5/nic2": {"rx_bytes": LEVEL / 2}}
    (slow,) = evaluated("RAL002", rates_with(ring))
    assert slow.subject == "h4/nic2"
    uneven = {finding.subject: dict(finding.detail) for finding in evaluated("RAL001", rates_with(ring))}
    assert uneven["h5"]["because"] == "the other end of its flows"
    assert uneven["h5"]["or"] == ("h4/nic2",)
    (cause,) = causes_of(rates_with(ring))
    assert (cause.kind, cause.subjects[0], len(cause.explains)) == (CauseKind.SLOW_HOST, "h4/nic2", 3)


def test_a_nic_of_another_rail_at_the_same_rate_is_not_the_other_end() -> None:
    both = {"h4/nic2": {"tx_bytes": LEVEL / 2}, "h5/nic1": {"rx_bytes": LEVEL / 2}}
    assert {f.subject: f.confidence for f in evaluated("RAL002", rates_with(both))} == {"h4/nic2": 0.6, "h5/nic1": 0.6}


def test_of_two_ends_that_may_both_be_slow_both_are_named_in_one_cause() -> None:
    ends = {
        "h4/nic2": {"tx_bytes": 0.75 * LEVEL, "rx_bytes": 0.5 * LEVEL} | MARKED,
        "h5/nic2": {"rx_bytes": 0.75 * LEVEL, "tx_bytes": 0.5 * LEVEL} | CUT,
    }
    (finding,) = evaluated("RAL002", rates_with(ends))
    assert (finding.subject, finding.confidence, dict(finding.detail)["or"]) == ("h4/nic2", 0.4, ("h5/nic2",))
    assert "or h5/nic2 is slow" in finding.summary
    (cause,) = causes_of(rates_with(ends))
    assert cause.subjects == ("h4/nic2", "h5/nic2")
    assert len(cause.explains) == 3


def test_a_host_whose_rail_congestion_slows_is_overloaded_and_not_slow() -> None:
    rates = rates_with({"h4/nic2": dict.fromkeys(SLOW, LEVEL / 2) | CUT | MARKED})
    (uneven,) = evaluated("RAL001", rates)
    assert "congestion slows it" in uneven.summary
    assert uneven.severity.rank == 0
    (cause,) = causes_of(rates)
    assert (cause.kind, cause.subjects) == (CauseKind.OVERLOAD, ("h4", "h4/nic2"))


def test_a_direction_in_which_the_host_carries_next_to_nothing_is_not_evaluated() -> None:
    sends = {"tx_bytes": 5e10, "rx_bytes": 1e8}
    rates = rates_with({"h4/nic2": {"tx_bytes": 2.5e10, "rx_bytes": 1e7}}, sends)
    (finding,) = evaluated("RAL002", rates)
    assert finding.subject == "h4/nic2"
    assert "or" not in dict(finding.detail)


def test_a_slow_nic_without_link_is_left_to_the_link() -> None:
    facts = {"h4": [NetLink("nic2", operstate="DOWN")]}
    assert evaluated("RAL002", rates_with({"h4/nic2": SLOW}), facts=facts) == []


OFF = NetLink("nic2", operstate="DOWN", flags=("UP", "NO-CARRIER"))
ALONE = {"h5": [OFF], "leaf-2": [NetLink("p5", operstate="DOWN", flags=("UP", "NO-CARRIER"))]}
NOTHING = {"tx_bytes": 0.0, "rx_bytes": 0.0}
BEFORE, BEHIND = {"tx_bytes": 0.0}, {"rx_bytes": 0.0}


@pytest.mark.parametrize(
    ("changed", "subjects"),
    [
        ({"h4/nic2": BEFORE, "h6/nic2": BEHIND}, {"h4", "h6"}),
        ({"h4/nic2": NOTHING}, {"h4"}),
        ({"h4/nic2": dict.fromkeys(NOTHING, LEVEL / 2), "h6/nic2": dict.fromkeys(NOTHING, LEVEL / 2)}, {"h4", "h6"}),
        ({"h4/nic2": {"tx_bytes": LEVEL / 2}, "h6/nic2": {"rx_bytes": LEVEL / 3}}, {"h4", "h6"}),
    ],
    ids=["a ring", "two that exchange", "several neighbours", "one way, in parts"],
)
def test_what_was_exchanged_with_a_nic_without_link_is_explained_by_that(
    changed: Mapping[str, Mapping[str, float]], subjects: set[str]
) -> None:
    rates = rates_with({"h5/nic2": NOTHING, **changed})
    found = evaluated("RAL001", rates, facts=ALONE)
    assert {one.subject for one in found} == subjects
    for one in found:
        detail = dict(one.detail)
        assert (one.severity, detail["because"], detail["or"]) == (
            Severity.INFO, "the other end of its flows has no link", ("h5/nic2",),
        )  # fmt: skip
    made = scene(replace(rules()["RAL002"].fires[0], rates=rates, facts=ALONE))
    everything = [one for code in ("CAB003", "RAL001", "RAL002") for one in rules()[code].findings(made)]
    causes = explain(made, everything)
    assert [(one.kind, one.subjects) for one in causes] == [(CauseKind.LINK_DOWN, ("h5/nic2",))]
    assert {one.id for one in found} <= set(causes[0].explains)


def test_a_slow_nic_beside_a_dead_one_is_slow_itself() -> None:
    ring = {"h5/nic2": NOTHING, "h2/nic2": dict.fromkeys(NOTHING, LEVEL / 2)}
    (uneven,) = evaluated("RAL001", rates_with(ring), facts=ALONE)
    assert (uneven.subject, dict(uneven.detail)["because"]) == ("h2", "itself")
    (slow,) = evaluated("RAL002", rates_with(ring), facts=ALONE)
    assert slow.subject == "h2/nic2"


def test_two_that_lack_the_same_from_each_other_are_not_the_dead_ones_neighbours() -> None:
    pair = {"h5/nic2": NOTHING, "h1/nic2": {"tx_bytes": LEVEL / 2}, "h2/nic2": {"rx_bytes": LEVEL / 2}}
    found = evaluated("RAL001", rates_with(pair), facts=ALONE)
    assert {dict(one.detail)["because"] for one in found} == {"the other end of its flows"}
    assert {dict(one.detail)["or"] for one in found} == {("h1/nic2",), ("h2/nic2",)}


def test_a_nic_that_congestion_slows_beside_a_dead_one_is_held_up_by_congestion() -> None:
    (uneven,) = evaluated("RAL001", rates_with({"h5/nic2": NOTHING, "h2/nic2": SLOW | CUT | MARKED}), facts=ALONE)
    assert (uneven.subject, dict(uneven.detail)["because"]) == ("h2", "congestion")


def test_the_neighbours_of_a_port_that_was_switched_off_need_no_cause() -> None:
    off = {"h5": [replace_flags(OFF)], "leaf-2": []}
    rates = rates_with({"h5/nic2": NOTHING, "h4/nic2": BEFORE, "h6/nic2": BEHIND})
    made = scene(replace(rules()["RAL002"].fires[0], rates=rates, facts=off))
    found = [*rules()["RAL001"].findings(made), *rules()["RAL002"].findings(made)]
    assert {one.severity for one in found} == {Severity.INFO}
    assert explain(made, found) == ()


def replace_flags(link: NetLink) -> NetLink:
    return link._replace(flags=())


def partners(host: int, rails: int = 4) -> dict[str, dict[str, float]]:
    """A host that is idle, and what its partner on each rail then lacks: another host on each."""
    idle = {f"h{host}/nic{r}": NOTHING for r in range(rails)}
    return idle | {f"h{(host + 1 + r) % 10}/nic{r}": NOTHING for r in range(rails)}


def test_the_partners_of_an_idle_host_need_no_cause() -> None:
    rates = rates_with(partners(5))
    found = evaluated("RAL001", rates)
    assert {one.subject for one in found} == {"h6", "h7", "h8", "h9"}
    for one in found:
        assert one.severity is Severity.INFO
        assert dict(one.detail)["because"] == "the host at the other end of its flows is idle"
        assert "Nothing to do on this host" in one.action
        assert dict(one.detail)["or"] == (f"h5/{str(dict(one.detail)['port']).partition('/')[2]}",)
    assert evaluated("RAL002", rates) == []
    assert causes_of(rates) == ()


def test_an_idle_host_excuses_no_idle_nic_that_stands_alone() -> None:
    """A host without a job is an ordinary thing; one NIC that carries nothing is a fault."""
    idle = {f"h5/nic{r}": NOTHING for r in range(4)}
    (found,) = evaluated("RAL001", rates_with(idle | {"h2/nic2": NOTHING}))
    assert (found.subject, found.severity, dict(found.detail)["because"]) == ("h2", Severity.CRITICAL, "itself")


def test_a_nic_at_half_its_rate_is_slow_itself_beside_an_idle_host() -> None:
    rates = rates_with(partners(5) | {"h2/nic2": dict.fromkeys(NOTHING, LEVEL / 2)})
    because = {one.subject: dict(one.detail)["because"] for one in evaluated("RAL001", rates)}
    assert because.pop("h2") == "itself"
    assert set(because.values()) == {"the host at the other end of its flows is idle"}
    assert [one.subject for one in evaluated("RAL002", rates)] == ["h2/nic2"]


def paired(drained: str | None) -> tuple[Job, ...]:
    """On each rail every host exchanges data with another one, on each rail with another; not with a drained host."""
    hosts = [f"gpu-{number:03}" for number in range(1, 17)]
    ends = [
        (hosts[a], hosts[a ^ (rail + 1)], rail) for rail in range(4) for a in range(len(hosts)) if a < a ^ (rail + 1)
    ]
    return tuple(Job(f"{a}-{b}", (a, b), slots=(rail,), gigabytes=8.0) for a, b, rail in ends if drained not in (a, b))


@pytest.mark.parametrize(("drained", "partners"), [(None, 0), ("gpu-006", 4)])
def test_the_partners_of_a_drained_host_get_no_ticket(drained: str | None, partners: int) -> None:
    fabric = simulate(Shape(hosts=16, rails=4, pods=1, spines=2, uplinks=8), seed=1)
    evaluation = evaluate(round_after(fabric, flows(fabric, paired(drained), seed=1), minutes=6))
    rails = [one for one in evaluation.findings if one.rule.startswith("RAL")]
    assert [one.severity for one in rails] == [Severity.INFO] * partners
    assert evaluation.causes == ()


def test_the_partners_of_a_host_without_power_need_no_cause_but_that_hosts() -> None:
    down = {f"leaf-{r}": [NetLink("p5", operstate="DOWN", flags=("UP", "NO-CARRIER"))] for r in range(4)}
    made = scene(replace(rules()["RAL002"].fires[0], rates=rates_with(partners(5)), facts=down))
    seen = made.snapshot
    silent = Reading("h5", "lldp_host", seen.at, (), error="no route to host")
    seen = replace(seen, readings=(*(one for one in seen.readings if one.device != "h5"), silent))
    evaluation = evaluate(replace(made, snapshot=seen))
    assert [(one.kind, one.subjects) for one in evaluation.causes] == [(CauseKind.UNREACHABLE, ("h5",))]
    uneven = {one.id for one in evaluation.findings if one.rule == "RAL001"}
    assert len(uneven) == 4
    assert uneven <= set(evaluation.causes[0].explains)


def test_rails_that_cannot_be_compared_are_unknown() -> None:
    with pytest.raises(
        InsufficientDataError, match="no host whose NICs are reported and carry a tenth of their line rate"
    ):
        evaluated("RAL001", rates_with({}, {"tx_bytes": LEVEL / 1000, "rx_bytes": LEVEL / 1000}))
    fabric = simulate(Shape(hosts=4, rails=4, pods=1, spines=2, uplinks=8), seed=1)
    made = round_after(fabric, flows(fabric, (), seed=1), minutes=1)
    with pytest.raises(InsufficientDataError, match="too short a time"):
        list(rules()["RAL001"].findings(made))

"""One cause with its symptoms under it: the rows of the table, and what must never be explained."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import rules
from rules._examples import hears
from tests.draws import draws
from truerail.analysis.cabling import State
from truerail.analysis.rule import Case
from truerail.causes import explain
from truerail.causes.telemetry.precedence import ROWS
from truerail.model import Cause, CauseKind, Finding, NetLink, Severity
from truerail.model.facts import Fact
from truerail.testing.cases import scene

C = CauseKind
HOSTS, RAILS = 6, 4
PLAN = "\n".join(
    [f"h{h}/nic{r} leaf-{r}/swp{h} rail={r} speed=400" for h in range(1, HOSTS + 1) for r in range(RAILS)]
    + [f"leaf-{r}/up{s} spine-{s}/swp{r} speed=400" for r in range(RAILS) for s in range(4)]
)
Facts = Mapping[str, Sequence[Fact]]


def found(rule: str, subject: str, severity: Severity = Severity.WARNING, **detail: Any) -> Finding:
    return Finding(
        rule, f"{rule.lower()}_rule", severity, subject, f"{rule} at {subject}", "", detail=tuple(detail.items())
    )


def causes_of(*findings: Finding, facts: Facts | None = None, rates: Any = None) -> tuple[Cause, ...]:
    """The causes of these findings, and of the cables that the facts show to be wrong or without link."""
    made = scene(Case(facts or {}, plan=PLAN, rates=rates or {}))
    wiring = made.cabling
    cables = [
        Finding(code, "", Severity.CRITICAL, str(wiring.index.a_port(int(cable))), "", "")
        for code, state in (("CAB001", State.WRONG), ("CAB003", State.MISSING))
        for cable in wiring.cables(state)
    ]
    every = [*cables, *findings]
    causes = explain(made, every)
    explained = [one for cause in causes for one in cause.explains]
    assert sorted(explained) == sorted(finding.id for finding in every), "each finding is in one cause"
    return causes


def one(*findings: Finding, **more: Any) -> Cause:
    """The only cause, which explains all of these."""
    causes = causes_of(*findings, **more)
    assert len(causes) == 1, [(cause.kind, cause.subjects) for cause in causes]
    return causes[0]


def apart(*findings: Finding, **more: Any) -> list[CauseKind]:
    """The kinds of causes, each of which explains one thing."""
    causes = causes_of(*findings, **more)
    assert all(len(cause.explains) == 1 for cause in causes)
    return [cause.kind for cause in causes]


def victims(*ports: str) -> list[dict[str, object]]:
    return [{"port": port, "hops": hops} for hops, port in enumerate(ports, 1)]


MOVED = {"h1": [hears("nic0", "leaf-1/swp90")]}
SENDS = 4e10


def test_every_rule_about_traffic_has_its_rows_and_its_kind() -> None:
    families = ("PFC", "LBL", "INC", "CAP", "ECN")
    reported = {code for code in rules() if code.startswith(families)} | {
        "LNK001",
        "LNK003",
        "RAL001",
        "RAL002",
        "CFG001",
    }
    assert reported <= set(ROWS)
    assert {code for code, rule in rules().items() if rule.cause} | {"PFC002"} == set(ROWS)


def test_no_row_explains_what_outranks_it() -> None:
    order = list(ROWS)
    for number, rule in enumerate(order):
        for row in ROWS[rule]:
            assert not set(row.rules) - set(ROWS)
            assert all(order.index(symptom) > number for symptom in row.rules), (rule, row)


def test_c1_a_wrong_rail_cable_and_the_traffic_it_sends_through_the_spines() -> None:
    carried: dict[str, dict[str, float]] = {
        f"leaf-{r}/up{s}": {"tx_bytes": SENDS / 4 if r < 2 else 1e6} for r in range(RAILS) for s in range(4)
    }
    carried["h1/nic0"] = {"tx_bytes": SENDS, "rx_bytes": SENDS}
    slow = found("RAL001", "h1", port="h1/nic0")
    crowded = [found("ECN001", "leaf-1/up2"), found("CAP001", "leaf-1"), found("LBL002", "leaf-0")]
    cause = one(slow, found("RAL002", "h1/nic0"), *crowded, facts=MOVED, rates=carried)
    assert cause.kind is C.CABLE_MOVE
    assert "sends 320 Gb/s, which have to cross the spines: 100% of what its leaves send upwards" in cause.summary
    assert "It explains" in cause.summary


def test_c1_what_other_traffic_does_is_not_put_on_the_cable() -> None:
    carried = {f"leaf-{r}/up{s}": {"tx_bytes": SENDS} for r in range(RAILS) for s in range(4)}
    carried["h1/nic0"] = {"rx_bytes": SENDS / 10, "tx_bytes": SENDS / 10}
    kinds = apart(found("CAP001", "leaf-1"), found("LBL002", "leaf-3"), facts=MOVED, rates=carried)
    assert kinds == [C.CABLE_MOVE, C.OVERLOAD, C.OVERLOAD]


@pytest.mark.parametrize("rates", [None, {"h2/nic0": {"tx_bytes": 1e9}}], ids=["no counters", "not of this port"])
def test_c1_without_telemetry_of_the_port_the_impact_is_not_observed(rates: Any) -> None:
    assert "Its effect on traffic is unknown: no counters of h1/nic0" in one(facts=MOVED, rates=rates).summary


def test_c1_a_cable_without_traffic_harms_nothing_yet() -> None:
    rates = {"h1/nic0": {"rx_bytes": 1e6, "tx_bytes": 1e6}}
    assert "It carries no traffic now" in one(facts=MOVED, rates=rates).summary


def test_c2_two_cables_on_the_same_leaf_are_never_said_to_harm() -> None:
    facts = {"h1": [hears("nic0", "leaf-0/swp2")], "h2": [hears("nic0", "leaf-0/swp1")]}
    causes = causes_of(found("LBL002", "leaf-0"), found("RAL002", "h1/nic0"), facts=facts)
    swap = causes[0]
    assert (swap.kind, len(swap.explains)) == (C.CABLE_SWAP, 2)
    assert "impact" not in swap.summary
    assert "It explains" not in swap.summary
    assert [cause.kind for cause in causes[1:]] == [C.SLOW_HOST, C.OVERLOAD]


def test_c10_crossed_planes_explain_the_nics_that_lag() -> None:
    facts = {"h4": [hears("nic2", "leaf-3/swp5")], "h5": [hears("nic3", "leaf-2/swp4")]}
    cause = one(found("RAL002", "h4/nic2"), found("RAL001", "h5", port="h5/nic3"), facts=facts)
    assert (cause.kind, cause.subjects) == (C.CABLE_SWAP, ("h4/nic2", "h5/nic3"))
    assert "It explains" in cause.summary


def test_c3_swapped_uplinks_explain_uneven_uplinks() -> None:
    facts = {"leaf-0": [hears("up0", "spine-1/swp1")], "leaf-1": [hears("up1", "spine-0/swp0")]}
    cause = one(found("LBL002", "leaf-0"), found("LBL003", "leaf-1/up1"), facts=facts)
    assert cause.kind is C.CABLE_SWAP


def test_c4_a_half_speed_link_explains_what_stands_before_it() -> None:
    pressed = found("PFC002", "leaf-1/swp3", sub_cause="degraded link", victims=victims("h2/nic1", "h4/nic1"))
    slow = [found("RAL002", "h3/nic1"), found("RAL001", "h3", port="h3/nic1"), found("RAL002", "h4/nic1")]
    cause = one(
        found("LNK001", "h3/nic1"), pressed, *slow, found("ECN001", "leaf-1/swp3"), found("INC001", "leaf-1/swp3")
    )
    assert (cause.kind, cause.subjects) == (C.DEGRADED_LINK, ("h3/nic1",))
    assert cause.confidence == 0.9, "the link is only planned to be there"


def test_c4_a_half_speed_uplink_explains_uneven_uplinks_of_its_leaf_only() -> None:
    causes = causes_of(found("LNK001", "leaf-2/up1"), found("LBL002", "leaf-2"), found("LBL002", "leaf-3"))
    assert [(cause.kind, len(cause.explains)) for cause in causes] == [(C.DEGRADED_LINK, 2), (C.OVERLOAD, 1)]


def test_c4_a_slow_link_does_not_make_its_own_nic_pause() -> None:
    kinds = apart(found("LNK001", "h3/nic1"), found("PFC001", "h3/nic1", sub_cause="nic or driver"))
    assert kinds == [C.DEGRADED_LINK, C.PFC_STORM]


def test_c5_optics_errors_and_falls_of_one_link_are_one_cause() -> None:
    ends = [found("LNK005", "leaf-0/swp2"), found("LNK005", "h2/nic0")]
    cause = one(*ends, found("LNK004", "h2/nic0"), found("LNK003", "h2/nic0"), found("RAL002", "h2/nic0"))
    assert (cause.kind, set(cause.subjects)) == (C.DEGRADED_LINK, {"leaf-0/swp2", "h2/nic0"})


def test_c6_a_missing_uplink_explains_what_the_others_carry_more() -> None:
    facts = {
        "leaf-0": [NetLink("up0", operstate="DOWN", flags=("UP", "NO-CARRIER"))],
        "spine-0": [NetLink("swp0", operstate="DOWN", flags=("UP", "NO-CARRIER"))],
    }
    cause = one(found("CAP001", "leaf-0"), found("LBL002", "leaf-0"), found("ECN001", "leaf-0/up3"), facts=facts)
    assert cause.kind is C.LINK_DOWN
    kinds = [cause.kind for cause in causes_of(found("CAP001", "leaf-1"), facts=facts)]
    assert kinds == [C.LINK_DOWN, C.OVERLOAD]


def test_c7_a_flap_explains_the_shift_of_ecmp_that_follows_it() -> None:
    fell = found("LNK003", "leaf-0/up1", since=1000.0, until=1020.0)
    assert one(fell, found("LBL002", "leaf-0", since=1010.0)).kind is C.FLAPPING_LINK
    assert one(fell, found("LBL002", "leaf-0", since=1025.0), found("LBL003", "leaf-0/up1")).kind is C.FLAPPING_LINK


def test_c7_not_what_came_long_after_it() -> None:
    fell = found("LNK003", "leaf-0/up1", since=1000.0, until=1020.0)
    assert apart(fell, found("LBL002", "leaf-0", since=1200.0)) == [C.FLAPPING_LINK, C.OVERLOAD]
    later = found("LBL002", "leaf-0", since="1970-01-01T01:00:00+00:00")
    assert apart(fell, later) == [C.FLAPPING_LINK, C.OVERLOAD]


def test_c9_a_storage_nic_in_a_compute_port_explains_pauses_on_the_wrong_priority() -> None:
    rail, storage = "ens1f0np0", "ens5f0np0"  # bound to their slots: it is the cables that are swapped
    plan = PLAN.replace("h1/nic0 ", f"h1/{rail} ") + f"\nh1/{storage} leaf-9/swp1 speed=200"
    facts = {"h1": [hears(storage, "leaf-0/swp1"), hears(rail, "leaf-9/swp1")]}
    made = scene(Case(facts, plan=plan))
    odd = [found("PFC005", f"h1/{storage}"), found("CFG001", "leaf-9/swp1")]
    wrong = [Finding("CAB001", "", Severity.CRITICAL, f"h1/{nic}", "", "") for nic in (rail, storage)]
    causes = explain(made, [*wrong, *odd])
    assert [(cause.kind, len(cause.explains)) for cause in causes] == [(C.CABLE_SWAP, 4)]


def test_a_nic_that_lacks_more_than_it_is_paused_for_is_slow_by_itself() -> None:
    pressed = found("PFC002", "leaf-0/swp5", sub_cause="incast", priorities=[3], victims=victims("h1/nic0", "h2/nic0"))
    lags = [found("RAL002", f"h{h}/nic0", share_of_median=0.7) for h in (1, 2)]
    rates = {"h1/nic0": {"rx_pause_us:3": 250_000.0}, "leaf-0/swp2": {"tx_pause_us:3": 50_000.0}}
    causes = causes_of(pressed, *lags, rates=rates)
    assert [(cause.kind, cause.subjects) for cause in causes] == [
        (C.SLOW_HOST, ("h2/nic0",)),
        (C.OVERLOAD, ("leaf-0/swp5",)),
    ]
    assert len(causes_of(pressed, *lags)) == 1, "where no one counts pauses, the share cannot be reported"


@pytest.mark.parametrize("slot", [found("NIC005", "h2/nic3"), found("NIC005", "h2"), found("NIC004", "h2")])
def test_c8_a_slow_slot_explains_a_receiver_that_does_not_drain(slot: Finding) -> None:
    pressed = found("PFC002", "h2/nic3", sub_cause="pcie stalled", victims=victims("leaf-3/swp2", "h5/nic3"))
    cause = one(slot, pressed, found("RAL002", "h5/nic3"), found("RAL001", "h2", port="h2/nic3"))
    assert cause.kind is C.SLOW_HOST


def test_c8_what_is_only_worth_knowing_explains_no_storm() -> None:
    kinds = apart(found("NIC004", "h2", Severity.INFO), found("PFC002", "h2/nic3", sub_cause="pcie stalled"))
    assert kinds == [C.SLOW_HOST, C.SLOW_HOST]


def test_c8_a_job_that_posts_no_receives_is_not_the_slots_fault() -> None:
    kinds = apart(found("NIC004", "h2"), found("PFC001", "h2/nic3", sub_cause="no receive buffers"))
    assert kinds == [C.SLOW_HOST, C.PFC_STORM]


def test_c11_a_storm_explains_all_that_its_victims_suffer_and_nothing_else() -> None:
    reached = victims("leaf-0/swp1", "h2/nic0", "spine-1/swp0", "leaf-1/up1", "h3/nic1")
    storm = found("PFC001", "h1/nic0", Severity.CRITICAL, sub_cause="nic or driver", victims=reached, priorities=[3])
    suffers = [
        found("RAL002", "h2/nic0"), found("RAL001", "h3", port="h3/nic1"), found("ECN001", "leaf-0/up1"),
        found("INC001", "leaf-0/swp2"), found("LBL002", "leaf-1"), found("PFC004", "leaf-0/swp1", priorities=[3]),
    ]  # fmt: skip
    cause = one(storm, *suffers)
    assert (cause.kind, cause.subjects) == (C.PFC_STORM, ("h1/nic0",))
    elsewhere = causes_of(storm, *suffers, found("RAL002", "h4/nic2"), found("RAL001", "h3", port="h3/nic2"))
    assert [len(cause.explains) for cause in elsewhere] == [1, 1, 7]


def test_c11_another_priority_is_another_tree() -> None:
    storm = found("PFC001", "h1/nic0", victims=victims("leaf-0/swp1", "leaf-0/up1"), priorities=[3])
    other = found("PFC002", "leaf-0/up1", sub_cause="incast", priorities=[0])
    assert apart(storm, other) == [C.PFC_STORM, C.OVERLOAD]


def test_a_deadlock_explains_the_storms_in_its_circle() -> None:
    names = ["leaf-0", "spine-1", "leaf-1", "spine-2"]
    locked = found("PFC003", "leaf-0", Severity.CRITICAL, cycle=names, victims=victims("leaf-0/up1", "h2/nic0"))
    cause = one(locked, found("PFC001", "spine-1/swp0"), found("RAL002", "h2/nic0"))
    assert (cause.kind, cause.subjects) == (C.PFC_DEADLOCK, tuple(names))


def test_two_storms_as_near_to_a_victim_are_both_named() -> None:
    storms = [found("PFC001", f"h{h}/nic0", victims=victims(f"leaf-0/swp{h}", "h4/nic0")) for h in (1, 2)]
    first, second = causes_of(*storms, found("RAL002", "h4/nic0"))
    assert (first.kind, second.kind) == (C.PFC_STORM, C.PFC_STORM)
    assert [(other.kind, "h2/nic0" in other.summary) for other in first.alternatives] == [(C.PFC_STORM, True)]


def test_the_nearer_storm_takes_a_victim() -> None:
    far = found("PFC001", "h1/nic0", victims=victims("leaf-0/swp1", "leaf-0/up1", "h4/nic0"))
    near = found("PFC001", "h2/nic0", victims=victims("h4/nic0"))
    causes = {cause.subjects[0]: cause for cause in causes_of(far, near, found("RAL002", "h4/nic0"))}
    assert [len(causes[nic].explains) for nic in ("h1/nic0", "h2/nic0")] == [1, 2]
    assert not causes["h2/nic0"].alternatives


def test_siblings_that_hash_alike_are_one_cause_with_what_their_uplinks_suffer() -> None:
    names = [f"leaf-{r}" for r in range(RAILS)]
    alike = [found("LBL001", name, siblings=names) for name in names]
    above = found("PFC002", "spine-0/swp3", sub_cause="incast", victims=victims("leaf-2/up0"))
    own = found("PFC002", "leaf-1/swp2", sub_cause="congestion within the switch")
    cause = one(*alike, above, own, found("LBL002", "leaf-1"), found("LBL003", "leaf-2/up3"))
    assert (cause.kind, cause.subjects) == (C.ECMP_POLARIZATION, tuple(names))


def test_a_dead_member_explains_the_load_of_the_others() -> None:
    cause = one(found("LBL003", "leaf-0/up0"), found("LBL002", "leaf-0"), found("ECN001", "leaf-0/up1"))
    assert cause.kind is C.DEAD_MEMBER


def test_a_setting_explains_the_drops_on_its_link() -> None:
    cause = one(found("CFG001", "leaf-2/swp4"), found("PFC005", "h4/nic2"), found("PFC004", "h4/nic2"))
    assert cause.kind is C.CONFIGURATION


def test_congestion_that_begins_at_several_switches_is_one() -> None:
    paused = victims("h1/nic0")
    pressed = [found("PFC002", f"spine-{s}/swp0", sub_cause="incast", priority=3, victims=paused) for s in range(3)]
    cause = one(*pressed)
    assert (cause.kind, len(cause.subjects)) == (C.OVERLOAD, 3)


def pressure(switch: str, *paused: str, **detail: Any) -> Finding:
    ports = [{"port": port, "hops": 1} for port in paused]
    return found(
        "PFC002", switch, **{"sub_cause": "congestion within the switch", "priority": 3, **detail}, victims=ports
    )


def test_switches_of_a_tier_that_pause_the_same_devices_without_a_known_root_are_one_congestion() -> None:
    tier = [pressure(f"spine-{s}", *(f"leaf-{r}/up{s}" for r in range(s, RAILS))) for s in range(4)]
    cause = one(*tier)
    assert (cause.kind, cause.subjects) == (C.OVERLOAD, ("spine-0", "spine-1", "spine-2", "spine-3"))
    assert cause.summary.endswith("; the same at spine-1, spine-2, spine-3")


def test_what_pauses_other_devices_or_has_a_root_or_another_priority_is_a_congestion_of_its_own() -> None:
    first = pressure("spine-0", "leaf-0/up0")
    for other in (
        pressure("spine-1", "leaf-1/up1"),
        pressure("spine-1/swp0", "leaf-0/up1"),
        pressure("spine-1", "leaf-0/up1", priority=4),
        pressure("spine-1", "leaf-0/up1", sub_cause="switches wait in a circle"),
    ):
        assert len(apart(first, other)) == 2


def test_a_slow_nic_beside_one_that_is_down_is_perhaps_only_its_neighbour() -> None:
    states = [("DOWN", ("UP", "NO-CARRIER")), *[("UP", ("UP", "LOWER_UP"))] * 3]
    facts: Facts = {
        "h1": [NetLink(f"nic{r}", operstate=state, flags=flags) for r, (state, flags) in enumerate(states)],
        "leaf-0": [NetLink("swp1", operstate="DOWN", flags=("UP", "NO-CARRIER"))],
    }
    down, near, other = causes_of(found("RAL002", "h2/nic0"), found("RAL002", "h2/nic1"), facts=facts)
    assert down.kind is C.LINK_DOWN
    assert [one.kind for one in near.alternatives] == [C.LINK_DOWN]
    assert near.confidence <= 0.6
    assert not other.alternatives


def test_an_explained_finding_stays_with_its_cause_all_the_way_up() -> None:
    pressed = found("PFC002", "leaf-1/swp3", sub_cause="incast", victims=victims("h2/nic1"))
    slow, uneven = found("RAL002", "h2/nic1"), found("RAL001", "h2", port="h2/nic1")
    cause = one(found("LNK001", "leaf-1/swp3"), pressed, slow, uneven)
    assert cause.explains[-2:] == (slow.id, uneven.id)


def lagging(host: str, *others: str, **detail: Any) -> Finding:
    """A host that lacks on rail 1 what one of these others may be the reason for."""
    finding = found("RAL001", host, port=f"{host}/nic1", **detail)
    return replace(finding, detail=(*finding.detail, ("or", others)))


@pytest.mark.parametrize("rule", ["LNK001", "LNK003", "LNK005", "NIC005", "PFC001", "RAL002"])
def test_a_slow_nic_explains_who_lags_at_the_other_end_of_its_flows(rule: str) -> None:
    slow = found(rule, "h2/nic1")
    assert one(slow, lagging("h3", "h2/nic1")).subjects == ("h2/nic1",)
    kinds = apart(slow, lagging("h3"), lagging("h4", "h5/nic1", "h9/nic1"))
    assert kinds.count(C.SLOW_HOST) >= 2


def test_a_flap_long_ago_slows_nobody_at_the_other_end_now() -> None:
    fell = found("LNK003", "h2/nic1", since=1000.0, until=1020.0)
    assert apart(fell, lagging("h3", "h2/nic1", since=2000.0)) == [C.FLAPPING_LINK, C.SLOW_HOST]


@pytest.mark.parametrize("rule", ["ECN001", "INC001"])
def test_congestion_explains_a_rail_that_it_holds_up_and_no_other(rule: str) -> None:
    at, held = found(rule, "leaf-1/swp3"), found("RAL001", "h3", port="h3/nic1", because="congestion")
    assert one(at, held).kind is C.OVERLOAD
    assert apart(at, found("RAL001", "h3", port="h3/nic1", because="itself")) == [C.SLOW_HOST, C.OVERLOAD]
    assert apart(at, found("RAL001", "h3", port="h3/nic2", because="congestion")) == [C.OVERLOAD, C.OVERLOAD]
    assert apart(at, found("RAL001", "h4", port="h4/nic1", because="congestion")) == [C.OVERLOAD, C.OVERLOAD]


def test_c5_a_nic_that_pauses_does_not_do_so_because_of_its_link() -> None:
    pressed = found("PFC002", "h3/nic1", sub_cause="pcie stalled", victims=victims("leaf-1/swp3"))
    assert apart(found("LNK005", "h3/nic1"), pressed) == [C.DEGRADED_LINK, C.SLOW_HOST]


def test_c11_a_victim_that_the_plan_does_not_have_changes_nothing() -> None:
    storm = found("PFC001", "h1/nic0", victims=victims("leaf-0/swp1", "leaf-0/up77", "nowhere/port"))
    assert one(storm, found("PFC004", "leaf-0/swp1")).kind is C.PFC_STORM


PORTS = st.tuples(st.integers(1, HOSTS), st.integers(0, RAILS - 1))
AT_NICS = ("LNK001", "LNK003", "LNK004", "NIC005", "PFC001", "PFC002", "RAL002", "ECN001", "PFC004")


@settings(max_examples=draws(15, 240), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(AT_NICS), PORTS), min_size=1, max_size=12, unique=True))
def test_faults_on_different_links_stay_different_causes(drawn: list[tuple[str, tuple[int, int]]]) -> None:
    findings = [found(rule, f"h{host}/nic{rail}") for rule, (host, rail) in drawn]
    where = {finding.id: finding.subject for finding in findings}
    causes = causes_of(*findings)
    for cause in causes:
        assert len({where[one] for one in cause.explains}) == 1
    assert causes == causes_of(*findings)


@settings(max_examples=draws(15, 240), deadline=None)
@given(st.data())
def test_the_order_of_findings_does_not_matter(data: st.DataObject) -> None:
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(AT_NICS), PORTS), min_size=1, max_size=8, unique=True))
    findings = [found(rule, f"h{host}/nic{rail}") for rule, (host, rail) in drawn]
    mixed = data.draw(st.permutations(findings))

    def reported(causes: tuple[Cause, ...]) -> set[tuple[str, frozenset[str]]]:
        return {(cause.key, frozenset(cause.explains)) for cause in causes}

    assert reported(causes_of(*findings)) == reported(causes_of(*mixed))


def test_a_job_crosses_rails_by_the_cable_that_is_wrong_and_by_no_other_reason() -> None:
    by_cable = found("JOB002", "h1", reason="a cable is in another place than planned: h1/nic0")
    assert one(by_cable, facts=MOVED).kind is C.CABLE_MOVE
    assert set(apart(found("JOB002", "h1", reason="NCCL_CROSS_NIC=1 lets rings change rails"), facts=MOVED)) == {
        C.CABLE_MOVE,
        C.CONFIGURATION,
    }


def test_a_host_that_numbers_its_nics_otherwise_crosses_rails_and_leaves_some_unused() -> None:
    cause = one(found("JOB003", "h1"), found("JOB002", "h1"), found("JOB005", "h1/nic2"))
    assert (cause.kind, cause.subjects) == (C.CONFIGURATION, ("h1",))


def test_a_host_without_gpudirect_runs_jobs_without_it() -> None:
    assert one(found("NIC004", "h1"), found("JOB004", "h1/nic1")).kind is C.SLOW_HOST

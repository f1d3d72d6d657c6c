"""One round: verdicts that tell pass from unknown from broken, counts that add up, and notes."""

from collections.abc import Iterator

import pytest

import truerail.rounds
from rules import rules
from tests.small_fabric import AT, World, make_plan
from truerail.analysis.round import Round
from truerail.analysis.rule import Rule
from truerail.model import CableState, Finding, Port, Reading, Role, Snapshot, Status
from truerail.rounds import evaluate


def test_a_rule_whose_facts_nobody_answered_is_unknown_and_never_passed() -> None:
    evaluation = evaluate(
        Round(make_plan(), Snapshot(AT, [Reading("h1", "lldp_host", AT, error="unable to connect to socket")]))
    )
    verdicts = {v.rule: v for v in evaluation.verdicts}
    assert verdicts["CAB001"].status is Status.UNKNOWN
    assert verdicts["CAB001"].missing == ("Neighbor",)
    asked = {code: rule for code, rule in rules().items() if not code.startswith(("TEL", "JOB"))}  # of jobs none is
    applied = {code for code, rule in asked.items() if rule.applies_to(make_plan())}
    assert {verdicts[code].status for code in applied} == {Status.UNKNOWN}
    assert evaluation.summary.cables_unknown == evaluation.summary.cables_planned == len(evaluation.cable_states)
    assert [r.error for r in evaluation.collection_errors] == ["unable to connect to socket"]


def test_an_answer_without_a_neighbour_is_an_answer() -> None:
    evaluation = evaluate(Round(make_plan(), Snapshot(AT, [Reading("leaf-0", "lldp_switch", AT)])))
    assert {v.rule: v.status for v in evaluation.verdicts}["CAB001"] is Status.UNKNOWN
    (part, *_) = next(v for v in evaluation.verdicts if v.rule == "CAB001").not_evaluated
    assert part.what == "cable", "it was asked and answered, and says nothing of the cables"
    assert next(v for v in evaluation.verdicts if v.rule == "CAB001").missing == ()


def test_a_rule_that_breaks_is_reported_and_costs_the_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(round: Round) -> Iterator[Finding]:
        raise ZeroDivisionError("on\x1b[31m purpose")
        yield

    real = rules()["CAB001"]
    broken = Rule(real.code, real.name, real.severity, (), real.explanation, breaks, real.fires, real.quiet)
    monkeypatch.setattr(truerail.rounds, "all_rules", lambda: {**rules(), "CAB001": broken})
    world = World(make_plan())
    world.swap(Port("h1", "nica"), Port("h2", "nica"))
    evaluation = evaluate(Round(world.plan, world.snapshot()))
    verdict = next(v for v in evaluation.verdicts if v.rule == "CAB001")
    assert (verdict.status, verdict.error) == (Status.ERROR, "ZeroDivisionError: on\\x1b[31m purpose")
    assert {f.rule for f in evaluation.findings} == {"CAB002"}


def test_only_the_rules_asked_for_are_run() -> None:
    world = World(make_plan())
    world.swap(Port("h1", "nica"), Port("h2", "nica"))
    evaluation = evaluate(Round(world.plan, world.snapshot()), only=["CAB001"])
    assert [v.rule for v in evaluation.verdicts] == ["CAB001"]
    assert evaluation.findings == ()
    assert evaluation.causes == ()


def test_counts_add_up_and_name_every_cable() -> None:
    world = World(make_plan(), unread={"h3"}, deaf={"leaf-1"})
    world.swap(Port("h1", "nica"), Port("h2", "nica"))
    world.where[Port("h5", "nicd")] = None
    summary = (evaluation := evaluate(Round(world.plan, world.snapshot()), notes=["said before"])).summary
    assert (summary.cables_wrong, summary.cables_missing, summary.cables_unknown) == (2, 1, 1)
    assert summary.cables_right == summary.cables_planned - 4
    assert (summary.hosts, summary.hosts_read) == (8, 7)
    assert evaluation.cable_states[Port("h5", "nicd")] is CableState.MISSING
    assert evaluation.notes == ("said before",)
    assert sum(summary.findings.values()) == len(evaluation.findings)
    assert set(evaluation.cause_of) <= {f.id for f in evaluation.findings}


def test_roles_that_nobody_asked_and_names_that_are_not_true_are_noted() -> None:
    switches = {name for name, device in make_plan().devices.items() if device.role is not Role.HOST}
    hosts_only = evaluate(Round(make_plan(), World(make_plan(), unread=switches).snapshot()))
    assert hosts_only.findings == ()
    assert [note.split(" is ")[0] for note in hosts_only.notes] == ["no leaf", "no spine"]
    world = World(make_plan(), folders_by_inventory=True)
    world.exchange_names("h1", "h2")
    notes = evaluate(Round(world.plan, world.snapshot())).notes
    assert notes == (
        "h1 announces itself as h2; its report is filed under that name",
        "h2 announces itself as h1; its report is filed under that name",
    )

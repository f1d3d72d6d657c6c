"""Findings of a path sweep and of counters: one cause where they agree, doubt where the sweep refutes."""

from rules import rules
from rules._examples import Facts, swept_example
from truerail.analysis.rule import Case
from truerail.causes import explain
from truerail.model import Cause, CauseKind, Finding, Severity
from truerail.testing.cases import scene

C = CauseKind
UP = "leaf-0/up2"


def example(code: str) -> Case:
    """The plan of a rule's first example."""
    return rules()[code].fires[0]


def counted(rule: str, subject: str, **detail: object) -> Finding:
    """A finding from counters."""
    return Finding(rule, f"{rule.lower()}_rule", Severity.WARNING, subject, f"{rule} at {subject}", "", confidence=0.95,
                   detail=tuple(detail.items()))  # fmt: skip


def causes_of(case: Case, *findings: Finding, facts: Facts | None = None) -> tuple[Cause, ...]:
    """The causes of what the sweep's rules find in a case, and of other findings."""
    made = scene(Case(case.facts if facts is None else facts, plan=case.plan))
    own = [one for code in ("PRB004", "PRB005", "PRB007", "PRB008") for one in rules()[code].look(made).findings]
    causes = explain(made, [*own, *findings])
    explained = sorted(one for cause in causes for one in cause.explains)
    assert explained == sorted(finding.id for finding in [*own, *findings])
    return causes


def test_a_silent_link_is_a_cause_of_its_own_kind_with_one_direction_to_repair() -> None:
    (cause,) = causes_of(example("PRB005"))
    assert (cause.kind, cause.subjects) == (C.SILENT_LINK, ("spine-2/d1",))
    assert "that of spine-2/d1 which sends and that of leaf-1/up2" in cause.action
    assert not cause.moves


def test_errors_at_either_end_explain_the_loss() -> None:
    (cause,) = causes_of(example("PRB005"), counted("LNK004", "leaf-1/up2"))
    assert cause.kind is C.DEGRADED_LINK
    assert len(cause.explains) == 2


def test_polarization_of_the_sweep_and_of_the_counters_are_one_cause() -> None:
    spines = ("spine-0", "spine-1")
    alike = [counted("LBL001", name, siblings=spines) for name in spines]
    (cause,) = causes_of(example("PRB004"), *alike, counted("LBL002", "spine-1"))
    assert (cause.kind, cause.subjects) == (C.ECMP_POLARIZATION, ("leaf-0",))
    assert cause.confidence > 0.9


def test_a_link_that_no_flow_takes_is_the_dead_member_of_the_counters() -> None:
    (cause,) = causes_of(example("PRB008"), counted("LBL003", UP), counted("LBL002", "leaf-0"))
    assert (cause.kind, cause.subjects) == (C.DEAD_MEMBER, (UP,))


def test_a_sweep_that_spreads_its_flows_refutes_the_hash() -> None:
    case = rules()["PRB004"].quiet[0]
    (cause,) = causes_of(case, counted("LBL001", "spine-0", siblings=("spine-0",)))
    assert cause.confidence == 0.4
    assert [one.kind for one in cause.alternatives] == [C.OVERLOAD]
    assert cause.to_confirm
    few = rules()["PRB004"].quiet[1]
    (cause,) = causes_of(few, counted("LBL001", "spine-0", siblings=("spine-0",)))
    assert cause.confidence == 0.95


def test_a_sweep_over_a_member_refutes_that_it_is_dead() -> None:
    case = rules()["PRB008"].quiet[0]
    (cause,) = causes_of(case, counted("LBL003", UP))
    assert cause.confidence == 0.4
    assert "1,600 packets" in cause.alternatives[0].summary
    (cause,) = causes_of(case, counted("LBL003", UP), facts={})
    assert cause.confidence == 0.95
    unused = swept_example(lambda flow: ("leaf-0", f"spine-{flow % 2}", "leaf-1"), 8)
    (cause,) = causes_of(case, counted("LBL003", UP), facts=unused)
    assert cause.confidence == 0.95
    (cause,) = causes_of(case, counted("LBL003", "spine-0/d0"))
    assert cause.confidence == 0.95


def test_a_member_that_the_plan_does_not_have_is_refuted_by_nothing() -> None:
    (cause,) = causes_of(rules()["PRB008"].quiet[0], counted("LBL003", "leaf-0/other"))
    assert cause.confidence == 0.95

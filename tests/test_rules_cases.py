"""Every example of every rule: it finds what the case says, or nothing, in any order of answers."""

from dataclasses import replace

import pytest

from rules import rules
from tests.each import each
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, Rule
from truerail.testing.cases import look, scene

RULES = list(rules().values())


def _turned(made: Round) -> Round:
    return replace(made, snapshot=replace(made.snapshot, readings=tuple(reversed(made.snapshot.readings))))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
@each("case", lambda rule: rule.fires, ids=lambda case: case.summary)
def test_fires(rule: Rule, case: Case) -> None:
    made = scene(case)
    findings = look(rule, made).findings
    assert sorted(finding.subject for finding in findings) == sorted(case.finds.split()), case.summary
    for finding in findings:
        assert (finding.rule, finding.name) == (rule.code, rule.name)
        assert finding.summary[-1].isalnum() or finding.summary[-1] == ")"
        assert finding.action.endswith(".")
        assert 0 < finding.confidence <= 1
    assert {finding.subject for finding in look(rule, _turned(made)).findings} == set(case.finds.split())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
@each("case", lambda rule: rule.quiet, ids=lambda case: case.summary)
def test_quiet(rule: Rule, case: Case) -> None:
    made = scene(case)
    evaluated = look(rule, made)
    assert evaluated.findings == (), case.summary
    assert bool(evaluated.not_evaluated) is case.unknown, (case.summary, evaluated.not_evaluated)
    assert look(rule, _turned(made)).findings == ()

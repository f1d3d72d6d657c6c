"""Every example of every rule: the FIRES cases find what they say, the QUIET cases nothing."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rules import rules
from truerail.analysis.rule import Case, Rule
from truerail.testing.cases import look, scene


def _examples(*, fires: bool) -> Iterator[object]:
    for rule in rules().values():
        cases = rule.fires if fires else rule.quiet
        for number, case in enumerate(cases, 1):
            yield pytest.param(rule, case, id=f"{rule.code}-{number}")


@pytest.mark.parametrize(("rule", "case"), [*_examples(fires=True)])
def test_fires(rule: Rule, case: Case) -> None:
    findings = look(rule, scene(case)).findings
    assert case.finds
    assert sorted(finding.subject for finding in findings) == sorted(case.finds), case.summary
    for finding in findings:
        assert (finding.rule, finding.name) == (rule.code, rule.name)
        assert finding.summary[-1].isalnum() or finding.summary[-1] == ")"
        assert finding.action.endswith(".")
        assert 0 < finding.confidence <= 1


@pytest.mark.parametrize(("rule", "case"), [*_examples(fires=False)])
def test_quiet(rule: Rule, case: Case) -> None:
    assert not case.finds
    evaluated = look(rule, scene(case))
    assert evaluated.findings == (), case.summary
    assert bool(evaluated.not_evaluated) is case.unknown, (case.summary, evaluated.not_evaluated)


@pytest.mark.parametrize(("rule", "case"), [*_examples(fires=True), *_examples(fires=False)])
def test_the_order_of_answers_does_not_matter(rule: Rule, case: Case) -> None:
    made = scene(case)
    turned = replace(made.snapshot, readings=tuple(reversed(made.snapshot.readings)))
    assert {f.subject for f in look(rule, replace(made, snapshot=turned)).findings} == set(case.finds)

"""An alert leads to the page of its cause, by the labels that it has."""

from dataclasses import replace

import pytest

from tests.api_client import Api
from tests.fake_tower import FakeTower, published
from truerail.analysis.published import EvaluatedRound
from truerail.views.view import view_of
from truerail.web.page.routes import alerted


def test_an_alert_on_a_cable_leads_to_its_cause_and_a_rule_on_a_device_too() -> None:
    view = view_of(published())
    for finding in published().evaluation.findings:
        cause = view.cause_of(finding.id)
        assert cause is not None
        assert alerted(view, finding.rule, finding.subject) == f"/causes/{cause.key}"
        assert alerted(view, "XXX999", finding.subject).startswith("/causes/")


def test_without_a_cause_it_leads_to_the_finding_and_without_one_to_the_device() -> None:
    shown = published()
    evaluation = replace(shown.evaluation, causes=())
    bare = replace(shown, evaluated=EvaluatedRound(shown.round, evaluation))
    finding = shown.evaluation.findings[0]
    assert alerted(view_of(bare), finding.rule, finding.subject) == f"/findings/{finding.id}"
    well = view_of(published(faults=False))
    assert alerted(well, "RAL001", "gpu-001/enp26s0f0np0") == "/hosts/gpu-001"
    assert alerted(well, "LBL002", "p1-leaf-0") == "/switches/p1-leaf-0"


@pytest.mark.parametrize("subject", ["", "nobody/x", "//evil.example", "x" * 9999])
def test_what_is_not_there_leads_to_the_overview(subject: str) -> None:
    with Api(FakeTower(published())) as api:
        answer = api.ask("GET", "//alert", params={"rule": "CAB001", "subject": subject})
        assert (answer.status_code, answer.headers["location"]) == (307, "/")
    with Api(FakeTower(None)) as api:
        assert api.ask("GET", "//alert").headers["location"] == "/"

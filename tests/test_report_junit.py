"""The JUnit report: what failed fails, what nobody answered is skipped, and never passed."""

import csv
import io
from xml.etree import ElementTree as ET

import pytest
import report_fabric as fabric

from truerail.model import Evaluation, Severity
from truerail.outputs.report import Options, render


def suite(evaluation: Evaluation, fail_on: Severity = Severity.WARNING) -> ET.Element:
    report = render(evaluation, "junit", Options(fail_on=fail_on))
    assert isinstance(report, str)
    return ET.fromstring(report.encode("utf-8")).find("testsuite")


def cases(element: ET.Element, code: str) -> list[ET.Element]:
    return [case for case in element.iter("testcase") if case.get("classname") == f"truerail.{code}"]


def test_a_rule_that_passed_is_one_passing_case():
    (case,) = cases(suite(fabric.every_cause()), "CAB005")
    assert list(case) == []
    assert case.get("name", "").startswith("CAB005")


def test_every_finding_is_a_case_with_one_failure():
    evaluation = fabric.every_cause()
    found = cases(suite(evaluation), "CAB001")
    assert len(found) == sum(finding.rule == "CAB001" for finding in evaluation.findings)
    assert all(len(case.findall("failure")) == 1 for case in found)
    case = next(case for case in found if "gpu-012/enp60s0f0np0" in case.get("name", ""))
    failure = case.find("failure")
    assert failure.get("type") == "critical"
    finding = next(finding for finding in evaluation.findings if finding.subject == "gpu-012/enp60s0f0np0")
    assert failure.text.splitlines()[0] == finding.action
    reported = dict(line.split(": ", 1) for line in failure.text.splitlines()[1:])
    (row,) = [row for row in csv.DictReader(io.StringIO(render(evaluation, "csv"))) if row["id"] == finding.id]
    assert {"expected", "observed", "cause", "cause_kind", "steps", "place", "rail", "id"} <= set(reported)
    assert reported.items() <= row.items()


def test_findings_below_the_threshold_pass_and_are_reported():
    assert [case.find("failure") for case in cases(suite(fabric.every_cause()), "LNK002")] == [None]
    assert "MTU 1500" in cases(suite(fabric.every_cause()), "LNK002")[0].findtext("system-out")
    assert cases(suite(fabric.every_cause(), Severity.INFO), "LNK002")[0].find("failure") is not None


def test_unknown_is_skipped_with_what_is_missing():
    (case,) = cases(suite(fabric.every_cause()), "LNK001")
    assert case.find("skipped").get("message") == "unknown: no answer has network interfaces (NetLink)"


def test_not_applicable_is_skipped_and_says_so():
    (case,) = cases(suite(fabric.every_cause()), "CFG002")
    assert "not applicable" in case.find("skipped").get("message")


def test_a_broken_rule_is_an_error():
    (case,) = cases(suite(fabric.every_cause()), "NIC003")
    assert case.find("error").get("message") == "KeyError: 'mlx5_9'"


def test_the_counts_are_those_of_the_cases():
    element = suite(fabric.every_cause())
    reported = {name: int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")}
    assert reported == {
        "tests": len(list(element.iter("testcase"))),
        "failures": len(list(element.iter("failure"))),
        "errors": len(list(element.iter("error"))),
        "skipped": len(list(element.iter("skipped"))),
    }
    assert (
        reported["failures"] == sum(one.severity is not Severity.INFO for one in fabric.every_cause().findings) == 198
    )


@pytest.mark.parametrize("made", [fabric.hostile, fabric.clean])
def test_hostile_strings_leave_well_formed_xml(made):
    text = ET.tostring(suite(made()), encoding="unicode")
    assert "<script>" not in text
    assert not any(ord(char) < 32 and char not in "\n\t" for char in text)

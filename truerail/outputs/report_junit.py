"""The report for CI: JUnit XML, one test case for each rule, and for a rule with findings one for each finding.

Consumers differ in how many `<failure>` elements of a test case they show (the Jenkins schema allows any number, others
show the first), so a test case has at most one. A rule without data is skipped with its reason, never passed.
"""

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from truerail.model import Evaluation, Finding, Severity, Status, Verdict
from truerail.outputs.report_csv import COLUMNS, rows
from truerail.outputs.report_json import sorted_findings
from truerail.outputs.report_words import headline, sentence, title
from truerail.outputs.unevaluated import rule_name

_NOT_XML = re.compile("[\ufffe\uffff\x00-\x08\x0b\x0c\x0e-\x1f]")


def render_junit(evaluation: Evaluation, fail_on: Severity = Severity.WARNING) -> str:
    """JUnit XML. Findings below `fail_on` pass, with their message in `<system-out>`."""
    cases = list(_cases(evaluation, fail_on))
    suite = ET.Element("testsuite", name="truerail", timestamp=evaluation.at.strftime("%Y-%m-%dT%H:%M:%S"), time="0")
    counts = {kind: sum(case.find(tag) is not None for case in cases) for kind, tag in _COUNTED}
    totals = {"tests": str(len(cases)), **{kind: str(number) for kind, number in counts.items()}}
    suite.attrib.update(totals)
    properties = ET.SubElement(suite, "properties")
    for key, value in (("plan", title(evaluation.plan)), ("verdict", headline(evaluation).cables)):
        ET.SubElement(properties, "property", name=key, value=_xml(value))
    suite.extend(cases)
    root = ET.Element("testsuites", {"name": "truerail", **totals})
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


_COUNTED = (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))


_WITHIN = frozenset(("rule", "name", "severity", "subject", "summary", "action"))
"""Columns of a finding that its case has elsewhere."""


def _cases(evaluation: Evaluation, fail_on: Severity) -> Iterator[ET.Element]:
    found: dict[str, list[tuple[Finding, str]]] = {}
    for finding, row in zip(sorted_findings(evaluation), rows(evaluation), strict=True):
        cells = zip(COLUMNS, row, strict=True)
        more = [f"{key}: {cell}" for key, cell in cells if key not in _WITHIN and cell not in ("", None)]
        found.setdefault(finding.rule, []).append((finding, "\n".join((sentence(finding.action), *more))))
    evaluated = {verdict.rule: verdict for verdict in evaluation.verdicts}
    for code in sorted(evaluated.keys() | found.keys()):
        for finding, reported in found.get(code, ()):
            yield _found(finding, _xml(reported), fail_on)
        if verdict := evaluated.get(code):
            yield from _evaluated(verdict, code in found)


def _found(finding: Finding, reported: str, fail_on: Severity) -> ET.Element:
    """The case of a finding: its action, then the columns of the csv report."""
    case = _case(finding.rule, finding.name, finding.subject)
    summary = _xml(sentence(finding.summary))
    if finding.severity.rank >= fail_on.rank:
        ET.SubElement(case, "failure", type=finding.severity.value, message=summary).text = reported
    else:
        ET.SubElement(case, "system-out").text = f"{finding.severity.value}: {summary}\n{reported}"
    return case


def _evaluated(verdict: Verdict, found: bool) -> Iterator[ET.Element]:
    """The rule's own case. A rule whose findings have cases needs none, unless it could not evaluate everything."""
    if found and verdict.status in (Status.PASS, Status.FAIL) and not verdict.incomplete:
        return
    case = _case(verdict.rule, rule_name(verdict.rule), "the whole fabric")
    if verdict.status is Status.ERROR:
        ET.SubElement(case, "error", type="rule", message=_xml(sentence(verdict.error)))
    elif verdict.incomplete:
        message = f"unknown{' in addition to its findings' * found}: {verdict.reason}"
        ET.SubElement(case, "skipped", message=_xml(sentence(message)))
    elif verdict.status is Status.NOT_APPLICABLE:
        ET.SubElement(case, "skipped", message="not applicable to this fabric")
    yield case


def _case(code: str, rule: str, what: str) -> ET.Element:
    title = " ".join(dict.fromkeys((code, rule)))
    return ET.Element("testcase", classname=f"truerail.{code}", name=_xml(f"{title}: {sentence(what)}"), time="0")


def _xml(text: str) -> str:
    """Text without the characters that XML 1.0 does not allow."""
    return _NOT_XML.sub("\ufffd", text)

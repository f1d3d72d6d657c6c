"""The findings one by one with their evidence on request; their number always."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from truerail.model import Evaluation, Evidence, Finding
from truerail.outputs.options import Options
from truerail.outputs.report_json import sorted_findings
from truerail.outputs.report_words import count, name, sentence, sure
from truerail.outputs.text.blocks import hanging, heading
from truerail.outputs.text.style import PORT, QUIET, SEVERITY_STYLES


def findings(evaluation: Evaluation, options: Options) -> Iterator[RenderableType]:
    """Every finding with `--details`, else one line that says how to see them."""
    if not evaluation.findings:
        return
    if not options.details:
        reported = Text(f"{count(len(evaluation.findings), 'finding')} with evidence: add --details", style=QUIET)
        yield Text("\n").append_text(reported)
        return
    yield heading("Findings", f"{len(evaluation.findings):,}")
    cause_of = evaluation.cause_of
    for finding in sorted_findings(evaluation):
        yield Text()
        yield from _finding(finding, cause_of.get(finding.id, ""))


def _finding(finding: Finding, cause: str) -> Iterator[RenderableType]:
    title = Text().append(finding.severity.value, style=SEVERITY_STYLES[finding.severity])
    title.append(f" {finding.rule} {finding.name} ", style="bold").append(name(finding.subject), style=PORT)
    aside = f"  {finding.id}, {sure(finding.confidence)} sure" + (f", cause {cause}" if cause else "")
    yield hanging("", title.append(aside, style=QUIET), indent=0)
    yield hanging("", Text(sentence(finding.summary)), indent=2)
    if finding.expected or finding.observed:
        yield hanging("", _difference(finding), indent=2)
    if finding.action:
        yield hanging("do", Text(sentence(finding.action), style="bold"), indent=3)
    for evidence in finding.evidence:
        yield hanging("as", _evidence(evidence), indent=3)


def _difference(finding: Finding) -> Text:
    line = Text().append("expected ", style=QUIET).append(name(finding.expected or "nothing"), style=PORT)
    return line.append(", observed ").append(name(finding.observed or "nothing"), style=PORT)


def _evidence(evidence: Evidence) -> Text:
    reported = evidence.as_dict()
    facts = ", ".join(f"{key} {sentence(_shown(value))}" for key, value in reported["fact"].items())
    line = Text().append(
        f"{name(evidence.device)} reports ({name(evidence.collector)}, {evidence.at:%H:%M:%S}): ", style=QUIET
    )
    return line.append(f"{reported['kind']} {facts}")


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)

"""The findings for spreadsheets: one row each, with ids that are stable from run to run."""

import csv
import io
from collections.abc import Iterator

from truerail.model import Evaluation, Finding
from truerail.outputs.punch import steps_of
from truerail.outputs.report_json import sorted_findings
from truerail.outputs.report_words import name, place_of, sentence

COLUMNS = (
    *("id", "rule", "name", "severity", "subject", "place", "rail", "expected", "observed"),
    *("cause", "cause_kind", "confidence", "summary", "action", "steps"),
)
"""`steps` are the numbers of the punch list steps that repair a finding, as in the workbook and on the page."""

Row = tuple[str | int | float | None, ...]

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def render_csv(evaluation: Evaluation) -> str:
    """CSV (RFC 4180, UTF-8) with a header line. No cell starts a formula in any spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in rows(evaluation):
        writer.writerow([inert(cell) if isinstance(cell, str) else cell for cell in row])
    return out.getvalue()


def rows(evaluation: Evaluation) -> Iterator[Row]:
    """One row of `COLUMNS` for each finding, highest severity first."""
    kinds = {cause.id: cause.kind.value for cause in evaluation.causes}
    cause_of, steps = evaluation.cause_of, steps_of(evaluation)
    for finding in sorted_findings(evaluation):
        cause = cause_of.get(finding.id, "")
        numbers = " ".join(map(str, steps.get(finding.id, ())))
        yield (*_row(finding, evaluation, cause, kinds.get(cause, "")), numbers)


def _row(finding: Finding, evaluation: Evaluation, cause: str, kind: str) -> Row:
    return (
        finding.id,
        finding.rule,
        finding.name,
        finding.severity.value,
        name(finding.subject),
        place_of(finding.subject, evaluation.plan),
        finding.rail,
        name(finding.expected or ""),
        name(finding.observed or ""),
        cause,
        kind,
        finding.confidence,
        sentence(finding.summary),
        sentence(finding.action),
    )


def inert(cell: str) -> str:
    """The cell with an apostrophe in front if a spreadsheet would read it as a formula (OWASP, CSV injection)."""
    return f"'{cell}" if cell.startswith(_FORMULA) else cell

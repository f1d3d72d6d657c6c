"""`status`: the causes and findings of one evaluation, worst first, and everything that limits it."""

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from truerail.analysis.published import Published
from truerail.model.finding import Finding, Severity
from truerail.model.names import printable
from truerail.outputs.report_words import count
from truerail.outputs.unevaluated import doubts
from truerail.questions.status import Status, UnknownPart
from truerail.views.lines import cause_lines, count_of, finding_lines_of
from truerail.views.pieces import CauseLine, FindingLine
from truerail.views.view import View, view_of

MOST_FINDINGS = 200
MOST_NAMES = 100
LATE = 3
"""A collector is late if its newest answer is older than this many of its intervals."""


def status(publication: Published, now: datetime) -> Status:
    """What is wrong at `now` (aware)."""
    view = view_of(publication)
    lines = cause_lines(view)
    causes = tuple(line for line in lines if line.muted is None)
    held = {finding.id for finding in publication.pending_resolution}
    own = [finding for finding in view.findings.all if _counts(view, finding) and finding.id not in held]
    loud = [finding for finding in own if finding.id not in publication.mutes]
    findings = finding_lines_of(view, loud[:MOST_FINDINGS])
    pending = tuple(one for one in publication.pending_resolution if one.id not in publication.mutes)
    muted = tuple(line for line in lines if line.muted is not None)
    age = (now - publication.at).total_seconds()
    return Status(
        fabric=publication.fabric,
        evaluation=publication.number,
        at=publication.at,
        age_seconds=round(age, 1),
        cables=count_of(view.wiring, np.arange(len(publication.plan.cables))),
        causes=causes,
        findings=findings,
        findings_total=len(loud),
        pending_resolution=finding_lines_of(view, pending[:MOST_FINDINGS]),
        muted_causes=muted,
        muted_findings=finding_lines_of(view, [one for one in own if one.id in publication.mutes][:MOST_FINDINGS]),
        unknown=tuple(_unknown(publication, now)),
        not_read=len({reading.device for reading in publication.evaluation.collection_errors}),
        summary=_summary(view, causes, len(loud), len(pending), len(muted)),
        action=_action(causes, findings),
    )


def _counts(view: View, finding: Finding) -> bool:
    """Whether a finding is shown on its own: no cause explains it, and it is more than information."""
    return finding.severity is not Severity.INFO and finding.id not in view.sight.cause_of


def _summary(view: View, causes: tuple[CauseLine, ...], findings: int, pending: int, muted: int) -> str:
    parts = []
    if causes:
        worst = max(line.impact for line in causes)
        does = f", the worst affects {count(worst, 'GPU')}" if worst and len(causes) > 1 else ""
        one = f", {count(worst, 'GPU')} affected" if worst and len(causes) == 1 else ""
        parts.append(f"{count(len(causes), 'cause')}{does}{one}")
    if findings:
        parts.append(f"{count(findings, 'finding')} without a common cause")
    if not parts:
        parts.append("nothing is known to be wrong" + " that is not muted" * bool(muted))
    if pending:
        parts.append(f"{count(pending, 'finding')} not over yet")
    if muted:
        parts.append(f"{count(muted, 'cause')} muted")
    cables = view.sight.headline.cables
    return f"{', '.join(parts)}; {cables[0].lower()}{cables[1:]}"


def _action(causes: tuple[CauseLine, ...], findings: tuple[FindingLine, ...]) -> str:
    """That of the worst cause, else of the worst finding."""
    actions = (*(cause.action for cause in causes), *(finding.action for finding in findings))
    return next(filter(None, actions), "")


def _unknown(publication: Published, now: datetime) -> Iterator[UnknownPart]:
    evaluation = publication.evaluation
    found = doubts(evaluation)
    if found.cables:
        yield UnknownPart("cables", found.cables, (), "neither end could be read, or the ends do not decide")
    for group in found.unread:
        why = f"{', '.join(group.collectors)}: {group.error}"
        yield UnknownPart("devices", len(group.devices), group.devices[:MOST_NAMES], printable(why, 500))
    for part in found.unknown:
        yield UnknownPart("rules", len(part.rules), part.rules, part.why)
    for verdict in found.broken:
        yield UnknownPart("rules", 1, (verdict.rule,), f"failed inside: {printable(verdict.error, 500)}")
    yield from _late(publication, now)


def _late(publication: Published, now: datetime) -> Iterator[UnknownPart]:
    """Collectors whose newest answers are old: what they show may have changed since."""
    for name in sorted(publication.runs):
        run = publication.runs[name]
        age = (now - run.last_at).total_seconds() if run.last_at else None
        if age is not None and run.every_seconds and age > LATE * run.every_seconds:
            why = f"newest answers are {age:,.0f} s old, due every {run.every_seconds:,.0f} s"
            yield UnknownPart("collectors", 1, (name,), why)

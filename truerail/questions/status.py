"""`status`: the causes and findings of one evaluation, worst first, and everything that limits it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import numpy as np
from rich.console import RenderableType
from rich.text import Text

from truerail.analysis.published import Published
from truerail.files.nodesets import fold
from truerail.model.finding import Severity
from truerail.model.names import printable
from truerail.outputs.options import Options
from truerail.outputs.report_words import count, name, sentence
from truerail.outputs.text.blocks import PORT, QUIET, hanging, heading
from truerail.outputs.unevaluated import doubts
from truerail.questions.answer_text import MOST_LINES, age, cause, finding, section, to_do, when
from truerail.questions.question import Form, Question
from truerail.views.lines import cause_lines, count_of, finding_lines_of
from truerail.views.pieces import AsOf, CauseLine, FindingLine, StateCount
from truerail.views.view import View, view_of

MOST_FINDINGS = 200
MOST_NAMES = 100
LATE = 3
"""A collector is late if its newest answer is older than this many of its intervals."""
MOST_UNKNOWN = 8


@dataclass(frozen=True, slots=True)
class UnknownPart:
    """Something that could not be evaluated. `what` is `cables`, `devices`, `rules` or `collectors`; `names` are at
    most 100 of the `count` of them, none for cables.
    """

    what: str
    count: int
    names: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Status:
    """`status`. `causes`, `findings` and `pending_resolution` are not muted; `muted_causes` and `muted_findings` are.
    `findings` are those that no cause explains, of severity warning or critical, at most 200 of `findings_total`.
    """

    fabric: str
    evaluation: int
    at: datetime
    age_seconds: float
    """Age of the newest answer in it."""
    cables: StateCount
    causes: tuple[CauseLine, ...]
    """In order of impact."""
    findings: tuple[FindingLine, ...]
    findings_total: int
    pending_resolution: tuple[FindingLine, ...]
    """Recovering, or no longer seen: not over yet."""
    muted_causes: tuple[CauseLine, ...]
    muted_findings: tuple[FindingLine, ...]
    unknown: tuple[UnknownPart, ...]
    not_read: int
    """Devices without a readable answer from some collector."""
    summary: str
    action: str
    as_of: AsOf | None = None


def status(publication: Published, now: datetime) -> Status:
    """What is wrong at `now` (aware)."""
    view = view_of(publication)
    lines = cause_lines(view)
    causes = tuple(line for line in lines if line.muted is None)
    held = {finding.id for finding in publication.pending_resolution}
    counted = (f for f in view.findings.all if f.severity is not Severity.INFO and f.id not in view.sight.cause_of)
    own = [finding for finding in counted if finding.id not in held]
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
        action=next(filter(None, (*(one.action for one in causes), *(one.action for one in findings))), ""),
    )


def _summary(view: View, causes: tuple[CauseLine, ...], findings: int, pending: int, muted: int) -> str:
    parts = []
    if causes:
        worst = max(line.impact for line in causes)
        does = f", the worst affects {count(worst, 'GPU')}" if len(causes) > 1 else f", {count(worst, 'GPU')} affected"
        parts.append(f"{count(len(causes), 'cause')}{does * bool(worst)}")
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
    for collector, run in sorted(publication.runs.items()):
        age = (now - run.last_at).total_seconds() if run.last_at else None
        if age is not None and run.every_seconds and age > LATE * run.every_seconds:
            why = f"newest answers are {age:,.0f} s old, due every {run.every_seconds:,.0f} s"
            yield UnknownPart("collectors", 1, (collector,), why)


def status_text(answer: Status, options: Options) -> Iterator[RenderableType]:
    """The first action and the age of the data, then each part."""
    yield from to_do(answer.action)
    of = f"{name(answer.fabric)}, " if answer.fabric else ""
    which = f"evaluation {answer.evaluation}" if answer.evaluation else "round"
    yield Text(f"  {of}{which} of {when(answer.at)}, {age(answer.age_seconds)} old", QUIET)
    most = None if options.details else MOST_LINES
    first = answer.causes[0] if answer.causes else None
    yield from section(
        answer.causes, lambda one: cause(one, reported=one is first), "causes", "Causes", "worst first", most=most
    )
    loose, total = answer.findings, answer.findings_total
    yield from section(loose, finding, "findings", "Without a common cause", most=most, total=total)
    yield from section(answer.pending_resolution, finding, "findings", "Not over yet", most=most)
    if answer.muted_causes or answer.muted_findings:
        yield heading("Muted", "no alerts")
    yield from section(answer.muted_causes, partial(cause, reported=True), "causes", most=most)
    yield from section(answer.muted_findings, finding, "findings", most=most)
    most, aside, how = most and MOST_UNKNOWN, "not evaluated, so not known to be right", "--details shows all"
    yield from section(answer.unknown, _unknown_line, "reasons", "Unknown", aside, most=most, how=how)


def _unknown_line(part: UnknownPart) -> RenderableType:
    kind = name(part.what)
    what = f"{part.count:,} {kind}" if part.count != 1 else kind.removesuffix("s")
    line = Text().append(what, style=PORT)
    if part.names and part.count <= len(part.names):
        few = f"{', '.join(map(name, part.names[:6]))}{', ...' if part.count > 6 else ''}"
        line.append(f" {name(fold(part.names)) if part.what == 'devices' else few}", style=PORT)
    return hanging("?", line.append(f": {sentence(part.why)}"))


def _good(answer: Status) -> bool | None:
    """Bad if something is wrong that is not muted; unknown if cables or devices are unknown, or something is not over
    yet.
    """
    loud = [cause for cause in answer.causes if cause.severity != "info"]
    if loud or answer.findings:
        return False
    return None if answer.cables.unknown or answer.not_read or answer.pending_resolution else True


QUESTION = Question(
    "status",
    Status,
    (),
    lambda asked, given: status(asked.publication, asked.now),
    "What is wrong now: causes with their impact, worst first, the first action, and what is unknown.",
    good=_good,
    text=status_text,
    timed=True,
    form=Form("What is wrong now?", page="/"),
)

"""The overview's headline: the worst thing that hurts, before the count of cables."""

import re
from dataclasses import dataclass, replace

import numpy as np

from truerail.model.columns import Codes
from truerail.model.finding import Severity
from truerail.outputs.report_words import as_sentence, count, sentence
from truerail.views.lines import cause_lines
from truerail.views.pieces import CauseLine
from truerail.views.view import View

_NEXT_SENTENCE = re.compile(r"(?<=[.!?]) (?=[A-Z])")


@dataclass(frozen=True, slots=True)
class OverviewHeadline:
    """The verdict in two sentences. `worst` is the key of the cause that `headline` names; None if it names none."""

    tone: str
    headline: str
    repair: str
    worst: str | None


def overview_headline(view: View) -> OverviewHeadline:
    """What hurts most of what is not muted: the first cause that costs GPUs their rail, else critical findings without
    a cause, else the first cause of at least a warning, else the cables that are not right, else other findings of at
    least a warning. The view owns it.
    """
    return view.once(_overview_headline if view.hindsight is None else _past_headline)


def _past_headline(view: View) -> OverviewHeadline:
    """The same without what was to be done."""
    return replace(_overview_headline(view), repair="")


def _overview_headline(view: View) -> OverviewHeadline:
    cables = view.headline
    cause, alone = _worst_cause(view), _unexplained(view)
    summary = view.evaluated.evaluation.summary
    critical = bool(len(alone)) and view.findings.all[alone[0]].severity is Severity.CRITICAL
    if cause and (cause.impact or not critical):
        return OverviewHeadline(cables.tone.value, _of_cause(cause), cables.repair, cause.key)
    if critical or (len(alone) and summary.cables_right == summary.cables_planned):
        return OverviewHeadline(cables.tone.value, _of_findings(view, alone.tolist()), cables.repair, None)
    return OverviewHeadline(cables.tone.value, cables.cables, cables.repair, None)


def _worst_cause(view: View) -> CauseLine | None:
    loud = (one for one in cause_lines(view) if not one.muted and Severity(one.severity).rank >= Severity.WARNING.rank)
    return next(loud, None)


def _unexplained(view: View) -> Codes:
    """Findings of at least a warning that no cause explains and that are not muted, highest severity first."""
    findings, cause_of = view.findings, view.sight.cause_of
    alone = np.array([one not in cause_of for one in findings.ids], dtype=bool)
    places = np.flatnonzero(alone & ~view.muted & (findings.rank >= Severity.WARNING.rank))
    return places[np.argsort(-findings.rank[places], kind="stable")]


def first_sentence(text: str) -> str:
    """The first sentence of several."""
    return _NEXT_SENTENCE.split(sentence(text), 1)[0]


def _of_cause(cause: CauseLine) -> str:
    words = as_sentence(first_sentence(cause.summary))
    if not cause.impact:
        return words
    gpus = count(cause.impact, "GPU")
    return f"{words} {f'Perhaps {gpus}' if cause.undecided else gpus} affected."


def _of_findings(view: View, places: list[int]) -> str:
    first = view.findings.all[places[0]]
    alike = sum(view.findings.all[place].severity is first.severity for place in places)
    more = f" {count(alike, f'{first.severity.value} finding')} without a common cause." if alike > 1 else ""
    return f"{as_sentence(first_sentence(first.summary))}{more}"

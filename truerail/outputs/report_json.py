"""The report for programs: `truerail/check/v1`, as defined in `check.schema.json`."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import orjson

from truerail.model import Alternative, Cable, CableState, Cause, Evaluation, Finding, Move, Severity, Summary, Verdict
from truerail.model.finding import causes_before
from truerail.outputs.report_words import order

SCHEMA = "truerail/check/v1"

_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_NOT_ASCII = re.compile(r"[^\n -~]+")


def render_json(evaluation: Evaluation) -> str:
    """The full evaluation as JSON text. Only ASCII, so that no foreign string can act on a terminal.

    A half of a surrogate pair, which strict readers of JSON refuse, becomes `?`.
    """
    reported = document(evaluation)
    try:
        whole = orjson.dumps(reported, default=_plain, option=_OPTIONS).decode()
    except TypeError:  # half a surrogate pair, or more than 64 bits
        text = json.dumps(reported, indent=2, ensure_ascii=False, allow_nan=False, default=str)
        whole = text.encode("utf-8", "replace").decode("utf-8")
    if whole.isascii() and "\x7f" not in whole:  # JSON escapes every other control character
        return whole + "\n"
    return _NOT_ASCII.sub(lambda found: json.dumps(found.group())[1:-1], whole) + "\n"


def _plain(value: Any) -> Any:
    """Values that orjson does not support, as `json` writes them: facts are tuples, measures may be numpy's floats."""
    return list(value) if isinstance(value, tuple) else float(value) if isinstance(value, float) else str(value)


def document(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation as plain objects; the order of every list is independent of the order of collection."""
    cause_of = evaluation.cause_of
    return {
        "schema": SCHEMA,
        "at": evaluation.at.isoformat(),
        "plan": evaluation.plan.source or evaluation.plan.name,
        "plan_inferred": evaluation.plan.inferred,
        "summary": _summary(evaluation.summary),
        "findings": [_finding(f, cause_of.get(f.id)) for f in sorted_findings(evaluation)],
        "causes": [_cause(cause, evaluation.causes) for cause in evaluation.causes],
        "verdicts": [_verdict(v) for v in sorted(evaluation.verdicts, key=lambda v: v.rule)],
        "collection_errors": _unread(evaluation),
        "cables": _cables(evaluation),
        "notes": list(evaluation.notes),
    }


def sorted_findings(evaluation: Evaluation) -> list[Finding]:
    """The findings, highest severity first, then by rule and subject."""
    return sorted(evaluation.findings, key=lambda f: (-f.severity.rank, f.rule, order(f.subject), f.id))


def _summary(summary: Summary) -> dict[str, Any]:
    findings = {severity.value: summary.findings.get(severity.value, 0) for severity in reversed(Severity)}
    return _values(summary, *(field.name for field in fields(summary))) | {"findings": findings}


def _values(of: object, *names: str) -> dict[str, Any]:
    """Some attributes by their names, tuples as lists."""
    values = ((name, getattr(of, name)) for name in names)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values}


def _finding(finding: Finding, cause: str | None) -> dict[str, Any]:
    reported = {
        "id": finding.id,
        "rule": finding.rule,
        "name": finding.name,
        "severity": finding.severity.value,
        "subject": finding.subject,
        "rail": finding.rail,
        "expected": finding.expected,
        "observed": finding.observed,
        "cause": cause,
        "confidence": finding.confidence,
        "summary": finding.summary,
        "action": finding.action,
        "evidence": [evidence.as_dict() for evidence in finding.evidence],
    }
    return dict(finding.detail) | reported


def _cause(cause: Cause, causes: Sequence[Cause]) -> dict[str, Any]:
    return {
        **_values(cause, "id", "kind", "subjects", "summary", "action", "explains", "confidence"),
        "alternatives": [_alternative(alternative) for alternative in cause.alternatives],
        "to_confirm": cause.to_confirm,
        "moves": [_move(move, causes) for move in cause.moves],
        "renames": [asdict(one) for one in cause.renames],
    }


def _alternative(alternative: Alternative) -> dict[str, Any]:
    return _values(alternative, "kind", "summary") | {"moves": [_move(move, ()) for move in alternative.moves]}


def _move(move: Move, causes: Sequence[Cause]) -> dict[str, Any]:
    after = list(causes_before(move, causes))
    return {"cable": str(move.cable), "from": str(move.source), "to": str(move.target), "after": after}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        **_values(verdict, "rule", "status", "missing", "why"),
        "error": verdict.error or None,
        "unknown": [part.as_dict() for part in verdict.not_evaluated],
    }


def _unread(evaluation: Evaluation) -> list[dict[str, Any]]:
    unread = sorted(evaluation.collection_errors, key=lambda r: (order(r.device), r.collector, r.error))
    return [
        {"device": r.device, "collector": r.collector, "at": r.at.isoformat(), "error": r.error, "source": r.source}
        for r in unread
    ]


def _cables(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The planned cables that are not known to be right. One without a state was not evaluated."""
    states = evaluation.cable_states
    reported = ((cable, states.get(cable.a, CableState.RIGHT)) for cable in evaluation.plan.cables)
    not_right = ((cable, state) for cable, state in reported if state is not CableState.RIGHT)
    return [_cable(cable, state) for cable, state in sorted(not_right, key=lambda reported: order(str(reported[0].a)))]


def _cable(cable: Cable, state: CableState) -> dict[str, Any]:
    return {
        "a": str(cable.a),
        "b": str(cable.b),
        "rail": cable.rail,
        "plane": cable.plane,
        "label": cable.label or None,
        "state": state.value,
    }

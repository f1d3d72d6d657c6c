"""The report for paper and browser: one file, no external resources, readable without JavaScript."""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import truerail
from truerail.files.nodesets import fold
from truerail.model import CableState, Cause, CauseKind, Evaluation, Finding
from truerail.model.columns import grouped
from truerail.outputs.punch import Step, punch_list
from truerail.outputs.rail_grid import HostRow, Picture
from truerail.outputs.report_json import sorted_findings
from truerail.outputs.report_words import (
    INFERRED,
    as_sentence,
    count,
    headline,
    instruction,
    misfit,
    order,
    place_of,
    port_of,
    sentence,
    sure,
    title,
)
from truerail.outputs.text.blocks import GLYPHS, TONE_MARKS
from truerail.outputs.unevaluated import doubts, rule_name

# ----------------------------------------------------------------------------------------------------------------------
# Small drawings for the HTML report, as numbers: the template writes the SVG and escapes the text.

MOST_LINES = 8
LINE_HEIGHT = 26


@dataclass(frozen=True, slots=True)
class Line:
    """One cable from its end that stays (row `y`) to a switch port (row `to_y`)."""

    y: int
    to_y: int


@dataclass(frozen=True, slots=True)
class Crossing:
    """Actual and planned ports of cables: labels on both sides with their heights, in pixels."""

    cables: tuple[tuple[str, int], ...]
    ports: tuple[tuple[str, int], ...]
    now: tuple[Line, ...]
    planned: tuple[Line, ...]
    height: int


def crossing(cause: Cause) -> Crossing | None:
    """The drawing of a cause's moves; None without moves, or with too many to follow."""
    if not 1 <= len(cause.moves) <= MOST_LINES:
        return None
    # planned ports first, each beside its cable, so that what is right is a level line
    ports = dict.fromkeys((*(move.target for move in cause.moves), *(move.source for move in cause.moves)))
    heights = {port: _y(row) for row, port in enumerate(ports)}
    cables = tuple((str(move.cable), _y(row)) for row, move in enumerate(cause.moves))
    return Crossing(
        cables,
        tuple((str(port), y) for port, y in heights.items()),
        tuple(Line(y, heights[move.source]) for (_, y), move in zip(cables, cause.moves, strict=True)),
        tuple(Line(y, heights[move.target]) for (_, y), move in zip(cables, cause.moves, strict=True)),
        LINE_HEIGHT * len(heights) + 4,
    )


def _y(row: int) -> int:
    return LINE_HEIGHT * row + LINE_HEIGHT // 2 + 2


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a bar: its start and its width, in percent of the bar."""

    state: str
    number: int
    start: float
    width: float


def bar(numbers: dict[CableState, int]) -> list[Part]:
    """A bar of states in their order. A count above zero stays visible: at least half a percent wide."""
    total = sum(numbers.values()) or 1
    raw = {state: max(100 * number / total, 0.5) for state, number in numbers.items() if number}
    scale, start, parts = 100 / (sum(raw.values()) or 1), 0.0, []
    for state, width in raw.items():
        parts.append(Part(state.value, numbers[state], round(start, 2), round(width * scale, 2)))
        start += width * scale
    return parts


# ----------------------------------------------------------------------------------------------------------------------
# The report for paper and browser: one file, no external resources, readable without JavaScript.

MOST_ROWS = 1000
MOST_FINDINGS = 2000
MOST_STEPS = 5000
MOST_CAUSES = 500


Rows = list[tuple[Finding, list[dict[str, Any]]]]
"""Findings, each with its evidence."""


def render_html(evaluation: Evaluation, *, details: bool = False) -> str:
    """The page. Every value passes `_finalize` and Jinja's escaping. `details` unfolds the findings that a cause
    explains and all evidence, on screen and in print.
    """
    folder = "templates"
    environment = Environment(
        loader=PackageLoader("truerail.outputs", folder),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = (files("truerail.outputs") / folder / "report.js").read_text("utf-8")
    environment.filters.update(fold=fold, sure=sure, as_sentence=as_sentence, instruction=instruction)
    environment.globals.update(
        count=count,
        place_of=lambda subject: place_of(subject, evaluation.plan),
        at_port=lambda subject: port_of(subject, evaluation.plan),
        css=Markup((files("truerail.outputs") / folder / "report.css").read_text("utf-8")),  # noqa: S704 - our own file
        script=Markup(script),  # noqa: S704 - our own file
        script_hash=b64encode(sha256(script.encode()).digest()).decode(),
        version=truerail.__version__,
    )
    return environment.get_template("report.html.j2").render(_context(evaluation) | {"details": details})


def _finalize(value: object) -> object:
    """Any value as text without control characters; our own markup unchanged."""
    return value if isinstance(value, Markup) else sentence(str(value))


def _context(evaluation: Evaluation) -> dict[str, Any]:
    picture = Picture(evaluation)
    verdict = headline(evaluation)
    steps = punch_list(evaluation)
    findings = sorted_findings(evaluation)
    rows = _rows(picture)
    numbered = list(enumerate(steps, 1))[:MOST_STEPS]
    unreachable = [one for one in numbered if one[1].kind is CauseKind.UNREACHABLE]
    silent = unreachable if len(unreachable) > 1 else []
    summary = evaluation.summary
    numbers = (summary.cables_right, summary.cables_wrong, summary.cables_missing, summary.cables_unknown)
    return {
        "j": evaluation,
        "inferred": INFERRED if evaluation.plan.inferred else misfit(evaluation),
        "title": title(evaluation.plan),
        "verdict": verdict,
        "mark": TONE_MARKS[verdict.tone][0],
        "glyphs": {state.value: glyph for state, glyph in GLYPHS.items()},
        "whole_bar": bar(dict(zip(CableState, numbers, strict=True))),
        "causes": [(cause, crossing(cause)) for cause in evaluation.causes[:MOST_CAUSES]],
        "steps": len(steps),
        "shown_steps": min(len(steps), MOST_STEPS),
        "stops": _stops([one for one in numbered if one not in silent], evaluation),
        "silent": silent,
        "silent_devices": fold(sorted((step.device for _, step in silent), key=order)),
        "rails": picture.rails,
        "by_rail": [(rail, counts, bar(counts)) for rail, counts in picture.by_rail()],
        "rows": rows[:MOST_ROWS],
        "unlisted_hosts": sum(len(hosts) for hosts, _, _ in rows[MOST_ROWS:]),
        "broken": len(picture.broken_hosts),
        "whole": picture.whole_hosts,
        "uplinks": picture.uplink_groups(),
        "doubts": doubts(evaluation),
        "findings": _groups(findings[:MOST_FINDINGS], evaluation),
        "unlisted": len(findings[MOST_FINDINGS:]),
        "verdicts": [(v, rule_name(v.rule)) for v in sorted(evaluation.verdicts, key=lambda v: v.rule)],
    }


def _rows(picture: Picture) -> list[tuple[list[str], HostRow, tuple[str, ...]]]:
    """Hosts with faults that look alike and have the same causes, their row, and these causes."""
    rows = ((picture.row(host), host) for host in picture.broken_hosts)
    alike = grouped(((row.key, picture.causes_at(host)), (host, row)) for row, host in rows)
    return [([host for host, _ in found], found[0][1], causes) for (_, causes), found in alike.items()]


def _groups(findings: list[Finding], evaluation: Evaluation) -> list[tuple[Cause | None, Rows]]:
    """Findings without a cause first, since nothing else on the page has them; then by cause."""
    cause_of = evaluation.cause_of
    by_cause = grouped(
        (cause_of.get(finding.id, ""), (finding, [_evidence(one) for one in finding.evidence])) for finding in findings
    )
    causes = (None, *evaluation.causes)
    return [(cause, rows) for cause in causes if (rows := by_cause.get(cause.id if cause else ""))]


def _stops(steps: list[tuple[int, Step]], evaluation: Evaluation) -> list[tuple[str, list[tuple[int, Step]]]]:
    """The racks of the walk, each with its actions: steps with their numbers."""

    def rack(numbered: tuple[int, Step]) -> str:
        device = evaluation.plan.placed(numbered[1].device)
        return device.rack if device else ""

    return [(where, list(here)) for where, here in groupby(steps, key=rack)]


def _evidence(evidence: Any) -> dict[str, Any]:
    reported: dict[str, Any] = evidence.as_dict()
    facts = reported["fact"].items()
    words = (f"{key} {' '.join(map(str, value)) if isinstance(value, tuple) else value}" for key, value in facts)
    return reported | {"words": ", ".join(words)}

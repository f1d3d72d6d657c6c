"""The workbook: steps by rack, causes with their moves, findings, hosts. Strings are never formulas or links."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from truerail.model import CableState, Cause, Evaluation
from truerail.outputs.punch import punch_list
from truerail.outputs.report_csv import COLUMNS, rows
from truerail.outputs.report_words import headline, name, order, place, place_of, sentence, title

Row = Sequence[str | int | float | None]

_SAFE = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
_FILLS = {
    "critical": ("#FFC7CE", "#9C0006"),
    "warning": ("#FFEB9C", "#7F6000"),
    "info": ("#DDEBF7", "#1F4E78"),
}
MOST_ROWS = 1_048_000
"""A little below the limit of a sheet (1,048,576); the sheet's last row reports how many rows are left out."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: `widths` in characters, `counts` are the columns in which a number above 0 is a fault."""

    name: str
    columns: Sequence[str]
    widths: Sequence[int]
    rows: Iterable[Row]
    counts: Sequence[int] = ()


def render_xlsx(evaluation: Evaluation) -> bytes:
    """The workbook's bytes: sheets Punch list, Causes, Findings, Summary, each with a frozen header and filters."""
    import xlsxwriter

    out = io.BytesIO()
    verdict = headline(evaluation)
    with xlsxwriter.Workbook(out, _SAFE) as book:
        book.set_properties({"title": f"truerail: {title(evaluation.plan)}", "comments": verdict.cables})
        for sheet in (_punch(evaluation), _causes(evaluation), _findings(evaluation), _summary(evaluation)):
            _write(book, sheet)
    return out.getvalue()


def _summary(evaluation: Evaluation) -> Sheet:
    columns = ("host", "place", "planned", "right", "wrong", "missing", "unknown", "findings", "not right")
    return Sheet("Summary", columns, (24, 20, 10, 10, 10, 10, 10, 10, 11), _hosts(evaluation), (4, 5, 6, 7, 8))


def _hosts(evaluation: Evaluation) -> Iterator[Row]:
    """Each host's cables by state, hosts with most missing, then most wrong, first."""
    states: dict[str, Counter[CableState]] = {}
    for cable in evaluation.plan.host_cables:
        if state := evaluation.cable_states.get(cable.a):
            states.setdefault(cable.a.device, Counter())[state] += 1
    findings = Counter(finding.device for finding in evaluation.findings)
    for host in sorted(states, key=lambda h: (*_worst(states[h]), order(h))):
        of = states[host]
        counts = [of[state] for state in CableState]
        yield (
            name(host),
            place(evaluation.plan.devices[host]),
            of.total(),
            *counts,
            findings[host],
            of.total() - of[CableState.RIGHT],
        )


def _worst(states: Counter[CableState]) -> tuple[int, ...]:
    return tuple(-states[state] for state in (CableState.MISSING, CableState.WRONG, CableState.UNKNOWN))


def _punch(evaluation: Evaluation) -> Sheet:
    columns = (
        "step",
        "rack",
        "unit",
        "at",
        "action",
        "move the plug to",
        "place of target",
        "other end",
        "place of other end",
        "label",
        "serial",
        "serial of other end",
        "not before",
        "cause",
        "kind",
    )
    widths = (6, 10, 6, 24, 50, 24, 18, 28, 18, 16, 18, 18, 40, 8, 16)
    return Sheet("Punch list", columns, widths, _steps(evaluation))


def _steps(evaluation: Evaluation) -> Iterator[Row]:
    """One row for each step in walking order; those that depend on another repair come last. Sorting by `step` restores
    it.
    """
    plan = evaluation.plan
    for number, step in enumerate(punch_list(evaluation), 1):
        device = plan.placed(step.device)
        yield (
            number,
            name(device.rack) if device else "",
            device.unit if device else None,
            name(str(step.at)),
            sentence("; ".join(filter(None, (step.action, step.panels)))),
            name(str(step.to or "")),
            place_of(step.to or "", plan),
            name(str(step.far or "")),
            place_of(step.far or "", plan),
            name(step.label),
            name(step.serial),
            name(step.far_serial),
            step.after,
            step.cause,
            step.kind,
        )


def _causes(evaluation: Evaluation) -> Sheet:
    columns = (
        *("cause", "kind", "subjects", "summary", "action", "explains", "confidence", "move", "unplug from", "place"),
        *(
            "plug into",
            "place of target",
            "other end",
            "place of other end",
            "label",
            "alternatives",
            "to confirm",
            "not before",
        ),
    )
    widths = (8, 16, 36, 50, 40, 10, 11, 7, 22, 18, 22, 18, 26, 18, 16, 40, 40, 40)
    lines = (line for cause in evaluation.causes for line in _cause_lines(cause, evaluation))
    return Sheet("Causes", columns, widths, lines)


def _cause_lines(cause: Cause, evaluation: Evaluation) -> Iterator[Row]:
    """One line for each move; one line for a cause without moves. The cause's text is on each: rows get sorted."""
    plan = evaluation.plan
    subjects = ", ".join(map(name, cause.subjects))
    reported = (
        cause.id,
        cause.kind.value,
        subjects,
        sentence(cause.summary),
        sentence(cause.action),
        len(cause.explains),
    )
    others = "; ".join(f"{other.kind.value}: {sentence(other.summary)}" for other in cause.alternatives)
    tail = (others, sentence(cause.to_confirm))
    if not cause.moves:
        yield (*reported, cause.confidence, *(None,) * 8, *tail, "")
    for number, move in enumerate(cause.moves, 1):
        cable = plan.cable_at(move.cable)
        ends = [
            text for port in (move.source, move.target, move.cable) for text in (name(str(port)), place_of(port, plan))
        ]
        yield (*reported, cause.confidence, number, *ends, name(cable.label) if cable else "", *tail, move.after)


def _findings(evaluation: Evaluation) -> Sheet:
    widths = (14, 9, 22, 10, 28, 20, 6, 22, 22, 8, 16, 11, 60, 60, 10)
    return Sheet("Findings", COLUMNS, widths, rows(evaluation))


def _write(book: Any, sheet: Sheet) -> None:
    page = book.add_worksheet(sheet.name)
    header = book.add_format({"bold": True, "font_color": "white", "bg_color": "#24415E", "border": 1})
    for column, (words, width) in enumerate(zip(sheet.columns, sheet.widths, strict=True)):
        page.write_string(0, column, words, header)
        page.set_column(column, column, width)
    last = _fill(page, sheet.rows)
    page.freeze_panes(1, 1)
    page.autofilter(0, 0, max(last, 1), len(sheet.columns) - 1)
    page.set_landscape()
    page.fit_to_pages(1, 0)
    page.repeat_rows(0)
    _color(book, page, sheet, max(last, 1))


def _fill(page: Any, lines: Iterable[Row]) -> int:
    """Writes the rows below the header; returns the number of the last one."""
    at = 0
    for at, line in enumerate(lines, 1):
        if at > MOST_ROWS:
            page.write_string(at, 0, "further rows do not fit into a sheet: use --format csv")
            break
        for column, cell in enumerate(line):
            if isinstance(cell, str):
                page.write_string(at, column, cell)
            elif cell is not None:
                page.write_number(at, column, cell)
    return at


def _color(book: Any, page: Any, sheet: Sheet, last: int) -> None:
    bad = book.add_format({"bg_color": _FILLS["critical"][0], "font_color": _FILLS["critical"][1]})
    for column in sheet.counts:
        page.conditional_format(1, column, last, column, {"type": "cell", "criteria": ">", "value": 0, "format": bad})
    if "severity" in sheet.columns:
        column = sheet.columns.index("severity")
        for word, (back, ink) in _FILLS.items():
            shade = book.add_format({"bg_color": back, "font_color": ink})
            rule = {"type": "cell", "criteria": "==", "value": f'"{word}"', "format": shade}
            page.conditional_format(1, column, last, column, rule)

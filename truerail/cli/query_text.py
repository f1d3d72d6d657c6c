"""What `truerail query` prints: tables and questions explained, results in columns, and what a result lacks."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from truerail.cli.terminal_output import aligned

if TYPE_CHECKING:
    from truerail.history.history_tables import Field
    from truerail.history.query.query_request import QueryRequest
    from truerail.history.query.run_query import QueryReport
    from truerail.history.ready.ready_question import ReadyQuestion

_MOST_FILES = 20


def tables() -> str:
    """Every table of a store with its columns, their types, units and meanings."""
    from truerail.history.history_tables import TABLES

    lines = ["A column that no device reported is null, never 0."]
    for table in TABLES.values():
        lines += ["", f"{table.name}: {table.meaning}", *_columns(table.fields)]
    return "\n".join(lines)


def _columns(fields: "tuple[Field, ...]") -> Iterator[str]:
    rows = [(field.name, field.type.value, field.unit or "-", field.meaning) for field in fields]
    return (f"  {line}" for line in aligned(rows))


def questions() -> str:
    """Every ready-made question with its parameters and columns."""
    from truerail.history.ready.ready_question import ready_questions

    lines = ["truerail query NAME; each option has the default that is shown."]
    for question in ready_questions().values():
        lines += ["", f"{question.name}: {question.title}", *_parameters(question), *_columns(question.columns)]
    return "\n".join(lines)


def _parameters(question: "ReadyQuestion") -> Iterator[str]:
    rows = [
        (f"--{one.name.replace('_', '-')}", "needed" if one.needed else one.default or "all", one.meaning)
        for one in question.parameters
    ]
    return (f"  {line}" for line in aligned(rows))


def table(text: str, ready: "ReadyQuestion | None", report: "QueryReport") -> str:
    """A result in columns. `text` is the JSON of `Form.ROWS`. A plan is shown as DuckDB draws it."""
    found = json.loads(text)
    if found["columns"] == ["plan"]:
        return "\n".join(line for row in found["rows"] for line in aligned([row]))
    rows = [found["columns"], *([_shown(value) for value in row] for row in found["rows"])]
    body = list(aligned(rows)) if found["columns"] else []
    title = [f"{ready.title}", ""] if ready else []
    empty = ["", ready.no_data if ready else "No rows."] if not report.rows else []
    return "\n".join(title + body + empty)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e9 else f"{value:.4g}"
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value).replace("+00:00", "Z")


def lacks(ready: "ReadyQuestion | None", request: "QueryRequest", report: "QueryReport") -> Iterator[str]:
    """What a result lacks: rows over the limit, things without data, days before the store began, torn files."""
    if report.more:
        yield f"Only the first {report.rows:,} rows: --limit shows more, --format csv --out FILE writes all."
    if ready and report.coverage and report.coverage[0] < report.coverage[1]:
        known, total = report.coverage
        yield f"{known:,} of {total:,} {ready.coverage_of}; the others are unknown."
    yield from report.begin_later(request)
    for file in report.unreadable[:_MOST_FILES]:
        yield f"{file}; its rows are missing here."
    if len(report.unreadable) > _MOST_FILES:
        yield f"{len(report.unreadable) - _MOST_FILES:,} more files cannot be read."

"""`truerail query`: SQL, or a ready-made question, over a history store."""

import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from truerail.cli import terminal_output
from truerail.cli.exit_codes import refused_by_system, refusing
from truerail.cli.oncall import LOCAL_SERVICE, TokenFile
from truerail.cli.serve import read_settings
from truerail.cli.terminal_output import aligned
from truerail.errors import CommandError, HistoryStoreError, NotFoundError, QueryError, QueryLimitError
from truerail.history.query.query_request import Form, Limits, QueryRequest

if TYPE_CHECKING:
    from truerail.history.history_tables import Field
    from truerail.history.query.run_query import QueryReport
    from truerail.history.ready.ready_question import HistoryAnswer, ReadyQuestion

_SHOWN_ROWS, _PAGE_ROWS = 100, 1000
_MEBIBYTE = 1 << 20
_MOST_FILES = 20


def query(
    question: Annotated[
        str | None,
        typer.Argument(metavar="[SQL|NAME]", help="A SELECT in quotes, or the name of a ready-made question."),
    ] = None,
    store: Annotated[Path | None, typer.Option("--store", metavar="DIR", help="The history store.")] = None,
    config: Annotated[
        Path, typer.Option("--config", "-c", metavar="FILE", help="Without --store: the service's settings file.")
    ] = Path("truerail.yaml"),
    service: Annotated[
        str | None,
        typer.Option(metavar="URL", envvar="TRUERAIL_URL", help="The running service to ask, instead of a store."),
    ] = None,
    token_file: TokenFile = None,
    tables: Annotated[bool, typer.Option("--tables", help="Explain each table and column; needs no store.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="List the ready-made questions; needs no store.")] = False,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this time on: 7d, yesterday 14:00.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Up to this time.")] = None,
    device: Annotated[str | None, typer.Option(metavar="NAME", help="One device.")] = None,
    rail: Annotated[str | None, typer.Option(metavar="NUMBER", help="One rail.")] = None,
    lldp_name: Annotated[str | None, typer.Option(metavar="NAME", help="One LLDP name.")] = None,
    least: Annotated[str | None, typer.Option(metavar="NUMBER", help="At least so many; see --list.")] = None,
    step: Annotated[str | None, typer.Option(metavar="STEP", help="Length of an interval: 1m, 1h, 1d.")] = None,
    idlest: Annotated[bool, typer.Option("--idlest", help="The idlest first.")] = False,
    fmt: Annotated[Form, typer.Option("--format", "-f", help="The form of the result.")] = Form.TABLE,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the result to this file.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help=f"Most rows; default: {_SHOWN_ROWS} of a table, else all.")
    ] = None,
    timeout: Annotated[str, typer.Option(metavar="DURATION", help="End the query after this time.")] = "60s",
    memory: Annotated[int, typer.Option(metavar="MIB", min=64, help="Most memory of the query, in MiB.")] = 1024,
) -> None:
    """Ask the history: one SELECT in DuckDB's SQL, or a ready-made question. Reads a store only, and nothing else; a
    running service answers ready-made questions from its own.

    truerail query --tables explains what can be selected, truerail query --list shows the ready-made questions.
    """
    if tables or listed:
        terminal_output.say(_tables() if tables else _questions())
        return
    named = {"since": since, "until": until, "device": device, "rail": rail, "lldp_name": lldp_name}
    named |= {"least": least, "step": step}
    given = {key: value for key, value in named.items() if value is not None} | ({"idlest": "true"} if idlest else {})
    if fmt is Form.PARQUET and out is None:
        raise CommandError("parquet is no text: give --out FILE")
    limits = _limits(fmt, limit, timeout, memory)
    if store is None and (service or not config.exists()) and len((question or "").split()) == 1:
        rows = _served(str(question), given, service or LOCAL_SERVICE, token_file, fmt, limits.rows, out)
    else:
        ready, request = _request(question, given, _store(store, config), fmt, limits)
        report = _answered(ready, request, out, fmt)
        terminal_output.remark(*_lacks(ready, request, report))
        rows = report.rows
    if out is not None:
        terminal_output.remark(f"{out}: {rows:,} rows")


def _store(store: Path | None, config: Path) -> Path:
    """The folder of the store, from the option or from the settings. Raises CommandError."""
    if store is not None:
        return store
    if not config.exists():
        raise CommandError(f"give the history store: --store DIR, or settings that name one ({config} is not there)")
    history = read_settings(config).history
    if history is None:
        raise CommandError(f"{config}: has no history: {{path: DIR}}. Give --store DIR")
    return history.path


def _limits(fmt: Form, limit: int | None, timeout: str, memory: int) -> Limits:
    from truerail.service.durations import duration

    try:
        seconds = duration(timeout).total_seconds()
    except ValueError as error:
        raise CommandError(f"--timeout: {error}") from error
    if not seconds:
        raise CommandError("--timeout: 0 leaves no time for a query")
    return Limits(seconds, memory * _MEBIBYTE, rows=limit or (_SHOWN_ROWS if fmt is Form.TABLE else 0))


def _request(
    question: str | None, given: dict[str, str], store: Path, fmt: Form, limits: Limits
) -> "tuple[ReadyQuestion | None, QueryRequest]":
    """What is asked: the ready-made question, if it is one, and the request. A name has no blanks, SQL has."""
    from datetime import UTC, datetime

    from truerail.history.ready.ready_question import ready_question
    from truerail.questions.moments import moment

    if question is None or not question.strip():
        raise CommandError("give a SELECT in quotes or the name of a question: see --tables and --list")
    if len(question.split()) > 1:
        if given:
            raise CommandError(f"--{next(iter(given))} goes with a ready-made question: write it into the SQL")
        return None, QueryRequest(str(store), question, form=fmt, limits=limits)
    now = datetime.now(UTC)
    with refusing(QueryError, NotFoundError):
        ready = ready_question(question)
        return ready, ready.request(str(store), given, lambda text: moment(text, now), fmt, limits)


def _answered(ready: "ReadyQuestion | None", request: QueryRequest, out: Path | None, fmt: Form) -> "QueryReport":
    """Shows the result, or writes a file as a whole, or none. Raises CommandError for whatever stands between."""
    from truerail.history.query.run_query import run_query
    from truerail.history.store_folder import whole_file

    with refusing(QueryError, NotFoundError, HistoryStoreError, QueryLimitError):
        if out is not None and fmt is not Form.TABLE:
            with refused_by_system(out), whole_file(out.absolute()) as temporary, temporary.open("wb") as file:
                return run_query(request, file)
        result = BytesIO()
        report = run_query(request, result)
    text = result.getvalue().decode("utf-8", "replace")
    _show(_table(json.loads(text), ready) if fmt is Form.TABLE else text, out)
    return report


def _show(text: str, out: Path | None) -> None:
    if out is None:
        terminal_output.say(text)
    else:
        terminal_output.write(out, f"{text}\n")


def _served(
    question: str, given: dict[str, str], service: str, token_file: Path | None, fmt: Form, most: int,
    out: Path | None,
) -> int:  # fmt: skip
    """Shows what a running service answers to a ready-made question; returns the rows. Raises CommandError."""
    from truerail.cli.oncall_service import fetched, versions_named
    from truerail.history.ready.ready_question import HistoryAnswer
    from truerail.views.plain import answer_from_json

    if fmt not in (Form.TABLE, Form.JSON):
        raise CommandError(f"{fmt} is written from a store: give --store DIR")
    route, answer = f"history/questions/{quote(question, safe='')}", None
    items: list[dict[str, Any]] = []
    with versions_named(service, token_file, "history/questions"):
        while answer is None or (answer.items and answer.next and len(items) != most):
            page = {"limit": str(min(most - len(items) if most else _PAGE_ROWS, _PAGE_ROWS))}
            page |= {"cursor": answer.next} if answer and answer.next else {}
            answer = answer_from_json(HistoryAnswer, fetched(service, route, given | page, token_file))
            items += answer.items
    rows = {"columns": [one.name for one in answer.columns], "rows": [[*row.values()] for row in items]}
    _show(_table(rows, answer) if fmt is Form.TABLE else json.dumps(items, ensure_ascii=False, indent=1), out)
    more = [f"Only the first {len(items):,} rows: --limit shows more."] if answer.next else []
    terminal_output.remark(*more, *answer.notes)
    return len(items)


# ----------------------------------------------------------------------------------------------------------------------
# What it prints: tables and questions explained, results in columns, and what a result lacks.


def _tables() -> str:
    """Every table of a store with its columns, their types, units and meanings."""
    from truerail.history.history_tables import TABLES

    lines = ["A column that no device reported is null, never 0."]
    for table in TABLES.values():
        lines += ["", f"{table.name}: {table.meaning}", *_columns(table.fields)]
    return "\n".join(lines)


def _columns(fields: "tuple[Field, ...]") -> Iterator[str]:
    rows = [(field.name, field.type.value, field.unit or "-", field.meaning) for field in fields]
    return (f"  {line}" for line in aligned(rows))


def _questions() -> str:
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


def _table(found: Any, ready: "ReadyQuestion | HistoryAnswer | None") -> str:
    """A result in columns. `found` is what `Form.TABLE` writes. A plan is shown as DuckDB draws it."""
    if found["columns"] == ["plan"]:
        return "\n".join(line for row in found["rows"] for line in aligned([row]))
    rows = [found["columns"], *([_shown(value) for value in row] for row in found["rows"])]
    body = list(aligned(rows)) if found["columns"] else []
    title = [f"{ready.title}", ""] if ready else []
    empty = ["", ready.no_data if ready else "No rows."] if not found["rows"] else []
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


def _lacks(ready: "ReadyQuestion | None", request: QueryRequest, report: "QueryReport") -> Iterator[str]:
    """What a result lacks: rows over the limit, things without data, days before the store began, torn files."""
    if report.more:
        yield f"Only the first {report.rows:,} rows: --limit shows more, --format csv --out FILE writes all."
    yield from report.missing(request, ready.coverage_of if ready else "")
    for file in report.unreadable[:_MOST_FILES]:
        yield f"{file}; its rows are missing here."
    if len(report.unreadable) > _MOST_FILES:
        yield f"{len(report.unreadable) - _MOST_FILES:,} more files cannot be read."

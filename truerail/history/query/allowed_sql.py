"""Which SQL is run: one statement that reads the tables of the store, and nothing else.

DuckDB parses the text; what it read (`json_serialize_sql`) is walked, so that no spelling hides a table or a function.
What is not known to be harmless is refused. The settings of the connection (`sandbox`) are a second wall behind this.
Source: https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from truerail.errors import NotFoundError, QueryError
from truerail.files.problems import nearest
from truerail.model.names import printable

if TYPE_CHECKING:
    import duckdb

LONGEST_SQL = 100_000
"""Characters."""
_EXPLAIN = re.compile(r"\s*explain(?P<analyze>\s+analyze)?\b(?!\s*\()", re.IGNORECASE)
_TABLE_FUNCTIONS = frozenset({"generate_series", "range", "unnest"})
"""All others read files, settings, memory of Python, or run text as SQL."""
_REFUSED_FUNCTIONS = frozenset({"current_setting", "getenv", "getvariable", "write_log"})
_READS = "A query is SELECT, WITH, DESCRIBE or EXPLAIN"


@dataclass(frozen=True, slots=True)
class AllowedSql:
    """A statement that may run, and the tables of the store that it names."""

    sql: str
    tables: tuple[str, ...]
    is_plan: bool = False
    """Whether it is EXPLAIN: its result is a drawing."""


def allowed(connection: "duckdb.DuckDBPyConnection", sql: str, known: Collection[str]) -> AllowedSql:
    """The statement, if it only reads `known` tables. Raises QueryError, and NotFoundError for an unknown table."""
    if len(sql) > LONGEST_SQL:
        raise QueryError(f"the query has {len(sql):,} characters, at most {LONGEST_SQL:,} are read")
    kind = _only_statement(connection, sql)
    before, body = _explained(sql) if kind == "EXPLAIN" else ("", sql)
    if kind not in ("SELECT", "EXPLAIN", "MULTI"):
        raise QueryError(f"{kind} is not allowed. {_READS}")
    tables = _tables(_parsed(connection, body), {name.lower() for name in known})
    return AllowedSql(before + body, tables, bool(before))


def _only_statement(connection: "duckdb.DuckDBPyConnection", sql: str) -> str:
    import duckdb

    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise QueryError("\n".join(filter(str.strip, str(error).splitlines()))) from None
    if len(statements) != 1:
        raise QueryError(f"one statement is run, not {len(statements)}")
    return str(statements[0].type.name)


def _explained(sql: str) -> tuple[str, str]:
    """`EXPLAIN`, and the statement after it. Options in brackets are refused: with them it writes files."""
    found = _EXPLAIN.match(sql)
    if not found:
        raise QueryError("EXPLAIN and EXPLAIN ANALYZE are allowed at the start of a query, without options")
    return "EXPLAIN ANALYZE " if found["analyze"] else "EXPLAIN ", sql[found.end() :]


def _parsed(connection: "duckdb.DuckDBPyConnection", sql: str) -> Any:
    row = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    try:
        tree = json.loads(row[0] if row else "{}")
    except RecursionError:
        raise QueryError("the query is nested too deeply") from None
    if tree.get("error", True):
        detail = tree.get("error_message", "")
        raise QueryError(f"this statement is not allowed. {_READS}" if "Only SELECT" in detail else detail)
    if len(tree["statements"]) != 1:
        raise QueryError(f"one statement is run, not {len(tree['statements'])}")
    return tree


def _tables(tree: Any, known: Collection[str]) -> tuple[str, ...]:
    """The tables of the store in a parsed statement. Raises QueryError, NotFoundError."""
    nodes = list(_nodes(tree))
    own = {entry["key"].lower() for node in nodes for entry in _common_tables(node)}
    found = dict.fromkeys(name for node in nodes for name in _named(node, known, own))
    return tuple(found)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object in it, without recursion."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _common_tables(node: dict[str, Any]) -> list[dict[str, Any]]:
    """The names that `WITH` gives."""
    entries = node.get("cte_map")
    return list(entries["map"]) if isinstance(entries, dict) else []


def _named(node: dict[str, Any], known: Collection[str], own: Collection[str]) -> Iterator[str]:
    """The table of the store that a node names, if any."""
    if node.get("type") == "TABLE_FUNCTION":
        _refuse_function(node["function"].get("function_name", ""), _TABLE_FUNCTIONS)
    elif node.get("class") == "FUNCTION" and node.get("function_name", "").lower() in _REFUSED_FUNCTIONS:
        _refuse_function(node["function_name"], ())
    elif node.get("type") == "SHOW_REF" and node.get("table_name"):  # SHOW TABLES
        yield from sorted(known)
    elif node.get("type") == "BASE_TABLE":
        name = node["table_name"].lower()
        elsewhere = node.get("catalog_name") or node.get("schema_name", "").lower() not in ("", "main")
        if name not in own or elsewhere:
            yield _of_the_store(name, ".".join(node["qualified_name"]["path"]) if elsewhere else name, known)


def _of_the_store(name: str, written: str, known: Collection[str]) -> str:
    if written != name or name not in known:
        raise NotFoundError(f"table {printable(written, 80)!r} is not known{nearest(name, sorted(known))}")
    return name


def _refuse_function(name: str, allowed_names: Collection[str]) -> None:
    if name.lower() not in allowed_names:
        raise QueryError(f"{printable(name, 80)}() is not allowed: a query reads the tables of the store only")

"""Statements that differ between SQLite and PostgreSQL."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, any_, bindparam, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import ARRAY, BigInteger, String

from truerail.journal.types import key_text

CHUNK = 2000
"""Rows in one statement: enough to be fast, few enough to be small in memory."""


def upsert(
    connection: Connection,
    table: Table,
    rows: Sequence[dict[str, Any]],
    *,
    earliest: Collection[str] = (),
    keep: Collection[str] = (),
) -> None:
    """Inserts rows, or replaces those with the same key. Columns of `earliest` keep the smaller value, those of `keep`
    their value if the new row has none.
    """
    if not rows:
        return
    statement = (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)
    least = func.min if connection.dialect.name == "sqlite" else func.least
    key = {column.name for column in table.primary_key}
    values = {name: statement.excluded[name] for name in rows[0] if name not in key}
    values |= {name: least(table.c[name], values[name]) for name in earliest}
    values |= {name: func.coalesce(values[name], table.c[name]) for name in keep}
    run(connection, statement.on_conflict_do_update(index_elements=sorted(key), set_=values), rows)


def among_numbers(connection: Connection, column: ColumnElement[Any], numbers: Iterable[int]) -> ColumnElement[bool]:
    """Whether a column holds one of many numbers, however many there are."""
    return _among(connection, column, list(numbers), BigInteger())


def among_keys(connection: Connection, column: ColumnElement[Any], words: Iterable[str]) -> ColumnElement[bool]:
    """Whether a column of keys holds one of many words."""
    return _among(connection, column, [key_text(word) for word in words], String())


def _among(connection: Connection, column: ColumnElement[Any], values: list[Any], kind: Any) -> ColumnElement[bool]:
    if connection.dialect.name == "sqlite":
        each = func.json_each(json.dumps(values)).table_valued("value")
        return column.in_(select(each.c.value))
    wanted: ColumnElement[bool] = column == any_(bindparam(None, values, type_=ARRAY(kind), unique=True))
    return wanted


def run(connection: Connection, statement: Any, rows: Sequence[dict[str, Any]]) -> None:
    """Runs a statement with many rows, some at a time."""
    for start in range(0, len(rows), CHUNK):
        connection.execute(statement, rows[start : start + CHUNK])

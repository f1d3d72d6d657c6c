"""Unreadable rows affect no other rows: they are skipped, reported once, and can be deleted.

A disk, a manual edit with `sqlite3`, or a faulty release may leave a row with an impossible time or a body that is not
JSON.
"""

import logging
import zlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from sqlalchemy import Connection, Select

from truerail.model.names import printable

T = TypeVar("T")
UNREADABLE = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, zlib.error)
"""Errors from reading a value that truerail did not write: a time out of range, an unknown word."""
_LOG = logging.getLogger(__name__)


class Salvage:
    """The unreadable rows of one journal. Safe for several threads at once."""

    def __init__(self) -> None:
        self._lost: dict[tuple[str, Any], str] = {}

    def has(self, table: str, key: object) -> bool:
        """Whether a row was found unreadable."""
        return (table, key) in self._lost

    def of(self, table: str) -> dict[Any, str]:
        """The unreadable rows of a table: key to reason."""
        return {key: why for (name, key), why in tuple(self._lost.items()) if name == table}

    def forget(self, table: str, key: object) -> None:
        """Forgets a deleted row."""
        self._lost.pop((table, key), None)

    def rows(
        self, connection: Connection, query: Select[*tuple[Any, ...]], key: Any, make: Callable[[Any], T]
    ) -> list[T]:
        """`make` of each row of a query, in its order. Row by row by `key` if some cannot be read."""
        try:
            return [make(row) for row in connection.execute(query)]
        except UNREADABLE:
            return list(self._one_by_one(connection, query, key, make))

    def _one_by_one(
        self, connection: Connection, query: Select[*tuple[Any, ...]], key: Any, make: Callable[[Any], T]
    ) -> Iterator[T]:
        for number in connection.execute(query.with_only_columns(key, maintain_column_froms=True)).scalars().all():
            one = query.where(key == number).limit(None).offset(None)
            try:
                yield from [make(row) for row in connection.execute(one)]
            except UNREADABLE as error:
                self.report(key.table.name, number, error)

    def report(self, table: str, key: object, error: Exception) -> None:
        """Logs a row that cannot be read, once."""
        if not self.has(table, key):
            why = f"{type(error).__name__}: {printable(str(error), 160)}"
            self._lost[table, key] = why
            _LOG.warning("journal: row %s of %s cannot be read and is left out: %s", key, table, why)

"""What is asked of a history store, and with which limits: what the query process reads on its standard input."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

MEBIBYTE = 1 << 20


class Form(StrEnum):
    """The form of the result."""

    TABLE = "table"
    """A JSON object: `columns`, and `rows` as lists of values. What a terminal's table is made of."""
    CSV = "csv"
    JSON = "json"
    """A JSON list of objects."""
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one query may use. `rows` 0: as many as there are. `nice`: how far it stands back for other processes."""

    seconds: float = 60.0
    memory_bytes: int = 1024 * MEBIBYTE
    threads: int = 2
    rows: int = 0
    nice: int = 0

    @property
    def too_long(self) -> str:
        """What a query is refused with that takes more time."""
        return f"the query takes longer than {self.seconds:g} s: read fewer days, or group more"


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """One statement and its parameters. `coverage` is a second one, for one row of two numbers. Files without a row
    from `since` up to `until` (ISO 8601; empty: no bound) are not read.
    """

    store: str
    sql: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    form: Form = Form.TABLE
    limits: Limits = Limits()
    since: str = ""
    until: str = ""
    coverage: str = ""

    def page(self, offset: int, rows: int) -> "QueryRequest":
        """The same for `rows` rows from an offset on; one more is read, to see whether there are more."""
        sql = f"{self.sql.rstrip()} LIMIT {rows + 1:d} OFFSET {offset:d}"
        return replace(self, sql=sql, limits=replace(self.limits, rows=rows))

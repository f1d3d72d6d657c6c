"""Tables of the history store as Arrow tables, with the types that Parquet files then have."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from truerail.extras import require
from truerail.history.history_tables import HistoryTable, Type

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]


def arrow() -> Any:
    """The module pyarrow. Raises MissingExtraError where it is not installed."""
    require("history", "the history store")
    import pyarrow as pa
    import pyarrow.parquet

    return pa


def arrow_schema(table: HistoryTable) -> "pa.Schema":
    """The schema of a table's files. Meanings and units are metadata of its fields."""
    pa = arrow()
    word = pa.dictionary(pa.int32(), pa.string())
    types = {
        Type.TIME: pa.timestamp("us", "UTC"),
        Type.WORD: word,
        Type.TEXT: word,
        Type.TEXTS: pa.list_(pa.string()),
        Type.WHOLE: pa.int64(),
        Type.NUMBER: pa.float64(),
        Type.FLAG: pa.bool_(),
    }
    fields = [
        pa.field(one.name, types[one.type], metadata={"meaning": one.meaning, "unit": one.unit}) for one in table.fields
    ]
    return pa.schema(fields)


def from_rows(table: HistoryTable, rows: Iterable[Row]) -> "pa.Table":
    """Rows as an Arrow table; a value that a row does not have is null."""
    return arrow().Table.from_pylist(list(rows), schema=arrow_schema(table))


def from_columns(table: HistoryTable, columns: Mapping[str, Any]) -> "pa.Table":
    """Columns as an Arrow table: arrays of numbers, in which NaN is null, or Arrow arrays."""
    pa = arrow()
    schema = arrow_schema(table)
    return pa.Table.from_arrays([_column(pa, columns[field.name], field.type) for field in schema], schema=schema)


def times(at: datetime, rows: int) -> Any:
    """A column of one time."""
    pa = arrow()
    return pa.repeat(pa.scalar(at, pa.timestamp("us", "UTC")), rows)


def words(codes: Any, names: Sequence[str | None]) -> "pa.DictionaryArray":
    """A column of words: codes (-1 is null) of these names; a name that is None or empty is null."""
    import numpy as np

    pa = arrow()
    known = np.array([bool(name) for name in names] + [False], dtype=bool)
    number = np.cumsum(known) - 1
    code = np.where(known[codes], number[codes], -1)
    kept = pa.array([name for name in names if name], pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int32), mask=code < 0), kept)


def joined(tables: Sequence["pa.Table"]) -> "pa.Table":
    """Tables of one schema, one after the other, with one dictionary for each column of words."""
    pa = arrow()
    return pa.concat_tables(tables).unify_dictionaries().combine_chunks()


def _column(pa: Any, values: Any, kind: Any) -> Any:
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    return pa.array(values, kind, from_pandas=True)

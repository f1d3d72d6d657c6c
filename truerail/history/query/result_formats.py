"""Results of queries as JSON, CSV and Parquet, batch by batch. Text is made safe for terminals and spreadsheets."""

import csv
import io
import json
import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, BinaryIO

from truerail.history.query.query_request import Form
from truerail.model.names import printable
from truerail.outputs.report_csv import inert

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

_LONGEST_CELL = 32_000
"""Characters of a cell of CSV: spreadsheets hold 32,767."""


def write_result(schema: "pa.Schema", batches: "Batches", form: Form, out: BinaryIO) -> None:
    """Writes all batches in this form."""
    _WRITERS[form](schema, batches, out)


def _rows(schema: "pa.Schema", batches: "Batches", out: BinaryIO) -> None:
    rows = [list(row) for batch in batches for row in _values(batch)]
    out.write(_json({"columns": schema.names, "rows": rows}))


def _objects(schema: "pa.Schema", batches: "Batches", out: BinaryIO) -> None:
    """A JSON list with an object a line, so that a long result is not held in memory."""
    before = b"[\n"
    for batch in batches:
        for row in _values(batch):
            out.write(before + _json(dict(zip(schema.names, row, strict=True))))
            before = b",\n"
    out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _csv(schema: "pa.Schema", batches: "Batches", out: BinaryIO) -> None:
    """RFC 4180, UTF-8, a header line. No cell starts a formula in any spreadsheet."""
    text = io.TextIOWrapper(out, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in schema.names])
    for batch in batches:
        writer.writerows([_cell(value) for value in row] for row in _values(batch))
    text.detach()


def _parquet(schema: "pa.Schema", batches: "Batches", out: BinaryIO) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(pa.PythonFile(out, "w"), schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)


_WRITERS = {Form.TABLE: _rows, Form.JSON: _objects, Form.CSV: _csv, Form.PARQUET: _parquet}


def _values(batch: "pa.RecordBatch") -> Iterator[tuple[Any, ...]]:
    if not batch.num_columns:
        return iter(())
    return zip(*(map(_plain, column.to_pylist()) for column in batch.columns), strict=True)


def _plain(value: Any) -> Any:
    """A value as JSON has it: times in UTC, a number that is none as null."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value.total_seconds() if isinstance(value, timedelta) else str(value)


def _cell(value: Any) -> Any:
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False)
    return inert(printable(value, _LONGEST_CELL)) if isinstance(value, str) else value


def _json(value: Any) -> bytes:
    """ASCII: no terminal takes a character of it for a command."""
    return json.dumps(value, allow_nan=False, separators=(", ", ": ")).encode()

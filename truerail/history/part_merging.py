"""Merges the parts of a day: a day of many small files becomes one. Part by part, whatever the day's size."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from truerail.history.arrow_tables import arrow, arrow_schema
from truerail.history.store_folder import Part, StoreFolder, parquet_options, whole_file
from truerail.history.store_reader import fault_of
from truerail.history.tables import HistoryTable

MOST_PARTS = 12
"""As many parts of the current day are merged: an hour, at a part for every five minutes."""
DAY_IS_COMPLETE = timedelta(hours=1)
"""As long after its end nothing is written into a day any more."""


def merge_parts(folder: StoreFolder, table: HistoryTable, now: datetime) -> int:
    """Merges what is due; returns the number of files that were merged into others. Raises OSError."""
    return sum(_merge_day(folder, table, day, now) for day in folder.days(table))


def _merge_day(folder: StoreFolder, table: HistoryTable, day: date, now: datetime) -> int:
    parts = folder.parts(table, day)
    if now >= datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1) + DAY_IS_COMPLETE:
        due = parts
    else:
        due = [part for part in parts if part.first == part.last]
        due = due if len(due) >= MOST_PARTS else []
    due = _sound(table, due)
    return _merge(folder, table, day, due) if len(due) > 1 else 0


def _sound(table: HistoryTable, parts: list[Part]) -> list[Part]:
    """The longest row of neighbours that can be read: a torn file stays where it is, and is never merged over."""
    rows: list[list[Part]] = [[]]
    for part in parts:
        if fault_of(part.path, table):
            rows.append([])
        else:
            rows[-1].append(part)
    return max(rows, key=len)


def _merge(folder: StoreFolder, table: HistoryTable, day: date, parts: list[Part]) -> int:
    arrow()
    import pyarrow.parquet as pq

    first, last = parts[0], parts[-1]
    stamp = last.path.name.split("-")[1]
    schema = arrow_schema(table)
    with (
        whole_file(folder.day_folder(table, day) / f"part-{stamp}-{first.first:06}to{last.last:06}.parquet") as path,
        pq.ParquetWriter(path, schema, **parquet_options(schema)) as writer,
    ):
        for part in parts:
            _copy(pq, part, writer)
    for part in parts:
        part.path.unlink(missing_ok=True)
    return len(parts)


def _copy(pq: Any, part: Part, writer: Any) -> None:
    source = pq.ParquetFile(part.path)
    for group in range(source.num_row_groups):
        writer.write_table(source.read_row_group(group))

"""Hours from minutes: sums of each port's minutes, read from the store itself, so that a restart changes nothing."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.history.arrow_tables import arrow_schema, from_columns, joined, times
from truerail.history.history_tables import COUNTERS_HOURS, COUNTERS_MINUTES, HistoryTable, Type
from truerail.history.planned_ports import PORT_COLUMNS
from truerail.history.store_folder import StoreFolder, files_of, read_files

if TYPE_CHECKING:
    import pyarrow as pa

HOUR = timedelta(hours=1)
_SPEED = "speed_bits_per_second"
_SUMMED = tuple(one.name for one in COUNTERS_HOURS.fields if one.type is Type.NUMBER and one.name != _SPEED)


def hour_of(at: datetime) -> datetime:
    """The start of the hour of a time."""
    return at.replace(minute=0, second=0, microsecond=0)


def newest(folder: StoreFolder, table: HistoryTable) -> datetime | None:
    """The newest time of a table of samples, from the ends of its files; None for an empty table."""
    for day in reversed(folder.days(table)):
        paths = files_of(folder, table, *_day(day)).readable
        times = [found for path in paths if (found := _times(path)) is not None]
        if times:
            return max(last for _, last in times)
    return None


def due_hours(folder: StoreFolder, until: datetime) -> list[datetime]:
    """The hours that ended at `until` or before, have minutes, and are not in the store."""
    written = newest(folder, COUNTERS_HOURS)
    paths = files_of(folder, COUNTERS_MINUTES, written, until).readable
    spans = [found for path in paths if (found := _times(path)) is not None]
    hours = {hour for first, last in spans for hour in _hours(first, last)}
    return sorted(hour for hour in hours if hour + HOUR <= until and (written is None or hour > written))


def hour_rows(folder: StoreFolder, hour: datetime) -> "pa.Table":
    """The rows of an hour. Reads the minutes file by file: memory for one file and for the hour's ports."""
    import pyarrow.compute as pc

    total = arrow_schema(COUNTERS_MINUTES).empty_table()
    for path in files_of(folder, COUNTERS_MINUTES, hour, hour + HOUR).readable:
        span = _times(path)
        if span is None or span[1] < hour or span[0] >= hour + HOUR:
            continue
        rows = read_files(COUNTERS_MINUTES, [path])
        within = pc.and_(pc.greater_equal(rows["bucket"], hour), pc.less(rows["bucket"], hour + HOUR))
        total = _summed(joined([total, rows.filter(within)]), hour)
    return total


def _summed(rows: "pa.Table", hour: datetime) -> "pa.Table":
    """A row for each port; a column without any value stays null."""
    import pyarrow.compute as pc

    some = pc.ScalarAggregateOptions(min_count=1)
    found = rows.group_by(list(PORT_COLUMNS), use_threads=False).aggregate(
        [*((name, "sum", some) for name in _SUMMED), (_SPEED, "max", some)]
    )
    columns = {name: found[name] for name in PORT_COLUMNS}
    columns |= {name: found[f"{name}_sum"] for name in _SUMMED}
    columns |= {_SPEED: found[f"{_SPEED}_max"], "bucket": times(hour, len(found))}
    return from_columns(COUNTERS_HOURS, columns)


def _times(path: Path) -> tuple[datetime, datetime] | None:
    """The first and the last time of a file, from the statistics at its end; None for an empty file."""
    import pyarrow.parquet as pq

    about = pq.ParquetFile(path).metadata
    column = about.schema.names.index("bucket")
    groups = [about.row_group(number).column(column).statistics for number in range(about.num_row_groups)]
    known = [one for one in groups if one is not None and one.has_min_max]
    if not known:
        return None
    first, last = min(one.min for one in known), max(one.max for one in known)
    return _utc(first), _utc(last)


def _utc(at: datetime) -> datetime:
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


def _hours(first: datetime, last: datetime) -> Iterator[datetime]:
    hour = hour_of(first)
    while hour <= last:
        yield hour
        hour += HOUR


def _day(day: date) -> tuple[datetime, datetime]:
    start = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return start, start + timedelta(days=1) - timedelta(microseconds=1)

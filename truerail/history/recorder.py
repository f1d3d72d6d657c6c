"""Records publications into a history store. One thread at a time; nothing here waits for a round, or a round for it.

`observe` takes what it needs of a publication into memory, `flush` writes it. Both work on states rather than on steps:
a publication that is never observed, or a flush that fails, is made up for by the next one. What is not flushed when
the process dies is lost: the minutes since the last flush, and ends of episodes, which the first publication after a
restart sets to its own time.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from truerail.analysis.published import Published
from truerail.history.arrow_tables import arrow, arrow_schema
from truerail.history.episode_recorder import EpisodeRecorder
from truerail.history.history_tables import COUNTERS_HOURS, COUNTERS_MINUTES, LIGHTS, TABLES, HistoryTable
from truerail.history.planned_ports import PlannedPorts
from truerail.history.sample_recorder import SampleRecorder
from truerail.history.store_folder import (
    Part,
    StoreFolder,
    UnreadableFile,
    fault_of,
    files_of,
    parquet_options,
    whole_file,
)
from truerail.model.history import RoundRecord

if TYPE_CHECKING:
    import pyarrow as pa

# ----------------------------------------------------------------------------------------------------------------------
# Merges the parts of a day: a day of many small files becomes one. Part by part, whatever the day's size.

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
    pq = arrow().parquet
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


# ----------------------------------------------------------------------------------------------------------------------
# Records publications into a history store. One thread at a time; nothing here waits for a round, or a round for it.


class Recorder:
    """What a store is to get, and its upkeep."""

    def __init__(self, folder: StoreFolder) -> None:
        self.folder = folder
        self.files_written = 0
        self._episodes = EpisodeRecorder(folder)
        self.samples = SampleRecorder(folder)
        self._ports: PlannedPorts | None = None

    def resume(self) -> list[UnreadableFile]:
        """Continues where the store ends; returns the files that cannot be read. Raises OSError."""
        self.folder.tidy()
        self._episodes.resume()
        self.samples.resume()
        return [one for table in TABLES.values() for one in files_of(self.folder, table).unreadable]

    def observe(self, publication: Published, records: Sequence[RoundRecord] = ()) -> None:
        """Takes a publication into memory, with the rounds since the last one."""
        if self._ports is None or self._ports.index.plan is not publication.plan:
            self._ports = PlannedPorts(publication.wiring.index)
        optics = self.samples.observe(publication, self._ports, records)
        self._episodes.observe(publication, self._ports, optics=optics)

    def flush(self, now: datetime) -> None:
        """Writes everything that waits. Raises OSError; what is not written then stays for the next time."""

        def append(table: HistoryTable, rows: "pa.Table") -> None:
            if len(rows):
                self.folder.append(table, rows, now)
                self.files_written += 1

        self._episodes.flush(append)
        self.samples.flush(append)

    def maintain(self, now: datetime, minutes: timedelta, hours: timedelta, episodes: timedelta) -> None:
        """Merges small files, and deletes days that are older than their tables' retention. Raises OSError."""
        retention = {COUNTERS_MINUTES.name: minutes, COUNTERS_HOURS.name: hours, LIGHTS.name: hours}
        for table in TABLES.values():
            self.folder.retain(table, now - retention.get(table.name, episodes))
            merge_parts(self.folder, table, now)

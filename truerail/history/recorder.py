"""Records publications into a history store. One thread at a time; nothing here waits for a round, or a round for it.

`observe` takes what it needs of a publication into memory, `flush` writes it. Both work on states rather than on steps:
a publication that is never observed, or a flush that fails, is made up for by the next one. What is not flushed when
the process dies is lost: the minutes since the last flush, and ends of episodes, which the first publication after a
restart sets to its own time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from truerail.analysis.published import Published
from truerail.history.episode_recorder import EpisodeRecorder
from truerail.history.part_merging import merge_parts
from truerail.history.planned_ports import PlannedPorts
from truerail.history.sample_recorder import SampleRecorder
from truerail.history.store_folder import StoreFolder
from truerail.history.store_reader import UnreadableFile, files_of
from truerail.history.tables import COUNTERS_HOURS, COUNTERS_MINUTES, LIGHTS, TABLES, HistoryTable
from truerail.model.history import RoundRecord

if TYPE_CHECKING:
    import pyarrow as pa


class Recorder:
    """What a store is to get, and its upkeep."""

    def __init__(self, folder: StoreFolder) -> None:
        self.folder = folder
        self.files_written = 0
        self._episodes = EpisodeRecorder(folder)
        self._samples = SampleRecorder(folder)
        self._ports: PlannedPorts | None = None

    @property
    def lost_minutes(self) -> int:
        """Minutes of counters that were dropped because they could not be written."""
        return self._samples.lost_minutes

    @property
    def waiting_rows(self) -> int:
        """Rows of minutes that are not written yet."""
        return self._samples.waiting_rows

    def resume(self) -> list[UnreadableFile]:
        """Continues where the store ends; returns the files that cannot be read. Raises OSError."""
        self.folder.tidy()
        self._episodes.resume()
        self._samples.resume()
        return [one for table in TABLES.values() for one in files_of(self.folder, table).unreadable]

    def observe(self, publication: Published, records: Sequence[RoundRecord] = ()) -> None:
        """Takes a publication into memory, with the rounds since the last one."""
        if self._ports is None or self._ports.index.plan is not publication.plan:
            self._ports = PlannedPorts(publication.wiring.index)
        optics = self._samples.observe(publication, self._ports, records)
        self._episodes.observe(publication, self._ports, optics=optics)

    def flush(self, now: datetime) -> None:
        """Writes everything that waits. Raises OSError; what is not written then stays for the next time."""

        def append(table: HistoryTable, rows: "pa.Table") -> None:
            if len(rows):
                self.folder.append(table, rows, now)
                self.files_written += 1

        self._episodes.flush(append)
        self._samples.flush(append)

    def maintain(self, now: datetime, minutes: timedelta, hours: timedelta, episodes: timedelta) -> None:
        """Merges small files, and deletes days that are older than their tables' retention. Raises OSError."""
        retention = {COUNTERS_MINUTES.name: minutes, COUNTERS_HOURS.name: hours, LIGHTS.name: hours}
        for table in TABLES.values():
            self.folder.retain(table, now - retention.get(table.name, episodes))
            merge_parts(self.folder, table, now)

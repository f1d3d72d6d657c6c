"""The folder of a history store: which files it has, and how they are written and read.

    store.json                                  the schema and the fabric
    TABLE/day=YYYY-MM-DD/part-HHMMSS-SEQ.parquet        written once, never changed
    TABLE/day=YYYY-MM-DD/part-HHMMSS-SEQtoSEQ.parquet   the parts with these numbers, merged into one file
    TABLE/open.parquet                          what has not ended, replaced as a whole

A file gets its name when it is complete and on disk. A merged file takes effect with its name: parts with its numbers
are then read no more, whether they are already deleted or not.
"""

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.errors import HistoryStoreError
from truerail.history.arrow_tables import arrow, arrow_schema
from truerail.history.history_tables import SCHEMA, TABLES, HistoryTable

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "store.json"
OPEN = "open.parquet"
_PART = re.compile(r"part-(\d{6})-(\d{6})(?:to(\d{6}))?\.parquet")
_TEMPORARY = ".writing-"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of a day, with the numbers of the parts that it holds."""

    path: Path
    first: int
    last: int

    def covers(self, other: "Part") -> bool:
        """Whether another file of the day is merged into this one."""
        return self is not other and self.first <= other.first and other.last <= self.last


@dataclass(frozen=True, slots=True)
class StoreFolder:
    """A history store on disk. Reading needs no more than the folder."""

    path: Path

    def manifest(self) -> Mapping[str, Any]:
        """What `store.json` says. Raises HistoryStoreError if this is no store, or of another schema."""
        try:
            found = json.loads((self.path / MANIFEST).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise HistoryStoreError(f"{self.path}: is no history store: it has no {MANIFEST}") from error
        except (OSError, ValueError) as error:
            raise HistoryStoreError(f"{self.path / MANIFEST}: cannot be read: {error}") from error
        schema = found.get("schema") if isinstance(found, dict) else None
        if schema != SCHEMA:
            raise HistoryStoreError(
                f"{self.path}: has the schema {schema!r}, this truerail reads {SCHEMA!r}: name a new folder"
            )
        return dict(found)

    def create(self, fabric: str) -> None:
        """Makes the folder a store of this fabric, unless it is one. Raises HistoryStoreError for another fabric's, and
        for a folder with other files.
        """
        if (self.path / MANIFEST).exists():
            known = self.manifest().get("fabric")
            if known != fabric:
                raise HistoryStoreError(f"{self.path}: is the history of the fabric {known!r}, not of {fabric!r}")
            return
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if any(self.path.iterdir()):
                raise HistoryStoreError(f"{self.path}: is not empty, and no history store")
            about = {"schema": SCHEMA, "fabric": fabric, "created": datetime.now(UTC).isoformat(timespec="seconds")}
            with whole_file(self.path / MANIFEST) as temporary:
                temporary.write_bytes(json.dumps(about, indent=2).encode() + b"\n")
        except OSError as error:
            raise HistoryStoreError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def days(self, table: HistoryTable) -> list[date]:
        """The days of which a table has files, ascending."""
        names = _listed(self.path / table.name)
        return sorted(day for name in names if (day := _day(name)) is not None)

    def parts(self, table: HistoryTable, day: date) -> list[Part]:
        """The files of a day in the order of writing, without those merged into others."""
        found = self.all_parts(table, day)
        return [part for part in found if not any(other.covers(part) for other in found)]

    def all_parts(self, table: HistoryTable, day: date) -> list[Part]:
        """The same with merged ones that are not deleted yet."""
        folder = self.day_folder(table, day)
        matches = ((name, _PART.fullmatch(name)) for name in _listed(folder))
        found = [Part(folder / name, int(m[2]), int(m[3] or m[2])) for name, m in matches if m]
        return sorted(found, key=lambda part: (part.first, -part.last))

    def files(
        self, table: HistoryTable, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[Path]:
        """The files with rows from `since` up to `until`, the one with what has not ended last. They also have rows
        outside of these times. Samples and rounds are filed by their time, intervals by their end.
        """
        for day in self.days(table):
            past = until is not None and not table.intervals and day > until.date()
            if not past and (since is None or day >= since.date()):
                yield from (part.path for part in self.parts(table, day))
        if (self.path / table.name / OPEN).exists():
            yield self.path / table.name / OPEN

    def open_file(self, table: HistoryTable) -> Path:
        """Where the rows that have not ended are."""
        return self.path / table.name / OPEN

    def day_folder(self, table: HistoryTable, day: date) -> Path:
        """Where the files of a day are."""
        return self.path / table.name / f"day={day.isoformat()}"

    def append(self, table: HistoryTable, rows: "pa.Table", now: datetime) -> None:
        """Writes rows into the days of their times, a file for each: all of them or none. Raises OSError."""
        import pyarrow.compute as pc

        days = pc.cast(rows[table.time], arrow().date32())
        written: list[Path] = []
        try:
            for day in sorted(pc.unique(days).to_pylist()):
                number = max((one.last for one in self.all_parts(table, day)), default=0) + 1
                path = self.day_folder(table, day) / f"part-{now:%H%M%S}-{number:06}.parquet"
                write_parquet(path, rows.filter(pc.equal(days, day)))
                written.append(path)
        except OSError:
            for path in written:
                path.unlink(missing_ok=True)
            raise

    def replace_open(self, table: HistoryTable, rows: "pa.Table") -> None:
        """Replaces the rows that have not ended. Raises OSError."""
        write_parquet(self.open_file(table), rows)

    def copy_to(self, other: "StoreFolder", since: datetime) -> None:
        """Copies the files with rows from `since` on into an empty store, as they are. Raises OSError."""
        for table in TABLES.values():
            for path in self.files(table, since):
                place = other.path / path.relative_to(self.path)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)

    def retain(self, table: HistoryTable, before: datetime) -> int:
        """Deletes the days that ended before a time; returns their number."""
        gone = [day for day in self.days(table) if day + timedelta(days=1) <= before.date()]
        for day in gone:
            folder = self.day_folder(table, day)
            for name in _listed(folder):
                (folder / name).unlink(missing_ok=True)
            folder.rmdir()
        return len(gone)

    def tidy(self) -> None:
        """Deletes what an ended writer left: half-written files, and parts that were merged. For the writer alone."""
        for stray in self.path.rglob(f"{_TEMPORARY}*"):
            stray.unlink(missing_ok=True)
        for table in TABLES.values():
            for day in self.days(table):
                kept = {part.path for part in self.parts(table, day)}
                for part in self.all_parts(table, day):
                    if part.path not in kept:
                        part.path.unlink(missing_ok=True)

    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(path.stat().st_size for path in self.path.rglob("*.parquet"))


def write_parquet(path: Path, rows: "pa.Table") -> None:
    """Writes a file as a whole: under its name only when it is on disk. Raises OSError."""
    with whole_file(path) as temporary:
        arrow().parquet.write_table(rows, temporary, **parquet_options(rows.schema))


def parquet_options(schema: "pa.Schema") -> dict[str, Any]:
    """How files are written. The bytes of numbers are sorted by significance before compression, because the upper
    ones repeat; everything else has dictionaries.
    """
    numbers = [field.name for field in schema if str(field.type) == "double"]
    others = [field.name for field in schema if field.name not in numbers]
    return {"compression": "zstd", "use_dictionary": others, "use_byte_stream_split": numbers}


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary name to write to; the file gets its own name at the end, when it is on disk. Deleted on an error."""
    temporary = path.with_name(f"{_TEMPORARY}{path.name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        _synced(temporary)
        temporary.replace(path)
        _synced(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _synced(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _day(name: str) -> date | None:
    try:
        return date.fromisoformat(name.removeprefix("day=")) if name.startswith("day=") else None
    except ValueError:
        return None


# ----------------------------------------------------------------------------------------------------------------------
# Reads tables. A file that is torn or of another schema is left out and reported.


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file whose rows are missing from every answer. `why` is a sentence without its full stop."""

    path: Path
    why: str

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a table, and those that cannot be read."""

    readable: tuple[Path, ...]
    unreadable: tuple[UnreadableFile, ...]


def files_of(
    folder: StoreFolder, table: HistoryTable, since: datetime | None = None, until: datetime | None = None
) -> Files:
    """The files with rows of a table from `since` up to `until`, each checked for its end and its schema."""
    sound, broken = [], []
    for path in folder.files(table, since, until):
        why = fault_of(path, table)
        if why:
            broken.append(UnreadableFile(path, why))
        else:
            sound.append(path)
    return Files(tuple(sound), tuple(broken))


def fault_of(path: Path, table: HistoryTable) -> str:
    """Why a file cannot be read; empty if it can. Reads its last bytes only."""
    pa = arrow()
    try:
        found = pa.parquet.read_schema(path)
    except FileNotFoundError:
        return "was deleted meanwhile"
    except (pa.ArrowException, OSError) as error:
        return f"is torn: {str(error).splitlines()[0].rstrip('.')}"
    wanted = arrow_schema(table)
    if found.equals(wanted):
        return ""
    other = [field.name for field in wanted if field.name not in found.names or found.field(field.name) != field]
    return f"has another schema (column {', '.join(other[:3]) or found.names[-1]})"


def read_files(
    table: HistoryTable, paths: Iterable[Path], columns: Sequence[str] | None = None, limit: Any = None
) -> "pa.Table":
    """The rows of sound files within an Arrow expression, with these columns (by default all), one dictionary for each
    column of words.
    """
    pa = arrow()
    pq = pa.parquet
    schema = arrow_schema(table)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    read = [
        pq.read_table(path, columns=schema.names, filters=limit, partitioning=None).select(schema.names).cast(schema)
        for path in paths
    ]
    return pa.concat_tables([schema.empty_table(), *read]).unify_dictionaries()

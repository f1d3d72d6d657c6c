"""Reads tables of a history store. A file that is torn or of another schema is left out and reported."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from truerail.history.arrow_tables import arrow, arrow_schema
from truerail.history.history_tables import HistoryTable
from truerail.history.store_folder import StoreFolder

if TYPE_CHECKING:
    import pyarrow as pa


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
    import pyarrow.parquet as pq

    try:
        found = pq.read_schema(path)
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
    import pyarrow.parquet as pq

    schema = arrow_schema(table)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    read = [
        pq.read_table(path, columns=schema.names, filters=limit, partitioning=None).select(schema.names).cast(schema)
        for path in paths
    ]
    return pa.concat_tables([schema.empty_table(), *read]).unify_dictionaries()

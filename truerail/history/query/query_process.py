"""The process that runs one query: a request on its standard input, the result on its standard output.

DuckDB's own limits leave gaps: a function such as `repeat` takes memory that is not counted, and is not interrupted.
A process can be limited and ended from outside. The last line on standard error is a JSON object: what is missing in
the result, or why there is none.

python -m truerail.history.query.query_process
"""

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from truerail.errors import HistoryStoreError, MissingExtraError, NotFoundError, QueryError
from truerail.extras import require
from truerail.files.problems import nearest
from truerail.history.history_tables import ROUNDS, TABLES, HistoryTable, Type
from truerail.history.query.query_request import MEBIBYTE, Limits, QueryRequest
from truerail.model.names import printable

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from truerail.history.query.allowed_sql import AllowedSql


_OF_THE_PROCESS = 384 * MEBIBYTE
"""What Python, DuckDB and Arrow need themselves, and the rows on their way out: 160 MiB before a query."""
_BATCH_ROWS = 10_000
_AGAIN_SECONDS = 0.05
_MOST_WORDS = 1000
_COLUMN = re.compile(r'(?:Referenced column "|does not have a column named ")([^"]+)"')


def main() -> int:
    """Runs the request; 0 if there is a result."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    request = msgspec.convert(json.load(sys.stdin), QueryRequest)
    limit(request.limits)
    try:
        report = run(request, sys.stdout.buffer)
    except (QueryError, NotFoundError, HistoryStoreError, MissingExtraError) as error:
        report = _refused(type(error).__name__, str(error.args[0]))
    except MemoryError:
        report = _refused("QueryLimitError", _memory(request.limits))
    except Exception as error:  # noqa: BLE001 - the caller reports it; a traceback has values of the store
        report = _refused("HistoryStoreError", f"the query failed: {type(error).__name__}: {error}")
    sys.stderr.write(json.dumps(report) + "\n")
    sys.stderr.flush()
    return 1 if "error" in report else 0


def limit(limits: Limits) -> None:
    """Limits this process for good: memory, processor time, and no byte into any file."""
    memory, seconds = limits.memory_bytes + _OF_THE_PROCESS, int(limits.seconds * limits.threads) + 10
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    os.nice(limits.nice)


def run(request: QueryRequest, out: BinaryIO) -> dict[str, Any]:
    """Writes the result; returns what is missing in it. Raises QueryError, NotFoundError, HistoryStoreError,
    MissingExtraError.
    """
    require("history", "a query of the history")
    import duckdb

    rows = _Rows(request.limits.rows)
    try:
        return _limited(request, out, rows)
    except duckdb.IOException as error:
        if rows.count:
            raise QueryError(str(error)[:_MOST_WORDS]) from None
        return _limited(request, out, rows)  # the service merged files, and deleted the parts, since they were listed


def _limited(request: QueryRequest, out: BinaryIO, rows: "_Rows") -> dict[str, Any]:
    import duckdb

    with closing(connect(request.limits)) as connection, _interrupted_after(request.limits.seconds, connection):
        try:
            return _answered(connection, request, out, rows)
        except duckdb.InterruptException:
            return _refused("QueryLimitError", request.limits.too_long)
        except duckdb.OutOfMemoryException:
            return _refused("QueryLimitError", _memory(request.limits))
        except OSError as error:  # Arrow's, for whatever DuckDB raises after the first batch
            return _broken_off(str(error), request.limits)


@contextmanager
def _interrupted_after(seconds: float, connection: Any) -> Iterator[None]:
    """Interrupts the body again and again: DuckDB forgets an interrupt that comes between two statements."""
    ended = Event()

    def watch() -> None:
        if not ended.wait(seconds):
            while not ended.wait(_AGAIN_SECONDS):
                connection.interrupt()

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def _broken_off(words: str, limits: Limits) -> dict[str, Any]:
    if words.startswith("INTERRUPT"):
        return _refused("QueryLimitError", limits.too_long)
    memory = words.startswith("Out of Memory")
    return _refused("QueryLimitError", _memory(limits)) if memory else _refused("QueryError", words[:_MOST_WORDS])


def _answered(connection: Any, request: QueryRequest, out: BinaryIO, rows: "_Rows") -> dict[str, Any]:
    import duckdb

    from truerail.history.query.allowed_sql import allowed
    from truerail.history.query.result_formats import write_result

    statement = allowed(connection, request.sql, TABLES)
    known = allowed(connection, request.coverage, TABLES).tables if request.coverage else ()
    files, lost = _files(request, tuple(dict.fromkeys(statement.tables + known)))
    try:
        declare(connection, files)
        coverage = _coverage(connection, request)
        schema, batches = _result(connection, statement, request)
        write_result(schema, rows.counted(batches), request.form, out)
    except (duckdb.InterruptException, duckdb.OutOfMemoryException, duckdb.IOException):
        raise
    except duckdb.Error as error:
        raise QueryError(_words(str(error), statement.tables)) from None
    out.flush()
    found = {"rows": rows.count, "more": rows.more, "unreadable": lost}
    return found | {"begins": _begins(files), "coverage": coverage, "ends": _ends(request)}


def _files(request: QueryRequest, tables: tuple[str, ...]) -> tuple[dict[str, tuple[Path, ...]], list[str]]:
    """The readable files of each table, and the others with the reason."""
    from truerail.history.store_folder import StoreFolder, files_of

    folder = StoreFolder(Path(request.store).absolute())
    folder.manifest()
    since, until = (datetime.fromisoformat(at) if at else None for at in (request.since, request.until))
    found = {name: files_of(folder, TABLES[name], since, until) for name in tables}
    lost = [str(one) for files in found.values() for one in files.unreadable]
    return {name: files.readable for name, files in found.items()}, lost


def _ends(request: QueryRequest) -> str | None:
    """When the newest round of the store was answered, whatever the query reads of it."""
    from truerail.history.store_folder import StoreFolder, fault_of, read_files

    newest = [*StoreFolder(Path(request.store).absolute()).files(ROUNDS)][-1:]
    times = (
        [] if not newest or fault_of(newest[0], ROUNDS) else read_files(ROUNDS, newest, [ROUNDS.time])[0].to_pylist()
    )
    return max(times).isoformat() if times else None


def _begins(files: dict[str, tuple[Path, ...]]) -> dict[str, str | None]:
    """The first day with rows of each table of samples that was read; None: it has no rows at all."""
    samples = {name: paths for name, paths in files.items() if not TABLES[name].intervals}
    days = {name: [path.parent.name for path in paths] for name, paths in samples.items()}
    return {
        name: min((day.removeprefix("day=") for day in found if day.startswith("day=")), default=None)
        for name, found in days.items()
    }


def _result(connection: Any, statement: "AllowedSql", request: QueryRequest) -> tuple["pa.Schema", Any]:
    import pyarrow as pa

    if statement.is_plan:
        lines = [line for row in connection.execute(statement.sql).fetchall() for line in row[1].splitlines()]
        table = pa.table({"plan": pa.array(lines, pa.string())})
        return table.schema, iter(table.to_batches())
    reader = _relation(connection, statement.sql, request).to_arrow_reader(_BATCH_ROWS)
    return reader.schema, iter(reader)


def _relation(connection: Any, sql: str, request: QueryRequest) -> Any:
    return connection.sql(sql, params={name: value for name, value in request.parameters.items() if f"${name}" in sql})


def _coverage(connection: Any, request: QueryRequest) -> tuple[int, int] | None:
    """Of how many things the answer knows anything, and how many there are."""
    if not request.coverage:
        return None
    known, total = _relation(connection, request.coverage, request).fetchall()[0]
    return int(known), int(total)


class _Rows:
    """Counts rows, and ends at a limit."""

    def __init__(self, most: int) -> None:
        self._most, self.count, self.more = most, 0, False

    def counted(self, batches: Iterator["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """The batches up to the limit."""
        for batch in batches:
            room = self._most - self.count if self._most else batch.num_rows
            self.more = batch.num_rows > room
            self.count += min(room, batch.num_rows)
            yield batch.slice(0, room)
            if self.more:
                return


def _words(words: str, tables: tuple[str, ...]) -> str:
    """DuckDB's message, or for an unknown column the nearest of the tables that were named."""
    found = _COLUMN.search(words)
    known = list(dict.fromkeys(name for table in tables for name in TABLES[table].names))
    hint = nearest(found[1], known) if found and known else ""
    if found and hint.startswith(", did"):
        return f"column {printable(found[1], 80)!r} is not known{hint}"
    return words[:_MOST_WORDS]


def _memory(limits: Limits) -> str:
    return f"the query needs more than {limits.memory_bytes // MEBIBYTE} MiB of memory: read fewer days, or group more"


def _refused(kind: str, message: str) -> dict[str, Any]:
    return {"error": kind, "message": message}


# ----------------------------------------------------------------------------------------------------------------------
# The tables of a store as views of a DuckDB connection that can read their files and nothing else.


_TYPES = {
    Type.TIME: "TIMESTAMPTZ",
    Type.WORD: "VARCHAR",
    Type.TEXT: "VARCHAR",
    Type.TEXTS: "VARCHAR[]",
    Type.WHOLE: "BIGINT",
    Type.NUMBER: "DOUBLE",
    Type.FLAG: "BOOLEAN",
}


def connect(limits: Limits) -> "duckdb.DuckDBPyConnection":
    """A database in memory: no extension is loaded, nothing spills to a disk, no variable of Python is a table."""
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{limits.memory_bytes // MEBIBYTE}MiB",
            "threads": limits.threads,
            "temp_directory": "",
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,
        },
    )
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET preserve_insertion_order = false")
    return connection


def declare(connection: "duckdb.DuckDBPyConnection", files: Mapping[str, Sequence[Path]]) -> None:
    """A view for each table of `files`, without rows where it has none; then the connection is locked."""
    for name, paths in files.items():
        connection.execute(_view(TABLES[name], paths))
    lock(connection, (path for paths in files.values() for path in paths))


def lock(connection: "duckdb.DuckDBPyConnection", paths: Iterable[Path]) -> None:
    """From here on only these files can be read, and no setting changed.

    Source: https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview
    """
    connection.execute(f"SET allowed_paths = [{', '.join(_quoted(str(path)) for path in paths)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _view(table: HistoryTable, paths: Sequence[Path]) -> str:
    names = ", ".join(f'"{name}"' for name in table.names)
    if not paths:
        columns = ", ".join(f'NULL::{_TYPES[field.type]} AS "{field.name}"' for field in table.fields)
        return f"CREATE VIEW {table.name} AS SELECT {columns} WHERE false"
    listed = ", ".join(_quoted(str(path)) for path in paths)
    source = f"read_parquet([{listed}], hive_partitioning = false)"
    return f"CREATE VIEW {table.name} AS SELECT {names} FROM {source}"  # noqa: S608 - our own tables, quoted paths


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


if __name__ == "__main__":
    os._exit(main())  # at the interpreter's own end DuckDB reports its open values as leaks

"""The tables of a store as views of a DuckDB connection that can read their files and nothing else."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from truerail.history.query.query_request import MEBIBYTE, Limits
from truerail.history.tables import TABLES, HistoryTable, Type

if TYPE_CHECKING:
    import duckdb

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

"""The file of the view: its table, and how it is opened.

    part(kind, key, digest, changed, body)    `changed` is the number of the write that changed it
    meta(name, value)                         `written`: the number of the last write; `published`: its publication's

`body` is msgpack of the type that `encoding` has for the part, or text of a metric. The file stands in a folder that
only the user of the service can enter. Its format belongs to one release; `SCHEMA` is in the name of the file and in
its `user_version`.
"""

import sqlite3
from pathlib import Path

SCHEMA = 4
NAME = f"view-{SCHEMA}.sqlite"
BUSY_SECONDS = 5.0
_TABLES = """
CREATE TABLE part (kind TEXT NOT NULL, key TEXT NOT NULL, digest BLOB NOT NULL, changed INTEGER NOT NULL,
    body BLOB NOT NULL, UNIQUE (kind, key));
CREATE INDEX part_changed ON part (changed);
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('written', 0), ('published', 0);
"""
WRITE_PART = """INSERT INTO part (kind, key, digest, changed, body) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (kind, key) DO UPDATE SET digest = excluded.digest, changed = excluded.changed, body = excluded.body"""
"""Writes one part: kind, key, digest, number of the write, body."""


def open_to_write(path: Path) -> sqlite3.Connection:
    """The view at `path`, made where there is none, or one that cannot be used. Its one writer uses it."""
    for found in (path, None):
        if found is None:
            for beside in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                beside.unlink(missing_ok=True)
        connection = _connected(f"file:{path}?mode=rwc")
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")  # derived: the judge writes it again
            if _schema(connection) == 0:
                connection.executescript(f"BEGIN;{_TABLES}PRAGMA user_version={SCHEMA};COMMIT;")
            if _schema(connection) == SCHEMA:
                return connection
        except sqlite3.DatabaseError:
            pass
        connection.close()
    raise sqlite3.DatabaseError(f"{path}: cannot be made")


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """The view at `path`; None while there is none that this release can read."""
    try:
        connection = _connected(f"file:{path}?mode=ro")
    except sqlite3.OperationalError:
        return None
    try:
        if _schema(connection) == SCHEMA:
            return connection
    except sqlite3.DatabaseError:
        pass
    connection.close()
    return None


def _connected(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)
    connection.isolation_level = None  # transactions begin where they are written
    return connection


def _schema(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])

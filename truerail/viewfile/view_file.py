"""The file of the view: its table, how it is opened, and how it is brought to a state.

    part(kind, key, digest, changed, body)    `changed` is the number of the write that changed it
    meta(name, value)                         `written`: the number of the last write; `published`: its publication's

`body` is msgpack of the type that `encoding` has for the part, or text of a metric. The file stands in a folder that
only the user of the service can enter. Its format belongs to one release; `SCHEMA` is in the name of the file and in
its `user_version`.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from truerail.viewfile.encoding import digest_of

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


# ----------------------------------------------------------------------------------------------------------------------
# Brings the file of the view to a state, in one transaction. A part that is as it was is not written again.

Part = tuple[str, str, list[bytes | memoryview] | None]
"""Kind, key, and the pieces of the body; None: as it was."""


@dataclass(frozen=True, slots=True)
class Written:
    """One write: its number, how many parts changed, and their bytes."""

    number: int
    parts: int
    bytes: int


class ViewWriter:
    """The one writer of a file. Use it from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = open_to_write(path)
        rows = self._db.execute("SELECT kind, key, digest FROM part")
        self._digests: dict[tuple[str, str], bytes] = {(kind, key): digest for kind, key, digest in rows}
        numbers = dict(self._db.execute("SELECT name, value FROM meta"))
        self.number: int = numbers["written"]
        """Of the last write; 0 for none."""
        self.published: int = numbers["published"]
        """The number of the publication in the view, perhaps one of a former writer; 0 for none."""

    @property
    def has_content(self) -> bool:
        """Whether the view holds a publication, perhaps one of a former writer."""
        return bool(self._digests)

    def bring(self, published: int, parts: Iterable[Part]) -> Written:
        """Brings the view to these parts. Raises sqlite3.Error, and then has not changed."""
        number, kept = self.number + 1, dict(self._digests)
        changed = size = 0
        self._db.execute("BEGIN IMMEDIATE")
        try:
            present: set[tuple[str, str]] = set()
            for kind, key, pieces in parts:
                present.add((kind, key))
                digest = digest_of(*pieces) if pieces is not None else None
                if pieces is not None and self._digests.get((kind, key)) != digest:
                    self._db.execute(WRITE_PART, (kind, key, digest, number, b"".join(pieces)))
                    self._digests[kind, key] = digest or b""
                    changed, size = changed + 1, size + sum(map(len, pieces))
            for gone in self._digests.keys() - present:
                self._db.execute("DELETE FROM part WHERE kind = ? AND key = ?", gone)
                del self._digests[gone]
            values = ((number, "written"), (published, "published"))
            self._db.executemany("UPDATE meta SET value = ? WHERE name = ?", values)
            self._db.execute("COMMIT")
        except BaseException:
            self._digests = kept
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self.number, self.published = number, published
        return Written(number, changed, size)

    def close(self) -> None:
        """Closes the file; it stays readable."""
        self._db.close()

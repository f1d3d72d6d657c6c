"""A view on another machine: what has changed in one file, and the file there that is brought to it.

The copy has its own numbers of writes: a part that is as it was is not written again, whichever judge it came from.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from truerail.errors import ViewRefusedError
from truerail.viewfile.encoding import decoded, digest_of
from truerail.viewfile.parts import METRICS
from truerail.viewfile.stored_page import CONTENTS
from truerail.viewfile.view_file import WRITE_PART, open_to_read, open_to_write


class ViewChanges(msgspec.Struct, frozen=True):
    """What a view has beyond one of its writes: `written` is the number of the last write, `published` of its
    publication, `parts` are kind, key and body of those that changed, `keys` those of all parts by kind.
    """

    written: int
    published: int
    parts: list[tuple[str, str, bytes]]
    keys: dict[str, list[str]]


def changes(path: Path, since: int) -> ViewChanges | None:
    """What changed after a write, in one transaction; all of it after 0. None for a view that is not written yet.
    Raises sqlite3.Error.
    """
    database = open_to_read(path)
    if database is None:
        return None
    try:
        database.execute("BEGIN")
        numbers = dict(database.execute("SELECT name, value FROM meta"))
        parts = database.execute("SELECT kind, key, body FROM part WHERE changed > ?", (since,)).fetchall()
        keys: dict[str, list[str]] = {}
        for kind, key in database.execute("SELECT kind, key FROM part"):
            keys.setdefault(kind, []).append(key)
        return ViewChanges(numbers["written"], numbers["published"], parts, keys) if keys else None
    finally:
        database.close()


class ViewCopy:
    """The one writer of a copy. Use it from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._db = open_to_write(path)
        rows = self._db.execute("SELECT kind, key, digest FROM part")
        self._digests: dict[tuple[str, str], bytes] = {(kind, key): digest for kind, key, digest in rows}
        self._number: int = self._db.execute("SELECT value FROM meta WHERE name = 'written'").fetchone()[0]

    @property
    def has_content(self) -> bool:
        """Whether the copy holds a publication."""
        return bool(self._digests)

    def apply(self, found: ViewChanges) -> int:
        """Brings the copy to these changes, in one transaction; returns how many parts were written. Raises
        ViewRefusedError, also for changes that leave a part without a body, and sqlite3.Error; then nothing changed.
        """
        for kind, key, body in found.parts:
            if kind != METRICS or key == CONTENTS:  # the others are text
                decoded(kind, key, body)
        present = {(kind, key) for kind, keys in found.keys.items() for key in keys}
        digests = {(kind, key): digest_of(body) for kind, key, body in found.parts}
        missing = present - self._digests.keys() - digests.keys()
        if missing or not digests.keys() <= present:
            raise ViewRefusedError(f"it is incomplete: {len(missing)} of {len(present)} parts are missing")
        number = self._number + 1
        changed = [part for part in found.parts if self._digests.get(part[:2]) != digests[part[:2]]]
        gone = self._digests.keys() - present
        self._db.execute("BEGIN IMMEDIATE")
        try:
            rows: Sequence[tuple[object, ...]] = [
                (kind, key, digests[kind, key], number, body) for kind, key, body in changed
            ]
            self._db.executemany(WRITE_PART, rows)
            self._db.executemany("DELETE FROM part WHERE kind = ? AND key = ?", list(gone))
            values = ((number, "written"), (found.published, "published"))
            self._db.executemany("UPDATE meta SET value = ? WHERE name = ?", values)
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._number = number
        self._digests = {name: known for name, known in (self._digests | digests).items() if name in present}
        return len(changed)

    def close(self) -> None:
        """Closes the file; it stays readable."""
        self._db.close()

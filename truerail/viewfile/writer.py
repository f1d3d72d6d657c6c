"""Brings the file of the view to a state, in one transaction. A part that is as it was is not written again."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from truerail.viewfile.encoding import digest_of
from truerail.viewfile.view_file import WRITE_PART, open_to_write

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

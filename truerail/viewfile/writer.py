"""Writes publications into the view: the judge's only way to its readers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.viewfile import divided
from truerail.viewfile.divided import Publication
from truerail.viewfile.encoding import digest_of
from truerail.viewfile.parts import METRICS
from truerail.viewfile.stored_page import stored_page
from truerail.viewfile.view_file import WRITE_PART, open_to_write


@dataclass(frozen=True, slots=True)
class Written:
    """One write: its number, how many parts changed, and their bytes."""

    number: int
    parts: int
    bytes: int


class ViewWriter:
    """The one writer of a view. Use it from one thread at a time."""

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
        self._divider = divided.Divider()

    @property
    def has_content(self) -> bool:
        """Whether the view holds a publication, perhaps one of a former writer."""
        return bool(self._digests)

    def write(self, publication: Publication, page: ScrapePage | None) -> Written:
        """Brings the view to this publication, in one transaction. Raises sqlite3.Error, and then has not changed."""
        number, kept = self.number + 1, dict(self._digests)
        parts = size = 0
        self._db.execute("BEGIN IMMEDIATE")
        try:
            present: set[tuple[str, str]] = set()
            for kind, key, body, digest in self._bodies(publication, page):
                name = (kind, key)
                present.add(name)
                if digest is not None and self._digests.get(name) != digest:
                    self._db.execute(WRITE_PART, (kind, key, digest, number, b"".join(body)))
                    self._digests[name] = digest
                    parts, size = parts + 1, size + sum(map(len, body))
            for gone in self._digests.keys() - present:
                self._db.execute("DELETE FROM part WHERE kind = ? AND key = ?", gone)
                del self._digests[gone]
            values = ((number, "written"), (publication.evaluated.number, "published"))
            self._db.executemany("UPDATE meta SET value = ? WHERE name = ?", values)
            self._db.execute("COMMIT")
        except BaseException:
            self._digests, self._divider = kept, divided.Divider()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self.number, self.published = number, publication.evaluated.number
        return Written(number, parts, size)

    def close(self) -> None:
        """Closes the file; it stays readable."""
        self._db.close()

    def _bodies(
        self, publication: Publication, page: ScrapePage | None
    ) -> Iterator[tuple[str, str, list[bytes | memoryview], bytes | None]]:
        """Kind, key, body and digest of each part; no digest where it is known to be as it was."""
        for kind, key, body in self._divider.parts(publication):
            yield kind, key, [] if body is None else [body], None if body is None else digest_of(body)
        if page is not None:
            for key, pieces in stored_page(page):
                yield METRICS, key, pieces, digest_of(*pieces)

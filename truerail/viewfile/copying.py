"""A view on another machine: what has changed in one file, and the file there that is brought to it.

The copy has its own numbers of writes: a part that is as it was is not written again, whichever judge it came from.
"""

from pathlib import Path

import msgspec

from truerail.errors import ViewRefusedError
from truerail.model.columns import grouped
from truerail.viewfile.encoding import CONTENTS, decoded
from truerail.viewfile.parts import METRICS
from truerail.viewfile.view_file import Part, ViewWriter, open_to_read


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
        keys: dict[str, list[str]] = grouped(database.execute("SELECT kind, key FROM part"))
        return ViewChanges(numbers["written"], numbers["published"], parts, keys) if keys else None
    finally:
        database.close()


class ViewCopy(ViewWriter):
    """The one writer of a copy."""

    def apply(self, found: ViewChanges) -> int:
        """Brings the copy to these changes, in one transaction; returns how many parts were written. Raises
        ViewRefusedError, also for changes that leave a part without a body, and sqlite3.Error; then nothing changed.
        """
        for kind, key, body in found.parts:
            if kind != METRICS or key == CONTENTS:  # the others are text
                decoded(kind, key, body)
        bodies = {(kind, key): body for kind, key, body in found.parts}
        present = {(kind, key) for kind, keys in found.keys.items() for key in keys}
        missing = present - self._digests.keys() - bodies.keys()
        if missing or not bodies.keys() <= present:
            raise ViewRefusedError(f"it is incomplete: {len(missing)} of {len(present)} parts are missing")
        parts: list[Part] = [(*name, [bodies[name]] if name in bodies else None) for name in present]
        return self.bring(found.published, parts).parts

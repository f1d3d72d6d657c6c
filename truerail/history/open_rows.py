"""The rows of one table of intervals that have not ended, and those that ended since they were last written."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from truerail.history.history_tables import HistoryTable

Key = tuple[str, ...]
Values = Mapping[str, Any]
MOST_ENDED = 200_000
"""Rows that ended and cannot be written, as on a full disk: the oldest are dropped beyond this."""


@dataclass(slots=True)
class OpenRow:
    """A row that lasts, and since when."""

    values: Values
    begin: datetime


class OpenRows:
    """The open rows of a table by their key. `changed` means that they differ from what was last written."""

    def __init__(self, table: HistoryTable) -> None:
        self.table = table
        self.rows: dict[Key, OpenRow] = {}
        self.ended: list[Values] = []
        self.changed = False

    def key(self, values: Values) -> Key:
        """The key of a row."""
        return tuple(str(values[name]) for name in self.table.key)

    def restore(self, rows: Iterable[Values]) -> None:
        """Continues rows that were open when the store was last written."""
        for row in rows:
            values = {name: value for name, value in row.items() if name not in ("began", "ended")}
            self.rows[self.key(values)] = OpenRow(values, row["began"])

    def put(self, values: Values, begin: datetime) -> None:
        """Describes an open row as it is now; `begin` is used if it is new."""
        key = self.key(values)
        known = self.rows.get(key)
        if known is None:
            self.rows[key] = OpenRow(values, begin)
            self.changed = True
        elif known.values != values:
            known.values, self.changed = values, True

    def turn(self, values: Values, at: datetime) -> None:
        """The row of this key has these values from `at` on: one with other values ends."""
        key = self.key(values)
        known = self.rows.get(key)
        if known is None or known.values != values:
            self.end(key, at)
            self.rows[key] = OpenRow(values, at)
            self.changed = True

    def end(self, key: Key, at: datetime) -> None:
        """Ends a row, if it is open."""
        known = self.rows.pop(key, None)
        if known is not None:
            self.changed = True
            self.ended.append({**known.values, "began": known.begin, "ended": max(at, known.begin)})
            if len(self.ended) > MOST_ENDED:
                del self.ended[0]

    def open_rows(self) -> Iterator[Values]:
        """All open rows, to be written."""
        for row in self.rows.values():
            yield {**row.values, "began": row.begin, "ended": None}

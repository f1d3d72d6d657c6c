"""Values of rows in a ring of samples, one array for each sample.

All samples but the newest never change again, so a ring and its views share them: of thirty samples one is copied when
the next answers come. NaN is "no data".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from truerail.analysis.counters.hygiene import Floats
from truerail.model.columns import Codes


@dataclass(frozen=True, slots=True)
class Samples:
    """Values of rows by sample, read-only; each has shape (rows,). Samples are numbered as their ring numbers them."""

    columns: Sequence[Floats]

    def of(self, samples: Codes, rows: Codes | None = None) -> Floats:
        """Some samples, in the given order, of all or some rows; shape (rows, samples)."""
        columns = [self.columns[sample] for sample in samples.tolist()]
        if not columns:
            count = len(self.columns[0]) if rows is None else len(rows)
            return np.empty((count, 0), dtype=np.float32)
        return np.stack(columns if rows is None else [column[rows] for column in columns]).T

    @classmethod
    def in_table(cls, values: Floats) -> "Samples":
        """The samples of a table of shape (rows, samples)."""
        return cls(tuple(_fixed(np.array(column, dtype=np.float32)) for column in values.T))


class Ring:
    """Samples that are written to. Begins without data."""

    def __init__(self, rows: int, samples: int, begins: Sequence[Floats] = ()) -> None:
        """`begins` are the first samples, of shape (rows,)."""
        self._columns = [*begins, *[_nothing(rows)] * (samples - len(begins))]

    @classmethod
    def beginning_with(cls, table: Floats, samples: int) -> "Ring":
        """A ring of so many samples, the first of which are those of a table of shape (rows, samples)."""
        return cls(len(table), samples, Samples.in_table(table).columns)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self._columns)

    def __getitem__(self, sample: int) -> Floats:
        """One sample, to be read."""
        return self._columns[sample]

    def put(self, sample: int, rows: Codes | slice, values: Floats) -> None:
        """Sets the values of rows in a sample."""
        if not self._columns[sample].flags.writeable:
            self._columns[sample] = np.array(self._columns[sample])
        self._columns[sample][rows] = values

    def clear(self, sample: int) -> None:
        """Empties a sample, to be filled again."""
        self._columns[sample] = _nothing(len(self._columns[sample]))

    def close(self, sample: int) -> None:
        """Nothing more is written to a sample: the same value everywhere takes the memory of one."""
        column = self._columns[sample]
        if column.strides == (0,) or not len(column):
            return
        if np.isnan(column[0]):
            if np.isnan(column).all():
                self._columns[sample] = _nothing(len(column))
        elif (column == column[0]).all():
            self._columns[sample] = np.broadcast_to(column[:1].copy(), column.shape)

    def grow(self, rows: int) -> None:
        """Extends all samples to more rows, without data."""
        more = _nothing(rows - len(self._columns[0]))
        for sample, column in enumerate(self._columns):
            self._columns[sample] = _nothing(rows) if _is_empty(column) else np.concatenate([column, more])

    def only(self, rows: Codes) -> "Ring":
        """The ring with some of its rows."""
        columns = [_nothing(len(rows)) if _is_empty(column) else column[rows] for column in self._columns]
        return Ring(len(rows), len(self), columns)

    def copy(self) -> "Ring":
        """A ring of its own that shares what is known so far."""
        return Ring(0, len(self), self.view().columns)

    def view(self) -> Samples:
        """The same as it is now."""
        return Samples(tuple(map(_fixed, self._columns)))


@lru_cache
def _nothing(rows: int) -> Floats:
    """No data in any row, in the memory of one value, read-only: the same one for all samples of so many rows."""
    return np.broadcast_to(np.float32(np.nan), (rows,))


def _is_empty(column: Floats) -> bool:
    """Whether a sample has no data, and takes the memory of one value."""
    return column.strides == (0,) and bool(np.isnan(column[:1]).all())


def _fixed(column: Floats) -> Floats:
    if column.flags.writeable:
        column.setflags(write=False)
    return column

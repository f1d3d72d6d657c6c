"""How far each end of a link fell over its days, by itself and against its lot."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.hygiene import Floats
from truerail.model.columns import Codes, Mask

LEAST_DAYS = 5
"""Days of data for a slope: with fewer, Sen's interval is the range of all pairs, or wider."""
ENDS_DAYS = 2
"""Days at both ends of a past between which it falls."""
PEERS = 8
"""A lot of fewer other ends has no common change, nor a spread."""
LEAST_SPREAD_DB = 0.02
"""Of a lot: the steps in which light is stored."""


@dataclass(frozen=True, eq=False)
class Falls:
    """How far each end fell over its days, shape (2, cables); NaN with too few days."""

    days: Floats
    """Less the lot's common change, shape (days, 2, cables)."""
    size: Floats
    """From the first two days to the last two; negative where it rose."""
    spreads: Floats
    """The same in robust deviations of the lot; infinite in a lot with too few peers."""
    enough: Mask


def falls_of(days: Floats, lot: Codes) -> Falls:
    """The falls of ends, each compared with its lot."""
    shape = lot.shape
    level = days.reshape(len(days), -1) - _median(days.reshape(len(days), -1))
    size, spreads = np.empty(level.shape[1], dtype=np.float32), np.full(level.shape[1], np.inf, dtype=np.float32)
    groups = list(_groups(lot.reshape(-1)))
    for ends in groups:
        if len(ends) > PEERS:
            common = _median(level[:, ends].T)
            level[:, ends] -= np.nan_to_num(common)[:, None]
    known = ~np.isnan(level)
    number, count = np.cumsum(known, axis=0), np.count_nonzero(known, axis=0)
    first, last = known & (number <= ENDS_DAYS), known & (number > count - ENDS_DAYS)
    level_or_0 = np.where(known, level, 0)
    enough = count >= LEAST_DAYS
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (np.where(first, level_or_0, 0).sum(axis=0) - np.where(last, level_or_0, 0).sum(axis=0)) / ENDS_DAYS
    size = np.where(enough, size, np.nan).astype(np.float32)
    for ends in groups:
        if np.count_nonzero(enough[ends]) > PEERS:
            middle = _median(size[ends][:, None])
            spread = np.maximum(1.4826 * _median(np.abs(size[ends] - middle)[:, None]), LEAST_SPREAD_DB)
            spreads[ends] = (size[ends] - middle) / spread
    return Falls(level.reshape(days.shape), size.reshape(shape), spreads.reshape(shape), enough.reshape(shape))


def _groups(lot: Codes) -> Iterator[Codes]:
    """The ends of each lot."""
    order = np.argsort(lot, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(lot[order])) + 1)


def _median(values: Floats) -> Floats:
    """The median of each column without NaN; NaN where there is nothing else."""
    ordered = np.sort(values, axis=0)
    count = np.count_nonzero(~np.isnan(ordered), axis=0)
    column = np.arange(values.shape[1])
    low, high = np.maximum((count - 1) // 2, 0), np.minimum(count // 2, len(values) - 1)
    return np.asarray((ordered[low, column] + ordered[high, column]) / 2, dtype=np.float32)

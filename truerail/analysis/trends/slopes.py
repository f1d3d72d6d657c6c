"""Robust slopes of many short series at once.

Theil and Sen's estimator: the median slope of all pairs of days, with Sen's interval from Kendall's variance (Sen,
JASA 63, 1968). A fourth of the days may be outliers. Series are columns of shape (days, series), one value a day, the
oldest first; NaN is a day without data.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats

NORMAL_95 = 1.96
Ranks = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Slopes:
    """Change a day, shape (series,): the estimate and its interval at 95 %; NaN with fewer than two days."""

    middle: Floats
    low: Floats
    high: Floats


def slopes(days: Floats) -> Slopes:
    """The slope of each series. All pairs are in memory: 91 values for a series of 14 days."""
    early, late = np.triu_indices(len(days), 1)
    apart = (late - early).astype(np.float32)[:, None]
    steps: Floats = np.ascontiguousarray(((days[late] - days[early]) / apart).T, dtype=np.float32)
    steps.sort(axis=1)  # NaN last
    pairs = np.count_nonzero(~np.isnan(steps), axis=1)
    count = np.count_nonzero(~np.isnan(days), axis=0).astype(np.float64)
    half = NORMAL_95 * np.sqrt(count * (count - 1) * (2 * count + 5) / 18) / 2
    middle = (_at(steps, (pairs - 1) // 2, pairs) + _at(steps, pairs // 2, pairs)) / np.float32(2)
    low = _at(steps, np.floor(pairs / 2 - half).astype(np.intp), pairs)
    high = _at(steps, np.ceil(pairs / 2 + half).astype(np.intp) - 1, pairs)
    return Slopes(middle.astype(np.float32), low, high)


def _at(steps: Floats, rank: Ranks, pairs: Ranks) -> Floats:
    """The value of this rank in each row; the first or last one where there are not so many."""
    within = np.clip(rank, 0, np.maximum(pairs - 1, 0))
    return np.asarray(steps[np.arange(len(steps)), within], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Breaks:
    """The best break of each series, shape (series,)."""

    day: Ranks
    """The first day after it."""
    size: Floats
    """The last level after it less the level before it."""
    misfit: Floats
    """The sum of distances to what is fitted; infinite where no split has days enough."""


def steps(days: Floats, least_days: int) -> Breaks:
    """The single step between two medians that leaves the least distances, with `least_days` of data on both sides.
    Each split is tried: for a few series.
    """
    return _best(days, least_days, least_days, lambda after, _: np.broadcast_to(_middle(after), after.shape))


def knees(days: Floats, least_days: int) -> Breaks:
    """The same for a level that begins to rise or fall: a median, then a line from there on, through `least_days` of
    data at least. A series may begin at its knee.
    """

    def line(after: Floats, level: Floats) -> Floats:
        number = np.arange(1, len(after) + 1, dtype=np.float32)[:, None]
        return np.asarray(level + _middle((after - level) / number) * number, dtype=np.float32)

    return _best(days, 1, least_days, line)


def _best(days: Floats, before: int, after: int, fit: Callable[[Floats, Floats], Floats]) -> Breaks:
    series = days.shape[1]
    found = Breaks(np.zeros(series, np.intp), np.zeros(series, np.float32), np.full(series, np.inf, np.float32))
    for split in range(1, len(days)):
        known, behind = (np.count_nonzero(~np.isnan(side), axis=0) for side in (days[:split], days[split:]))
        at = np.flatnonzero((known >= before) & (behind >= after))
        former, latter = days[:split, at], days[split:, at]
        level = _middle(former)
        fitted = fit(latter, level)
        misfit = np.nansum(np.abs(former - level), axis=0) + np.nansum(np.abs(latter - fitted), axis=0)
        better = misfit < found.misfit[at]
        at = at[better]
        found.misfit[at], found.day[at], found.size[at] = misfit[better], split, (fitted[-1] - level)[better]
    return found


def _middle(values: Floats) -> Floats:
    """The median of each column that has a value."""
    return np.asarray(np.nanmedian(values, axis=0), dtype=np.float32)

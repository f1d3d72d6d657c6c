"""Which links get worse over days: against their own past, against their lot, and apart from heat.

Everything is in optical decibels: received light, and the margin of the bit error rate over what FEC corrects
(`signal_margin`). Means of whole days leave out the wave of day and night; the median change of the lot (the same part
at the same end, or all without a part) is taken off each day, so that a warm week is none of a link's doing.

Robust slopes of many short series at once.

Theil and Sen's estimator: the median slope of all pairs of days, with Sen's interval from Kendall's variance (Sen,
JASA 63, 1968). A fourth of the days may be outliers. Series are columns of shape (days, series), one value a day, the
oldest first; NaN is a day without data.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.rail_balance import medians
from truerail.analysis.trends.daily_means import daily, limits, margin_db, since_improved
from truerail.analysis.trends.link_past import DAYS, SAMPLE_SECONDS, SAMPLES_A_DAY, LinkPast
from truerail.analysis.trends.signal_levels import Signal
from truerail.model.columns import Codes, Mask, Numbers

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


# ----------------------------------------------------------------------------------------------------------------------
# How far each end of a link fell over its days, by itself and against its lot.


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
    spreads = np.full(level.shape[1], np.inf, dtype=np.float32)
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
    return np.asarray(medians(values[None], 1)[0], dtype=np.float32)


# ----------------------------------------------------------------------------------------------------------------------
# The ends that get worse.


SPREADS = 5.0
"""How many robust deviations of its lot a fall must be: Iglewicz and Hoaglin's 3.5 finds one of 4,000 ends that only
vary, and a fabric has more ends than that and is looked at each day.
"""
DB_PER_CELSIUS = 0.04
"""Change that heat of one end's module may explain: a laser's power follows its temperature by up to 1.5 dB over 60
degrees, as parts are specified (tracking error), and a receiver has as much of its own.
"""
LEAST_FALL_DB = {"light": 0.7, "margin": 0.35}
"""The least fall that is reported: some agents read light in steps of 0.1 dB, and a meter drifts; 0.35 dB of margin are
a tenfold error rate at 1e-12 and a fourfold one at 1e-6.
"""
LEAST_STEP_DB = {"light": 1.0, "margin": 0.5}
"""The least single step: less comes and goes where a connector is touched."""
STEP_FITS = 0.8
"""A step that leaves less than this share of the distances that a level with a line from its end leaves is no trend."""
STEP_DAYS = 2
"""Days of data on both sides of a step."""
TREND_DAYS = 4
"""Days of data in a trend."""
LONGEST_HORIZON_DAYS = 60.0
"""A trend is followed at most four times as far as it was seen."""
CONFIRMING_SHARE = 0.25
"""Light that is lost is lost to the margin as well, if less where the receiver has noise of its own."""
LOWEST_DBM = -10.3
"""The limit of light where a module has none of its own (LNK005)."""


class Way(StrEnum):
    """How a link gets worse."""

    TREND = "trend"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class Decline:
    """One end of a cable that gets worse in what it receives. Decibels are optical."""

    cable: int
    end: int
    """0 is the end nearer to the GPUs."""
    of: str
    """`light` or `margin`."""
    way: Way
    days: int
    """How many days ago the step was made, or the trend began."""
    fell_db: float
    """From the first days to the last ones; the size of a step."""
    now: float
    """The least of the last day's samples: dBm, or decibels of margin."""
    limit: float
    """The level at which it fails: the module's own alarm limit; 0 for the margin."""
    slope: tuple[float, float, float]
    """A day: estimate, and the interval at 95 %."""
    horizon_days: tuple[float, float] | None
    """When the limit is reached if the trend goes on: by the steepest slope that the interval of the trend or of its
    last days allows, and by the flattest of the trend; None for a step.
    """
    confirmed: bool | None
    """Whether the other quantity of the same end falls too; None where it is not known."""
    sender_fell_db: float | None
    """How much less the other end sends."""
    after_fall: bool
    """Whether the link fell about when a step was made."""


@dataclass(frozen=True, eq=False)
class Declines:
    """What a past shows."""

    found: tuple[Decline, ...]
    enough: Mask
    """Ends with days enough for a slope, shape (2, cables)."""
    light: Mapping[int, Floats]
    """Of each cable that gets worse, received light by day and end, in dBm: shape (days, 2)."""
    margin: Mapping[int, Floats]
    """The same of the margin, in decibels."""


def declines_of(past: LinkPast) -> Declines:
    """Every end that gets worse."""
    days = since_improved(daily(past))
    lot = np.where(past.lot < 0, -1 - np.array([[0], [1]]), past.lot)
    light, margin = falls_of(days.rx, lot), falls_of(days.margin, lot)
    heat = DB_PER_CELSIUS * np.abs(falls_of(days.celsius, lot).size)
    heat = np.nan_to_num(heat) + np.nan_to_num(heat[::-1])
    alarm = np.where(np.isnan(past.low_dbm), LOWEST_DBM, past.low_dbm)
    counted = replace(margin, size=np.where((days.floor | np.isnan(days.margin)).all(axis=0), np.nan, margin.size))
    suspects = Suspects(past, heat, falls_of(days.tx, lot).size[::-1])
    found = (*suspects.declines("light", light, alarm, counted),)
    found += (*suspects.declines("margin", margin, np.zeros_like(alarm), light),)
    cables = {one.cable for one in found}
    shown = ({cable: of[:, :, cable] for cable in cables} for of in (days.rx, days.margin))
    return Declines(found, light.enough | margin.enough, *shown)


@dataclass(frozen=True, eq=False)
class Suspects:
    """What decides between a fall that matters and one that does not, shapes (2, cables)."""

    past: LinkPast
    heat: Numbers
    """The fall in decibels that a change of temperature at either end may explain."""
    sender: Floats
    """How much less the other end sends, in decibels; NaN where it is not known."""

    def declines(self, of: str, falls: Falls, limit: Numbers, beside: Falls) -> Iterator[Decline]:
        """The ends of which one quantity falls; `beside` is the other one."""
        worse = falls.enough & (falls.size - self.heat >= LEAST_FALL_DB[of]) & (falls.spreads >= SPREADS)
        end, cable = np.nonzero(worse)
        days = falls.days[:, end, cable]
        step, knee = steps(days, STEP_DAYS), knees(days, TREND_DAYS)
        single = step.misfit < STEP_FITS * knee.misfit
        begun = np.arange(DAYS)[:, None] >= knee.day - 1
        lately = np.arange(DAYS)[:, None] >= np.maximum(knee.day - 1, DAYS - TREND_DAYS)
        slope, recent = (slopes(np.where(since, days, np.float32(np.nan))) for since in (begun, lately))
        steepest = np.fmin(slope.low, recent.low)
        now = self._lowest(of, end, cable)
        for one in range(len(end)):
            at = (int(end[one]), int(cable[one]))
            trend = (float(slope.middle[one]), float(slope.low[one]), float(slope.high[one]))
            left = max(float(now[one]) - float(limit[at]), 0.0)
            falling = not single[one] and trend[2] < 0
            horizon = (left / -float(steepest[one]), left / -trend[2]) if falling else None
            broke = (step if single[one] else knee).day[one]
            fell = -float(step.size[one]) if single[one] else float(falls.size[at])
            if fell < LEAST_STEP_DB[of] if single[one] else not horizon or horizon[0] > LONGEST_HORIZON_DAYS:
                continue
            yield Decline(
                cable=at[1],
                end=at[0],
                of=of,
                way=Way.STEP if single[one] else Way.TREND,
                days=DAYS - int(broke) + (not single[one]),
                fell_db=fell,
                now=float(now[one]),
                limit=float(limit[at]),
                slope=trend,
                horizon_days=horizon,
                confirmed=_confirmed(float(falls.size[at]), float(beside.size[at])),
                sender_fell_db=None if np.isnan(self.sender[at]) else float(self.sender[at]),
                after_fall=bool(single[one]) and self._fell_then(at, DAYS - int(broke)),
            )

    def _lowest(self, of: str, end: Codes, cable: Codes) -> Floats:
        """The least sample of the last day: a link fails in its worst hours."""
        if not len(end):  # as in the first two hours, before there is a sample
            return np.empty(0, dtype=np.float32)
        signal = Signal.RX_DBM if of == "light" else Signal.BER
        last = [one.values[signal, end, cable] for one in self.past.samples[-SAMPLES_A_DAY:]]
        values = np.array(last, dtype=np.float32)
        if of == "margin":
            values = margin_db(values, np.log10(limits(self.past)[cable]))
        return np.asarray(np.fmin.reduce(values, axis=0), dtype=np.float32)

    def _fell_then(self, at: tuple[int, int], days_ago: int) -> bool:
        """Whether the link fell on the day of a step, or on the day before."""
        newest = (self.past.samples[-1].number + 1) * SAMPLE_SECONDS
        return bool(-1 <= (newest - float(self.past.fell_at[at])) / 86400 - days_ago <= 1)


def _confirmed(fell: float, beside: float) -> bool | None:
    return None if np.isnan(beside) else beside >= CONFIRMING_SHARE * fell

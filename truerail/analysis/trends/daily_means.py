"""The past of links as means of whole days, which leave out the wave of day and night, and bit errors as a margin.

A bit error rate before FEC is a margin in optical decibels over the rate that FEC cannot correct. With Gaussian noise
the error rate follows from the eye's signal-to-noise ratio, Q, and Q is proportional to the received light where
thermal noise dominates (G. P. Agrawal, Fiber-Optic Communication Systems, 4.6): light that falls by one decibel takes
one decibel of margin, while the error rate rises ever faster. A trend of the margin is therefore straight where one of
the error rate is not, and is in the unit of light.
"""

from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.trends.link_past import DAYS, SAMPLE_SECONDS, SAMPLES_A_DAY, LinkPast
from truerail.analysis.trends.signal_levels import LEAST_BER, Signal
from truerail.model.columns import Mask, Numbers

FEC_LIMIT = 2.4e-4
"""The bit error rate before RS(544,514) from which frames are lost (IEEE 802.3bs, KP4)."""
FEC_LIMIT_NRZ = 2.1e-5
"""The same before RS(528,514), for links of up to 25 Gb/s a lane (IEEE 802.3bj, KR4)."""


def margin_db(log_rate: Floats, log_limit: Floats) -> Floats:
    """10 log10 of Q at the rate over Q at the limit; 0 at the limit, negative beyond. Both are log10 of rates."""
    rates, quality = _table()
    own = np.interp(log_rate, rates, quality, left=quality[0], right=quality[-1])
    return np.where(np.isnan(log_rate), np.nan, own - np.interp(log_limit, rates, quality)).astype(np.float32)


def rate_at(margin: float, limit: float) -> float:
    """The error rate with this margin over a limit: the inverse, for words."""
    rates, quality = _table()
    q = margin + float(np.interp(np.log10(limit), rates, quality))
    return float(10 ** np.interp(-q, -quality, rates))


@lru_cache(maxsize=1)
def _table() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """log10 of the error rate, ascending, and 10 log10 of Q: the rate is the normal distribution's tail beyond Q."""
    rates: npt.NDArray[np.float64] = np.arange(-15.0, -0.5, 0.02, dtype=np.float64)
    normal = NormalDist()
    return rates, np.array([10 * np.log10(-normal.inv_cdf(10.0**rate)) for rate in rates.tolist()])


LEAST_SAMPLES_OF_A_DAY = 8
"""Of twelve: a day with a longer gap would keep a part of the wave of day and night."""
IMPROVED_DB = {"light": 0.5, "margin": 0.3}
"""A rise from one day to the next by this much begins the past again: a part was cleaned or exchanged, or a meter
jumps.
"""
FLOOR = float(np.log10(LEAST_BER)) + 0.05
NRZ_GBPS = 100.0


@dataclass(frozen=True, eq=False)
class Daily:
    """Means of whole days, the oldest first, shape (days, 2, cables); NaN with too few samples."""

    rx: Floats
    tx: Floats
    celsius: Floats
    margin: Floats
    floor: Mask
    """Where hardly any bit error was counted: the margin is at least that."""


def daily(past: LinkPast) -> Daily:
    """The days of a past; the newest ends with its newest sample."""
    found = np.full((len(Signal), DAYS, *past.since.shape), np.nan, dtype=np.float32)
    last, exchanged = past.samples[-1].number if past.samples else 0, float(past.since.max(initial=-np.inf))
    for day in range(DAYS):
        total, count = np.zeros(found[:, 0].shape, dtype=np.float32), np.zeros(found[:, 0].shape, dtype=np.uint8)
        for one in past.samples:
            if (last - one.number) // SAMPLES_A_DAY == day:
                values = one.values.astype(np.float32)
                known = values == values
                if exchanged > one.number * SAMPLE_SECONDS:
                    known &= one.number * SAMPLE_SECONDS >= past.since
                np.add(total, values, out=total, where=known)
                count += known
        np.divide(total, count, out=found[:, DAYS - 1 - day], where=count >= LEAST_SAMPLES_OF_A_DAY)
    rate = found[Signal.BER]
    limit = np.log10(limits(past))
    return Daily(found[0], found[1], found[2], margin_db(rate, limit[None, None]), rate <= FLOOR)


def limits(past: LinkPast) -> Numbers:
    """The bit error rate that FEC cannot correct, by planned speed, shape (cables,)."""
    speed = np.array([cable.speed_gbps or np.inf for cable in past.plan.cables], dtype=np.float64)
    return np.where(speed <= NRZ_GBPS, FEC_LIMIT_NRZ, FEC_LIMIT)


def since_improved(days: Daily) -> Daily:
    """Without the days before light or margin rose from one day to the next: a connector was cleaned, or a part was
    exchanged; or the meter jumps, and is no base for a slope.
    """
    earlier = np.zeros(days.rx.shape, dtype=bool)
    for values, least in ((days.rx, IMPROVED_DB["light"]), (days.margin, IMPROVED_DB["margin"])):
        before = values[0]
        for day in range(1, DAYS):
            earlier[:day, values[day] - before >= least] = True
            before = np.where(np.isnan(values[day]), before, values[day])
    known = (days.rx, days.tx, days.celsius, days.margin)
    rx, tx, celsius, margin = (np.where(earlier, np.float32(np.nan), values) for values in known)
    return Daily(rx, tx, celsius, margin, days.floor)

"""The past of links as means of whole days: the wave of day and night is none."""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.trends.link_past import DAYS, SAMPLE_SECONDS, SAMPLES_A_DAY, LinkPast
from truerail.analysis.trends.signal_levels import LEAST_BER, Signal
from truerail.analysis.trends.signal_margin import FEC_LIMIT, FEC_LIMIT_NRZ, margin_db
from truerail.model.columns import Mask, Numbers

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

"""Current rates of ports: the mean over the newest full minute, by the actual times of the samples.

Less than a minute shows how the seconds of a training step fell, more is no longer current. For a port that is read
once a minute or less often its newest reading is used, unless the next one is overdue. Arrays have shape (planned
ports,), counted per second; NaN is "no data in that minute", never zero.
"""

import numpy as np

from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.telemetry import LEAST_COVERAGE, Telemetry
from truerail.model.columns import Codes, Numbers

MINUTE_SECONDS = 60.0
OVERDUE = 1.5
"""A reading is overdue when it is older than this many times its own interval."""


def minute_of(telemetry: Telemetry, quantity: Quantity, priority: int | None = None) -> Floats:
    """Rate of each planned port in the newest minute, per second."""
    if telemetry.counters is None:
        return np.full(telemetry.ports, np.nan, dtype=np.float32)
    order, begun = telemetry.counters.order, telemetry.counters.begun
    recent = order[begun[order] > begun[order].max() - MINUTE_SECONDS + telemetry.counters.step_seconds / 2]
    found = telemetry.reduced(
        quantity, priority, 1, lambda gained, span: _means(gained, span, recent, order, begun)[:, None]
    )
    return np.asarray(found[:, 0])


def summed_minute(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """The same over all priorities: from the counter over all priorities, else the sum of the counted priorities."""
    found = minute_of(telemetry, quantity)
    silent = np.isnan(found)
    if silent.any():
        for priority in _numbered(telemetry, quantity):
            part = minute_of(telemetry, quantity, priority)[silent]
            found[silent] = np.where(np.isnan(found[silent]), part, found[silent] + np.nan_to_num(part))
    return found


def largest_minute(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """The same for the priority with the highest rate, or for all priorities where they are counted together."""
    found = np.full(telemetry.ports, np.nan, dtype=np.float32)
    for priority in telemetry.priorities(quantity):
        found = np.fmax(found, minute_of(telemetry, quantity, priority))
    return found


def _numbered(telemetry: Telemetry, quantity: Quantity) -> list[int]:
    return [priority for priority in telemetry.priorities(quantity) if priority is not None]


def _means(gained: Samples, span: Samples, recent: Codes, order: Codes, begun: Numbers) -> Floats:
    """Per row: rate over the recent samples; where these have a gap, over one sample that itself spans a minute.

    `recent` and `order` are samples, the oldest first.
    """
    counted, seconds = gained.of(recent), span.of(recent)
    total, behind = (np.einsum("ij->i", values) for values in (counted, seconds))
    gaps = np.flatnonzero(np.isnan(total) | np.isnan(behind))
    if len(gaps):
        known = ~np.isnan(counted[gaps]) & ~np.isnan(seconds[gaps])
        total[gaps] = np.where(known, counted[gaps], 0).sum(axis=1)
        behind[gaps] = np.where(known, seconds[gaps], 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        rate = np.where(behind >= LEAST_COVERAGE * MINUTE_SECONDS, total / behind, np.nan).astype(np.float32)
    slow = gaps[np.isnan(rate[gaps])]
    if len(slow):
        rate[slow] = _newest(gained.of(order, slow), span.of(order, slow), begun[order])
    return rate


def _newest(gained: Floats, span: Floats, begun: Numbers) -> Floats:
    """The newest sample alone of each row; NaN if it is overdue or shorter than the minute."""
    known = ~np.isnan(gained) & ~np.isnan(span)
    last = known.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    row = np.arange(len(known))
    seconds = span[row, last]
    fresh = (begun[-1] - begun[last] < OVERDUE * seconds) & (seconds >= LEAST_COVERAGE * MINUTE_SECONDS)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(fresh, gained[row, last] / seconds, np.nan).astype(np.float32)

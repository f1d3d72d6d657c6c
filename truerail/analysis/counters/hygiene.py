"""Increment of a counter between two readings; NaN where it is unknown.

A 32-bit counter that went backwards has wrapped if that is plausible at its speed. A 64-bit counter never wraps (2^64
octets at 400 Gb/s take 11.7 years), so it was reset: by a reboot, a driver reload, a re-created port, or an operator's
`clear counters`. After a reset the traffic of the interval is unknown, while an error counter's new value is a lower
bound; where that is zero, its errors are unknown too.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Kind, Quantity
from truerail.model.columns import Mask

Raw = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]
Seconds = npt.NDArray[np.float64]

MOST_BYTES_PER_SECOND = 2e11
"""A port of 1.6 Tb/s. A faster counter is faulty."""
MOST_EVENTS_PER_SECOND = 3e9
"""Packets of 64 bytes at 1.6 Tb/s."""
MOST_PACES = 6
"""One minute at one reading every 10 seconds: the share of a window that separates a lasting pattern from a burst."""
_HALF, _WHOLE = np.uint64(1 << 31), np.uint64(1 << 32)


@lru_cache
def most_per_second(quantity: Quantity) -> float:
    """Rate that no healthy counter exceeds."""
    name = quantity.value
    if name.endswith("_bytes"):
        return MOST_BYTES_PER_SECOND
    if name.endswith("bits"):
        return 8 * MOST_BYTES_PER_SECOND
    return 1.5e6 if name.endswith("_us") else MOST_EVENTS_PER_SECOND


def middle(values: npt.NDArray[np.floating]) -> float:
    """Median of a few values, none of them NaN; `np.median` takes ten times as long for so few."""
    order = np.sort(values)
    return float((order[(len(order) - 1) // 2] + order[len(order) // 2]) / 2)


def fell(before: Raw, now: Raw) -> Mask:
    """Counters that went backwards, shape (n,)."""
    return np.asarray(now < before)


def counted(
    before: Raw, now: Raw, seconds: Seconds, *, quantity: Quantity, kind: Kind, bits: int, again: Mask | None = None
) -> Floats:
    """Increments between two readings, shape (n,); NaN across a reset, a glitch or an interval of no length.

    `seconds` is the interval between the readings of each, NaN without an earlier reading. Durations in microseconds
    may exceed the interval by half, because switches accumulate them at their own pace. `again` marks ports of which
    another counter, one that never wraps, went backwards: the device restarted, or the name now means another port.
    Their traffic is then unknown, and no 32-bit counter has wrapped.
    """
    fallen = fell(before, now)
    if not fallen.any() and (again is None or not again.any()):
        gained = (now - before).astype(np.float64)
    else:
        again = np.zeros(len(now), dtype=bool) if again is None else again
        gained = _after_falls(before, now, seconds, fallen, again, quantity=quantity, kind=kind, bits=bits)
    broken = ~(seconds > 0) | (gained > 1.2 * most_per_second(quantity) * np.maximum(seconds, 1.0))
    return np.where(broken, np.nan, gained).astype(np.float32)


def _after_falls(
    before: Raw, now: Raw, seconds: Seconds, fallen: Mask, again: Mask, *, quantity: Quantity, kind: Kind, bits: int
) -> Seconds:
    """Increments where some counters went backwards, shape (n,)."""
    forward = ~fallen
    gained = np.where(forward, now - before, np.uint64(0)).astype(np.float64)
    if bits == 32:
        wrapped = ~forward & ~again & (before > _HALF) & (now < _HALF)
        around = np.where(wrapped, _WHOLE - before + now, np.uint64(0)).astype(np.float64)
        plausible = wrapped & (around <= 1.2 * most_per_second(quantity) * seconds)
        gained = np.where(plausible, around, gained)
        forward = forward | plausible
    forward = forward & ~(again & ((before > 0) | (now == 0) if kind is Kind.ERRORS else True))
    reset = np.where(fallen & (now > 0), now.astype(np.float64), np.nan) if kind is Kind.ERRORS else np.nan
    return np.asarray(np.where(forward, gained, reset), dtype=np.float64)


def across(gained: Floats, seconds: Seconds, *, skipped: Mask, kind: Kind, pace: float, samples: int) -> Floats:
    """Keeps the increments that count in a sample and sets the others to NaN, shape (n,).

    `seconds` is the interval of each increment and `pace` the usual one; `skipped` were missing in the last reading of
    their port. Traffic over a longer gap belongs to another time; traffic over a skipped reading covers more time than
    the port's other counters. Errors are carried over both: they happened, no matter when, as long as the interval is
    within a window of `samples`.
    """
    lost = seconds > samples * pace if kind is Kind.ERRORS else (seconds > MOST_PACES * pace) | skipped
    return np.where(lost, np.float32(np.nan), gained)


def own_pace(span: Floats, step_seconds: float) -> Floats:
    """Usual interval of each row's samples in seconds, shape (rows,), at least `step_seconds`; NaN if unknown. `span`
    has shape (rows, samples).
    """
    known = np.count_nonzero(~np.isnan(span), axis=1)
    middle = np.sort(span, axis=1)[np.arange(len(span)), np.maximum(known - 1, 0) // 2]  # NaN sorts behind all
    return np.asarray(np.maximum(middle, np.float32(step_seconds)), dtype=np.float32)

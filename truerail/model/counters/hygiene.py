"""From two readings of a counter to what was counted in between; NaN where that is not known.

A 32-bit counter that went backwards has wrapped if that is plausible at its speed; a 64-bit one never wraps (2^64
octets at 400 Gb/s take 11.7 years), so it was reset: by a reboot, a driver reload, a port made anew, somebody's `clear
counters`. After a reset nothing is known of traffic, while an error counter's new value is a lower bound.
"""

import numpy as np
import numpy.typing as npt

from truerail.model.counters.quantities import Kind, Quantity

Raw = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float32]
Seconds = npt.NDArray[np.float64]

MOST_BYTES_PER_SECOND = 2e11
"""A port of 1.6 Tb/s. A faster counter is a broken one."""
MOST_EVENTS_PER_SECOND = 3e9
"""Packets of 64 bytes at 1.6 Tb/s."""
_HALF, _WHOLE = np.uint64(1 << 31), np.uint64(1 << 32)


def most_per_second(quantity: Quantity) -> float:
    """What no healthy counter exceeds."""
    name = quantity.value
    if name.endswith("_bytes"):
        return MOST_BYTES_PER_SECOND
    if name.endswith("bits"):
        return 8 * MOST_BYTES_PER_SECOND
    return 1.5e6 if name.endswith("_us") else MOST_EVENTS_PER_SECOND


def counted(before: Raw, now: Raw, seconds: Seconds, *, quantity: Quantity, kind: Kind, bits: int) -> Floats:
    """What was counted between two readings, shape (n,); NaN where a reset, a glitch or no time stands in between.

    `seconds` is what lies between the readings of each. Durations in microseconds may exceed the time by half, because
    switches add them up at their own pace.
    """
    forward = now >= before
    gained = np.where(forward, now - before, np.uint64(0)).astype(np.float64)
    if bits == 32:
        wrapped = ~forward & (before > _HALF) & (now < _HALF)
        around = np.where(wrapped, _WHOLE - before + now, np.uint64(0)).astype(np.float64)
        plausible = wrapped & (around <= 1.2 * most_per_second(quantity) * seconds)
        gained = np.where(plausible, around, gained)
        forward = forward | plausible
    reset = now.astype(np.float64) if kind is Kind.ERRORS else np.full(len(now), np.nan)
    gained = np.where(forward, gained, reset)
    broken = (seconds <= 0) | (gained > 1.2 * most_per_second(quantity) * np.maximum(seconds, 1.0))
    return np.where(broken, np.nan, gained).astype(np.float32)

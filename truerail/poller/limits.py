"""Limits of a round: durations and concurrency; and its sources of time and randomness."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from truerail.model.steady import STEADY


@dataclass(frozen=True, slots=True)
class Limits:
    """`at_once` devices are polled at the same time, besides those that have not answered for 3 s. Each has
    `device_seconds` from its turn on, all of them together `deadline_seconds`. A failed connection is retried `retries`
    times, after `retry_seconds`, doubled each time, plus or minus half. A transport has `cancel_seconds` to release a
    device.
    """

    at_once: int = 1000
    device_seconds: float = 30.0
    deadline_seconds: float = 60.0
    retries: int = 2
    retry_seconds: float = 0.5
    cancel_seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Ambient:
    """Time and randomness, replaceable in tests. `clock` is in seconds; neither it nor `now` is ever set."""

    now: Callable[[], datetime] = STEADY.now
    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random

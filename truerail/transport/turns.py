"""Turns at work that costs this machine time, such as key exchanges, and the clock of the device that waits for one.

A device that does not answer costs this machine nothing, so it does not keep its turn: after half a second in which the
event loop was free it passes the turn to the next device, and goes on waiting without one. If it kept its turn until
its timeout, a few hundred hung devices would delay all that come after them. A device's clock stops while it waits for
its turn, because the wait is not the device's fault.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from time import monotonic

TICK_SECONDS = 0.1
TICKS = 5
"""A busy loop comes to its ticks late: on a machine at its limit, no device gives up a turn that it uses."""

_OPEN = set[asyncio.Timeout]()
"""The time limits of all devices that are asked."""
_CLOCK: ContextVar[asyncio.Timeout | None] = ContextVar("clock", default=None)
"""The time limit of the current device."""


@contextmanager
def timed_by(limit: asyncio.Timeout) -> Iterator[None]:
    """Makes `limit` the clock of the device queried in this block."""
    token = _CLOCK.set(limit)
    _OPEN.add(limit)
    try:
        yield
    finally:
        _OPEN.discard(limit)
        _CLOCK.reset(token)


@contextmanager
def clocks_stopped() -> Iterator[None]:
    """Stops the clocks of all devices in this block, which keeps the event loop from hearing what they answer."""
    began = monotonic()
    try:
        yield
    finally:
        took = monotonic() - began
        for limit in _OPEN if took > TICK_SECONDS else ():
            if (ends := limit.when()) is not None and not limit.expired():
                limit.reschedule(ends + took)


@contextmanager
def clock_stopped() -> Iterator[None]:
    """Stops the device's clock in this block, which waits for this machine and not for the device."""
    limit, now = _CLOCK.get(), asyncio.get_running_loop().time
    ends = limit.when() if limit else None
    if limit is None or ends is None:
        yield
        return
    left = ends - now()
    limit.reschedule(None)
    try:
        yield
    finally:
        limit.reschedule(now() + left)


class Turns:
    """`at_work` turns at a time, and `in_all` places for those who have one or have given it up; None: no limit."""

    def __init__(self, at_work: int, in_all: int | None = None, ticks: int = TICKS) -> None:
        self._at_work = asyncio.Semaphore(at_work)
        self._in_all = asyncio.Semaphore(in_all) if in_all is not None else None
        self._ticks = ticks

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits for a turn, with the device's clock stopped."""
        async with AsyncExitStack() as places:
            with clock_stopped():
                if self._in_all:
                    await places.enter_async_context(self._in_all)
                await self._at_work.acquire()
            held = _Held(self._at_work, self._ticks)
            try:
                yield
            finally:
                held.give_back()


class _Held:
    """A turn that ends by itself after some ticks of the event loop."""

    def __init__(self, turns: asyncio.Semaphore, ticks: int) -> None:
        self._turns: asyncio.Semaphore | None = turns
        self._left = ticks
        self._loop = asyncio.get_running_loop()
        self._timer = self._loop.call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._left -= 1
        if self._left:
            self._timer = self._loop.call_later(TICK_SECONDS, self._tick)
        else:
            self.give_back()

    def give_back(self) -> None:
        self._timer.cancel()
        turns, self._turns = self._turns, None
        if turns:
            turns.release()

"""Signals in a child: SIGTERM ends gracefully, SIGHUP reloads. Both come from the parent."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def signals(stop: asyncio.Event, reload: Callable[[], None] | None) -> Iterator[None]:
    """While it lasts, SIGTERM sets `stop`; SIGHUP calls `reload`, or ends as well where there is nothing to reload."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGHUP, reload or stop.set)
    try:
        yield
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)

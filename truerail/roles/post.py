"""What the parent hands to its children."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

# ----------------------------------------------------------------------------------------------------------------------
# Signals in a child: SIGTERM ends gracefully, SIGHUP reloads. Both come from the parent.


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


# ----------------------------------------------------------------------------------------------------------------------
# What the parent hands to its children.


@dataclass(frozen=True, slots=True)
class Post:
    """Where a process of the service works: the files of view and link, the socket at which the judge listens, those
    at which the front does, and the public address. `started` reports that it works. `nice` is what a judge becomes.
    """

    view: Path
    link_path: Path
    link: socket.socket
    http: list[socket.socket]
    url: str
    started: Callable[[], None] = lambda: None
    nice: int = 0

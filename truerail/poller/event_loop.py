"""Runs a process on the fastest event loop that the platform has."""

import asyncio
from collections.abc import Coroutine
from typing import Any


def run(body: Coroutine[Any, Any, None]) -> None:
    """Runs it to its end."""
    try:
        import uvloop
    except ImportError:  # not on every platform
        asyncio.run(body)
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(body)

"""The end of asyncio's tasks."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

AGAIN_SECONDS = 6.0
"""What a task does when it is cancelled, such as closing a connection, takes no longer."""


class Spawns:
    """Runs tasks beside its own work: `end(self._tasks)` ends those that have not ended by themselves."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Begins a task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def end(tasks: "Iterable[asyncio.Task[Any]]", *, failed: bool = False) -> None:
    """Cancels tasks and waits until they have ended. Their errors are dropped; with `failed` the first one is raised.

    A task that goes on all the same is cancelled again: before Python 3.12, `asyncio.wait_for` misses a cancellation
    that comes at the moment of the result (https://bugs.python.org/issue37658), and libraries wait by it.
    """
    every = list(tasks)
    while left := [task for task in every if not task.done()]:
        for task in left:
            task.cancel()
        await asyncio.wait(left, timeout=AGAIN_SECONDS)
    errors = [task.exception() for task in every if not task.cancelled()]  # not looked at, each would be logged later
    for error in filter(None, errors if failed else ()):
        raise error

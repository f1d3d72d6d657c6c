"""When each collector runs: one job for each, and some for the service itself."""

import asyncio
import random
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

Job = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class _Interval:
    job: Job
    seconds: float
    jitter_seconds: float


class Schedule:
    """Runs each job at its interval, never twice at the same time; skipped runs are counted, not logged.

    Intervals are those of the event loop's clock: setting the system's clock moves none. Runs that a blocked loop
    missed are one run.
    """

    def __init__(self, *, overran: Callable[[str], None], failed: Callable[[str, BaseException], None]) -> None:
        self._overran, self._failed = overran, failed
        self._jobs: dict[str, _Interval] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._started = False

    def start(self) -> None:
        """Starts; the first run of each job is one interval away."""
        self._started = True
        for name in self._jobs:
            self._wait(name, asyncio.get_running_loop().time())

    def stop(self) -> None:
        """Starts no more jobs, and ends those that run."""
        self._started = False
        for timer in self._timers.values():
            timer.cancel()
        for task in self._running.values():
            task.cancel()

    def every(self, name: str, seconds: float, job: Job, *, jitter_seconds: float = 0.0) -> None:
        """Runs a job at an interval from now on; a job of the same name is replaced."""
        self.drop(name)
        self._jobs[name] = _Interval(job, max(seconds, 0.1), min(jitter_seconds, seconds / 4))
        if self._started:
            self._wait(name, asyncio.get_running_loop().time())

    def all_of(self, seconds: Mapping[str, float], job: Callable[[str], Job], jitter_seconds: float) -> None:
        """One job for each name; `job(name)` makes it."""
        for name, interval in seconds.items():
            self.every(name, interval, job(name), jitter_seconds=jitter_seconds)

    def drop(self, name: str) -> None:
        """Ends a job, if there is one."""
        self._jobs.pop(name, None)
        if timer := self._timers.pop(name, None):
            timer.cancel()

    def _wait(self, name: str, since: float) -> None:
        """Sets the next run, an interval after `since` by the event loop's clock."""
        one, loop = self._jobs[name], asyncio.get_running_loop()
        due = max(since + one.seconds, loop.time())
        at = due + random.uniform(-one.jitter_seconds, one.jitter_seconds)  # noqa: S311 - no secret
        self._timers[name] = loop.call_at(at, self._due, name, due)

    def _due(self, name: str, due: float) -> None:
        self._wait(name, due)
        if name in self._running:
            self._overran(name)
        else:
            task = self._running[name] = asyncio.create_task(self._jobs[name].job())
            task.add_done_callback(partial(self._done, name))

    def _done(self, name: str, task: "asyncio.Task[None]") -> None:
        del self._running[name]
        if not task.cancelled() and (error := task.exception()):
            self._failed(name, error)

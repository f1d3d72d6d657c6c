"""When each collector runs: one job for each, and some for the service itself."""

import logging
from collections.abc import Awaitable, Callable, Mapping

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, JobEvent, JobExecutionEvent
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.interval import IntervalTrigger

Job = Callable[[], Awaitable[None]]
LATE_SECONDS = 30
"""A job that could not start in time (a suspended machine, a blocked loop) still runs if it is no later than this."""


class Schedule:
    """Runs each job at its interval, never twice at the same time; skipped runs are counted, not logged."""

    def __init__(self, *, overran: Callable[[str], None], failed: Callable[[str, BaseException], None]) -> None:
        logging.getLogger("apscheduler").setLevel(logging.CRITICAL)  # no log line for each skip: see `overran`
        self._scheduler = AsyncIOScheduler(
            timezone="UTC",
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": LATE_SECONDS},
        )
        self._overran, self._failed = overran, failed
        self._scheduler.add_listener(self._skipped, EVENT_JOB_MAX_INSTANCES)
        self._scheduler.add_listener(self._broke, EVENT_JOB_ERROR)

    def start(self) -> None:
        """Starts; the first run of each job is one interval away."""
        self._scheduler.start()

    def stop(self) -> None:
        """Starts no more jobs."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    def every(self, name: str, seconds: float, job: Job, *, jitter_seconds: float = 0.0) -> None:
        """Runs a job at an interval from now on; a job of the same name is replaced."""
        jitter = min(jitter_seconds, seconds / 4) or None
        trigger = IntervalTrigger(seconds=max(seconds, 0.1), jitter=jitter, timezone="UTC")
        self._scheduler.add_job(job, trigger, id=name, replace_existing=True)

    def all_of(self, seconds: Mapping[str, float], job: Callable[[str], Job], jitter_seconds: float) -> None:
        """One job for each name; `job(name)` makes it."""
        for name, interval in seconds.items():
            self.every(name, interval, job(name), jitter_seconds=jitter_seconds)

    def drop(self, name: str) -> None:
        """Ends a job, if there is one."""
        try:
            self._scheduler.remove_job(name)
        except JobLookupError:
            return

    def _skipped(self, event: JobEvent) -> None:
        self._overran(str(event.job_id))

    def _broke(self, event: JobExecutionEvent) -> None:
        self._failed(str(event.job_id), event.exception)

"""What the settings say about polling, as the work of pollers."""

from collections.abc import Iterable

from truerail.model import Plan, Target
from truerail.poller.device_poller import Limits
from truerail.poller.fleet import Work
from truerail.poller.polling import intervals
from truerail.service.settings import Settings


def work_of(settings: Settings, targets: Iterable[Target], plan: Plan | None) -> Work:
    """The devices, and the pace of the schedule."""
    schedule, polled = settings.schedule, tuple(targets)
    devices = dict(plan.devices) if plan else {}
    every = settings.jobs.every_seconds | {name: found.total_seconds() for name, found in schedule.every.items()}
    patience, jitter = schedule.poll_timeout.total_seconds(), schedule.jitter.total_seconds()
    device, deadline = schedule.device_timeout.total_seconds(), schedule.round_timeout.total_seconds()
    limits = Limits(at_once=schedule.max_concurrency, device_seconds=device, deadline_seconds=deadline)
    return Work((*polled, *settings.jobs.targets(polled)), devices, intervals(every), patience, jitter, limits)

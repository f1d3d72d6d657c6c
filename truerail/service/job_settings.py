"""Which schedulers are asked for their jobs, how, and what is shown of jobs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator

from truerail.model import Target
from truerail.model.names import device_key
from truerail.model.platforms import KUBERNETES, SLURM
from truerail.service.setting_values import Duration, Part, YesNo
from truerail.transport.fleet_transport import LOCAL

_SSH = re.compile(r"ssh (?:(?P<user>[A-Za-z0-9._-]+)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)")
_COLLECTORS = {SLURM: "slurm_jobs", KUBERNETES: "k8s_pods"}


def _way(value: str) -> str:
    if value != LOCAL and not _SSH.fullmatch(value):
        raise ValueError("is neither local nor ssh HOST")
    return value


class Scheduler(Part):
    """How a scheduler is asked: with the commands that its collectors declare, all of which only read."""

    via: Annotated[str, AfterValidator(_way)]
    """`local`: its clients are on this machine. `ssh HOST`: on that one, with the login that the inventory has."""
    every: Duration = timedelta(seconds=30)
    """How often its running jobs are read."""


class JobSettings(Part):
    """Schedulers whose jobs are joined with causes. Each is off until it is set."""

    slurm: Scheduler | None = None
    """Slurm, by squeue and scontrol."""
    kubernetes: Scheduler | None = None
    """Kubernetes, by kubectl and its own configuration: get and list on pods are enough."""
    show_users: YesNo = True
    """Whether the names of jobs' users are shown and stored."""
    show_names: YesNo = True
    """Whether the names of jobs are shown and stored; else their ids alone."""

    @property
    def schedulers(self) -> Iterator[tuple[str, Scheduler]]:
        """Those that are set, by platform."""
        for platform, scheduler in ((SLURM, self.slurm), (KUBERNETES, self.kubernetes)):
            if scheduler is not None:
                yield platform, scheduler

    @property
    def every_seconds(self) -> dict[str, float]:
        """How often each collector of jobs runs."""
        return {_COLLECTORS[platform]: one.every.total_seconds() for platform, one in self.schedulers}

    def targets(self, inventory: Iterable[Target]) -> tuple[Target, ...]:
        """The machines to ask, beside those of the inventory: named after their scheduler."""
        listed = {device_key(target.name): target for target in inventory}
        return tuple(_target(platform, one.via, listed) for platform, one in self.schedulers)


def _target(platform: str, via: str, listed: dict[str, Target]) -> Target:
    found = _SSH.fullmatch(via)
    if found is None:
        return Target(platform, LOCAL, platform=platform)
    known = listed.get(device_key(found["host"])) or Target(platform, found["host"])
    ssh = replace(known.ssh, user=found["user"]) if found["user"] else known.ssh
    return Target(
        platform,
        known.address,
        platform=platform,
        timeout_seconds=known.timeout_seconds,
        ssh=ssh,
        zone=known.zone,
        file=known.file,
        line=known.line,
    )

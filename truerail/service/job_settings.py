"""Which schedulers are asked for their jobs, which hosts for NCCL's RAS, how, and what is shown of jobs."""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field, model_validator

from truerail.errors import SettingsError
from truerail.model import Secret, SshAccess, Target
from truerail.model.names import device_key, printable
from truerail.model.platforms import KUBERNETES, KUBERNETES_API, NCCL, OTHER_JOBS, PROMETHEUS_API, SLURM, SLURM_API
from truerail.model.target import RestAccess
from truerail.service.setting_values import Duration, Part, SecretRef, YesNo
from truerail.transport.fleet_transport import LOCAL

_SSH = re.compile(r"ssh (?:(?P<user>[A-Za-z0-9._-]+)@)?(?P<host>[A-Za-z0-9][A-Za-z0-9._-]*)")
_REST = re.compile(r"rest (?P<url>https?://[A-Za-z0-9.:\[\]_-]+|unix:/[^\s]+)")
IN_CLUSTER = "in-cluster"
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod has its token and the CA of the API: "Accessing the API from within a Pod" of Kubernetes."""
_MOST_HOSTS = 1000
_NAMESPACE, _MOST_SPACES = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", 100
AUTO: Final = "auto"
_COLLECTORS = {SLURM: "slurm_jobs", KUBERNETES: "k8s_pods", OTHER_JOBS: "reported_jobs"}
_APIS = {SLURM: SLURM_API, KUBERNETES: KUBERNETES_API}


def _one_of(why: str, words: Collection[str], *forms: re.Pattern[str]) -> AfterValidator:
    def checked(value: str) -> str:
        if value not in words and not any(form.fullmatch(value) for form in forms):
            raise ValueError(why)
        return value

    return AfterValidator(checked)


class Scheduler(Part):
    """How a scheduler is asked: with the commands that its collectors declare, all of which only read."""

    via: Annotated[str, _one_of("is neither local nor ssh HOST", (LOCAL,), _SSH)]
    """`local`: its clients are on this machine. `ssh HOST`: on that one, with the login that the inventory has."""
    every: Duration = timedelta(seconds=30)
    """How often its running jobs are read."""


class SchedulerApi(Scheduler):
    """A scheduler that may also be asked by HTTP."""

    via: Annotated[str, _one_of("is none of local, ssh HOST and rest URL", (LOCAL,), _SSH, _REST)]
    """As above; `rest URL`: its API, `https://head:6820` or `unix:/run/slurmrestd.sock`."""
    token: SecretRef | None = None
    """The token of an API."""
    user: str = ""
    """The user that the token is for: slurmrestd asks for it."""
    ca: Path | None = None
    """The CA that signs the API's certificate, if it is none of the system's."""


class KubernetesApi(SchedulerApi):
    """Kubernetes."""

    via: Annotated[
        str, _one_of("is none of local, ssh HOST, rest URL and in-cluster", (LOCAL, IN_CLUSTER), _SSH, _REST)
    ]
    """As above; `in-cluster`: the API of the cluster in which the service runs, with the token of its pod."""
    namespaces: Annotated[tuple[Annotated[str, Field(pattern=_NAMESPACE)], ...], Field(max_length=_MOST_SPACES)] = ()
    """The namespaces whose pods are read, by its API; empty: all."""

    @model_validator(mode="after")
    def _by_api(self) -> "KubernetesApi":
        if self.namespaces and self.via != IN_CLUSTER and not _REST.fullmatch(self.via):
            raise ValueError("namespaces need via: in-cluster or rest URL: kubectl is asked for those of all")
        return self


class Ras(Part):
    """NCCL's RAS: hosts that are asked which ranks of their job are missing or behind."""

    hosts: Literal["auto"] | Annotated[tuple[str, ...], Field(min_length=1, max_length=_MOST_HOSTS)]
    """One host of each job that is followed, by its name in the inventory: it answers for all ranks. `auto`: one of
    each known job on several hosts.
    """
    every: Duration = timedelta(seconds=30)
    """How often. Each answer makes all processes of the job report."""


class Inspector(Part):
    """The Prometheus that has what NCCL's Inspector writes: the bus bandwidth of each GPU."""

    via: Annotated[str, _one_of("is not rest URL", (), _REST)]
    """`rest URL`: `rest http://prometheus:9090`."""
    every: Duration = timedelta(minutes=1)
    """How often it is asked for the last two minutes."""
    token: SecretRef | None = None
    """A bearer token, if it needs one."""
    ca: Path | None = None
    """The CA that signs its certificate, if it is none of the system's."""


class JobSettings(Part):
    """Schedulers whose jobs are joined with causes. Each is off until it is set."""

    slurm: SchedulerApi | None = None
    """Slurm, by squeue and scontrol, or by slurmrestd."""
    kubernetes: KubernetesApi | None = None
    """Kubernetes, by kubectl and its own configuration, or by its API: get and list on pods are enough."""
    other: Scheduler | None = None
    """Any other scheduler, by the site's own command `truerail-jobs`."""
    ras: Ras | None = None
    """NCCL's RAS, on hosts of jobs."""
    inspector: Inspector | None = None
    """NCCL's Inspector, by the Prometheus that scrapes its files."""
    show_users: YesNo = True
    """Whether the names of jobs' users are shown and stored."""
    show_names: YesNo = True
    """Whether the names of jobs are shown and stored; else their ids alone."""

    @property
    def schedulers(self) -> Iterator[tuple[str, Scheduler]]:
        """Those that are set, by platform."""
        listed: dict[str, Scheduler | None] = {SLURM: self.slurm, KUBERNETES: self.kubernetes, OTHER_JOBS: self.other}
        return ((platform, one) for platform, one in listed.items() if one is not None)

    @property
    def every_seconds(self) -> dict[str, float]:
        """How often each collector of jobs runs."""
        every = {_COLLECTORS[platform]: one.every.total_seconds() for platform, one in self.schedulers}
        if self.inspector:
            every["nccl_inspector"] = self.inspector.every.total_seconds()
        return {**every, "nccl_ras": self.ras.every.total_seconds()} if self.ras and self.ras.hosts != AUTO else every

    def differing(self, before: "JobSettings") -> set[str]:
        """The schedulers, by platform, that these settings ask in another way than those before, or not at all."""
        known = {platform: one.model_copy(update={"every": None}) for platform, one in before.schedulers}
        now = {platform: one.model_copy(update={"every": None}) for platform, one in self.schedulers}
        return {platform for platform, one in known.items() if now.get(platform) != one}

    def targets(self, inventory: Iterable[Target]) -> tuple[Target, ...]:
        """The machines to ask, beside those of the inventory: named after their scheduler, or `nccl-HOST`. Raises
        SettingsError for a host that the inventory does not have.
        """
        listed = {device_key(target.name): target for target in inventory}
        schedulers = [_target(platform, one, listed) for platform, one in self.schedulers]
        named = () if self.ras is None or self.ras.hosts == AUTO else self.ras.hosts
        asked = [*schedulers, *(_ras_target(host, listed) for host in named)]
        return (*asked, _inspector_target(self.inspector)) if self.inspector else tuple(asked)


def _inspector_target(one: Inspector) -> Target:
    access = RestAccess(one.via.removeprefix("rest "), one.token, "", str(one.ca) if one.ca else "")
    return Target("nccl-inspector", "api", platform=PROMETHEUS_API, rest=access)


def _ras_target(host: str, listed: dict[str, Target]) -> Target:
    known = listed.get(device_key(host))
    if known is None:
        raise SettingsError([f"jobs.ras.hosts: the inventory has no host {printable(host, 80)!r}"])
    return ras_target(known)


def ras_target(known: Target) -> Target:
    """A host of the inventory once more, to be asked for NCCL's RAS."""
    return _beside(known, f"nccl-{known.name}", NCCL, known.ssh)


def _target(platform: str, scheduler: Scheduler, listed: dict[str, Target]) -> Target:
    if isinstance(scheduler, SchedulerApi) and (access := _access(platform, scheduler)):
        return Target(platform, "api", platform=_APIS[platform], rest=access)
    found = _SSH.fullmatch(scheduler.via)
    if found is None:
        return Target(platform, LOCAL, platform=platform)
    known = listed.get(device_key(found["host"])) or Target(platform, found["host"])
    ssh = replace(known.ssh, user=found["user"]) if found["user"] else known.ssh
    return _beside(known, platform, platform, ssh)


def _beside(known: Target, name: str, platform: str, ssh: SshAccess) -> Target:
    """A machine of the inventory once more, with a platform of its own."""
    found = Target(name, known.address, platform=platform, timeout_seconds=known.timeout_seconds, ssh=ssh)
    return replace(found, zone=known.zone, file=known.file, line=known.line)


def _access(platform: str, scheduler: SchedulerApi) -> RestAccess | None:
    """How its API is asked; None if it is asked by commands."""
    ca = str(scheduler.ca) if scheduler.ca else ""
    spaces = scheduler.namespaces if isinstance(scheduler, KubernetesApi) else ()
    if scheduler.via == IN_CLUSTER:
        host = os.environ.get("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        url = f"https://{f'[{host}]' if ':' in host else host}:{port}"
        token = scheduler.token or Secret("file", str(_ACCOUNT / "token"))
        return RestAccess(url, token, "", ca or str(_ACCOUNT / "ca.crt"), spaces)
    found = _REST.fullmatch(scheduler.via)
    if found is None:
        return None
    return RestAccess(found["url"], scheduler.token, scheduler.user, ca, spaces)

"""The setting `jobs`: which schedulers are asked, where and how often; and a service that asks one."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.fake_tower import settings as made
from tests.oncall_fabrics import SPINES, simulated
from truerail.analysis.published import JournalState
from truerail.model import Reading, SchedulerJob, Secret, Snapshot, SshAccess, Target
from truerail.model.target import RestAccess
from truerail.service.evaluator import Evaluator
from truerail.service.loading import load_settings
from truerail.service.polled_work import work_of
from truerail.service.settings import Settings

LEAST = "inventory: inventory.yaml\n"
HEAD = Target("head", "10.0.0.9", ssh=SshAccess(user="truerail", key="k", port=2222), timeout_seconds=7.0, zone="z")


def loaded(folder: Path, jobs: str) -> Settings:
    path = folder / "truerail.yaml"
    path.write_text(f"{LEAST}jobs: {jobs}\n", encoding="utf-8")
    return load_settings(path)


def test_a_scheduler_is_one_more_machine_that_is_polled(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "{slurm: {via: ssh head, every: 45s}, kubernetes: {via: local}}")
    work = work_of(settings, [HEAD], None)
    head, slurm, kubernetes = work.targets
    assert head is HEAD
    assert (slurm.name, slurm.platform, slurm.address, slurm.zone) == ("slurm", "slurm", "10.0.0.9", "z")
    assert (slurm.ssh, slurm.timeout_seconds) == (HEAD.ssh, 7.0)
    assert (kubernetes.name, kubernetes.platform, kubernetes.address) == ("kubernetes", "kubernetes", "local")
    assert (work.every_seconds["slurm_jobs"], work.every_seconds["k8s_pods"]) == (45.0, 30.0)
    (slurm,) = loaded(tmp_path, "{slurm: {via: ssh ops@login.example}}").jobs.targets([HEAD])
    assert (slurm.address, slurm.ssh.user) == ("login.example", "ops")
    assert work_of(loaded(tmp_path, "{show_users: no}"), [HEAD], None).targets == (HEAD,)
    assert loaded(tmp_path, "{slurm: {via: local}}").jobs.slurm is not None
    every = "inventory: i.yaml\nschedule: {every: {slurm_jobs: 5s}}\njobs: {slurm: {via: local}}\n"
    (tmp_path / "truerail.yaml").write_text(every)
    assert work_of(load_settings(tmp_path / "truerail.yaml"), [], None).every_seconds["slurm_jobs"] == 5.0
    assert loaded(tmp_path, "{slurm: {via: local, every: 2m}}").jobs.slurm.every == timedelta(minutes=2)  # type: ignore[union-attr]


def test_the_inspector_is_asked_by_prometheus(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "{inspector: {via: 'rest http://prometheus:9090', ca: /ca.pem}}")
    (asked,) = settings.jobs.targets([])
    assert (asked.name, asked.platform) == ("nccl-inspector", "prometheus_api")
    assert asked.rest == RestAccess("http://prometheus:9090", None, "", "/ca.pem")
    assert settings.jobs.every_seconds == {"nccl_inspector": 60.0}


def test_the_service_keeps_the_jobs_of_a_scheduler_that_falls_silent() -> None:
    simulation = simulated(SPINES)
    seen = simulation.snapshot()
    evaluator = Evaluator.begin(made(jobs={"show_users": False}))
    job = SchedulerJob("7", 7, "train", "ann", "RUNNING", ("gpu-001",), 8, int(seen.at.timestamp()))
    for number, reading in enumerate(
        (
            Reading("slurm", "slurm_jobs", seen.at, (job,)),
            Reading("slurm", "slurm_jobs", seen.at + timedelta(minutes=1), error="timed out"),
        )
    ):
        at = seen.at + timedelta(minutes=number)
        evaluated = evaluator.evaluate(
            simulation.plan, Snapshot(at, [*seen.readings, reading]), (), (), {}, JournalState(), (), (), at
        )
    jobs = evaluated.publication.round.jobs
    assert [(one.key, one.user, one.name) for one in jobs.running] == [("7", "", "train")]
    assert [(one.at, one.error) for one in jobs.away] == [(seen.at, "timed out")]
    assert jobs.known


def test_an_api_is_asked_with_a_token_that_is_read_when_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    jobs = "{slurm: {via: 'rest unix:/run/s', user: ann, token: {file: jwt}}, kubernetes: {via: in-cluster}}"
    slurm, kubernetes = loaded(tmp_path, jobs).jobs.targets([])
    assert (slurm.platform, slurm.rest) == ("slurm_api", RestAccess("unix:/run/s", Secret("file", "jwt"), "ann"))
    account = "/var/run/secrets/kubernetes.io/serviceaccount"
    assert kubernetes.rest == RestAccess(
        "https://[fd00::1]:6443", Secret("file", f"{account}/token"), "", f"{account}/ca.crt"
    )
    (given,) = loaded(tmp_path, "{kubernetes: {via: 'rest https://k:6443', ca: /ca.pem}}").jobs.targets([])
    assert given.rest == RestAccess("https://k:6443", None, "", "/ca.pem")
    (given,) = loaded(tmp_path, "{kubernetes: {via: in-cluster, namespaces: [ml, team-a]}}").jobs.targets([])
    assert given.rest is not None
    assert given.rest.namespaces == ("ml", "team-a")
    settings = loaded(tmp_path, "{other: {via: local, every: 1m}, kubernetes: {via: local}}")
    kubernetes, other = settings.jobs.targets([])
    assert (kubernetes.rest, other.platform, other.address) == (None, "jobs", "local")
    assert settings.jobs.every_seconds["reported_jobs"] == 60.0

"""Jobs that a scheduler's hooks report by themselves, and jobs over a reload of the settings."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from collector.reported_jobs import MOST_JOBS, MOST_NODES
from tests.api_client import Api, problem_of
from tests.fake_tower import settings as made
from tests.oncall_fabrics import SPINES, simulated
from tests.patience import until
from tests.watched_service import fabric_of, settings_for, watched
from truerail.analysis.published import JournalState
from truerail.analysis.running_jobs import Jobs, JobSource, RunningJob, jobs_of, settled
from truerail.errors import ConflictError, QueryError
from truerail.journal.job_memory import JobMemory
from truerail.model import Reading, SchedulerJob, Snapshot
from truerail.model.history import RowRange
from truerail.model.job_record import JobRecord
from truerail.service.evaluator import Evaluator
from truerail.service.hook_jobs import SOURCE, ReportedJobs

SIMULATION = simulated(SPINES)
SEEN = SIMULATION.snapshot()
AT = SEEN.at


def taken(reports: ReportedJobs, *jobs: dict[str, Any], complete: bool = False, at: datetime = AT) -> tuple[int, ...]:
    found = reports.take(json.dumps(jobs), at, complete=complete)
    return found.reported, found.ended, found.running


def held(reports: ReportedJobs) -> dict[str, SchedulerJob]:
    (reading,) = reports.joined(Snapshot(AT, [])).readings
    assert (reading.device, reading.collector) == (SOURCE, "reported_jobs")
    return {fact.job: fact for fact in reading.facts if isinstance(fact, SchedulerJob) and fact.job}


def test_a_job_runs_from_its_report_to_that_of_its_end() -> None:
    reports = ReportedJobs()
    assert reports.joined(SEEN) is SEEN
    assert taken(reports, {"job": 7, "nodes": "gpu-[001-002]", "start_at": 100}) == (1, 0, 1)
    assert taken(reports, {"job": "7", "nodes": ["gpu-001", "gpu-002"]}, {"job": "8", "nodes": "gpu-003"}) == (2, 0, 2)
    assert held(reports)["7"].start_at == 100, "the prolog of another node says it again"
    assert taken(reports, {"job": "7", "state": "completed"}, {"job": "none", "state": "FAILED"}) == (0, 1, 1)
    assert taken(reports, {"job": "7", "nodes": "gpu-001", "start_at": 200}) == (1, 0, 2), "requeued"
    assert taken(reports, {"job": "9", "nodes": "gpu-004"}, {"job": "7", "nodes": "gpu-001"}, complete=True) == (
        2,
        1,
        2,
    )
    assert {key: job.start_at for key, job in held(reports).items()} == {"9": None, "7": 200}
    assert taken(reports, {"job": "5+0", "nodes": "gpu-001"}, {"job": "5+1", "nodes": "gpu-002"}) == (2, 0, 4)
    (het,) = [one for one in jobs_in(reports) if one.key == "5"]
    assert het.hosts == ("gpu-001", "gpu-002")
    assert taken(reports, complete=True) == (0, 4, 0)
    assert not held(reports)


def jobs_in(reports: ReportedJobs) -> tuple[RunningJob, ...]:
    from truerail.analysis.round import Round

    return Round(SIMULATION.plan, reports.joined(SEEN)).jobs.running


@pytest.mark.parametrize(
    ("jobs", "why"),
    [
        ([{"job": "1"}], r"jobs\[0\]\.nodes is no list"),
        ([{"job": "1", "nodes": "n[0-999999999]"}], "expand to more than 100,000 names"),
        ([{"job": "1", "nodes": "a[1-99999]b[1-99999]"}], "expand to more than 100,000 names"),
        ([{"job": "1", "nodes": "n[1-"}], "its brackets do not match|not a list of nodes"),
        ([{"job": " ", "nodes": "n1"}], r"jobs\[0\]\.job is no id"),
        ([{"job": "1", "nodes": "n1", "start_at": "yesterday"}], r"start_at is no time"),
        ([{"job": "1", "nodes": "n1", "start_at": "2026-01-01T00:00:00"}], r"start_at has no zone"),
        ([{"job": "1", "nodes": "n1", "where": "x"}], "unknown field 'where'"),
        ([{"job": "1", "nodes": "n1"}] * (MOST_JOBS + 1), "10,001 jobs, at most 10,000"),
        (7, "not jobs"),
    ],
)
def test_a_report_that_is_none_changes_nothing(jobs: Any, why: str) -> None:
    reports = ReportedJobs()
    taken(reports, {"job": "7", "nodes": "gpu-001"})
    with pytest.raises(QueryError, match=why):
        reports.take(json.dumps(jobs), AT)
    assert list(held(reports)) == ["7"]


def test_reports_are_bounded_together() -> None:
    reports = ReportedJobs()
    half = MOST_NODES // 2
    taken(reports, {"job": "1", "nodes": f"n[1-{half}]"}, {"job": "2", "nodes": f"n[1-{half}]"})
    with pytest.raises(ConflictError, match="3 reported jobs on 100,001 nodes would run"):
        taken(reports, {"job": "3", "nodes": "m"})
    assert taken(reports, {"job": "1", "state": "TIMEOUT"}, {"job": "3", "nodes": "m"}) == (1, 1, 2)


def test_the_api_takes_one_job_or_many(api: Api) -> None:
    one = api.post("jobs", {"job": 1234, "nodes": "gpu-[001-002]", "gpus": 16, "user": "ann", "start_at": 100})
    assert (one.status_code, one.json()) == (202, {"reported": 1, "ended": 0, "running": 1})
    many = {"jobs": [{"job": "5", "nodes": ["gpu-003"], "end_at": "2026-11-24T00:00:00Z"}], "complete": True}
    assert api.post("jobs", many).json() == {"reported": 1, "ended": 1, "running": 1}
    assert held(api.tower.reported)["5"].end_at == int(datetime(2026, 11, 24, tzinfo=UTC).timestamp())
    for body, status, words in (
        ({"job": "1"}, 400, "nodes is no list"),
        ({"jobs": [{"job": "1", "nodes": "n[0-999999999]"}]}, 400, "100,000 names"),
        ({"job": "1", "nodes": "n1", "hosts": 1}, 422, "hosts"),
        ({"job": "a\u202eb", "nodes": "n1"}, 422, "job"),
        ({"job": "1", "nodes": "n1", "gpus": -1}, 422, "gpus"),
        ({"job": "1", "nodes": "n1", "name": "a\x00b"}, 422, "name"),
        ({"jobs": [], "complete": 0}, 422, "complete"),
        ({"job": "1", "nodes": "n1", "end_at": -1}, 422, "end_at"),
        ({"jobs": {"job": "1"}}, 422, "list"),
        ([], 422, "body"),
        (None, 422, "body"),
    ):
        assert words in problem_of(api.post("jobs", body), status)["detail"]
    for raw, status in (
        (b'{"job": "\\ud800", "nodes": "n1"}', 422),
        (b'{"job": "\xff"}', 400),
        (b'{"job": "1", "no', 422),
        (b"[" * 100_000, 400),
    ):
        problem_of(api.ask("POST", "jobs", content=raw, headers={"content-type": "application/json"}), status)
    assert list(held(api.tower.reported)) == ["5"]
    hostile = "\x1b[31mred\u202e\u200d"
    assert api.post("jobs", {"job": "6", "nodes": "gpu-004", "name": hostile, "user": hostile}).status_code == 202
    assert held(api.tower.reported)["6"].name == hostile
    (report,) = (api.json("//openapi.json")["paths"][path]["post"] for path in ["/api/v1/jobs"])
    assert len(report["requestBody"]["content"]["application/json"]["schema"]["oneOf"]) == 2


async def test_a_reported_job_is_evaluated_stored_and_known_after_a_restart(tmp_path: Path) -> None:
    def runs_of(front: Any) -> list[JobRecord]:
        now = datetime.now(UTC)
        return list(front.history.job_runs(now - timedelta(days=1), now + timedelta(days=1), page=RowRange(10)))

    fabric = fabric_of()
    settings = settings_for(tmp_path)
    host = next(name for name, device in fabric.plan.devices.items() if device.role.tier == 0)
    async with watched(settings, fabric) as front:
        await until(lambda: front.publication)
        report = [{"job": "7", "name": "llama", "nodes": [host, "cpu-1"], "gpus": 8}, {"job": "8", "nodes": host}]
        assert (await front.report_jobs(json.dumps(report), complete=False)).running == 2
        await until(lambda: front.publication and len(front.publication.round.jobs.running) == 2)
        await until(lambda: len(runs_of(front)) == 2)
    async with watched(settings, fabric) as front:
        await until(lambda: front.publication)
        assert front.publication is not None
        found = {job.key: job for job in front.publication.round.jobs.running}
        assert set(found) == {"7", "8"}
        again = found["7"]
        assert (again.name, again.hosts, again.unplanned, again.gpus) == ("llama", (host,), ("cpu-1",), 8)
        await front.report_jobs('[{"job": "7", "state": "COMPLETED"}]', complete=False)
        await until(lambda: front.publication and len(front.publication.round.jobs.running) == 1)
        await until(lambda: [run.key for run in runs_of(front) if run.ended_at] == ["7"])


def test_a_job_that_its_scheduler_also_lists_is_one_job() -> None:
    devices = SIMULATION.plan
    from truerail.model.index import Devices

    def job(key: str, *nodes: str) -> SchedulerJob:
        return SchedulerJob(key, None, None, None, "RUNNING", nodes)

    readings = [
        Reading("slurm", "slurm_jobs", AT, (job("7", "gpu-001", "gpu-002"),)),
        Reading(SOURCE, "reported_jobs", AT, (job("7", "gpu-002"), job("8", "gpu-001"))),
        Reading("jobs", "reported_jobs", AT, (job("7", "gpu-003"),)),
    ]
    found = jobs_of(Devices(devices), Snapshot(AT, readings)).running
    assert [(one.source, one.key) for one in found] == [("slurm", "7"), (SOURCE, "8"), ("jobs", "7")]


def test_a_reload_keeps_the_jobs_of_a_scheduler_that_is_asked_as_before() -> None:
    every = {"via": "local", "every": "1m"}
    evaluator = Evaluator.begin(made(jobs={"slurm": {"via": "local"}, "other": {"via": "ssh head"}}))
    job = SchedulerJob("7", 7, "train", "ann", "RUNNING", ("gpu-001",), 8, 100)

    def known(*readings: Reading, minutes: int) -> list[tuple[str, str, str]]:
        at = AT + timedelta(minutes=minutes)
        snapshot = Snapshot(at, [*SEEN.readings, *readings])
        shown = evaluator.evaluate(SIMULATION.plan, snapshot, (), (), {}, JournalState(), (), (), at)
        return [(one.source, one.user, one.name) for one in shown.publication.round.jobs.running]

    answers = [
        Reading("slurm", "slurm_jobs", AT, (job,)),
        Reading("jobs", "reported_jobs", AT, (job._replace(job="8"),)),
    ]
    silent = [structs.replace(one, facts=(), error="timed out", at=AT + timedelta(minutes=1)) for one in answers]
    assert known(*answers, minutes=0) == [("slurm", "ann", "train"), ("jobs", "ann", "train")]
    evaluator.settle(made(jobs={"slurm": every, "other": {"via": "ssh other"}, "show_users": False}))
    assert known(*silent, minutes=1) == [("slurm", "", "train")], "another machine answers for the other"
    evaluator.settle(made(jobs={"other": {"via": "ssh other"}}))
    assert known(*silent, minutes=2) == []


def test_the_runs_of_a_scheduler_that_is_no_longer_asked_end_with_its_last_answer() -> None:
    memory, later = JobMemory(), AT + timedelta(minutes=5)
    running = tuple(RunningJob("7", "slurm", source, hosts=("gpu-001",), start_at=100) for source in ("slurm", "b"))
    sources = (JobSource("slurm", "slurm", AT), JobSource("b", "slurm", AT))
    assert len(memory.update(Jobs(running, sources), {"slurm", "b"})) == 2
    assert not memory.update(Jobs(), {"slurm", "b", "gpu-001"}), "asked, and not heard yet"
    assert not memory.update(Jobs()), "who is asked is not known"
    one = Jobs(running[:1], (replace(sources[0], at=later),))
    (ended,) = memory.update(one, {"slurm", "gpu-001"})
    assert (ended.source, ended.last_seen, ended.ended_at) == ("b", AT, AT)
    assert not memory.update(one, {"slurm"})
    (back,) = memory.update(Jobs(running, (one.sources[0], replace(sources[1], at=later))), {"slurm", "b"})
    assert (back.id, back.ended_at) == (ended.id, None)
    restored = JobMemory()
    restored.restore([replace(ended, last_seen=None, ended_at=None)], later)
    (gone,) = restored.update(Jobs(), {"slurm"})
    assert (gone.id, gone.ended_at) == (ended.id, later)


def test_settled_jobs_have_no_names_that_are_hidden_now() -> None:
    job = RunningJob("7", "slurm", "slurm", "train", "ann")
    jobs = Jobs((job,), (JobSource("slurm", "slurm", AT),))
    (hidden,) = settled(jobs, show_users=False, show_names=False).running
    assert (hidden.user, hidden.name) == ("", "")
    assert settled(jobs, show_users=True, show_names=True).running == (job,)
    assert settled(jobs, show_users=True, show_names=True, other=["slurm"]) == Jobs()

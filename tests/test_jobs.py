"""Running jobs: joined from what schedulers report, and what affects them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from collector import collectors
from tests.api_client import Api
from tests.fake_tower import FakeHistory, FakeTower
from tests.oncall_fabrics import SPINES, all_hosts, simulated
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.analysis.running_jobs import Jobs as KnownJobs
from truerail.errors import NotFoundError, QueryError
from truerail.model import CauseKind, Device, PodOfJob, Reading, SchedulerJob, SchedulerNode, Snapshot
from truerail.model.history import NoHistory
from truerail.model.job_record import JobRecord
from truerail.model.life import Life, LifeState
from truerail.outputs.metrics.families import FabricWide
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.blast import QUESTION as BLAST
from truerail.questions.blast_answer import Blast
from truerail.questions.drain import drain
from truerail.questions.gate import QUESTION as GATE
from truerail.questions.gate import Gate, GateHost
from truerail.questions.job import QUESTION as JOB
from truerail.questions.job_answer import Job
from truerail.questions.jobs import QUESTION as JOBS
from truerail.questions.jobs import jobs
from truerail.questions.jobs_answer import Jobs
from truerail.questions.plan_repair import plan_repair
from truerail.questions.plan_repair_answer import RepairPlan
from truerail.questions.question import Asked
from truerail.rounds import publication_of
from truerail.simulator import Fault
from truerail.views.cause_jobs import hosts_by_cause
from truerail.views.plain import answer_from_json, as_json
from truerail.views.view import view_of

SIMULATION = simulated(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"))
AT = SIMULATION.snapshot().at
START = int(AT.timestamp()) - 7200
CLEAN = simulated(SPINES)


def slurm(*jobs: SchedulerJob, error: str = "", at: datetime = AT) -> Reading:
    return Reading("slurm", "slurm_jobs", at, jobs, error)


def record(job: str, *nodes: str, gpus: int | None = None, **more: Any) -> SchedulerJob:
    number = int(job.replace("_", "+").partition("+")[0])
    values: dict[str, Any] = {"job_id": number, "name": "train", "user": "ann", "state": "RUNNING", "start_at": START}
    return SchedulerJob(job=job, nodes=nodes, gpus=gpus, **{**values, **more})


def shown(*readings: Reading, simulation: Any = SIMULATION, before: KnownJobs | None = None) -> Published:
    seen = simulation.snapshot()
    snapshot = Snapshot(seen.at, [*seen.readings, *readings])
    return publication_of(Round(simulation.plan, snapshot, jobs_before=before))


def lived(publication: Published, since: datetime) -> Published:
    """The publication of a service that has seen every cause since then."""
    lives = {
        cause.key: Life(cause.key, LifeState.ONGOING, since, since, publication.at)
        for cause in publication.evaluation.causes
    }
    return replace(publication, cause_lives=lives)


def answered(publication: Published, on: str | None = None) -> Jobs:
    answer = jobs(publication, on)
    assert answer_from_json(Jobs, as_json(answer)) == answer
    assert max(map(len, answer_text(answer, Options(80)).splitlines())) <= 80
    return answer


def asked(publication: Published, what: str) -> Job:
    answer: Job = JOB.find(Asked(publication, NoHistory(), AT), {"nodes": what})
    assert answer_from_json(Job, as_json(answer)) == answer
    assert max(map(len, answer_text(answer, Options(80)).splitlines())) <= 80
    return answer


def affected_host(publication: Published) -> str:
    (hosts,) = hosts_by_cause(view_of(publication).sight).values()
    return publication.wiring.index.devices.names[int(hosts[0])]


def others(publication: Published, host: str) -> list[str]:
    return [one for one in all_hosts(publication).split(",") if one != host]


def test_a_job_is_affected_by_the_cause_on_its_host_for_as_long_as_both_last() -> None:
    host = affected_host(shown())
    well = others(shown(), host)
    publication = lived(
        shown(
            slurm(
                record("1", host, *well[:3], gpus=16),
                record("2", well[4], gpus=4),
                record("3", well[5], state="COMPLETED"),
                record("4", state="PENDING"),
            )
        ),
        AT - timedelta(hours=3),
    )
    answer = answered(publication)
    assert [(run.key, len(run.harm)) for run in answer.jobs] == [("1", 1), ("2", 0)]
    (harm,) = answer.jobs[0].harm
    assert (harm.kind, harm.hosts, harm.hosts_affected, harm.gpus, harm.waiting) == ("cable-swap", host, 1, 2, 14)
    assert (harm.since, harm.gpu_hours, harm.waiting_hours) == (datetime.fromtimestamp(START, UTC), 4.0, 28.0)
    assert (answer.jobs[0].gpu_hours, answer.jobs[0].waiting_hours) == (4.0, 28.0)
    assert answer.summary == "2 jobs run, 1 is affected: 4.0 GPU-hours so far"
    assert JOBS.good(answer) is False
    assert [run.key for run in answered(publication, harm.id).jobs] == ["1"]
    assert [run.key for run in answered(publication, harm.key).jobs] == ["1"]
    assert [run.key for run in answered(publication, well[4]).jobs] == ["2"]
    assert [run.key for run in answered(publication, "leaf-0").jobs] == ["1", "2"]
    assert [run.key for run in answered(publication, "spine-1").jobs] == ["1", "2"]


def test_what_is_not_known_of_gpus_and_times_stays_unknown() -> None:
    host = affected_host(shown())
    (run,) = answered(shown(slurm(record("1", host, gpus=None, start_at=None, user=None, name=None)))).jobs
    (harm,) = run.harm
    assert (run.gpus, run.start, harm.gpus, harm.waiting, harm.gpu_hours, run.gpu_hours) == (None,) * 6
    (run,) = answered(shown(slurm(record("1", host, gpus=1)))).jobs
    assert (run.harm[0].gpus, run.harm[0].waiting, run.harm[0].since, run.gpu_hours) == (1, 0, None, None)
    answer = asked(shown(slurm(record("1", host))), "1")
    assert "is affected; its GPU-hours are unknown." in answer.summary
    assert answered(shown(slurm(record("1", host)))).summary == "1 job runs, 1 is affected: GPU-hours unknown"
    both = shown(slurm(record("1", host), record("2", others(shown(), host)[0])))
    assert [run.key for run in jobs(both, None, "affected").jobs] == ["1"]
    assert [run.key for run in jobs(both, None, "running").jobs] == ["1", "2"]
    for state, why in (("ended", "need a time: since"), ("well", "no state 'well': affected, running, ended")):
        with pytest.raises(QueryError, match=why):
            jobs(both, None, state)
    two = lived(shown(slurm(record("1", host, gpus=8), record("2", host))), AT - timedelta(hours=1))
    assert answered(two).summary == "2 jobs run, 2 are affected: 4.0 GPU-hours so far or more"


def test_a_job_is_found_by_id_array_component_and_name() -> None:
    first, second, third, fourth = others(shown(), affected_host(shown()))[:4]
    publication = shown(
        slurm(
            record("324_5", first, job_id=324, gpus=8),
            record("324_3", second, job_id=327),
            record("5+0", third, gpus=1, name="het", end_at=START + 9000),
            record("5+1", fourth, job_id=6, gpus=2, name="het", start_at=START - 60, end_at=START + 9000),
        ),
        Reading("kubernetes", "k8s_pods", AT, (PodOfJob("ml/llama", "JobSet", "p", first, "Running", 8, 0),)),
    )
    assert asked(publication, "324_5").hosts == (first,)
    assert asked(publication, "327").hosts == (second,)
    assert asked(publication, " 5 ").hosts == (third, fourth)
    assert asked(publication, "6").hosts == (third, fourth)
    for step in ("5+0", "5+1", "5+1.0", "5.batch", "6.extern"):
        assert asked(publication, step).hosts == (third, fourth)
    for step in ("324_5.0", "324_5.interactive"):
        assert asked(publication, step).hosts == (first,)
    with pytest.raises(NotFoundError, match=r"no running job is '9\.0'"):
        asked(publication, "9.0")
    two = shown(slurm(record("7", first)), structs.replace(slurm(record("7", second)), device="slurm-b"))
    with pytest.raises(QueryError, match=r"2 running jobs are meant by '7': slurm:7 on .*; slurm-b:7 on "):
        asked(two, "7")
    assert asked(two, "slurm-b:7").hosts == (second,)
    run = asked(publication, "het").run
    assert run is not None
    assert (run.key, run.gpus, run.nodes) == ("5", 3, 2)
    assert (run.start, run.end) == tuple(datetime.fromtimestamp(START + more, UTC) for more in (-60, 9000))
    assert asked(publication, "ml/llama").hosts == asked(publication, "llama").hosts == (first,)
    with pytest.raises(QueryError, match=r"2 running jobs are meant by '324': 324_5 on .*; 324_3 on "):
        asked(publication, "324")
    assert asked(publication, first).run is None
    many = shown(slurm(*(record(str(number), first) for number in range(1, 8))))
    with pytest.raises(QueryError, match=r"7 running jobs .*; and 2 more"):
        asked(many, "train")


def test_records_of_one_name_are_one_job_and_no_time_is_beyond_the_calendar() -> None:
    host, other = others(shown(), affected_host(shown()))[:2]
    twice = shown(slurm(record("7", host, gpus=8), record("7", host, gpus=8), record("8", host, gpus=8)))
    assert [(job.key, job.hosts, job.gpus) for job in twice.round.jobs.running] == [
        ("7", (host,), 8),
        ("8", (host,), 8),
    ]
    differ = shown(slurm(record("7", host, gpus=8), record("7", other, gpus=8)))
    assert [(job.key, job.hosts, job.gpus) for job in differ.round.jobs.running] == [("7", (host, other), None)]
    answer = '{"jobs": [{"job_id": 7, "name": "x", "nodes": "n1", "job_state": "RUNNING", "start_time": 900000000000}]}'
    (late,) = collectors()["slurm_jobs"].read(answer, Device("slurm"))
    assert isinstance(late, SchedulerJob)
    assert late.start_at is None


def test_the_first_line_answers_the_question() -> None:
    host = affected_host(shown())
    publication = lived(shown(slurm(record("1", host, gpus=4))), AT - timedelta(hours=1))
    answer = asked(publication, "1")
    assert answer.summary.startswith("Yes: ")
    assert answer.summary.endswith(
        f"Job 1 is affected since {AT - timedelta(hours=1):%Y-%m-%d %H:%M} UTC, 2.0 GPU-hours so far."
    )
    assert answer.query == "1"
    clean = asked(shown(slurm(record("1", host, "cpu-1")), simulation=CLEAN), "1")
    assert clean.summary.startswith("No network fault is known")
    assert clean.not_in_plan == ("cpu-1",)
    with pytest.raises(NotFoundError, match=r"job 1 runs on cpu-\[1-2\], and the plan has none of these"):
        asked(shown(slurm(record("1", "cpu-1", "cpu-2"))), "1")


def test_cables_that_were_not_seen_are_named() -> None:
    seen = CLEAN.snapshot()
    host = all_hosts(shown(simulation=CLEAN)).split(",")[0]
    kept = [one for one in seen.readings if one.device != host and one.collector != "lldp_switch"]
    snapshot = Snapshot(seen.at, [*kept, slurm(record("1", host))])
    answer = asked(publication_of(Round(CLEAN.plan, snapshot)), "1")
    assert "4 of its 4 cables not seen." in answer.summary


def test_a_scheduler_that_is_away_leaves_its_jobs_as_they_were() -> None:
    host = affected_host(shown())
    before = shown(slurm(record("1", host))).round.jobs
    later = shown(slurm(error="connection refused"), before=before)
    answer = answered(later)
    assert [(run.key, run.stale, run.as_of) for run in answer.jobs] == [("1", True, AT)]
    assert f"slurm does not answer (connection refused), its jobs are as of {AT:%Y-%m-%d %H:%M} UTC" in answer.summary
    assert answer.action == "Check the access to slurm."
    assert "slurm does not answer: the job is as of" in asked(later, "1").summary
    never = answered(shown(slurm(error="connection refused")))
    assert (never.known, never.jobs, JOBS.good(never)) == (False, (), None)
    assert "No running job is known; slurm does not answer (connection refused), its jobs are unknown" in never.summary
    with pytest.raises(
        NotFoundError, match=r"no running job is .77. \(slurm does not answer.*the plan has no host .77."
    ):
        asked(later, "77")
    gone = shown(before=before).round.jobs
    assert (gone.running, gone.sources) == ((), ())


def test_without_a_scheduler_nothing_is_known_of_jobs() -> None:
    answer = answered(shown())
    assert (answer.known, answer.summary) == (False, "No scheduler is asked for jobs, so none is known")
    assert "jobs: {slurm: {via: local}}" in answer.action
    with pytest.raises(NotFoundError, match=r"no scheduler is asked for jobs"):
        asked(shown(), "1234")
    with pytest.raises(QueryError, match="no scheduler is asked"):
        asked(shown(), "gpu-[")
    idle = answered(shown(slurm()))
    assert (idle.known, idle.summary, JOBS.good(idle)) == (True, "No job runs", True)
    well = answered(shown(slurm(record("1", "gpu-001")), simulation=CLEAN))
    assert well.summary == "1 job runs, none is known to be affected by a fault of the network"


def test_names_that_a_site_keeps_to_itself_are_nowhere() -> None:
    host = affected_host(shown())
    for how in (KnownJobs(show_users=False), KnownJobs(show_names=False)):
        (run,) = answered(shown(slurm(record("1", host)), before=how)).jobs
        assert (run.user, run.name) == (("", "train") if not how.show_users else ("ann", ""))


def run_of(key: str, nodes: str, begun: datetime, ended: datetime | None, gpus: int | None = 4) -> JobRecord:
    return JobRecord(int(key), "slurm", "slurm", key, "train", "ann", nodes, gpus, begun, begun, ended, ended)


def test_jobs_that_ran_since_a_fault_began_are_named_with_those_that_have_ended() -> None:
    host, hour = affected_host(shown()), timedelta(hours=1)
    well = others(shown(), host)[0]
    publication = lived(shown(slurm(record("1", host, gpus=4))), AT - 3 * hour)
    history = FakeHistory(
        since=AT - 100 * hour,
        job_records=[
            run_of("1", host, datetime.fromtimestamp(START, UTC), None),
            run_of("2", f"{host},cpu-1", AT - 5 * hour, AT - hour),
            run_of("3", host, AT - 9 * hour, AT - 4 * hour),
            run_of("4", well, AT - 9 * hour, AT - hour, None),
            replace(run_of("5", "", AT - 9 * hour, None), source="other"),
            run_of("6", "", AT - 9 * hour, None),
        ],
    )

    def since(begin: str, on: str | None = None, state: str | None = None) -> Jobs:
        answer: Jobs = JOBS.find(Asked(publication, history, AT), {"on": on, "since": begin, "state": state})
        assert answer_from_json(Jobs, as_json(answer)) == answer
        assert state or "ended 2" in answer_text(answer, Options(100))
        return answer

    (cause,) = publication.evaluation.causes
    found = since("6h")
    assert [(run.key, run.ended, run.gpu_hours, run.stale) for run in found.jobs] == [
        ("1", None, 4.0, False),
        ("2", AT - hour, 4.0, False),
        ("3", AT - 4 * hour, 0.0, False),
        ("5", None, 0.0, True),
        ("6", AT, 0.0, False),
        ("4", AT - hour, 0.0, False),
    ]
    assert found.jobs[1].not_in_plan == ("cpu-1",)
    assert (found.running, found.ended, found.affected, found.since) == (2, 4, 2, AT - 6 * hour)
    assert found.summary.endswith("4 of them have ended; 2 are or were affected: 8.0 GPU-hours so far")
    assert [run.key for run in since("6h", None, "ended").jobs] == ["2", "3", "6", "4"]
    assert [run.key for run in since("6h", None, "affected").jobs] == ["1", "2"]
    assert (since("6h", None, "running").ended, since("6h", None, "running").running) == (0, 2)
    broke = since("fault", cause.id)
    assert (broke.since, [run.key for run in broke.jobs]) == (AT - 3 * hour, ["1", "2", "5", "6", "4"])
    asked_late = Asked(publication, replace(history, since=AT - hour), AT)
    early = JOBS.find(asked_late, {"on": None, "since": "3h", "state": None})
    assert f"; the journal begins {AT - hour:%Y-%m-%d %H:%M} UTC" in early.summary
    quiet = JOBS.find(Asked(shown(), FakeHistory(), AT), {"on": None, "since": "3h", "state": None})
    assert quiet.summary.startswith("No scheduler is asked for jobs, and the journal has none since")
    with pytest.raises(QueryError, match="no fault affects the fabric now"):
        JOBS.find(Asked(shown(), FakeHistory(), AT), {"on": None, "since": "fault", "state": None})
    with pytest.raises(QueryError, match=f"no fault affects {well} now"):
        since("fault", well)
    assert JOBS.journal({"since": None}) is not JOBS.journal({"since": "2h"})


def test_the_api_has_the_same_answers() -> None:
    host = affected_host(shown())
    tower = FakeTower(shown(slurm(record("1", host, gpus=4))))
    tower.history.job_records = [run_of("2", host, AT - timedelta(hours=2), AT - timedelta(hours=1))]
    with Api(tower) as api:
        assert [run["key"] for run in api.json("jobs", since="5h")["jobs"]] == ["1", "2"]
        assert api.json("jobs")["affected"] == 1
        assert api.json("job", nodes="1")["run"]["key"] == "1"
        assert api.json("jobs/1")["run"]["key"] == "1"
        assert api.get("jobs/77").status_code == 404
        assert api.get("jobs", on="nothing").status_code == 404


def test_metrics_count_jobs_and_say_which_scheduler_is_away() -> None:
    at = AT - timedelta(minutes=5)
    before = shown(slurm(record("1", "gpu-001"), record("2", "gpu-002"), at=at)).round.jobs
    later = shown(
        slurm(error="timed out"),
        Reading("k", "k8s_pods", AT),
        Reading("s2", "slurm_jobs", AT, error="x"),
        before=before,
    )
    shown_now = {
        (sample.name, sample.labels["source"]): sample.value
        for metric in FabricWide(later).collect()
        for sample in metric.samples
        if "source" in sample.labels
    }
    assert shown_now == {
        ("truerail_jobs_running", "slurm"): 2,
        ("truerail_jobs_running", "k"): 0,
        ("truerail_job_source_success", "slurm"): 0,
        ("truerail_job_source_success", "k"): 1,
        ("truerail_job_source_success", "s2"): 0,
        ("truerail_job_source_age_seconds", "slurm"): 300,
        ("truerail_job_source_age_seconds", "k"): 0,
    }


def affected_series(publication: Published) -> dict[tuple[str, ...], float]:
    """The series of affected jobs, by name and last label."""
    return {
        (sample.name, *(value for label, value in sample.labels.items() if label != "fabric")): sample.value
        for metric in FabricWide(publication).collect()
        for sample in metric.samples
        if sample.name.startswith(("truerail_job_affected", "truerail_job_info", "truerail_jobs_left"))
    }


def test_metrics_name_the_jobs_that_are_affected_and_no_others() -> None:
    host = affected_host(shown())
    assert affected_series(shown()) == {}
    assert affected_series(shown(slurm(error="timed out"))) == {}
    assert affected_series(shown(slurm(record("1", others(shown(), host)[0])))) == {("truerail_jobs_left_out",): 0}
    assert affected_series(shown(slurm(record("1", host, gpus=8), record("2", host)))) == {
        ("truerail_job_affected", "cable-swap"): 2,
        ("truerail_job_affected_gpus", "0"): 2,
        ("truerail_job_affected_gpus", "3"): 2,
        ("truerail_job_info", "1", "slurm"): 1,
        ("truerail_job_info", "2", "slurm"): 1,
        ("truerail_jobs_left_out",): 0,
    }
    many = affected_series(shown(slurm(*(record(str(number), host) for number in range(1, 53)))))
    assert sum(name == "truerail_job_info" for name, *_ in many) == 50
    assert many["truerail_jobs_left_out",] == 2


def test_a_scheduler_that_does_not_answer_is_a_finding() -> None:
    before = shown(slurm(record("1", "gpu-001"))).round.jobs
    for earlier, left in ((before, f"its jobs are as of {AT:%Y-%m-%d %H:%M} UTC"), (None, "its jobs are unknown")):
        publication = shown(slurm(error="connection refused"), simulation=CLEAN, before=earlier)
        (finding,) = publication.evaluation.findings
        assert (finding.rule, finding.subject, finding.severity) == ("TEL001", "slurm", "warning")
        assert finding.summary == f"slurm did not answer which jobs run (connection refused); {left}"
        (cause,) = publication.evaluation.causes
        assert (cause.kind, cause.subjects) == (CauseKind.UNREACHABLE, ("slurm",))


def test_a_users_only_job_is_meant_by_the_user_and_what_is_not_known_of_a_job_is_marked() -> None:
    first, second = others(shown(), affected_host(shown()))[:2]
    publication = shown(slurm(record("7", first, user="bo"), record("8", second, "cpu-1", user="ann")))
    assert asked(publication, "bo").hosts == (first,)
    assert asked(publication, "ann").summary.endswith(" 1 of its 2 hosts not in the plan.")
    answer = answered(publication)
    assert answer.summary == "2 jobs run, none is known to be affected by a fault of the network; of 1 it is not known"
    text = answer_text(answer, Options(120))
    assert "- 7  train" in text
    assert "? 8  train" in text
    assert "1 of its 2 hosts not in the plan" in text


def test_what_is_asked_before_work_on_the_fabric_knows_the_jobs_of_the_scheduler() -> None:
    host = affected_host(shown())
    first, second = others(shown(), host)[:2]
    publication = shown(slurm(record("7", first, second, "cpu-1", name="llama", gpus=16), record("8", host)))

    def blasted(of: str, on: Published = publication) -> Blast:
        answer: Blast = BLAST.find(Asked(on, NoHistory(), AT), {"of": of})
        assert answer_from_json(Blast, as_json(answer)) == answer
        return answer

    leaf = blasted("leaf-0")
    assert [(job.key, job.hosts_affected, job.hosts_total) for job in leaf.jobs] == [("7", 2, 3), ("8", 1, 1)]
    assert leaf.jobs_affected == 2
    text = answer_text(leaf, Options(120))
    assert "jobs       2 running" in text
    assert f"7  llama of ann: 2 of its 3 hosts ({leaf.jobs[0].hosts})" in text
    assert [job.key for job in blasted(first).jobs] == ["7"]

    away = shown(slurm(error="refused"), before=publication.round.jobs)
    assert (blasted("leaf-0", away).jobs_affected, len(blasted("leaf-0", away).jobs)) == (None, 2)
    assert "as last reported" in answer_text(blasted("leaf-0", away), Options(120))
    assert (blasted("leaf-0", shown()).jobs_affected, blasted("leaf-0", shown()).jobs) == (None, ())

    drained = drain(Asked(publication, NoHistory(), AT), "leaf-0")
    assert (drained.jobs_known, drained.can_drain_now, drained.not_in_plan) == (True, False, ())
    assert [job.name for job in drained.jobs] == ["7 (llama)", "8 (train)"]
    assert "Not now: 2 jobs (7 (llama) on 2 hosts, 8 (train) on 1 host) use it." in drained.summary
    idle = drain(Asked(shown(slurm(record("8", host))), NoHistory(), AT), first)
    assert idle.summary.startswith("Yes: no running job loses a connection.")
    gone = drain(Asked(away, NoHistory(), AT), "leaf-0")
    assert (gone.jobs_known, gone.can_drain_now, len(gone.jobs)) == (False, None, 2)
    assert "unknown, as last reported below" in answer_text(gone, Options(120))
    given = drain(Asked(publication, NoHistory(), AT), "leaf-0", f"mine={second}")
    assert [job.name for job in given.jobs] == ["mine"]

    def planned(on: Published) -> RepairPlan:
        return plan_repair(Asked(on, NoHistory(), AT))

    (busy,) = planned(publication).repairs
    assert busy.when != "now"
    assert "where 8 (train) runs: it needs a window" in busy.waits_for
    (free,) = planned(shown(slurm(record("7", first)))).repairs
    assert free.when == "now"
    assert planned(shown(slurm(error="refused"), before=KnownJobs())).jobs_known is False


def test_the_gate_names_the_drain_that_a_scheduler_would_need_and_the_one_it_has() -> None:
    host = affected_host(shown())
    states = {
        "idle": (SchedulerNode(f"{host}.cluster", ("IDLE",), None),),
        "drained": (SchedulerNode(host, ("IDLE", "DRAIN"), 'truerail: C4 "cable-swap"'),),
        "down": (SchedulerNode(host, ("DOWN",), None),),
    }

    def gated(*readings: Reading) -> GateHost:
        answer: Gate = GATE.find(Asked(shown(*readings), NoHistory(), AT), {"nodes": host, "rails": None, "strict": 0})
        assert answer_from_json(Gate, as_json(answer)) == answer
        return answer.hosts[0]

    def nodes(which: str) -> Reading:
        return Reading("slurm", "slurm_nodes", AT, states[which])

    lost = gated().summary
    assert gated().drain == gated().drained == ""
    reason = f'Reason="truerail: {lost}"'
    assert gated(slurm(), nodes("idle")).drain == f"scontrol update NodeName={host}.cluster State=DRAIN {reason}"
    assert gated(slurm()).drain == f"scontrol update NodeName={host} State=DRAIN {reason}"
    drained = gated(slurm(), nodes("drained"))
    assert (drained.drained, drained.drain) == ('DRAIN: truerail: C4 "cable-swap"', "")
    assert gated(slurm(), nodes("down")).drained == "DOWN: no reason given"
    pods = Reading("kubernetes", "k8s_pods", AT, ())
    assert gated(pods).drain == (
        f'kubectl cordon {host} && kubectl annotate node {host} --overwrite truerail.io/reason="truerail: {lost}"'
    )
    kubelets = {
        "well": (SchedulerNode(f"{host}.cluster", ("READY",), None),),
        "cordoned": (SchedulerNode(host, ("READY", "CORDONED"), "GpuXidError Xid79"),),
        "lost": (SchedulerNode(host, ("NOT_READY",), "Ready NodeStatusUnknown"),),
    }
    nodes_of = {name: Reading("kubernetes", "k8s_nodes", AT, facts) for name, facts in kubelets.items()}
    for schedulers in ((pods,), (pods, slurm())):
        assert gated(*schedulers, nodes_of["well"]).drain.startswith(f"kubectl cordon {host}.cluster && ")
    assert gated(pods, nodes_of["cordoned"]).drained == "CORDONED: GpuXidError Xid79"
    assert gated(pods, nodes_of["lost"]).drained == "NOT_READY: Ready NodeStatusUnknown"
    assert gated(pods, slurm(), nodes_of["well"], nodes("idle")).drain.startswith("scontrol update"), "Slurm has it too"
    assert gated(pods, slurm()).drain == "", "two schedulers: which one has it is not known"

"""Findings on running jobs: under their causes, muted with them, named in alerts; and what the network has to do with a
rank that is behind.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from rules import rules
from rules._examples import hears
from tests.test_jobs import AT, affected_host, answered, asked, lived, others, record, shown, slurm
from truerail.analysis.explained import AFFECTED_BY, Explained, with_explained
from truerail.analysis.published import Published
from truerail.analysis.rule import Case
from truerail.model import Finding, Neighbor, NetLink, SchedulerJob, TopologyUnit
from truerail.model.finding import Status
from truerail.model.history import Acknowledgement, MaintenanceWindow
from truerail.model.life import Mute
from truerail.model.nccl_facts import RasRank
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.job import QUESTION as JOB
from truerail.questions.where import where
from truerail.rounds import publication_of
from truerail.service.mutes import mutes
from truerail.testing.cases import explained_scene, scene
from truerail.views.faults import open_faults
from truerail.views.lines import cause_lines
from truerail.views.view import view_of

HOUR = timedelta(hours=1)
RAILS = "\n".join(
    f"gpu-{host}/nic{rail} leaf-{rail + 2 * (host > 2)}/swp{host} rail={rail}" for host in (1, 2, 3) for rail in (0, 1)
)


def jobs_of(publication: Published) -> list[Finding]:
    return [finding for finding in publication.evaluation.findings if finding.rule == "JOB001"]


def test_a_finding_for_each_job_stands_under_its_cause() -> None:
    host = affected_host(shown())
    first, second = record("1", host, gpus=8), record("2", host, others(shown(), host)[0], gpus=16, name=None)
    publication = lived(shown(slurm(first, second)), AT - 2 * HOUR)
    found = jobs_of(publication)
    (cause,) = publication.evaluation.causes
    assert {finding.id for finding in found} <= set(cause.explains)
    assert [finding.subject for finding in found] == [f"slurm/{key}@{cause.key}" for key in ("1", "2")]
    assert found[0].summary.startswith(f"job 1 (train) runs on {host} with a cable swap at {host}/")
    assert f"job 2 runs on {host}, 1 of its 2 hosts, with a cable swap at" in found[1].summary
    assert {finding.severity for finding in found} == {publication.evaluation.findings[0].severity}
    (line,) = cause_lines(view_of(publication))
    assert [(job.key, job.hosts_affected, job.gpus, job.waiting, job.gpu_hours) for job in line.jobs] == [
        ("1", 1, 4, 4, 8.0),
        ("2", 1, 4, 12, 8.0),
    ]
    assert (line.jobs_affected, line.jobs[1].waiting_hours, line.jobs[1].nodes) == (2, 24.0, 2)
    text = " ".join(answer_text(where(publication, host), Options(100)).split())
    assert f"affects job 1 (train) on {host}, 8.0 GPU-hours so far; job 2 on {host}, 8.0 GPU-hours so far" in text
    many = shown(slurm(*(record(str(number), host) for number in range(1, 6))))
    assert f"job 3 (train) on {host}; and 2 more" in " ".join(answer_text(where(many, host), Options(100)).split())
    (quiet,) = cause_lines(view_of(shown(slurm(record("9", others(shown(), host)[0])))))
    assert (quiet.jobs, quiet.jobs_affected) == ((), 0)
    unknown = cause_lines(view_of(shown(slurm(error="timed out"))))[0]
    assert (unknown.jobs, unknown.jobs_affected) == ((), None)
    (unasked,) = cause_lines(view_of(shown()))
    assert (unasked.jobs, unasked.jobs_affected) == ((), None)


def test_what_is_known_of_jobs_has_a_verdict() -> None:
    def verdict(*readings: object) -> tuple[Status, str]:
        evaluation = shown(*readings).evaluation  # type: ignore[arg-type]
        (found,) = (one for one in evaluation.verdicts if one.rule == "JOB001")
        assert [one.rule for one in evaluation.verdicts] == list(rules())
        return found.status, found.why

    host = affected_host(shown())
    assert verdict() == (Status.NOT_APPLICABLE, "")
    assert verdict(slurm()) == (Status.PASS, "")
    assert verdict(slurm(error="timed out")) == (
        Status.UNKNOWN,
        "slurm does not answer (timed out), its jobs are unknown",
    )
    before = shown(slurm(record("1", host))).round.jobs
    later = shown(slurm(error="timed out"), before=before).evaluation
    assert [one.subject.partition("@")[0] for one in later.findings if one.rule == "JOB001"] == ["slurm/1"]
    (found,) = (one for one in later.verdicts if one.rule == "JOB001")
    assert (found.status, found.why.endswith(f"its jobs are as of {AT:%Y-%m-%d %H:%M} UTC")) == (Status.FAIL, True)


def test_a_rule_on_causes_that_breaks_costs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(explained: object) -> list[Finding]:
        raise ValueError("a bug")

    host = affected_host(shown())
    monkeypatch.setitem(rules(), "JOB001", replace(rules()["JOB001"], evaluate=broken))
    evaluation = shown(slurm(record("1", host))).evaluation
    (found,) = (one for one in evaluation.verdicts if one.rule == "JOB001")
    assert (found.status, found.error) == (Status.ERROR, "ValueError: a bug")
    assert evaluation.causes


def test_a_job_is_muted_with_the_cause_that_affects_it() -> None:
    host = affected_host(shown())
    publication = shown(slurm(record("1", host)))
    (cause,) = publication.evaluation.causes
    (finding,) = jobs_of(publication)

    def muted(*windows: MaintenanceWindow, notes: tuple[Acknowledgement, ...] = ()) -> dict[str, Mute]:
        evaluation = publication.evaluation
        return mutes(publication.plan, evaluation.findings, evaluation.causes, notes, windows, AT)

    window = MaintenanceWindow(1, "device", host, AT - HOUR, AT + HOUR, "ann", "", AT)
    assert muted() == {}
    assert muted(window).keys() == set(cause.explains)
    assert muted(notes=(Acknowledgement(2, cause.key, "ann", "", AT),)).keys() == set(cause.explains)
    assert muted(notes=(Acknowledgement(2, finding.id, "ann", "", AT),)).keys() == {finding.id}
    one = next(explained for explained in cause.explains if explained != finding.id)
    assert muted(notes=(Acknowledgement(2, one, "ann", "", AT),)).keys() == {one}


def test_alerts_name_the_jobs_that_a_cause_affects() -> None:
    host = affected_host(shown())

    def summary(*jobs: SchedulerJob) -> str:
        publication = lived(shown(slurm(*jobs)), AT - HOUR)
        (fault,) = open_faults(publication.evaluated, publication.cause_lives, {})
        return fault.summary

    plain = summary()
    assert summary(record("1", host)) == f"{plain}; it affects job 1 (train)"
    five = summary(*(record(str(number), host, name=None, gpus=number) for number in range(1, 6)))
    assert five == f"{plain}; it affects jobs 5, 4, 3 and 2 more"


def test_findings_without_a_cause_leave_causes_as_they_are() -> None:
    (cause,) = SIMULATION_CAUSES
    finding = rules()["JOB001"].found("slurm/1@x", summary="s", action="A.")
    assert with_explained(SIMULATION_CAUSES, [finding]) == SIMULATION_CAUSES
    other = replace(finding, detail=((AFFECTED_BY, cause.key),))
    assert with_explained(SIMULATION_CAUSES, [other])[0].explains == (*cause.explains, other.id)


SIMULATION_CAUSES = shown().evaluation.causes


def apart() -> Published:
    """A job of three hosts, of which the third is on leaves of its own."""
    facts: dict[str, list[Neighbor | SchedulerJob]] = {
        f"gpu-{host}": [hears(f"nic{rail}", f"leaf-{rail + 2 * (host > 2)}/swp{host}") for rail in (0, 1)]
        for host in (1, 2, 3)
    }
    job = record("7", "gpu-1", "gpu-2", "gpu-3", gpus=24)
    return publication_of(scene(Case(facts | {"slurm": [job]}, plan=RAILS)))


def test_a_job_whose_hosts_are_apart_is_affected_without_a_cause() -> None:
    publication = apart()
    why = "gpu-3 of job 7 (train) has no way to its other 2 hosts on rails 0, 1: no uplinks join their leaves"
    (run,) = answered(publication).jobs
    assert (run.findings, run.harm, run.affected, run.gpu_hours) == ((why,), (), True, None)
    assert answered(publication).affected == 1
    answer = asked(publication, "7")
    assert answer.summary.startswith(f"Yes: {why}. ")
    assert JOB.good(answer) is False


def ranked(*ranks: RasRank, counted: bool = False, leaves: bool = True) -> Explained:
    """A fabric in which every cable is seen where it is planned, and what NCCL's RAS reports of a job."""
    facts: dict[str, list[Neighbor | RasRank]] = {}
    for line in RAILS.splitlines():
        a, b, _ = line.split()
        for here, there in ((a, b), (b, a)) if leaves else ((a, b),):
            device, port = here.split("/")
            facts.setdefault(device, []).append(hears(port, there))
    rates = {line.split()[0]: {"tx_bytes": 1e9, "rx_bytes": 1e9} for line in RAILS.splitlines()} if counted else {}
    facts["gpu-1"] += ranks
    return explained_scene(scene(Case(facts, plan=RAILS, rates=rates)))


def said(explained: Explained) -> list[str]:
    """What JOB007 finds."""
    return [finding.summary for finding in rules()["JOB007"].look(explained).findings]


def test_a_rank_is_not_the_networks_only_where_all_of_its_path_is_known() -> None:
    behind = RasRank("0xabc", 3, "gpu-2", 1, "running", True, 90, 100)
    begin = "rank 3 of 0xabc on gpu-2 (GPU 1) is behind: 90 of 100 operations; "
    unknown = f"{begin}whether it is the network is not known: "
    assert said(ranked(behind)) == [f"{unknown}counters of two rounds were not read"]
    counted = ranked(behind, counted=True)
    assert said(counted)[0].startswith(f"{unknown}rules that were not evaluated on all of it: ")
    assert said(replace(counted, verdicts=())) == [f"{begin}not the network: no finding on its 1 cable"]
    assert said(ranked(behind, leaves=False)) == [f"{unknown}leaf-1 was not read"]
    unseen = explained_scene(scene(Case({"gpu-1": [behind], "gpu-2": [NetLink("nic1")]}, plan=RAILS)))
    assert said(unseen) == [f"{unknown}1 of its 1 cable not seen where planned"]
    assert said(ranked(behind._replace(gpu=None, state="dead")))[0].startswith("rank 3 of 0xabc on gpu-2 is dead; ")
    worst = said(ranked(behind, behind._replace(rank=4, state="missing"), behind._replace(rank=5)))
    assert [one.partition(" of ")[0] for one in worst] == ["rank 4"]


def topology_findings(*units: TopologyUnit) -> list[tuple[str, str]]:
    """What JOB008 finds of this topology on a clean fabric of two groups that spines do not join."""
    lines = (f"gpu-{host}/nic0 leaf-{(host - 1) // 2}/swp{host} rail=0" for host in (1, 2, 3, 4))
    facts: dict[str, list[Neighbor | TopologyUnit]] = {
        f"gpu-{host}": [hears("nic0", f"leaf-{(host - 1) // 2}/swp{host}")] for host in (1, 2, 3, 4)
    }
    explained = explained_scene(scene(Case(facts | {"slurm": [*units]}, plan="\n".join(lines))))
    return [(one.subject, one.summary) for one in rules()["JOB008"].look(explained).findings]


def test_a_schedulers_topology_is_compared_with_what_is_seen() -> None:
    one, two = TopologyUnit("a", "switch", ("gpu-1", "gpu-2")), TopologyUnit("b", "switch", ("gpu-3", "gpu-4"))
    assert topology_findings(one, two) == []
    assert topology_findings(one, TopologyUnit("b", "switch", ("gpu-4", "gpu-1", "gpu-3"))) == [
        ("gpu-1", "topology of slurm: gpu-1 is in several switches: Slurm takes one of them; and 1 more")
    ]
    ((subject, summary),) = topology_findings(one, two, TopologyUnit("root", "switch", (), ("a", "b", "c")))
    assert subject == "slurm"
    assert summary == (
        "topology of slurm: root has the child c, which is not defined: slurmctld does not start; and 1 more"
    )
    ((_, joined),) = topology_findings(one, two, TopologyUnit("root", "switch", (), ("a", "b")))
    assert joined == ("topology of slurm: root joins the part of leaf-0, the part of leaf-1, which no uplinks connect")

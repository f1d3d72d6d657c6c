"""What schedulers answer: beyond the recordings, hostile and cut answers, and how a scheduler's machine is polled."""

import json
from pathlib import Path
from time import process_time

import pytest

from collector import collectors
from truerail.errors import UnreadableError
from truerail.model import Device, PodOfJob, Role, SchedulerJob, TopologyUnit
from truerail.model.fact_kinds import KINDS
from truerail.model.platforms import APART
from truerail.poller.questions import applicable, questions_apart

ANY = Device("slurm")
RECORDINGS = Path(__file__).parent / "recordings"
ROW = "7\x1f7\x1fN/A\x1fRUNNING\x1fgpu-1\x1f1\x1fN/A\x1f1795352249\x1fann\x1flab\x1ftrain\x1f{}\n"


def jobs(answer: str) -> list[SchedulerJob]:
    return [fact for fact in collectors()["slurm_jobs"].read(answer, ANY) if isinstance(fact, SchedulerJob)]


def test_a_long_name_costs_its_own_end_and_not_the_answer() -> None:
    for answer in (ROW.format("x" * 20_000), '{"jobs": [{"job_state": "RUNNING", "name": "' + "x" * 20_000 + '"}]}'):
        (job,) = jobs(answer)
        assert job.name == "x" * 1024


def test_names_cannot_ask_for_more_nodes_than_slurm_has() -> None:
    assert len(jobs(ROW.replace("gpu-1\x1f1", "n[1-1000]x[1-100]\x1f100000").format("x"))[0].nodes) == 100_000
    for nodes in ("n[1-1000]x[1-201]", "n[1-999999999]"):
        with pytest.raises(UnreadableError, match=r"expand to more than 200,000 names"):
            jobs(ROW.replace("gpu-1", nodes).format("x"))


@pytest.mark.parametrize("name", ["slurm_jobs", "slurm_nodes", "k8s_pods"])
def test_an_answer_cut_inside_a_line_is_never_read_in_part(name: str) -> None:
    cuts = 0
    for case in sorted((RECORDINGS / name).glob("*/facts.json")):
        answer = case.with_name("answer.txt").read_bytes().decode()
        for at in range(1, len(answer.rstrip()), 7):
            if answer[at - 1] != "\n" and answer[:at].strip():
                cuts += 1
                with pytest.raises(UnreadableError):
                    collectors()[name].read(answer[:at], ANY)
    assert cuts > 20


def test_the_size_of_a_yaml_is_bounded() -> None:
    with pytest.raises(UnreadableError, match="larger than 8,388,608 characters"):
        collectors()["slurm_topology"].read("---\n" + "- topology: a\n" * 700_000, ANY)


def test_a_record_is_bounded_and_a_controller_that_is_away_is_not_an_empty_queue() -> None:
    with pytest.raises(UnreadableError, match=r"a record of 1,\d\d\d,\d\d\d characters"):
        jobs("JobId=1 JobName=" + "x" * 1_100_000 + "\n")
    for name in ("slurm_jobs", "slurm_nodes", "slurm_topology"):
        with pytest.raises(UnreadableError):
            collectors()[name].read(
                "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", ANY
            )


def test_a_row_of_sinfo_is_bounded() -> None:
    with pytest.raises(UnreadableError, match="line 2: not a row of sinfo"):
        collectors()["slurm_nodes"].read("REASON USER TIMESTAMP NODELIST\n" + "x " * 20_000 + "\n", ANY)


def test_a_row_of_squeue_with_many_blanks_is_refused_at_once() -> None:
    header = "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n"
    started = process_time()
    for row in ("1 p a u R 0:01 1" + " " * 100_000, "1 p" + " " * 100_000 + "a u R 0:01 1", "1 p " + "1 R " * 30_000):
        with pytest.raises(UnreadableError, match="line 2: not a row of squeue"):
            jobs(f"{header}{row}\n")
    assert process_time() - started < 5


def pods(*labels: dict[str, str], gpus: tuple[int, ...] = ()) -> list[tuple[str, str, int | None]]:
    """Job, kind and rank of pods with these labels; those without a GPU do not count."""
    items = [
        {
            "metadata": {"name": f"p{at}", "namespace": "ml", "labels": one},
            "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": gpus[at] if gpus else 8}}}]},
            "status": {"phase": "Running"},
        }
        for at, one in enumerate(labels)
    ]
    facts = collectors()["k8s_pods"].read(json.dumps({"kind": "PodList", "items": items}), ANY)
    return [(fact.job, fact.kind, fact.rank) for fact in facts if isinstance(fact, PodOfJob)]


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("kueue.x-k8s.io/pod-group-name", "PodGroup"),
        ("scheduling.x-k8s.io/pod-group", "PodGroup"),
        ("skypilot-cluster-name", "SkyPilot"),
    ],
)
def test_plain_pods_of_a_group_are_one_job(label: str, kind: str) -> None:
    """Kueue's plain pods (sites/en/docs/tasks/run/plain_pods.md), coscheduling, SkyPilot's pods of a cluster."""
    assert pods({label: "train"}, {label: "train"}) == [("ml/train", kind, None)] * 2
    assert pods({}) == [("ml/p0", "Pod", None)]


def test_pods_of_several_parts_of_a_job_have_no_rank_by_their_place_in_the_part() -> None:
    """Volcano's tasks and a JobSet's replicated jobs count from 0 each; a launcher without a GPU is no part."""

    def task(spec: str, index: int) -> dict[str, str]:
        return {"volcano.sh/job-name": "v", "volcano.sh/task-spec": spec, "volcano.sh/task-index": str(index)}

    def job(name: str, index: int) -> dict[str, str]:
        of_set = {"jobset-name": "s", "replicatedjob-name": name, "job-index": str(index)}
        return {
            **{f"jobset.sigs.k8s.io/{key}": value for key, value in of_set.items()},
            "batch.kubernetes.io/job-completion-index": "0",
        }

    def ranks(*labels: dict[str, str], gpus: tuple[int, ...] = ()) -> list[int | None]:
        return [rank for _, _, rank in pods(*labels, gpus=gpus)]

    assert ranks(task("master", 0), task("worker", 0), task("worker", 1)) == [0, 1, 2]
    assert ranks(task("mpimaster", 0), task("mpiworker", 0), task("mpiworker", 1), gpus=(0, 8, 8)) == [0, 1]
    assert ranks(task("prefill", 0), task("decode", 0)) == [None, None]
    assert ranks(job("driver", 0), job("workers", 0), job("workers", 1), gpus=(0, 8, 8)) == [0, 1]
    assert ranks(job("learner", 0), job("actor", 0)) == [None, None]
    assert ranks({"volcano.sh/job-name": "v", "volcano.sh/task-index": "3"}) == [3]
    assert ranks(task("master", 0), {**task("worker", 0), "volcano.sh/task-index": "x"}) == [0, None]


def test_nothing_is_an_answer_where_nothing_runs() -> None:
    assert jobs("") == jobs("\n") == jobs("No jobs in the system\n") == []
    with pytest.raises(UnreadableError, match="empty answer"):
        collectors()["slurm_nodes"].read("", ANY)
    units = collectors()["slurm_topology"].read("# no switches yet\n", ANY)
    assert [one for one in units if isinstance(one, TopologyUnit)] == []


def test_a_scheduler_is_asked_for_its_jobs_and_nothing_else() -> None:
    assert set(applicable(Role.HOST, "slurm")) == {"slurm_jobs", "slurm_nodes", "slurm_topology"}
    assert set(applicable(Role.HOST, "kubernetes")) == {"k8s_pods", "k8s_nodes"}
    assert not {"slurm_jobs", "k8s_pods"} & set(applicable(Role.HOST, "linux"))
    assert questions_apart("slurm", ["slurm_jobs", "lldp_host"]) == ("slurm_jobs",)
    assert all(questions_apart(platform, None) for platform in APART)
    assert all(kind in KINDS for name in applicable(Role.HOST, "slurm") for kind in collectors()[name].yields)

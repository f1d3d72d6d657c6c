"""What schedulers answer: beyond the recordings, hostile and cut answers, and how a scheduler's machine is polled."""

import json
from pathlib import Path
from time import process_time

import pytest

from collector import collectors
from tests.draws import draws
from truerail.errors import UnreadableError
from truerail.model import Device, PodOfJob, Role, SchedulerJob, SchedulerNode, TopologyUnit
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
        for at in range(1, len(answer.rstrip()), draws(31, 7)):
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


def nodes(answer: str) -> list[SchedulerNode]:
    return [fact for fact in collectors()["slurm_nodes"].read(answer, ANY) if isinstance(fact, SchedulerNode)]


def test_the_columns_of_sinfo_that_a_site_asks_for() -> None:
    table = (
        "NODELIST      STATE     NODES  GRES              REASON\n"
        "g[001-002]    idle      2      gpu:h100:8(S:0-1) none\n"
        "g003          drained*  1      gpu:nvidia        cable of rail 3\n"
    )
    assert [(node.node, node.states, node.gpus, node.reason) for node in nodes(table)] == [
        ("g001", ("IDLE",), 8, None),
        ("g002", ("IDLE",), 8, None),
        ("g003", ("DRAIN", "NOT_RESPONDING"), None, "cable of rail 3"),
    ]
    assert [node.node for node in nodes("HOSTNAMES|CPUS(A/I/O/T)|STATE\ng1|0/8/0/8|idle\ng1|0/8/0/8|idle\n")] == ["g1"]
    for cut in ("STATE NODELIST\nidle g1,g\n", "STATE NODES NODELIST\nidle 3 g[1-2]\n", "STATE NODELIST\nidle\n"):
        with pytest.raises(UnreadableError, match=r"line 2: \d of (?:unknown|3) nodes"):
            nodes(cut)
    with pytest.raises(UnreadableError, match="not a node of scontrol"):
        nodes("STATE NODELIST STATE\nidle g1 idle\n")


def test_a_table_of_squeue_without_what_a_job_needs_says_so() -> None:
    with pytest.raises(UnreadableError, match="a table needs the columns JOBID, NODES"):
        jobs("JOBID USER NODELIST\n7 ann g1\n")


def test_a_row_of_squeue_with_many_blanks_is_refused_at_once() -> None:
    header = "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n"
    started = process_time()
    blanks, refused = "more than 512 blanks in a row", "line 2: not a (?:row of squeue|state of a job)"
    rows = {"1 p a u R 0:01 1" + " " * 100_000: blanks, "1 p" + " " * 100_000 + "a u R 0:01 1": blanks}
    rows |= {"1 p a u R 0:01 1" + (" " * 500 + "x") * 200: refused, "1 p " + "1 R " * 30_000: refused}
    for row, why in rows.items():
        with pytest.raises(UnreadableError, match=why):
            jobs(f"{header}{row}\n")
    assert process_time() - started < 5


ASKED = """     JOBID      QOS ACCOUNT      NAME     USER ST       TIME  TIME_LEFT NODE   TRES_PER_NODE NODELIST(REASON)
    141091   normal   acct1  my job 8    user1 PD       0:00    8:00:00     1             N/A (Nodes are DOWN, DRAINED)
 141071_[1-3] normal  acct1      job6    user1 PD       0:00    4:00:00     1      gres/gpu:1 (Resources)
  141070_2   normal   acct3      job4    user4  R    3:01:40   20:58:20     2 gres/gpu:h100:4 g[009-010]
    140987   normal   acct3      job4    user4 CG    3:01:40   20:58:20     2    gres/gpu:nvi g[011-012]
"""
"""The default columns of a site (Alpine, Boulder), the count of its GPUs cut by a narrow column."""


def test_the_columns_of_squeue_that_a_site_asks_for() -> None:
    assert [(job.job, job.name, job.state, job.nodes, job.gpus) for job in jobs(ASKED)] == [
        ("141091", "my job 8", "PENDING", (), None),
        ("141071_[1-3]", "job6", "PENDING", (), None),
        ("141070_2", "job4", "RUNNING", ("g009", "g010"), 8),
        ("140987", "job4", "COMPLETING", ("g011", "g012"), None),
    ]
    assert [job.job_id for job in jobs(ASKED)] == [141091, 141071, None, 140987]
    asked = "JOBID|USER|STATE|NODES|NODELIST|START_TIME|END_TIME|NAME\n"
    (first, second) = jobs(
        f"$ squeue -o ...\n{asked}7|ann|RUNNING|1|g1|2026-11-01T10:00:00|2026-11-01T12:00:00+0200|a b\n"
        "8|ann|PENDING|1||N/A|2026-13-01T10:00:00|c\n"
    )
    assert (first.name, first.nodes, first.start_at, first.end_at) == ("a b", ("g1",), 1793527200, 1793527200)
    assert (second.name, second.nodes, second.start_at, second.end_at) == ("c", (), None, None)
    assert jobs("JOBID ST NODES NODELIST\n7 PD 1\n8 R 1 g1\n")[1].nodes == ("g1",)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("g[009-010]", "g[009-011]", "line 4: 3 nodes in a job of 2"),
        ("     2 gres/gpu:h100:4", "     x gres/gpu:h100:4", "line 4: not a row of squeue"),
        ("  141070_2", "  x", "line 4: not a row of squeue"),
        ("CG    3:01:40", "CG", "line 5: not a row of squeue"),
        ("     QOS ", " COMMENT ", "line 2: not a row of squeue"),
        ("g[011-012]\n", "g[011-012]", "cut short"),
        (" ST ", " XX ", "not a job"),
        ("ACCOUNT", "    QOS", "not a job"),
        ("NODELIST(REASON)", "          REASON", "not a job"),
    ],
)
def test_rows_below_asked_columns_that_are_not_understood(old: str, new: str, why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        jobs(ASKED.replace(old, new, 1))


def test_rings_and_toruses_are_units_of_a_topology() -> None:
    """topology.yaml(5) and topology.conf(5) of Slurm 26.05."""

    def units(answer: str) -> list[tuple[str, str, tuple[str, ...]]]:
        facts = collectors()["slurm_topology"].read(answer, ANY)
        return [(unit.name, unit.kind, unit.nodes) for unit in facts if isinstance(unit, TopologyUnit)]

    text = (
        "- topology: a\n  flat:\n    alpha_step_rank: true\n"
        "- topology: b\n  ring:\n    rings:\n      - {ring: r0, nodes: 'n[1-2]'}\n"
        "- topology: c\n  torus3d:\n    toruses:\n      - {name: pod1, dims: {x: 2}, nodes: 'n[3-4]'}\n"
        "      - name: pod2\n        regions:\n          - {anchor: {x: 0}, nodes: 'n[5-6]'}\n          - {nodes: n8}\n"
    )
    assert units(text) == [
        ("r0", "ring", ("n1", "n2")),
        ("pod1", "torus", ("n3", "n4")),
        ("pod2", "torus", ("n5", "n6", "n8")),
    ]
    assert units("RingName=r0 Nodes=n[1-2]\n") == [("r0", "ring", ("n1", "n2"))]


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

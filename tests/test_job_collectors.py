"""What schedulers answer: beyond the recordings, large and cut answers, and how a scheduler's machine is polled."""

from pathlib import Path
from time import process_time

import pytest

from collector import collectors
from tests.draws import draws
from truerail.errors import UnreadableError
from truerail.model import Device, Role, SchedulerJob
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


def test_a_scheduler_is_asked_for_its_jobs_and_nothing_else() -> None:
    assert set(applicable(Role.HOST, "slurm")) == {"slurm_jobs", "slurm_nodes", "slurm_topology"}
    assert set(applicable(Role.HOST, "kubernetes")) == {"k8s_pods", "k8s_nodes"}
    assert not {"slurm_jobs", "k8s_pods"} & set(applicable(Role.HOST, "linux"))
    assert questions_apart("slurm", ["slurm_jobs", "lldp_host"]) == ("slurm_jobs",)
    assert all(questions_apart(platform, None) for platform in APART)
    assert all(kind in KINDS for name in applicable(Role.HOST, "slurm") for kind in collectors()[name].yields)

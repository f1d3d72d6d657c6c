"""`truerail nccl`: a job's log over a simulated fabric, findings on its path, and when it is not the network."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.nccl.drawn import Drawn, draw
from collector import collectors
from tests.ports import free_port
from truerail.analysis.nccl.job_path import job_path
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import CommandError
from truerail.model import Device, Evaluation, NotEvaluated, Port, Reading, Snapshot, Status, Verdict
from truerail.questions.nccl import nccl_answer
from truerail.questions.nccl_answer import nccl_text
from truerail.rounds import evaluate

SWAPPED, HALF = 29, 7
"""Seeds: two cables of a host of the job are swapped; the log has one end of each connection."""


@pytest.fixture(scope="module")
def swapped(tmp_path_factory: pytest.TempPathFactory) -> tuple[Drawn, Path]:
    drawn, place = draw(SWAPPED), tmp_path_factory.mktemp("nccl")
    drawn.simulation.write(place)
    (place / "job.log").write_text(drawn.log)
    return drawn, place


def run(place: Path, *words: str) -> tuple[int, str]:
    files = [str(place / "job.log"), "--plan", str(place / "plan.csv"), "--from", str(place / "capture")]
    done = CliRunner().invoke(app, ["nccl", *files, *words])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.stdout


def test_a_swapped_cable_is_a_finding_on_the_path(swapped: tuple[Drawn, Path]) -> None:
    drawn, place = swapped
    code, text = run(place, "--format", "json")
    answer = json.loads(text)
    assert (code, answer["network"]) == (1, "fault")
    cause = drawn.simulation.truth.causes[0]
    assert set(cause.subjects) <= {one["subject"] for one in answer["findings"] if one["ranks"]}
    assert {(one["channel"], one["from_rank"], one["to_rank"]) for one in answer["crossings"]} == {
        (channel, source, target) for channel, _, source, target in drawn.crossings
    }
    for hop in answer["hops"]:
        key = (hop["host"], hop["channel"], hop["connection"] or 0, hop["from_rank"], hop["to_rank"], hop["direction"])
        assert set(hop["rails"]) == drawn.rails[key]


def test_text_has_the_findings_and_with_details_every_hop(swapped: tuple[Drawn, Path]) -> None:
    drawn, place = swapped
    _, short = run(place)
    _, whole = run(place, "--details")
    assert short.startswith("✗ The network: ")
    assert "Findings on the path" in short
    assert "Connections that cross rails" in short
    assert "Hops: rank" not in short
    assert whole.count(" -> rail ") == len(drawn.rails)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--from", "a", "--inventory", "b"), "not both"),
        (("--plan", "{place}/plan.csv"), "no lines of NCCL"),
        ((), "no lines of NCCL"),
    ],
)
def test_what_is_missing_is_said(swapped: tuple[Drawn, Path], tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    log = tmp_path / "other.log"
    log.write_text("\n")
    done = CliRunner().invoke(app, ["nccl", str(log), *(word.format(place=swapped[1]) for word in words)])
    assert isinstance(done.exception, CommandError)
    assert why in str(done.exception)
    log.write_text("another log\n")
    done = CliRunner().invoke(app, ["nccl", str(log), "--plan", str(swapped[1] / "plan.csv")])
    assert "line 1: not a log of NCCL" in str(done.exception)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "g24:1188:1201 [1] NCCL INFO CPU/1 (1/1/1)\ng24:1188:1201 [1] NCCL INFO + PCI[12.0] - GPU/83000 (6)\n",
            "read: 2 lines of NCCL of g24, a host's topology (GRAPH)",
        ),
        ("# nThread 1 nGpus 8\n", "read: 0 lines of NCCL, a table of nccl-tests"),
        (
            "".join(f"h{n}:3442:3442 [0] NCCL INFO Launch mode Parallel\n" for n in range(6)),
            "read: 6 lines of NCCL of h0, h1, h2, h3, h4, ...",
        ),
    ],
)
def test_a_log_without_ranks_and_connections_is_shown_with_what_it_has(tmp_path: Path, text: str, read: str) -> None:
    log = tmp_path / "job.log"
    log.write_text(text)
    done = CliRunner().invoke(app, ["nccl", str(log)])
    assert done.exit_code == 1
    assert done.stdout.startswith("? Not known whether it is the network: the log has no rank, no device and no conn")
    assert f"? {read}\n" in done.stdout
    assert "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV writes ranks" in done.stdout
    shown = CliRunner().invoke(app, ["nccl", str(log), "--format", "json"]).stdout
    assert json.loads(shown)["network"] == "unknown"


def test_a_log_from_which_ray_left_out_lines_is_said_not_to_be_whole(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("(W pid=6) gpu-1:1:1 [0] NCCL INFO Using network IB [repeated 7x across cluster]\n")
    (tmp_path / "plan.csv").write_text("Server,NIC,Leaf,Leaf Port\ngpu-1,mlx5_0,leaf-1,1\n")
    done = CliRunner().invoke(app, ["nccl", str(log), "--plan", str(tmp_path / "plan.csv")])
    assert "Ray left out lines that its workers print alike" in done.stdout


def test_a_dump_of_nccl_is_named(tmp_path: Path) -> None:
    for text, why in (
        ('<system version="1">\n</system>\n', "the topology of one process (NCCL_TOPO_DUMP_FILE), no log"),
        ('\n<graphs version="1">\n</graphs>\n', "the channels of one process (NCCL_GRAPH_DUMP_FILE), no log"),
    ):
        (tmp_path / "dump.xml").write_text(text)
        done = CliRunner().invoke(app, ["nccl", str(tmp_path / "dump.xml")])
        assert why in str(done.exception)


def test_without_a_capture_the_planned_rails_are_not_known_to_be_good(swapped: tuple[Drawn, Path]) -> None:
    place = swapped[1]
    done = CliRunner().invoke(app, ["nccl", str(place / "job.log"), "--plan", str(place / "plan.csv")])
    assert done.exit_code == 1
    assert "? Not known whether it is the network" in done.stdout


def test_without_a_service_the_log_alone_is_shown(swapped: tuple[Drawn, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    service, log = f"http://127.0.0.1:{free_port()}", str(swapped[1] / "job.log")
    done = CliRunner().invoke(app, ["nccl", log, "--service", service])
    assert "no service answers" in str(done.exception)
    monkeypatch.setattr("truerail.cli.nccl_logs.LOCAL_SERVICE", service)
    done = CliRunner().invoke(app, ["nccl", log, "--service", service, "--format", "json"])
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["network"], len(answer["hops"])) == (1, "unknown", len(swapped[0].rails))
    assert answer["crossings"] == [], "a rail is that of a planned port"
    assert "the log alone is shown" in done.stderr


def evaluated(drawn: Drawn) -> tuple[Round, Evaluation]:
    snapshot = drawn.simulation.snapshot()
    facts = collectors()["nccl_log"].read(drawn.log, Device("log"))
    log = Reading("log", "nccl_log", snapshot.at, facts)
    round = Round(drawn.simulation.plan, Snapshot(snapshot.at, [*snapshot.readings, log]))
    return round, evaluate(round)


def test_not_the_network_is_a_claim_about_all_of_it() -> None:
    drawn = draw(10)  # a fault beside the path, both ends of all connections
    round, evaluation = evaluated(drawn)
    job = round.nccl
    assert job is not None
    known = replace(evaluation, verdicts=tuple(one for one in evaluation.verdicts if not one.missing))
    known = replace(known, verdicts=tuple(one for one in known.verdicts if one.status is not Status.UNKNOWN))
    assert job_path(job, known, counted=True).good is True
    assert job_path(job, known, counted=False).good is None
    cable = job_path(job, known, counted=True).cables[0]
    other = NotEvaluated("why", subjects=("gpu-999",), rest_evaluated=True)
    for part, good in ((other, True), (replace(other, subjects=(str(cable.b),)), None), (NotEvaluated("why"), None)):
        verdict = Verdict("PFC001", Status.UNKNOWN, not_evaluated=(part,))
        assert job_path(job, replace(known, verdicts=(verdict,)), counted=True).good is good
    error = Reading(cable.b.device, "lldp_switch", evaluation.at, error="timed out")
    assert job_path(job, replace(known, collection_errors=(error,)), counted=True).good is None


def test_one_end_alone_is_not_known() -> None:
    round, evaluation = evaluated(draw(HALF))
    assert round.nccl is not None
    path = job_path(round.nccl, replace(evaluation, verdicts=()), counted=True)
    assert path.good is None
    assert path.unknown == (
        "33 of its 33 connections have one end in the log",
        "4 of its ranks have no line in the log",
        "25 steps of its rings and trees are not in the log",
    )


def test_rings_and_trees_stand_in_the_order_of_the_log(swapped: tuple[Drawn, Path]) -> None:
    drawn, place = swapped
    answer = json.loads(run(place, "--format", "json")[1])
    rings = {one["channel"]: tuple(one["ranks"]) for one in answer["chains"] if one["kind"] == "ring"}
    assert rings == drawn.rings
    steps = [(one, step) for one in answer["chains"] for step in one["steps"]]
    assert {(one["kind"], one["channel"], step["from_rank"], step["to_rank"]) for one, step in steps} == drawn.steps
    for one, step in steps:
        ends = {}
        for direction in ("send", "receive"):
            end = step[direction]
            key = (end["host"], one["channel"], 0, step["from_rank"], step["to_rank"], direction)
            assert set(end["rails"]) == drawn.rails[key]
            assert all(cable.partition("/")[0] == end["host"] for cable in end["cables"])
            places = {drawn.simulation.plan.rail_of(Port(*leaf.split("/"))) for leaf in end["leaves"]}
            assert places == set(end["rails"])
            ends[direction] = set(end["rails"])
        assert step["crosses"] is not bool(ends["send"] & ends["receive"])
    assert sum(one["crossings"] for one in answer["chains"]) > 0
    _, text = run(place, "--details")
    assert f"ranks {' '.join(map(str, drawn.rings[0]))}\n" in text
    assert " crosses rails\n" in text


def test_a_step_that_has_one_end_or_none_is_unknown() -> None:
    round, evaluation = evaluated(draw(HALF))
    assert round.nccl is not None
    answer = nccl_answer(round, evaluation, round.nccl)
    steps = [step for one in answer.chains for step in one.steps]
    assert {step.crosses for step in steps} == {None}
    assert {(step.send is None) != (step.receive is None) for step in steps} == {True}
    assert sum(one.unknown for one in answer.chains) > len(steps)
    text = nccl_text(answer, details=True)
    assert "not in the log" in text
    assert " unknown\n" in text

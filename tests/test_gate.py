"""`gate`: whether hosts are fit for a job, for people, scripts and prologs."""

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.api_client import Api
from tests.fake_tower import FakeTower
from tests.loopback import Silent, threaded
from tests.oncall_fabrics import PLANES, SPINES, all_hosts, published, simulated
from tests.real import require
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import CauseKind, Reading, SchedulerNode, Snapshot
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.gate import QUESTION, Gate, fitness_of
from truerail.questions.question import Asked
from truerail.rounds import publication_of
from truerail.service.gate_files import GateFiles, file_answers
from truerail.service.settings import GateFolder
from truerail.simulator import Fault
from truerail.views.plain import answer_from_json, as_json

PROLOG = Path(__file__).resolve().parent.parent / "deploy" / "slurm" / "truerail-prolog.sh"
SWAPPED = published(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"))


def asked(publication: Published, nodes: str, rails: int | None = None, *, strict: bool = False) -> Gate:
    answer: Gate = QUESTION.find(
        Asked(publication, NoHistory(), publication.at), {"nodes": nodes, "rails": rails, "strict": strict}
    )
    assert answer_from_json(Gate, as_json(answer)) == answer
    assert max(map(len, answer_text(answer, Options(80)).splitlines())) <= 80
    return answer


def unfit(publication: Published) -> list[str]:
    return [one.host for one in asked(publication, all_hosts(publication)).hosts]


def test_a_host_with_a_cable_on_a_wrong_leaf_is_not_fit_and_the_others_are() -> None:
    (host,) = unfit(SWAPPED)
    answer = asked(SWAPPED, host)
    assert answer.fit is False
    assert answer.summary.startswith(f"not fit: {host} (rails ")
    well = [one for one in all_hosts(SWAPPED).split(",") if one != host]
    assert asked(SWAPPED, ",".join(well)).summary == "fit: 7 hosts"
    assert asked(SWAPPED, host, 2).fit is True
    assert asked(SWAPPED, host, 3).summary == f"not fit: {host} (2 of 3 rails that are needed)"
    assert fitness_of(SWAPPED) is fitness_of(SWAPPED)


def test_what_is_not_known_is_neither_fit_nor_unfit() -> None:
    simulation = simulated(SPINES)
    seen = simulation.snapshot()
    host = all_hosts(publication_of(Round(simulation.plan, seen))).split(",")[0]
    kept = [one for one in seen.readings if one.device != host and one.collector != "lldp_switch"]
    publication = publication_of(Round(simulation.plan, Snapshot(seen.at, kept)))
    answer = asked(publication, host)
    assert (answer.fit, answer.summary) == (None, f"not known: {host} (rails 0-3 not known)")
    assert asked(publication, host, strict=True).fit is False
    assert asked(publication, "gpu-099,leaf-0").hosts[1].summary == "the plan has no host 'leaf-0'"
    assert asked(publication, f"gpu-099,{host}").fit is None
    assert "Not known: gpu-099" in asked(SWAPPED, f"{unfit(SWAPPED)[0]},gpu-099").summary
    with pytest.raises(QueryError):
        asked(publication, "gpu-[")


def test_more_than_three_hosts_are_counted() -> None:
    answer = asked(SWAPPED, "x1,x2,x3,x4,x5")
    assert answer.summary.endswith("; and 2 more")


def test_a_lost_plane_and_a_cause_that_slows_are_no_fit() -> None:
    lost = published(PLANES, Fault(CauseKind.LINK_DOWN, "host"))
    (host,) = unfit(lost)
    assert "one plane left on rail" in asked(lost, host).summary
    order = published(SPINES, Fault(CauseKind.GPU_NIC_ORDER))
    (host,) = unfit(order)
    assert f"affected by gpu-nic-order {host}" in asked(order, host).summary


def test_the_api_answers_by_its_status_and_the_command_by_its_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    (host,) = unfit(SWAPPED)
    with Api(FakeTower(SWAPPED)) as api:
        answers = {nodes: api.get("gate", nodes=nodes) for nodes in (host, "gpu-099")}
        well = next(one for one in all_hosts(SWAPPED).split(",") if one != host)
        assert api.get("gate", nodes=well).status_code == 200
        assert [answer.status_code for answer in answers.values()] == [409, 503]
        assert b"\n" not in answers[host].content
        assert answers[host].json()["fit"] is False
        assert api.get("gate", nodes="gpu-[").status_code == 400
        api.tower.away = "the newest answers could not be evaluated"
        assert api.get("gate", nodes=well).status_code == 503
    monkeypatch.setattr("truerail.cli.oncall_local.publication", lambda source: (SWAPPED, None))
    codes = [
        CliRunner().invoke(app, ["gate", nodes, "--from", "x", *more]).exit_code
        for nodes, *more in ((well,), (host,), ("gpu-099",), ("gpu-099", "--strict"), (host, "--rails", "2"))
    ]
    assert codes == [0, 1, 2, 1, 0]


class _Service(Silent):
    """A service that answers every gate with one status."""

    status = 200

    def do_GET(self) -> None:
        body = json.dumps({"fit": self.status == 200, "summary": f"asked {self.path}"}).encode()
        self.say(body, status=self.status)


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with threaded(ThreadingHTTPServer(("127.0.0.1", 0), _Service)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


def gate_files(publication: Published, folder: Path, *seconds: float) -> GateFiles:
    """The files of one evaluation after another, each at its time."""
    now = iter(seconds * 2)
    made = GateFiles(GateFolder(directory=folder), lambda: next(now))
    made.evaluated(publication, resumed=True)
    return made


def test_a_file_for_each_host_says_what_the_gate_says_and_until_when(tmp_path: Path) -> None:
    folder = tmp_path / "truerail" / "gate"
    (host,) = unfit(SWAPPED)
    files = gate_files(SWAPPED, folder, 0.0)
    assert sorted(path.name for path in folder.iterdir()) == sorted(all_hosts(SWAPPED).split(","))
    assert (folder.stat().st_mode & 0o777, (folder / host).stat().st_mode & 0o777) == (0o755, 0o644)
    at = int(SWAPPED.at.timestamp())
    assert (folder / host).read_text() == f"unfit {at} {at + 300} {asked(SWAPPED, host).hosts[0].summary}\n"
    well = next(one for one in all_hosts(SWAPPED).split(",") if one != host)
    assert (folder / well).read_text() == f"fit {at} {at + 300}\n"
    assert files.figures() == {"gate_files": 8, "gate_files_failing": 0.0}
    files.close()
    assert (folder / host).exists()


def test_files_are_written_when_their_answer_changes_and_before_they_expire(tmp_path: Path) -> None:
    (host,) = unfit(SWAPPED)
    well = published(SPINES)
    times = iter((0.0, 0.0, 74.0, 75.0, 75.0))
    files = GateFiles(GateFolder(directory=tmp_path), lambda: next(times))
    files.evaluated(SWAPPED, resumed=True)
    names = all_hosts(SWAPPED).split(",")
    for name in names:
        (tmp_path / name).write_text("untouched\n")
    files.evaluated(well, resumed=True)
    assert {name: (tmp_path / name).read_text().split()[0] for name in names} == {
        name: "fit" if name == host else "untouched" for name in names
    }
    files.evaluated(well, resumed=True)
    assert {(tmp_path / name).read_text().split()[0] for name in names} == {"fit"}


def test_a_host_that_leaves_the_plan_loses_its_file_and_a_folder_that_is_none_is_reported(tmp_path: Path) -> None:
    files = gate_files(SWAPPED, tmp_path, 0.0, 0.0, 1.0)
    (tmp_path / "of-another").touch()
    files.evaluated(published(replace(SPINES, hosts=7)), resumed=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [*(f"gpu-00{n}" for n in range(1, 8)), "of-another"]
    (tmp_path / "file").touch()
    failing = gate_files(SWAPPED, tmp_path / "file", 0.0)
    assert failing.figures() == {"gate_files": 0, "gate_files_failing": 1.0}


def test_a_file_has_the_short_name_and_that_of_the_scheduler_where_they_are_of_one_host() -> None:
    simulation = simulated(SPINES)
    seen = simulation.snapshot()
    first, second = all_hosts(SWAPPED).split(",")[:2]
    facts = (SchedulerNode(f"{first}.cluster.local", ("IDLE",), None), SchedulerNode("../odd", ("IDLE",), None))
    snapshot = Snapshot(seen.at, [*seen.readings, Reading("slurm", "slurm_nodes", seen.at, facts)])
    names = dict(file_answers(publication_of(Round(simulation.plan, snapshot))))
    assert names[f"{first}.cluster.local"] == names[first]
    assert second in names
    assert len(names) == 9


def test_the_prolog_reads_a_file_and_takes_an_old_one_for_not_known(tmp_path: Path) -> None:
    now = int(time.time())
    file, strict = tmp_path / "gpu-001", {"TRUERAIL_GATE_DIR": str(tmp_path), "TRUERAIL_STRICT": "1"}
    nowhere = "http://127.0.0.1:1"
    assert prolog(nowhere, **strict) == (0, "")
    file.write_text(f"unfit {now - 20} {now + 280} rails 6-7 lost\n")
    code, said = prolog(nowhere, **strict)
    assert code == 1
    assert re.fullmatch(r"print truerail: not fit: gpu-001 \(rails 6-7 lost\), evaluated 2\d s ago\n", said)
    assert prolog(nowhere, TRUERAIL_GATE_DIR=str(tmp_path))[0] == 0
    for line in (
        f"unfit {now - 400} {now - 100} rails 6-7 lost",
        f"fit {now} {now + 300}",
        f"unknown {now} {now + 9} x",
        "unfit",
    ):
        file.write_text(line + "\n")
        assert prolog(nowhere, **strict) == (0, "")


def prolog(url: str, **more: str) -> tuple[int, str]:
    """The exit code of the shipped prolog, and what it printed."""
    asked = {"TRUERAIL_URL": url, "SLURMD_NODENAME": "gpu-001", **more}
    done = subprocess.run(["sh", PROLOG], env={**os.environ, **asked}, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_the_prolog_ends_with_1_only_where_it_must(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require("curl", "sh")
    assert prolog(service)[0] == 0
    monkeypatch.setattr(_Service, "status", 409)
    assert prolog(service) == (
        0,
        f"print truerail: {json.dumps({'fit': False, 'summary': 'asked /api/v1/gate?nodes=gpu-001'})}\n",
    )
    assert prolog(service, TRUERAIL_STRICT="1")[0] == 1
    monkeypatch.setattr(_Service, "status", 503)
    assert prolog(service, TRUERAIL_STRICT="1")[0] == 0
    assert prolog("http://127.0.0.1:1", TRUERAIL_STRICT="1") == (0, "")

"""`gate`: whether hosts are fit for a job, for people, scripts and prologs."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from api_client import Api
from fake_tower import FakeTower
from oncall_fabrics import PLANES, SPINES, all_hosts, published, simulated
from real import require
from typer.testing import CliRunner

from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import CauseKind, Snapshot
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.questions.answers.answers_json import answer_from_json
from truerail.questions.answers.capture import publication_of
from truerail.questions.answers.gate import fitness_of
from truerail.questions.gate import QUESTION, Gate
from truerail.questions.question import Asked
from truerail.questions.text import answer_text
from truerail.simulator import Fault
from truerail.views.plain import as_json

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
    assert "hurt by C1 gpu-nic-order" in asked(order, host).summary


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
    monkeypatch.setattr("truerail.cli.oncall_source._publication", lambda source: (SWAPPED, None))
    codes = [
        CliRunner().invoke(app, ["gate", nodes, "--capture", "x", *more]).exit_code
        for nodes, *more in ((well,), (host,), ("gpu-099",), ("gpu-099", "--strict"), (host, "--rails", "2"))
    ]
    assert codes == [0, 1, 2, 1, 0]


class _Service(BaseHTTPRequestHandler):
    """A service that answers every gate with one status."""

    status = 200

    def do_GET(self) -> None:
        body = json.dumps({"fit": self.status == 200, "summary": f"asked {self.path}"}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Service)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


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

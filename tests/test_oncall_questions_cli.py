"""The on-call commands: of a capture in a process of its own, and of a service over a real socket."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner, Result

from collector import collectors
from tests.loopback import Silent, threaded
from tests.oncall_fabrics import SPINES, shown, simulated
from tests.view_fabrics import faulty
from truerail.cli.app import app
from truerail.errors import CommandError
from truerail.model import CauseKind
from truerail.model.history import NoHistory
from truerail.model.names import answer_file
from truerail.questions.blast import blast
from truerail.questions.diff import diff_plan
from truerail.questions.job import job
from truerail.questions.path import path
from truerail.questions.storm import storm
from truerail.questions.timeline import timeline
from truerail.questions.where import where
from truerail.questions.why import why
from truerail.simulator import Fault
from truerail.views.commands import command_of
from truerail.views.device import device_view
from truerail.views.plain import as_json

SIMULATION = simulated(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"))
SHOWN = shown(SIMULATION)
FINDING = SHOWN.evaluation.findings[0]
TOKEN = "tr_secret"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    folder = tmp_path_factory.mktemp("fabric")
    return "--from", str(SIMULATION.write(folder)), "--plan", str(folder / "plan.csv")


def run(*words: str, **env: str) -> Result:
    return CliRunner().invoke(app, list(words), env={"COLUMNS": "100", "TRUERAIL_URL": "", "TRUERAIL_TOKEN": "", **env})


QUESTIONS = {
    "where": ((FINDING.subject,), lambda: where(SHOWN, FINDING.subject)),
    "job": (("gpu-[001-008]",), lambda: job(SHOWN, "gpu-[001-008]")),
    "blast": (("leaf-0",), lambda: blast(SHOWN, "leaf-0")),
    "path": (("gpu-001", "gpu-002"), lambda: path(SHOWN, "gpu-001", "gpu-002")),
    "diff": (("--planned",), lambda: diff_plan(SHOWN)),
    "storm": ((), lambda: storm(SHOWN)),
    "why": ((FINDING.id,), lambda: why(SHOWN, NoHistory(), FINDING.id)),
}


def untimed(value: Any) -> Any:
    """JSON without the times and sources, which are those of the files for a capture."""
    if isinstance(value, dict):
        return {key: untimed(one) for key, one in value.items() if key not in ("at", "start", "end", "source")}
    return [untimed(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("command", QUESTIONS)
def test_a_capture_answers_without_a_service(command: str, files: tuple[str, ...]) -> None:
    words, expected = QUESTIONS[command]
    done = run(command, *words, *files, "--format", "json")
    assert untimed(json.loads(done.stdout)) == untimed(json.loads(json.dumps(as_json(expected()))))
    assert done.exit_code == (1 if command != "path" else _path_code())
    assert run(command, *words, *files).stdout


def _path_code() -> int:
    return int(any(way.stays is not True for way in path(SHOWN, "gpu-001", "gpu-002").rails))


def test_short_options_and_what_is_well(files: tuple[str, ...]) -> None:
    capture, plan = files[1], files[3]
    well = next(c.a for c in SHOWN.plan.host_cables if c.a.device != FINDING.device)
    done = run("where", str(well), "--from", capture, "--plan", plan)
    assert (done.exit_code, done.stdout[:1]) == (0, "✓")


def test_a_trace_shows_what_each_step_of_the_search_took(files: tuple[str, ...]) -> None:
    shown = run("why", FINDING.id, "--trace", *files).stdout
    steps = {line.split()[0]: line.split()[1:] for line in shown.splitlines() if ", gain " in line}
    assert (list(steps)[:2], list(steps)[-1]) == (["strangers", "labels"], "absent")
    assert steps["chains"][:7] == ["1", "causes", "2", "cables,", "gain", "2:", "cable-swap"]
    assert ", gain " not in run("why", FINDING.id, *files).stdout


def test_a_timeline_offers_only_what_it_takes(files: tuple[str, ...]) -> None:
    assert run("timeline", "gpu-001", *files).exit_code == 2
    offered = run("timeline", "--help").output
    assert "--service" in offered
    assert not [one for one in ("--from", "--inventory", "--plan") if one in offered]


def test_what_cannot_be_answered(files: tuple[str, ...]) -> None:
    for words, reported in (
        (("where", "gpu-09", *files), "gpu-09"),
        (("job", "gpu-[1-", *files), "gpu-[1-"),
        (("diff", "--since", "2h", *files), "has one round"),
        (("where", "x", "--from", "/nowhere"), "/nowhere"),
        (("where", "x", "--service", "ftp://x"), "ftp://x"),
        (("where", "x", "--service", "http://127.0.0.1:9", "--token-file", "/nowhere"), "/nowhere"),
        (("where", "x", "--service", "http://127.0.0.1:9", "--plan", files[3]), "own plan"),
        (("where", "x", "--service", "http://127.0.0.1:9"), "127.0.0.1:9: no service answers (Connection refused)"),
    ):
        done = run(*words)
        assert isinstance(done.exception, CommandError), (words, done.output)
        assert reported in str(done.exception)
        assert "\n" not in str(done.exception)


def test_bad_usage_of_diff() -> None:
    for words in ((), ("--planned", "--since", "2h"), ("--until", "2h"), ("--planned", "--until", "1h")):
        assert run("diff", *words).exit_code == 2


def test_in_a_process_of_its_own(files: tuple[str, ...]) -> None:
    """Exit codes and streams as a shell sees them, and none of the service's libraries loaded."""
    words = [sys.executable, "-X", "importtime", "-m", "truerail", "job", "gpu-[001-008]", *files]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "COLUMNS": "90"}
    )
    assert done.returncode == 1
    assert done.stdout.startswith("✗ Yes: cable swap at gpu-006/enp26s0f0np0 and gpu-006/enp94s0f0np0 puts 1 of your 8")
    for heavy in ("fastapi", "sqlalchemy", "uvicorn", "asyncssh", "pandas"):
        assert f" {heavy}\n" not in done.stderr


# --- a service --------------------------------------------------------------------------------------------------------


class Service(Silent):
    """The routes of the API, answered from one publication."""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.reply(401, {"title": "Unauthorized"})
        match parts.path.removeprefix("/api/v1/"):
            case "where" if asked["port"] == "nope":
                return self.reply(404, {"title": "Not found", "detail": "nothing is called 'nope'"})
            case "where" if asked["port"] == "away":
                return self.reply(302, {}, location="http://127.0.0.1:9/steal")
            case "where" if asked["port"] == "odd":
                return self.reply(200, {"query": "odd"})
            case "where" if asked["port"] == "html":
                return self.reply(200, None)
            case "timeline":
                return self.reply(200, as_json(timeline(SHOWN, NoHistory(), asked["of"], int(asked["limit"]))))
            case command:
                return self.reply(200, as_json(QUESTIONS[command][1]()))

    def reply(self, code: int, value: Any, location: str = "") -> None:
        body = json.dumps(value).encode() if value is not None else b"<html>"
        self.say(body, "text/plain", code, **({"Location": location} if location else {}))


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    with threaded(ThreadingHTTPServer(("127.0.0.1", 0), Service)) as server:
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize("command", [*QUESTIONS, "timeline"])
def test_a_service_is_shown_as_a_capture_is(command: str, service: str, files: tuple[str, ...]) -> None:
    words, expected = QUESTIONS.get(command, (("gpu-001",), lambda: timeline(SHOWN, NoHistory(), "gpu-001")))
    done = run(command, *words, "--format", "json", TRUERAIL_URL=service, TRUERAIL_TOKEN=TOKEN)
    assert json.loads(done.stdout) == json.loads(json.dumps(as_json(expected())))
    text = run(command, *words, "--service", service, TRUERAIL_TOKEN=TOKEN)
    assert text.exit_code == done.exit_code
    if command in ("job", "blast", "path"):
        assert text.stdout == run(command, *words, *files).stdout


def test_tokens_and_problems(service: str, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(f"{TOKEN}\n", encoding="ascii")
    asks = ("--service", service, "--token-file", str(token))
    assert run("blast", "leaf-0", *asks).exit_code == 1
    for words, reported in (
        (("where", "x", "--service", service), "a token is needed"),
        (("where", "nope", *asks), "nothing is called 'nope'"),
        (("where", "away", *asks), "302"),
        (("where", "odd", *asks), "Where: Object missing required field `matched_type`"),
        (("where", "html", *asks), "the answer is not JSON"),
    ):
        done = run(*words)
        assert isinstance(done.exception, CommandError), (words, done.output)
        assert reported in str(done.exception)


def test_a_path_between_gpus_shows_the_leg_over_nvlink(files: tuple[str, ...]) -> None:
    words = " ".join(run("path", "gpu-003 GPU 1", "gpu-004 GPU 3", *files).output.split())
    assert "gpu-003 GPU 1 to gpu-004 GPU 3, rail 3: By PXN" in words
    assert "gpu-003 (NVLink GPU 1 to GPU 3) /enp94s0f0np0 → leaf-3/swp3:swp4 → gpu-004/" in words


# Commands that answers name


def test_each_command_of_each_collector_is_found_by_its_file_and_by_itself() -> None:
    for name, collector in collectors().items():
        for command in collector.ask:
            text = command.text.replace("{port}", "eth0").replace("{job}", "1234")
            assert answer_file(command_of(name, f"gpu-001/{answer_file(text)}")) == answer_file(text)
            assert answer_file(command_of(name, text)) == answer_file(text)


@pytest.mark.parametrize(("collector", "source"), [("lldp_host", "notes.txt"), ("none", "lldpctl"), ("lldp_host", "")])
def test_another_file_has_no_command(collector: str, source: str) -> None:
    assert command_of(collector, source) == ""


def test_a_devices_page_names_the_commands() -> None:
    lines = device_view(faulty(), "gpu-001").readings
    assert {line.collector: line.command for line in lines}["gpu_nic_topology"] == "nvidia-smi topo -m"

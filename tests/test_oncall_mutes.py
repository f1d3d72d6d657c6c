"""`truerail ack` and `truerail maintenance`, over a real socket, against the application itself."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.api_client import Api
from tests.fake_tower import FakeTower, published
from tests.loopback import Silent, threaded
from truerail.cli.app import app
from truerail.errors import CommandError

FINDING = published().evaluation.findings[0].id
HELD = {"reader": 403, "wrong": 401}


class _Relay(Silent):
    """Passes requests on to the application of the test; refuses the tokens of `HELD`."""

    def _pass(self) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if token in HELD:
            status, text = HELD[token], json.dumps({"detail": f"{token} is refused"}).encode()
        else:
            server: Any = self.server
            parts = {"content": body, "headers": {"Content-Type": "application/json"}} if body else {}
            response = server.api.ask(self.command, self.path.removeprefix("/api/v1/"), **parts)
            status, text = response.status_code, response.content
        self.say(text, "text/plain", status)

    def do_GET(self) -> None:
        self._pass()

    def do_POST(self) -> None:
        self._pass()

    def do_DELETE(self) -> None:
        self._pass()


@pytest.fixture
def service() -> Iterator[str]:
    with Api(FakeTower(published())) as api, threaded(ThreadingHTTPServer(("127.0.0.1", 0), _Relay)) as server:
        api.tower.moment = datetime.now(UTC)
        server.api = api  # type: ignore[attr-defined]  # for the handlers
        yield f"http://127.0.0.1:{server.server_port}"


def run(service: str, *words: str, token: str = "") -> Result:
    return CliRunner().invoke(app, list(words), env={"TRUERAIL_URL": service, "TRUERAIL_TOKEN": token})


def refused(service: str, *words: str, token: str = "") -> str:
    done = run(service, *words, token=token)
    assert isinstance(done.exception, CommandError), done.output
    return str(done.exception)


def test_an_acknowledgement_from_begin_to_end(service: str) -> None:
    done = run(service, "ack", FINDING, "--until", "2h", "--because", "spare is ordered", "--format", "json")
    made = json.loads(done.stdout[done.stdout.index("{\n") :])  # behind the log of the application
    assert (made["target"], made["author"], made["reason"]) == (FINDING, "local", "spare is ordered")
    left = datetime.fromisoformat(made["until"]) - datetime.now(UTC)
    assert timedelta(hours=1) < left <= timedelta(hours=2)
    assert FINDING in run(service, "ack", "--list").stdout
    assert run(service, "ack", "--end", str(made["id"])).exit_code == 0
    assert FINDING not in run(service, "ack", "--list").stdout
    assert str(made["id"]) in refused(service, "ack", "--end", str(made["id"]))


def test_maintenance_from_begin_to_end(service: str) -> None:
    done = run(service, "maintenance", "gpu-1", "--until", "tomorrow 23:00", "--because", "new optics")
    assert (done.exit_code, "gpu-001" in done.stdout, "--end 1" in done.stdout) == (0, True, True)
    assert "gpu-001" in run(service, "maintenance", "--list").stdout
    assert run(service, "maintenance", "--end", "1").exit_code == 0


def test_what_the_service_refuses_is_shown_by_its_option(service: str) -> None:
    assert refused(service, "ack", FINDING, "--because", "x" * 501).startswith("--because: ")
    assert refused(service, "ack", FINDING, "--because", "  ").startswith("--because: ")
    assert "past" in refused(service, "ack", FINDING, "--until", "2020-01-01T00:00Z", "--because", "x")
    assert "gpu-999" in refused(service, "maintenance", "gpu-999", "--until", "2h", "--because", "x")
    assert "'soon'" in refused(service, "ack", FINDING, "--until", "soon", "--because", "x")


@pytest.mark.parametrize("words", [
    ("ack",), ("ack", FINDING), ("ack", FINDING, "--list"), ("maintenance", "leaf-0", "--because", "x"),
    ("maintenance",), ("ack", "--end", "0"),
])  # fmt: skip
def test_bad_usage(words: tuple[str, ...]) -> None:
    assert run("http://127.0.0.1:9", *words).exit_code == 2


def test_a_refused_token_says_where_why_and_how_to_make_one(service: str) -> None:
    wrong = refused(service, "ack", "--list", token="wrong")
    assert service in wrong
    assert "wrong is refused" in wrong
    assert "truerail token NAME" in wrong
    reader = refused(service, "ack", FINDING, "--because", "x", token="reader")
    assert "--role operator" in reader
    assert "wrong is refused" in refused(service, "status", token="wrong")

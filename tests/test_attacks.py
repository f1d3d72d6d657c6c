"""Small attacks on the service and on what it reads: each is answered in words, and costs no one else anything."""

import asyncio
import gzip
import json
import logging
import signal
import socket
import sqlite3
import threading
import warnings
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import structlog

from tests.api_client import Api
from tests.demo_process import ready, running
from tests.fake_tower import FakeTower, published, settings
from tests.journal_helpers import Settings as JournalSettings
from tests.patience import ENOUGH
from tests.real import require
from tests.small_fabric import make_plan
from tests.snmpd import COMMUNITY, snmpd
from tests.sshd import sshd
from truerail.analysis.published import JournalHealth, JournalState
from truerail.cli.evaluating import named
from truerail.errors import CommandError, JournalUnavailableError, QueryError, TransportError
from truerail.journal import open_journal
from truerail.model import Role, Secret, SnmpAccess, Target
from truerail.service.logs import set_up
from truerail.service.mutes import checked_scope
from truerail.service.settings import Log
from truerail.transport.snmp_transport import SnmpTransport
from truerail.transport.ssh_transports import SwitchCli
from truerail.web.application import create_app

HUGE = "gpu-[1-900000]"


def test_a_journal_that_fails_is_named_by_readyz() -> None:
    failing = JournalState(JournalHealth.FAILING, "journal: file is not a database")
    with Api(FakeTower(replace(published(), journal=failing))) as api:
        answer = api.get("//readyz")
        assert (answer.status_code, answer.text) == (
            200, "ready; the journal is not written: journal: file is not a database\n"
        )  # fmt: skip
    with Api(FakeTower(published())) as api:
        assert api.get("//readyz").text == "ready\n"


@pytest.mark.parametrize("kind", ["no database", "another program's"])
def test_a_file_that_is_no_journal_is_not_written_to(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "journal.db"
    if kind == "no database":
        path.write_bytes(b"not a database " * 1000)
    else:
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("CREATE TABLE dashboards (id INTEGER)")
        other.close()
    before = path.read_bytes()
    journal = open_journal(JournalSettings(f"sqlite:///{path}"))
    summary = "not a database" if kind == "no database" else "another program: it holds the table dashboards"
    with pytest.raises(JournalUnavailableError, match=summary):
        journal.rounds()
    journal.close()
    if kind == "no database":
        assert path.read_bytes() == before
    else:
        with closing(sqlite3.connect(path)) as other, other:
            assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("dashboards",)]
        other.close()


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    root, server = logging.getLogger(), logging.getLogger("uvicorn.error")
    handlers, level = root.handlers[:], root.level
    of_server = server.propagate, server.disabled, server.level, server.parent
    server.propagate, server.disabled, server.parent = True, False, root  # as serve runs it, whatever ran before
    server.setLevel(logging.NOTSET)
    logging.captureWarnings(
        capture=False
    )  # a test before this one may have left it on, and set-up then changes nothing
    yield
    root.handlers[:], root.level = handlers, level
    server.propagate, server.disabled, server.level, server.parent = of_server
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


@pytest.mark.usefixtures("logging_as_before")
def test_a_log_in_json_stays_json_under_exceptions_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(Log(format="json"))
    try:
        raise RuntimeError("two\nlines")
    except RuntimeError:
        logging.getLogger("uvicorn.error").exception("Exception in %s application", "ASGI")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert len(lines) == 2
    assert (lines[0]["event"], lines[0]["level"]) == ("Exception in ASGI application", "error")
    assert "RuntimeError: two\nlines" in lines[0]["exception"]
    assert lines[1]["level"] == "warning"


def test_a_node_set_that_no_fabric_has_is_refused_before_it_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    def expanding(*_: object) -> None:
        raise AssertionError("it was expanded")

    monkeypatch.setattr("truerail.files.nodesets.RangeSet", expanding)
    with pytest.raises(QueryError, match="more names"):
        checked_scope(make_plan(), "nodes", HUGE)
    with pytest.raises(CommandError, match="more names"):
        named(HUGE, ["gpu-1"])
    with Api() as api:
        assert "more names" in api.post("recheck", {"devices": HUGE}).json()["detail"]


def test_every_reference_of_the_openapi_document_resolves() -> None:
    with Api() as api:
        document = api.get("//openapi.json").json()
    references = list(_references(document))
    assert len(references) > 100
    for reference in references:
        at: Any = document
        for part in reference.removeprefix("#/").split("/"):
            assert part in at, reference
            at = at[part]


def _references(part: Any) -> Iterator[str]:
    for key, value in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        if key == "$ref":
            yield value
        yield from _references(value)


def test_every_list_with_a_csv_says_so() -> None:
    with Api() as api:
        paths = api.get("//openapi.json").json()["paths"]
        lists = [
            path
            for path, methods in paths.items()
            if any("csv" in part["schema"].get("enum", ()) for part in methods.get("get", {}).get("parameters", ()))
        ]
        assert len(lists) >= 6
        for path in lists:
            documented = paths[path]["get"]["responses"]["200"]["content"]
            assert set(documented) == {"application/json", "text/csv"}, path
        kind = api.get("//api/v1/causes?format=csv").headers["content-type"]
    assert kind.partition(";")[0] == "text/csv"


def test_every_endpoint_says_who_may_ask() -> None:
    token = {"name": "anna", "role": "operator", "hash": f"sha256:{'0' * 64}"}
    for access, is_open in (({}, True), ({"tokens": [token]}, False)):
        document = create_app(FakeTower(published()), settings(access=access)).openapi()
        schemes = document["components"]["securitySchemes"]
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                ways = operation["security"]
                assert {name for way in ways for name in way} <= set(schemes)
                assert ({} in ways) == (is_open and path not in ("/healthz", "/readyz"))
                assert path in ("/healthz", "/readyz") or {"token": []} in ways
                assert method == "get" or {"session": [], "csrf": []} in ways


def test_metrics_are_packed_for_whoever_takes_that() -> None:
    with Api() as api:
        plain = api.ask("GET", "//metrics", headers={"accept-encoding": "identity"})
        small = api.ask("GET", "//metrics", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert small.headers["content-encoding"] == "gzip"
    assert small.headers["content-type"] == plain.headers["content-type"]
    assert "accept-encoding" in small.headers["vary"].lower()
    names = {line.split("{")[0].split(" ")[0] for line in small.text.splitlines() if line[:1] != "#"}
    assert names == {line.split("{")[0].split(" ")[0] for line in plain.text.splitlines() if line[:1] != "#"}
    assert len(gzip.compress(plain.content)) < len(plain.content) / 4


@pytest.fixture
def hangup() -> Iterator[None]:
    """What a terminal's end does to a process, also where the tests run under nohup(1)."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
def test_a_demo_ends_with_its_terminal(tmp_path: Path) -> None:
    with running(tmp_path / "demo", "--hosts", "4", "--rails", "2") as (process, url):
        assert ready(url)
        process.send_signal(signal.SIGHUP)
        out, err = process.communicate(timeout=ENOUGH)
        assert process.returncode == 0, (out, err)


def test_no_existing_session_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import paramiko

    def closed(*_: object) -> None:
        raise paramiko.SSHException("No existing session")

    monkeypatch.setattr("truerail.transport.switch_device._authenticate", closed)
    with sshd(tmp_path) as server:

        async def ask() -> None:
            switches = SwitchCli()
            try:
                await switches.ask(replace(server.target(), platform="cumulus"), ["lldpctl -f json0"])
            finally:
                await switches.close()

        with pytest.raises(TransportError, match="the switch closed the connection before the login"):
            asyncio.run(ask())


@pytest.mark.parametrize("engine", ["pysnmp", "gufo"])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_answers_from_another_port_are_dropped(
    tmp_path: Path, engine: str, elsewhere: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    require("snmpd")
    monkeypatch.setenv("TRUERAIL_TEST_COMMUNITY", COMMUNITY)
    with snmpd(tmp_path) as agent, _spoofing(agent.port, elsewhere=elsewhere) as port:
        access = SnmpAccess(community=Secret("env", "TRUERAIL_TEST_COMMUNITY"), port=port, engine=engine)
        seconds = 1.0 if elsewhere else ENOUGH
        device = Target("leaf-0", "127.0.0.1", Role.LEAF, "snmp", snmp=access, timeout_seconds=seconds)

        async def ask() -> str:
            transport = SnmpTransport()
            try:
                return (await transport.ask(device, ("snmpbulkwalk -On 1.3.6.1.2.1.1",)))[0].text
            finally:
                await transport.close()

        if elsewhere:
            with pytest.raises(TransportError, match=r"no answer|not done"):
                asyncio.run(ask())
        else:
            assert asyncio.run(ask())


class _spoofing:  # noqa: N801 - used as a with statement's word
    """Hands requests on to an agent, and its answers back: from its own port, or from another one."""

    def __init__(self, agent: int, *, elsewhere: bool) -> None:
        self._agent, self._elsewhere = agent, elsewhere
        self._front, self._other = (socket.socket(type=socket.SOCK_DGRAM) for _ in range(2))
        for one in (self._front, self._other):
            one.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> int:
        self._thread.start()
        return int(self._front.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        with socket.socket(type=socket.SOCK_DGRAM) as last:
            last.sendto(b"", self._front.getsockname())
        self._thread.join()
        self._front.close()
        self._other.close()

    def _serve(self) -> None:
        while True:
            request, asker = self._front.recvfrom(65535)
            if not request:
                return
            with socket.socket(type=socket.SOCK_DGRAM) as behind:
                behind.settimeout(ENOUGH)
                behind.sendto(request, ("127.0.0.1", self._agent))
                (self._other if self._elsewhere else self._front).sendto(behind.recv(65535), asker)

"""The service as processes: what each of them does when another is killed. One real service, on a simulated fabric."""

import asyncio
import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs
from typer.testing import CliRunner

from tests.demo_process import get, running
from tests.draws import draws
from tests.patience import ENOUGH, soon
from tests.test_assistant import asked as assistant
from tests.virtual_time import timeless
from truerail.cli.app import app
from truerail.errors import JudgeUnavailableError
from truerail.link.codec import pack, unpack
from truerail.link.messages import Alive, Answer, Ask, Event, Hello
from truerail.link.socket_link import framed, read_frame
from truerail.model.history import NoHistory
from truerail.model.tasks import end
from truerail.roles.front import FrontService, SocketFrontLink
from truerail.roles.front_link import AWAY_SECONDS, SILENT_SECONDS, Takes
from truerail.roles.judge import _give_way
from truerail.roles.service import _folder
from truerail.service.current import CurrentEvaluation
from truerail.viewfile.view_file import NAME

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are found in /proc")
HOUR = 3600.0
TIMES = draws(10, 50)
"""How often each of eight services starts at one moment."""
_VIEW = ("fabric", "map", "devices", "cables?limit=5", "findings", "causes", "where?port=gpu-001", "devices/gpu-001")
_OF_THE_JUDGE = ("blast?of=gpu-001", "find?text=gpu-00", "status", "plan")


def children(parent: int) -> list[int]:
    """Child processes, the oldest first: judge and front."""
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in found if "Z" not in _state(int(pid))]


def _state(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return "Z"


class Service:
    """A service with its processes."""

    def __init__(self, process: "subprocess.Popen[str]", url: str, folder: Path) -> None:
        self.process, self.url, self.folder = process, url, folder
        self.judge, self.front = children(process.pid)

    def json(self, path: str) -> Any:
        status, body = get(f"{self.url}api/v1/{path}")
        assert status == 200, (path, status)
        return json.loads(body)

    def stale(self) -> str | None:
        since: str | None = self.json("fabric")["stale_since"]
        return since

    def replaced(self, pid: int) -> int:
        """The process that was started in place of one that ended."""
        known = {self.judge, self.front}
        soon(lambda: len(set(children(self.process.pid)) - {pid}) == 2, "a new process")
        (new,) = set(children(self.process.pid)) - known
        return new


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("demo")
    with running(folder, "--hosts", "8", "--rails", "4", "--quiet") as (process, url):
        soon(lambda: get(f"{url}readyz")[0] == 200, "the first evaluation")
        yield Service(process, url, folder)
        both = children(process.pid)
        process.send_signal(signal.SIGTERM)
        assert (len(both), process.wait(ENOUGH), {_state(pid) for pid in both}) == (2, 0, {"Z"})


@contextmanager
def events(url: str, after: str | None) -> Iterator[Iterator[tuple[str, str]]]:
    """Number and kind of each event of a stream."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=ENOUGH)
    with closing(connection):
        connection.request("GET", "/api/v1/events", headers={"Last-Event-ID": after} if after else {})
        with connection.getresponse() as stream:
            yield _events(stream)


def _events(stream: http.client.HTTPResponse) -> Iterator[tuple[str, str]]:
    number = ""
    for line in stream:
        name, _, value = line.decode().strip().partition(": ")
        if name == "id":
            number = value
        elif name == "event":
            yield number, value


def test_the_judge_is_another_process_than_the_front(service: Service) -> None:
    for path in (*_VIEW, *_OF_THE_JUDGE):
        assert get(f"{service.url}api/v1/{path}")[0] == 200, path
    assert "truerail_view_age_seconds" in get(f"{service.url}metrics")[1]
    assert service.stale() is None
    listens = subprocess.run(["ss", "-tlnpH"], capture_output=True, text=True, check=False).stdout
    assert f"pid={service.judge}," not in listens


def test_what_the_service_writes_its_user_alone_reads(service: Service) -> None:
    """Without the UMask= of a unit: this process has the usual one."""
    written = [*service.folder.glob("journal*"), *service.folder.glob("truerail-service-*/*")]
    assert len(written) > 2
    assert {path: path.stat().st_mode & 0o077 for path in written if path.exists()} == dict.fromkeys(written, 0)


def test_a_write_reaches_the_journal_through_the_judge_and_shows_in_the_front(service: Service) -> None:
    finding = service.json("findings")["items"][0]["id"]
    body = json.dumps({"target": finding, "reason": "known"})
    connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=ENOUGH)
    connection.request("POST", "/api/v1/acknowledgements", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    made = json.loads(response.read())
    assert response.status == 201
    assert response.headers["Location"] == f"/api/v1/acknowledgements/{made['id']}"
    soon(lambda: [row["id"] for row in service.json("findings?muted=true")["items"]] == [finding], "the mute")
    assert [row["id"] for row in service.json("acknowledgements")["items"]] == [made["id"]]
    connection.close()  # which the server does by itself after some seconds
    connection.request("DELETE", f"/api/v1/acknowledgements/{made['id']}")
    assert connection.getresponse().status == 204
    connection.close()


def test_a_killed_judge_leaves_the_last_view_and_says_since_when(service: Service) -> None:
    asked = ["where", "gpu-001", "--service", service.url]
    assert not CliRunner().invoke(app, asked).stderr
    os.kill(service.judge, signal.SIGSTOP)  # away, and not yet replaced
    number = service.json("fabric")["number"]
    soon(lambda: service.stale(), "the view is stale")
    for path in _VIEW:
        assert get(f"{service.url}api/v1/{path}")[0] == 200, path
    assert "not evaluated since" in get(f"{service.url}readyz")[1]
    age = next(line for line in get(f"{service.url}metrics")[1].splitlines() if line.startswith("truerail_view_age"))
    assert float(age.split()[1]) > 1
    for path in ("blast?of=gpu-001", "gate?nodes=gpu-001"):  # the last one is in the view: programs act by it
        assert get(f"{service.url}api/v1/{path}")[0] == 503
    assert re.search("not evaluated since .* this is the last", CliRunner().invoke(app, asked).stderr)
    _, ((_, answer),) = assistant(service.url, ("where", {"port": "gpu-001"}))
    assert "not evaluated since" in json.loads(answer)["stale"]
    os.kill(service.judge, signal.SIGKILL)
    service.judge = service.replaced(service.judge)
    soon(lambda: service.stale() is None, "the new judge has evaluated")
    assert service.json("fabric")["number"] > number
    assert get(f"{service.url}api/v1/blast?of=gpu-001")[0] == 200


def test_a_view_that_cannot_be_written_is_the_reason_that_is_shown(service: Service) -> None:
    opened = (str(link.readlink()) for link in Path(f"/proc/{service.judge}/fd").iterdir() if link.is_symlink())
    (view,) = {path for path in opened if path.endswith(NAME)}
    with closing(sqlite3.connect(view)) as other:
        other.execute("BEGIN IMMEDIATE")  # a full disk gives another error at the same place
        soon(lambda: service.json("fabric")["stale_reason"], "the judge reports that it cannot write")
        assert service.json("fabric")["stale_reason"] == "the view cannot be written: database is locked"
        status, ready = get(f"{service.url}readyz")
        assert (status, "the view cannot be written: database is locked: not the newest since" in ready) == (200, True)
        assert get(f"{service.url}api/v1/blast?of=gpu-001")[0] == 200
    soon(lambda: service.stale() is None, "the view is written again")
    assert service.json("fabric")["stale_reason"] == ""


def test_a_killed_front_is_replaced_and_events_go_on_by_their_numbers(service: Service) -> None:
    with events(service.url, None) as stream:
        assert next(stream)[1] == "state"
        number, kind = next(stream)
        assert kind != "state"
        os.kill(service.front, signal.SIGKILL)
        with suppress(http.client.HTTPException, OSError):
            list(stream)
    service.front = service.replaced(service.front)
    with events(service.url, number) as stream:
        following, kind = next(stream)
    assert kind != "state"
    assert int(following) > int(number)
    assert get(f"{service.url}api/v1/where?port=gpu-001")[0] == 200


def test_whatever_ends_by_itself_is_replaced_again_and_again(service: Service) -> None:
    """SIGTERM to one process is no wish of the service's user: it is its failure, as any other end is."""
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        shown = service.json("fabric")["number"]
        os.kill(service.judge, number)
        service.judge = service.replaced(service.judge)
        soon(lambda: service.json("fabric")["number"] > shown and service.stale() is None, "it evaluates")  # noqa: B023 - awaited at once
    os.kill(service.front, signal.SIGTERM)
    service.front = service.replaced(service.front)
    assert service.stale() is None
    assert service.process.poll() is None


async def test_a_judge_gives_way_to_readers_once_it_has_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before that they wait for it. A standby has no reader that waits."""
    nice: set[int] = set()
    monkeypatch.setattr(os, "setpriority", lambda which, thread, value: nice.add(value))
    shown = CurrentEvaluation(datetime.now(UTC))
    leads = asyncio.create_task(_give_way(10, SimpleNamespace(leadership=None, shown=shown)))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    assert not nice
    shown.events.add("map", b"{}")
    await leads
    await _give_way(5, SimpleNamespace(leadership=object()))  # type: ignore[arg-type]
    assert nice == {10, 5}


def test_children_end_with_their_parent(tmp_path: Path) -> None:
    """Also one that can handle no signal: it is in a call that takes long, or stopped."""
    with running(tmp_path, "--hosts", "8", "--rails", "4", "--quiet") as (process, _):
        both = children(process.pid)
        os.kill(both[0], signal.SIGSTOP)
        process.send_signal(signal.SIGKILL)
        process.wait(ENOUGH)
        soon(lambda: all(_state(pid) == "Z" or not Path(f"/proc/{pid}").exists() for pid in both), "the children end")


_SERVING = """
import sys
from truerail.cli import main
try:
    main()
finally:
    loaded = set(sys.modules)
    from rules import rules
    assert len(rules()) > 50
    print("loaded:", *set(sys.modules) - loaded)
"""


def test_rules_are_loaded_before_a_front_answers_and_what_keeps_it_from_starting_ends_the_service_with_its_reason(
    tmp_path: Path,
) -> None:
    (tmp_path / "inventory.yaml").write_text("devices: [{name: a, role: host, platform: linux, address: 192.0.2.1}]\n")
    settings = tmp_path / "truerail.yaml"
    settings.write_text("inventory: inventory.yaml\nhttp: {port: 0}\naccess: {metrics_token: {env: NO_SUCH_TOKEN}}\n")
    command = [sys.executable, "-c", _SERVING, "serve", "--config", str(settings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=ENOUGH, check=False)
    assert done.returncode == 2, done.stderr
    assert "NO_SUCH_TOKEN" in done.stderr
    assert done.stdout.splitlines()[-1:] == ["loaded:"]


def test_services_that_start_at_one_moment_keep_their_folders(tmp_path: Path) -> None:
    kept: list[bool] = []

    def start() -> None:
        for _ in range(TIMES):
            with _folder(tmp_path) as folder:
                kept.append((folder / "lock").exists())

    threads = [threading.Thread(target=start) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(ENOUGH)
    assert kept == [True] * 8 * TIMES
    assert not list(tmp_path.iterdir())


def test_the_folder_of_a_killed_service_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "truerail-service-left"
    left.mkdir()
    (left / "lock").touch()
    with _folder(tmp_path) as folder:
        assert [*tmp_path.iterdir()] == [folder]


def test_a_front_before_the_first_evaluation_logs_no_error(tmp_path: Path) -> None:
    """It shows no view yet, so none is old: the first evaluation of a large fabric takes a while."""
    front = FrontService(tmp_path / "view", partial(SocketFrontLink, tmp_path / "link"), NoHistory())
    with capture_logs() as logged:
        front.link._become(datetime(2026, 11, 20, 14, 0, tzinfo=UTC))
    assert [(one["log_level"], one["event"]) for one in logged] == [("info", "the judge has made no evaluation yet")]
    assert front.stale_since is not None


async def test_a_view_is_the_newest_before_it_counts_as_that(tmp_path: Path) -> None:
    """A judge may report that it has written a view before the event of that evaluation arrives."""
    seen: list[datetime | None] = []

    async def refresh() -> None:
        seen.append(link.stale_since)

    link = SocketFrontLink(tmp_path / "link", Takes(nothing, lambda since: None, refresh))
    link._become(datetime(2026, 11, 20, 14, 0, tzinfo=UTC))
    for _ in range(2):
        await link.take(Alive(written=True))
    assert (seen, link.stale_since) == ([datetime(2026, 11, 20, 14, 0, tzinfo=UTC)], None)


async def test_a_view_that_grew_old_while_its_process_was_stopped_is_stale_at_once(tmp_path: Path) -> None:
    """SIGCONT, or a machine that wakes: a request may be answered before anything else has looked."""
    now = 1000.0

    async def refresh() -> None:
        """Reads nothing."""

    link = SocketFrontLink(tmp_path / "link", Takes(nothing, lambda since: None, refresh), lambda: now)
    await link.take(Alive(written=True))
    now += SILENT_SECONDS
    assert link.stale_since is None
    now += HOUR
    assert link.stale_since is not None
    assert HOUR < (datetime.now(UTC) - link.stale_since).total_seconds() < HOUR + 60
    await link.take(Alive(written=True))
    assert link.stale_since is None


def test_a_question_waits_for_a_judge_that_works_and_not_for_one_that_starts(tmp_path: Path) -> None:
    spoken, slow = False, 40.0

    async def judge(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if spoken:
            writer.write(framed(pack((0, Alive(written=True)))))
        while (data := await read_frame(reader)) is not None:
            number, _ = unpack(tuple[int, Hello | Ask], data)
            if number:
                asyncio.get_running_loop().call_later(slow, writer.write, framed(pack((number, Answer()))))
        writer.close()

    async def refresh() -> None:
        """Reads nothing."""

    async def body() -> None:
        nonlocal spoken
        loop, link = asyncio.get_running_loop(), SocketFrontLink(path, Takes(nothing, lambda since: None, refresh))
        for spoken in (False, True):
            server, following = await asyncio.start_unix_server(judge, path), asyncio.create_task(link.run())
            began = loop.time()
            if spoken:
                assert (await link.ask(question)).status == Answer().status
                assert slow <= loop.time() - began < slow + 1
            else:
                with pytest.raises(JudgeUnavailableError, match="ask again later"):
                    await link.ask(question)
                assert loop.time() - began == pytest.approx(AWAY_SECONDS, abs=0.3)
            await end([following])
            server.close()

    path, question = tmp_path / "link", Ask("GET", "/api/v1/status", "", [], None, b"")
    timeless(body())


async def nothing(event: Event) -> None:
    """Takes an event."""

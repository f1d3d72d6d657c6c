"""Schedulers by HTTP, against a server that answers as slurmrestd and the API of Kubernetes do."""

import asyncio
import json
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from collector import collectors
from tests.loopback import Silent, threaded
from truerail.errors import TransportError, UndeclaredCommandError
from truerail.model import Device, Secret, Target
from truerail.model.target import RestAccess
from truerail.transport import rest_api
from truerail.transport.fleet_transport import Routes, kind_of
from truerail.transport.protocol import Answer
from truerail.transport.rest_api import RestApi

TOKEN = "a.jwt-token"
JOBS = "GET /slurm/jobs"
PODS = "GET /api/v1/pods?fieldSelector=status.phase%3DRunning"
RECORDED = Path(__file__).parent / "recordings"

Reply = tuple[int, Any]


class Server:
    """`replies` makes the answer to a path, its query and the headers; `asked` are the paths of all requests."""

    def __init__(self, replies: Callable[[str, dict[str, list[str]], Any], Reply]) -> None:
        self.replies, self.asked, self.url = replies, list[str](), ""


@contextmanager
def serving(replies: Callable[[str, dict[str, list[str]], Any], Reply], path: str = "") -> Iterator[Server]:
    """A server on loopback, or on a Unix socket."""
    shared = Server(replies)

    class Handler(Silent):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            shared.asked.append(self.path)
            parts = urlsplit(self.path)
            status, body = shared.replies(parts.path, parse_qs(parts.query), self.headers)
            raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.say(raw, status=status)

        def address_string(self) -> str:
            return "client"

    class Unix(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    made: Any = Unix(path, Handler) if path else ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    shared.url = f"unix:{path}" if path else f"http://127.0.0.1:{made.server_address[1]}"
    with threaded(made):
        yield shared


@pytest.fixture
def token(tmp_path: Path) -> Secret:
    """A token in a file."""
    (tmp_path / "token").write_text(f"{TOKEN}\n", encoding="utf-8")
    return Secret("file", str(tmp_path / "token"))


def target(url: str, platform: str, token: Secret | None = None, **more: Any) -> Target:
    return Target("it", "api", platform=platform, timeout_seconds=5.0, rest=RestAccess(url, token, **more))


def ask(one: Target, command: str, api: RestApi | None = None) -> Answer:
    (answer,) = asyncio.run((api or RestApi()).ask(one, [command]))
    return answer


def test_slurmrestd_is_asked_in_the_newest_version_that_it_has(token: Secret) -> None:
    recorded = (RECORDED / "slurm_jobs" / "json_data_parser" / "answer.txt").read_text(encoding="utf-8")
    has = {"/slurm/v0.0.41/jobs", "/slurm/v0.0.40/jobs"}

    def replies(path: str, query: dict[str, list[str]], headers: Any) -> Reply:
        if (headers["X-SLURM-USER-TOKEN"], headers["X-SLURM-USER-NAME"]) != (TOKEN, "truerail"):
            return 401, {"errors": [headers["X-SLURM-USER-TOKEN"]]}
        return (200, recorded) if path in has else (404, "Not found")

    with serving(replies) as server:
        api, one = RestApi(), target(server.url, "slurm_api", token, user="truerail")
        facts = [*collectors()["slurm_jobs"].read(ask(one, JOBS, api).text, Device("it"))]
        assert facts == [*collectors()["slurm_jobs"].read(recorded, Device("it"))]
        assert server.asked[-1] == "/slurm/v0.0.41/jobs"
        server.asked.clear()
        assert not ask(one, JOBS, api).error
        assert server.asked == ["/slurm/v0.0.41/jobs"]
        has.clear()
        assert ask(one, JOBS, api).refused
        has.add("/slurm/v0.0.43/jobs")
        assert not ask(one, JOBS, api).error, "an upgrade is followed"
        has.clear()
        assert ask(one, JOBS).error == "the API answers 404 for each known version of slurmrestd"
        refused = ask(target(server.url, "slurm_api", token, user="other"), JOBS)
        assert (refused.error, refused.refused) == ("the API answers 401 Unauthorized", True)


def test_a_unix_socket_needs_no_token(tmp_path: Path) -> None:
    def replies(path: str, query: dict[str, list[str]], headers: Any) -> Reply:
        return (200, {"jobs": []}) if headers["X-SLURM-USER-TOKEN"] is None else (401, "")

    with serving(replies, str(tmp_path / "s")) as server:
        assert ask(target(server.url, "slurm_api"), JOBS).text == '{"jobs": []}'
    with pytest.raises(TransportError, match=r"unix:.*Connection refused|unix:.*No such file"):
        ask(target(server.url, "slurm_api"), JOBS)


def pod(name: str) -> dict[str, Any]:
    spec = {"nodeName": "gpu-001", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
    return {"metadata": {"name": name, "namespace": "ml"}, "spec": spec, "status": {"phase": "Running"}}


def test_all_pages_of_pods_are_read_and_a_page_that_is_gone_begins_again(token: Secret) -> None:
    gone = iter([410, 200, 200, 410, 410])

    def replies(path: str, query: dict[str, list[str]], headers: Any) -> Reply:
        if headers["Authorization"] != f"Bearer {TOKEN}":
            return 403, {"message": headers["Authorization"]}
        assert (path, query["fieldSelector"], query["limit"]) == ("/api/v1/pods", ["status.phase=Running"], ["500"])
        if "continue" not in query:
            return 200, {"kind": "PodList", "metadata": {"continue": "a b&c"}, "items": [pod("one")]}
        assert query["continue"] == ["a b&c"]
        status = next(gone)
        return status, {"kind": "PodList", "metadata": {}, "items": [pod("two")]} if status == 200 else "expired"

    with serving(replies) as server:
        one = target(server.url, "kubernetes_api", token)
        for _ in range(2):
            facts = [*collectors()["k8s_pods"].read(ask(one, PODS).text, Device("it"))]
            assert [fact.pod for fact in facts] == ["one", "two"]  # type: ignore[union-attr]
        assert ask(one, PODS).error == "the API answers 410 Gone"
        Path(token.name).write_text("renewed", encoding="utf-8")
        assert ask(one, PODS).error == "the API answers 403 Forbidden"


def test_pods_of_some_namespaces_and_nodes_are_read_in_pages() -> None:
    asked = []

    def replies(path: str, query: dict[str, list[str]], headers: Any) -> Reply:
        asked.append(path)
        if path == "/api/v1/nodes":
            more = {} if "continue" in query else {"continue": "two"}
            name = "gpu-002" if "continue" in query else "gpu-001"
            return 200, {"kind": "NodeList", "metadata": more, "items": [{"metadata": {"name": name}}]}
        assert query["fieldSelector"] == ["status.phase=Running"]
        return 200, {"kind": "PodList", "metadata": {}, "items": [pod(path.split("/")[4])]}

    with serving(replies) as server:
        one = target(server.url, "kubernetes_api", namespaces=("ml", "team-a"))
        pods = [*collectors()["k8s_pods"].read(ask(one, PODS).text, Device("it"))]
        assert [fact.pod for fact in pods] == ["ml", "team-a"]  # type: ignore[union-attr]
        nodes = [*collectors()["k8s_nodes"].read(ask(one, "GET /api/v1/nodes").text, Device("it"))]
        assert [fact.node for fact in nodes] == ["gpu-001", "gpu-002"]  # type: ignore[union-attr]
    assert asked == ["/api/v1/namespaces/ml/pods", "/api/v1/namespaces/team-a/pods", *["/api/v1/nodes"] * 2]


@pytest.mark.parametrize(
    ("body", "why"),
    [("[]", "not a list of pods"), ('{"items": 5}', "not a list of pods"), ("{", "Expecting property name")],
)
def test_an_answer_that_is_no_list_of_pods_is_refused(body: str, why: str, token: Secret) -> None:
    with serving(lambda path, query, headers: (200, body)) as server, pytest.raises(TransportError, match=why):
        ask(target(server.url, "kubernetes_api", token), PODS)


def test_answers_are_bounded_in_size_pages_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = {"metadata": {"continue": "x"}, "items": []}
    with serving(lambda path, query, headers: (200, endless)) as server:
        monkeypatch.setattr(rest_api, "_MOST_PAGES", 3)
        with pytest.raises(TransportError, match="more than 3 pages"):
            ask(target(server.url, "kubernetes_api"), PODS)
        monkeypatch.setattr(rest_api, "MAX_ANSWER_BYTES", 60)
        with pytest.raises(TransportError, match="an answer of more than 60 bytes"):
            ask(target(server.url, "kubernetes_api"), PODS)
    silent = threading.Event()

    def late(path: str, query: dict[str, list[str]], headers: Any) -> Reply:
        silent.wait(30)
        return 200, "{}"

    with serving(late) as server:
        slow = Target("it", "api", platform="slurm_api", timeout_seconds=0.2, rest=RestAccess(server.url))
        with pytest.raises(TransportError, match="timed out"):
            ask(slow, JOBS)
        silent.set()
    past = Target("it", "api", platform="slurm_api", timeout_seconds=0.0, rest=RestAccess("http://127.0.0.1:9"))
    with pytest.raises(TransportError, match="no answer in time"):
        ask(past, JOBS)


def test_a_token_is_shown_nowhere_and_sent_in_clear_to_no_other_machine(token: Secret, tmp_path: Path) -> None:
    one = target("http://head.example:6820", "slurm_api", token, user="truerail")
    assert TOKEN not in repr(one)
    with pytest.raises(TransportError, match="a token is sent over https, to loopback, or to a Unix socket only"):
        ask(one, JOBS)
    for content, why in (("", "empty, or not one word"), ("two words", "empty, or not one word")):
        Path(token.name).write_text(content, encoding="utf-8")
        with pytest.raises(TransportError, match=why) as raised:
            ask(one, JOBS)
        assert content not in str(raised.value) or not content
    Path(token.name).unlink()
    with pytest.raises(TransportError, match=r"token: file .* FileNotFoundError"):
        ask(one, JOBS)
    missing = target("https://head.example", "slurm_api", ca=str(tmp_path / "ca.pem"))
    with pytest.raises(TransportError, match=r"CA .*ca\.pem: No such file"):
        ask(missing, JOBS)
    named = target("http://user:secret@localhost:1", "slurm_api")
    with pytest.raises(TransportError, match=r"http://localhost:1: .*refused") as refused:
        ask(named, JOBS)
    assert "secret" not in str(refused.value)


def test_only_declared_requests_are_sent() -> None:
    with pytest.raises(UndeclaredCommandError):
        ask(target("http://127.0.0.1:9", "slurm_api"), "GET /slurm/nodes")
    with pytest.raises(TransportError, match="it has no address"):
        ask(Target("it", "api", platform="slurm_api"), JOBS)
    one = target("https://localhost:1", "slurm_api")
    assert kind_of(one) == "rest"

    async def routed() -> None:
        routes = Routes()
        try:
            await routes.ask(one, [JOBS])
        finally:
            await routes.close()

    with pytest.raises(TransportError, match="https://localhost:1: "):
        asyncio.run(routed())


def test_prometheus_is_asked_for_what_the_inspector_of_nccl_wrote(token: Secret) -> None:
    recorded = (RECORDED / "nccl_inspector" / "prometheus" / "answer.txt").read_text(encoding="utf-8")

    def replies(path: str, query: dict[str, list[str]], headers: Any) -> Reply:
        if headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, ""
        assert (path, query) == ("/api/v1/query", {"query": ["nccl_bus_bandwidth_gbs[2m:30s]"]})
        return 200, recorded

    command = next(one.text for one in collectors()["nccl_inspector"].ask if "prometheus_api" in one.platforms)
    with serving(replies) as server:
        assert ask(target(server.url, "prometheus_api", token), command).text == recorded
        assert ask(target(server.url, "prometheus_api"), command).error == "the API answers 401 Unauthorized"

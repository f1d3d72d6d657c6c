"""One fault, one notification: what Prometheus and Alertmanager send of each fault of the demo, with its whole text.

Each fault has a fabric of its own, named as the fault. Rules, routes and texts are the generated ones; only waits are
shorter, and the receivers also take what a chat would show.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from dashboards.generate import GENERATED, ROOT
from tests.demo_faults_shown import Shown, every_fault, leads_to_its_cause
from tests.lab.monitoring import hastened
from tests.loopback import Silent, threaded
from tests.patience import ENOUGH, soon
from tests.ports import free_address
from tests.real import require
from truerail.model import Cause
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.simulator.traffic import FlowFaultKind
from truerail.simulator.traffic.flow_faults import KINDS

TEXTS = Path(__file__).parent / "notifications"
MINUTE_MS = 500
pytestmark = pytest.mark.timeout(180)  # the last alert waits for a quarter of an hour
LAST = "uneven"
"""A fabric whose one alert waits longest of all: when it is here, any other would be."""


def uneven() -> Iterator[str]:
    """The page of that fabric: rail 3 carries half of what the others do."""
    yield f'truerail_evaluation_number{{fabric="{LAST}"}} 7'
    yield 'truerail_build_info{version="1",python="3.11"} 1'
    for rail, rate in enumerate((2e10, 2e10, 2e10, 1e10)):
        link = f'{{fabric="{LAST}",pod="p1",host="h1",rail="{rail}",nic="n{rail}"}}'
        yield f"truerail_link_transmit_bytes_per_second{link} {rate}"
        yield f"truerail_link_speed_bytes_per_second{link} 5e10"


class Everything(ThreadingHTTPServer):
    """What is scraped, by path, the last fabric after all others; and what receivers got: `(path, body)`."""

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self.pages, self.got, self.scraped = pages, list[tuple[str, dict[str, Any]]](), set[str]()
        super().__init__(("127.0.0.1", 0), Exchange)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class Exchange(Silent):
    server: Everything

    def do_GET(self) -> None:
        name = self.path.strip("/")
        self.server.scraped.add(name)
        if name == LAST and self.server.scraped < self.server.pages.keys():
            self.send_error(503)
            return
        self.say(self.server.pages[name], "text/plain; version=0.0.4; charset=utf-8")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.got.append((self.path, body))
        self.send_response(200)
        self.end_headers()


@contextmanager
def program(folder: Path, *command: str) -> Iterator[None]:
    with (folder / f"{command[0]}.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(ENOUGH)


def prometheus(folder: Path, server: Everything, alertmanager: str) -> tuple[str, ...]:
    """Prometheus with the generated rules, on all fabrics."""
    rules = yaml.safe_load((ROOT / GENERATED / "prometheus/truerail.rules.yaml").read_text())
    for group in rules["groups"]:
        group.pop("interval", None)
    (folder / "truerail.rules.yaml").write_text(yaml.safe_dump(hastened(rules, MINUTE_MS), sort_keys=False))
    scraped = {"honor_labels": True, "static_configs": [{"targets": [server.address]}]}
    jobs = [{"job_name": name, "metrics_path": f"/{name}", **scraped} for name in server.pages]
    config = {
        "global": {"scrape_interval": "5s", "evaluation_interval": "1s"},
        "rule_files": ["truerail.rules.yaml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
        "scrape_configs": jobs,
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    files = f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"
    return "prometheus", *files, f"--web.listen-address={free_address()}"


def alertmanager(folder: Path, server: Everything, address: str) -> tuple[str, ...]:
    """Alertmanager with the generated routes; each receiver also writes the text to a chat."""
    generated = ROOT / GENERATED / "alertmanager"
    (folder / "truerail.tmpl").write_text((generated / "truerail.tmpl").read_text())
    routes = hastened(yaml.safe_load((generated / "alertmanager.yml").read_text()), MINUTE_MS)
    for receiver in routes["receivers"]:
        receiver["webhook_configs"][0]["url"] = f"http://{server.address}/{receiver['name']}"
        chat = {"api_url": f"http://{server.address}/chat", "channel": "#fabric", "send_resolved": True}
        words = {"title": '{{ template "truerail.title" . }}', "text": '{{ template "truerail.text" . }}'}
        receiver["slack_configs"] = [{**chat, **words}]
    (folder / "alertmanager.yml").write_text(yaml.safe_dump(routes, sort_keys=False))
    files = f"--config.file={folder}/alertmanager.yml", f"--storage.path={folder}/alerts"
    return "prometheus-alertmanager", *files, f"--web.listen-address={address}", "--cluster.listen-address="


def fabric_of(title: str) -> str:
    """The fabric in a title: `[critical] dc1: ...`."""
    return title.partition("] ")[2].partition(":")[0]


@pytest.fixture(scope="module")
def shown() -> dict[str, Shown]:
    return {one.fault: one for one in every_fault()}


@pytest.fixture(scope="module")
def sent(shown: dict[str, Shown], tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, dict[str, Any]]]:
    """All that is sent until each cause is, and the alert with the longest wait, whose fabric is scraped last."""
    require("prometheus", "prometheus-alertmanager")
    folder, address = tmp_path_factory.mktemp("site"), free_address()
    pages = {name: one.page for name, one in shown.items()} | {LAST: "".join(f"{line}\n" for line in uneven()).encode()}
    with threaded(Everything(pages)) as server, program(folder, *alertmanager(folder, server, address)):
        with program(folder, *prometheus(folder, server, address)):
            soon(partial(complete, server, expected(shown)), "all alerts, and the one that waits longest")
        return list(server.got)


def expected(shown: Mapping[str, Shown]) -> dict[tuple[str, str | None], Cause]:
    """The causes by their fabric and key."""
    return {(fault, cause.key): cause for fault, one in shown.items() for cause in one.publication.evaluation.causes}


def complete(server: Everything, causes: Mapping[tuple[str, str | None], Cause]) -> bool:
    """Whether all causes and the last alert are here, by both ways."""
    labels = [body["groupLabels"] for path, body in server.got if path != "/chat"]
    if not causes.keys() <= {(one["fabric"], one.get("cause")) for one in labels if "fabric" in one}:
        return False
    chats = {fabric_of(body["attachments"][0]["title"]) for path, body in server.got if path == "/chat"}
    hooks = {body["groupLabels"].get("fabric") for path, body in server.got if path != "/chat"}
    return LAST in chats & hooks and chats >= hooks and hooks >= chats


def test_one_cause_is_one_notification(shown: dict[str, Shown], sent: list[tuple[str, dict[str, Any]]]) -> None:
    hooks = [(path, body) for path, body in sent if path != "/chat" and body["groupLabels"]["fabric"] != LAST]
    causes = expected(shown)
    found = {(body["groupLabels"]["fabric"], body["groupLabels"].get("cause")): (path, body) for path, body in hooks}
    assert len(found) == len(hooks), sorted(body["groupKey"] for _, body in hooks)
    assert found.keys() == causes.keys()
    for key, (path, body) in found.items():
        (alert,) = body["alerts"]
        assert alert["status"] == "firing"
        assert alert["labels"]["alertname"] == CAUSE_KINDS[causes[key].kind].alert
        assert alert["annotations"]["summary"] == causes[key].summary
        assert f"\nFirst: {causes[key].action}\n" in alert["annotations"]["description"]
        assert path == {"critical": "/pager", "warning": "/tickets"}[alert["labels"]["severity"]]


def test_each_fault_of_the_demo_has_one_cause_of_its_kind(shown: dict[str, Shown]) -> None:
    """Also a hash that the spines of several pods repeat: one setting of a tier."""
    counts = {fault: len(one.publication.evaluation.causes) for fault, one in shown.items()}
    assert counts == {fault: {"pxn": 0}.get(fault, 1) for fault in shown}


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_of_traffic_leads_to_its_cause_in_the_promised_time(
    shown: dict[str, Shown], kind: FlowFaultKind
) -> None:
    """On more hosts: test_demo_faults.py."""
    leads_to_its_cause(kind, shown[kind.value].site, shown[kind.value].publication.evaluation.causes)


def test_a_notification_can_be_read_by_itself(sent: list[tuple[str, dict[str, Any]]]) -> None:
    """Whole, as in tests/notifications; TRUERAIL_REFRESH=1 writes them, to be reviewed as a diff."""
    texts: dict[str, list[str]] = {}
    for path, body in sent:
        one = body["attachments"][0] if path == "/chat" else {"title": ""}
        if path == "/chat" and fabric_of(one["title"]) != LAST:
            texts.setdefault(fabric_of(one["title"]), []).append(f"{one['title']}\n\n{one['text'].strip()}\n")
    written = {fault: "\n".join(sorted(several)) for fault, several in texts.items()}
    if os.environ.get("TRUERAIL_REFRESH"):
        TEXTS.mkdir(exist_ok=True)
        for fault, text in written.items():
            (TEXTS / f"{fault}.txt").write_text(text)
    assert written == {path.stem: path.read_text() for path in TEXTS.glob("*.txt")}

"""Prometheus, Alertmanager and their receiver, in the lab's management network, configured as the project ships it.

Only waits are shortened. What is checked of the documents is that nothing else differs.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from .layout import Layout
from .serving import PATIENCE_SECONDS, fetch, inside, soon
from .system import run

SECOND = ("scrape_interval", "evaluation_interval", "group_interval", "group_wait")
"""What becomes one second."""
OF_ROUNDS, ROUNDS_WAIT = ("TruerailCoverageFalling",), "30s"
"""Alerts on what several rounds and LLDP's hold time show, which no test shortens: after a restart that is seconds."""
TRUERAIL, PROMETHEUS, ALERTMANAGER = (f"http://127.0.0.1:{port}" for port in (8080, 9090, 9093))
RECEIVERS_PORT = 9095
"""Where the receivers of the generated configuration are."""
HISTORY_SECONDS, HISTORY_STEP = 1800, 60
Sample = tuple[float, float]
"""Time in seconds and value."""


def hastened(document: Any, minute_ms: int = 500) -> Any:
    """The document with shorter waits: `minute_ms` stand for a minute."""
    if isinstance(document, dict):
        shorter = {key: _shorter(key, value, minute_ms) for key, value in document.items()}
        return shorter | {"for": ROUNDS_WAIT} if document.get("alert") in OF_ROUNDS else shorter
    return [hastened(one, minute_ms) for one in document] if isinstance(document, list) else document


def _shorter(key: str, value: Any, minute_ms: int) -> Any:
    if key == "for":
        return f"{minute_ms * int(value.removesuffix('m'))}ms"
    return "1s" if key in SECOND else hastened(value, minute_ms)


def unhurried(document: Any) -> Any:
    """The document without any of those waits."""
    if isinstance(document, dict):
        return {key: unhurried(value) for key, value in document.items() if key not in ("for", *SECOND)}
    return [unhurried(one) for one in document] if isinstance(document, list) else document


@dataclass(frozen=True)
class Monitoring:
    """The three, while they run."""

    layout: Layout
    folder: Path

    def notifications(self, path: str = "/page") -> list[dict[str, Any]]:
        """What a receiver got so far about the fabric: `at`, and `body` as Alertmanager sent it. Not that truerail is
        absent, which is rightly reported where starting it takes long on a busy machine.
        """
        got = (json.loads(line) for line in (self.folder / "received").read_text().splitlines())
        ours = (one for one in got if one["path"] == path)
        return [one for one in ours if one["body"]["groupLabels"]["alertname"] != "TruerailAbsent"]

    def query(self, text: str) -> list[dict[str, Any]]:
        """An instant query's answer."""
        reported = json.loads(fetch(self.layout, f"{PROMETHEUS}/api/v1/query?query={quote(text)}"))
        found: list[dict[str, Any]] = reported["data"]["result"]
        return found

    def samples(self, selector: str) -> list[list[Sample]]:
        """The raw samples of each series that is selected, of the last five minutes."""
        return [[(at, float(value)) for at, value in one["values"]] for one in self.query(f"{selector}[5m]")]


def quicker(name: str, text: str) -> str:
    """A document by its file name: YAML with shorter waits, texts of notifications as they are."""
    if name.endswith(".tmpl"):
        return text
    return yaml.dump(hastened(yaml.load(text, yaml.CSafeLoader)), Dumper=yaml.CSafeDumper, sort_keys=False)


@contextmanager
def monitoring(layout: Layout, folder: Path, documents: dict[str, str]) -> Iterator[Monitoring]:
    """Starts all three on these documents, by file name, with a past in which the fabric was as the service shows it
    now. Ends what it started.
    """
    for name, text in documents.items():
        (folder / name).write_text(quicker(name, text))
    _remember(layout, folder)
    received = str(folder / "received")
    programs = (
        (sys.executable, "-m", "tests.lab.receiver", str(RECEIVERS_PORT), received),
        ("prometheus-alertmanager", f"--config.file={folder}/alertmanager.yml", f"--storage.path={folder}/alerts",
         f"--web.listen-address={ALERTMANAGER.removeprefix('http://')}", "--cluster.listen-address="),
        ("prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address={PROMETHEUS.removeprefix('http://')}"),
    )  # fmt: skip
    with ExitStack() as running:
        for program in programs:
            running.enter_context(_running(layout, folder, *program))
        soon(lambda: Path(received).exists(), bool)
        soon(lambda: fetch(layout, f"{ALERTMANAGER}/-/ready"), bool)
        watched = Monitoring(layout, folder)
        soon(lambda: watched.query("fabric:truerail_evaluation_number:steady2m"), bool, lambda: _logs(folder))
        yield watched


@contextmanager
def _running(layout: Layout, folder: Path, *program: str) -> Iterator[None]:
    name = Path(program[2] if program[1] == "-m" else program[0]).name
    with open(folder / f"{name}.log", "wb") as log:
        process = subprocess.Popen(inside(layout, *program), stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)


def _logs(folder: Path) -> str:
    return "\n".join(path.read_text()[-3000:] for path in sorted(folder.glob("*.log")))


def _remember(layout: Layout, folder: Path) -> None:
    """Half an hour of what the service shows now, as blocks of Prometheus (`promtool tsdb create-blocks-from`)."""
    now, past = int(time.time()), folder / "past"
    series = list(_shown(layout))
    with past.open("w", encoding="utf-8") as file:
        for name, value in series:
            file.writelines(f"{name} {value} {at}\n" for at in range(now - HISTORY_SECONDS, now, HISTORY_STEP))
        file.write("# EOF\n")
    run("promtool", "tsdb", "create-blocks-from", "--quiet", "openmetrics", str(past), str(folder / "data"))


def _shown(layout: Layout) -> Iterator[tuple[str, str]]:
    """Each series with its value, and with the labels that its target gives it."""
    for group in json.loads(fetch(layout, f"{TRUERAIL}/sd")):
        reported, (address,) = group["labels"], group["targets"]
        asked = f"?pod={reported['__param_pod']}" if "__param_pod" in reported else ""
        mine = f'instance="{reported.get("instance", address)}",job="truerail"}}'
        for line in fetch(layout, f"{TRUERAIL}/metrics{asked}").splitlines():
            if line.startswith("#"):
                continue
            name, _, value = line.rpartition(" ")
            yield (f"{name[:-1]},{mine}" if name.endswith("}") else f"{name}{{{mine}"), value

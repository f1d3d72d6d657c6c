"""`truerail serve` on real daemons: a swap is found, remembered, gone when put right; signals do what they say."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from real import give_up

from tests.lab import cables, fabric, hearing
from tests.lab.layout import Layout
from tests.lab.system import LabError

SETTINGS = """\
fabric: lab
inventory: inventory.yaml
plan: plan.csv
http: {port: 8765}
schedule:
  every: {lldp_host: 2s, lldp_switch: 2s, net_link: 2s, rdma_link: 2s}
  jitter: 0
recovery: {after: 4s}
"""
ASK = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())"
PATIENCE_SECONDS = 60.0
Answer = dict[str, Any]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Layout]:
    layout = Layout(f"s{os.getpid()}", 2, 4, 2, tmp_path_factory.mktemp("lab") / "user")
    try:
        started = fabric.running(layout)
        started.__enter__()
    except (LabError, subprocess.SubprocessError) as error:
        give_up(f"no lab here: {error}")
    (layout.folder / "truerail.yaml").write_text(SETTINGS)
    try:
        yield layout
    finally:
        started.__exit__(None, None, None)


def inside(layout: Layout, *args: str) -> list[str]:
    return ["ip", "netns", "exec", layout.management, sys.executable, *args]


@contextmanager
def serving(layout: Layout) -> Iterator[subprocess.Popen[str]]:
    """The service in the lab's management network, until the block ends; it must end well."""
    command = inside(layout, "-m", "truerail", "serve", "--config", str(layout.folder / "truerail.yaml"))
    log = (layout.folder / "serve.log").open("a")
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, text=True)
    try:
        until(layout, "fabric", lambda answer: answer["number"] > 0, process)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=30)
        log.close()
    assert code == 0, Path(layout.folder / "serve.log").read_text()


def ask(layout: Layout, path: str) -> Answer:
    """One question of the API, asked from where the service runs."""
    url = f"http://127.0.0.1:8765/api/v1/{path}"
    done = subprocess.run(inside(layout, "-c", ASK, url), capture_output=True, text=True, timeout=20, check=False)
    if done.returncode:
        raise ConnectionError(done.stderr)
    found: Answer = json.loads(done.stdout)
    return found


def until(
    layout: Layout, path: str, good: Callable[[Answer], bool], process: subprocess.Popen[str] | None = None
) -> Answer:
    """Asks until the answer is as wanted; the answer."""
    ends = time.monotonic() + PATIENCE_SECONDS
    last: object = None
    while time.monotonic() < ends:
        try:
            answer = ask(layout, path)
            if good(answer):
                return answer
            last = answer
        except ConnectionError as error:
            last = error
            if process is not None and process.poll() is not None:
                break
        time.sleep(0.5)
    raise AssertionError(f"{path}: {last}\n{(layout.folder / 'serve.log').read_text()}")


def causes(answer: Answer) -> list[tuple[str, list[str]]]:
    return [(one["kind"], one["subjects"]) for one in answer["items"]]


def test_a_swap_is_found_and_remembered_and_gone_when_it_is_put_right(lab: Layout) -> None:
    one, other = lab.jack("gpu-002/enp26s0f0np0"), lab.jack("gpu-002/enp77s0f0np0")
    swap = [("cable-swap", [str(one), str(other)])]
    with serving(lab) as process:
        healthy = ask(lab, "fabric")
        assert (healthy["tone"], healthy["cables"]["right"]) == ("good", healthy["cables"]["planned"])
        assert healthy["journal"]["health"] == "keeping"
        cables.swap(lab, one, other)
        try:
            until(lab, "causes", lambda answer: causes(answer) == swap)
            where = ask(lab, f"where?port={one}")
            (path,) = where["paths"]
            assert path["seen"]["device"] != path["planned"]["device"]
            assert path["state"] == "wrong"
            assert path["since"] is not None
            before = ask(lab, "fabric")["number"]
            process.send_signal(signal.SIGHUP)
            until(lab, "fabric", lambda answer: answer["number"] > before)
            assert causes(ask(lab, "causes")) == swap
        finally:
            cables.swap(lab, one, other)
        until(lab, "causes", lambda answer: not answer["items"])
        hearing.settle(lab)
        told = until(lab, "history?kind=findings", lambda found: "resolved" in {c["kind"] for c in found["items"]})
        assert {"appeared", "resolved"} <= {change["kind"] for change in told["items"]}
        diff = ask(lab, "diff?since=1h")
        assert diff["links"] == []
        assert "2 links changed and changed back" in diff["says"]
        number = ask(lab, "fabric")["number"]
    with serving(lab):
        assert ask(lab, "fabric")["number"] > number
        kinds = [event["kind"] for event in ask(lab, f"timeline?of={one}")["events"]]
        assert "appeared" in kinds
        assert "resolved" in kinds


def test_settings_that_cannot_be_used_end_with_the_line_and_what_is_wrong(lab: Layout, tmp_path: Path) -> None:
    bad = tmp_path / "truerail.yaml"
    bad.write_text("inventory: nowhere.yaml\nhttp: {port: many}\n")
    done = subprocess.run(
        inside(lab, "-m", "truerail", "serve", "--config", str(bad)),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert f"{bad}:2: http.port 'many'" in done.stderr


def test_a_port_that_is_taken_is_named(lab: Layout, tmp_path: Path) -> None:
    with serving(lab):
        settings = SETTINGS.replace("inventory.yaml", str(lab.folder / "inventory.yaml"))
        (tmp_path / "truerail.yaml").write_text(settings.replace("plan.csv", str(lab.folder / "plan.csv")))
        command = inside(lab, "-m", "truerail", "serve", "--config", str(tmp_path / "truerail.yaml"))
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert "8765" in done.stderr


def test_check_reads_everything_and_begins_nothing(lab: Layout) -> None:
    command = inside(lab, "-m", "truerail", "serve", "--check", "--config", str(lab.folder / "truerail.yaml"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    assert "good" in done.stdout
    assert "16 cables" in done.stdout

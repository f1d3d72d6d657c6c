"""The demo's terminal, its folder, its settings and its port; and the whole of it, served and ended."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from collector import collectors
from tests.demo_process import get, ready, running
from tests.live_site import runner
from tests.living_site import Site
from tests.patience import ENOUGH
from tests.real import require
from truerail.cli.demo_folder import MARK, kept_for_one
from truerail.cli.demo_live import SLURM_TARGET, WithScheduler, demo_settings, needs_free
from truerail.cli.demo_stage import HELP, Stage, for_prometheus
from truerail.errors import CommandError
from truerail.model import CauseKind, Device, Fact, SchedulerJob, SchedulerNode
from truerail.simulator import Fault


@pytest.fixture
def site() -> Site:
    """A fabric with two faults."""
    return Site([Fault(CauseKind.CABLE_SWAP, "one-host"), Fault(CauseKind.LINK_DOWN, "host")])


@pytest.fixture
def stage(site: Site) -> Stage:
    """Its terminal, after the service has begun to answer."""
    made = Stage(site.fabric, 16, 8, quiet=False)
    made.open("http://127.0.0.1:8080/")
    return made


def test_the_greeting_says_where_to_click(stage: Stage, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    stage.open("http://127.0.0.1:8080/")
    said = capsys.readouterr().out
    host = site.director.standing[0].cause.cables[0].device
    assert "16 hosts, 8 rails and 12 switches" in said
    assert "  Open http://127.0.0.1:8080/\n" in said
    assert f"http://127.0.0.1:8080/hosts/{host}" in said
    assert "Ctrl-C stops it." in said
    assert HELP not in said, "nobody can type here"


def test_the_greeting_says_how_prometheus_and_grafana_get_it(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    Stage(site.fabric, 16, 8, quiet=False).open("http://127.0.0.1:8083/")
    said = capsys.readouterr().out
    line = next(line.strip() for line in said.splitlines() if "scrape_configs" in line)
    (job,) = yaml.safe_load(line)["scrape_configs"]
    assert job["http_sd_configs"] == [{"url": "http://127.0.0.1:8083/sd"}]
    assert job["honor_labels"] is True
    assert "monitoring export DIR --truerail http://127.0.0.1:8083\n" in said


def test_the_prometheus_line_of_the_greeting_is_a_configuration(tmp_path: Path) -> None:
    require("promtool")
    (tmp_path / "prometheus.yml").write_text(for_prometheus("http://127.0.0.1:8083")[0])
    done = subprocess.run(
        ["promtool", "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "SUCCESS" in done.stdout


def test_every_event_is_one_line(stage: Stage, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    standing = site.director.plant(Fault(CauseKind.UNREACHABLE, "off"))
    site.director.fix(standing)
    fault, repair = capsys.readouterr().out.splitlines()
    host = standing.cause.subjects[0]
    assert re.fullmatch(rf"  \d\d:\d\d:\d\d  ✗ #3   {host} lost its power", fault)
    assert re.fullmatch(rf"  \d\d:\d\d:\d\d  ✓ #3   the technician repaired unreachable of {host}", repair)


def test_a_quiet_demo_tells_no_event(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    stage = Stage(site.fabric, 16, 8, quiet=True)
    stage.open("http://127.0.0.1:8080/")
    capsys.readouterr()
    site.director.fix(1)
    assert capsys.readouterr().out == ""
    assert stage.obey("fix 2") == "  #2"


def test_words_change_the_fabric(stage: Stage, site: Site) -> None:
    assert stage.obey("\n") == ""
    assert stage.obey("fault link-down:uplink\n") == ""
    assert [standing.kind for standing in site.director.standing] == ["cable-swap", "link-down", "link-down"]
    assert stage.obey("fix 1") == ""
    port = str(site.director.standing[0].cause.cables[0])
    assert stage.obey("list").splitlines()[0] == f"  #2   link-down      {port}"
    assert stage.obey(f"fix {port}") == ""
    assert stage.obey("fix #3") == ""
    assert stage.obey("list") == "  no active fault"
    assert stage.obey("fault") == ""
    assert site.director.standing[0].kind is CauseKind.CABLE_SWAP
    assert stage.obey("pause") == "  the script is paused"
    assert site.director.paused
    stage.obey("go")
    assert not site.director.paused
    assert stage.obey("help") == HELP


def test_words_are_taken_from_the_terminal(
    stage: Stage, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    reading, writing = os.pipe()

    async def two_turns() -> None:
        """The loop sees in one turn what can be read, and has read it after the next."""
        for _ in range(2):
            await asyncio.sleep(0)

    async def typed() -> None:
        with stage.listening_to_keys():
            os.write(writing, b"fix 1\nlist\n")
            await two_turns()
            os.close(writing)
            await two_turns()
            assert not asyncio.get_running_loop().remove_reader(reading), "nobody reads what has ended"

    with open(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        monkeypatch.setattr("truerail.cli.demo_stage._in_foreground", lambda: True)
        asyncio.run(typed())
    repaired, listed = capsys.readouterr().out.splitlines()
    assert "the technician repaired cable-swap" in repaired
    assert listed.startswith("  #2   link-down")
    assert len(site.director.standing) == 1


@pytest.mark.parametrize(
    ("line", "summary"),
    [
        ("fix gpu-999", "no active fault includes 'gpu-999'"),
        ("fix", "no active fault includes ''"),
        ("fault meteor", "unknown fault 'meteor'"),
        ("fault meteor\x1b[2J", r"\x1b"),
        ("fault cable-swap:sideways", "no variant 'sideways'"),
        ("fault gpu-nic-order:model", "not possible now"),
    ],
)
def test_words_that_cannot_be_done_are_answered(stage: Stage, site: Site, line: str, summary: str) -> None:
    answer = stage.obey(line)
    assert summary in answer
    assert "\x1b" not in answer
    assert len(site.director.standing) == 2


def test_a_port_in_use_is_named_and_no_other_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"port {port} of 127.0.0.1"):
            needs_free("127.0.0.1", port)
    needs_free("127.0.0.1", 0)


def test_settings_are_quick_and_nothing_of_the_environment_gets_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUERAIL_JOURNAL__URL", "postgresql://production/journal")
    monkeypatch.setenv("TRUERAIL_HTTP__HOST", "0.0.0.0")
    settings = demo_settings(tmp_path, "127.0.0.1", 8081)
    assert settings.journal.url == f"sqlite:///{tmp_path}/journal.db"
    assert (settings.http.host, settings.http.port) == ("127.0.0.1", 8081)
    assert {*settings.schedule.every.values()} == {timedelta(seconds=5)}
    assert settings.recovery.resolve_after == timedelta(seconds=15)


def test_the_demo_serves_this_machine_only(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"--host 0\.0\.0\.0: the demo has no access control"):
        demo_settings(tmp_path, "0.0.0.0", 8080)


def test_a_folder_is_kept_for_one_demo_and_begins_without_an_old_journal(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    with kept_for_one(folder):
        (folder / "journal.db-wal").write_text("old")
        (folder / "mine.txt").write_text("keep")
        with pytest.raises(CommandError, match="another demo uses this folder"), kept_for_one(folder):
            pass
    with kept_for_one(folder):
        assert sorted(path.name for path in folder.iterdir()) == [MARK, "mine.txt"]
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "journal.db").write_text("keep")
    with pytest.raises(CommandError, match="not made by a demo"), kept_for_one(precious):
        pass
    assert (precious / "journal.db").read_text() == "keep"


def test_the_demo_serves_its_fabric_and_ends_cleanly(tmp_path: Path) -> None:
    faults = ("--fault", "cable-swap:one-host", "--fault", "link-down:host")
    with running(tmp_path / "demo", "--hosts", "8", "--rails", "4", *faults, history=True) as (process, url):
        assert ready(url)
        status, causes = get(f"{url}api/v1/causes")
        assert status == 200
        assert "cable-swap" in causes
        assert "link-down" in causes
        assert get(url)[0] == 200
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=ENOUGH)
    assert process.returncode == 0, errors
    assert "Stopped." in said
    assert errors == ""
    for name, mode in {"": 0o40700, MARK: 0o100600, "plan.csv": 0o100600, "journal.db": 0o100600}.items():
        assert (tmp_path / "demo" / name).stat().st_mode == mode


def test_once_serves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "truerail", "demo", "--once", "--hosts", "8", "--rails", "4"]
    words = ["--fault", "cable-move", "--output", str(tmp_path / "demo")]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=ENOUGH, check=False)
    assert done.returncode == 0, done.stderr
    assert "cable-move" in done.stdout
    assert "Try next" in done.stdout
    made = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "demo").iterdir()}
    assert made == {"capture": 0o700, **dict.fromkeys((MARK, "plan.csv", "truth.json", "report.html"), 0o600)}


def test_a_fabric_too_small_for_its_faults_is_refused_with_a_size_that_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, command = runner(monkeypatch, capsys), ("demo", "--once", "--output", tmp_path / "demo")
    code, _, errors = run(*command, "--hosts", 8, "--rails", 4)
    assert code == 2
    assert "8 hosts with 4 rails are too few for these faults" in errors
    assert "(16 and 8 have room)" in errors
    code, _, errors = run(*command, "--hosts", 16, "--rails", 8)
    assert code == 0, errors


def test_the_demos_slurm_has_the_jobs_whose_traffic_is_simulated(site: Site) -> None:
    scheduler = WithScheduler(site.fabric)

    def read(collector: str) -> tuple[Fact, ...]:
        command = next(one.text for one in collectors()[collector].ask if "slurm" in one.platforms)
        (answer,) = asyncio.run(scheduler.ask(SLURM_TARGET, [command]))
        return tuple(collectors()[collector].read(answer.text, Device("slurm")))

    jobs = {job.name: job for job in read("slurm_jobs") if isinstance(job, SchedulerJob)}
    assert {name: set(job.nodes) for name, job in jobs.items()} == {
        job.name: set(job.hosts) for job in site.fabric.traffic.jobs
    }
    assert all(job.gpus == 8 * len(job.nodes) for job in jobs.values())
    nodes = {node.node: node.states for node in read("slurm_nodes") if isinstance(node, SchedulerNode)}
    busy = {host for job in jobs.values() for host in job.nodes}
    assert {name for name, states in nodes.items() if states == ("ALLOCATED",)} == busy
    assert set(nodes) == {name for name, device in site.fabric.plan.devices.items() if device.role == "host"}
    (refused,) = asyncio.run(scheduler.ask(SLURM_TARGET, ["scontrol show topology"]))
    assert refused.refused
    (host,) = asyncio.run(scheduler.ask(site.fabric.targets[0], ["lldpctl -f json0"]))
    assert host.text

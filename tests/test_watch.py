"""The live list: steps tick themselves off, new faults come on top, and it is readable at 60 columns."""

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from msgspec import structs
from rich.console import Console

from benchmarks.accuracy.list_forms import FORMS
from benchmarks.accuracy.lists import written
from tests.fake_fleet import FakeFleet
from tests.live_site import Run, Site
from truerail.analysis.round import Round
from truerail.model import CauseKind, Evaluation, Reading, Snapshot
from truerail.outputs.worklist import Mark, Worklist, line_of, screen, status_line, totals
from truerail.plans import dump_csv
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=8, rails=4, spines=2, uplinks=2)
SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")
DEAD = Fault(CauseKind.LINK_DOWN, "host")


def of(*faults: Fault, seed: int = 2) -> Simulation:
    return simulate(SHAPE, faults, seed=seed, folders="inventory")


def rounds_of(*simulations: Simulation, below: Path) -> tuple[Path, Path]:
    """A capture with a round of each, and the plan of the first."""
    capture = below / "capture"
    capture.mkdir()
    for number, simulation in enumerate(simulations):
        simulation.write(below / str(number)).rename(capture / f"2026-11-20T14:00:0{number}Z")
    return capture, below / "0" / "plan.csv"


def evaluated(simulation: Simulation) -> Evaluation:
    return evaluate(Round(simulation.plan, simulation.snapshot()))


def test_a_step_ticks_itself_off_and_leaves_after_a_while() -> None:
    work = Worklist()
    came = work.update(evaluated(of(SWAP)))
    assert [change.mark for change in came] == [Mark.NEW, Mark.NEW]
    assert [entry.mark for entry in work.entries] == [Mark.LEFT, Mark.LEFT]
    assert totals(work) == "done 0, left 2, host down 0, not read 0"
    right = evaluated(of())
    done = work.update(right)
    assert [change.mark for change in done] == [Mark.DONE, Mark.DONE]
    assert totals(work) == "done 2, left 0, host down 0, not read 0"
    for seconds, shown in ((14, 2), (15, 0)):
        assert not work.update(replace(right, at=right.at + timedelta(seconds=seconds)))
        assert len(work.entries) == shown
    assert work.done == 2


def test_a_new_fault_comes_on_top_and_the_others_keep_their_place() -> None:
    work, simulation = Worklist(), of()
    cables = [cable for cable in simulation.plan.host_cables if cable.a.device == "gpu-005"]
    simulation.world.dead.add(cables[3].a)
    simulation.world.dead.add(cables[3].b)
    work.update(evaluated(simulation))
    first = [entry.key for entry in work.entries]
    simulation.world.plug(cables[0].a, cables[1].b)
    simulation.world.plug(cables[1].a, cables[0].b)
    changes = work.update(evaluated(simulation))
    assert [change.mark for change in changes] == [Mark.NEW, Mark.NEW]
    assert [entry.mark for entry in work.entries] == [Mark.NEW, Mark.NEW, Mark.LEFT]
    assert [entry.key for entry in work.entries][2:] == first
    work.update(evaluated(simulation))
    assert [entry.mark for entry in work.entries] == [Mark.LEFT, Mark.LEFT, Mark.LEFT]


def test_a_fault_that_comes_back_is_new_again() -> None:
    work = Worklist()
    for faults in ((SWAP,), (), (SWAP,)):
        changes = work.update(evaluated(of(*faults)))
    assert [change.mark for change in changes] == [Mark.NEW, Mark.NEW]
    assert work.left == 2


def test_what_nobody_can_see_is_not_done() -> None:
    work = Worklist()
    simulation = of(DEAD)
    work.update(evaluated(simulation))
    (entry,) = work.entries
    seen = simulation.snapshot()
    readings = [structs.replace(r, facts=(), error="gone") for r in seen.readings]
    changes = work.update(evaluate(Round(simulation.plan, Snapshot(seen.at, readings))))
    assert entry.key in {e.key for e in work.entries}
    assert Mark.DONE not in {change.mark for change in changes}
    assert work.done == 0
    assert work.unread == len(simulation.plan.cables)


def test_labels_swapped_are_one_step_and_tick_off() -> None:
    work = Worklist()
    work.update(evaluated(of(Fault(CauseKind.LEAF_SWAP, "labels"))))
    assert 1 <= work.left <= 2
    work.update(evaluated(of()))
    assert work.left == 0
    assert work.done >= 1


def unpowered(simulation: Simulation) -> Evaluation:
    """A host without power: it does not answer, and all of its links are down."""
    simulation.world.off.add("gpu-003")
    simulation.world.absent.add("gpu-003")
    seen = simulation.snapshot()
    silent = [Reading("gpu-003", "lldp_host", seen.at, error="no route to host")]
    return evaluate(Round(simulation.plan, Snapshot(seen.at, [*seen.readings, *silent])))


def test_hosts_without_power_are_counted_not_listed() -> None:
    work = Worklist()
    work.update(unpowered(of(SWAP)))
    assert totals(work).startswith("done 0, left 2, host down 4")
    assert not [entry for entry in work.entries if "gpu-003" in str(entry.step.at)]


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("height", [8, 24, 60])
def test_the_screen_fits(width: int, height: int) -> None:
    simulation = of(SWAP, DEAD, DEAD)
    work = Worklist()
    work.update(evaluated(simulation))
    out = StringIO()
    console = Console(file=out, width=width, height=height, no_color=True)
    status = status_line("14:00:00", 14, 14, 0.3)
    console.print(screen(work, simulation.plan, width=width, height=height, status=status))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0] == "done 0, left 4, host down 0, not read 0"
    shown = sum(line.startswith("[ ]") for line in lines)
    assert shown == 4 or any(f"and {4 - shown} more below" in line for line in lines)
    assert shown >= 1
    if height >= 24:
        assert len(lines) <= height
    for entry in work.entries[:1]:
        text = " ".join(" ".join(lines).split())
        assert str(entry.step.far) in text
        assert str(entry.step.to or "") in text


def test_both_ends_and_their_places_are_reported() -> None:
    simulation = of(SWAP)
    change = Worklist().update(evaluated(simulation))[0]
    line = line_of(change, simulation.plan)
    step = change.entry.step
    assert line.startswith("new    rack ")
    assert str(step.to) in line
    assert f"other end {step.far}, rack " in line
    assert "cable-swap" in line


def test_a_hostile_label_cannot_act_on_the_terminal() -> None:
    simulation = of(SWAP)
    cables = tuple(cable._replace(label="\x1b[2Jpwned") for cable in simulation.plan.cables)
    plan = replace(simulation.plan, cables=cables)
    change = Worklist().update(evaluate(Round(plan, simulation.snapshot())))[0]
    assert "\x1b" not in line_of(change, plan)
    assert "\\x1b[2Jpwned" in line_of(change, plan)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    return Site(tmp_path, of(SWAP), monkeypatch)


def changing(site: Site, *later: Simulation) -> Callable[[], None]:
    """After each round the fleet stands as the next of these."""
    coming = iter(later)

    def change() -> None:
        simulation = next(coming, None)
        if simulation:
            site.fleet.answers = FakeFleet(simulation).answers

    return change


def test_watch_prints_one_line_per_change_without_a_terminal(
    site: Site, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    from truerail.cli import watch

    change = changing(site, of(), of(DEAD))

    async def pause(stop: object, seconds: float) -> None:
        change()

    monkeypatch.setattr(watch, "_pause", pause)
    words = ("--inventory", site.inventory, "--plan", site.plan, "--rounds", "4")
    code, out, err = run("watch", *words)
    lines = [line.split(" ", 1)[1] for line in out.splitlines()]
    assert [line.split()[0] for line in lines] == ["new", "new", "done", "done", "done", "done", "new", "done"]
    assert lines[2] == "done 0, left 2, host down 0, not read 0"
    assert lines[5] == "done 2, left 0, host down 0, not read 0"
    assert lines[7].startswith("done 2, left 1")
    assert (code, err) == (1, "")
    assert site.fleet.closed


def test_watch_replays_the_rounds_of_a_capture(tmp_path: Path, run: Run) -> None:
    capture, plan = rounds_of(of(SWAP), of(), below=tmp_path)
    code, out, _ = run("watch", "--from", capture, "--plan", plan, "--interval", "0")
    assert code == 0
    assert out.splitlines()[-1].endswith("done 2, left 0, host down 0, not read 0")
    assert json.loads((tmp_path / "0" / "truth.json").read_text())["causes"][0]["kind"] == "cable-swap"


@pytest.mark.parametrize(("form", "shown"), [("ports PN", "P1 is swp1"), ("ports N + 100", "is P101 its swp1?")])
def test_watch_shows_which_names_mean_what_or_asks(
    tmp_path: Path, run: Run, form: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulation = simulate(replace(SHAPE, platforms=("cumulus",)), (), seed=2)
    capture, plan = simulation.write(tmp_path), tmp_path / "list.csv"
    plan.write_text(dump_csv(written(simulation, FORMS[form]).plan))
    words = ("watch", "--from", capture, "--plan", plan, "--interval", "0")
    out = run(*words)[1]
    assert out.count(shown) >= 1
    drawn = StringIO()
    console = Console(file=drawn, width=60, height=30, force_terminal=True)
    monkeypatch.setattr("truerail.cli.terminal_output.interactive", lambda: console)
    run(*words)
    assert shown in " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.getvalue()).split())


def test_watch_where_nobody_answers_is_exit_2(site: Site, run: Run) -> None:
    site.fleet.troubles = dict.fromkeys(site.fleet.answers, "locked")
    code, _, err = run("watch", "--inventory", site.inventory, "--plan", site.plan, "--rounds", "1")
    assert code == 2
    assert "nothing was evaluated" in err
    assert sys.exc_info() == (None, None, None)


def test_on_a_terminal_of_60_columns_the_list_is_redrawn_in_place(tmp_path: Path) -> None:
    capture, plan = rounds_of(of(SWAP, DEAD), of(), below=tmp_path)
    code, shown = on_terminal("--from", capture, "--plan", plan, "--interval", "0.1", columns=60, rows=30)
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", shown)]
    assert code == 0, shown
    assert max(map(len, lines)) <= 60
    text = "\n".join(lines)
    assert "done 0, left 3, host down 0, not read 0" in text
    assert "done 3, left 0, host down 0, not read 0" in text
    assert text.rpartition("done 3, left 0")[2].count("[x]") == 3
    assert "\x1b[1A" in shown  # the cursor goes up: the second round is drawn over the first


@pytest.mark.parametrize(
    ("live", "by"),
    [(False, signal.SIGTERM), (True, signal.SIGTERM), (True, signal.SIGINT)],
    ids=["replayed", "live", "live, Ctrl-C"],
)
def test_it_ends_by_a_signal_and_never_hides_the_cursor(tmp_path: Path, live: bool, by: signal.Signals) -> None:
    inventory, (capture, plan) = tmp_path / "inventory.yaml", rounds_of(of(SWAP), of(), below=tmp_path)
    inventory.write_text("devices:\n  - {name: gpu-001, role: host, address: local}\n")
    source = ("--inventory", inventory) if live else ("--from", capture)
    words = (*source, "--plan", plan, "--interval", "3600")
    code, shown = on_terminal(*words, columns=60, rows=30, stop="Ctrl-C ends", by=by)
    assert code in (1, 2 if live else 1), shown  # 2 where this machine answers nothing that is read
    assert ("logging in to 1 device" in shown) is live
    assert "not read" in shown
    assert "\x1b[?25" not in shown  # at no instant is there a cursor to bring back
    assert "Ctrl-C ends\x1b[0m\r\n" in shown, "the prompt comes below"
    assert "Traceback" not in shown


def on_terminal(
    *words: str | Path, columns: int, rows: int, stop: str = "", by: signal.Signals = signal.SIGINT
) -> tuple[int, str]:
    """Runs watch on a terminal of its own: exit code, and all that it wrote there. A signal once it wrote `stop`."""
    command = [sys.executable, "-m", "truerail", "watch", *map(str, words)]
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("COLUMNS", None)
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        parts = []
        with contextlib.suppress(OSError):  # Linux says EIO where the other end is closed
            while part := os.read(ours, 65536):
                parts.append(part)
                if stop and stop in b"".join(parts).decode(errors="replace"):
                    process.send_signal(by)
                    stop = ""
        os.close(ours)
    return process.returncode, b"".join(parts).decode()

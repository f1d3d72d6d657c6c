"""A capture of several rounds tells rates: its counters become a window, whatever else is in it."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.capture_trees import RDMA, grow, lldp, pack
from truerail.analysis.counters import Quantity, Window
from truerail.analysis.counters.window import SAMPLES
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import Cable, Device, Plan, Port, Reading, Role
from truerail.model.finding import Status
from truerail.plans import dump_csv
from truerail.rounds import evaluate
from truerail.transport.replay import MOST_APART_SECONDS, Capture, read_capture, with_counters

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
DEVICES = {"gpu-1": Device("gpu-1"), "leaf-0": Device("leaf-0", Role.LEAF)}
PLAN = Plan(DEVICES, (Cable(Port("gpu-1", "eth0"), Port("leaf-0", "swp1"), rail=0),))


def named(seconds: float) -> str:
    return (AT + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def counted(sent: int, downs: int = 0) -> str:
    return f"NIC statistics:\n     tx_bytes_phy: {sent}\n     link_down_events_phy: {downs}\n"


def rounds(times: Iterable[float], **more: str) -> dict[str, str]:
    """The files of a capture: one host that sends a thousand bytes a second."""
    files = {}
    for seconds in times:
        at = f"{named(seconds)}/gpu-1"
        files[f"{at}/ethtool_-S_eth0"] = counted(int(seconds * 1000))
        files |= {f"{at}/rdma_link": RDMA, f"{at}/lldpctl_-f_json0": lldp("eth0", "leaf-0", "swp1")}
        files |= {f"{at}/{name}": text for name, text in more.items()}
    return files


def whole(path: Path, round_name: str | None = None) -> Capture:
    return with_counters(read_capture(path, devices=DEVICES, round_name=round_name), devices=DEVICES)


def sent(capture: Capture) -> list[float]:
    assert capture.counters is not None
    source = capture.counters.sources["nic_counters"]
    assert source.ports == (("gpu-1", "eth0"),)
    found: list[float] = source.series[Quantity.TX_BYTES, None].of(capture.counters.order)[0].tolist()
    return found


@pytest.mark.parametrize("packed", [False, True])
def test_all_rounds_in_order_make_a_window(tmp_path: Path, packed: bool) -> None:
    files = rounds((20, 0, 30, 10))
    capture = whole(pack(tmp_path / "c.tgz", files) if packed else grow(tmp_path, files))
    assert sent(capture) == pytest.approx([np.nan, 10_000, 10_000, 10_000], nan_ok=True)
    assert capture.notes == ()
    assert {reading.at for reading in capture.readings} == {AT + timedelta(seconds=30)}


def test_only_the_rounds_up_to_the_one_that_was_read_count(tmp_path: Path) -> None:
    path = grow(tmp_path, rounds(range(0, 60, 10)))
    assert sent(whole(path, named(20))) == pytest.approx([np.nan, 10_000, 10_000], nan_ok=True)


def test_of_hundreds_of_rounds_the_last_are_read_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = grow(tmp_path, rounds(range(0, 1000, 10)))
    taken: list[list[Reading]] = []
    put = Window.put

    def watched(window: Window, readings: Any) -> None:
        taken.append(list(readings))
        put(window, readings)

    monkeypatch.setattr(Window, "put", watched)
    ticks: list[tuple[int, int]] = []
    capture = with_counters(
        read_capture(path, devices=DEVICES), devices=DEVICES, progress=lambda *done: ticks.append(done)
    )
    assert len(taken) == SAMPLES + 1
    assert {reading.collector for readings in taken for reading in readings} == {"nic_counters"}
    assert [len({reading.at for reading in readings}) for readings in taken] == [1] * (SAMPLES + 1)
    assert sent(capture) == [10_000] * SAMPLES
    assert ticks[-1] == (SAMPLES + 1, SAMPLES + 1)


def test_rounds_a_minute_apart_are_samples_too_and_rounds_of_yesterday_are_none(tmp_path: Path) -> None:
    times = [-86_400, -86_390, *range(0, 300, 60)]
    assert sent(whole(grow(tmp_path / "a", rounds(times)))) == pytest.approx([np.nan, *[60_000] * 4], nan_ok=True)
    far = (0, MOST_APART_SECONDS + 1)
    assert whole(grow(tmp_path / "b", rounds(far))).counters is None


def test_one_round_and_a_capture_without_counters_have_no_window(tmp_path: Path) -> None:
    assert whole(grow(tmp_path / "one", rounds([0]))).counters is None
    bare = {f"{named(at)}/gpu-1/rdma_link": RDMA for at in (0, 10, 20)}
    assert whole(grow(tmp_path / "bare", bare)).counters is None


def test_an_answer_of_a_round_before_that_cannot_be_read_is_noted_and_missing(tmp_path: Path) -> None:
    files = rounds((0, 10, 20, 30))
    files[f"{named(20)}/gpu-1/ethtool_-S_eth0"] = "Segmentation fault\n"
    capture = whole(grow(tmp_path, files))
    assert sent(capture) == pytest.approx([np.nan, 10_000, np.nan, 20_000], nan_ok=True)
    (note,) = capture.notes
    assert note.startswith(f"answers with counters that could not be read: 1 ({named(20)}/gpu-1/ethtool_-S_eth0")


def test_a_round_that_cannot_be_listed_is_noted(tmp_path: Path) -> None:
    path = grow(tmp_path, rounds((0, 10, 20)))
    capture = read_capture(path, devices=DEVICES)
    for file in (path / named(10) / "gpu-1").iterdir():
        file.unlink()
    (path / named(10) / "gpu-1").rmdir()
    (path / named(10)).rmdir()
    found = with_counters(capture, devices=DEVICES)
    assert len(found.notes) == 1
    assert found.notes[0].startswith(f"rounds whose counters were not read: 1 ({named(10)}: no round named")
    assert sent(found)[-1] == 20_000


def test_rules_of_counters_are_decided_by_several_rounds_and_unknown_after_one(tmp_path: Path) -> None:
    path = grow(tmp_path, rounds(range(0, 310, 10)))
    one = evaluate(Round(PLAN, read_capture(path, devices=DEVICES).snapshot()))
    several = evaluate(Round(PLAN, (seen := whole(path)).snapshot(), seen.counters))
    status = [{verdict.rule: verdict.status for verdict in evaluation.verdicts} for evaluation in (one, several)]
    assert status[0]["LNK003"] is Status.UNKNOWN
    assert status[1]["LNK003"] is Status.PASS
    assert not [reading for reading in one.collection_errors if reading.collector == "nic_counters"]


@pytest.mark.parametrize(("before", "flaps"), [("swp1", True), ("swp2", False)])
def test_a_fall_across_which_the_neighbour_changed_is_a_repair_in_a_capture_too(
    tmp_path: Path, before: str, flaps: bool
) -> None:
    """The link falls between the second and the third round; `check --from` and `where --from` read all of them."""
    files = {}
    for seconds in range(0, 60, 10):
        at = f"{named(seconds)}/gpu-1"
        files[f"{at}/ethtool_-S_eth0"] = counted(seconds * 1000, downs=int(seconds >= 20))
        files[f"{at}/rdma_link"] = RDMA
        files[f"{at}/lldpctl_-f_json0"] = lldp("eth0", "leaf-0", before if seconds < 20 else "swp1")
    capture = grow(tmp_path / "capture", files)
    (tmp_path / "plan.csv").write_text(dump_csv(PLAN))
    source = str(capture), "--plan", str(tmp_path / "plan.csv"), "--format", "json"
    found = CliRunner().invoke(app, ["check", "--from", *source])
    falls = [one["subject"] for one in json.loads(found.stdout)["findings"] if one["rule"] == "LNK003"]
    assert falls == (["gpu-1/eth0"] if flaps else [])
    shown = CliRunner().invoke(app, ["where", "gpu-1/eth0", "--from", *source])
    assert ("LNK003" in shown.stdout) is flaps

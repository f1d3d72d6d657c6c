"""What a history store gets of a living fabric, and what of it survives restarts, torn files and full disks."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.history_site import RecordedSite
from tests.living_site import BEGAN
from tests.patience import ENOUGH
from truerail.analysis.counters.quantities import Quantity
from truerail.errors import HistoryStoreError
from truerail.history.arrow_tables import arrow_schema, from_rows
from truerail.history.history_tables import (
    CABLES,
    CAUSES,
    COUNTERS_HOURS,
    COUNTERS_MINUTES,
    DEVICES,
    FINDINGS,
    LIGHTS,
    OPTICS,
    ROUNDS,
    TABLES,
    HistoryTable,
)
from truerail.history.recorder import MOST_PARTS, merge_parts
from truerail.history.store_folder import StoreFolder, files_of, read_files
from truerail.model import CauseKind
from truerail.simulator import Fault

ROOT = Path(__file__).parents[1]
SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")
Rows = list[dict[str, Any]]


def rows(folder: StoreFolder, table: HistoryTable) -> Rows:
    found: Rows = read_files(table, files_of(folder, table).readable).to_pylist()
    return found


def distinct(folder: StoreFolder, table: HistoryTable) -> bool:
    """Whether each row is there once."""
    keys = [
        (*(row[name] for name in table.key), row["began" if table.intervals else table.time])
        for row in rows(folder, table)
    ]
    return len(keys) == len(set(keys))


@contextmanager
def full_disk() -> Iterator[None]:
    """The kernel refuses every file of more than 100 bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_swap_is_an_episode_of_cables_findings_and_its_cause(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", [SWAP])
    found = site.rounds(3).at
    site.write()
    swapped = [row for row in rows(site.folder, CABLES) if row["state"] == "wrong"]
    assert len(swapped) == 2
    assert {(row["planned_device"], row["planned_port"]) for row in swapped} == {
        (row["actual_device"], row["actual_port"]) for row in swapped
    }
    assert all(row["ended"] is None for row in swapped)
    site.site.fabric.director.fix(1)
    site.site.settle()
    repaired = site.rounds(1).at
    site.rounds(3, seconds=60)
    site.write()
    cables = rows(site.folder, CABLES)
    assert [(row["began"], row["ended"]) for row in cables if row["state"] == "wrong"] == 2 * [
        (swapped[0]["began"], repaired)
    ]
    assert len([row for row in cables if row["ended"] is None]) == len(site.site.fabric.plan.cables)
    (cause,) = rows(site.folder, CAUSES)
    assert (cause["kind"], cause["moves"], cause["findings"], cause["ended"]) == ("cable-swap", 2, 2, repaired)
    assert cause["began"] <= found
    findings = rows(site.folder, FINDINGS)
    assert {row["cause"] for row in findings} == {cause["key"]}
    assert {row["ended"] for row in findings} == {repaired}
    assert len(rows(site.folder, ROUNDS)) == 7
    assert {row["reported_name"] for row in rows(site.folder, DEVICES)} == set(site.site.fabric.plan.devices)


def test_minutes_add_up_to_what_the_ports_counted_and_hours_to_the_minutes(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", began=datetime(2026, 11, 20, 14, 41, 30, tzinfo=UTC))
    published = site.rounds(17)
    site.write()
    telemetry = published.round.telemetry
    minutes = rows(site.folder, COUNTERS_MINUTES)
    assert distinct(site.folder, COUNTERS_MINUTES)
    first, last = (edge(row["bucket"] for row in minutes) for edge in (min, max))
    begun = telemetry.counters.begun[telemetry.counters.order]  # type: ignore[union-attr]
    covered = begun - 5 < last.timestamp() + 60
    for quantity in (Quantity.RX_BYTES, Quantity.TX_BYTES, Quantity.TX_PACKETS):
        gained, _ = telemetry.part(quantity, None, np.arange(telemetry.ports))
        counted = np.nansum(gained[:, covered], dtype=np.float64)
        assert sum(row[quantity.value] for row in minutes) == pytest.approx(counted, rel=1e-5)
    assert all(0 < row["seconds"] <= 70 for row in minutes)
    assert all(row["fec_corrected_codewords"] is None or row["fec_corrected_codewords"] >= 0 for row in minutes)
    site.rounds(4, seconds=60)
    site.write()
    hours = rows(site.folder, COUNTERS_HOURS)
    minutes = [row for row in rows(site.folder, COUNTERS_MINUTES) if row["bucket"].hour == 14]
    assert {row["bucket"] for row in hours} == {first.replace(minute=0)}
    assert len(hours) == len({(row["device"], row["port"]) for row in minutes}) == telemetry.ports
    for name in ("rx_bytes", "seconds", "link_downs"):
        assert sum(row[name] for row in hours) == pytest.approx(sum(row[name] for row in minutes))
    assert {row["role"] for row in hours} == {"host", "leaf", "spine"}
    assert {row["rail"] for row in hours if row["role"] == "spine"} == {None}


def test_light_is_the_worst_lane_of_the_hour_and_modules_are_episodes(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", began=datetime(2026, 11, 20, 14, 40, tzinfo=UTC))
    site.light = True
    site.rounds(4)
    site.write()
    first = rows(site.folder, LIGHTS)
    assert {row["rx_power_dbm_min"] for row in first} == {-3.0}
    site.weakest_dbm = -7.5
    site.rounds(4)
    site.restarted()
    site.rounds(2)
    site.write()
    assert {row["rx_power_dbm_min"] for row in rows(site.folder, LIGHTS)} == {-7.5}
    site.weakest_dbm = -2.0
    site.rounds(5, seconds=60)
    site.write()
    assert sorted({(row["bucket"].hour, row["rx_power_dbm_min"]) for row in rows(site.folder, LIGHTS)}) == [
        (14, -7.5),
        (15, -2.0),
    ]
    assert distinct(site.folder, LIGHTS)
    site.serial = "B2"
    site.rounds(2)
    site.write()
    (former,) = {(row["serial"], row["ended"] is None) for row in rows(site.folder, OPTICS) if row["ended"]}
    assert former == ("A1", False)
    assert {row["serial"] for row in rows(site.folder, OPTICS) if row["ended"] is None} == {"B2"}


def test_a_restart_continues_episodes_and_loses_what_was_not_written(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", [SWAP])
    site.rounds(13)
    site.write()
    before = {table.name: rows(site.folder, table) for table in TABLES.values()}
    site.rounds(13)
    site.restarted()
    assert not site.problems
    site.rounds(2)
    site.write()
    for table in (CABLES, FINDINGS, CAUSES, DEVICES):
        assert rows(site.folder, table) == before[table.name], table.name
    assert len(rows(site.folder, ROUNDS)) == 15
    minutes = rows(site.folder, COUNTERS_MINUTES)
    assert minutes[: len(before["counters_minutes"])] == before["counters_minutes"]
    assert distinct(site.folder, COUNTERS_MINUTES), "the window still has the minutes that were not written"
    assert len({row["bucket"] for row in minutes}) == 5


def test_what_ended_while_nothing_was_recorded_ends_with_the_first_round(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", [SWAP])
    site.rounds(3)
    site.write()
    site.site.fabric.director.fix(1)
    site.site.settle()
    site.evaluator = site.fresh_evaluator()
    site.restarted()
    at = site.rounds(2).at - timedelta(seconds=10)
    site.write()
    assert {row["ended"] for row in rows(site.folder, FINDINGS)} == {at}
    assert len([row for row in rows(site.folder, CABLES) if row["ended"] == at]) == 2


def test_an_end_that_was_written_just_before_the_process_died_is_not_written_again(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store", [SWAP])
    site.rounds(3)
    site.write()
    was = {table.name: site.folder.open_file(table).read_bytes() for table in (CABLES, FINDINGS, CAUSES)}
    site.site.fabric.director.fix(1)
    site.site.settle()
    site.rounds(4, seconds=60)
    site.write()
    for name, data in was.items():  # as if it had died between the two writes
        path = site.folder.open_file(TABLES[name])
        path.write_bytes(data)
        os.utime(path, (0, 0))
    site.restarted()
    site.rounds(2)
    site.write()
    assert all(distinct(site.folder, table) for table in (CABLES, FINDINGS, CAUSES))
    assert len([row for row in rows(site.folder, CABLES) if row["ended"] is None]) == len(site.site.fabric.plan.cables)


def test_a_torn_file_and_one_of_another_schema_are_left_out_and_reported(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store")
    for _ in range(3):
        site.rounds(7)
        site.write()
    day = site.folder.days(COUNTERS_MINUTES)[0]
    torn, other, kept = (part.path for part in site.folder.parts(COUNTERS_MINUTES, day))
    whole = read_files(COUNTERS_MINUTES, [kept]).to_pylist()
    torn.write_bytes(torn.read_bytes()[:-1000])
    other.write_bytes(next(iter(site.folder.files(ROUNDS))).read_bytes())
    site.restarted()
    assert [one.path for one in site.problems] == [torn, other]
    assert "is torn" in site.problems[0].why
    assert "has another schema (column bucket, device, port)" in site.problems[1].why
    assert rows(site.folder, COUNTERS_MINUTES) == whole
    merge_parts(site.folder, COUNTERS_MINUTES, site.now + timedelta(days=2))
    assert torn.exists(), "what cannot be read is not merged over"


def samples(count: int, day: datetime) -> Any:
    record = dict.fromkeys(ROUNDS.names, 1)
    return [
        from_rows(ROUNDS, [{**record, "answered": day + timedelta(minutes=n), "took_seconds": 0.5}])
        for n in range(count)
    ]


def test_parts_are_merged_by_the_hour_and_by_the_day_and_days_are_deleted(tmp_path: Path) -> None:
    folder, day = StoreFolder(tmp_path / "store"), datetime(2026, 11, 20, 14, tzinfo=UTC)
    folder.create("test")
    for number, part in enumerate(samples(MOST_PARTS + 2, day)):
        folder.append(ROUNDS, part, day + timedelta(minutes=number))
    whole = rows(folder, ROUNDS)
    assert merge_parts(folder, ROUNDS, day) == MOST_PARTS + 2
    assert merge_parts(folder, ROUNDS, day) == 0
    (merged,) = folder.parts(ROUNDS, day.date())
    assert (merged.first, merged.last) == (1, MOST_PARTS + 2)
    folder.append(ROUNDS, samples(1, day + timedelta(hours=1))[0], day + timedelta(hours=1))
    assert merge_parts(folder, ROUNDS, day + timedelta(days=1)) == 2
    (path,) = files_of(folder, ROUNDS).readable
    assert rows(folder, ROUNDS)[:-1] == whole
    left = folder.day_folder(ROUNDS, day.date()) / "part-140300-000004.parquet"
    left.write_bytes(path.read_bytes())
    assert len(rows(folder, ROUNDS)) == len(whole) + 1, "a part that is merged is not read again"
    folder.tidy()
    assert not left.exists()
    assert folder.retain(ROUNDS, day + timedelta(hours=9)) == 0
    assert folder.retain(ROUNDS, day + timedelta(days=1)) == 1
    assert rows(folder, ROUNDS) == []


def test_a_full_disk_costs_the_oldest_minutes_only_when_memory_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = RecordedSite(tmp_path / "store", [SWAP])
    site.rounds(7)
    with full_disk(), pytest.raises(OSError, match="large"):
        site.write()
    assert not list((tmp_path / "store").rglob(".writing-*"))
    site.rounds(12)
    site.write()
    assert len({row["bucket"] for row in rows(site.folder, COUNTERS_MINUTES)}) == 3
    assert site.recorder.samples.lost_minutes == 0
    monkeypatch.setattr("truerail.history.sample_recorder.MOST_ROWS", 50)
    site.rounds(12)
    assert site.recorder.samples.lost_minutes == 1
    site.write()
    assert len({row["bucket"] for row in rows(site.folder, COUNTERS_MINUTES)}) == 4


def test_a_clock_that_was_set_back_is_recorded_from_there_on(tmp_path: Path) -> None:
    later = RecordedSite(tmp_path / "store", began=BEGAN + timedelta(hours=3))
    later.rounds(8)
    later.write()
    site = RecordedSite(tmp_path / "store")
    site.rounds(8)
    site.write()
    assert {row["bucket"].hour for row in rows(site.folder, COUNTERS_MINUTES)} == {17, 14}


def test_a_folder_of_another_fabric_schema_or_purpose_is_refused(tmp_path: Path) -> None:
    folder = StoreFolder(tmp_path / "store")
    folder.create("one")
    folder.create("one")
    with pytest.raises(HistoryStoreError, match="is the history of the fabric 'one', not of 'two'"):
        folder.create("two")
    (tmp_path / "store" / "store.json").write_text('{"schema": "truerail/history/v1"}')
    with pytest.raises(
        HistoryStoreError, match="'truerail/history/v1', this truerail reads 'truerail/history/v2': name a new folder"
    ):
        folder.manifest()
    with pytest.raises(HistoryStoreError, match=r"is no history store: it has no store\.json"):
        StoreFolder(tmp_path).manifest()
    with pytest.raises(HistoryStoreError, match="is not empty, and no history store"):
        StoreFolder(tmp_path).create("one")


def test_every_column_says_what_it_is_in_its_file() -> None:
    for table in TABLES.values():
        for field in arrow_schema(table):
            assert field.metadata[b"meaning"]
        assert set(table.key) <= set(table.names)


_WRITES = """
import sys
from pathlib import Path
from tests.history_site import RecordedSite
from tests.living_site import BEGAN
site = RecordedSite(Path(sys.argv[1]))
while True:
    site.rounds(7)
    site.write()
    print(site.now.isoformat(), flush=True)
"""


def test_a_process_killed_at_any_moment_leaves_a_store_that_is_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _WRITES, str(tmp_path / "store")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(2):
            assert process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        assert process.wait(ENOUGH) == -signal.SIGKILL
    site = RecordedSite(tmp_path / "store")
    assert not site.problems
    assert all(distinct(site.folder, table) for table in (CABLES, DEVICES, COUNTERS_MINUTES))
    assert len(rows(site.folder, CABLES)) == len(site.site.fabric.plan.cables)
    assert not list((tmp_path / "store").rglob(".writing-*"))


def test_another_plan_ends_the_rows_of_cables_that_it_does_not_have(tmp_path: Path) -> None:
    site = RecordedSite(tmp_path / "store")
    site.rounds(2)
    plan = site.site.fabric.plan
    gone, kept = plan.cables[0], plan.cables[1:]
    site.plan = replace(plan, cables=(*kept[:-1], kept[-1]._replace(plane=1)))
    at = site.rounds(1).at
    site.write()
    ended = [row for row in rows(site.folder, CABLES) if row["ended"] is not None]
    assert sorted((row["device"], row["port"]) for row in ended) == sorted([tuple(gone.a), tuple(kept[-1].a)])
    assert {row["ended"] for row in ended} == {at}

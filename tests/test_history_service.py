"""The service keeps a history store: beside its rounds, never in their way."""

import asyncio
from pathlib import Path

import pytest
import structlog

from tests.patience import soon
from tests.test_history_store import distinct, full_disk, rows
from tests.test_service_watch import fabric_of, run, settings_for, steady, until
from truerail.errors import HistoryStoreError
from truerail.history.history_tables import CABLES, CAUSES, COUNTERS_MINUTES, FINDINGS, ROUNDS
from truerail.history.store_folder import StoreFolder
from truerail.journal import open_journal
from truerail.outputs.metrics.declared import CATALOGUE
from truerail.service import history_writer
from truerail.service.evaluator import Evaluator
from truerail.service.history_writer import HistoryWriter
from truerail.service.loading import load_settings
from truerail.service.plans import PlanInForce
from truerail.service.round_loop import Watch, utc_now
from truerail.service.settings import HistoryStore
from truerail.service.watch_service import WatchService


def store(folder: Path) -> HistoryStore:
    return HistoryStore(path=folder / "history")


def writer(folder: Path) -> HistoryWriter:
    return HistoryWriter(store(folder), "test", utc_now)


def test_a_service_records_its_rounds_and_writes_them_at_its_end(tmp_path: Path) -> None:
    async def body() -> None:
        fabric, settings = fabric_of(), settings_for(tmp_path)
        plan = PlanInForce(lambda: fabric.plan, fabric.plan)
        recording = writer(tmp_path)
        watch = Watch(
            settings,
            fabric.targets,
            plan,
            fabric.transport,
            Evaluator.begin(settings),
            open_journal(settings.journal),
            recording=recording,
        )
        front, stop = WatchService(watch), asyncio.Event()
        running = asyncio.create_task(watch.run(stop))
        await until(lambda: steady(front))
        assert front.counters["history_failing"] == 0
        stop.set()
        await running

    run(body)
    folder = StoreFolder(tmp_path / "history")
    assert folder.manifest()["fabric"] == "test"
    assert [row["state"] for row in rows(folder, CABLES) if row["ended"] is None].count("wrong") == 2
    assert [row["kind"] for row in rows(folder, CAUSES) if row["ended"] is None] == ["cable-swap"]
    assert len([row for row in rows(folder, FINDINGS) if row["ended"] is None]) == 2
    numbers = [row["number"] for row in rows(folder, ROUNDS)]
    assert numbers == list(range(1, len(numbers) + 1)), "every round, whether its publication was recorded or skipped"
    assert all(distinct(folder, table) for table in (CABLES, FINDINGS, CAUSES, COUNTERS_MINUTES))


def test_a_full_disk_is_reported_once_and_recording_goes_on_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_writer, "FLUSH_SECONDS", 0.05)
    recording = writer(tmp_path)
    folder = StoreFolder(tmp_path / "history")
    with structlog.testing.capture_logs() as logs:
        try:
            with full_disk():
                recording._recorder.samples._rounds.append(dict.fromkeys(ROUNDS.names, 1) | {"answered": utc_now()})
                soon(lambda: recording.figures["history_failing"])
            soon(lambda: not recording.figures["history_failing"])
        finally:
            recording.close()
    assert [(one["health"], one["error"]) for one in logs] == [("failing", "File too large"), ("keeping", "")]
    assert len(rows(folder, ROUNDS)) == 1
    assert all(f"truerail_service_{name}" in CATALOGUE for name in recording.figures)
    assert recording.figures["history_bytes"] == folder.size_bytes() > 0


def test_a_store_has_one_writer_and_one_fabric(tmp_path: Path) -> None:
    recording = writer(tmp_path)
    with pytest.raises(HistoryStoreError, match="another process writes this history"):
        writer(tmp_path)
    recording.close()
    with pytest.raises(HistoryStoreError, match="fabric 'test', not of 'other'"):
        HistoryWriter(store(tmp_path), "other", utc_now)
    writer(tmp_path).close()


def test_torn_files_are_logged_and_counted_at_the_start(tmp_path: Path) -> None:
    writer(tmp_path).close()
    torn = tmp_path / "history" / "rounds" / "day=2026-11-20" / "part-140000-000001.parquet"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"PAR1")
    with structlog.testing.capture_logs() as logs:
        recording = writer(tmp_path)
        recording.close()
    assert recording.figures["history_unreadable_files"] == 1
    assert [(one["event"], one["file"]) for one in logs] == [("a file of the history is left out", str(torn))]


def test_settings_name_the_folder_relative_to_their_file(tmp_path: Path) -> None:
    path = tmp_path / "truerail.yaml"
    path.write_text("inventory: i.yaml\nhistory: {path: store, counters_minutes: 2d}\n")
    found = load_settings(path).history
    assert found is not None
    assert (found.path, found.counters_minutes.days, found.counters_hours.days) == (tmp_path / "store", 2, 90)

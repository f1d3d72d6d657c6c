"""A row that cannot be read costs that row: it is left out, reported once, and can be deleted; the service starts."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from tests.journal_helpers import ROUND, Fabric, Settings, record, swapped
from tests.patience import until
from tests.small_fabric import AT
from tests.watched_service import fabric_of, settings_for, steady, watched
from truerail.errors import JournalUnavailableError
from truerail.journal import Journal, open_journal
from truerail.model import Port
from truerail.model.history import PlanVersion
from truerail.service.round_loop import utc_now

NO_TIME = 253402304399000000
"""9999-12-31T23:59:59-01:00 in microseconds: an hour after the last one that UTC has."""


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    """A journal of one round with a finding, a link that moved, an acknowledgement and a window, each twice or more."""
    opened = open_journal(Settings(f"sqlite:///{tmp_path}/journal.db"))
    monkeypatch.setattr("truerail.journal.queries.utc_now", lambda: AT)
    fabric = Fabric()

    for number, changes in enumerate((fabric.round(), fabric.round(swapped), fabric.round()), 1):
        opened.record(record(number, changes), changes)
    for who in ("ann", "bob"):
        opened.acknowledge("a" * 12, who, "known", AT, AT + ROUND)
        opened.open_window("device", "h1", AT, AT + timedelta(hours=1), who, "optics", AT)
        opened.plan_in_force(PlanVersion(who, AT, "plan.yaml", 1, 1))
    yield opened
    opened.close()


def _spoil(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_window_and_an_acknowledgement_out_of_the_calendar_cost_themselves(
    journal: Journal, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _spoil(
        tmp_path,
        f"UPDATE windows SET ends = {NO_TIME} WHERE id = 1",
        f"UPDATE acknowledgements SET until = {NO_TIME} WHERE id = 2",
    )
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert [row.author for row in journal.windows()] == ["bob"]
            assert [row.author for row in journal.acknowledgements()] == ["ann"]
    assert len(caplog.records) == 2, "each row is reported once"
    assert "row 1 of windows cannot be read" in caplog.text
    assert list(journal.unreadable("windows")) == [1]
    journal.end_window(1, "ann", AT)
    journal.withdraw(2, "ann", AT)
    assert not journal.unreadable("windows")
    assert not journal.unreadable("acknowledgements")
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection, connection:
        assert connection.execute("SELECT count(*) FROM windows").fetchone() == (1,)
        assert connection.execute("SELECT count(*) FROM acknowledgements").fetchone() == (1,)
    assert [row.action for row in journal.audit()[:2]] == ["withdraw", "end maintenance"]


def test_every_list_goes_on_behind_a_row_that_cannot_be_read(journal: Journal, tmp_path: Path) -> None:
    def counted() -> dict[str, int]:
        ends = (AT - ROUND, AT + timedelta(days=1))
        return {
            "findings": len(journal.findings(resolved_since=AT)) or len(journal.findings()),
            "events": len(journal.finding_events(*ends)),
            "links": len(journal.link_changes(*ends)),
            "rounds": len(journal.rounds()),
            "plans": len(journal.plans()),
            "audit": len(journal.audit()),
        }

    whole = counted()
    assert all(whole.values()), whole
    _spoil(
        tmp_path,
        "UPDATE findings SET state = 77 WHERE rowid = (SELECT min(rowid) FROM findings)",
        "UPDATE finding_events SET kind = 99 WHERE seq = (SELECT min(seq) FROM finding_events)",
        "UPDATE link_changes SET was_state = 'x' WHERE seq = (SELECT min(seq) FROM link_changes)",
        f"UPDATE rounds SET at = {NO_TIME} WHERE number = 1",
        f"UPDATE plans SET at = {NO_TIME} WHERE seq = 1",
        f"UPDATE audit SET at = {NO_TIME} WHERE seq = 1",
    )
    assert counted() == {name: count - 1 for name, count in whole.items()}


def test_what_is_open_is_restored_but_for_the_row_that_cannot_be_read(tmp_path: Path) -> None:
    opened = open_journal(Settings(f"sqlite:///{tmp_path}/journal.db"))
    changes = Fabric().round(lambda world: world.swap(Port("h1", "nica"), Port("h1", "nicb")))
    opened.record(record(1, changes), changes)
    whole = opened.restore()
    assert len(whole.findings) > 1
    assert whole.causes
    _spoil(
        tmp_path,
        "UPDATE findings SET body = x'00' WHERE rowid = (SELECT min(rowid) FROM findings)",
        "UPDATE causes SET subjects = '{'",
        "UPDATE links SET state = -99 WHERE port = (SELECT min(port) FROM links)",
    )
    left = opened.restore()
    assert len(left.findings) == len(whole.findings) - 1
    assert not left.causes
    assert len(left.links) == len(whole.links) - 1
    opened.close()


def test_a_time_that_could_not_be_read_back_is_not_written(journal: Journal) -> None:
    from datetime import UTC, datetime, timezone

    edge = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
    with pytest.raises(JournalUnavailableError):
        journal.open_window("device", "h1", datetime(2026, 1, 1, tzinfo=UTC), edge, "ann", "x", AT)


async def test_the_service_starts_with_a_row_that_cannot_be_read_and_deletes_it_on_request(tmp_path: Path) -> None:
    settings, fabric = settings_for(tmp_path), fabric_of()
    now = utc_now()
    async with watched(settings, fabric) as front:
        await until(lambda: steady(front))
        for host in ("gpu-001", "gpu-002"):
            await front.open_window("device", host, now, now + timedelta(hours=1), "anna", "new optics")
    _spoil(tmp_path, f"UPDATE windows SET ends = {NO_TIME} WHERE id = 1")
    async with watched(settings, fabric) as front:
        await until(lambda: steady(front))
        assert [window.id for window in front.history.windows()] == [2]
        await front.end_window(1, "anna")
        assert not front.history.unreadable("windows")

"""What the journal does while its database is gone, full or busy, and what a process killed while it writes leaves."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.draws import draws
from tests.journal_helpers import Fabric, Settings, record, swapped
from tests.patience import ENOUGH, waited
from tests.patience import soon as until
from tests.real import require
from tests.real_postgres import Postgres, one_postgres
from tests.small_fabric import AT
from truerail.analysis.published import JournalHealth, JournalState
from truerail.errors import JournalUnavailableError, JournalUnusableError
from truerail.journal import Changes, Journal, Keeper, open_journal
from truerail.journal.database import Database
from truerail.model.history import LinkChange
from truerail.model.target import Secret

ROOT = Path(__file__).parents[1]


server = one_postgres


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries again sooner than in service."""
    monkeypatch.setattr("truerail.journal.keeper.FIRST_WAIT_SECONDS", 0.05)
    monkeypatch.setattr("truerail.journal.keeper.LONGEST_WAIT_SECONDS", 0.1)
    monkeypatch.setattr("truerail.journal.database.GONE_SECONDS", 0.1)


@contextmanager
def keeping(journal: Journal, max_queued_rounds: int = 100) -> Iterator[tuple[Keeper, list[JournalState]]]:
    """A keeper, and what it reported."""
    reported: list[JournalState] = []
    keeper = Keeper(journal, max_queued_rounds, reported.append)
    try:
        yield keeper, reported
    finally:
        keeper.close(ENOUGH)
        journal.close()


def sqlite(folder: Path) -> Journal:
    """A journal in a file."""
    return open_journal(Settings(f"sqlite:///{folder}/journal.db"))


def test_rounds_are_written_in_order_and_at_once(tmp_path: Path) -> None:
    fabric, journal = Fabric(), sqlite(tmp_path)
    with keeping(journal) as (keeper, reported):
        for number, changes in enumerate(fabric.rounds(5, swapped), 1):
            keeper.put(record(number, changes), changes)
        until(lambda: keeper.state.written_total == 5)
        assert keeper.state.health is JournalHealth.KEEPING
        assert keeper.state.waiting == keeper.state.lost_total == 0
        assert [one.number for one in journal.rounds()] == [5, 4, 3, 2, 1]
        assert reported == []


def test_a_graceful_stop_writes_what_waits(tmp_path: Path) -> None:
    fabric, journal = Fabric(), sqlite(tmp_path)
    keeper = Keeper(journal, 100, lambda state: None)
    for number, changes in enumerate(fabric.rounds(20), 1):
        keeper.put(record(number, changes), changes)
    keeper.close()
    assert len(journal.rounds()) == 20
    journal.close()


def test_a_stop_does_not_wait_for_a_database_that_is_gone(tmp_path: Path) -> None:
    journal = open_journal(Settings(f"sqlite:///{tmp_path}/no/such/folder/journal.db"))
    keeper = Keeper(journal, 100, lambda state: None)
    changes = Fabric().round()
    keeper.put(record(1, changes), changes)
    until(lambda: keeper.state.health is JournalHealth.FAILING)
    _, seconds = asyncio.run(waited(asyncio.to_thread(keeper.close, 0.5)))
    assert seconds < 5
    assert keeper.state.waiting == 1
    journal.close()


def test_what_cannot_be_opened_yet_is_opened_later(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    journal = open_journal(Settings(f"sqlite:///{folder}/journal.db"))
    with pytest.raises(JournalUnavailableError, match="unable to open database file"):
        journal.findings()
    with keeping(journal) as (keeper, reported):
        changes = Fabric().round(swapped)
        keeper.put(record(1, changes), changes)
        until(lambda: bool(reported))
        assert "unable to open" in keeper.state.error
        folder.mkdir()
        until(lambda: len(reported) == 2)
        assert keeper.state.written_total == 1
        assert [one.health for one in reported] == [JournalHealth.FAILING, JournalHealth.KEEPING]
        assert reported[1].error == ""
        assert journal.findings()


def test_dropped_rounds_are_counted_and_their_states_are_right_afterwards(tmp_path: Path) -> None:
    folder, fabric = tmp_path / "later", Fabric()
    journal = open_journal(Settings(f"sqlite:///{folder}/journal.db"))
    with keeping(journal, 3) as (keeper, _):
        rounds = [fabric.round(), *fabric.rounds(2, swapped), *fabric.rounds(5), *fabric.rounds(2, swapped)]
        for number, changes in enumerate(rounds, 1):
            keeper.put(record(number, changes), changes)
        until(lambda: keeper.state.lost_total == 7)
        assert keeper.state.waiting == 3
        folder.mkdir()
        until(lambda: keeper.state.written_total == 3)
        assert [one.number for one in journal.rounds()] == [10, 9, 8]
        assert {one.life.id: one.life for one in journal.findings()} == rounds[-1].lives
        states = {one.port: (one.seen, one.state) for one in journal.restore().links}
        assert len(states) == len(fabric.plan.cables)
        assert states["h1/nica"] == ("leaf-1/swp1", "wrong")
        assert journal.link_since(["h1/nica"]) == {"h1/nica": rounds[8].at}


def test_a_round_that_no_database_takes_stops_nothing(tmp_path: Path) -> None:
    fabric, journal = Fabric(), sqlite(tmp_path)
    with keeping(journal) as (keeper, reported):
        first, second = fabric.rounds(2)
        bad = replace(first, links=(LinkChange(0, first.at, "h1/nica", None, None, "no such state", "right"),))
        keeper.put(record(1, bad), bad)
        until(lambda: bool(reported))
        assert "round 1 was not kept" in reported[0].error
        keeper.put(record(2, second), second)
        until(lambda: keeper.state.health is JournalHealth.KEEPING)
        assert keeper.state.written_total == 1
        assert keeper.state.lost_total == 1
        assert [one.number for one in journal.rounds()] == [2]


def test_a_full_disk_loses_nothing_and_recovers(tmp_path: Path) -> None:
    require("mount", "umount", root=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(tmp_path)], check=True)
    try:
        fabric, journal = Fabric(), sqlite(tmp_path)
        with keeping(journal) as (keeper, reported):
            note = journal.acknowledge("0123456789ab", "ann", "known", AT)
            filler = tmp_path / "filler"
            _fill(filler)
            rounds = [fabric.round(swapped if number % 2 else None) for number in range(40)]
            for number, changes in enumerate(rounds, 1):
                keeper.put(record(number, changes), changes)
            until(lambda: bool(reported))
            assert reported[0].health is JournalHealth.FAILING
            assert "full" in reported[0].error or "disk I/O" in reported[0].error
            with pytest.raises(JournalUnavailableError):
                _write_on(journal)
            assert journal.acknowledgements() == [note], "what is there can be read"
            filler.unlink()
            until(lambda: keeper.state.written_total == 40 and reported[-1].health is JournalHealth.KEEPING)
            assert keeper.state.lost_total == 0
            assert len(journal.rounds()) == 40
            assert journal.acknowledgements() == [note]
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def _write_on(journal: Journal) -> None:
    for _ in range(1000):
        journal.note("ann", "recheck", "x" * 4000, AT)


def _fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        try:
            while file.write(b"\0" * 4096) == 4096:
                pass
        except OSError:
            return


def test_a_writer_that_holds_the_database_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.journal.database.BUSY_SECONDS", 0.2)
    fabric, journal = Fabric(), sqlite(tmp_path)
    other = Database(f"sqlite:///{tmp_path}/journal.db")
    with keeping(journal) as (keeper, reported):
        with other.writing():
            changes = fabric.round()
            keeper.put(record(1, changes), changes)
            until(lambda: bool(reported))
            assert "locked" in reported[0].error
            assert journal.rounds() == [], "readers do not wait"
        until(lambda: keeper.state.written_total == 1)
    other.close()


def test_postgresql_stopped_for_a_while(server: Postgres) -> None:
    fabric, journal = Fabric(), open_journal(Settings(server.url()))
    with keeping(journal) as (keeper, reported):
        note = journal.acknowledge("0123456789ab", "ann", "known", AT)
        first = fabric.round()
        keeper.put(record(1, first), first)
        until(lambda: keeper.state.written_total == 1)
        server.stop()
        try:
            for number in range(2, 8):
                changes = fabric.round(swapped)
                keeper.put(record(number, changes), changes)
            until(lambda: keeper.state.health is JournalHealth.FAILING)
            result, seconds = asyncio.run(waited(asyncio.to_thread(_asked_in_vain, journal)))
            assert result is None
            assert seconds < 3
            assert keeper.state.waiting == 6
        finally:
            server.start()
        until(lambda: keeper.state.written_total == 7 and len(reported) == 2)
        assert [one.health for one in reported] == [JournalHealth.FAILING, JournalHealth.KEEPING]
        assert len(journal.rounds()) == 7
        assert journal.acknowledgements() == [note]


def _asked_in_vain(journal: Journal) -> None:
    for ask in (journal.findings, journal.rounds, journal.restore):
        with pytest.raises(JournalUnavailableError):
            ask()
    with pytest.raises(JournalUnavailableError):
        journal.acknowledge("0123456789ab", "ann", "not kept", AT)


def test_postgresql_that_starts_after_the_service(server: Postgres) -> None:
    url = server.url()
    server.stop()
    try:
        journal = open_journal(Settings(url))
        with pytest.raises(JournalUnavailableError):
            journal.next_number()
    finally:
        server.start()
    until(lambda: _answers(journal))
    journal.close()


def _answers(journal: Journal) -> bool:
    try:
        return journal.next_number() == 1
    except JournalUnavailableError:
        return False


def test_connections_that_the_server_ended_are_replaced(server: Postgres) -> None:
    url = server.url()
    journal = open_journal(Settings(url))
    assert journal.next_number() == 1
    server.run_sql(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'truerail'")
    assert journal.next_number() == 1
    journal.close()


# --- secrets ----------------------------------------------------------------------------------------------------------


def test_a_password_is_reported_nowhere(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2\n")
    for url, password in (
        ("postgresql://u@127.0.0.1:1/j", Secret("file", str(tmp_path / "password"))),
        ("postgresql://u:hunter2@127.0.0.1:1/j", None),
        ("postgresql://u@127.0.0.1:1/j?password=hunter2", None),
    ):
        journal = open_journal(Settings(url, password))
        with pytest.raises(JournalUnavailableError) as failure:
            journal.rounds()
        assert "127.0.0.1" in str(failure.value)
        trace = "".join(traceback.format_exception(failure.value))
        assert "hunter2" not in f"{failure.value!r} {journal!r} {trace}"
        journal.close()


def test_a_password_that_is_missing_is_reported_by_its_reference() -> None:
    journal = open_journal(Settings("postgresql://u@127.0.0.1:1/j", Secret("env", "NO_SUCH_VARIABLE")))
    with pytest.raises(JournalUnavailableError, match="environment variable NO_SUCH_VARIABLE is not set"):
        journal.rounds()
    journal.close()


@pytest.mark.parametrize(
    ("url", "summary"),
    [
        ("no url, secret", "journal.url is no URL"),
        ("mysql://u:secret@h/j", "mysql is not supported"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
    ],
)
def test_urls_that_cannot_be(url: str, summary: str) -> None:
    with pytest.raises(JournalUnusableError, match=summary) as failure:
        open_journal(Settings(url))
    assert "secret" not in str(failure.value)


# --- killed -----------------------------------------------------------------------------------------------------------

_WRITER = """
import sys
from datetime import timedelta
from tests.journal_helpers import Fabric, Settings, record, swapped
from tests.small_fabric import AT
from truerail.journal import Keeper, open_journal

journal = open_journal(Settings(sys.argv[1]))
keeper = Keeper(journal, 5000, print)
fabric = Fabric()
rounds = [fabric.round(), *(fabric.round(swapped if turn % 2 else None) for turn in range(20))]
for number in range(1, 100000):
    changes = rounds[(number - 1) % len(rounds)]
    keeper.put(record(number, changes), changes)
    note = journal.acknowledge("0123456789ab", "ann", str(number), AT)
    print("kept", note.id, flush=True)
"""


@pytest.mark.parametrize("after", [1, 40, 7][: draws(2, 3)])
def test_killed_while_it_writes(tmp_path: Path, after: int) -> None:
    url = f"sqlite:///{tmp_path}/journal.db"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", _WRITER, url]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    assert process.stdout is not None
    with process:
        kept = [int(process.stdout.readline().split()[1]) for _ in range(after)]
        threading.Timer(0.003 * after, lambda: os.kill(process.pid, signal.SIGKILL)).start()
        kept += [int(line.split()[1]) for line in process.stdout if line.startswith("kept") and line.endswith("\n")]
    assert process.returncode == -signal.SIGKILL
    journal = open_journal(Settings(url))
    assert {one.id for one in journal.acknowledgements()} >= set(kept), "nothing that was acknowledged is lost"
    assert [one.reason for one in journal.acknowledgements()][::-1][: len(kept)] == [
        str(n + 1) for n in range(len(kept))
    ]
    with journal.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar_one() == "ok"
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
    memory = journal.restore()
    assert memory.links == () or len(memory.links) == len(Fabric().plan.cables), (
        "a round is written whole or not at all"
    )
    later = Changes(AT + timedelta(days=1))
    journal.record(record(journal.next_number(), later), later)
    assert journal.rounds()[0].at == later.at
    journal.close()

"""Two judges on one journal: only the newest leader writes, in SQLite and in PostgreSQL."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.journal_helpers import Fabric, Settings, record
from tests.patience import ENOUGH, soon
from tests.real_postgres import Postgres, one_postgres
from tests.small_fabric import AT
from truerail.errors import JournalFencedError, JournalUnavailableError
from truerail.journal import Journal, Keeper, open_journal
from truerail.journal.database import Database

server = one_postgres


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/journal.db"
    server: Postgres = request.getfixturevalue("server")
    return server.url()


@pytest.fixture
def opened(url: str) -> Iterator[Callable[[], Journal]]:
    """Opens the journal as one more judge does."""
    journals: list[Journal] = []

    def one() -> Journal:
        journals.append(open_journal(Settings(url)))
        return journals[-1]

    yield one
    for journal in journals:
        journal.close()


def epochs(url: str) -> list[tuple[int, int]]:
    """Number and epoch of each round."""
    database = Database(url)
    with database.reading() as connection:
        found = connection.execute(text("SELECT number, epoch FROM rounds ORDER BY number")).all()
    database.close()
    return [(number, epoch) for number, epoch in found]


def test_every_write_of_an_old_leader_is_refused(opened: Callable[[], Journal], url: str) -> None:
    old, new, fabric = opened(), opened(), Fabric()
    assert old.lead(7) == 7
    first, second, third = fabric.rounds(3)
    old.record(record(1, first), first)
    assert new.lead(19) == 19
    for write in (
        lambda: old.record(record(2, second), second),
        lambda: old.keep_blob("counters", b"x", AT),
        lambda: old.note("anna", "recheck", "leaf-1", AT),
        lambda: old.retain(AT),
    ):
        with pytest.raises(JournalFencedError, match="writes of epoch 7: a judge leads with epoch 19"):
            write()
    assert old.fenced
    assert not new.fenced
    assert not old.audit()
    assert old.blob("counters") is None
    new.record(record(2, third), third)
    assert epochs(url) == [(1, 7), (2, 19)]
    assert [one.number for one in old.rounds()] == [2, 1]  # reading is no leader's right


def test_a_bus_that_has_lost_its_store_counts_from_one_and_the_epoch_goes_on(opened: Callable[[], Journal]) -> None:
    old, new, newest = opened(), opened(), opened()
    assert old.lead(300) == 300
    assert new.lead(1) == 301
    assert newest.lead(1) == 302
    with pytest.raises(JournalFencedError, match="writes of epoch 301: a judge leads with epoch 302"):
        new.note("anna", "recheck", "leaf-1", AT)
    assert new.lead(2) == 303  # it has shown that it still holds the lease
    assert not new.fenced
    new.note("anna", "recheck", "leaf-1", AT)


def test_without_a_bus_nothing_is_fenced(opened: Callable[[], Journal], url: str) -> None:
    leader, single, fabric = opened(), opened(), Fabric()
    (changes,) = fabric.rounds(1)
    single.record(record(1, changes), changes)
    assert epochs(url) == [(1, 0)]
    leader.lead(5)
    single.note("anna", "recheck", "leaf-1", AT)
    assert [one.who for one in leader.audit()] == ["anna"]


def test_no_two_publications_have_one_number(opened: Callable[[], Journal], url: str) -> None:
    """Two judges that take turns as leader, each sure of its own numbers."""
    judges, fabric = [opened(), opened()], Fabric()
    judges[1].lead(1)
    written = refused = 0
    for turn, changes in enumerate(fabric.rounds(8)):
        leader, other = judges[turn % 2], judges[1 - turn % 2]
        leader.lead(turn + 2)
        for judge in (leader, other):
            try:
                judge.record(record(turn + 1, changes), changes)
                written += 1
            except JournalFencedError:
                refused += 1
    assert (written, refused) == (8, 8)
    assert epochs(url) == [(number, number + 1) for number in range(1, 9)]


def test_the_rounds_of_a_keeper_wait_until_its_judge_leads_again(opened: Callable[[], Journal], url: str) -> None:
    mine, other, fabric = opened(), opened(), Fabric()
    mine.lead(1)
    other.lead(2)
    keeper = Keeper(mine, 10, lambda state: None)
    for number, changes in enumerate(fabric.rounds(2), 1):
        keeper.put(record(number, changes), changes)
    soon(lambda: mine.fenced)
    soon(lambda: "a judge leads with epoch 2" in keeper.state.error)
    assert not epochs(url)
    mine.lead(1)
    soon(lambda: keeper.state.written_total == 2)
    keeper.close(ENOUGH)
    assert epochs(url) == [(1, 3), (2, 3)]


def test_a_leader_that_stops_inside_a_transaction_holds_up_nobody(
    server: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truerail.journal.database.IDLE_MILLISECONDS", 300)
    url = server.url()
    stopped, new = Database(url), Database(url)
    stopped.lead(1)
    inside, resumed = threading.Event(), threading.Event()
    failed: list[JournalUnavailableError] = []

    def write() -> None:
        try:
            with stopped.writing() as connection:
                inside.set()
                resumed.wait(ENOUGH)
                connection.execute(text("DELETE FROM rounds"))
        except JournalUnavailableError as error:
            failed.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    assert inside.wait(ENOUGH)
    assert new.lead(2) == 2  # once PostgreSQL has ended the transaction of the stopped one
    resumed.set()
    thread.join(ENOUGH)
    assert "idle-in-transaction timeout" in str(failed[0])
    with pytest.raises(JournalFencedError), stopped.writing():
        pass
    stopped.close()
    new.close()

"""Two judges on one bus and one journal in PostgreSQL, as processes: one leads, the other stands by and takes over."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.demo_process import get
from tests.nats_bus import nats_server
from tests.nursery import Nursery, nursery
from tests.own_network import cut_off, own_network
from tests.patience import ENOUGH, PAUSE_SECONDS, soon
from tests.real import require
from tests.real_postgres import postgres
from tests.test_processes import children

pytestmark = pytest.mark.timeout(180)  # several services start, each with all that it imports

FABRIC = "judged"
JUDGE, POLLER = "tests.bus_judge_process", "tests.bus_poller_process"


class Judge:
    """A service with the role of a judge."""

    def __init__(self, born: Nursery, url: str, journal: str, folder: Path, name: str, *creds: Path) -> None:
        self.bus = urlsplit(url).hostname or ""
        self.process = born.begin(JUDGE, url, FABRIC, journal, folder, name, *creds)
        self.url = next(line.split()[1] for line in self.process.stdout if line.startswith("open"))
        _, self.front = children(self.process.pid)

    @property
    def leads(self) -> bool:
        """Whether it is ready, and says that it leads."""
        return get(f"{self.url}readyz") == (200, "ready; this judge leads\n")

    @property
    def figures(self) -> dict[str, float]:
        """What its metrics say of judges."""
        page = get(f"{self.url}metrics")[1]
        lines = [line for line in page.splitlines() if line.startswith("truerail_judge")]
        return {
            name: float(value) for name, value in (line.split() for line in lines if line.startswith("truerail_judge"))
        }

    @property
    def judging(self) -> int:
        """The process that judges; 0 while it is started again."""
        return next((pid for pid in children(self.process.pid) if pid != self.front), 0)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """A bus, a poller in each zone, and two judges; the first one leads. The bus has an address for each judge; the
    database is reached by none of them.
    """
    folder = tmp_path_factory.mktemp("judges")
    (folder / "nats").mkdir()
    require("nft", root=True)
    with (
        own_network(),
        nats_server(folder / "nats", listen="0.0.0.0") as server,
        postgres() as database,
        nursery(JUDGE, POLLER) as born,
        ExitStack() as ending,
    ):
        url = database.url()
        for zone in ("pods", "core"):
            born.begin(POLLER, server.url, FABRIC, zone, zone)
        judges = []
        for name, bus in (("first", "127.0.0.2"), ("second", "127.0.0.3")):
            judges.append(Judge(born, server.url.replace("127.0.0.1", bus), url, folder, name))
            ending.callback(judges[-1].process.wait, ENOUGH)
            ending.callback(judges[-1].process.terminate)
            if name == "first":
                soon(lambda: judges[0].leads, "the first judge leads")
        with psycopg.connect(url, autocommit=True) as journal:
            yield SimpleNamespace(server=server, first=judges[0], second=judges[1], journal=journal)


def rounds(journal: "psycopg.Connection[Any]") -> list[tuple[int, int]]:
    """Number and epoch of each round of the journal."""
    return journal.execute("SELECT number, epoch FROM rounds ORDER BY number").fetchall()


def findings(journal: "psycopg.Connection[Any]") -> list[tuple[object, ...]]:
    """Id, begin and number of episodes of each finding."""
    return journal.execute("SELECT id, first_seen, episodes FROM findings ORDER BY id").fetchall()


def settled(journal: "psycopg.Connection[Any]") -> list[tuple[object, ...]]:
    """The findings, as soon as three rounds have left them as they are."""
    known, since = findings(journal), rounds(journal)

    def last() -> bool:
        nonlocal known, since
        if findings(journal) != known:
            known, since = findings(journal), rounds(journal)
        return bool(known) and len(rounds(journal)) >= len(since) + 3

    soon(last, "the findings are written, and stay")
    return known


def parts(site: SimpleNamespace) -> tuple[Judge, Judge]:
    """The judge that leads and the one that stands by, as soon as that is so."""
    pair = (site.first, site.second)
    soon(lambda: [one.leads for one in pair].count(True) == 1, "one of them leads")
    leader, standby = pair if site.first.leads else pair[::-1]
    soon(lambda: standby.figures.get("truerail_judge_leader") == 0, "the other one stands by")
    return leader, standby


def test_a_standby_says_so_and_shows_nothing_as_fine(site: SimpleNamespace) -> None:
    leader, standby = parts(site)
    assert get(f"{standby.url}readyz")[0] == 503
    assert get(f"{standby.url}healthz")[0] == 200
    assert standby.figures == {"truerail_judge_leader": 0.0, "truerail_judge_epoch": 0.0}
    assert leader.figures["truerail_judge_leader"] == 1
    assert leader.figures["truerail_judge_epoch"] >= 1


def test_a_leader_that_was_stopped_writes_nothing_when_it_goes_on(site: SimpleNamespace) -> None:
    leader, standby = parts(site)
    before, epoch, stopped = settled(site.journal), rounds(site.journal)[-1][1], leader.judging
    os.kill(stopped, signal.SIGSTOP)
    soon(lambda: standby.leads, "the standby leads")
    soon(lambda: rounds(site.journal)[-1][1] > epoch, "the standby writes")
    os.kill(stopped, signal.SIGCONT)
    soon(lambda: leader.judging not in (0, stopped), "the former leader ends, and is started again")
    assert parts(site) == (standby, leader)
    epochs = [one for _, one in rounds(site.journal)]
    assert epochs == sorted(epochs), "an old leader wrote after a new one"
    assert findings(site.journal) == before  # each once, with its begin, in its first episode


def test_the_killed_leader_is_followed_by_another(site: SimpleNamespace) -> None:
    leader, _ = parts(site)
    before, epoch = settled(site.journal), rounds(site.journal)[-1][1]
    os.kill(leader.judging, signal.SIGKILL)
    soon(lambda: rounds(site.journal)[-1][1] > epoch, "another one writes")
    parts(site)
    assert findings(site.journal) == before


def test_a_leader_that_the_network_cuts_off_from_the_bus_and_not_from_the_database_stops(site: SimpleNamespace) -> None:
    leader, standby = parts(site)
    before, epoch, judging = settled(site.journal), rounds(site.journal)[-1][1], leader.judging
    shown: dict[int, set[str]] = {}

    def look() -> None:
        """Number and time of what both pages show."""
        for judge in (leader, standby):
            status, body = get(f"{judge.url}api/v1/fabric")
            if status == 200 and (fabric := json.loads(body))["number"]:
                shown.setdefault(fabric["number"], set()).add(fabric["at"])

    pauses = 0

    def ended() -> bool:
        """Whether the leader has stopped; it counts the pauses of `soon`, which a busy machine does not shorten."""
        nonlocal pauses
        pauses += 1
        if pauses % 4 == 0:
            look()
        return leader.judging not in (0, judging)

    with cut_off(leader.bus):
        soon(ended, "the leader ends, and is started again")
        assert pauses * PAUSE_SECONDS < 9, "it led for longer than a lease lasts"
        soon(lambda: look() or standby.leads, "the standby leads")
        soon(lambda: look() or rounds(site.journal)[-1][1] > epoch, "it writes")
        soon(lambda: look() or len(shown) > 2, "it publishes, too")
        assert not leader.leads
    assert parts(site) == (standby, leader)
    written = rounds(site.journal)
    assert [one for _, one in written] == sorted(one for _, one in written), "an old leader wrote after a new one"
    assert len({number for number, _ in written}) == len(written)
    assert [number for number, at in shown.items() if len(at) > 1] == [], "two publications have one number"
    assert findings(site.journal) == before


def test_judges_whose_bus_was_away_for_longer_than_the_lease_lead_again(site: SimpleNamespace) -> None:
    leader, standby = parts(site)
    before, epoch, judging = settled(site.journal), rounds(site.journal)[-1][1], leader.judging
    site.server.kill()
    soon(lambda: leader.judging not in (0, judging), "the leader ends, and is started again")
    soon(lambda: not leader.leads and not standby.leads, "none leads without a bus")
    site.server.start()
    parts(site)
    soon(lambda: rounds(site.journal)[-1][1] > epoch, "one of them writes")
    assert findings(site.journal) == before

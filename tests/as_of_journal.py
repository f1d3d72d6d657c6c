"""A journal with a past, for tests of questions, API and page as of a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from tests.fake_tower import FakeTower
from tests.journal_helpers import Fabric, Settings, record, swapped
from tests.small_fabric import World
from truerail.analysis.published import CollectorRun, EvaluatedRound, Published
from truerail.analysis.round import Round
from truerail.journal import Journal, open_journal
from truerail.model import Port, Snapshot
from truerail.model.history import PlanVersion
from truerail.questions.past_publication import Past, past_of
from truerail.questions.question import Asked
from truerail.rounds import evaluate

MOVED = Port("h1", "nica")


@dataclass
class Kept:
    """A journal with its rounds: two right, two swapped, six right again."""

    journal: Journal
    live: Published
    times: list[datetime]

    def past(self, number: int, **changed: object) -> Past:
        """The state of a round, a second later."""
        asked = Asked(replace(self.live, **changed), self.journal, self.times[-1] + timedelta(minutes=1))
        return past_of(asked, self.at(number))

    def at(self, number: int) -> datetime:
        """A second after a round."""
        return self.times[number] + timedelta(seconds=1)

    def tower(self) -> FakeTower:
        """A service with this past, a minute after the last round."""
        tower = FakeTower(self.live)
        tower.history = self.journal  # type: ignore[assignment]  # the journal itself, not a list of rows
        tower.moment = self.times[-1] + timedelta(minutes=1)
        return tower


@contextmanager
def kept_journal(folder: Path, begins: datetime | None = None) -> Iterator[Kept]:
    """The journal; its first round is 30 s after `begins`."""
    journal = open_journal(Settings(f"sqlite:///{folder}/journal.db"))
    fabric = Fabric() if begins is None else Fabric(at=begins)
    rounds = [*fabric.rounds(2), *fabric.rounds(2, swapped), *fabric.rounds(6)]
    journal.plan_in_force(PlanVersion("d1", rounds[0].at, "plan.csv", 1, 1))
    for number, changes in enumerate(rounds, 1):
        journal.record(record(number, changes), changes)
    seen = Round(fabric.plan, Snapshot(fabric.at, World(fabric.plan).snapshot().readings))
    runs = {"lldp_host": CollectorRun("lldp_host", 60.0, fabric.at, 0.4, 14, 14, 10)}
    live = Published(len(rounds), "lab", EvaluatedRound(seen, evaluate(seen)), plan_digest="d1", runs=runs)
    yield Kept(journal, live, [one.at for one in rounds])
    journal.close()

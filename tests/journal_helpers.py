"""Rounds for tests of the journal: a small fabric that changes from round to round, and settings for a journal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec import structs

from tests.small_fabric import AT, World, make_plan
from truerail.analysis.round import Round
from truerail.journal import Changes, Lives
from truerail.model import Evaluation, Plan, Port, Snapshot
from truerail.model.history import RoundRecord
from truerail.model.target import Secret
from truerail.rounds import evaluate

ROUND = timedelta(seconds=30)
RECOVERY = timedelta(seconds=120)
WITHIN = timedelta(hours=1)


@dataclass(frozen=True)
class Settings:
    """What `open_journal` asks of the settings."""

    url: str
    password: Secret | None = None
    retention: timedelta = timedelta(days=400)
    round_retention: timedelta = timedelta(days=35)


def lives(recovery: timedelta = RECOVERY, episodes: int = 4) -> Lives:
    """As the service makes them."""
    return Lives(recovery, episodes, WITHIN)


def swapped(world: World) -> None:
    """Two cables of h1 swapped: CAB001 at both."""
    world.swap(Port("h1", "nica"), Port("h1", "nicb"))


@dataclass
class Fabric:
    """A small fabric whose rounds are asked to `lives`, one every 30 s."""

    plan: Plan = field(default_factory=make_plan)
    lives: Lives = field(default_factory=lives)
    at: datetime = AT
    number: int = 0

    def round(
        self, change: Callable[[World], None] | None = None, spoil: Callable[[Evaluation], Evaluation] | None = None
    ) -> Changes:
        """The next round, with `change` made to a clean fabric for it, and `spoil` to what was evaluated."""
        world = World(self.plan)
        if change:
            change(world)
        return self.tell(world.snapshot(), spoil)

    def tell(self, snapshot: Snapshot, spoil: Callable[[Evaluation], Evaluation] | None = None) -> Changes:
        """A round that saw this."""
        self.at += ROUND
        self.number += 1
        fresh = Snapshot(self.at, [structs.replace(reading, at=self.at) for reading in snapshot.readings])
        round = Round(self.plan, fresh)
        evaluation = evaluate(round)
        return self.lives.update(spoil(evaluation) if spoil else evaluation, round.cabling)

    def rounds(self, count: int, change: Callable[[World], None] | None = None) -> Sequence[Changes]:
        """Several rounds alike."""
        return [self.round(change) for _ in range(count)]


def record(number: int, changes: Changes) -> RoundRecord:
    """A round in numbers."""
    return RoundRecord(number, changes.at, 0.5, 14, 14, 40, 38, 2, 0, 0, {"critical": 2, "info": 0}, 1, "abc")

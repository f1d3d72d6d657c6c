"""One round: a plan, a snapshot, and the one owner of everything that is derived from the two.

What is derived holds what it is made of and never the round, so a round is freed as soon as its last reader is done.
"""

from dataclasses import dataclass
from functools import cached_property

from truerail.analysis.cabling.joined import Wiring, join
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.counters.window import Window
from truerail.analysis.pfc.trees import Pauses, pauses_of
from truerail.model.plan import Plan
from truerail.model.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Round:
    """A snapshot under a plan. Each derived value is computed when it is first read; one that raises, each time."""

    plan: Plan
    snapshot: Snapshot

    @property
    def counters(self) -> Window | None:
        """The counters of the last rounds; None if none were collected."""
        return self.snapshot.window

    @cached_property
    def cabling(self) -> Wiring:
        """The actual cabling, and the state of every planned cable."""
        return join(self.plan, self.snapshot)

    @cached_property
    def telemetry(self) -> Telemetry:
        """The counters of every planned port."""
        return Telemetry(self.cabling, self.counters)

    @cached_property
    def pauses(self) -> Pauses:
        """The pause trees. Raises InsufficientDataError if no device counts pauses, if there are too few samples, or if
        only frames are counted and the link speed is unknown.
        """
        return pauses_of(self.telemetry)

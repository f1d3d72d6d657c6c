"""A living fabric under a clock of the test's own, evaluated by the real service, and recorded into a history store."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.living_site import BEGAN, Site
from truerail.analysis.published import JournalState, Published
from truerail.history.recorder import Recorder
from truerail.history.store_folder import StoreFolder
from truerail.journal import Journal
from truerail.model import Optic, Plan, Reading, Snapshot
from truerail.service.evaluator import Evaluator
from truerail.service.plans import version_of
from truerail.service.settings import Settings
from truerail.simulator import Fault, Shape
from truerail.simulator.traffic import FlowFault

SMALL = Shape(hosts=4, rails=4, spines=2, uplinks=2)


class RecordedSite:
    """Rounds as they come, each observed by a recorder; `write` flushes.

    With `journal`, rounds are also written into it. With `light`, every host NIC has a
    module with this serial number, whose weakest lane receives `weakest_dbm`.
    """

    def __init__(
        self,
        folder: Path,
        faults: Sequence[Fault] = (),
        *,
        shape: Shape = SMALL,
        troubles: Sequence[FlowFault] = (),
        began: datetime = BEGAN,
    ) -> None:
        self.site = Site(faults, shape=shape, troubles=troubles, began=began)
        self.plan: Plan = self.site.fabric.plan
        self.folder = StoreFolder(folder)
        self.folder.create("test")
        self.evaluator = self.fresh_evaluator()
        self.restarted()
        self.journal: Journal | None = None
        self.light = False
        self.weakest_dbm = -3.0
        self.serial = "A1"
        self.publication: Published | None = None

    @property
    def now(self) -> datetime:
        """The time of the fabric."""
        return self.site.now.astimezone(UTC)

    def fresh_evaluator(self) -> Evaluator:
        """An evaluator that knows no earlier round."""
        return Evaluator.begin(Settings(fabric="test", inventory=self.folder.path / "inventory.yaml"))

    def rounds(self, count: int, seconds: float = 10.0) -> Published:
        """So many rounds, so many seconds apart; returns the last publication."""
        for _ in range(count):
            self.site.wait(seconds)
            snapshot = self._snapshot()
            evaluated = self.evaluator.evaluate(
                self.plan, snapshot, snapshot.readings, (), {}, JournalState(), (), (), self.now
            )
            self.publication = evaluated.publication
            if self.journal is not None:
                self.journal.record(evaluated.record, evaluated.changes)
                self.journal.plan_in_force(version_of(self.plan, evaluated.record.at))
            self.recorder.observe(evaluated.publication, [evaluated.record])
        assert self.publication is not None
        return self.publication

    def write(self) -> None:
        """Writes what waits, as the service does now and then."""
        self.recorder.flush(self.now)

    def restarted(self) -> None:
        """The recorder's process dies and another one continues: nothing is flushed."""
        self.recorder = Recorder(self.folder)
        self.problems = self.recorder.resume()

    def _snapshot(self) -> Snapshot:
        snapshot = self.site.snapshot()
        return Snapshot(snapshot.at, [*snapshot.readings, *self._modules()]) if self.light else snapshot

    def _modules(self) -> Iterator[Reading]:
        for cable in self.plan.host_cables:
            lanes = [
                Optic(cable.a.name, lane, dbm, 1.0, None, 40.0, vendor="ACME", part="X", serial=self.serial)
                for lane, dbm in enumerate((0.0, self.weakest_dbm))
            ]
            yield Reading(cable.a.device, "optics", self.now, tuple(lanes), read_at=self.now.timestamp())

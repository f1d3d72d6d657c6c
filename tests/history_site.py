"""A living fabric under a clock of the test's own, evaluated by the real service, and recorded into a history store."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from living_site import BEGAN, Site

from truerail.analysis.published import JournalState, Published
from truerail.history.recorder import Recorder
from truerail.history.store_folder import StoreFolder
from truerail.model import Reading
from truerail.service.evaluator import Evaluator
from truerail.service.settings import Settings
from truerail.simulator import Fault, Shape
from truerail.simulator.traffic import FlowFault

SMALL = Shape(hosts=4, rails=4, spines=2, uplinks=2)


class RecordedSite:
    """Rounds as they come, each observed by a recorder; `write` flushes."""

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
        self.evaluator = Evaluator.begin(Settings(fabric="test", inventory=folder / "inventory.yaml"))
        self.folder = StoreFolder(folder)
        self.folder.create("test")
        self.recorder = Recorder(self.folder)
        self.problems = self.recorder.resume()
        self.kept: dict[tuple[str, str], Reading] = {}
        self.publication: Published | None = None

    @property
    def now(self) -> datetime:
        """The time of the fabric."""
        return self.site.now

    def rounds(self, count: int, seconds: float = 10.0) -> Published:
        """So many rounds, so many seconds apart; returns the last publication."""
        for _ in range(count):
            self.site.wait(seconds)
            gathered = self.site.round()
            snapshot = gathered.snapshot()
            evaluated = self.evaluator.evaluate(
                self.site.fabric.plan, snapshot, snapshot.readings, (), {}, JournalState(), (), (), self.now
            )
            self.publication = evaluated.publication
            self.recorder.observe(evaluated.publication, evaluated.record)
        assert self.publication is not None
        return self.publication

    def write(self) -> None:
        """Writes what waits, as the service does now and then."""
        self.recorder.flush(self.now.astimezone(UTC))

    def restarted(self) -> None:
        """The recorder's process dies and another one continues: nothing is flushed."""
        self.recorder = Recorder(self.folder)
        self.problems = self.recorder.resume()

"""What everybody sees now, and the stream that tells when it changes."""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

from truerail.analysis.published import JournalState, Published
from truerail.service.evaluator import Evaluated
from truerail.service.events import EventLog
from truerail.service.news import journal_news, reported
from truerail.service.retiring import retire
from truerail.views.fabric_map import FabricMap
from truerail.views.models import StepLine


class CurrentEvaluation:
    """Replaced as a whole with each evaluation: a reader keeps what it began with. Event loop's thread only."""

    def __init__(self, started: datetime) -> None:
        self.publication: Published | None = None
        self.map: FabricMap | None = None
        self.steps: tuple[StepLine, ...] = ()
        self.retired: list[Any] = []
        """Publications that nobody is shown any more, and what was derived from them: to be freed."""
        self._last: Published | None = None
        self.events = EventLog(first=int(started.timestamp() * 1000))

    async def evaluated(self, evaluated: Evaluated) -> None:
        """A new evaluation is there. What is reported it is made in a thread: again, if something else came
        meanwhile."""
        while True:
            before = self.map
            kind, data = await asyncio.to_thread(reported, before, evaluated.map, evaluated.publication)
            if self.map is before:
                break
        self._replace(evaluated.publication, evaluated.map)
        self.steps = evaluated.steps
        self.events.add(kind, data)

    def muted(self, publication: Published, fabric_map: FabricMap) -> None:
        """The same evaluation, muted otherwise."""
        self._replace(publication, fabric_map)
        self.events.add("mutes", b"{}")

    def journal(self, state: JournalState) -> None:
        """The journal fails, or keeps again."""
        if self.publication and self.map:
            self._replace(replace(self.publication, journal=state), self.map)
        self.events.add("journal", journal_news(state))

    def _replace(self, publication: Published, fabric_map: FabricMap) -> None:
        """Shows another publication. The one before the last is let go: a request that began with the last may run."""
        last, self._last = self._last, self.publication
        if last is not None and self._last is not None and last.snapshot is not self._last.snapshot:
            self.retired += [*retire(last), last]
        self.publication, self.map = publication, fabric_map

    def stop(self) -> None:
        """Tells every reader that nothing more will come."""
        self.events.add("stop", b"{}")

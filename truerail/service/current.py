"""The current evaluation for all readers, and the event stream of its changes."""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

from truerail.analysis.published import JournalState, Published
from truerail.service.evaluator import Evaluated
from truerail.service.events import EventLog
from truerail.service.news import journal_news, reported
from truerail.views.fabric_map import FabricMap
from truerail.views.models import StepLine


class CurrentEvaluation:
    """Replaced as a whole with each evaluation: a reader keeps the one it started with. Event loop's thread only."""

    def __init__(self, started: datetime) -> None:
        self.publication: Published | None = None
        self.map: FabricMap | None = None
        self.steps: tuple[StepLine, ...] = ()
        self.former: list[Any] = []
        """Publications that are no longer shown: to be freed."""
        self._last: Published | None = None
        self.events = EventLog(first=int(started.timestamp() * 1000))

    async def evaluated(self, evaluated: Evaluated) -> None:
        """Shows a new evaluation. Its event is built in a thread, and built again if something else came meanwhile."""
        while True:
            before = self.map
            kind, data = await asyncio.to_thread(reported, before, evaluated.map, evaluated.publication)
            if self.map is before:
                break
        self._replace(evaluated.publication, evaluated.map)
        self.steps = evaluated.steps
        self.events.add(kind, data)

    def muted(self, publication: Published, fabric_map: FabricMap) -> None:
        """Shows the same evaluation with other mutes."""
        self._replace(publication, fabric_map)
        self.events.add("mutes", b"{}")

    def journal(self, state: JournalState) -> None:
        """The journal fails, or recovers."""
        if self.publication and self.map:
            self._replace(replace(self.publication, journal=state), self.map)
        self.events.add("journal", journal_news(state))

    def _replace(self, publication: Published, fabric_map: FabricMap) -> None:
        """Shows another publication. The last but one is released: a request that started with the last may
        still run.
        """
        last, self._last = self._last, self.publication
        if last is not None and self._last is not None and last.round is not self._last.round:
            self.former.append(last)
        self.publication, self.map = publication, fabric_map

    def stop(self) -> None:
        """Signals every reader that no more events will come."""
        self.events.add("stop", b"{}")

"""The current evaluation for all readers, and the event stream of its changes."""

import asyncio
from dataclasses import replace
from datetime import datetime
from typing import Any

import orjson

from truerail.analysis.published import JournalState, Published
from truerail.model import Severity
from truerail.service.evaluator import Evaluated
from truerail.service.events import EventLog
from truerail.views.fabric import overview_headline
from truerail.views.fabric_map import FabricMap, changed_cells
from truerail.views.pieces import StepLine
from truerail.views.plain import as_json
from truerail.views.view import view_of

# ----------------------------------------------------------------------------------------------------------------------
# The event for each evaluation: small, because every open page receives it.

_CABLES = ("planned", "right", "wrong", "missing", "unknown")
MOST_CHANGED = 20_000
"""Most cells listed one by one; for more, the whole map is sent."""


def reported(before: FabricMap | None, after: FabricMap, publication: Published) -> tuple[str, bytes]:
    """Kind and data of the event for a new evaluation: the changes, or everything if that is shorter."""
    if before is None or before.plan_digest != after.plan_digest:
        return "state", orjson.dumps(as_json(after))
    changed = changed_cells(before, after)
    if len(changed) > MOST_CHANGED:
        return "state", orjson.dumps(as_json(after))
    return "round", orjson.dumps({**_round(publication), "changed": changed})


def _round(publication: Published) -> dict[str, Any]:
    summary, words = publication.evaluation.summary, overview_headline(view_of(publication))
    found = (*publication.evaluation.findings, *publication.pending_resolution)
    loud = [one for one in found if one.id not in publication.mutes]
    return {
        "number": publication.number,
        "at": publication.at.isoformat(),
        "tone": words.tone,
        "headline": words.headline,
        "repair": words.repair,
        "worst": words.worst,
        "cables": {word: getattr(summary, f"cables_{word}") for word in _CABLES},
        "findings": {s.value: sum(f.severity is s for f in loud) for s in reversed(Severity)},
        "muted": len(publication.mutes),
        "causes": len(publication.evaluation.causes),
    }


# ----------------------------------------------------------------------------------------------------------------------
# The current evaluation for all readers, and the event stream of its changes.


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
        self.events.add("journal", orjson.dumps(as_json(state)))

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

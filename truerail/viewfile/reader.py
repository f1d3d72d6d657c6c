"""Reads the view: the newest publication, of which only the changed parts are decoded again."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import starmap
from pathlib import Path
from threading import Lock
from typing import Any, cast

from msgspec import structs

from truerail.analysis.cabling.paths import gpu_rails
from truerail.analysis.published import EvaluatedRound, Published
from truerail.errors import NotInViewError
from truerail.model.facts import Fact
from truerail.model.finding import Cause, Evaluation, Finding
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan
from truerail.model.reading import Reading
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.viewfile.encoding import decoded, restored_page
from truerail.viewfile.parts import METRICS, StoredState, StoredTopologies
from truerail.viewfile.stored_round import (
    StoredEvidences,
    StoredRound,
    StoredRows,
    StoredSnapshot,
    StoredStates,
    index_of,
    wiring_of,
)
from truerail.viewfile.view_file import open_to_read
from truerail.views.nics import serials_of, topologies_of
from truerail.views.view import warm

_LAZY = (METRICS, "links", "rdma", "evidence")
"""Kinds that are decoded when they are asked for."""


@dataclass(frozen=True, slots=True)
class Read:
    """The newest publication of a view, and what goes with it. `written` is the number of the write."""

    written: int
    publication: Published
    state: StoredState


class ViewReader:
    """One reader of a view. Thread-safe: what is decoded when it is asked for has a connection of its own, and does not
    wait while a new publication is taken in.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._db: sqlite3.Connection | None = None
        self._asking = Lock()
        self._asked: sqlite3.Connection | None = None
        self._parts: dict[str, dict[str, Any]] = {}
        self._read: Read | None = None
        self._plan: tuple[Any, Plan] | None = None
        self._index: tuple[Any, Plan, PlanIndex] | None = None

    def refresh(self) -> Read | None:
        """The newest publication, ready for its readers; None before the first. Raises sqlite3.Error."""
        with self._lock:
            known = self._read.written if self._read else 0
            written = self._take(known)
            if written and (self._read is None or written != known):
                self._read = Read(written, self._published(written), self._state)
            return self._read

    def scrape_page(self) -> ScrapePage | None:
        """The text of the metrics of the newest publication; None before the first. Raises sqlite3.Error."""
        rows = self._rows("SELECT key, body FROM part WHERE kind = ? ORDER BY key", METRICS)
        return restored_page(rows) if rows else None

    def close(self) -> None:
        """Closes the file."""
        with self._lock, self._asking:
            for open_one in (self._db, self._asked):
                if open_one is not None:
                    open_one.close()
            self._db = self._asked = None

    # --- parts --------------------------------------------------------------------------------------------------------

    def _take(self, known: int) -> int:
        """Decodes what changed since a write; returns the number of the last write, 0 without one."""
        if self._db is None:
            self._db = open_to_read(self._path)
            if self._db is None:
                return 0
            with self._asking:
                self._asked = open_to_read(self._path)
        self._db.execute("BEGIN")
        try:
            written = int(self._db.execute("SELECT value FROM meta WHERE name = 'written'").fetchone()[0])
            if written != known:
                self._decode(self._db, known)
        finally:
            self._db.execute("COMMIT")
        return written

    def _decode(self, db: sqlite3.Connection, known: int) -> None:
        marks = ", ".join("?" * len(_LAZY))
        query = f"SELECT kind, key, body FROM part WHERE changed > ? AND kind NOT IN ({marks})"  # noqa: S608 - marks
        for kind, key, body in db.execute(query, (known, *_LAZY)):
            found = decoded(kind, key, body)
            self._parts.setdefault(kind, {})[key] = list(starmap(_reading, found)) if kind == "readings" else found
        present: dict[str, set[str]] = {}
        for kind, key in db.execute("SELECT kind, key FROM part"):
            present.setdefault(kind, set()).add(key)
        for kind, parts in self._parts.items():
            for gone in parts.keys() - present.get(kind, set()):
                del parts[gone]

    def _rows(self, query: str, *values: str) -> list[Any]:
        """Rows of the newest write, whether or not it has been taken in."""
        with self._asking:
            return self._asked.execute(query, values).fetchall() if self._asked else []

    def _one(self, kind: str, written: int, key: str) -> Any:
        """A part of a kind that is decoded when it is asked for. Raises NotInViewError for one that was written after
        the publication to which it should belong.
        """
        rows = self._rows("SELECT changed, body FROM part WHERE kind = ? AND key = ?", kind, key)
        if not rows or rows[0][0] > written:
            raise NotInViewError(f"{kind} of a former publication")
        return decoded(kind, key, rows[0][1])

    def _listed(self, kind: str) -> Iterator[Any]:
        parts = self._parts.get(kind, {})
        for number in range(len(parts)):
            yield from parts[str(number)]

    @property
    def _state(self) -> StoredState:
        state: StoredState = self._parts["state"][""]
        return state

    # --- the publication ----------------------------------------------------------------------------------------------

    def _published(self, written: int) -> Published:
        state, plan = self._state, self._plan_now()
        readings: list[Reading] = list(self._listed("readings"))
        columns = self._parts["columns"]
        links = StoredRows[Any](state.links, partial(self._one, "links", written))
        rdma = StoredRows[Any](state.rdma, partial(self._one, "rdma", written))
        seen, macs = StoredSnapshot(cast("Any", state.evaluation).at, readings), self._parts["macs"][""]
        follows = {gpu_rails: columns["gpu_rails"], topologies_of: _topologies(self._parts["topologies"][""])}
        follows |= {serials_of: self._parts["serials"][""]}
        wiring = wiring_of(self._index_now(plan), columns, links, rdma, macs, seen, follows)
        round = StoredRound(plan, seen, known=wiring, running=self._parts["jobs"][""])
        found = self._findings(written, readings)
        evaluation = self._evaluation(plan, state, readings, found)
        publication = Published(
            evaluated=EvaluatedRound(round, evaluation),
            lives=dict(self._listed("lives")),
            cause_lives=dict(self._listed("cause_lives")),
            pending_resolution=tuple(map(found, state.pending)),
            **structs.asdict(state.published),
        )
        warm(publication)
        return publication

    def _plan_now(self) -> Plan:
        rest, cables = self._parts["plan"][""], self._parts.get("cables", {})
        key = (rest, *cables.values())
        if (
            self._plan is None
            or len(key) != len(self._plan[0])
            or any(one is not other for one, other in zip(key, self._plan[0], strict=True))
        ):
            self._plan = (key, Plan(cables=tuple(self._listed("cables")), **structs.asdict(rest)))
        return self._plan[1]

    def _index_now(self, plan: Plan) -> PlanIndex:
        seen = self._parts["index"][""]
        if self._index is None or self._index[0] is not seen or self._index[1] is not plan:
            self._index = (seen, plan, index_of(plan, seen))
        return self._index[2]

    def _findings(self, written: int, readings: Sequence[Reading]) -> Callable[[str], Finding]:
        """Returns findings by id, whose evidence is read when it is asked for."""
        stored, part = self._parts.get("findings", {}), partial(self._one, "evidence", written)

        def found(key: str) -> Finding:
            evidence = cast("Any", StoredEvidences(key, part, readings))
            return Finding(evidence=evidence, **structs.asdict(stored[key]))

        return found

    def _evaluation(
        self, plan: Plan, state: StoredState, readings: Sequence[Reading], finding: Callable[[str], Finding]
    ) -> Evaluation:
        causes = self._parts.get("causes", {})
        found: tuple[Cause, ...] = tuple(causes[key] for key in state.causes)
        return Evaluation(
            plan=plan,
            findings=tuple(map(finding, state.findings)),
            causes=found,
            collection_errors=tuple(readings[number] for number in state.errors),
            cable_states=StoredStates(),
            **structs.asdict(state.evaluation),
        )


def _reading(
    device: str, collector: str, at: datetime, error: str, took: float, source: str, read_at: float
) -> Reading:
    return Reading(device, collector, at, (), error, took, source, read_at)


def _topologies(stored: StoredTopologies) -> Mapping[int, tuple[Fact, ...]]:
    facts = stored.facts
    return {host: facts[of] for host, of in zip(stored.host.tolist(), stored.of.tolist(), strict=True)}

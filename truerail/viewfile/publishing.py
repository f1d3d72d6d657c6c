"""Publications into the view, divided into parts. One that is known to be as it was is not encoded again.

Facts, findings and causes are compared as values: that costs a tenth of encoding them. Nothing that is kept between two
publications belongs to the former one, except values that equal those of the new one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from truerail.analysis.cabling.joined import Wiring
from truerail.analysis.published import Published
from truerail.link.codec import rows_of
from truerail.model.facts import Fact, Optic
from truerail.model.plan import Plan
from truerail.model.step_marks import StepMark
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.viewfile.encoding import encoded, stored_page
from truerail.viewfile.parts import (
    CABLES,
    METRICS,
    READINGS,
    ROWS,
    StoredEvaluation,
    StoredEvidence,
    StoredFinding,
    StoredPlan,
    StoredPublished,
    StoredReading,
    StoredState,
    StoredTopologies,
    stored,
)
from truerail.viewfile.stored_round import StoredMacs, columns_of, seen_names
from truerail.viewfile.view_file import Part, ViewWriter, Written
from truerail.views.nics import serials_of, topologies_of
from truerail.views.pieces import StepLine


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published: the evaluation, the punch list with what people wrote on it, and the judge's own metrics."""

    evaluated: Published
    steps: Sequence[StepLine] = ()
    marks: Sequence[StepMark] = ()
    figures: Mapping[str, float] | None = None


class PublicationWriter(ViewWriter):
    """Writes publications into the view: the judge's only way to its readers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._plan: Plan | None = None
        self._values: dict[tuple[str, str], Any] = {}

    def write(self, publication: Publication, page: ScrapePage | None) -> Written:
        """Brings the view to this publication. Raises sqlite3.Error, and then has not changed."""
        try:
            return self.bring(publication.evaluated.number, self._parts(publication, page))
        except BaseException:
            self._plan, self._values = None, {}
            raise

    def _parts(self, publication: Publication, page: ScrapePage | None) -> Iterator[Part]:
        """All parts of a publication, and of its page."""
        published = publication.evaluated
        wiring, before = published.wiring, self._values
        self._values = {}
        yield from self._of_plan(published.plan)
        seen = seen_names(wiring.index)
        key = (published.plan, *map(list, (seen.devices, seen.spellings)), seen.packed.tobytes())
        yield self._part("index", "", key, before, lambda: seen)
        yield from self._facts(published, key, before)
        for name, column in columns_of(wiring).items():
            yield "columns", name, [encoded(column)]
        yield "columns", "gpu_rails", [encoded(replace(wiring.gpu_rails, _reported=(), _convention={}))]
        readings = published.snapshot.readings
        optics = [(one.device, one.read_at) for one in readings if one.facts and type(one.facts[0]) is Optic]
        yield self._part("serials", "", (key, optics), before, lambda: wiring.once(serials_of))
        rows = [
            StoredReading(r.device, r.collector, r.at, r.error, r.took_seconds, r.source, r.read_at) for r in readings
        ]
        yield from _chunks("readings", rows, READINGS)
        yield from self._found(published, before)
        yield from _chunks("lives", list(published.lives.items()), READINGS)
        yield from _chunks("cause_lives", list(published.cause_lives.items()), READINGS)
        yield self._part("jobs", "", published.evaluated.round.jobs, before)
        yield "state", "", [encoded(_state(publication, wiring))]
        if page is not None:
            for number, pieces in stored_page(page):
                yield METRICS, number, pieces

    def _part(self, kind: str, key: str, value: Any, before: Mapping[tuple[str, str], Any], make: Any = None) -> Part:
        """A part whose body follows from `value`, or is what `make` returns."""
        known = before.get((kind, key))
        self._values[kind, key] = value
        same = known is not None and bool(known == value)
        return kind, key, None if same else [encoded(make() if make else value)]

    def _of_plan(self, plan: Plan) -> Iterator[Part]:
        starts = range(0, len(plan.cables), CABLES)
        same = plan is self._plan
        yield "plan", "", None if same else [encoded(stored(StoredPlan, plan))]
        for number, start in enumerate(starts):
            yield "cables", str(number), None if same else [encoded(plan.cables[start : start + CABLES])]
        self._plan = plan

    def _facts(self, published: Published, seen: Any, before: Mapping[tuple[str, str], Any]) -> Iterator[Part]:
        wiring = published.wiring
        same = True
        for kind, rows in (("links", wiring.states.links), ("rdma", wiring.states.rdma)):
            for number, start in enumerate(range(0, len(rows), ROWS)):
                part = self._part(kind, str(number), rows[start : start + ROWS], before)
                same = same and part[2] is None
                yield part
        yield "topologies", "", [encoded(_topologies(wiring.once(topologies_of)))]
        rows_and_ports = (len(wiring.states.links), seen) if same else object()  # which equals nothing that is known
        yield self._part("macs", "", rows_and_ports, before, lambda: StoredMacs.of(wiring.identity.names.macs.by_mac))

    def _found(self, published: Published, before: Mapping[tuple[str, str], Any]) -> Iterator[Part]:
        at = {(reading.device, reading.collector): reading.at for reading in published.snapshot.readings}
        for finding in (*published.evaluation.findings, *published.pending_resolution):
            key = finding.id
            yield self._part("findings", key, stored(StoredFinding, finding), before)
            sources = [
                (e.device, e.collector, None if at.get((e.device, e.collector)) == e.at else e.at)
                for e in finding.evidence
            ]
            facts = [e.fact for e in finding.evidence]
            yield self._part("evidence", key, (sources, facts), before, partial(_evidence, sources, facts))
        for cause in published.evaluation.causes:
            yield self._part("causes", cause.key, cause, before)


def _evidence(sources: list[Any], facts: list[Fact]) -> StoredEvidence:
    return StoredEvidence(sources, rows_of(facts))


def _chunks(kind: str, rows: Sequence[Any], size: int) -> Iterator[Part]:
    for number, start in enumerate(range(0, len(rows), size)):
        yield kind, str(number), [encoded(rows[start : start + size])]


def _topologies(read: Mapping[int, Any]) -> StoredTopologies:
    """The topologies of all hosts; hosts of one model have equal ones."""
    numbers: dict[int, int] = {}
    distinct: dict[Any, int] = {}
    facts: list[Any] = []
    for one in read.values():
        if id(one) not in numbers:
            number = distinct.setdefault(one, len(facts))
            if number == len(facts):
                facts.append(one)
            numbers[id(one)] = number
    of = np.array([numbers[id(one)] for one in read.values()], dtype=np.int64)
    return StoredTopologies(np.array(list(read), dtype=np.int64), of, facts)


def _state(publication: Publication, wiring: Wiring) -> StoredState:
    published, evaluation = publication.evaluated, publication.evaluated.evaluation
    place = {id(reading): number for number, reading in enumerate(published.snapshot.readings)}
    return StoredState(
        published=stored(StoredPublished, published),
        evaluation=stored(StoredEvaluation, evaluation),
        findings=tuple(finding.id for finding in evaluation.findings),
        pending=tuple(finding.id for finding in published.pending_resolution),
        causes=tuple(cause.key for cause in evaluation.causes),
        errors=tuple(place[id(reading)] for reading in evaluation.collection_errors),
        steps=tuple(publication.steps),
        marks=tuple(publication.marks),
        links=len(wiring.states.links),
        rdma=len(wiring.states.rdma),
        figures=dict(publication.figures or {}),
    )

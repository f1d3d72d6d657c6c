"""Values of the moment of the scrape: ages, the state of collectors and journal, and the service's own metrics."""

import platform
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from prometheus_client import Metric
from prometheus_client.registry import Collector

from truerail import __version__
from truerail.analysis.published import CollectorRun, JournalHealth, Published
from truerail.model.reading import Reading
from truerail.outputs.metrics.declared import (
    CATALOGUE,
    PREFIX,
    SERVICE_PREFIX,
    SERVICE_SAYS,
    Declared,
    Kind,
    declared,
    kind_of,
)
from truerail.outputs.metrics.metric_series import family

_Figure = Callable[[CollectorRun], float | None]
_UNSAFE = re.compile(r"[^a-z0-9_]")


class Live(Collector):
    """A few dozen series. `answered` is the query time of the newest readable answer to each collector; `counters` are
    metrics of the service by name, counters if the name ends in `_total`.
    """

    def __init__(
        self,
        publication: Published | None,
        answered: Mapping[str, datetime],
        counters: Mapping[str, float],
        now: datetime,
    ) -> None:
        self._publication = publication
        self._answered = answered
        self._counters = counters
        self._now = now

    def collect(self) -> Iterator[Metric]:
        """All families with at least one series."""
        yield family(declared("build_info"), [({"version": __version__, "python": platform.python_version()}, 1)])
        for name, value in self._counters.items():
            yield family(_of_service(name), [({}, value)])
        if self._publication is not None:
            families = (*self._shown(self._publication), *self._journal(self._publication), *self._collectors())
            yield from (metric for metric in families if metric.samples)

    def _shown(self, publication: Published) -> Iterator[Metric]:
        fabric = {"fabric": publication.fabric}
        yield family(declared("evaluation_number"), [(fabric, publication.number)])
        yield family(declared("evaluation_timestamp_seconds"), [(fabric, publication.at.timestamp())])
        yield family(declared("evaluation_age_seconds"), [(fabric, self._age(publication.at))])
        yield family(declared("evaluation_duration_seconds"), [(fabric, publication.evaluated_seconds)])

    def _journal(self, publication: Published) -> Iterator[Metric]:
        fabric, journal = {"fabric": publication.fabric}, publication.journal
        states = [(fabric | {"health": health.value}, float(journal.health is health)) for health in JournalHealth]
        yield family(declared("journal_health"), states)
        if journal.since is not None:
            yield family(declared("journal_health_timestamp_seconds"), [(fabric, journal.since.timestamp())])
        if journal.health is not JournalHealth.OFF:
            yield family(declared("journal_queue_length"), [(fabric, journal.waiting)])
            yield family(declared("journal_lost_rounds_total"), [(fabric, journal.lost_total)])
            yield family(declared("journal_written_rounds_total"), [(fabric, journal.written_total)])

    def _collectors(self) -> Iterator[Metric]:
        yield self._of_runs("interval_seconds", lambda run: run.every_seconds)
        yield self._of_runs("success", _succeeded)
        yield self._of_runs("last_round_timestamp_seconds", _last_round)
        yield self._of_runs("duration_seconds", lambda run: run.took_seconds if run.last_at else None)
        yield self._of_runs("devices_asked", lambda run: run.devices_asked if run.last_at else None)
        yield self._of_runs("devices_answered", lambda run: run.devices_answered if run.last_at else None)
        yield self._of_runs("rounds_total", lambda run: run.rounds_total)
        yield self._of_runs("failures_total", lambda run: run.failures_total)
        yield self._of_runs("missed_total", lambda run: run.missed_total)
        answered = self._answered.items()
        yield self._of_collectors("last_success_timestamp_seconds", ((name, at.timestamp()) for name, at in answered))
        yield self._of_collectors("age_seconds", ((name, self._age(at)) for name, at in answered))

    def _of_runs(self, name: str, value: _Figure) -> Metric:
        runs = self._publication.runs if self._publication else {}
        return self._of_collectors(name, ((of, value(run)) for of, run in runs.items()))

    def _of_collectors(self, name: str, values: Iterable[tuple[str, float | None]]) -> Metric:
        fabric = self._publication.fabric if self._publication else ""
        reported = ((of, value) for of, value in values if value is not None)
        return family(declared(f"collector_{name}"), [({"fabric": fabric, "collector": of}, at) for of, at in reported])

    def _age(self, at: datetime) -> float:
        return (self._now - at).total_seconds()


def newest_answers(readings: Iterable[Reading]) -> dict[str, datetime]:
    """The query time of the newest readable answer to each collector."""
    newest: dict[str, datetime] = {}
    for reading in readings:
        if not reading.error:
            known = newest.get(reading.collector)
            if known is None or reading.at > known:
                newest[reading.collector] = reading.at
    return newest


def _last_round(run: CollectorRun) -> float | None:
    return run.last_at.timestamp() if run.last_at else None


def _succeeded(run: CollectorRun) -> float | None:
    return float(run.devices_answered > 0) if run.last_at and run.devices_asked else None


def _of_service(figure: str) -> Declared:
    word = _UNSAFE.sub("_", figure)
    if (known := CATALOGUE.get(PREFIX + word)) is not None:
        return known
    name = SERVICE_PREFIX + word
    return CATALOGUE.get(name) or Declared(name, kind_of(name), "", (), SERVICE_SAYS, "")


def declaration_of(family: Metric) -> Declared:
    """The declaration of a family: from the catalogue, else what the family itself has."""
    name = f"{family.name}_total" if family.type == Kind.COUNTER.value else family.name
    return CATALOGUE.get(name) or Declared(name, Kind(family.type), "", (), family.documentation, "")

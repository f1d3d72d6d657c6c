"""Publications to take metrics of, and pages read back with prometheus-client's own parser."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
from prometheus_client import Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from tests.small_fabric import AT
from truerail.analysis.counters import CounterView
from truerail.analysis.counters.traffic import Traffic, traffic_of
from truerail.analysis.ecmp.spread import Spread
from truerail.analysis.published import CollectorRun, EvaluatedRound, JournalHealth, JournalState, Published
from truerail.analysis.round import Round
from truerail.model import Plan, Snapshot
from truerail.outputs.metrics import Exposition
from truerail.outputs.metrics.metric_series import Series, family
from truerail.rounds import evaluate
from truerail.views.faults import open_faults

NOW = AT + timedelta(seconds=30)
COUNTERS = {"rounds_total": 3.0, "event_streams": 1.0}
RUNS = {"lldp_host": CollectorRun("lldp_host", 60, AT, 1.5, 16, 15, 4, 2, 1), "if_snmp": CollectorRun("if_snmp", 60)}
KEPT = JournalState(JournalHealth.KEEPING, since=AT, waiting=1, lost_total=0, written_total=9)
Sample = tuple[str, tuple[tuple[str, str], ...], float]


def published(plan: Plan, snapshot: Snapshot, counters: CounterView | None = None, **more: Any) -> Published:
    """The evaluation of a snapshot, as number 7 of the fabric `lab`."""
    values: dict[str, Any] = {"plan_digest": "d1", "runs": RUNS, "journal": KEPT, "evaluated_seconds": 0.25}
    round = Round(plan, snapshot, counters)
    values["traffic"] = traffic_of(round)
    evaluated = EvaluatedRound(round, evaluate(round))
    lives = {key: more.get(key, {}) for key in ("cause_lives", "lives")}
    values["open_faults"] = open_faults(evaluated, **lives)
    return Published(7, "lab", evaluated, **values | more)


def with_traffic(publication: Published, seed: int = 1) -> Published:
    """The same with traffic that is drawn: some ports tell nothing, some carry nothing."""
    rng = np.random.default_rng(seed)
    ports = publication.wiring.index.planned_ports

    def drawn(scale: float) -> npt.NDArray[np.float32]:
        values = scale * rng.random(ports) ** 4
        values[rng.random(ports) < 0.2] = 0
        values[rng.random(ports) < 0.2] = np.nan
        return values.astype(np.float32)

    index = publication.wiring.index
    switches = np.unique(index.a_device[~index.from_host & (index.a_device >= 0)])
    ratios = 1 + 3 * rng.random((2, len(switches)))
    ratios[rng.random(ratios.shape) < 0.2] = np.nan
    spread = Spread(switches, *ratios, rng.random(len(switches)) < 0.5)
    figures = map(drawn, (5e10, 5e10, 1, 1, 1e-3, 1e3))
    return replace(publication, traffic=Traffic(np.full(ports, 5e10), *figures, spread))


def page(publication: Published | None) -> str:
    """The whole page, freshly rendered."""
    return Exposition().render(publication, None, COUNTERS, NOW).decode()


def meaning(text: str) -> list[tuple[str, str, str, list[Sample]]]:
    """What a text says, whatever the order of its lines and labels."""
    families = text_string_to_metric_families(text)
    return sorted((f.name, f.type, f.documentation, sorted(samples(f))) for f in families)


def samples(family: Metric) -> list[Sample]:
    """The samples of a family. An empty label is as good as none, as in Prometheus."""
    reported = [
        (sample, {label: value for label, value in sample.labels.items() if value}) for sample in family.samples
    ]
    return [(sample.name, tuple(sorted(labels.items())), sample.value) for sample, labels in reported]


def all_samples(text: str) -> list[Sample]:
    """Every sample of a text, sorted."""
    return sorted(sample for family in text_string_to_metric_families(text) for sample in samples(family))


def families(publication: Published, counters: Mapping[str, float] = COUNTERS, now: datetime = NOW) -> Iterator[Metric]:
    """The whole page as prometheus-client's metric families: the same meaning, at ten times the cost."""
    for one in Exposition().series(publication, counters, now, lambda metric: True):
        yield one if isinstance(one, Metric) else family_of(one)


def family_of(series: Series) -> Metric:
    """A series as prometheus-client's metric family: the reference."""
    columns = {"fabric": [series.rows.fabric] * len(series.values), **series.rows.labels, **series.labels}
    rows = ({label: column[number] for label, column in columns.items()} for number in range(len(series.values)))
    return family(series.metric, zip(rows, series.values, strict=True))


def text_of(families: Iterable[Metric]) -> str:
    """The families as prometheus-client writes them; those without series are left out."""

    class Given(Collector):
        def collect(self) -> Iterable[Metric]:
            return [family for family in families if family.samples]

    return generate_latest(Given()).decode()


class Read:
    """A page to ask: `read("links", state="wrong")` sums the series that carry these labels; None where none is."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, list[str]] = {}
        for line in text.splitlines(keepends=True):
            if not line.startswith("#"):
                self.lines.setdefault(line.partition(" ")[0].partition("{")[0], []).append(line)
        self.names = set(self.lines)
        self.read: dict[str, list[tuple[Mapping[str, str], float]]] = {}

    def series(self, metric: str, **labels: str) -> list[tuple[Mapping[str, str], float]]:
        """Labels and values; an empty label asks for series without it. Only the lines that are asked for are read."""
        name, wanted = f"truerail_{metric}", labels.items()
        if name not in self.read:
            self.read[name] = [(dict(has), v) for _, has, v in all_samples("".join(self.lines.get(name, ())))]
        return [(has, v) for has, v in self.read[name] if all(has.get(k, "") == w for k, w in wanted)]

    def __call__(self, metric: str, **labels: str) -> float | None:
        found = self.series(metric, **labels)
        return sum(value for _, value in found) if found else None

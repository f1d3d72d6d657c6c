"""Metrics as data of OpenTelemetry's SDK, in portions: an export of a large fabric is never in memory as a whole."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from opentelemetry.sdk.metrics import export
from prometheus_client import Metric as Family

from truerail.outputs.metrics.declared import Declared, Kind
from truerail.outputs.metrics.metric_series import Series, clean
from truerail.outputs.metrics.scrape_values import declaration_of
from truerail.service.otlp_metrics import resource_of, scope

PORTION = 10_000
"""Points of one request: about 1 MB before compression. Collectors take 4 to 20 MiB by default."""
_UNITS = {"seconds": "s", "bytes/s": "By/s", **dict.fromkeys(("ratio", "0..1", "0 or 1", "1", "number", "state"), "1")}
"""By our words, in UCUM (https://ucum.org/ucum); others are annotations, `{GPUs}`."""
Labels = Mapping[str, str]
_Row = tuple[Declared, Labels, float]


def portions(
    series: Iterable[Series | Family], fabric: str, began: int, now: int
) -> Iterator[tuple[export.MetricsData, int]]:
    """The data of each request and its number of points. `began` and `now` are nanoseconds since 1970."""
    rows = (row for one in series for row in (_rows(one) if isinstance(one, Series) else _samples(one)))
    while portion := list(islice(rows, PORTION)):
        yield _data(portion, fabric, began, now), len(portion)


def _rows(series: Series) -> Iterator[_Row]:
    """The points of many rows. An empty label is left out, as in the text."""
    columns = {**series.rows.labels, **series.labels}
    names, fabric = tuple(columns), clean(series.rows.fabric)
    for values, value in zip(zip(*columns.values(), strict=True), series.values, strict=True):
        labels = {name: clean(text) for name, text in zip(names, values, strict=True) if text}
        yield series.metric, {"fabric": fabric, **labels}, float(value)


def _samples(family: Family) -> Iterator[_Row]:
    metric = declaration_of(family)
    for sample in family.samples:
        yield metric, sample.labels, float(sample.value)


def _data(rows: Iterable[_Row], fabric: str, began: int, now: int) -> export.MetricsData:
    points: dict[str, tuple[Declared, list[export.NumberDataPoint]]] = {}
    for metric, labels, value in rows:
        start = began if metric.kind is Kind.COUNTER else 0
        point = export.NumberDataPoint(dict(labels), start, now, value)
        points.setdefault(metric.name, (metric, []))[1].append(point)
    scoped = [export.ScopeMetrics(scope(), [_metric(metric, found) for metric, found in points.values()], "")]
    return export.MetricsData([export.ResourceMetrics(resource_of(fabric), scoped, "")])


def _metric(metric: Declared, points: list[export.NumberDataPoint]) -> export.Metric:
    cumulative = export.AggregationTemporality.CUMULATIVE
    data = export.Sum(points, cumulative, is_monotonic=True) if metric.kind is Kind.COUNTER else export.Gauge(points)
    unit = _UNITS.get(metric.unit) or (f"{{{metric.unit}}}" if metric.unit else "")
    return export.Metric(metric.name, metric.summary, unit, data)

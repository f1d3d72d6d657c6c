"""A metric of few series as prometheus-client's family."""

from collections.abc import Iterable, Mapping

from prometheus_client import Metric

from truerail.outputs.metrics.declared import Declared, Kind
from truerail.outputs.metrics.metric_series import clean

Samples = Iterable[tuple[Mapping[str, str], float]]


def family(metric: Declared, samples: Samples) -> Metric:
    """A metric with these labels and values. Empty labels are left out."""
    name = metric.name.removesuffix("_total") if metric.kind is Kind.COUNTER else metric.name
    made = Metric(name, metric.summary, metric.kind.value)
    for labels, value in samples:
        made.add_sample(metric.name, {label: clean(text, label) for label, text in labels.items() if text}, value)
    return made

"""Series over columns: one metric, many rows, rendered as text by joining strings, pod by pod.

The model is prometheus-client's metric family: a test makes one of the same series, and proves that both texts mean the
same. The text is ours because 100,000 samples as families cost 0.7 s, and joined 0.05 s.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise, repeat
from typing import Final

import numpy as np
from prometheus_client import Metric

from truerail.model.columns import Codes
from truerail.model.names import printable
from truerail.outputs.metrics.declared import Declared, Kind

_LONGEST: Final = 200
_SENTENCES: Final = {"summary": 600, "action": 600}


def clean(value: str, label: str = "") -> str:
    """A label value without control characters, at most 200 characters long, 600 in sentences: names that devices
    report are untrusted.
    """
    longest = _SENTENCES.get(label, _LONGEST)
    return value if value.isprintable() and len(value) <= longest else printable(value, longest)


def escape(value: str) -> str:
    """A label value in the text format's quoting (exposition format 0.0.4)."""
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def head(metric: Declared) -> str:
    """The lines above a metric's series."""
    summary = metric.summary.replace("\\", r"\\").replace("\n", r"\n")
    return f"# HELP {metric.name} {summary}\n# TYPE {metric.name} {metric.kind.value}\n"


class _Pieces(dict[str, str]):
    """Label value to its piece of text, each computed once."""

    def __init__(self, label: str) -> None:
        super().__init__({"": ""})
        self._label = label

    def __missing__(self, value: str) -> str:
        piece = self[value] = f',{self._label}="{escape(clean(value, self._label))}"'
        return piece


class _Numbers(dict[float, str]):
    """Value to the end of its line, each computed once."""

    def __missing__(self, value: float) -> str:
        text = self[value] = f"}} {int(value) if value == int(value) else repr(float(value))}\n"
        return text


def pieces(labels: Mapping[str, Sequence[str]]) -> list[Iterator[str]]:
    """The text of each label, row by row. Empty values have no text."""
    return [map(_Pieces(label).__getitem__, values) for label, values in labels.items()]


@dataclass(frozen=True)
class Rows:
    """The rows of series. `labels` are columns of shape (rows,), empty if a row lacks the label; `pod` is the rank of
    each row's pod among `pods`, ascending.
    """

    fabric: str
    labels: Mapping[str, Sequence[str]]
    pod: Codes
    pods: int
    given: list[str] | None = None
    """Each row's text, if it follows from that of other rows."""

    @cached_property
    def text(self) -> list[str]:
        """Each row's labels as text, without the closing brace. Computed once, reused for every metric of these
        rows.
        """
        if self.given is not None:
            return self.given
        opening = f'{{fabric="{escape(clean(self.fabric))}"'
        return list(map("".join, zip(repeat(opening, len(self.pod)), *pieces(self.labels), strict=True)))

    @cached_property
    def sizes(self) -> Codes:
        """The number of bytes of each row's text."""
        return np.array([len(text.encode()) for text in self.text], dtype=np.int64)

    @cached_property
    def bounds(self) -> list[int]:
        """The start of each pod's rows, and the end of the last; shape (pods + 1,)."""
        found: list[int] = np.searchsorted(self.pod, np.arange(self.pods + 1)).tolist()
        return found

    def take(self, rows: Codes) -> "Rows":
        """Some of the rows, in ascending order; a row may occur several times. Their text is reused."""
        chosen: list[int] = rows.tolist()
        labels = {label: [values[row] for row in chosen] for label, values in self.labels.items()}
        return Rows(self.fabric, labels, self.pod[rows], self.pods, [self.text[row] for row in chosen])

    def beside(self, label: str, values: Sequence[str]) -> "Rows":
        """The same rows with a further label; one value for each row."""
        text = list(map(str.__add__, self.text, *pieces({label: values})))
        return Rows(self.fabric, {**self.labels, label: values}, self.pod, self.pods, text)

    def crossed(self, label: str, values: Sequence[str]) -> "Rows":
        """Every row once for each value of a further label."""
        size = len(self.pod)
        return self.take(np.repeat(np.arange(size), len(values))).beside(label, list(values) * size)


@dataclass(frozen=True)
class Series:
    """One metric: a value for each row, and its own labels in addition to the rows' labels."""

    metric: Declared
    rows: Rows
    values: Sequence[float]
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @cached_property
    def block(self) -> "Block":
        """The text. Computed once: a series that stays the same over evaluations is rendered once."""
        numbers = _Numbers()
        columns = (repeat(self.metric.name, len(self.values)), self.rows.text, *pieces(self.labels))
        lines = zip(*columns, map(numbers.__getitem__, self.values), strict=True)
        flat, width = list(chain.from_iterable(lines)), len(columns) + 1
        cuts = pairwise(self.rows.bounds)
        return Block(head(self.metric), tuple("".join(flat[a * width : b * width]).encode() for a, b in cuts))


@dataclass(frozen=True, slots=True)
class Block:
    """A metric's text: its header, and its lines for each pod."""

    head: str
    pods: tuple[bytes | memoryview, ...]

    def parts(self, pod: int | None) -> Iterator[bytes | memoryview]:
        """The text of one pod by its rank, or of all pods; empty without lines."""
        chosen = self.pods if pod is None else self.pods[pod : pod + 1]
        if any(map(len, chosen)):
            yield self.head.encode()
            yield from chosen


# ----------------------------------------------------------------------------------------------------------------------
# A metric of few series as prometheus-client's family.

Samples = Iterable[tuple[Mapping[str, str], float]]


def family(metric: Declared, samples: Samples) -> Metric:
    """A metric with these labels and values. Empty labels are left out."""
    name = metric.name.removesuffix("_total") if metric.kind is Kind.COUNTER else metric.name
    made = Metric(name, metric.summary, metric.kind.value)
    for labels, value in samples:
        made.add_sample(metric.name, {label: clean(text, label) for label, text in labels.items() if text}, value)
    return made

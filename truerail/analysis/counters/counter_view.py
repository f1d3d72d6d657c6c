"""The counters as one evaluation reads them: later rounds change nothing in them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import numpy as np

from truerail.analysis.counters.hygiene import Seconds, middle
from truerail.analysis.counters.series import SeriesView, SourceView
from truerail.model.columns import Codes

SETTLED_SECONDS = 120.0
"""What a rule needs at most: four windows of 30 seconds, or 120 seconds of marks."""


@dataclass(frozen=True, eq=False)
class CounterView:
    """What a `Window` held at one evaluation. Arrays are shared with it and read-only: it copies them before it writes
    to them again. Containers are copies.
    """

    samples: int
    step_seconds: float
    begun: Seconds
    """Start of each sample, in Unix seconds; NaN for one that never began. Shape (samples,)."""
    head: int
    """The newest sample."""
    sources: Mapping[str, SourceView]
    """By collector."""

    @cached_property
    def order(self) -> Codes:
        """The samples from the oldest to the newest, without those that never began."""
        order = ordered(self.begun, self.head)
        order.setflags(write=False)
        return order

    @cached_property
    def pace(self) -> float:
        """Usual seconds between two samples: `step_seconds`, or more if rounds are less frequent."""
        return pace_of(self.begun[self.order], self.step_seconds)

    @property
    def oldest(self) -> float:
        """Start of the oldest sample, in Unix seconds; NaN without samples."""
        return float(self.begun[self.order[0]]) if len(self.order) else float("nan")

    @property
    def settled_at(self) -> datetime | None:
        """When there will be counters for as long as every rule needs; None if there are."""
        span = float(self.begun[self.head]) - self.oldest if len(self.order) else 0.0
        return None if span >= SETTLED_SECONDS else datetime.fromtimestamp(self.oldest + SETTLED_SECONDS, UTC)

    def columns(self) -> Iterator[tuple[str, SourceView, SeriesView]]:
        """All series, each with its source."""
        for name, source in self.sources.items():
            for series in source.series.values():
                yield name, source, series


def ordered(begun: Seconds, head: int) -> Codes:
    """The samples of a ring from the oldest to the newest, by their starts and the newest one."""
    order = (head + 1 + np.arange(len(begun))) % len(begun)
    return np.asarray(order[~np.isnan(begun[order])])


def pace_of(begun: Seconds, step_seconds: float) -> float:
    """Usual seconds between samples that began at these times, in order; at least `step_seconds`."""
    return max(step_seconds, middle(np.diff(begun))) if len(begun) > 1 else step_seconds

"""The latest samples of every counter, as arrays: filled round by round, read as a `CounterView`, in which later rounds
change nothing.

A sample is the increment between two readings, with its actual interval, never the nominal one. Missing data is NaN,
never 0. Ports are rows, samples columns, the oldest first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from types import MappingProxyType

import numpy as np

from truerail.analysis.counters.hygiene import Seconds, middle
from truerail.analysis.counters.intake import Answers, take_in, take_in_answers, time_of
from truerail.analysis.counters.series import Source, SourceView
from truerail.model.columns import Codes
from truerail.model.facts import PortCounters
from truerail.model.reading import Reading

SETTLED_SECONDS = 120.0
"""What a rule needs at most: four windows of 30 seconds, or 120 seconds of marks."""


class _Timed:
    """Samples in a ring, by their starts."""

    step_seconds: float
    begun: Seconds
    """Start of each sample, in Unix seconds; NaN for one that never began. Shape (samples,)."""
    head: int
    """The newest sample."""

    @property
    def order(self) -> Codes:
        """The samples from the oldest to the newest, without those that never began."""
        order = (self.head + 1 + np.arange(len(self.begun))) % len(self.begun)
        begun: Codes = order[~np.isnan(self.begun[order])]
        begun.setflags(write=False)
        return begun

    @property
    def pace(self) -> float:
        """Usual seconds between two samples: `step_seconds`, or more if rounds are less frequent."""
        begun = self.begun[self.order]
        return max(self.step_seconds, middle(np.diff(begun))) if len(begun) > 1 else self.step_seconds


@dataclass(frozen=True, eq=False)
class CounterView(_Timed):
    """What a `Window` held at one evaluation. Arrays are shared with it and read-only: it copies them before it writes
    to them again. Containers are copies.
    """

    step_seconds: float
    begun: Seconds
    head: int
    sources: Mapping[str, SourceView]
    """By collector."""

    @property
    def oldest(self) -> float:
        """Start of the oldest sample, in Unix seconds; NaN without samples."""
        return float(self.begun[self.order[0]]) if len(self.order) else float("nan")

    @property
    def settled_at(self) -> datetime | None:
        """When there will be counters for as long as every rule needs; None if there are."""
        span = float(self.begun[self.head]) - self.oldest if len(self.order) else 0.0
        return None if span >= SETTLED_SECONDS else datetime.fromtimestamp(self.oldest + SETTLED_SECONDS, UTC)


# ----------------------------------------------------------------------------------------------------------------------
# The latest samples of every counter, as arrays: filled round by round.


SAMPLES = 30
STEP_SECONDS = 10.0
STEPPED_BACK_SECONDS = 60.0
"""A round older than the last one by more than this was read by a clock that was set back: answers are never that late
(`schedule.round_timeout`).
"""
FORGOTTEN_SHARE = 0.25
"""Ports without data for a whole window are removed once they are this share of a source's ports: renamed ports and
removed devices must not fill the memory, and rebuilding the arrays costs a copy.
"""
_COLLECTOR = attrgetter("collector")


class Window(_Timed):
    """Counters of a fabric over the last `samples` rounds, `step_seconds` apart or more, in bounded memory.

    200,000 ports with 12 counters and 30 samples take about 330 MB, and less where ports count alike. For use by one
    thread at a time; readers get a `view`.
    """

    def __init__(self, samples: int = SAMPLES, step_seconds: float = STEP_SECONDS) -> None:
        self.samples = samples
        self.step_seconds = step_seconds
        self.sources: dict[str, Source] = {}
        self.begun = np.full(samples, np.nan)
        self.head = -1

    def put(self, readings: Iterable[Reading]) -> None:
        """Adds the counters of a round. Readings without counters are ignored."""
        reported = [r for r in readings if r.facts and not r.error and type(r.facts[0]) is PortCounters]
        if not reported:
            return
        self._advance(max(time_of(r) for r in reported))
        pace = self.pace
        for name, of in groupby(sorted(reported, key=_COLLECTOR), key=_COLLECTOR):
            take_in(self._written(name), of, self.head, pace)

    def put_answers(self, answers: Iterable[Answers]) -> None:
        """The same for a round given as arrays, one for each collector."""
        reported = sorted((one for one in answers if one.devices), key=_COLLECTOR)
        if not reported:
            return
        self._advance(max(float(one.at.max()) for one in reported))
        pace = self.pace
        for one in reported:
            take_in_answers(self._written(one.collector), one, self.head, pace)

    def move(self, seconds: float) -> None:
        """The clock was set by so much: all times move with it."""
        self.begun = self.begun + seconds
        for source in self.sources.values():
            source.move(seconds)

    def copy(self) -> "Window":
        """A window with the same values, to be stored: it takes in no answers."""
        found = Window(self.samples, self.step_seconds)
        found.begun, found.head = self.begun.copy(), self.head
        found.sources = {name: source.copy() for name, source in self.sources.items()}
        return found

    def view(self) -> CounterView | None:
        """What it holds now, for readers: later rounds do not change it. None if nothing was counted yet."""
        if not self.sources:
            return None
        begun = self.begun.copy()
        begun.setflags(write=False)
        sources = {name: source.view() for name, source in self.sources.items()}
        return CounterView(self.step_seconds, begun, self.head, MappingProxyType(sources))

    def _written(self, name: str) -> Source:
        """The source of a collector, to be written to."""
        source = self.sources.setdefault(name, Source(self.samples))
        source.part()
        return source

    def _advance(self, at: float) -> None:
        """Begins a new sample, unless the last one has just begun. Rounds without readings are empty samples: a service
        that was down, or a fleet that did not answer, leaves a gap of that length.
        """
        if self.head >= 0:
            before = float(self.begun[self.head])
            if before - STEPPED_BACK_SECONDS <= at < before + self.step_seconds / 2:
                return
            for missed in self._missed(before, at):
                self._begin(missed)
        self._begin(at)

    def _missed(self, before: float, at: float) -> list[float]:
        """Times at which the missed rounds were due."""
        if len(self.order) < 2:
            return []  # the interval of rounds is still unknown
        pace = self.pace
        missed = min(round((at - before) / pace) - 1, self.samples)
        return [at - pace * back for back in range(missed, 0, -1)]

    def _begin(self, at: float) -> None:
        before, self.head = self.head, (self.head + 1) % self.samples
        self.begun[self.head] = at
        for source in self.sources.values():
            source.part()
            source.close(before)
            source.clear(self.head)
        if self.head == 0:
            self._forget()

    def _forget(self) -> None:
        """Removes ports without data since the oldest sample. Runs once in a window."""
        oldest = self.begun[self.order[0]]
        kept: dict[str, Source] = {}
        for name, source in self.sources.items():
            reported = source.at >= oldest
            gone = len(reported) - np.count_nonzero(reported)
            kept[name] = source.only(reported) if gone > FORGOTTEN_SHARE * len(reported) else source
        self.sources = {name: source for name, source in kept.items() if source.ports}

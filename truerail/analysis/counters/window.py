"""The latest samples of every counter, as arrays: the input of the counter rules.

A sample is the increment between two readings, with its actual interval, never the nominal one. Missing data is NaN,
never 0. Ports are rows, samples columns, the oldest first.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np

from truerail.analysis.counters.hygiene import middle
from truerail.analysis.counters.intake import Answers, take_in, take_in_answers, time_of
from truerail.analysis.counters.replugged import Replugged
from truerail.analysis.counters.series import Series, Source
from truerail.model.columns import Codes
from truerail.model.facts import PortCounters
from truerail.model.reading import Reading

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


class Window:
    """Counters of a fabric over the last `samples` rounds, `step_seconds` apart or more, in bounded memory.

    200,000 ports with 12 counters and 30 samples take about 320 MB. For use by one thread at a time; other readers get
    a `frozen` copy.
    """

    def __init__(self, samples: int = SAMPLES, step_seconds: float = STEP_SECONDS) -> None:
        self.samples = samples
        self.step_seconds = step_seconds
        self.sources: dict[str, Source] = {}
        self.begun = np.full(samples, np.nan)
        """Start of each sample, in Unix seconds."""
        self.head = -1
        self.replugged = Replugged()
        """Intervals in which ports were replugged, as far as neighbours were read: an immutable value that is replaced.
        """
        self._frozen: dict[str, Source] = {}
        """Copies of the sources that have not changed since."""

    def put(self, readings: Iterable[Reading]) -> None:
        """Adds the counters of a round. Readings without counters are ignored."""
        reported = [r for r in readings if r.facts and not r.error and type(r.facts[0]) is PortCounters]
        if not reported:
            return
        self._advance(max(time_of(r) for r in reported))
        pace = self.pace
        for name, of in groupby(sorted(reported, key=_collector), key=_collector):
            source = self.sources.setdefault(name, Source(self.samples))
            self._frozen.pop(name, None)
            take_in(source, of, self.head, pace)

    def put_answers(self, answers: Iterable[Answers]) -> None:
        """The same for a round given as arrays, one for each collector."""
        reported = sorted((one for one in answers if one.devices), key=_collector_of)
        if not reported:
            return
        self._advance(max(float(one.at.max()) for one in reported))
        pace = self.pace
        for one in reported:
            self._frozen.pop(one.collector, None)
            take_in_answers(self.sources.setdefault(one.collector, Source(self.samples)), one, self.head, pace)

    def frozen(self) -> "Window":
        """A read-only copy: later rounds do not change it. Sources that have not changed are copied once."""
        for name, source in self.sources.items():
            if name not in self._frozen:
                self._frozen[name] = source.frozen()
        found = Window(self.samples, self.step_seconds)
        found.begun, found.head, found.replugged = self.begun.copy(), self.head, self.replugged
        found.begun.setflags(write=False)
        found.sources = {name: self._frozen[name] for name in self.sources}
        return found

    @property
    def pace(self) -> float:
        """Usual seconds between two samples: `step_seconds`, or more if rounds are less frequent."""
        begun = self.begun[self.order]
        return max(self.step_seconds, middle(np.diff(begun))) if len(begun) > 1 else self.step_seconds

    @property
    def order(self) -> Codes:
        """The samples from the oldest to the newest, without those that never began."""
        order = (self.head + 1 + np.arange(self.samples)) % self.samples
        return np.asarray(order[~np.isnan(self.begun[order])])

    @property
    def oldest(self) -> float:
        """Start of the oldest sample, in Unix seconds; NaN without samples."""
        order = self.order
        return float(self.begun[order[0]]) if len(order) else float("nan")

    def columns(self) -> Iterator[tuple[str, Source, Series]]:
        """All series, each with its source."""
        for name, source in self.sources.items():
            for series in source.series.values():
                yield name, source, series

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
        self.head = (self.head + 1) % self.samples
        self.begun[self.head] = at
        self._frozen.clear()
        for source in self.sources.values():
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


def _collector(reading: Reading) -> str:
    return reading.collector


def _collector_of(answers: Answers) -> str:
    return answers.collector

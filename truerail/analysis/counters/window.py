"""The last samples of every counter, as arrays: what the counter rules look at.

A sample is what was counted between two readings, with the time that really lay between them: never the nominal
interval. What is missing is NaN, never 0. Ports are rows, samples columns, the oldest first.
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
"""A round that is older than the last one by more than this was read by a clock that was set back: answers are never
that late (`schedule.round_timeout`).
"""
FORGOTTEN_SHARE = 0.25
"""Ports that nobody told for a whole window are forgotten once they are this many of a source's: renamed ports and
devices that are gone must not fill the memory, and making the arrays anew costs a copy.
"""


class Window:
    """The counters of a fabric over the last `samples` rounds, `step_seconds` apart or more, in bounded memory.

    200,000 ports with 12 counters and 30 samples take about 320 MB. Used by one thread at a time; what others read is
    `frozen`.
    """

    def __init__(self, samples: int = SAMPLES, step_seconds: float = STEP_SECONDS) -> None:
        self.samples = samples
        self.step_seconds = step_seconds
        self.sources: dict[str, Source] = {}
        self.begun = np.full(samples, np.nan)
        """When each sample began, in Unix seconds."""
        self.head = -1
        self.replugged = Replugged()
        """When plugs were moved meanwhile, as far as somebody looked: a value that is exchanged, never changed."""
        self._frozen: dict[str, Source] = {}
        """Copies of the sources that were not changed since."""

    def put(self, readings: Iterable[Reading]) -> None:
        """Takes in the counters of a round. Readings without counters are left out."""
        told = [r for r in readings if r.facts and not r.error and type(r.facts[0]) is PortCounters]
        if not told:
            return
        self._advance(max(time_of(r) for r in told))
        pace = self.pace
        for name, of in groupby(sorted(told, key=_collector), key=_collector):
            source = self.sources.setdefault(name, Source(self.samples))
            self._frozen.pop(name, None)
            take_in(source, of, self.head, pace)

    def put_answers(self, answers: Iterable[Answers]) -> None:
        """The same for a round that is there as arrays, a collector each."""
        told = sorted((one for one in answers if one.devices), key=_collector_of)
        if not told:
            return
        self._advance(max(float(one.at.max()) for one in told))
        pace = self.pace
        for one in told:
            self._frozen.pop(one.collector, None)
            take_in_answers(self.sources.setdefault(one.collector, Source(self.samples)), one, self.head, pace)

    def frozen(self) -> "Window":
        """All of it as it is now: what is put in later changes nothing of it, and it refuses to be written to. Sources
        that have not changed are copied once.
        """
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
        """Seconds that usually lie between two samples: `step_seconds`, or more where fewer rounds are read."""
        begun = self.begun[self.order]
        return max(self.step_seconds, middle(np.diff(begun))) if len(begun) > 1 else self.step_seconds

    @property
    def order(self) -> Codes:
        """The samples from the oldest to the newest; those that never began are left out."""
        order = (self.head + 1 + np.arange(self.samples)) % self.samples
        return np.asarray(order[~np.isnan(self.begun[order])])

    @property
    def oldest(self) -> float:
        """When the oldest sample began, in Unix seconds; NaN without samples."""
        order = self.order
        return float(self.begun[order[0]]) if len(order) else float("nan")

    def columns(self) -> Iterator[tuple[str, Source, Series]]:
        """Everything that is counted, with its source."""
        for name, source in self.sources.items():
            for series in source.series.values():
                yield name, source, series

    def _advance(self, at: float) -> None:
        """Begins a new sample, unless the last one has just begun. Rounds that nobody read are samples without
        anything: a service that was down, or a fleet that was silent, leaves a hole as long as that took.
        """
        if self.head >= 0:
            before = float(self.begun[self.head])
            if before - STEPPED_BACK_SECONDS <= at < before + self.step_seconds / 2:
                return
            for missed in self._missed(before, at):
                self._begin(missed)
        self._begin(at)

    def _missed(self, before: float, at: float) -> list[float]:
        """When the rounds should have been that were not read."""
        if len(self.order) < 2:
            return []  # at what pace rounds come is not known yet
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
        """Lets go of ports that were not told since the oldest sample. Once in a window."""
        oldest = self.begun[self.order[0]]
        kept: dict[str, Source] = {}
        for name, source in self.sources.items():
            told = source.at >= oldest
            gone = len(told) - np.count_nonzero(told)
            kept[name] = source.only(told) if gone > FORGOTTEN_SHARE * len(told) else source
        self.sources = {name: source for name, source in kept.items() if source.ports}


def _collector(reading: Reading) -> str:
    return reading.collector


def _collector_of(answers: Answers) -> str:
    return answers.collector

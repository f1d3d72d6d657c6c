"""The past of every planned link: samples of two hours over fourteen days, in bounded memory.

A sample holds the means of the levels that its hours had, as 16-bit floats: a step is 0.008 dB at -10 dBm, as fine as
the modules' own 0.1 microwatt (SFF-8472). 100,000 cables take 1.6 MB a sample, 270 MB in all. A value: each round makes
the next one, and samples are shared.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling.plugs import Spans
from truerail.analysis.counters.hygiene import Floats, Seconds
from truerail.analysis.trends.signal_levels import Levels
from truerail.model.columns import NONE, Array, Codes
from truerail.model.owner import Owner
from truerail.model.plan import Plan

Halves = npt.NDArray[np.float16]
SAMPLE_SECONDS = 7200.0
SAMPLES_A_DAY = 12
DAYS = 14
SAMPLES = DAYS * SAMPLES_A_DAY
LEVELS_SECONDS = 300.0
"""Levels are added at most this often: modules are read every five minutes."""


@dataclass(frozen=True, eq=False)
class PastSample:
    """The means of two hours: `number` counts them from 1970 on. Shape (signals, 2, cables)."""

    number: int
    values: Halves


@dataclass(frozen=True, eq=False)
class LinkPast(Owner):
    """The closed samples, and what they are compared by. It changes every two hours, and where a cable or a module was
    exchanged. Arrays have shape (2, cables).
    """

    plan: Plan
    samples: tuple[PastSample, ...]
    since: Seconds
    """When a link got its present modules and cable, in Unix seconds; earlier samples are of others."""
    fell_at: Seconds
    """When its link last fell, in Unix seconds; -inf if not seen."""
    lot: Codes
    low_dbm: Floats

    @property
    def days(self) -> float:
        """How many days its samples span."""
        return (self.samples[-1].number - self.samples[0].number + 1) / SAMPLES_A_DAY if self.samples else 0.0


@dataclass(frozen=True, eq=False)
class OpenSample:
    """The sum of levels of the current two hours, and how many there are of each."""

    number: int
    total: Floats
    count: npt.NDArray[np.uint16]

    def added(self, values: Floats) -> "OpenSample":
        """With one more reading."""
        known = ~np.isnan(values)
        return OpenSample(self.number, self.total + np.where(known, values, 0), self.count + known.astype(np.uint16))

    def closed(self) -> PastSample:
        """Its means."""
        with np.errstate(invalid="ignore"):
            values = (self.total / np.where(self.count, self.count, np.nan)).astype(np.float16)
        values.setflags(write=False)
        return PastSample(self.number, values)


@dataclass(frozen=True, eq=False)
class Past:
    """The past up to the last reading. Arrays have shape (2, cables)."""

    links: LinkPast
    module: Codes
    """The checksum of each module that was read last; -1 if none was."""
    fell_at: Seconds
    opened: OpenSample
    taken_at: float

    def due(self, at: float) -> bool:
        """Whether levels of this time, in Unix seconds, are to be added; also after the clock was set back."""
        return not self.taken_at <= at < self.taken_at + LEVELS_SECONDS

    def after(self, plan: Plan, levels: Levels, replugged: Spans) -> "Past":
        """With the levels of one more round."""
        known = self if self.links.plan is plan else _under(self, plan)
        links, opened = known.links, known.opened
        if known is not self:
            links = replace(links, lot=levels.lot, low_dbm=levels.low_dbm)
        since = _since(links, known.module, levels, replugged)
        fell_at = np.where(levels.fell.any(axis=0), levels.at, known.fell_at)
        number = int(levels.at // SAMPLE_SECONDS)
        if opened.number != number:
            samples = tuple(one for one in (*links.samples, opened.closed()) if number - SAMPLES <= one.number < number)
            links = LinkPast(plan, samples, since, fell_at, levels.lot, levels.low_dbm)
            opened = _opened(number, levels.values)
        elif (since > links.since).any():
            links = replace(links, since=since, lot=levels.lot, low_dbm=levels.low_dbm)
        module = np.where(levels.module == NONE, known.module, levels.module)
        return Past(links, module, fell_at, opened.added(levels.values), levels.at)


def begun(plan: Plan, levels: Levels) -> Past:
    """The past of a plan's cables after their first levels."""
    never = np.full(levels.module.shape, -np.inf)
    links = LinkPast(plan, (), never, never, levels.lot, levels.low_dbm)
    fell_at = np.where(levels.fell.any(axis=0), levels.at, never)
    opened = _opened(int(levels.at // SAMPLE_SECONDS), levels.values).added(levels.values)
    return Past(links, levels.module, fell_at, opened, levels.at)


def _opened(number: int, values: Floats) -> OpenSample:
    return OpenSample(number, np.zeros(values.shape, dtype=np.float32), np.zeros(values.shape, dtype=np.uint16))


def _since(links: LinkPast, module: Codes, levels: Levels, replugged: Spans) -> Seconds:
    """When each link got its present modules and cable: a change at one end is one of the link."""
    changed = (module != NONE) & (levels.module != NONE) & (module != levels.module)
    since = np.where(changed.any(axis=0), levels.at, links.since)
    if replugged:
        cable_of = links.plan.once(cables_by_end)
        for port, spans in replugged.items():
            if port in cable_of:
                since[:, cable_of[port]] = np.maximum(since[:, cable_of[port]], spans[-1][1])
    return since


def cables_by_end(plan: Plan) -> Mapping[str, int]:
    """The number of each cable, by the names of its ends."""
    ends = {str(cable.b): number for number, cable in enumerate(plan.cables)}
    return ends | {str(cable.a): number for number, cable in enumerate(plan.cables)}


def _under(past: Past, plan: Plan) -> Past:
    """The same under another plan: cables between the same two ports keep their past."""
    links, opened = past.links, past.opened
    known = {(cable.a, cable.b): number for number, cable in enumerate(links.plan.cables)}
    place = np.array([known.get((cable.a, cable.b), NONE) for cable in plan.cables], dtype=np.int64)
    if np.array_equal(place, np.arange(len(known))):
        return replace(past, links=replace(links, plan=plan))

    def moved(values: Array, missing: float) -> Array:
        padded = np.concatenate([values, np.full((*values.shape[:-1], 1), missing, dtype=values.dtype)], axis=-1)
        found: Array = padded[..., place]
        return found

    samples = tuple(PastSample(one.number, moved(one.values, np.nan)) for one in links.samples)
    never = -np.inf
    since, fell_at = moved(links.since, never), moved(links.fell_at, never)
    kept = LinkPast(plan, samples, since, fell_at, moved(links.lot, NONE), moved(links.low_dbm, np.nan))
    again = OpenSample(opened.number, moved(opened.total, 0), moved(opened.count, 0))
    return Past(kept, moved(past.module, NONE), moved(past.fell_at, never), again, past.taken_at)

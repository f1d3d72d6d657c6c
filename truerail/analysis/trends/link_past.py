"""The past of every planned link: samples of two hours over fourteen days, in bounded memory.

A sample holds the means of the levels that its hours had, as 16-bit floats: a step is 0.008 dB at -10 dBm, as fine as
the modules' own 0.1 microwatt (SFF-8472). 100,000 cables take 1.6 MB a sample, 270 MB in all. A value: each round makes
the next one, and samples are shared.
"""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from zipfile import BadZipFile
from zlib import crc32
from zlib import error as ZlibError  # noqa: N812 - the module calls its exception `error`

import numpy as np
import numpy.typing as npt

from truerail.analysis.cabling.plugs import Spans
from truerail.analysis.counters.hygiene import Floats, Seconds
from truerail.analysis.trends.signal_levels import Levels, Signal
from truerail.errors import LinkPastError
from truerail.model.columns import NONE, Array, Codes, ratio
from truerail.model.owner import Owner
from truerail.model.plan import Cable, Plan, Port

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
        values = ratio(self.total, self.count.astype(np.float64)).astype(np.float16)
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


# ----------------------------------------------------------------------------------------------------------------------
# The past of links as bytes, so that it survives a restart: one value for its state, and one for each closed sample.
#
# A sample is written once and then only read: fourteen days of a large fabric are too much to be written every hour.
# Values are numpy's own archives (`savez_compressed`), read without unpickling.


_UNREADABLE = (KeyError, ValueError, OSError, EOFError, BadZipFile, ZlibError)


def slot_of(number: int) -> int:
    """The place of a sample among as many as are kept: a newer one replaces the one of fourteen days before."""
    return number % SAMPLES


def ends_of(plan: Plan) -> bytes:
    """The names of all cables' ends, a line for each."""
    return "\n".join(str(end) for cable in plan.cables for end in (cable.a, cable.b)).encode()


def packed_state(past: Past) -> bytes:
    """Everything but the closed samples."""
    return _packed(
        ends=np.frombuffer(past.links.plan.once(ends_of), dtype=np.uint8),
        since=past.links.since,
        fell_at=past.fell_at,
        module=past.module,
        number=np.array(past.opened.number),
        total=past.opened.total,
        count=past.opened.count,
        taken_at=np.array(past.taken_at),
    )


def packed_sample(sample: PastSample, plan: Plan) -> bytes:
    """One closed sample, with a checksum of the cables that it is of."""
    return _packed(number=np.array(sample.number), of=np.array(crc32(plan.once(ends_of))), values=sample.values)


def loaded(state: bytes, sample: Callable[[int], bytes | None]) -> Past:
    """The past from its state and from the samples that `sample` returns by their slot; those that are missing, cannot
    be read, or are of other cables or times are left out. Raises LinkPastError for a state that cannot be read.
    """
    try:
        values = _read(state)
        plan = _plan(values["ends"].tobytes().decode())
        shape = (2, len(plan.cables))
        number, total, count = int(values["number"]), values["total"], values["count"]
        columns = values["since"], values["fell_at"], values["module"]
        if any(one.shape != shape for one in columns) or {total.shape, count.shape} != {(len(Signal), *shape)}:
            raise LinkPastError("the past of links that was kept has columns of different lengths")
        taken_at = float(values["taken_at"])
    except LinkPastError:
        raise
    except _UNREADABLE as error:
        raise LinkPastError(f"the past of links that was kept cannot be read: {type(error).__name__}") from error
    since, fell_at, module = columns
    found = (_sample(sample(slot_of(one)), one, plan) for one in range(number - SAMPLES, number))
    samples = tuple(one for one in found if one is not None)
    unknown = np.full(shape, NONE, dtype=np.int64), np.full(shape, np.nan, dtype=np.float32)
    links = LinkPast(plan, samples, since, fell_at, *unknown)
    return Past(links, module, fell_at, OpenSample(number, total, count), taken_at)


def _sample(data: bytes | None, number: int, plan: Plan) -> PastSample | None:
    try:
        values = _read(data or b"")
        alike = (int(values["number"]), int(values["of"])) == (number, crc32(plan.once(ends_of)))
        right = alike and values["values"].shape == (len(Signal), 2, len(plan.cables))
        return PastSample(number, values["values"].astype(np.float16)) if right else None
    except _UNREADABLE:
        return None


def _plan(ends: str) -> Plan:
    """A plan of cables with these ends and nothing else: the past is joined with the plan in force by them."""
    ports = [Port(*line.split("/", 1)) for line in ends.split("\n")] if ends else []
    return Plan({}, tuple(Cable(a, b) for a, b in zip(ports[::2], ports[1::2], strict=True)))


def _packed(**arrays: Array) -> bytes:
    found = io.BytesIO()
    np.savez_compressed(found, allow_pickle=False, **arrays)
    return found.getvalue()


def _read(data: bytes) -> dict[str, Array]:
    with np.load(io.BytesIO(data), allow_pickle=False) as values:
        return {name: values[name] for name in values.files}

"""Adds the readings of a round to the window as one sample: differences against the previous readings."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.hygiene import Floats, Raw, Seconds, across, counted, fell, middle
from truerail.analysis.counters.quantities import Column, Kind, columns_of
from truerail.analysis.counters.series import Series, Source
from truerail.model.columns import Codes, Mask
from truerail.model.facts import Counter, PortCounters
from truerail.model.reading import Reading

CACHED_SECONDS = 35.0
"""How long a device, or a port of it, whose counters all stand still is assumed to answer from a cache: agents refresh
theirs every 5 to 30 seconds (detection.md 5.9), and a poll may come just before that.
"""


RENEWED_SECONDS = 2.0
"""Counters that are newer by less than this are those of the last reading: a port's age is counted from the newest port
of its answer, which is not equally fresh each time.
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Ports of any device with the same set of counters, and their values. Shapes (ports,); values
    (ports, counters).
    """

    columns: tuple[Column | None, ...]
    rows: Codes
    device: Codes
    at: Seconds
    values: Raw
    aged: Mask
    """Ports whose counters are older than those of other ports in the same answer."""

    @property
    def where(self) -> Codes | slice:
        """The rows, as a slice where they are consecutive: arrays are then viewed in place instead of copied."""
        first, count = int(self.rows[0]), len(self.rows)
        follow = int(self.rows[-1]) - first == count - 1 and bool((self.rows[1:] > self.rows[:-1]).all())
        return slice(first, first + count) if follow else self.rows


class Answers(NamedTuple):
    """One collector's answers of a round as arrays: the readings of devices with the same counters.

    `devices` holds names with their ports, `at` the Unix time at which each was read, `values` the counters of all
    ports in that order, shape (ports, counters).
    """

    collector: str
    counters: tuple[Counter, ...]
    devices: Sequence[tuple[str, tuple[str, ...]]]
    at: Seconds
    values: Raw


Gain = tuple[Series, Raw, Floats]
_COUNTERS = attrgetter("counters")


def time_of(reading: Reading) -> float:
    """Time at which the counters were read, in Unix seconds."""
    return reading.read_at or reading.at.timestamp()


def take_in(source: Source, readings: Iterable[Reading], sample: int, pace: float) -> None:
    """Adds a round's readings of one collector to a sample. `pace` is the seconds from sample to sample.

    A port that is read twice within the sample counts once, over both intervals.
    """
    _take(source, *_chunks(readings, source), sample, pace)


def take_in_answers(source: Source, answers: Answers, sample: int, pace: float) -> None:
    """The same from arrays."""
    rows = [source.rows(device, answers.counters, ports) for device, ports in answers.devices]
    source.fit()
    columns, sizes = columns_of(answers.counters, answers.collector), [len(one) for one in rows]
    device, at = np.repeat(np.arange(len(rows)), sizes), np.repeat(answers.at, sizes)
    chunk = Chunk(columns, np.concatenate(rows), device, at, answers.values, np.zeros(len(at), dtype=bool))
    _take(source, [chunk], len(rows), sample, pace)


def _take(source: Source, chunks: Sequence[Chunk], devices: int, sample: int, pace: float) -> None:
    pace = max(pace, source.pace)
    gains = [_gains(source, chunk, pace) for chunk in chunks]
    moves = _moves(chunks, gains, devices)
    for chunk, gained, moved in zip(chunks, gains, moves, strict=True):
        _put(chunk, gained, _live(source, chunk, moved), sample)
    _stamp(source, chunks, moves, sample)


class _Piece(NamedTuple):
    """Ports of one device with the same counters."""

    rows: Codes
    device: int
    at: Seconds
    aged: Mask
    values: list[tuple[int, ...]]


def _chunks(readings: Iterable[Reading], source: Source) -> tuple[list[Chunk], int]:
    """Facts of all devices, grouped by set of counters into as few chunks as possible, and the number of devices."""
    found: dict[tuple[Counter, ...], list[_Piece]] = {}
    device: dict[str, int] = {}
    collector = ""
    for reading in readings:
        code, at = device.setdefault(reading.device, len(device)), time_of(reading)
        facts, collector = cast("tuple[PortCounters, ...]", reading.facts), reading.collector
        for counters, of in groupby(facts, key=_COUNTERS):
            ports = list(of)
            rows = source.rows(reading.device, counters, tuple([port.port for port in ports]))
            ages = np.array([port.lag_seconds or 0.0 for port in ports])
            found.setdefault(counters, []).append(_Piece(rows, code, at - ages, ages > 0, [p.values for p in ports]))
    source.fit()
    return [_chunk(columns_of(counters, collector), pieces) for counters, pieces in found.items()], len(device)


def _chunk(columns: tuple[Column | None, ...], pieces: Sequence[_Piece]) -> Chunk:
    return Chunk(
        columns,
        np.concatenate([piece.rows for piece in pieces]),
        np.repeat([piece.device for piece in pieces], [len(piece.rows) for piece in pieces]),
        np.concatenate([piece.at for piece in pieces]),
        np.array([row for piece in pieces for row in piece.values], dtype=np.uint64),
        np.concatenate([piece.aged for piece in pieces]),
    )


def _gains(source: Source, chunk: Chunk, pace: float) -> list[Gain]:
    """Increments of every port of a chunk since its last reading, by series. A gauge gives its level."""
    used = [(source.of(column), column, n) for n, column in enumerate(chunk.columns) if column]
    levels = [(series, _level(column, chunk.values[:, n])) for series, column, n in used]
    again, where = np.zeros(len(chunk.rows), dtype=bool), chunk.where
    for series, now in levels:
        if series.kind is Kind.TRAFFIC and series.column.bits == 64:
            fallen = fell(series.last[where], now)
            if fallen.any():
                again |= fallen & ~np.isnan(series.last_at[where])
    asked = _Asked(where, chunk.at, source.at[where], again, pace)
    gains = [(series, now, _gained(series, now, asked)) for series, now in levels]
    for (_, column, n), (_, _, gained) in zip(used, gains, strict=True):
        if column.ceiling is not None:
            full = chunk.values[:, n] == column.ceiling
            gained[full] = np.nan
            source.note_full(column.quantity, chunk.rows, full)
    return gains


def _level(column: Column, values: Raw) -> Raw:
    if column.divisor > 1:
        return values // np.uint64(column.divisor)
    return values if column.scale == 1 else values * np.uint64(column.scale)


class _Asked(NamedTuple):
    """Times at which the ports of a chunk were read, now and before, and the ports whose counters restarted."""

    where: Codes | slice
    at: Seconds
    before: Seconds
    again: Mask
    pace: float


def _gained(series: Series, now: Raw, asked: _Asked) -> Floats:
    if series.kind is Kind.GAUGE:
        return now.astype(np.float32)
    since = series.last_at[asked.where]
    before, column, kind, seconds = series.last[asked.where], series.column, series.kind, asked.at - since
    gained = counted(before, now, seconds, quantity=column.quantity, kind=kind, bits=column.bits, again=asked.again)
    skipped, samples = since != asked.before, len(series.gained)
    return across(gained, seconds, skipped=skipped, kind=kind, pace=asked.pace, samples=samples)


class _Moves(NamedTuple):
    """Changes in a reading, shapes (ports,): ports that counted traffic, ports where that is unknown, and ports of
    devices on which either holds for any port.
    """

    port: Mask
    unknown: Mask
    device: Mask


def _moves(chunks: Sequence[Chunk], gains: Sequence[Sequence[Gain]], devices: int) -> list[_Moves]:
    """Changes in each chunk of a round.

    Agents refresh their counters every 5 to 30 seconds, all at once or port by port. Two polls in between give the same
    values, then a double step. A reading in which nothing changed on the whole device, or on a port that changed
    before, is therefore ignored for a while.
    """
    moves, by_port = np.zeros(devices, dtype=bool), []
    for chunk, gained in zip(chunks, gains, strict=True):
        moved, known = (np.zeros(len(chunk.rows), dtype=bool) for _ in range(2))
        for series, _, more in gained:
            if series.kind is Kind.TRAFFIC:
                moved |= more > 0
                known |= ~np.isnan(more)
        moves[chunk.device[moved | ~known]] = True
        by_port.append((moved, ~known))
    return [_Moves(*of, moves[chunk.device]) for of, chunk in zip(by_port, chunks, strict=True)]


def _live(source: Source, chunk: Chunk, moves: _Moves) -> Mask:
    """Ports with a valid reading: they and their device change, or have stood still for longer than any cache lasts. On
    a device that reports when it refreshed each port's counters: the ports refreshed since their last reading.
    """
    moving = moves.device | ~(chunk.at - source.moved_at[chunk.rows] < CACHED_SECONDS)
    moving &= moves.port | moves.unknown | ~(chunk.at - source.stirred_at[chunk.rows] < CACHED_SECONDS)
    if chunk.aged.any():
        since = chunk.at - source.at[chunk.rows]
        moving &= ~(chunk.aged & (since >= 0) & (since < RENEWED_SECONDS))
    return np.asarray(moving)


def _put(chunk: Chunk, gains: Sequence[Gain], live: Mask, sample: int) -> None:
    which, rows = (slice(None), chunk.where) if live.all() else (live, chunk.rows[live])
    at = chunk.at[which]
    for series, now, gained in gains:
        more = gained[which]
        if series.kind is not Kind.GAUGE:
            more = _added(series.gained[sample][rows], more)
        series.gained.put(sample, rows, more)
        series.last[rows], series.last_at[rows] = now[which], at


def _stamp(source: Source, chunks: Sequence[Chunk], moves: Sequence[_Moves], sample: int) -> None:
    """Records when every port was read, and the interval of its sample. A clock that was set back gives no interval."""
    parts = ((c.rows, c.at, _live(source, c, of), of.device, of.port) for c, of in zip(chunks, moves, strict=True))
    rows, at, live, moving, stirred = (np.concatenate(column) for column in zip(*parts, strict=True))
    source.moved_at[rows[moving]] = at[moving]
    source.stirred_at[rows[stirred]] = at[stirred]
    rows, at = rows[live], at[live]
    seconds = at - source.at[rows]
    seconds[seconds <= 0] = np.nan
    source.span.put(sample, rows, _added(source.span[sample][rows], seconds))
    known = seconds[~np.isnan(seconds)]
    if len(known):
        source.paces[sample] = middle(known)
    source.at[rows] = at


def _added(before: Floats, more: npt.NDArray[np.floating]) -> Floats:
    """Value of a sample after another reading within it."""
    return np.where(np.isnan(before), more, before + more).astype(np.float32)

"""From the readings of a round to a sample of the window: differences against what was read before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import cast

import numpy as np
import numpy.typing as npt

from truerail.model.counters.hygiene import Floats, Raw, Seconds, across, counted, fell
from truerail.model.counters.quantities import Column, Kind, columns_of
from truerail.model.counters.series import Series, Source
from truerail.model.facts import Counter, PortCounters
from truerail.model.index import Mask
from truerail.model.snapshot import Codes, Reading

CACHED_SECONDS = 35.0
"""For so long a device whose counters all stand still is taken for one that answers from a cache: agents refresh theirs
every 5 to 30 seconds (detection.md 5.9), and a poll may come just before that.
"""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Ports with equal counters, whatever device they belong to. Shapes (ports,); values (ports, counters)."""

    counters: tuple[Counter, ...]
    rows: Codes
    device: Codes
    at: Seconds
    values: Raw


Gain = tuple[Series, Raw, Floats]


def time_of(reading: Reading) -> float:
    """When the counters were read, in Unix seconds."""
    return reading.read_at or reading.at.timestamp()


def take_in(source: Source, readings: Iterable[Reading], sample: int, pace: float) -> None:
    """Puts a round's readings of one collector into a sample. `pace` is the seconds from sample to sample.

    A port that is read twice within the sample counts once, over the time of both.
    """
    chunks, devices = _chunks(readings, source)
    pace = max(pace, source.pace)
    gains = [_gains(source, chunk, pace) for chunk in chunks]
    moves = _moves(chunks, gains, devices)
    for chunk, gained in zip(chunks, gains, strict=True):
        _put(chunk, gained, _live(source, chunk, moves), sample)
    _stamp(source, chunks, moves, sample)


def _chunks(readings: Iterable[Reading], source: Source) -> tuple[list[Chunk], int]:
    """The facts of all devices in as few pieces as there are kinds of ports, and the number of devices."""
    found: dict[tuple[Counter, ...], list[tuple[Codes, int, float, list[tuple[int, ...]]]]] = {}
    device: dict[str, int] = {}
    for reading in readings:
        code, at = device.setdefault(reading.device, len(device)), time_of(reading)
        facts = cast("tuple[PortCounters, ...]", reading.facts)
        for counters, of in groupby(facts, key=_counters):
            ports = list(of)
            rows = source.rows(reading.device, counters, tuple([port.port for port in ports]))
            found.setdefault(counters, []).append((rows, code, at, [port.values for port in ports]))
    source.fit()
    return [_chunk(counters, pieces) for counters, pieces in found.items()], len(device)


def _counters(fact: PortCounters) -> tuple[Counter, ...]:
    return fact.counters


def _chunk(counters: tuple[Counter, ...], pieces: Sequence[tuple[Codes, int, float, list[tuple[int, ...]]]]) -> Chunk:
    sizes = [len(rows) for rows, *_ in pieces]
    return Chunk(
        counters,
        np.concatenate([rows for rows, *_ in pieces]),
        np.repeat([code for _, code, *_ in pieces], sizes),
        np.repeat([at for *_, at, _ in pieces], sizes),
        np.array([row for *_, values in pieces for row in values], dtype=np.uint64),
    )


def _gains(source: Source, chunk: Chunk, pace: float) -> list[Gain]:
    """What every port of a chunk counted since it was last read, by series. A gauge gives its level."""
    used = [(source.of(column), column, n) for n, column in enumerate(columns_of(chunk.counters)) if column]
    levels = [(series, _level(column, chunk.values[:, n])) for series, column, n in used]
    anew = np.zeros(len(chunk.rows), dtype=bool)
    for series, now in levels:
        if series.kind is Kind.TRAFFIC and series.column.bits == 64:
            anew |= fell(series.last[chunk.rows], now) & ~np.isnan(series.last_at[chunk.rows])
    before = source.at[chunk.rows]
    gains = [(series, now, _gained(series, now, chunk, before, anew, pace)) for series, now in levels]
    for (_, column, n), (_, _, gained) in zip(used, gains, strict=True):
        if column.ceiling is not None:
            full = chunk.values[:, n] == column.ceiling
            gained[full] = np.nan
            source.note_full(column.quantity, chunk.rows, full)
    return gains


def _level(column: Column, values: Raw) -> Raw:
    return values if column.scale == 1 else values * np.uint64(column.scale)


def _gained(series: Series, now: Raw, chunk: Chunk, before: Seconds, anew: Mask, pace: float) -> Floats:
    if series.kind is Kind.GAUGE:
        return now.astype(np.float32)
    since = series.last_at[chunk.rows]
    column, seconds = series.column, chunk.at - since
    gained = counted(
        series.last[chunk.rows],
        now,
        seconds,
        quantity=column.quantity,
        kind=series.kind,
        bits=column.bits,
        anew=anew,
    )
    return across(gained, seconds, skipped=since != before, kind=series.kind, pace=pace, samples=series.gained.shape[1])


def _moves(chunks: Sequence[Chunk], gains: Sequence[Sequence[Gain]], devices: int) -> Mask:
    """Devices of which any port counted any traffic, or of which that is not known.

    Agents refresh their counters every 5 to 30 seconds; two polls in between give the same values, then a double step.
    A reading in which nothing moved on the whole device therefore counts as none, for a while.
    """
    moves = np.zeros(devices, dtype=bool)
    for chunk, gained in zip(chunks, gains, strict=True):
        moved, known = (np.zeros(len(chunk.rows), dtype=bool) for _ in range(2))
        for series, _, more in gained:
            if series.kind is Kind.TRAFFIC:
                moved |= more > 0
                known |= ~np.isnan(more)
        moves[chunk.device[moved | ~known]] = True
    return moves


def _live(source: Source, chunk: Chunk, moves: Mask) -> Mask:
    """Ports whose reading counts: their device moves, or has stood still for longer than any cache lasts."""
    return np.asarray(moves[chunk.device] | ~(chunk.at - source.moved_at[chunk.rows] < CACHED_SECONDS))


def _put(chunk: Chunk, gains: Sequence[Gain], live: Mask, sample: int) -> None:
    which = slice(None) if live.all() else live
    rows, at = chunk.rows[which], chunk.at[which]
    for series, now, gained in gains:
        more = gained[which]
        if series.kind is not Kind.GAUGE:
            more = _added(series.gained[rows, sample], more)
        series.gained[rows, sample] = more
        series.last[rows], series.last_at[rows] = now[which], at


def _stamp(source: Source, chunks: Sequence[Chunk], moves: Mask, sample: int) -> None:
    """Notes when every port was read, and the time behind its sample. A clock that was set back gives no time."""
    rows, at, live, moving = (
        np.concatenate(parts)
        for parts in zip(*((c.rows, c.at, _live(source, c, moves), moves[c.device]) for c in chunks), strict=True)
    )
    source.moved_at[rows[moving]] = at[moving]
    rows, at = rows[live], at[live]
    seconds = at - source.at[rows]
    seconds[seconds <= 0] = np.nan
    source.span[rows, sample] = _added(source.span[rows, sample], seconds)
    known = seconds[~np.isnan(seconds)]
    if len(known):
        source.paces[sample] = np.median(known)
    source.at[rows] = at


def _added(before: Floats, more: npt.NDArray[np.floating]) -> Floats:
    """What a sample holds after another reading within it."""
    return np.where(np.isnan(before), more, before + more).astype(np.float32)

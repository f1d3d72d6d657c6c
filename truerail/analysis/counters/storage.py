"""Serializes a window to bytes and back, so that it survives a restart.

A JSON header lists the arrays that follow; their bytes are sorted by significance (all first bytes, all second ones,
...) before compression, because the upper ones repeat. Nothing is unpickled, no array is larger than the header and
`MOST_CELLS` allow, and a window that cannot be parsed is rejected completely.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from truerail.analysis.cabling.plugs import Spans
from truerail.analysis.counters.quantities import Column, Quantity
from truerail.analysis.counters.ring import Ring
from truerail.analysis.counters.series import Source
from truerail.analysis.counters.window import Window
from truerail.errors import CounterWindowError
from truerail.model.columns import Array, Codes

MAGIC = b"truerail counters 1\n"
MOST_BYTES = 256 << 20
"""Larger windows are stored without their oldest samples: 200,000 ports with 12 counters take about 100 MB."""
MOST_CELLS = 1 << 29
"""Maximum samples of all ports and counters together: 2 GB. 12,500 hosts with 8 NICs and their switches have more than
1 << 27. A larger claim is rejected before memory is allocated for it.
"""
_MOST_HEAD = 64 << 20
_LEVEL = 1
"""zlib level: higher levels save little, because the rest is noise, and take much longer."""
_PIECE = 1 << 16
_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class Stored:
    """What survives a restart: the window, and the intervals in which ports were replugged (see `Replugged.spans`)."""

    window: Window
    replugged: Spans


def packed(counters: Window, replugged: Spans, most_bytes: int = MOST_BYTES) -> bytes:
    """A window and the replugged ports as bytes; drops the older half of the samples repeatedly until they fit into
    `most_bytes`. Takes seconds for a large fabric: may run in any thread.
    """
    order = counters.order
    while True:
        data = _packed(_head(counters, order) | {"replugged": dict(replugged)}, _arrays(counters, order))
        if len(data) <= most_bytes or not len(order):
            return data
        order = order[len(order) - len(order) // 2 :]


def _head(counters: Window, order: Codes) -> dict[str, Any]:
    sources = []
    for name, source in counters.sources.items():
        columns = [(s.column.quantity.value, s.column.priority, s.column.bits) for s in source.series.values()]
        sources.append({"name": name, "ports": source.ports, "columns": columns})
    return {"samples": counters.samples, "step": counters.step_seconds, "samples_kept": len(order), "sources": sources}


def _arrays(counters: Window, order: Codes) -> Iterator[Array]:
    """One by one. Those of the ring have shape (rows, samples), the oldest sample first."""
    yield counters.begun[order][None, :]
    for source in counters.sources.values():
        yield source.span.view().of(order)
        yield source.paces[order][None, :]
        yield source.at
        yield source.moved_at
        for series in source.series.values():
            yield from (series.last, series.last_at, series.gained.view().of(order))


def loaded(data: bytes) -> Stored:
    """Restores what `packed` made. Raises CounterWindowError."""
    if not data.startswith(MAGIC):
        raise CounterWindowError(
            "the counters that were kept are of another version of truerail, or no counters at all"
        )
    try:
        return _loaded(_Stream(data[len(MAGIC) :]))
    except CounterWindowError:
        raise
    except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError, zlib.error, struct.error) as error:
        raise CounterWindowError(f"the counters that were kept cannot be read: {type(error).__name__}") from error


def _packed(head: dict[str, Any], arrays: Iterable[Array]) -> bytes:
    words = json.dumps(head, separators=(",", ":")).encode()
    pack = zlib.compressobj(_LEVEL)
    parts = [MAGIC, pack.compress(_LENGTH.pack(len(words))), pack.compress(words)]
    parts += [pack.compress(plane) for array in arrays for plane in _planes(array)]
    return b"".join([*parts, pack.flush()])


def _planes(array: Array) -> Iterator[bytes]:
    """Bytes of all cells by significance; samples one after the other."""
    cells = np.ascontiguousarray(array.T).reshape(-1)
    plain = cells.astype(cells.dtype.newbyteorder("<"), copy=False)
    as_bytes = plain.view(np.uint8).reshape(len(cells), cells.itemsize)
    for place in range(as_bytes.shape[1]):
        yield as_bytes[:, place].tobytes()


class _Stream:
    """Reads arrays from compressed bytes, never more at once than requested."""

    def __init__(self, data: bytes) -> None:
        self._unpack = zlib.decompressobj()
        self._pieces = (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))
        self._rest = b""
        self._cells = 0

    def read(self, size: int) -> bytes:
        """Reads exactly `size` bytes."""
        found = bytearray()
        while len(found) < size:
            more = self._next(size - len(found))
            if not more:
                raise CounterWindowError("the counters that were kept break off")
            found += more
        return bytes(found)

    def _next(self, most: int) -> bytes:
        """Reads at most `most` bytes; empty at the end."""
        more = b""
        while not more and not self._unpack.eof:
            self._rest = self._rest or next(self._pieces, b"")
            if not self._rest:
                break
            more = self._unpack.decompress(self._rest, most)
            self._rest = self._unpack.unconsumed_tail
        return more

    def claim(self, cells: int) -> None:
        """Raises CounterWindowError if these and all earlier cells are too many."""
        self._cells += cells
        if self._cells > MOST_CELLS:
            raise CounterWindowError(f"the counters that were kept claim more than {MOST_CELLS:,} samples")

    def array(self, dtype: str, rows: int, samples: int | None = None) -> Array:
        """The next array, shape (rows,) or (rows, samples)."""
        columns = 1 if samples is None else samples
        cells = rows * columns
        width = np.dtype(dtype).itemsize
        as_bytes = np.empty((cells, width), dtype=np.uint8)
        for place in range(width):
            as_bytes[:, place] = np.frombuffer(self.read(cells), dtype=np.uint8)
        found = as_bytes.reshape(-1).view(dtype)
        return found if samples is None else found.reshape(columns, rows).T

    def end(self) -> None:
        """Raises CounterWindowError if more data follows, or the checksum is wrong."""
        if self._next(1) or not self._unpack.eof:
            raise CounterWindowError("the counters that were kept do not end where they should")


def _loaded(stream: _Stream) -> Stored:
    (length,) = _LENGTH.unpack(stream.read(_LENGTH.size))
    if length > _MOST_HEAD:
        raise CounterWindowError("the counters that were kept have too long a head")
    head = json.loads(stream.read(length))
    samples, kept = _number(head["samples"], 1, 1 << 16), _number(head["samples_kept"], 0, 1 << 16)
    if kept > samples:
        raise CounterWindowError("the counters that were kept have more samples than their window")
    window = Window(samples, float(head["step"]))
    window.begun[:kept] = stream.array("<f8", 1, kept)[0]
    window.head = kept - 1
    for reported in head["sources"]:
        window.sources[str(reported["name"])] = _source(stream, reported, samples, kept)
    stream.end()
    if not (window.step_seconds > 0 and np.isfinite(window.begun[:kept]).all()):
        raise CounterWindowError("the counters that were kept have no sound times")
    return Stored(window, _replugged(head.get("replugged", {})))


def _source(stream: _Stream, reported: dict[str, Any], samples: int, kept: int) -> Source:
    source = Source(samples)
    for device, port in reported["ports"]:
        source.row(str(device), str(port))
    rows = len(source.ports)
    if rows != len(reported["ports"]):
        raise CounterWindowError("the counters that were kept name a port twice")
    stream.claim(rows * samples * (1 + len(reported["columns"])))
    source.fit()
    source.span = Ring.beginning_with(stream.array("<f4", rows, kept), samples)
    source.paces[:kept] = stream.array("<f4", 1, kept)[0]
    source.at, source.moved_at = stream.array("<f8", rows), stream.array("<f8", rows)
    for quantity, priority, bits in reported["columns"]:
        place = None if priority is None else _number(priority, 0, 1 << 16)
        series = source.of(Column(Quantity(quantity), place, _number(bits, 32, 64)))
        series.last, series.last_at = stream.array("<u8", rows), stream.array("<f8", rows)
        series.gained = Ring.beginning_with(stream.array("<f4", rows, kept), samples)
    return source


def _replugged(reported: dict[str, Any]) -> Spans:
    """Intervals in which ports were replugged; windows of former releases have none."""
    return {str(port): tuple((float(begin), float(end)) for begin, end in spans) for port, spans in reported.items()}


def _number(value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or not least <= value <= most:
        raise CounterWindowError("the counters that were kept have a number out of bounds")
    return value

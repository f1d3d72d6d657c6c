"""Serializes a window to bytes and back, so that it survives a restart.

A zip archive: a head in JSON, and a member for each array, numbered in the order of `_arrays`. The bytes of an array
are sorted by significance (all first bytes, all second ones, ...) before compression, because the upper ones repeat.
Nothing is unpickled, nothing larger than `MOST_UNPACKED_BYTES` is read, and a window that cannot be parsed is rejected
completely.
"""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from lzma import LZMAError
from struct import error as StructError  # noqa: N812 - the module calls its exception `error`
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError  # noqa: N812 - as above

import numpy as np

from truerail.analysis.cabling.plugs import Spans
from truerail.analysis.counters.quantities import Column, Quantity
from truerail.analysis.counters.ring import Ring
from truerail.analysis.counters.series import Source
from truerail.analysis.counters.window import Window
from truerail.errors import CounterWindowError
from truerail.model.columns import Array, Codes

MAGIC = b"truerail counters 2\n"
MOST_BYTES = 256 << 20
"""Larger windows are stored without their oldest samples: 200,000 ports with 12 counters take about 100 MB."""
MOST_UNPACKED_BYTES = 2 << 30
"""Of all arrays together. 12,500 hosts with 8 NICs and their switches have more than 512 MB. A larger claim is rejected
before memory is allocated for it.
"""
_LEVEL = 1
"""zlib level: higher levels save little, because the rest is noise, and take much longer."""
_HEAD = "head"
_Arrays = Callable[..., Array]
"""Gives the next array of an archive: `_array`."""
_UNREADABLE = (
    *(KeyError, TypeError, ValueError, ArithmeticError, RuntimeError, OSError, EOFError),
    *(BadZipFile, ZlibError, LZMAError, StructError),
)
"""What a broken archive, or one of something else, raises."""


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
        data = _packed(counters, replugged, order)
        if len(data) <= most_bytes or not len(order):
            return data
        order = order[len(order) - len(order) // 2 :]


def _packed(counters: Window, replugged: Spans, order: Codes) -> bytes:
    data = io.BytesIO()
    data.write(MAGIC)
    with ZipFile(data, "w") as archive:
        head = json.dumps(_head(counters, order) | {"replugged": dict(replugged)}, separators=(",", ":"))
        archive.writestr(ZipInfo(_HEAD), head, ZIP_DEFLATED, _LEVEL)
        for number, array in enumerate(_arrays(counters, order)):
            archive.writestr(ZipInfo(str(number)), _by_significance(array), ZIP_DEFLATED, _LEVEL)
    return data.getvalue()


def _head(counters: Window, order: Codes) -> dict[str, Any]:
    sources = []
    for name, source in counters.sources.items():
        columns = [(s.column.quantity.value, s.column.priority, s.column.bits) for s in source.series.values()]
        sources.append({"name": name, "ports": source.ports, "columns": columns})
    return {"samples": counters.samples, "step": counters.step_seconds, "samples_kept": len(order), "sources": sources}


def _arrays(counters: Window, order: Codes) -> Iterator[Array]:
    """One by one. Those of the ring have shape (rows, samples), the oldest sample first."""
    yield counters.begun[order]
    for source in counters.sources.values():
        yield source.span.view().of(order)
        yield source.paces[order]
        yield source.at
        yield source.moved_at
        for series in source.series.values():
            yield from (series.last, series.last_at, series.gained.view().of(order))


def _by_significance(array: Array) -> bytes:
    """The bytes of all cells by significance; samples one after the other."""
    cells = np.ascontiguousarray(array.T).reshape(-1)
    plain = cells.astype(cells.dtype.newbyteorder("<"), copy=False)
    return plain.view(np.uint8).reshape(len(cells), cells.itemsize).T.tobytes()


def loaded(data: bytes) -> Stored:
    """Restores what `packed` made. Raises CounterWindowError."""
    if not data.startswith(MAGIC):
        raise CounterWindowError(
            "the counters that were kept are of another version of truerail, or no counters at all"
        )
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            return _loaded(archive)
    except CounterWindowError:
        raise
    except _UNREADABLE as error:
        raise CounterWindowError(f"the counters that were kept cannot be read: {type(error).__name__}") from error


def _loaded(archive: ZipFile) -> Stored:
    if sum(member.file_size for member in archive.infolist()) > MOST_UNPACKED_BYTES:
        raise CounterWindowError(f"the counters that were kept claim more than {MOST_UNPACKED_BYTES:,} bytes")
    head, array = json.loads(archive.read(_HEAD)), partial(_array, map(archive.read, map(str, count())))
    samples, kept = _number(head["samples"], 1, 1 << 16), _number(head["samples_kept"], 0, 1 << 16)
    if kept > samples:
        raise CounterWindowError("the counters that were kept have more samples than their window")
    window = Window(samples, float(head["step"]))
    window.begun[:kept] = array("<f8", kept)
    window.head = kept - 1
    for reported in head["sources"]:
        window.sources[str(reported["name"])] = _source(array, reported, samples, kept)
    if not (window.step_seconds > 0 and np.isfinite(window.begun[:kept]).all()):
        raise CounterWindowError("the counters that were kept have no sound times")
    spans = head["replugged"].items()
    return Stored(window, {str(port): tuple((float(begin), float(end)) for begin, end in of) for port, of in spans})


def _array(members: Iterator[bytes], dtype: str, rows: int, samples: int | None = None) -> Array:
    """The next array, shape (rows,) or (rows, samples)."""
    columns = 1 if samples is None else samples
    cells = np.frombuffer(next(members), dtype=np.uint8).reshape(np.dtype(dtype).itemsize, rows * columns).T
    found = np.array(cells, order="C").view(dtype).reshape(columns, rows).T
    return found[:, 0] if samples is None else found


def _source(array: _Arrays, reported: dict[str, Any], samples: int, kept: int) -> Source:
    source = Source(samples)
    for device, port in reported["ports"]:
        source.row(str(device), str(port))
    rows = len(source.ports)
    if rows != len(reported["ports"]):
        raise CounterWindowError("the counters that were kept name a port twice")
    source.fit()
    source.span = Ring.beginning_with(array("<f4", rows, kept), samples)
    source.paces[:kept] = array("<f4", kept)
    source.at, source.moved_at = array("<f8", rows), array("<f8", rows)
    for quantity, priority, bits in reported["columns"]:
        place = None if priority is None else _number(priority, 0, 1 << 16)
        series = source.of(Column(Quantity(quantity), place, _number(bits, 32, 64)))
        series.last, series.last_at = array("<u8", rows), array("<f8", rows)
        series.gained = Ring.beginning_with(array("<f4", rows, kept), samples)
    return source


def _number(value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or not least <= value <= most:
        raise CounterWindowError("the counters that were kept have a number out of bounds")
    return value

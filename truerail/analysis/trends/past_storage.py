"""The past of links as bytes, so that it survives a restart: one value for its state, and one for each closed sample.

A sample is written once and then only read: fourteen days of a large fabric are too much to be written every hour.
Values are numpy's own archives (`savez_compressed`), read without unpickling.
"""

import io
from collections.abc import Callable
from zipfile import BadZipFile
from zlib import crc32
from zlib import error as ZlibError  # noqa: N812 - the module calls its exception `error`

import numpy as np

from truerail.analysis.trends.link_past import SAMPLES, LinkPast, OpenSample, Past, PastSample
from truerail.analysis.trends.signal_levels import Signal
from truerail.errors import LinkPastError
from truerail.model.columns import NONE, Array
from truerail.model.plan import Cable, Plan, Port

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

"""Parts to bytes and back: msgpack of the types that a view is made of. Bytes of any other shape are refused, so that a
part from another machine is values and nothing else. The text of the scrape page is as it is.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import blake2b
from itertools import accumulate, pairwise
from typing import Any, get_origin, get_type_hints

import msgspec
import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.links import PortStates
from truerail.analysis.cabling.paths import GpuRails
from truerail.analysis.running_jobs import Jobs
from truerail.errors import BusMessageError, ViewRefusedError
from truerail.model.columns import Codes
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.finding import Cause
from truerail.model.life import Life
from truerail.model.plan import Cable
from truerail.outputs.metrics.metric_series import Block
from truerail.outputs.metrics.scrape_page import ScrapePage
from truerail.viewfile import parts
from truerail.viewfile.stored_round import StoredMacs

_PLAIN = re.compile(r"[<>|=]?[biufS][0-9]+")
"""Types of array elements that are numbers, booleans or bytes: no reference to an object is among them."""
_TYPES: dict[str, Any] = {
    "plan": parts.StoredPlan,
    "cables": tuple[Cable, ...],
    "index": parts.SeenNames,
    "links": list[NetLink],
    "rdma": list[RdmaLink],
    "topologies": parts.StoredTopologies,
    "serials": dict[str, list[int]],
    "macs": StoredMacs,
    "readings": list[parts.StoredReading],
    "findings": parts.StoredFinding,
    "evidence": parts.StoredEvidence,
    "causes": Cause,
    "lives": list[tuple[str, Life]],
    "cause_lives": list[tuple[str, Life]],
    "jobs": Jobs,
    "state": parts.StoredState,
    parts.METRICS: parts.PageContents,
}
"""The type of each kind of parts, but of columns: they have one each."""
_COLUMNS: dict[str, Any] = {
    **get_type_hints(Wiring),
    **get_type_hints(PortStates),
    "derived": parts.DerivedStates,
    "met": Codes | None,
    "announces": dict[int, int],
    "gpu_rails": GpuRails,
}


def encoded(value: Any) -> bytes:
    """A part as bytes."""
    return _ENCODER.encode(value)


def decoded(kind: str, key: str, body: bytes) -> Any:
    """A part that `encoded` wrote. Raises ViewRefusedError for anything else."""
    try:
        found = _decoder(kind, key if kind == "columns" else "").decode(body)
        return found.restored() if kind == "evidence" else found
    except (msgspec.MsgspecError, BusMessageError, ValueError, KeyError, OverflowError, RecursionError) as error:
        raise ViewRefusedError(f"part {kind} {key} cannot be read: {error}") from None


def digest_of(*pieces: bytes | memoryview) -> bytes:
    """What two bodies share only if they are equal."""
    digest = blake2b(digest_size=16)
    for piece in pieces:
        digest.update(piece)
    return digest.digest()


@cache
def _decoder(kind: str, column: str) -> "msgspec.msgpack.Decoder[Any]":
    """Raises KeyError for a part of which no view is made."""
    return msgspec.msgpack.Decoder(_COLUMNS[column] if column else _TYPES[kind], dec_hook=_array)


def _from_array(array: Any) -> Any:
    """An array as its type, shape and bytes."""
    if isinstance(array, Mapping):
        return dict(array)
    if not (isinstance(array, np.ndarray) and _PLAIN.fullmatch(array.dtype.str)):
        raise NotImplementedError(f"no part of a view: {array!r:.100}")
    return array.dtype.str, array.shape, array.tobytes()


def _array(kind: Any, found: Any) -> Any:
    """The array that `_from_array` wrote. Raises ValueError."""
    if get_origin(kind) is not np.ndarray:
        raise NotImplementedError(kind)
    dtype, shape, body = msgspec.convert(found, tuple[str, tuple[int, ...], bytes])
    if not _PLAIN.fullmatch(dtype):
        raise ValueError(f"an array of {dtype!r}")
    return np.frombuffer(body, dtype=dtype).reshape(shape).copy()


_ENCODER = msgspec.msgpack.Encoder(enc_hook=_from_array)


# ----------------------------------------------------------------------------------------------------------------------
# The scrape page in the view: the text of each metric as it is, so that one that did not change is not written.

CONTENTS = "contents"
"""The key of the part that is no text."""


def stored_page(page: ScrapePage) -> Iterator[tuple[str, list[bytes | memoryview]]]:
    """Key and pieces of each part."""
    sizes = tuple(tuple(map(len, block.pods)) for block in page.blocks)
    heads = tuple(block.head for block in page.blocks)
    yield CONTENTS, [encoded(parts.PageContents(tuple(page.pods), heads, sizes, page.wide, dict(page.answered)))]
    for number, block in enumerate(page.blocks):
        yield str(number), list(block.pods)


def restored_page(rows: list[tuple[str, bytes]]) -> ScrapePage:
    """The page with these parts, by key."""
    bodies = dict(rows)
    contents: parts.PageContents = decoded(parts.METRICS, CONTENTS, bodies[CONTENTS])
    blocks = [
        Block(head, _cut(bodies[str(number)], sizes))
        for number, (head, sizes) in enumerate(zip(contents.heads, contents.sizes, strict=True))
    ]
    return ScrapePage(contents.pods, blocks, contents.wide, contents.answered)


def _cut(body: bytes, sizes: tuple[int, ...]) -> tuple[memoryview, ...]:
    whole = memoryview(body)
    return tuple(whole[a:b] for a, b in pairwise(accumulate(sizes, initial=0)))

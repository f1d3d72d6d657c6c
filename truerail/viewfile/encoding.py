"""Parts to bytes and back. A part from another machine is read only after `admission.admit` has passed it."""

import copyreg
import io
import pickle
import re
from hashlib import blake2b
from typing import Any

import numpy as np

_PLAIN = re.compile(r"[<>|=]?[biufS][0-9]+")
"""Types of array elements that are numbers, booleans or bytes: no reference to an object is among them."""


def array_of(kind: str, shape: tuple[int, ...], body: bytes) -> Any:
    """The array that `_reduced` wrote. Raises ValueError for one of objects."""
    if not (isinstance(kind, str) and _PLAIN.fullmatch(kind)):
        raise ValueError(f"an array of {kind!r}")
    return np.frombuffer(body, dtype=kind).reshape(shape).copy()


def _reduced(array: Any) -> Any:
    """An array as its type, shape and bytes; numpy's own form would let bytes describe any memory."""
    if not _PLAIN.fullmatch(array.dtype.str):
        return array.__reduce_ex__(pickle.HIGHEST_PROTOCOL)
    return array_of, (array.dtype.str, array.shape, array.tobytes())


class _Pickler(pickle.Pickler):
    dispatch_table = copyreg.dispatch_table | {np.ndarray: _reduced}


def encoded(value: Any) -> bytes:
    """A part as bytes."""
    out = io.BytesIO()
    _Pickler(out, pickle.HIGHEST_PROTOCOL).dump(value)
    return out.getvalue()


def decoded(body: bytes) -> Any:
    """A part that `encoded` wrote."""
    return pickle.load(io.BytesIO(body))  # noqa: S301 - written by this service, or admitted, in its user's own folder


def digest_of(*parts: bytes | memoryview) -> bytes:
    """What two bodies share only if they are equal."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.digest()

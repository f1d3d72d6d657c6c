"""Parts to bytes and back. A part from another machine is read only after `admission.admit` has passed it."""

import copyreg
import io
import pickle
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from operator import attrgetter
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


class _Reducers(dict[Any, Callable[[Any], Any]]):
    """How values become bytes, by their class. Of a named tuple and of a dataclass with slots it is the class and its
    arguments: pickle would look up how to take each value apart, which was most of the time of a view.
    """

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        """Raises KeyError for a class of which pickle knows best."""
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self[kind] = lambda value: (kind, tuple(value))
            return self[kind]
        if not (is_dataclass(kind) and kind.__dictoffset__ == 0 and not hasattr(kind, "__post_init__")):
            raise KeyError(kind)
        names = [field.name for field in fields(kind) if field.init and not field.kw_only]
        if len(names) < max(2, len(fields(kind))):
            raise KeyError(kind)
        values = attrgetter(*names)
        self[kind] = lambda value: (kind, values(value))
        return self[kind]


class _Pickler(pickle.Pickler):
    dispatch_table = _Reducers(copyreg.dispatch_table | {np.ndarray: _reduced})


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

"""Facts as rows of a message.

A fact is a named tuple; msgspec refuses an array with one more field for it, which is what the next version sends. The
types on the wire are therefore structs with the same fields, and facts are made from them.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from sys import intern
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Raw

from truerail.bus.codec import pack, unpacked
from truerail.bus.messages import KindRows
from truerail.errors import BusMessageError, OutOfBoundsError
from truerail.model import KINDS, Fact
from truerail.model.bounds import bounded


def rows_of(facts: Iterable[Fact]) -> list[KindRows]:
    """The facts of one answer, by runs of the same kind."""
    return [KindRows(kind.__name__, Raw(pack(list(group)))) for kind, group in groupby(facts, type)]


def facts_of(rows: Sequence[KindRows]) -> tuple[tuple[Fact, ...], int]:
    """The facts, and how many runs are of a kind that this version does not know. Raises BusMessageError."""
    facts: list[Fact] = []
    unknown = 0
    for one in rows:
        kind = _KIND.get(one.kind)
        if kind is None:
            unknown += 1
            continue
        rows_read = unpacked(one.rows, _DECODER[kind], one.kind)
        found = [kind._make(map(_shared, msgspec.structs.astuple(row))) for row in rows_read]
        try:
            facts.extend(bounded(found))
        except (OutOfBoundsError, TypeError) as error:
            raise BusMessageError(f"facts of kind {one.kind}: {error}") from None
    return tuple(facts), unknown


def _shared(value: Any) -> Any:
    """The same object for equal texts: hosts of one kind have the same names of GPUs, NICs and ports."""
    return intern(value) if type(value) is str else value


def _struct(kind: type[Any]) -> Any:
    """The struct with the fields of a fact."""
    hints, defaults = get_type_hints(kind), kind._field_defaults
    fields = [(name, _open(hints[name]), *((defaults[name],) if name in defaults else ())) for name in kind._fields]
    return msgspec.defstruct(f"{kind.__name__}Row", fields, array_like=True, frozen=True)


def _open(hint: Any) -> Any:
    """The type, with any text where it lists texts: the next version may have one more."""
    if get_origin(hint) is Literal:
        return str
    parts = get_args(hint)
    if any(get_origin(part) is Literal for part in parts):
        return str | None if type(None) in parts else str
    return hint


_KIND: dict[str, type[Any]] = {kind.__name__: kind for kind in KINDS}
_DECODER: dict[type[Any], Any] = {kind: msgspec.msgpack.Decoder(list[_struct(kind)]) for kind in KINDS}  # type: ignore[misc]  # made from the fact's own fields

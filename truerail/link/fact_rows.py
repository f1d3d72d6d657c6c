"""Facts as rows of a message. A fact is a named tuple, so a row is an array of its fields."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from sys import intern
from typing import Any

from msgspec import Raw

from truerail.errors import BusMessageError, OutOfBoundsError
from truerail.link.codec import pack, unpack
from truerail.link.messages import KindRows
from truerail.model import KINDS, Fact
from truerail.model.bounds import bounded

_KINDS: dict[str, Any] = {kind.__name__: list[kind] for kind in KINDS}  # type: ignore[valid-type]  # of the catalogue


def rows_of(facts: Iterable[Fact]) -> list[KindRows]:
    """The facts of one answer, by runs of the same kind."""
    return [KindRows(kind.__name__, Raw(pack(list(group)))) for kind, group in groupby(facts, type)]


def facts_of(rows: Sequence[KindRows]) -> tuple[Fact, ...]:
    """The facts. Raises BusMessageError."""
    facts: list[Fact] = []
    for one in rows:
        if one.kind not in _KINDS:
            raise BusMessageError(f"facts of an unknown kind {one.kind[:40]!r}")
        try:
            facts += bounded([row._make(map(_shared, row)) for row in unpack(_KINDS[one.kind], one.rows)])
        except (OutOfBoundsError, TypeError) as error:
            raise BusMessageError(f"facts of kind {one.kind}: {error}") from None
    return tuple(facts)


def _shared(value: Any) -> Any:
    """The same object for equal texts: hosts of one kind have the same names of GPUs, NICs and ports."""
    return intern(value) if type(value) is str else value

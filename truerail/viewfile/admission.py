"""Which parts of another machine's view are read: those of plain values and of the classes that a view is made of.

A pickle may name any function of any module and call it. Here it may name the value classes of `_MODULES` and few
functions that make a value; everything else, and a dotted name, is refused before it is called. Source: Python's
documentation of `pickle`, "Restricting Globals".
"""

import copyreg
import io
import pickle
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import blake2b
from importlib import import_module
from typing import Any

from truerail.errors import ViewRefusedError
from truerail.viewfile.parts import METRICS
from truerail.viewfile.stored_page import CONTENTS
from truerail.viewfile.stored_round import COLUMN_NAMES
from truerail.viewfile.view_file import SCHEMA

_MODULES = (
    "truerail.analysis.cabling.corroborated",
    "truerail.analysis.cabling.paths",
    "truerail.analysis.cabling.witnesses",
    "truerail.analysis.jobs",
    "truerail.analysis.published",
    "truerail.model.facts",
    "truerail.model.finding",
    "truerail.model.life",
    "truerail.model.open_fault",
    "truerail.model.plan",
    "truerail.model.step_marks",
    "truerail.model.witness_facts",
    "truerail.viewfile.parts",
    "truerail.viewfile.stored_page",
    "truerail.viewfile.stored_round",
    "truerail.views.models",
)
_OTHERS = {
    ("truerail.viewfile.encoding", "array_of"),
    ("datetime", "datetime"),
    ("datetime", "timedelta"),
    ("datetime", "timezone"),
}
_NO_DATACLASS = ("truerail.viewfile.stored_round", "StoredMacs")


@cache
def _classes() -> dict[tuple[str, str], type]:
    """The value classes by module and name."""
    return {(one.__module__, one.__qualname__): one for one in _values()}


def _values() -> Iterator[type]:
    for module in map(import_module, _MODULES):
        for one in vars(module).values():
            if isinstance(one, type) and one.__module__ == module.__name__ and _is_value(one):
                yield one


def _is_value(one: type) -> bool:
    named_tuple = hasattr(one, "_fields") and issubclass(one, tuple)
    known = (one.__module__, one.__qualname__) == _NO_DATACLASS
    return is_dataclass(one) or named_tuple or issubclass(one, Enum) or known


@cache
def _as_imported() -> dict[type, dict[str, Any]]:
    for one in _classes().values():
        copyreg._slotnames(one)  # type: ignore[attr-defined]  # else the first pickle of a value adds what this caches
    return {one: dict(vars(one)) for one in _classes().values()}


def _unaltered() -> bool:
    """Whether no class has another attribute than at first: a pickle can set one of a class that it may name."""
    return all(
        len(vars(one)) == len(known) and all(vars(one).get(name) is value for name, value in known.items())
        for one, known in _as_imported().items()
    )


class _Admitting(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Raises ViewRefusedError."""
        if (module, name) in _OTHERS:
            return getattr(import_module(module), name)
        try:
            return _classes()[module, name]
        except KeyError:
            raise ViewRefusedError(f"it names {module}.{name}, of which no view is made") from None


def admit(parts: Iterable[tuple[str, str, bytes]]) -> None:
    """Kind, key and body of parts. Raises ViewRefusedError if one of them is not read."""
    _as_imported()
    for kind, key, body in parts:
        if kind != METRICS or key == CONTENTS:  # the others are text
            _admit(kind, key, body)
    if not _unaltered():
        raise ViewRefusedError("a part of it alters a class")


def _admit(kind: str, key: str, body: bytes) -> None:
    try:
        _Admitting(io.BytesIO(body)).load()
    except ViewRefusedError as error:
        raise ViewRefusedError(f"part {kind} {key}: {error}") from None
    except Exception as error:  # noqa: BLE001 - bytes may be anything, and so is what pickle raises for them
        raise ViewRefusedError(f"part {kind} {key} cannot be read: {type(error).__name__}") from None


@cache
def view_format() -> str:
    """What writer and reader of a view must share: 16 hexadecimal digits of the structure of its classes."""
    lines = [f"{SCHEMA} {' '.join(COLUMN_NAMES)}"]
    for (module, name), one in sorted(_classes().items()):
        lines.append(f"{module}.{name} {' '.join(_names(one))}")
    return blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def _names(one: type) -> list[str]:
    if is_dataclass(one):
        return [field.name for field in fields(one)]
    if issubclass(one, Enum):
        return [f"{member.name}={member.value}" for member in one]
    return list(getattr(one, "_fields", getattr(one, "__slots__", ())))

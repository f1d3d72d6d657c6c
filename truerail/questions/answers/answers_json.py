"""Parses answers from the API's JSON: the inverse of `as_json`, field by field by its type."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from truerail.errors import AnswerError

A = TypeVar("A")


def answer_from_json(kind: type[A], value: Any) -> A:
    """The answer of this kind. Unknown fields are ignored, so that a newer service may send more.

    Raises AnswerError if a field is missing or is of another type.
    """
    made: A = _made(kind, value, kind.__name__)
    return made


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _made(kind: Any, value: Any, where: str) -> Any:
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        return _either(get_args(kind), value, where)
    if origin is tuple:
        return _row(get_args(kind), value, where)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(get_args(kind), value, where)
    if is_dataclass(kind) and isinstance(kind, type):
        return _answer(kind, value, where)
    return _plain(kind, value, where)


def _either(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and types.NoneType in kinds:
        return None
    (kind,) = (one for one in kinds if one is not types.NoneType)
    return _made(kind, value, where)


def _row(kinds: tuple[Any, ...], value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise AnswerError(f"{where} is not a list")
    return tuple(_made(kinds[0], one, f"{where}[{number}]") for number, one in enumerate(value))


def _mapping(kinds: tuple[Any, ...], value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise AnswerError(f"{where} is not an object")
    return {key: _made(kinds[1], one, f"{where}.{key}") for key, one in value.items()}


def _answer(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise AnswerError(f"{where} is not an object")
    given = {}
    for field in fields(kind):
        if field.name in value:
            given[field.name] = _made(_hints(kind)[field.name], value[field.name], f"{where}.{field.name}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise AnswerError(f"{where}.{field.name} is missing")
    return kind(**given)


def _plain(kind: Any, value: Any, where: str) -> Any:
    if kind is datetime and isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            raise AnswerError(f"{where} is not a time") from None
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise AnswerError(f"{where} is not {kind.__name__}")
    return value

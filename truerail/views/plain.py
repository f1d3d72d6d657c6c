"""Answers as plain JSON values, and back."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

import msgspec

from truerail.errors import AnswerError

A = TypeVar("A")


def as_json(value: Any) -> Any:
    """An answer as plain JSON values: dataclasses become objects, times ISO 8601, enums their words."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): as_json(one) for key, one in value.items()}
    return [as_json(one) for one in value] if isinstance(value, tuple | list | set | frozenset) else value


def answer_from_json(kind: type[A], value: Any) -> A:
    """The answer of this kind. Unknown fields are ignored, so that a newer service may send more.

    Raises AnswerError if a field is missing or is of another type.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise AnswerError(f"{kind.__name__}: {error}") from error

"""Answers as plain JSON values, and the error if there is no answer."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any


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
    if isinstance(value, tuple | list | set | frozenset):
        return [as_json(one) for one in value]
    return value

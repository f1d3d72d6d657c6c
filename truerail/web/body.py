"""Answers to bytes: orjson over the dataclasses directly, several times as fast as over plain dicts."""

import json
from typing import Any

import orjson

from truerail.views.plain import as_json

_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def to_bytes(answer: Any) -> bytes:
    """An answer as JSON, as in `as_json`. Text that UTF-8 cannot encode (a lone surrogate from a device's
    answer) is escaped instead.
    """
    try:
        return orjson.dumps(answer, _plain, _OPTIONS)
    except TypeError:
        return json.dumps(as_json(answer), allow_nan=False).encode()


def _plain(value: Any) -> Any:
    """Converts types that orjson does not support: read-only mappings, sets, named tuples."""
    plain = as_json(value)
    if plain is value:
        raise TypeError(f"{type(value).__name__} has no JSON")
    return plain

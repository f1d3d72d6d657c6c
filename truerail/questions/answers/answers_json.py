"""Parses answers from the API's JSON: the inverse of `as_json`."""

from typing import Any, TypeVar

import msgspec

from truerail.errors import AnswerError

A = TypeVar("A")


def answer_from_json(kind: type[A], value: Any) -> A:
    """The answer of this kind. Unknown fields are ignored, so that a newer service may send more.

    Raises AnswerError if a field is missing or is of another type.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise AnswerError(f"{kind.__name__}: {error}") from error

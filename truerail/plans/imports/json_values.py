"""Values out of a parsed JSON file, whatever it has in their places."""

from collections.abc import Mapping
from typing import Any


def get(value: Any, *path: str) -> Any:
    """A nested value; None where a step is missing."""
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def text(value: Any) -> str:
    """A name or a number; empty for what is neither."""
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def dicts(value: Any) -> list[Mapping[str, Any]]:
    """The mappings of a list; none of what is no list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []

"""Declares the keys of a mapping in a YAML file: the reader takes its keys from here, and so does the JSON Schema that
editors use. One declaration: a key that the reader knows is in the schema, with the words that explain it.

The schema describes what a YAML 1.2 editor sees, where `400` is a number and `yes` a text; the reader sees both as
written. Words such as `roce` are read in any case; the schema completes the usual one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Schema = Mapping[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"

TEXT: Schema = {"type": ["string", "number", "boolean"]}
"""One value, read as it is written."""
YES: Schema = {"enum": ["yes", "no", True, False, "true", "false"]}
SECRET: Schema = {
    "type": "object",
    "properties": {
        "env": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,127}$"},
        "file": {"type": "string", "minLength": 1},
        "credential": {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$"},
    },
    "additionalProperties": False,
    "minProperties": 1,
    "maxProperties": 1,
}
"""A reference to a secret: `{env: NAME}`, `{file: PATH}` or `{credential: NAME}`."""
NODE_SETS: Schema = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
"""`gpu-[001-064]`, or a list of node sets."""
NODE_SET_LISTS: Schema = {"anyOf": [TEXT, {"type": "array", "items": NODE_SETS}]}
"""As `NODE_SETS`; an item that is a list holds what belongs together."""


@dataclass(frozen=True)
class Key:
    """A key: what its value may be, and what it means. The reader reports a needed one that is missing."""

    name: str
    value: Schema
    meaning: str
    needed: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The value's schema with its description."""
        return {"description": self.meaning, **self.value}


class Keys:
    """The keys of one mapping, in the order in which messages list them. `name` is its name in the schema."""

    def __init__(self, name: str, meaning: str, *keys: Key) -> None:
        self.name, self.meaning, self.keys = name, meaning, keys

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each key."""
        return tuple(key.name for key in self.keys)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The keys without which the mapping is incomplete."""
        return tuple(key.name for key in self.keys if key.needed)

    @property
    def schema(self) -> dict[str, Any]:
        """A mapping with these keys and no others."""
        return {
            "type": "object",
            "description": self.meaning,
            "properties": {key.name: key.schema for key in self.keys},
            **({"required": list(self.needed)} if self.needed else {}),
            "additionalProperties": False,
        }

    @property
    def one(self) -> Schema:
        """A reference to this mapping among the definitions of a document."""
        return {"$ref": f"#/$defs/{self.name}"}

    @property
    def some(self) -> Schema:
        """One such mapping, or a list of them."""
        return {"anyOf": [self.one, {"type": "array", "items": self.one}]}


def one_of(words: Sequence[str]) -> Schema:
    """One of the known words."""
    return {"enum": list(words)}


def whole_number(most: int, least: int = 0) -> Schema:
    """An integer, as a number or in quotes."""
    return {"anyOf": [{"type": "integer", "minimum": least, "maximum": most}, {"type": "string", "pattern": r"^\d+$"}]}


def whole_numbers(most: int) -> Schema:
    """Integers: `3`, `[0, 1]`, `"[0-7]"`."""
    one = {
        "anyOf": [{"type": "integer", "minimum": 0, "maximum": most}, {"type": "string", "pattern": r"^[\d\[\],/ -]+$"}]
    }
    return {"anyOf": [one, {"type": "array", "items": one}]}


def matching(pattern: str, number: bool = False) -> Schema:
    """A text of this form; with `number`, or a number above 0."""
    text = {"type": "string", "pattern": pattern}
    return {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, text]} if number else text


def document(title: str, root: Keys, parts: Sequence[Keys]) -> dict[str, Any]:
    """The JSON Schema of a file: its top level and the mappings that it refers to."""
    return {"$schema": DIALECT, "title": title, **root.schema, "$defs": {part.name: part.schema for part in parts}}

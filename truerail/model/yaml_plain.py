"""A tree as plain values: mappings, lists, texts and None, for a model that decides the types itself."""

from typing import Any

from truerail.model.yaml_tree import MERGE, Faults, Node

_NULL = ("", "~", "null", "Null", "NULL")
"""What YAML 1.2.2, 10.3.2 reads as null where it is not in quotes."""


def plain(node: Node, faults: Faults) -> Any:
    """The values of a tree. A scalar is its text, or None for null; `<<` merges mappings in, own keys take precedence.

    An alias shares its value. A key that is not one word is recorded as a fault.
    """
    return _Plain(faults).value(node)


class _Plain:
    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.made: dict[int, Any] = {}

    def value(self, node: Node) -> Any:
        """The value of a node, made once."""
        if node.text is not None:
            return None if node.text in _NULL and not node.quoted else node.text
        if id(node) not in self.made:
            items = node.items
            self.made[id(node)] = self._mapping(node) if items is None else [self.value(one) for one in items]
        return self.made[id(node)]

    def _mapping(self, node: Node) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, value in node.pairs or ():
            if key.text is None:
                self.faults.add(key.line, key.shown, "not YAML: a key must be one word")
            elif key.text == MERGE and not key.quoted:
                for one in [value] if value.items is None else value.items:
                    merged = {**self._merged(one), **merged}
            else:
                own[key.text] = self.value(value)
        return {**merged, **own}

    def _merged(self, node: Node) -> dict[str, Any]:
        if node.pairs is None:
            self.faults.add(node.line, node.shown, f"`{MERGE}` merges mappings, found {node.kind}")
            return {}
        found: dict[str, Any] = self.value(node)
        return found

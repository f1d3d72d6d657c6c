"""Reads typed values from the nodes of a YAML file; records an invalid value with its line, and continues."""

import re
from collections.abc import Container, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget, expand
from truerail.files.problems import Faults, nearest
from truerail.files.yaml_keys import Keys
from truerail.model.yaml_tree import Node

E = TypeVar("E", bound=StrEnum)
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)


def whole(text: str, most: int) -> int | None:
    """An integer of 0 to `most`; None otherwise."""
    return int(text) if _WHOLE.fullmatch(text) and int(text) <= most else None


class Values:
    """Reads nodes; holds the faults and the number of names that the file may still expand to."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.budget = Budget()

    def wrong(self, node: Node, summary: str) -> None:
        """Records a fault at a node."""
        self.faults.add(node.line, node.shown, summary)

    def fields(self, node: Node, declared: Keys) -> dict[str, Node]:
        """The keys and values of a mapping; records unknown and missing keys. Duplicate keys are recorded while the
        tree is built.
        """
        if node.pairs is None:
            self.wrong(node, f"expected a mapping with {', '.join(declared.names)}, found {node.kind}")
            return {}
        found = self.known(node.pairs, declared)
        if len(found) == len({key.text for key, _ in node.pairs}):  # an unknown key is likely the missing one
            self.missing(node, found, declared)
        return found

    def known(self, pairs: Sequence[tuple[Node, Node]], declared: Keys) -> dict[str, Node]:
        """The pairs whose keys are declared; records the others."""
        found: dict[str, Node] = {}
        for key, value in pairs:
            if key.text is None or key.text not in declared.names:
                self.faults.add(key.line, key.shown, f"unknown key{nearest(key.shown, declared.names)}")
            else:
                found.setdefault(key.text, value)
        return found

    def missing(self, node: Node, found: Container[str], declared: Keys) -> None:
        """Records the needed keys that were not found."""
        for key in declared.needed:
            if key not in found:
                self.faults.add(node.line, "", f"the key {key!r} is missing")

    def entries(self, node: Node | None) -> list[Node]:
        """One mapping, or a list of them."""
        if node is None or node.text == "":
            return []
        return node.items if node.items is not None else [node]

    def text(self, node: Node | None) -> str:
        """One value as text; empty where the key is absent."""
        if node is None:
            return ""
        if node.text is None:
            self.wrong(node, f"expected one value, found {node.kind}")
            return ""
        return node.text

    def number(self, node: Node | None, most: int) -> int | None:
        """An integer from 0 to `most`."""
        if node is None:
            return None
        value = whole(node.text or "", most)
        if value is None:
            self.wrong(node, f"expected a whole number from 0 to {most}")
        return value

    def yes(self, node: Node | None, default: bool) -> bool:
        """`yes` or `no`."""
        if node is None:
            return default
        word = (node.text or "").lower()
        if word not in ("yes", "no", "true", "false"):
            self.wrong(node, "expected yes or no")
        return word in ("yes", "true")

    def choice(self, node: Node | None, words: Mapping[str, E] | type[E], default: E) -> E:
        """One value of an enumeration."""
        if node is None:
            return default
        known = {word.value: word for word in words} if isinstance(words, type) else dict(words)
        chosen = known.get((node.text or "").lower())
        if chosen is None:
            self.wrong(node, f"expected one of {', '.join(known)}{_hint(node, known)}")
            return default
        return chosen

    def names(self, node: Node | None) -> list[str]:
        """The names of a node set, or of a list of node sets, in the written order."""
        if node is None:
            return []
        names: list[str] = []
        for one in [node] if node.items is None else node.items:
            if one.text is None:
                self.wrong(one, f"expected a name or a node set such as gpu-[001-064], found {one.kind}")
                continue
            try:
                names += expand(one.text, self.budget)
            except NodeSetError as error:
                self.wrong(one, str(error))
        return names

    def numbers(self, node: Node | None, most: int) -> list[int]:
        """Integers: `3`, `[0, 1]`, `"[0-7]"`."""
        found = []
        for name in self.names(node):
            value = whole(name, most)
            if value is None and node is not None:
                self.faults.add(node.line, name, f"expected whole numbers from 0 to {most}")
            elif value is not None:
                found.append(value)
        return found


def _hint(node: Node, known: Mapping[str, object]) -> str:
    hint = nearest(node.shown, tuple(known))
    return hint if hint.startswith(",") else ""

"""Reads typed values from the nodes of a YAML file; records an invalid value with its line, and continues."""

import re
from collections.abc import Callable, Container, Iterable, Sequence
from typing import TypeVar

from truerail.errors import NodeSetError
from truerail.files.nodesets import Budget, expand
from truerail.files.problems import Faults, hint, nearest
from truerail.files.yaml_keys import Keys
from truerail.model.yaml_tree import Node

T = TypeVar("T")
W = TypeVar("W", bound=str)
D = TypeVar("D")
MOST_UNITS = 200
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_YES = {"yes": True, "true": True, "no": False, "false": False}


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

    def read(self, node: Node | None, value: Callable[[str], T | None], expected: str) -> T | None:
        """What `value` makes of a text; None where the key is absent, or with a fault where it makes nothing of it."""
        if node is None:
            return None
        found = value(node.text or "")
        if found is None:
            self.wrong(node, expected)
        return found

    def number(self, node: Node | None, most: int) -> int | None:
        """An integer from 0 to `most`."""
        return self.read(node, lambda text: whole(text, most), f"expected a whole number from 0 to {most}")

    def yes(self, node: Node | None, default: bool) -> bool:
        """`yes` or `no`."""
        found = self.read(node, lambda text: _YES.get(text.lower()), "expected yes or no")
        return default if node is None else bool(found)

    def choice(self, node: Node | None, words: Iterable[W], default: D) -> W | D:
        """One of several words, such as those of an enumeration."""
        known = {str(word): word for word in words}
        expected = f"expected one of {', '.join(known)}{hint(node.shown, known) if node else ''}"
        return self.read(node, lambda text: known.get(text.lower()), expected) or default

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


# ----------------------------------------------------------------------------------------------------------------------
# Values that expand together with the names of devices: pods, racks, units, addresses.


def spread(node: Node | None, count: int, values: Values) -> list[str]:
    """Pods or racks over the devices: consecutive devices share one, 16 racks for 64 hosts are 4 hosts a rack."""
    groups = values.names(node)
    if not groups or node is None or not count:
        return [""] * count
    each = -(-count // len(groups))
    if -(-count // each) != len(groups):
        values.wrong(node, f"{len(groups)} names for {count} devices leave some without a device")
        return [""] * count
    return [groups[i // each] for i in range(count)]


def units(node: Node | None, racks: list[str], values: Values) -> list[int | None]:
    """Rack units: one number, or one for each place in a rack, used again in every rack."""
    numbers = values.numbers(node, MOST_UNITS)
    if not numbers or node is None:
        return [None] * len(racks)
    if len(numbers) == 1:
        return [numbers[0] for _ in racks]
    places: list[int | None] = []
    filled: dict[str, int] = {}
    for rack in racks:
        place = filled.get(rack, 0)
        filled[rack] = place + 1
        places.append(numbers[place] if place < len(numbers) else None)
    if None in places:
        values.wrong(node, f"{len(numbers)} units for {max(filled.values())} devices in one rack")
    return places


def one_each(node: Node | None, count: int, values: Values, what: str = "devices") -> list[str]:
    """One name for each device, or other thing; empty ones where the key is absent."""
    names = values.names(node)
    if node is None:
        return [""] * count
    if len(names) != count:
        values.wrong(node, f"expected one for each of {count} {what}, found {len(names)}")
        return [""] * count
    return names


def several_each(node: Node | None, count: int, values: Values) -> list[tuple[str, ...]]:
    """Node sets that each expand together with the devices: a list of two gives every device two."""
    if node is None:
        return [()] * count
    columns = [one_each(one, count, values) for one in ([node] if node.items is None else node.items)]
    return list(zip(*columns, strict=True)) if columns else [()] * count

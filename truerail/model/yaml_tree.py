"""Parses YAML text to a tree of nodes with line numbers.

Built from the parser's events, because the composer that PyYAML takes from libyaml recurses in C and ends the process
on a file of 100,000 opening brackets. Scalars stay as written, so a rack called `01` or `on` is just that; the reader
of a value (`yaml_values`) decides its type. A duplicate key in a mapping is rejected here, for every file alike: YAML
forbids it (1.2.2, 3.2.1.3), and a parser that takes the last one drops the content of the first.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import yaml

DEEPEST = 16
MERGE = "<<"
"""The key that merges mappings into its own: https://yaml.org/type/merge.html."""
MOST_ALIASES = 1000
MOST_SHARED = 1 << 20
"""Characters of the nodes that all aliases (`*name`) share. An alias copies nothing; readers walk the shared node each
time, with those that it shares, hence the bounds.
"""


class Faults(Protocol):
    """Takes the problems of a file."""

    def add(self, line: int, value: str, summary: str) -> None:
        """Records a problem, or raises it."""


@dataclass(slots=True, eq=False)
class Node:
    """One value of the file. Exactly one of `text`, `items` and `pairs` is set."""

    line: int
    text: str | None = None
    items: list["Node"] | None = None
    pairs: list[tuple["Node", "Node"]] | None = None
    quoted: bool = False
    """Whether the text is in quotes or a block, so that `null` is a word."""
    size: int = 1
    """Characters of the node and of all that is in it, wherever it is shared."""

    @property
    def kind(self) -> str:
        """Kind of the node, in words."""
        return "a value" if self.text is not None else "a list" if self.items is not None else "a mapping"

    @property
    def shown(self) -> str:
        """The value as shown in a message."""
        if self.text is not None:
            return self.text
        return f"{self.kind} of {len(self.items if self.items is not None else self.pairs or ())}"


class _Refused(Exception):  # noqa: N818 - it is said of the file: "refused"
    """Holds line, value and message."""


def read_tree(text: str, faults: Faults, opaque: Collection[str] = ()) -> Node | None:
    """The document in `text`, or None with the reason recorded in `faults`.

    A tag is rejected, unless it is one of `opaque`: the value behind those (`!vault`) is read as empty.
    """
    try:
        return _build(yaml.parse(text, Loader=yaml.CSafeLoader), opaque, faults)
    except _Refused as error:
        faults.add(*error.args)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        faults.add(mark.line + 1 if mark else 0, "", f"not YAML: {error.problem or error.context}")
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        faults.add(text.count("\n", 0, position) + 1, "", f"not YAML: {getattr(error, 'reason', error)}")
    return None


def _build(events: Iterator[yaml.Event], opaque: Collection[str], faults: Faults) -> Node:
    """The one document of the stream. Records duplicate keys. Raises `_Refused`."""
    root = Node(1, items=[])
    open_nodes = [root]
    waiting: list[Node | None] = [None]  # for each open node, the key that waits for its value
    anchors: dict[str, Node] = {}
    aliases = shared = 0
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.CollectionEndEvent):
            _close(open_nodes.pop(), faults)
            waiting.pop()
        elif isinstance(event, yaml.AliasEvent):
            node = _aliased(event, line, anchors, open_nodes)
            aliases, shared = aliases + 1, shared + node.size
            if aliases > MOST_ALIASES or shared > MOST_SHARED:
                more = f"{MOST_ALIASES} aliases" if aliases > MOST_ALIASES else f"{MOST_SHARED:,} characters in aliases"
                raise _Refused(line, f"*{event.anchor}", f"more than {more}")
            _attach(open_nodes[-1], waiting, node)
        elif isinstance(event, (yaml.ScalarEvent, yaml.CollectionStartEvent)):
            node = _node(event, line, opaque)
            if event.anchor:
                anchors[event.anchor] = node
            _attach(open_nodes[-1], waiting, node)
            if node.text is None:
                open_nodes.append(node)
                waiting.append(None)
                if len(open_nodes) > DEEPEST:
                    raise _Refused(line, "", f"nested more than {DEEPEST} deep")
    documents = root.items or []
    if len(documents) != 1:
        raise _Refused(0, "", "more than one document (`---`)" if documents else "an empty file")
    return documents[0]


def _close(node: Node, faults: Faults) -> None:
    """Sums up a list or a mapping. Records each duplicate key."""
    node.size += sum(one.size for one in node.items or ()) + sum(a.size + b.size for a, b in node.pairs or ())
    first: dict[str, int] = {}
    for key, _ in node.pairs or ():
        if key.text is None or key.text == MERGE:
            continue
        if key.text in first:
            faults.add(key.line, key.text, f"a duplicate key, first in line {first[key.text]}")
        first.setdefault(key.text, key.line)


def _aliased(event: yaml.AliasEvent, line: int, anchors: dict[str, Node], open_nodes: list[Node]) -> Node:
    name = event.anchor or ""
    node = anchors.get(name)
    if node is None:
        raise _Refused(line, f"*{name}", "an alias without an anchor")
    if any(node is one for one in open_nodes):
        raise _Refused(line, f"*{name}", "an alias of a node that contains it")
    return node


def _node(event: yaml.ScalarEvent | yaml.CollectionStartEvent, line: int, opaque: Collection[str]) -> Node:
    if isinstance(event, yaml.ScalarEvent) and event.tag in opaque:
        return Node(line, text="")
    if event.tag not in (None, "!"):
        raise _Refused(line, str(event.tag), "a tag; plain values only are read")
    if isinstance(event, yaml.ScalarEvent):
        return Node(line, text=event.value, quoted=bool(event.style), size=1 + len(event.value))
    return Node(line, items=[]) if isinstance(event, yaml.SequenceStartEvent) else Node(line, pairs=[])


def _attach(parent: Node, waiting: list[Node | None], node: Node) -> None:
    """Adds a node to its list, or holds it as a key until its value follows."""
    if parent.items is not None:
        parent.items.append(node)
    elif waiting[-1] is None:
        waiting[-1] = node
    elif parent.pairs is not None:
        parent.pairs.append((waiting[-1], node))
        waiting[-1] = None


# ----------------------------------------------------------------------------------------------------------------------
# A tree as plain values: mappings, lists, texts and None, for a model that decides the types itself.

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

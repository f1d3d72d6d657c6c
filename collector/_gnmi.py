"""gNMI's notifications, as the client gnmic prints them, as one tree; and the requests that collectors make.

`gnmic get` prints a list of notifications, `gnmic subscribe` one after the other: `{"updates": [{"Path":
"interfaces/interface[name=Ethernet1/1]/state", "values": {"interfaces/interface/state": {...}}}]}`. Some devices answer
with a container, some with a leaf in each update: both become `{"interfaces": {"interface": [{"name": "Ethernet1/1",
"state": {...}}]}}`, without the prefixes of modules. Sources: answers of gnmic in public repositories, gNMI's
conventions for paths (openconfig/reference, rpc/gnmi/gnmi-path-strings.md).
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from collector._answer import document_at
from truerail.errors import UnreadableError
from truerail.model import Command

_ELEMENT = re.compile(r"(?:^|/)(?:[\w-]+:)*([^/\[\]:]+)((?:\[[^=\[\]]+=(?:\\.|[^\]\\])*\])*)")
_KEY = re.compile(r"\[([^=\[\]]+)=((?:\\.|[^\]\\])*)\]")
_ORIGIN = re.compile(r"^/?[\w-]+:(?=/)")
_ESCAPED = re.compile(r"\\(.)")
_WORD = re.compile(r"\S")
_STREAM = re.compile(r'^[ \t]*(?:(\[)|\{\s*"(?:source|sync-response)"\s*:)', re.MULTILINE)
_KEYS = ("name", "interface-id", "id", "index")
"""What distinguishes the entries of a list that came as a value."""
Tree = dict[str, Any]
T = TypeVar("T")


def requests(*paths: str) -> tuple[Command, ...]:
    """The requests for these paths, best first: by Get, with OpenConfig's origin, which some devices need, and by
    Subscribe, where a device refuses Get.
    """
    return tuple(
        Command(f"gnmic {how}" + "".join(f" --path {origin}{path}" for path in paths), ("gnmi",))
        for how in ("get", "subscribe --mode once")
        for origin in ("", "openconfig:")
    )


def stream(answer: str) -> list[Any] | None:
    """The notifications that `gnmic subscribe` prints one after the other; None for another answer."""
    start = _STREAM.search(answer) if '"updates"' in answer else None
    if start is None or start[1]:
        return None
    found, at = list[Any](), start.start()
    while begun := _WORD.search(answer, at):
        try:
            one, at = document_at(answer, begun.start())
        except UnreadableError as error:
            text = answer[begun.start() : begun.start() + 40]
            raise UnreadableError("not a notification, or cut short", line=error.line, text=text) from error
        found.append(one)
    return found


def is_notifications(found: Any) -> bool:
    """Whether a document is a list of notifications."""
    return isinstance(found, list) and any(isinstance(one, Mapping) and "updates" in one for one in found)


def tree(notifications: Sequence[Any]) -> Tree:
    """All values of the notifications in one tree. Raises `UnreadableError` for an update without a path."""
    made = _Trunk()
    for path, value in _updates(notifications):
        made.add(_elements(path), value)
    return made.root


class _Trunk:
    """A tree that grows by one update at a time."""

    def __init__(self) -> None:
        self.root: Tree = {}
        self._entries: dict[tuple[int, Hashable], Tree] = {}
        """The entries of lists by the list and their keys."""

    def add(self, elements: Sequence[tuple[str, Mapping[str, str]]], value: Any) -> None:
        """Puts a value in the place of its path."""
        node = self.root
        for name, keys in elements[:-1]:
            node = self._enter(node, name, keys)
        for name, keys in elements[-1:]:
            if keys:
                node = self._enter(node, name, keys)
            else:
                value = {name: value}
        self._merge(node, value)

    def _enter(self, node: Tree, name: str, keys: Mapping[str, str]) -> Tree:
        """The container of this name in a node, or the entry of a list that has these keys."""
        if keys:
            return self._entry(_of(list, node.setdefault(name, []), name), keys)
        return _of(dict, node.setdefault(name, {}), name)

    def _entry(self, entries: list[Any], keys: Mapping[str, Any]) -> Tree:
        key = (id(entries), tuple(sorted((key, str(value)) for key, value in keys.items())))
        if key not in self._entries:
            self._entries[key] = dict(keys)
            entries.append(self._entries[key])
        return self._entries[key]

    def _merge(self, node: Tree, value: Any) -> None:
        for key, inside in _of(dict, value, "value").items():
            name = str(key).rpartition(":")[2]
            node[name] = self._joined(node.get(name), inside)

    def _joined(self, known: Any, value: Any) -> Any:
        """A value without prefixes, joined to what is known of its container or its list."""
        if isinstance(value, dict):
            node: Tree = known if isinstance(known, dict) else {}
            self._merge(node, value)
            return node
        if isinstance(value, list) and any(isinstance(one, dict) for one in value):
            entries = known if isinstance(known, list) else []
            for one in value:
                names = {str(key).rpartition(":")[2]: key for key in _of(dict, one, "a list")}
                key = next((key for key in _KEYS if key in names), None)
                self._merge(self._entry(entries, {key: one[names[key]]}) if key else _added(entries), one)
            return entries
        return value


def _of(kind: type[T], found: Any, name: str) -> T:
    if not isinstance(found, kind):
        raise UnreadableError("in one place a value, in another a container", text=name)
    return found


def _added(entries: list[Any]) -> Tree:
    made: Tree = {}
    entries.append(made)
    return made


def _updates(notifications: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    for one in notifications:
        before = str(one.get("prefix", ""))
        for update in one.get("updates") or ():
            values = update.get("values")
            if not isinstance(values, Mapping) or not isinstance(update.get("Path"), str):
                raise UnreadableError("an update without a path and its values", text=str(update))
            yield f"{before}/{_ORIGIN.sub('', update['Path'])}", next(iter(values.values()), None)


def _elements(path: str) -> list[tuple[str, dict[str, str]]]:
    return [
        (name, {key.rpartition(":")[2]: _ESCAPED.sub(r"\1", value) for key, value in _KEY.findall(keys)})
        for name, keys in _ELEMENT.findall(_ORIGIN.sub("", path))
    ]

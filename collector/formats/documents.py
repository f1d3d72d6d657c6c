"""Answers in JSON, in XML and in the JSON of gNMI: found below prompts, without envelopes, refused if they are cut."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from collector.formats.text import decode, document_at, is_json
from truerail.errors import UnreadableError
from truerail.model import Command

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

# ----------------------------------------------------------------------------------------------------------------------
# gNMI's notifications, as the client gnmic prints them, as one tree; and the requests that collectors make.
#
# `gnmic get` prints a list of notifications, `gnmic subscribe` one after the other: `{"updates": [{"Path":
# "interfaces/interface[name=Ethernet1/1]/state", "values": {"interfaces/interface/state": {...}}}]}`. Some devices
# answer with a container, some with a leaf in each update: both become `{"interfaces": {"interface": [{"name":
# "Ethernet1/1", "state": {...}}]}}`, without the prefixes of modules. Sources: answers of gnmic in public repositories,
# gNMI's conventions for paths (openconfig/reference, rpc/gnmi/gnmi-path-strings.md).

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


def gnmi_tree(notifications: Sequence[Any]) -> Tree:
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
                key = next((key for key in _KEYS if isinstance(one.get(names.get(key)), str | int)), None)
                entry = self._entry(entries, {key: one[names[key]]}) if key else Tree()
                entries += [] if key else [entry]
                self._merge(entry, one)
            return entries
        return value


def _of(kind: type[T], found: Any, name: str) -> T:
    if not isinstance(found, kind):
        raise UnreadableError("in one place a value, in another a container", text=name)
    return found


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


# ----------------------------------------------------------------------------------------------------------------------
# XML answers: found between prompts, refused if they are cut or could be hostile.

_BEGIN = re.compile(r"<(?=[a-zA-Z?])")
_END = re.compile(r"(?:</[^<>]{0,200}|/)>")


def root_of(answer: str) -> Element:
    """The root of the XML document in `answer`, without the text before and after it.

    Raises `UnreadableError` if there is none, with the line if it is cut, and for a document that declares a type,
    because a type may declare entities.
    """
    begin = _BEGIN.search(answer)
    if begin is None:
        raise UnreadableError("no XML in it")
    end = max((found.end() for found in _END.finditer(answer)), default=len(answer))
    text = answer[begin.start() : end]
    if "<!" in text.replace("<!--", ""):
        raise UnreadableError("XML with a document type is not read")
    from xml.etree import ElementTree as ET  # here, because few answers are XML and the import is slow

    try:
        return ET.fromstring(text)  # noqa: S314 - a document type, and with it every entity, is refused above
    except ET.ParseError as error:
        line = answer.count("\n", 0, begin.start()) + error.position[0]
        raise UnreadableError(f"not whole XML ({error})", line=line) from error


def tree_of(root: Element) -> dict[str, Any]:
    """An XML document in the shape of Junos' JSON."""
    return {root.tag.rpartition("}")[2]: [xml_tree(root)]}


def xml_tree(element: Element) -> dict[str, Any]:
    """An XML element's children in the shape of Junos' JSON, each name with a list, without namespaces."""
    found: dict[str, Any] = {}
    for child in element:
        name = child.tag.rpartition("}")[2]
        found.setdefault(name, []).append(xml_tree(child) if len(child) else (child.text or "").strip())
    return found


# ----------------------------------------------------------------------------------------------------------------------
# Answers of switches in JSON and in the XML of Junos, which is the same tree: found below prompts, without the
# envelopes of management interfaces.

_JUNOS_PROMPT = re.compile(r"^\{(?:master|primary|backup|linecard)\b[^}\n]{0,40}\}[ \t\r]*$", re.MULTILINE)
_JUNOS_XML = re.compile(
    r"^[ \t]*<(?:rpc-reply|multi-routing-engine-results|interface-information|arp-table-information|ipv6-nd-information"
    r"|ethernet-switching-table-information|l2(?:ng-l2)?ald-rtb-macdb|lacp-interface-information-list)\b",
    re.MULTILINE,
)
_HEAD = 4000
"""Characters in which an XML document begins: prompts and banners stand above it."""
_MEMBERS = "multi-routing-engine-results"
_WRAPPERS = ("result", "ins_api", "outputs", "output", "body")


def document(answer: str) -> Any:
    """The tree in an answer of JSON, or of Junos' XML, without its envelopes; None for text. Raises `UnreadableError`.

    What several members of a chassis answered is one tree.
    """
    if is_json(answer):
        return _joined(unwrapped(answer))
    if _JUNOS_XML.search(answer, 0, _HEAD):
        tree = tree_of(root_of(answer))
        return _joined(tree["rpc-reply"][0] if "rpc-reply" in tree else tree)
    return None


def _joined(found: Any) -> Any:
    if not isinstance(found, dict) or _MEMBERS not in found:
        return found
    whole: dict[str, list[Any]] = {}
    for results in listed(found[_MEMBERS]):
        for member in listed(results.get("multi-routing-engine-item")):
            for name, value in member.items():
                whole.setdefault(name, []).extend(listed(value))
    return whole


def unwrapped(answer: str) -> Any:
    """The JSON in an answer, without the envelopes of eAPI, NX-API and gNMI. Raises `UnreadableError` where there is
    none.
    """
    streamed = stream(answer)
    found = _decoded(answer) if streamed is None else streamed
    notified = isinstance(found, list) and any(isinstance(one, Mapping) and "updates" in one for one in found)
    return gnmi_tree(found) if notified else _without_wrappers(found)


def listed(value: Any) -> list[Any]:
    """One or several elements as a list: NX-OS and others omit the list around a single element."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def rows_of(found: Mapping[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """The rows of a table in NX-OS' JSON; none if it is not there."""
    for table in listed(found.get(f"TABLE_{name}")):
        yield from listed(table[f"ROW_{name}"])


def below(found: Any, name: str) -> Iterator[Any]:
    """What a document has under a name, at any depth, each element of a list by itself."""
    for one in listed(found):
        for key, value in one.items() if isinstance(one, dict) else ():
            yield from listed(value) if key == name else below(value, name)


def data_of(value: Any) -> Any:
    """The value in Junos' `[{"data": value}]`; XML and some exports omit the wrapper."""
    one = next(iter(listed(value)), None)
    return one.get("data") if isinstance(one, dict) else one


def _decoded(answer: str) -> Any:
    """The JSON in an answer, even with the line in braces that Junos prints above its prompt."""
    try:
        return decode(answer)
    except UnreadableError:
        return decode(_JUNOS_PROMPT.sub("", answer))


def _without_wrappers(found: Any) -> Any:
    while True:
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        elif isinstance(found, dict) and (inside := [key for key in _WRAPPERS if key in found]):
            found = found[inside[0]]
        else:
            return found

"""Answers of switches in JSON and in the XML of Junos, which is the same tree: found below prompts, without the
envelopes of management interfaces.
"""

import re
from typing import Any

from collector import _gnmi
from collector._answer import decode, is_json
from collector._xml_document import root_of, tree
from truerail.errors import UnreadableError

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
        root = root_of(answer)
        name = root.tag.rpartition("}")[2]
        return _joined(tree(root) if name == "rpc-reply" else {name: [tree(root)]})
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
    streamed = _gnmi.stream(answer)
    found = _decoded(answer) if streamed is None else streamed
    return _gnmi.tree(found) if _gnmi.is_notifications(found) else _without_wrappers(found)


def listed(value: Any) -> list[Any]:
    """One or several elements as a list: NX-OS and others omit the list around a single element."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


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

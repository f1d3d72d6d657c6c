"""XML answers: found between prompts, refused if they are cut or could be hostile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from truerail.errors import UnreadableError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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


def tree(element: Element) -> dict[str, Any]:
    """An XML element's children in the shape of Junos' JSON, each name with a list, without namespaces."""
    found: dict[str, Any] = {}
    for child in element:
        name = child.tag.rpartition("}")[2]
        found.setdefault(name, []).append(tree(child) if len(child) else (child.text or "").strip())
    return found

"""JSON answers of switches: found below prompts, and unwrapped from the envelopes of management interfaces."""

import re
from typing import Any

from collector import _gnmi
from collector._answer import decode
from truerail.errors import UnreadableError

_JUNOS_PROMPT = re.compile(r"^\{(?:master|primary|backup|linecard)\b[^}\n]{0,40}\}[ \t\r]*$", re.MULTILINE)
_WRAPPERS = ("result", "ins_api", "outputs", "output", "body")


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

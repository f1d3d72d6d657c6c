"""LLDP neighbours as Ruckus and Brocade print them with `detail` (FastIron, NetIron).

`Local port: 1/1/2` stands above its neighbours, each of which begins `Neighbor: MAC, TTL 118 seconds` (the rest of the
time). Values stand behind plus signs: `+ Port ID (locally assigned): "xe1"`, the type in brackets, text in quotes. Some
releases announce the number of neighbours, none prints an end. Sources: recorded answers in SIMNOS; the FastIron
command reference.
"""

import re
from collections.abc import Iterator, Sequence

from collector.formats.lldp_tables import announced
from collector.formats.lldp_words import addresses, advertised, identified, seconds
from truerail.errors import UnreadableError
from truerail.model import Neighbor

BEGIN = re.compile(r"^[ \t]{1,40}Neighbor: [^\s,]{1,80}, TTL \d", re.MULTILINE)
"""How each neighbour begins."""
_PORT = re.compile(r"[ \t]*Local port:[ \t]*(\S+)")
_VALUE = re.compile(r"[ \t]*\+ ([A-Z][^:(]{1,40})(?:\(([^():]{1,40})\))?[ \t]*:(.*)")
_IDS = ("chassis id", "port id")
_MANDATORY = frozenset((*_IDS, "time to live"))
Value = tuple[str | None, str]
"""The type in brackets, and the text."""


def neighbors(text: str, lines: Sequence[str]) -> Iterator[Neighbor]:
    """The neighbours in the blocks. Raises `UnreadableError` where one lacks what every LLDP frame has."""
    found = list(_blocks(lines))
    if len(found) < (announced(text) or 0):
        raise UnreadableError(f"{len(found)} of {announced(text)} neighbours: the answer is cut")
    for port, line, block in found:
        if not port or not block.keys() >= _MANDATORY:
            raise UnreadableError("a neighbour without port, ids or time to live: the answer is cut", line=line)
    end = _VALUE.match(lines[-1])
    if end and end[1].strip().lower() not in ("time to live", "management address") and not end[3].endswith('"'):
        raise UnreadableError("the last value may be cut", line=len(lines), text=lines[-1])
    yield from (_neighbor(port, block) for port, _, block in found)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, int, dict[str, Value]]]:
    """Each neighbour's port, its first line, and its values by key."""
    port, begun = "", 0
    block: dict[str, Value] = {}
    for number, line in enumerate(lines, 1):
        named, value = _PORT.match(line), _VALUE.match(line)
        if named or BEGIN.match(line):
            if begun and (named or block):
                yield port, begun, block
            port, begun, block = named[1] if named else port, number, {}
        elif value:
            block.setdefault(value[1].strip().lower(), (value[2], value[3].strip()))
    yield port, begun, block


def _neighbor(port: str, block: dict[str, Value]) -> Neighbor:
    def text(key: str) -> str | None:
        return advertised(block.get(key, (None, ""))[1].strip('"'))

    (chassis_type, _), (port_type, _) = (block[key] for key in _IDS)
    return Neighbor(
        port,
        *identified(text("chassis id"), chassis_type),
        text("system name"),
        *identified(text("port id"), port_type),
        text("port description"),
        seconds(text("time to live")),
        None,
        addresses(text("management address")),
    )

"""Topology files of ibutils, which `ibdiagnet -w` writes: `P1 -> SX6036 leaf-2 P4` below a node.

They contain no GUIDs and no node types: a node with more ports than an adapter is a switch. A link may be listed at
one of its ends alone. Source: recorded files.
"""

import re
from collections.abc import Iterator

from collector._answer import lines
from collector._ib_links import End, Fact, Links
from collector._ib_words import MOST_PORTS, adapter, gbps, switch
from truerail.errors import UnreadableError

_LINK = re.compile(r"[ \t]+P(\d+)[ \t]+-(?:(\d+x)-([\d.]+)G-)?>[ \t]+\S+[ \t]+(\S+)[ \t]+P(\d+)", re.IGNORECASE)
_ARROW = re.compile(r"^[ \t]+\S+[ \t]+-(?:\w+-[\d.]+G-)?>", re.MULTILINE)
_NODE = re.compile(r"\S+[ \t]+(\S+)")


def recognised(answer: str) -> bool:
    """Whether any line begins like a port's."""
    return _ARROW.search(answer) is not None


def from_topo(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    links = Links()
    here = ""
    most: dict[str, int] = {}
    for number, line in enumerate(lines(answer), 1):
        if found := _NODE.fullmatch(line.rstrip()):
            here = found[1]
        elif _ARROW.match(line):
            end, peer, rate = _link(here, line, number)
            links.link(end, peer, rate, number)
            for name, port in (end, peer):
                most[name] = max(port, most.get(name, 0))
    for name, port in most.items():
        links.node(name, switch if port > MOST_PORTS else adapter, None, name)
    return links.facts()


def _link(here: str, line: str, number: int) -> tuple[End, End, float | None]:
    found = _LINK.fullmatch(line.rstrip())
    if found is None or not here:
        raise UnreadableError("not a link of a node, or cut short", line=number, text=line)
    rate = gbps(found[2], found[3]) if found[2] else None
    return (here, int(found[1])), (found[4], int(found[5])), rate

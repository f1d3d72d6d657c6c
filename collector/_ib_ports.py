"""The ports report, `ibnetdiscover -p`: one line for each port of each node, with its peer where it has one.

The GUIDs shown are those of ports; they equal the node GUIDs except on switches and adapters before ConnectX-4.
Source: rdma-core `infiniband-diags/ibnetdiscover.c`, recorded answers.
"""

import re
from collections.abc import Iterator

from collector._answer import lines
from collector._ib_links import Fact, Links
from collector._ib_words import adapter, gbps, guid_text, switch
from truerail.errors import UnreadableError

_KIND = r"(CA|SW|RT|\?\?)"
_ROW = re.compile(rf"[#> \t]*{_KIND}[ \t]+\d+[ \t]+\d+[ \t]+0x[0-9a-fA-F]")
_END = rf"{_KIND}\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]{{16}})"
_PORT = re.compile(rf"\s*{_END}\s+(\S+)\s+(\S+)(?:\s+-\s+{_END}\s+\(\s*'(.*)'\s*\)|\s{{20,}}.*)")
"""A port, width and speed of its link; then its peer and both descriptions, or only its own, far to the right."""
_BETWEEN = "' - '"
"""The separator between two descriptions, which may also occur in one."""


def recognised(answer: str) -> bool:
    """Whether any line begins like a port's."""
    return re.search("^" + _ROW.pattern, answer, re.MULTILINE) is not None


def from_ports(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    links = Links()
    doubtful: list[tuple[re.Match[str], str, str]] = []
    for number, line in enumerate(lines(answer), 1):
        if not _ROW.match(line):
            continue
        found = _PORT.fullmatch(line.rstrip())
        if found is None:
            raise UnreadableError("not a port and its peer, or cut short", line=number, text=line)
        if found[6]:
            end, peer = (guid_text(found[3]), int(found[2])), (guid_text(found[8]), int(found[7]))
            links.link(end, peer, gbps(found[4], found[5]), number)
            own, _, other = found[9].partition(_BETWEEN)
            if _BETWEEN in other:
                doubtful.append((found, own, other))
            else:
                _name(links, found, own, other)
    for found, own, other in doubtful:
        _name(links, found, own, other)
    return links.facts()


def _name(links: Links, found: re.Match[str], own: str, other: str) -> None:
    """Names both nodes of a link, unless an unambiguous line has named them."""
    for kind, digits, description in ((found[1], found[3], own), (found[6], found[8], other)):
        links.node(guid_text(digits), adapter if kind == "CA" else switch, guid_text(digits), description)

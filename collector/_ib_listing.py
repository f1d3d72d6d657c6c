"""The topology that `ibnetdiscover` prints: a heading for each node, then a line for each of its links.

Also ibdiagnet's `ibdiagnet2.ibnetdiscover`, with the label of each port after its number, and ibsim's input files,
whose nodes need no GUID. Switches come first; both ends report each link.
Sources: rdma-core `infiniband-diags/ibnetdiscover.c`, ibsim `net-examples`, recorded answers.
"""

import re
from collections.abc import Iterator

from collector._answer import lines
from collector._ib_links import Fact, Links
from collector._ib_words import adapter, gbps, guid_text, switch
from truerail.errors import UnreadableError

_HEADING = re.compile(r'[#> \t]*(Switch|Ca|Hca|Rt|Router|\?\?\?)[ \t]+\d+[ \t]+"', re.IGNORECASE)
_NODE = re.compile(r'\s*(\S+)\s+\d+\s+"([^"]*)"\s*(?:#\s*"(.*)"[^"]*)?')
_EXTERNAL = r"(?:\[ext \d+\])?"
_PORT = re.compile(r"\s*\[\d+\]")
_LINK = re.compile(
    rf"\s*\[(\d+)\]{_EXTERNAL}(?:\(([^()]*)\))?(?:\([^()]*\))?\s*"
    rf'"([^"]*)"\s*\[(\d+)\]{_EXTERNAL}\s*(?:\([^()]*\))?\s*(?:#\s*(.*))?'
)
"""A port, its label or its GUID or both, its peer, the peer's port and GUID, and the text after `#`."""
_SAID = re.compile(r'(?:lid \d+ lmc \d+ )?"(.*)"(?: lid \d+)?(?:\s+(\d+x|\?\?)(\S+))?[^"]*')
"""The peer's description, and the link's width and speed."""
_WITH_GUID = re.compile(r"([SHR?])-([0-9a-fA-F]{1,16})")
_ADAPTERS = frozenset(("ca", "hca"))
_HEADS = frozenset("SCHR?")


def recognised(answer: str) -> bool:
    """Whether any line begins with a node's heading."""
    return re.search("^" + _HEADING.pattern, answer, re.IGNORECASE | re.MULTILINE) is not None


def from_listing(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line, also where the end is missing."""
    links = Links()
    text = lines(answer)
    here = ""
    for number, line in enumerate(text, 1):
        first = line.lstrip()[:1]
        if first == "[" and _PORT.match(line):
            _take_link(links, here, line, number, whole=number < len(text))
        elif first.upper() in _HEADS and _HEADING.match(line):
            here = _take_node(links, line, number)
    links.refuse_cut()
    return links.facts()


def _take_node(links: Links, line: str, number: int) -> str:
    """A heading. Returns the node's name in the answer, `S-0008f10400410015`, which is its key."""
    found = _NODE.fullmatch(line.rstrip())
    if found is None:
        raise UnreadableError("not a node, or cut short", line=number, text=line)
    kind, key, description = found.groups()
    make = adapter if kind.lower() in _ADAPTERS else switch
    links.own(key, number)
    with_guid = _WITH_GUID.fullmatch(key)
    if with_guid:
        links.node(key, make, guid_text(with_guid[2]), description or "")
    else:
        links.node(key, make, None, description or key)
    return key


def _take_link(links: Links, here: str, line: str, number: int, *, whole: bool) -> None:
    """A link of the node `here`. A last line without a line feed (not `whole`) may have lost part of its speed."""
    found = _LINK.fullmatch(line.rstrip())
    said = _SAID.fullmatch(found[5]) if found and found[5] is not None else None
    if not here or found is None or (found[5] is not None and said is None):
        raise UnreadableError("not a link of a node, or cut short", line=number, text=line)
    end, peer = (here, int(found[1])), (found[3], int(found[4]))
    with_guid = _WITH_GUID.fullmatch(peer[0])
    if with_guid and said:
        make = adapter if with_guid[1] == "H" else switch
        links.node(peer[0], make, guid_text(with_guid[2]), said[1])
    if found[2] and found[2] != found[1] and here[0] == "S":
        links.label(end, found[2])
    links.link(end, peer, gbps(said[2], said[3]) if said and said[2] and whole else None, number)

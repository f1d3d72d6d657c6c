"""`iblinkinfo`: below each node a line for each port, with its peer; with `-l` each line names the node.

Without `-l` a peer is named by its LID, which the node's own section also shows. With `--switches-only` hosts have no
section of their own. The GUIDs shown are those of ports. After the peer it shows what both ends support if the link
runs below that: `(Could be 4X Could be 106.25 Gbps)`. Source: rdma-core `infiniband-diags/iblinkinfo.c`, recorded
answers.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from collector._answer import lines
from collector._ib_links import Fact, Links
from collector._ib_words import EXTENDED, MOST_PORTS, WIDTHS, adapter, gbps, guid_text, switch
from truerail.errors import UnreadableError

_TAIL, _TIP = "==(", ")==>"
_NODE = re.compile(r"[#> \t]*(Switch|CA|Router|\?\?):?[ \t]+(?:0x([0-9a-fA-F]{1,16})[ \t]+)?(.*?):?")
_PORT = re.compile(
    r'\s*(?:0x([0-9a-fA-F]{1,16})\s+)?(?:"(.*?)"\s+)?(\d+)\s+(\d+)\[[ \d]*\]\s+'
    r"==\(((?:[^()]|\([^()]*\))*)\)==>\s*(.*)"
)
"""GUID and description where reported, LID, port, state of the link, the peer."""
_PEER = re.compile(r'(?:0x([0-9a-fA-F]{1,16})\s+)?(\d+)\s+(\d+)\[[ \d]*\]\s+"(.*)"\s+\(((?:[^()]|\([^()]*\))*)\)')
_NO_PEER = re.compile(r'(?:\[\s*\]\s*""\s*\([^()]*\)|"Port not available")')
_SPEED = re.compile(r"\s*(?:(\d+X)|undefined \((\d+)\))\s+(?:([\d.]+) Gbps\b|undefined \((\d{1,3})\)).*", re.IGNORECASE)
"""Width and speed, or the codes of those that an old release has no name for: `undefined (8)` (libibmad, `dump.c`)."""
_COULD_BE = re.compile(r"Could be (?:(\d+X)|([\d.]+) Gbps|([A-Z]+\d*))\b", re.IGNORECASE)


class _Seen(NamedTuple):
    """A node as a line shows it."""

    guid: str | None
    description: str


class _Reader:
    """What the lines have reported up to here. A node's key is its GUID with `-l`, else its LID."""

    def __init__(self) -> None:
        self.links = Links()
        self.seen: dict[str, _Seen] = {}
        self.kinds: dict[str, str] = {}
        """The node's type in its heading: `Switch`, `CA`, `Router`."""
        self.most: dict[str, int] = {}
        """The node's highest port number in any line."""
        self.heading: tuple[str, str | None, str] | None = None

    def port(self, line: str, number: int) -> None:
        """One port. Raises `UnreadableError`."""
        found = _PORT.fullmatch(line.rstrip())
        peer = _PEER.fullmatch(found[6]) if found else None
        if found is None or (peer is None and not _NO_PEER.fullmatch(found[6])):
            raise UnreadableError("not a port and its peer, or cut short", line=number, text=line)
        end = self.own(found, number)
        if peer:
            other = self.end(peer[1], peer[1], peer[2], int(peer[3]), peer[4], number)
            width, lane = _width_and_lane(found[5])
            self.links.link(end, other, gbps(width, lane), number, _able(peer[5], width, lane))

    def own(self, found: re.Match[str], number: int) -> tuple[str, int]:
        """The end of the link that a line describes."""
        guid, description, lid, port = found[1], found[2], found[3], int(found[4])
        kind = ""
        if description is None:
            if self.heading is None:
                raise UnreadableError("a port of no node: its beginning is missing", line=number)
            kind, of_switch, description = self.heading
            end = self.end(None, guid or of_switch, lid, port, description, number)
        else:
            end = self.end(guid, guid, lid, port, description, number)
        self.kinds.setdefault(end[0], kind)
        self.links.own(end[0], number)
        return end

    def end(
        self, key: str | None, guid: str | None, lid: str, port: int, description: str, number: int
    ) -> tuple[str, int]:
        """One end of a link; records its node."""
        if key is None and not int(lid):
            raise UnreadableError("no LID, so nothing tells which node it is: ask with -l", line=number)
        name = guid_text(key) if key else f"LID {lid}"
        reported = guid and guid_text(guid)
        known = self.seen.get(name, _Seen(None, ""))
        if reported and known.guid not in (None, reported):
            raise UnreadableError("two nodes have one LID: answers about two fabrics", line=number, text=name)
        if reported or name not in self.seen:
            self.seen[name] = _Seen(reported, description)
        self.most[name] = max(port, self.most.get(name, 0))
        return name, port

    def facts(self) -> Iterator[Fact]:
        """If any adapter has a section of its own, every node has one: then the end of an answer cannot be missing."""
        adapters = {name for name in self.seen if self.is_adapter(name)}
        for name, (guid, description) in self.seen.items():
            self.links.node(name, adapter if name in adapters else switch, guid, description)
        if adapters & self.kinds.keys():
            self.links.refuse_cut()
        return self.links.facts()

    def is_adapter(self, name: str) -> bool:
        """Judged by its heading, else by the number of its ports."""
        kind = self.kinds.get(name)
        return kind == "CA" if kind else self.most[name] <= MOST_PORTS


def _width_and_lane(state: str) -> tuple[str, str]:
    """`4X` and `106.25`; empty where the state of a link has no speed, or a code that is not known."""
    speed = _SPEED.fullmatch(state)
    if speed is None:
        return "", ""
    return speed[1] or WIDTHS.get(speed[2], ""), speed[3] or EXTENDED.get(int(speed[4]), "")


def _able(said: str, width: str, lane: str) -> float | None:
    """The rate in Gb/s that both ends support, where a line reports that the link runs at another; None otherwise."""
    found = [match.groups() for match in _COULD_BE.finditer(said)]
    for wider, faster, name in found:
        width, lane = wider or width, faster or name or lane
    return gbps(width, lane) if found else None


def recognised(answer: str) -> bool:
    """Whether the answer contains the arrow between a port and its peer."""
    return _TAIL in answer and _TIP in answer


def from_linkinfo(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line, also where the end is missing."""
    reader = _Reader()
    for number, line in enumerate(lines(answer), 1):
        if found := _NODE.fullmatch(line.rstrip()):
            reader.heading = (found[1], found[2], found[3])
        elif _TAIL in line:
            reader.port(line, number)
    return reader.facts()

"""From what one device tells of an InfiniBand fabric to facts about all its devices."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from collector._ib_words import Node
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import LinkSpeed, Neighbor

Fact = Neighbor | LinkSpeed
End = tuple[str, int]
"""One end of a link: the key of its node, and the number of its port."""
_VIA = "InfiniBand"


class Reported(NamedTuple):
    """What a node's own part of an answer says of one of its ports."""

    peer: End
    gbps: float | None
    line: int
    able_gbps: float | None = None


class Links:
    """The nodes and links in an answer, gathered in its order, given out as facts about both ends of each link."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._own: dict[str, int] = {}
        """The nodes that have a part of their own in the answer, and the line where it begins; the last comes last."""
        self._reported: dict[End, Reported] = {}
        self._labels: dict[End, str] = {}

    def node(self, key: str, make: Callable[[str | None, str], Node], guid: str | None, description: str) -> None:
        """Names a node. The first name stands: a map of names reaches a CA's neighbours, not its own heading."""
        if key not in self._nodes:
            self._nodes[key] = make(guid, description)

    def own(self, key: str, line: int) -> None:
        """A node's own part of the answer begins."""
        self._own.pop(key, None)
        self._own[key] = line

    def link(self, end: End, peer: End, gbps: float | None, line: int, able_gbps: float | None = None) -> None:
        """A node's own part tells of a link; `able_gbps` is what both of its ends support."""
        self._reported[end] = Reported(peer, gbps, line, able_gbps)

    def label(self, end: End, label: str) -> None:
        """What is printed beside a switch's port: `1/16/2` for cage 16."""
        self._labels[end] = label

    def refuse_cut(self) -> None:
        """Raises `UnreadableError` where the end of an answer is missing in which each node has a part of its own.

        Then some node's part is, or the last part tells fewer links than its neighbours do.
        """
        last = next(reversed(self._own), None)
        for end, reported in self._reported.items():
            key, port = reported.peer
            if key not in self._own or (key == last and reported.peer not in self._reported):
                why = f"cut short: what {key} says of its port {port} is missing"
                raise UnreadableError(why, line=reported.line, text=f"{end[0]} port {end[1]}")

    def facts(self) -> Iterator[Fact]:
        """A `Neighbor` for each end, a `LinkSpeed` where it is reported. Raises `NoAnswerError` where there is no link.

        Of an end that does not speak for itself the other end tells the neighbour, and the speed, which is that of the
        link.
        """
        if not self._reported:
            raise NoAnswerError("no link in it")
        for end, reported in self._reported.items():
            yield from self._end(end, reported.peer, reported)
            if reported.peer not in self._reported:
                yield from self._end(reported.peer, end, reported)

    def _end(self, end: End, peer: End, reported: Reported) -> Iterator[Fact]:
        node, other = self._nodes[end[0]], self._nodes[peer[0]]
        port = node.port(end[1])
        kind = "guid" if other.guid else None
        label = self._labels.get(peer)
        yield Neighbor(
            port,
            other.guid,
            kind,
            other.of,
            other.port(peer[1]),
            "ifname",
            label,
            via=_VIA,
            of=node.of,
            of_guid=node.guid,
        )
        if reported.gbps is not None:
            more = reported.able_gbps if reported.able_gbps and reported.able_gbps > reported.gbps else None
            yield LinkSpeed(port, reported.gbps, node.of, node.guid, more)

"""From one device's report on an InfiniBand fabric to facts about all its devices."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from collector._ib_words import Node
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import LinkSpeed, Neighbor

Fact = Neighbor | LinkSpeed
End = tuple[str, int]
"""One end of a link: node key and port number."""
_VIA = "InfiniBand"


class Reported(NamedTuple):
    """One port as reported in its node's own section of an answer."""

    peer: End
    gbps: float | None
    line: int
    able_gbps: float | None = None


class Links:
    """The nodes and links of an answer in its order, returned as facts about both ends of each link."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._own: dict[str, int] = {}
        """The nodes with a section of their own and the line where it begins, in the order of the answer."""
        self._reported: dict[End, Reported] = {}
        self._labels: dict[End, str] = {}

    def node(self, key: str, make: Callable[[str | None, str], Node], guid: str | None, description: str) -> None:
        """Names a node. The first name counts: a node name map applies to a CA's neighbours, not to its own heading."""
        if key not in self._nodes:
            self._nodes[key] = make(guid, description)

    def own(self, key: str, line: int) -> None:
        """A node's own section of the answer begins."""
        self._own.pop(key, None)
        self._own[key] = line

    def link(self, end: End, peer: End, gbps: float | None, line: int, able_gbps: float | None = None) -> None:
        """A link from a node's own section; `able_gbps` is what both of its ends support."""
        self._reported[end] = Reported(peer, gbps, line, able_gbps)

    def label(self, end: End, label: str) -> None:
        """The label printed on a switch's port: `1/16/2` for cage 16."""
        self._labels[end] = label

    def refuse_cut(self) -> None:
        """Raises `UnreadableError` where the end of an answer is missing in which each node has a section of its own.

        Then a node's section is missing, or the last section shows fewer links than its neighbours do.
        """
        last = next(reversed(self._own), None)
        for end, reported in self._reported.items():
            key, port = reported.peer
            if key not in self._own or (key == last and reported.peer not in self._reported):
                why = f"cut short: what {key} says of its port {port} is missing"
                raise UnreadableError(why, line=reported.line, text=f"{end[0]} port {end[1]}")

    def facts(self) -> Iterator[Fact]:
        """A `Neighbor` for each end, a `LinkSpeed` where it is reported. Raises `NoAnswerError` where there is no link.

        For an end without a section of its own, the other end supplies the neighbour and the speed of the link.
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

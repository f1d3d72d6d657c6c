"""The words of InfiniBand's tools, and from a report on a fabric to facts about its devices."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import LinkSpeed, Neighbor

# ----------------------------------------------------------------------------------------------------------------------
# The words of InfiniBand's tools: GUIDs, link speeds, and node descriptions, which are free text.
#
# Sources: rdma-core `infiniband-diags/ibnetdiscover.c`, `libibmad/dump.c`, `rdma-ndd`; the kernel's `rate_show` in
# `drivers/infiniband/core/sysfs.c`.

_LANE_GBPS = {
    "SDR": 2.5, "DDR": 5.0, "QDR": 10.0, "FDR10": 10.0, "FDR": 14.0, "EDR": 25.0, "HDR": 50.0, "NDR": 100.0,
    "XDR": 200.0,
    "2.5": 2.5, "5": 5.0, "5.0": 5.0, "10": 10.0, "10.0": 10.0, "14": 14.0, "14.0625": 14.0, "25": 25.0,
    "25.78125": 25.0, "50": 50.0, "53.125": 50.0, "100": 100.0, "106.25": 100.0, "200": 200.0, "212.5": 200.0,
}  # fmt: skip
"""Gb/s of one lane as sysfs counts it, by speed name, by ibdiagnet's number, and by the signalling rate."""
WIDTHS = {"1": "1x", "2": "4x", "4": "8x", "8": "12x", "16": "2x"}
EXTENDED = {1: "FDR", 2: "EDR", 4: "HDR", 8: "NDR", 16: "XDR"}
"""Codes of LinkWidthActive and LinkSpeedExtActive in PortInfo, which tools print where they do not know the name."""
MOST_PORTS = 2
"""Most ports of an adapter; every switch has more."""
_WIDTH = re.compile(r"(\d{1,2})[xX]")
_DEVICE = re.compile(
    r"(?:mlx\d|mthca|HCA-|hfi\d|qib|ib[ps]\d|ibo\d|ibx[0-9a-f]{6}|roce[psox]|bnxt_re|irdma|cxgb\d|ocrdma)[\w.-]*"
)
"""Names of a CA: by drivers, by MLNX_OFED (`HCA-1`), and by rdma-core's naming rules (`ibp1s0`)."""
_NAMED = re.compile(r"(?=\D*\d)[A-Za-z][\w.-]*")
"""A name that an administrator may give a CA: `rail3`."""
_MADE_UP = re.compile(
    r"(?<!\S)(?:Mellanox|Technologies|Voltaire|NVIDIA|QLogic|InfiniHost|ConnectX\S*)(?!\S)", re.IGNORECASE
)
"""Words of the firmware's default description."""


class Node(NamedTuple):
    """A switch, a host's channel adapter (CA), or a router, named as in facts."""

    of: str
    guid: str | None
    device: str | None
    """The RDMA device of a CA; None where ports are known by their numbers."""

    def port(self, number: int) -> str:
        """`33` of a switch; `mlx5_0` of a CA, `mlx5_0/2` where it has a second port."""
        if self.device is None:
            return str(number)
        return self.device if number == 1 else f"{self.device}/{number}"


def guid_text(digits: str) -> str:
    """A GUID as in facts, `0x` and 16 digits in lower case, from hexadecimal digits with or without `0x`."""
    return "0x" + digits.lower().removeprefix("0x").zfill(16)


def switch(guid: str | None, description: str) -> Node:
    """A switch or router: its whole description is its name, which need not be unique; else its GUID is."""
    return Node(description.strip() or guid or "", guid, None)


def adapter(guid: str | None, description: str) -> Node:
    """A host's CA.

    The GUID replaces a host or a device that the description does not name: a host may announce its bare name on each
    of its CAs, which remain distinct.
    """
    host, device = host_and_device(description)
    if host is None and guid is None:
        return Node(description.strip(), None, device)
    return Node(host or guid or "", guid, device or (guid if host else None))


def host_and_device(description: str) -> tuple[str | None, str | None]:
    """The host and the RDMA device that a CA's node description names, each None where it names none.

    - `gpu-001 mlx5_0`, `gpu-001 HCA-1`: as rdma-ndd and MLNX_OFED set it
    - `gpu-001 rail3`: a host without blanks, and a name with a number
    - `gpu-001`: a host alone; `mlx5_0`: a device alone
    - anything else names neither: `MT4129 ConnectX7   Mellanox Technologies`, `Mellanox Technologies Aggregation Node`
    """
    rest, _, last = description.strip().rpartition(" ")
    rest, known = rest.rstrip(), _DEVICE.fullmatch(last)
    if not rest:
        return (None, last) if known else (last or None, None)
    if known or (" " not in rest and _NAMED.fullmatch(last) and not _MADE_UP.search(description)):
        return rest, last
    return None, None


@lru_cache(maxsize=256)
def gbps(width: str, lane: str) -> float | None:
    """The rate of a link in Gb/s as sysfs prints it, `4x` and `NDR` are 400; None where either is not reported."""
    lanes = _WIDTH.fullmatch(width)
    rate = _LANE_GBPS.get(lane.replace("_", "").upper())
    return int(lanes[1]) * rate if lanes and rate else None


# ----------------------------------------------------------------------------------------------------------------------
# From one device's report on an InfiniBand fabric to facts about all its devices.

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
        port, far = node.port(end[1]), other.port(peer[1])
        kind = "guid" if other.guid else None
        label = self._labels.get(peer)
        yield Neighbor(port, other.guid, kind, other.of, far, "ifname", label, via=_VIA, of=node.of, of_guid=node.guid)
        if reported.gbps is not None:
            more = reported.able_gbps if reported.able_gbps and reported.able_gbps > reported.gbps else None
            yield LinkSpeed(port, reported.gbps, node.of, node.guid, more)

"""The links of an InfiniBand fabric, as one device discovers them.

Question: which port of which switch or host is linked to which, and how fast? InfiniBand has no LLDP.
Needs: rdma-core's `ibnetdiscover` or `iblinkinfo`, or NVIDIA's `ibdiagnet`; root or access to `/dev/infiniband/umad*`,
since they send management packets. An answer costs a walk over the whole fabric, and one device's is enough: only a
machine to which the inventory gives the platform `infiniband` is polled. Captures of any device are read.

Formats, recognised by their shape: `ibnetdiscover`, with `-g` and `-f`, and its ports report (`-p`); `iblinkinfo`, with
`-l` and `--switches-only`; ibdiagnet's files `.ibnetdiscover`, `.db_csv`, `.lst`, `.net_dump`, `.net_dump_ext`, and the
file of `-w`; ibsim's. Sources: rdma-core `infiniband-diags`, recorded answers of 2007 to 2025.

Facts: a `Neighbor` for each end of each link, `of` the device that has the port, and its `LinkSpeed`, as sysfs counts
it (4x NDR is 400): lane rates of the kernel's `drivers/infiniband/core/sysfs.c`. Ports without link have none.

Traps:

- Descriptions are free text that each node announces: `gpu-001 mlx5_0` is split into host and device, a switch's is
  its name. The GUID replaces a description without a name, such as firmware's
  `MT4129 ConnectX7   Mellanox Technologies`. Unmanaged switches all announce the same: only their GUIDs differ.
- `ibnetdiscover -p` and `iblinkinfo` report the GUIDs of ports; on adapters before ConnectX-4 the node's is different.
- A node name map (`--node-name-map`) changes switches' headings and all neighbours, but not the headings of adapters.
- A switch's own aggregation node (SHARP) is on the port after the last one, without a cable.
- Where each node reports its own end of a link, an answer without its end is refused. For the ports report and files
  of `-w` nothing shows that the end is missing.
- Without a subnet manager all LIDs are 0: `iblinkinfo` then needs `-l`. sosreport runs it once for each RDMA device,
  `iblinkinfo_-C_mlx5_0_-P_1`: if these lead into several fabrics with the same LIDs, the answers are refused.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from collector.formats import ibdiagnet
from collector.formats.ib_words import EXTENDED, MOST_PORTS, WIDTHS, End, Fact, Links, adapter, gbps, guid_text, switch
from collector.formats.text import lines
from truerail.errors import NoAnswerError, UnreadableError
from truerail.model import EVERYWHERE, Device, LinkSpeed, Neighbor, collector, commands, minutes, saved_as

_REFUSED = re.compile(r"iberror: |can't open (?:UMAD|MAD) port|ibpanic: ")


ASK = (
    *commands("infiniband", "ibnetdiscover", "iblinkinfo -l"),
    *saved_as("ibnetdiscover -g", "ibnetdiscover -f", "ibnetdiscover -p", "ibdiagnet2.ibnetdiscover"),
    *saved_as("ibdiagnet2.db_csv", "ibdiagnet2.lst", "ibdiagnet2.net_dump_ext", "ibdiagnet2.net_dump"),
    *saved_as("ibdiagnet2.topo", "iblinkinfo", "iblinkinfo --switches-only -l", "iblinkinfo --switches-only"),
    *saved_as("ibnetdiscover -C {port}", "iblinkinfo -C {port}"),
)


@collector(on=EVERYWHERE, ask=ASK, every=minutes(5), yields=[Neighbor, LinkSpeed], megabytes=16, optional=True)
def ib_fabric(answer: str, device: Device) -> Iterable[Fact]:
    """A `Neighbor` and a `LinkSpeed` for each end of each link. Raises `UnreadableError`."""
    for recognised, read in _FORMS:
        if recognised(answer):
            return read(answer)
    if _REFUSED.search(answer):
        raise NoAnswerError("the device refused", line=1, text=lines(answer)[0])
    raise UnreadableError("not the links of an InfiniBand fabric", line=1, text=lines(answer)[0])


# ----------------------------------------------------------------------------------------------------------------------
# The topology that `ibnetdiscover` prints: a heading for each node, then a line for each of its links.
#
# Also ibdiagnet's `ibdiagnet2.ibnetdiscover`, with the label of each port after its number, and ibsim's input files,
# whose nodes need no GUID. Switches come first; both ends report each link.
# Sources: rdma-core `infiniband-diags/ibnetdiscover.c`, ibsim `net-examples`, recorded answers.

_HEADING = re.compile(r'[#> \t]*(Switch|Ca|Hca|Rt|Router|\?\?\?)[ \t]+\d+[ \t]+"', re.IGNORECASE)
_LISTING_NODE = re.compile(r'\s*(\S+)\s+\d+\s+"([^"]*)"\s*(?:#\s*"(.*)"[^"]*)?')
_EXTERNAL = r"(?:\[ext \d+\])?"
_LISTING_PORT = re.compile(r"\s*\[\d+\]")
_LISTING_LINK = re.compile(
    rf"\s*\[(\d+)\]{_EXTERNAL}(?:\(([^()]*)\))?(?:\([^()]*\))?\s*"
    rf'"([^"]*)"\s*\[(\d+)\]{_EXTERNAL}\s*(?:\([^()]*\))?\s*(?:#\s*(.*))?'
)
"""A port, its label or its GUID or both, its peer, the peer's port and GUID, and the text after `#`."""
_SAID = re.compile(r'(?:lid \d+ lmc \d+ )?"(.*)"(?: lid \d+)?(?:\s+(\d+x|\?\?)(\S+))?[^"]*')
"""The peer's description, and the link's width and speed."""
_WITH_GUID = re.compile(r"([SHR?])-([0-9a-fA-F]{1,16})")
_ADAPTERS = frozenset(("ca", "hca"))
_HEADS = frozenset("SCHR?")


_listing_recognised = re.compile("^" + _HEADING.pattern, re.IGNORECASE | re.MULTILINE).search
"""Whether any line begins with a node's heading."""


def _from_listing(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line, also where the end is missing."""
    links = Links()
    text = lines(answer)
    here = ""
    for number, line in enumerate(text, 1):
        first = line.lstrip()[:1]
        if first == "[" and _LISTING_PORT.match(line):
            _take_link(links, here, line, number, whole=number < len(text))
        elif first.upper() in _HEADS and _HEADING.match(line):
            here = _take_node(links, line, number)
    links.refuse_cut()
    return links.facts()


def _take_node(links: Links, line: str, number: int) -> str:
    """A heading. Returns the node's name in the answer, `S-0008f10400410015`, which is its key."""
    found = _LISTING_NODE.fullmatch(line.rstrip())
    if found is None:
        raise UnreadableError("not a node, or cut short", line=number, text=line)
    kind, key, description = found.groups()
    make = adapter if kind.lower() in _ADAPTERS else switch
    links.own(key, number)
    if with_guid := _WITH_GUID.fullmatch(key):
        links.node(key, make, guid_text(with_guid[2]), description or "")
    else:
        links.node(key, make, None, description or key)
    return key


def _take_link(links: Links, here: str, line: str, number: int, *, whole: bool) -> None:
    """A link of the node `here`. A last line without a line feed (not `whole`) may have lost part of its speed."""
    found = _LISTING_LINK.fullmatch(line.rstrip())
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


# ----------------------------------------------------------------------------------------------------------------------
# Topology files of ibutils, which `ibdiagnet -w` writes: `P1 -> SX6036 leaf-2 P4` below a node.
#
# They contain no GUIDs and no node types: a node with more ports than an adapter is a switch. A link may be listed at
# one of its ends alone. Source: recorded files.

_TOPO_LINK = re.compile(r"[ \t]+P(\d+)[ \t]+-(?:(\d+x)-([\d.]+)G-)?>[ \t]+\S+[ \t]+(\S+)[ \t]+P(\d+)", re.IGNORECASE)
_ARROW = re.compile(r"^[ \t]+\S+[ \t]+-(?:\w+-[\d.]+G-)?>", re.MULTILINE)
_TOPO_NODE = re.compile(r"\S+[ \t]+(\S+)")


_topo_recognised = _ARROW.search
"""Whether any line begins like a port's."""


def _from_topo(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    links = Links()
    here = ""
    most: dict[str, int] = {}
    for number, line in enumerate(lines(answer), 1):
        if found := _TOPO_NODE.fullmatch(line.rstrip()):
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
    found = _TOPO_LINK.fullmatch(line.rstrip())
    if found is None or not here:
        raise UnreadableError("not a link of a node, or cut short", line=number, text=line)
    rate = gbps(found[2], found[3]) if found[2] else None
    return (here, int(found[1])), (found[4], int(found[5])), rate


# ----------------------------------------------------------------------------------------------------------------------
# The ports report, `ibnetdiscover -p`: one line for each port of each node, with its peer where it has one.
#
# The GUIDs shown are those of ports; they equal the node GUIDs except on switches and adapters before ConnectX-4.
# Source: rdma-core `infiniband-diags/ibnetdiscover.c`, recorded answers.

_KIND = r"(CA|SW|RT|\?\?)"
_ROW = re.compile(rf"[#> \t]*{_KIND}[ \t]+\d+[ \t]+\d+[ \t]+0x[0-9a-fA-F]")
_END = rf"{_KIND}\s+\d+\s+(\d+)\s+0x([0-9a-fA-F]{{16}})"
_PORTS_PORT = re.compile(rf"\s*{_END}\s+(\S+)\s+(\S+)(?:\s+-\s+{_END}\s+\(\s*'(.*)'\s*\)|\s{{20,}}.*)")
"""A port, width and speed of its link; then its peer and both descriptions, or only its own, far to the right."""
_BETWEEN = "' - '"
"""The separator between two descriptions, which may also occur in one."""


_ports_recognised = re.compile("^" + _ROW.pattern, re.MULTILINE).search
"""Whether any line begins like a port's."""


def _from_ports(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line."""
    links = Links()
    doubtful: list[tuple[re.Match[str], str, str]] = []
    for number, line in enumerate(lines(answer), 1):
        if not _ROW.match(line):
            continue
        found = _PORTS_PORT.fullmatch(line.rstrip())
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


# ----------------------------------------------------------------------------------------------------------------------
# `iblinkinfo`: below each node a line for each port, with its peer; with `-l` each line names the node.
#
# Without `-l` a peer is named by its LID, which the node's own section also shows. With `--switches-only` hosts have no
# section of their own. The GUIDs shown are those of ports. After the peer it shows what both ends support if the link
# runs below that: `(Could be 4X Could be 106.25 Gbps)`. Source: rdma-core `infiniband-diags/iblinkinfo.c`, recorded
# answers.

_TAIL, _TIP = "==(", ")==>"
_LINKINFO_NODE = re.compile(r"[#> \t]*(Switch|CA|Router|\?\?):?[ \t]+(?:0x([0-9a-fA-F]{1,16})[ \t]+)?(.*?):?")
_LINKINFO_PORT = re.compile(
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
        found = _LINKINFO_PORT.fullmatch(line.rstrip())
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


def _linkinfo_recognised(answer: str) -> bool:
    """Whether the answer contains the arrow between a port and its peer."""
    return _TAIL in answer and _TIP in answer


def _from_linkinfo(answer: str) -> Iterator[Fact]:
    """Both ends of each link in the answer. Raises `UnreadableError` with the line, also where the end is missing."""
    reader = _Reader()
    for number, line in enumerate(lines(answer), 1):
        if found := _LINKINFO_NODE.fullmatch(line.rstrip()):
            reader.heading = (found[1], found[2], found[3])
        elif _TAIL in line:
            reader.port(line, number)
    return reader.facts()


_FORMS: tuple[tuple[Callable[[str], object], Callable[[str], Iterable[Fact]]], ...] = (
    (_listing_recognised, _from_listing),
    (_ports_recognised, _from_ports),
    (ibdiagnet.csv_recognised, ibdiagnet.from_db_csv),
    (ibdiagnet.ibdiagnet_recognised, ibdiagnet.from_lst),
    (ibdiagnet.dump_recognised, ibdiagnet.from_net_dump),
    (_topo_recognised, _from_topo),
    (_linkinfo_recognised, _from_linkinfo),
)
"""Test and parser of each form of the answer: all but the last match the beginning of a line, which no description
reaches.
"""

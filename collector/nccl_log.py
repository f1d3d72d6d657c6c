"""The log of a job that uses NCCL or RCCL, with `NCCL_DEBUG=INFO`.

Question: which ranks are where, which network device does each connection between them use, and over which transport?
Needs: a log with the subsystems INIT, NET, GRAPH and ENV (`NCCL_DEBUG_SUBSYS=INIT,NET,GRAPH,ENV`), given by hand: no
device is asked for it. `truerail nccl LOG` reads it; in a capture it is a file of the host
that wrote it.

Format: `HOST:PID:TID [cudaDev] NCCL INFO` before each message, and launchers' prefixes before that. Sources: NCCL 2.2
to 2.30, `src/init.cc`, `src/transport/net.cc`, `src/transport/net_ib`, `src/graph/connect.cc`; RCCL prints the same.

- `Channel 05/0 : 6[6] -> 13[5] [send] via NET/IB/6(4)/GDRDMA/Shared`: a hop. `Ring 00 : 0 -> 1` up to 2.4, with bus ids
  in brackets up to 2.17 (`3[3b000]`), then with the GPU's number for NVML; `(4)` is the rank that sends for it (PXN).
- `NET/IB : Using [0]mlx5_0:1/RoCE [1]={[0] mlx5_2:1/RoCE, [1] mlx5_3:1/RoCE} [RO]; OOB eth0:...`: network devices by
  index; fused ones in braces from 2.20 to 2.23, later `Made virtual device [2] name=mlx5_0+mlx5_1 ... ndevs=2`.
- `comm 0x... rank 12 nranks 16 cudaDev 4 nvmlDev 4 busId 9a000 commId 0x... - Init COMPLETE`: a rank; with the number
  for NVML and the communicator's id since 2.16, and also at `Init START` since 2.18.

Traps:

- The index of a network device counts those that this process found, in its own order: it is not a rail.
- Terminals break lines, with or without a blank, and glue them. Progress bars and processes that write at once tear
  them: a line that looks like a hop and is not understood is left out and counted. It is an error if there are two
  or more of them, and more than a quarter of the hops.
- `mlx5_0_dma` is `mlx5_0` over its second PCIe function, Data Direct of ConnectX-8 (`src/transport/net_ib`, 2.27).
- The name of a plugin may have blanks: `via NET/NCCL RDMA Plugin v6/0(2)/GDRDMA/Shared`.
- Ray prints alike lines of its workers once, with `[repeated 14x across cluster]`, which is no part of the message.
  The setting RAY_DEDUP_LOGS=1 in the facts shows that such a log is not whole.
- A message has at most 1,024 characters: the last rank of a long ring may be cut, and is left out.
- `CollNet 00/0 : 3 [receive] via COLLNET/SHARP/0` names no second rank and is no hop.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from collector.formats.nccl_lines import MARK, HopFields, Process, Reader, invented, read, troubles
from truerail.errors import UnreadableError
from truerail.model import BY_HAND, Command, Device, Fact, Role, collector, minutes
from truerail.model.nccl_facts import (
    NCCL_FACTS,
    NcclBandwidth,
    NcclHop,
    NcclNetwork,
    NcclNic,
    NcclOverride,
    NcclRank,
    NcclRing,
    NcclSetting,
    NcclTorn,
    NcclTree,
    NcclVersion,
    RasComm,
    RasRank,
)
from truerail.model.pause import garbage_collection_paused

_MOST_LIST = 8192
_MOST_RING = 1000
"""Characters of a message from which on its end may be cut."""
_MOST_LINES = 8
_LONGEST_ARROW = 80
"""Characters of a connection over which its arrow is: no ring."""
_VERSIONS = re.compile("CCL version ")
_VERSION = re.compile(r"([NR]CCL) version (?:: )?(\d[\w.+-]{0,60}(?::[0-9a-f]{4,40})?)")
"""`RCCL version : 2.27.7-HEAD:0d2c4fd` since 2.22."""
_RANK = re.compile(
    r"comm (0x[0-9a-f]{1,16}|\(nil\)) rank (\d{1,9}) nranks (\d{1,9}) cudaDev (\d{1,4})(?= )"
    r"(?: nvmlDev (\d{1,4})(?= ))?(?: busId ([0-9a-f]{1,16})(?= ))?"
    r"(?:[^\n]{0,200}? commId (0x[0-9a-f]{1,16})(?= ))?[^\n]{0,200}?(START|COMPLETE)?$",
    re.MULTILINE,
)
_SETTING = re.compile(r"((?:NCCL|RCCL)_[A-Z0-9_]{1,60}) set (?:by environment )?to ([^\n]{0,1024})")
_DEVICES = re.compile(r"NET/([^:\n]{1,100}?) ?: Using ")
_DEVICE = re.compile(r"\[(\d{1,4})\](?:=?\{([^{}]{0,1000})\}|([^\s:;\[\]{},]{1,100}):(\d{1,4})/([A-Za-z]{1,16}))")
_MEMBER = re.compile(r"([^\s:;\[\]{},]{1,100}):(\d{1,4})/([A-Za-z]{1,16})")
_SOCKET = re.compile(r"\[(\d{1,4})\]([^\s:;\[\]{},]{1,100}):[^\s<]{1,100}<\d{1,5}>")
_GOES_ON = re.compile(r"[ \t]*\[\d{1,4}\][^\s:]{1,100}:")
_VIRTUAL = re.compile(
    r"NET/([^:\n]{1,100}?) ?: Made virtual device \[(\d{1,4})\] name=(\S{1,255})[^\n]{0,200}?ndevs=(\d{1,4})"
)
_CALLED = re.compile(
    r"NET/([^:\n]{1,100}?) ?: GPU Direct RDMA (?:Enabled|Disabled) for HCA (\d{1,4}) '([^\s':]{1,255})'"
)
"""A device by its index, as every transport prints it (`src/graph/topo.cc`); plugins such as aws-ofi-nccl list theirs
nowhere else.
"""
_OVERRIDE = re.compile(r"NET/[^:\n]{1,100}: Subnet-aware routing: overriding dev (\d{1,4}) with dev (\d{1,4})")
_RING = re.compile(r"Channel (\d{1,5})(?:/\d{1,5})? :((?: ++\d{1,9}+(?!\S))++)")
_TREES = re.compile(r"\[(\d{1,5})\] (-?\d{1,9}(?:/-?\d{1,9}){0,2})->(\d{1,9})->(-?\d{1,9})(?=[\s|]|$)")
_TREE = re.compile(r"Tree (\d{1,5}) : (-?\d{1,9}) -> (\d{1,9}) -> (-?\d{1,9}(?:/-?\d{1,9}){0,2})")

_REPEATED = re.compile(
    r"(?:\x1b\[\d{1,3}m)? ?\[repeated \d{1,9}x across cluster\](?: \(Ray deduplicates[^\n]{0,400})?(?:\x1b\[0m)?"
)
_DATA_DIRECT = "_dma"
_DUMPS = {
    "<system ": "the topology of one process (NCCL_TOPO_DUMP_FILE)",
    "<graphs ": "the channels of one process (NCCL_GRAPH_DUMP_FILE)",
}
"""How files begin that NCCL writes beside its log (`src/graph/xml.cc`, `src/graph/search.cc`)."""
_LONGEST_FIRST = 400

Devices = dict[int, tuple[tuple[str, ...], str | None]]


_KINDS = sorted(set(NCCL_FACTS) - {NcclBandwidth, RasComm, RasRank}, key=attrgetter("__name__"))


ASK = (Command("NCCL_DEBUG=INFO", BY_HAND),)


@collector(on=[Role.HOST], ask=ASK, every=minutes(1), yields=_KINDS, megabytes=16, long_lines=True)
def nccl_log(answer: str, device: Device) -> list[Fact]:
    """The facts of a log, each once. Raises `UnreadableError` if it is none of NCCL, or hardly a hop is understood."""
    return facts_of([answer], device.name)


def facts_of(parts: Iterable[str], log: str) -> list[Fact]:
    """The facts of a log of this name, whose parts end where a line does. Raises `UnreadableError`."""
    reader = _Log()
    with garbage_collection_paused():  # half a million tuples, none of them garbage
        read(map(reader.beside, parts), reader)
        facts = list(reader.facts(log))
        facts += [NcclSetting(None, "RAY_DEDUP_LOGS", "1")] if reader.repeated and facts else []
    if not facts and reader.first and not reader.is_log:
        for beginning, dump in _DUMPS.items():
            if reader.first.startswith(beginning):
                raise UnreadableError(f"{dump}, no log", line=1, text=beginning)
        raise UnreadableError("not a log of NCCL", line=1, text=reader.first)
    return facts


@dataclass
class _Log(Reader):
    """What a log has shown so far."""

    first: str = ""
    """The first line that is not empty, its beginning."""
    is_log: bool = False
    """Whether anything shows that NCCL or its tests wrote it."""
    repeated: bool = False
    """Whether Ray left out lines."""
    once: dict[Fact, None] = field(default_factory=dict)
    ranks: dict[tuple[str | None, str | None, int], NcclRank] = field(default_factory=dict)
    """By process, pointer and rank."""
    devices: dict[tuple[str | None, str | None], Devices] = field(default_factory=dict)
    called: dict[tuple[str | None, str | None], dict[int, tuple[str, str]]] = field(default_factory=dict)
    """Transport and name of devices by index, of processes that may have no list of them."""
    rings: dict[str, tuple[int, tuple[int, ...]] | None] = field(default_factory=dict)
    """Channel and ranks by line, which all ranks print alike; None for another line."""

    def beside(self, part: str) -> str:
        """A part of the log without what Ray adds; takes what is in no message."""
        self.first = self.first or part.lstrip()[:_LONGEST_FIRST].partition("\n")[0]
        self.is_log = self.is_log or MARK in part or "# nThread " in part
        found = (_VERSION.match(part, max(one.start() - 1, 0)) for one in _VERSIONS.finditer(part))
        self.once |= dict.fromkeys(NcclVersion(*one.groups()) for one in found if one)
        self.once |= dict.fromkeys(troubles(part))
        if "x across cluster]" not in part:
            return part
        self.repeated = True
        return _REPEATED.sub("", part)

    def add(self, by: Process, message: str) -> None:
        """A message that is no hop, by how it begins."""
        if message.startswith("NET/"):
            self._network_device(by, message)
        elif message.startswith(("NCCL_", "RCCL_")):
            if found := _SETTING.match(message):
                # most versions print a full stop behind the value
                self.once[NcclSetting(by.host, found[1], found[2].strip().removesuffix("."))] = None
        elif message.startswith("Channel ") and " -> " not in message[:_LONGEST_ARROW]:
            self._ring(by, message)
        elif message.startswith("Tree"):
            for tree in _trees(by.host, message, self.open.get(by.thread)):
                self.once[tree] = None
        elif message.startswith("Using network "):
            self.once[NcclNetwork(by.host, message.partition("\n")[0].removeprefix("Using network ").strip())] = None
        elif " cudaDev " in message[:200] and (found := _RANK.search(message[:1000])):
            self._rank(by, found)

    def _ring(self, by: Process, message: str) -> None:
        end = message.find("\n")
        line = message if end < 0 else message[:end]
        if line not in self.rings:
            found = _RING.match(line)
            ranks = tuple(map(int, found[2].split())) if found else ()
            whole = ranks[:-1] if found and found.end() >= _MOST_RING else ranks
            self.rings[line] = (int(found[1]), whole) if found else None
        if (ring := self.rings[line]) is not None:
            self.once[NcclRing(by.host, *ring, by.process, self.open.get(by.thread))] = None

    def _rank(self, by: Process, found: re.Match[str]) -> None:
        pointer, rank, ranks, cuda, nvml, bus, comm, phase = found.groups()
        key = (by.process, pointer, int(rank))
        earlier = self.ranks.get(key)
        gpu = int(cuda if nvml is None else nvml)
        now = NcclRank(by.host, int(rank), int(ranks), gpu, bus, comm, by.process)
        if earlier is not None and earlier.ranks == now.ranks and earlier.comm in (comm, None):
            self.ranks[key] = now
        elif earlier is None or comm is not None:
            if earlier is not None:
                self.once[earlier] = None  # another communicator at the same address
            self.ranks[key] = now
        if phase == "START":
            self.open[by.thread] = comm
        elif phase == "COMPLETE":
            self.open.pop(by.thread, None)

    def _network_device(self, by: Process, message: str) -> None:
        if found := _OVERRIDE.match(message):
            self.once[NcclOverride(by.host, int(found[1]), int(found[2]), by.process)] = None
        elif found := _DEVICES.match(message):
            sockets = found[1] == "Socket"
            listed = _listed(message[found.end() - 1 :])
            self.devices.setdefault((by.host, by.process), {}).update(_sockets(listed) if sockets else _devices(listed))
        elif found := _CALLED.match(message):
            self.called.setdefault((by.host, by.process), {})[int(found[2])] = (found[1], found[3])
        elif (found := _VIRTUAL.match(message)) and int(found[4]) > 1:
            known = self.devices.setdefault((by.host, by.process), {})
            members = _with_ports(_members(found[3]), known)
            layers = {layer for names, layer in known.values() if set(names) & set(members)}
            known[int(found[2])] = (members, layers.pop() if len(layers) == 1 else None)

    def _rename(self, names: Mapping[str | None, str | None]) -> None:
        """Gives what hosts of glued lines have printed to those that they are."""

        def named(host: str | None, process: str | None) -> tuple[str | None, str | None]:
            real = names.get(host, host)
            return real, f"{real}:{process.rpartition(':')[2]}" if real and process else None

        def renamed(fact: Any) -> Any:
            if getattr(fact, "host", None) not in names:
                return fact
            host, process = named(fact.host, getattr(fact, "process", None))
            return fact._replace(host=host, **({"process": process} if hasattr(fact, "process") else {}))

        self.hops = [(*named(hop[0], None)[:1], *hop[1:-2], named(hop[0], hop[-2])[1], hop[-1]) for hop in self.hops]
        self.once = {renamed(fact): None for fact in self.once}
        self.ranks = {(named(rank.host, key[0])[1], *key[1:]): renamed(rank) for key, rank in self.ranks.items()}
        tables: tuple[dict[Any, Any], ...] = (self.devices, self.called)
        for of in tables:
            for key in [key for key in of if key[0] in names]:
                of.setdefault(named(*key), {}).update(of.pop(key))

    def facts(self, log: str) -> Iterator[Fact]:
        """Everything once, hops with the communicator that only they can be of."""
        if names := invented(self.printed):
            self._rename(names)
        if self.torn:
            yield NcclTorn(log, len(self.torn), self.torn[0])
        yield from (one for one in self.once if isinstance(one, NcclVersion))
        yield from _nics(self.devices | dict(_unlisted(self.called, {host for host, _ in self.devices})))
        ranks = [*(one for one in self.once if isinstance(one, NcclRank)), *self.ranks.values()]
        yield from dict.fromkeys(ranks)
        yield from (one for one in self.once if not isinstance(one, NcclRank | NcclVersion))
        yield from _of_communicators(self.hops, ranks)


def _trees(host: str | None, message: str, comm: str | None) -> Iterator[NcclTree]:
    line = message.partition("\n")[0][:_MOST_LIST]
    if line.startswith("Trees "):
        new = tuple.__new__
        for channel, down, rank, up in _TREES.findall(line):
            children = tuple([int(one) for one in down.split("/") if one[0] != "-"])
            yield new(NcclTree, (host, int(channel), int(rank), None if up[0] == "-" else int(up), children, comm))
    elif found := _TREE.match(line):
        children = tuple(int(one) for one in found[4].split("/") if one[0] != "-")
        parent = None if found[2][0] == "-" else int(found[2])
        yield NcclTree(host, int(found[1]), int(found[3]), parent, children, comm)


def _listed(message: str) -> str:
    """The list of devices, up to the interface behind it (`; OOB`), with the lines that it goes on in."""
    first, *more = message[:_MOST_LIST].split("\n", _MOST_LINES)
    rest = [line for line in more[:_MOST_LINES] if line.strip()]
    if "OOB" not in first:
        broken = next((at for at, line in enumerate(rest, 1) if "OOB" in line), 0)  # by a terminal, at its width
        first = "".join((first, *rest[:broken]))
        for line in () if broken else rest:
            if not (first.rstrip().endswith("\\") or _GOES_ON.match(line)):
                break
            first = f"{first.rstrip().removesuffix(chr(92))} {line}"
    return first


def _devices(listed: str) -> Iterator[tuple[int, tuple[tuple[str, ...], str | None]]]:
    for index, fused, name, port, layer in _DEVICE.findall(listed):
        members = _MEMBER.findall(fused) if fused else [(name, port, layer)]
        if names := tuple(one for device, number, _ in members for one in _named(device, number)):
            yield int(index), (names, members[0][2])


def _named(device: str, port: str) -> list[str]:
    return [one if int(port) == 1 else f"{one}:{port}" for one in _members(device)]


def _members(fused: str) -> tuple[str, ...]:
    """The RDMA devices in a name, without the mark of Data Direct."""
    return tuple([one.removesuffix(_DATA_DIRECT) for one in fused.split("+")])


def _with_ports(members: tuple[str, ...], known: Devices) -> tuple[str, ...]:
    """The members of a fused device, whose name has no ports, as the list of devices has them: `mlx4_0+mlx4_0` are
    ports 1 and 2 of one adapter.
    """
    listed: dict[str, list[str]] = {}
    for names in (names for names, _ in known.values() if len(names) == 1):
        listed.setdefault(names[0].partition(":")[0], []).append(names[0])
    ports = {one: iter(listed.get(one, ())) for one in members if len(listed.get(one, ())) == members.count(one)}
    return tuple([next(ports[one]) if one in ports else one for one in members])


def _sockets(listed: str) -> Iterator[tuple[int, tuple[tuple[str, ...], str | None]]]:
    for index, name in _SOCKET.findall(listed):
        yield int(index), ((name,), "Socket")


def _unlisted(
    called: dict[tuple[str | None, str | None], dict[int, tuple[str, str]]], listed: set[str | None]
) -> Iterator[tuple[tuple[str | None, str | None], Devices]]:
    """The devices of hosts that print no list of them. One name at two indexes is two ports, which it does not show."""
    for (host, process), found in called.items():
        if host not in listed:
            names = [name for _, name in found.values()]
            yield (
                (host, process),
                {
                    index: (_members(name), "Socket" if net == "Socket" else None)
                    for index, (net, name) in found.items()
                    if names.count(name) == 1
                },
            )


def _nics(devices: dict[tuple[str | None, str | None], Devices]) -> Iterator[NcclNic]:
    """The devices of each host, once where all of its processes agree."""
    of_host: dict[str | None, dict[str | None, Devices]] = {}
    for (host, process), found in devices.items():
        of_host.setdefault(host, {}).setdefault(process, {}).update(found)
    for host, lists in of_host.items():
        agreed: Devices = {}
        agree = all(agreed.setdefault(index, one) == one for found in lists.values() for index, one in found.items())
        for process, found in [(None, agreed)] if agree else lists.items():
            for index, (names, layer) in found.items():
                yield NcclNic(host, index, names, layer, process)


def _of_communicators(hops: list[HopFields], ranks: Iterable[NcclRank]) -> list[Any]:
    """The hops; where the thread does not show a hop's communicator, that of which alone it can be."""
    of: dict[tuple[str | None, int], dict[str | None, int]] = {}
    for rank in (one for one in ranks if one.process is not None):
        sizes = of.setdefault((rank.process, rank.rank), {})
        sizes[rank.comm] = max(rank.ranks, sizes.get(rank.comm, 0))
    new = tuple.__new__
    for at, hop in enumerate(hops):
        if hop[-1] is None:
            own, other = (hop[3], hop[4]) if hop[5] == "send" else (hop[4], hop[3])
            sizes = of.get((hop[-2], own), {})
            comms = [comm for comm in sizes if other < sizes[comm]]
            if len(comms) == 1:
                hop = (*hop[:-1], comms[0])
        hops[at] = new(NcclHop, hop)  # in its place: a log may have millions
    return hops

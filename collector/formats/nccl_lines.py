"""The lines of a log of NCCL: which process printed what, and the hops between ranks.

Terminals break lines at their width, launchers put text before them, and processes that share a pipe glue them: so a
log is cut at `NCCL INFO` and not at line feeds. What ends a message is either the next header or the end of the line.
A progress bar begins with a carriage return: it tears the line that it is written into.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from truerail.errors import UnreadableError
from truerail.model.nccl_facts import NcclTrouble

MARK = "NCCL INFO "
_MOST_HEADER = 300
"""Characters searched before a mark for the process that printed it."""
_MOST_MESSAGE = 400
"""Characters of a hop, its line breaks included: its longest form has less than 200."""
_ENDS = (
    r"(?:Channel|Ring) (\d{1,5})(?:/(\d{1,4}))? ?: "
    r"(\d{1,9})(?:\[([0-9a-f]{1,16})\])? -> (\d{1,9})(?:\[([0-9a-f]{1,16})\])? \[(send|receive)\] "
)
_VIA = (
    r"via NET/([^/\n\r]{1,100})/(\d{1,4})(?!\d)(?:\((\d{1,9})\))?"
    r"(/GDRDMA(?:\(PCI\))?)?(?:/MEM-?\d{1,4})?(?:/flush=\w{1,16})?(/Shared)?(?:/flush=\w{1,16})?(?![/(\r])"
)
"""`/flush=None`, how a receiver waits for what was written, is printed by NCCL 2.30 and RCCL."""
_HOP = re.compile(_ENDS + _VIA)
_PLACE = re.compile(r"(?:Channel|Ring) (\d{1,5})(?:/(\d{1,4}))?$")
_RANK = re.compile(r"(\d{1,9})(?:\[([0-9a-f]{1,16})\])?$")
_WAY = re.compile(rf"(send|receive)\] {_VIA}")
_BROKEN = re.compile(r"\n{1,3}[ \t]?(?:\d{0,3}(?:\(\d{0,9}\))?/(?:[GSM]|flush=)|\((?:\d|PCI)|\d{0,9}\)[/\s])")
"""The rest of a hop whose line was broken after the index of its device."""
_NAMED = re.compile(r"\w[\w.-]*$")
"""The host that a header begins with: in JSON quotes stand before it (`{"log":"gpu-1:34001:34043 [0] ...`)."""
_SELDOM = 8
"""A host with so many times fewer messages than one whose name it ends with, or begins in the middle of, is that one:
something was written before its name, or the beginning of the name elsewhere.
"""
_FEW = 2
"""Messages of a host that is none: with a thread of another one, its name was overwritten."""
_MAY_GO_ON = frozenset(("", *"0123456789(/) \t\n"))
"""How the line behind a hop begins that may be this rest."""
_LIKE_HOP = re.compile(r"via NET/|(?:Channel|Ring) [^\n]{0,100} -> [^\n]{0,40}\[(?:send|rec)")
_TOKENS = ("NCCL INFO ", "Channel ", "[send] via NET/", "[receive] via NET/", "/GDRDMA", "/Shared")
_GLUED = re.compile(r"[^\s:]{0,200}:\d{1,9}:\d{1,9} \[-?\d{1,3}\] NCCL INFO ")
_SAMPLED = 1 << 18
"""Characters at the beginning that show whether lines were broken at a width."""
_LEAST_FULL = 3
"""Lines of one length that show a width."""
_MOST_BROKEN = 8
"""Lines into which a terminal breaks one hop: 20 columns are narrow."""


class Process(NamedTuple):
    """What printed a message. All None where the line does not say."""

    host: str | None = None
    process: str | None = None
    thread: str | None = None

    @property
    def numbers(self) -> tuple[str, ...]:
        """Of process and thread."""
        return tuple(one.rpartition(":")[2] for one in (self.process, self.thread) if one)


UNKNOWN = Process()
HopFields = tuple[Any, ...]
"""What an `NcclHop` is made of, in its order."""
_Way = tuple[str, str, int, int | None, bool, bool]


@dataclass
class Reader:
    """What takes the messages of a log, in their order."""

    hops: list[HopFields] = field(default_factory=list)
    printed: Counter[Process] = field(default_factory=Counter)
    """Messages by what printed them."""
    torn: list[int] = field(default_factory=list)
    """Numbers of lines that look like hops and are none."""
    open: dict[str | None, str | None] = field(default_factory=dict)
    """The communicator that a thread initializes."""

    def add(self, by: Process, message: str) -> None:
        """A message that is no hop: dropped, where a reader has no use for it."""


_MOST_STRANGE = 0.25
"""Share of the hops: of more torn lines, what is left may name the wrong host (an indented paste of glued lines)."""


def read(parts: Iterable[str], reader: Reader) -> None:
    """Gives a reader all messages of a log, whose parts end where a line does. Raises `UnreadableError` if too many
    lines look like hops and are none, other than by a progress bar: two or more, and a quarter of the hops.
    """
    number, strange = 0, []
    for part in parts:
        text = part.replace("\r\r", "\r").replace("\r\n", "\n") if "\r" in part else part
        found, before = len(reader.hops), dict(reader.open)
        wanted = text.count("via NET/")
        torn = text.count("[send]") + text.count("[receive]") - text.count("via COLLNET/") != wanted
        torn = torn or _width(text[:_SAMPLED].split("\n"), MARK) > 0
        if not torn:
            _cut(text, reader)
        if torn or len(reader.hops) - found != wanted:
            del reader.hops[found:]
            reader.open.clear()
            reader.open.update(before)
            whole = mended(text)
            unknown = _unknown(whole)
            reader.torn += [number + at for at, _ in unknown]
            strange += [(number + at, line) for at, line in unknown if "\r" not in line]
            _cut("\n".join(line for _, line in whole), reader)
        number += part.count("\n")
    hops = len(reader.hops)
    if len(strange) > min(hops, max(1, hops * _MOST_STRANGE)):
        line, text = strange[0]
        raise UnreadableError("looks like a hop of NCCL and is not understood", line=line, text=text.strip())


def invented(printed: Counter[Process]) -> dict[str | None, str | None]:
    """Hosts that only torn and glued lines name, and the host that each is; None where that is not known."""
    found: dict[str | None, str | None] = {}
    hosts: Counter[str] = Counter()
    threads: dict[tuple[str, ...], int] = {}
    for by, count in printed.items():
        hosts[by.host or ""] += count
        threads[by.numbers] = max(count, threads.get(by.numbers, 0))
    for name, count in hosts.items():
        for end in (name[at:] for at in range(1, len(name))):
            if hosts[end] >= _SELDOM * count:
                found[name] = end
            elif 0 < _SELDOM * hosts[end] <= count:
                found[end] = name
    for by, count in printed.items():
        if by.host and hosts[by.host] <= _FEW and threads[by.numbers] >= _SELDOM * count:
            found.setdefault(by.host, None)
    return found


def _cut(text: str, reader: Reader) -> None:
    """Most lines of a log are hops that end with their line, and are made of few parts that come again and again: each
    part is understood once. All other messages are searched.
    """
    pieces = iter(text.split(MARK))
    known: dict[str, list[Any]] = {}
    places, ends, ways = _Parts(_PLACE, _place), _Parts(_RANK, _rank), _Parts(_WAY, _way)
    before, end = next(pieces), 0
    add, other, comm = reader.hops.append, reader.add, reader.open.get
    for piece in pieces:
        tail = before[max(before.rfind("\n") + 1, end) :] if end or "\n" in before else before
        printed = known.get(tail)
        if printed is None:
            printed = known[tail] = [process_of(tail), 0]
        printed[1] += 1
        by = printed[0]
        before, end = piece, 0
        if piece.startswith(("Channel", "Ring")):
            line, line_feed, following = piece.partition("\n")
            where, _, rest = line.partition(" : ")
            ranks, _, how = rest.partition(" [")
            if not how:  # within the host, or a ring
                other(by, piece)
                continue
            source, _, target = ranks.partition(" -> ")
            at, one, two, way = places[where], ends[source], ends[target], ways[how]
            if at and one and two and way and line_feed and following[:1] not in _MAY_GO_ON:
                before = following
            elif (found := _HOP.match(piece)) and not _BROKEN.match(piece, found.end()):
                at, one, two = _place(found[1], found[2]), _rank(found[3], found[4]), _rank(found[5], found[6])
                way = _way(*found.groups()[6:])
                end = found.end()
            else:
                other(by, piece)
                continue
            (channel, connection), (sender, gpu), (receiver, to_gpu) = at, one, two
            direction, net, nic, proxy, gdr, shared = way
            host, process, thread = by
            hop = (
                host, channel, connection, sender, receiver, direction, net, nic, proxy, gdr, shared, gpu, to_gpu,
                process, comm(thread),
            )  # fmt: skip
            add(hop)
        else:
            other(by, piece)
    for by, count in known.values():
        reader.printed[by] += count


P = TypeVar("P")


class _Parts(dict[str, "P | None"], Generic[P]):
    """What the parts of hops mean, by their text; None for what is no such part."""

    def __init__(self, form: re.Pattern[str], made: Callable[..., P]) -> None:
        super().__init__()
        self._form, self._made = form, made

    def __missing__(self, text: str) -> P | None:
        found = self._form.match(text)
        part = self[text] = self._made(*found.groups()) if found else None
        return part


def _place(channel: str, connection: str | None) -> tuple[int, int | None]:
    return int(channel), None if connection is None else int(connection)


def _rank(rank: str, gpu: str | None) -> tuple[int, str | None]:
    return int(rank), gpu


def _way(direction: str, net: str, nic: str, proxy: str | None, gdr: str | None, shared: str | None) -> _Way:
    """Direction, transport, device, rank that sends in another one's place, GPUDirect and shared buffers."""
    return direction, net, int(nic), None if proxy is None else int(proxy), gdr is not None, shared is not None


def process_of(tail: str) -> Process:
    """The process of the header that ends a text: `HOST:PID:TID [cudaDev] `, behind whatever a launcher put there."""
    words = tail[-_MOST_HEADER:].split()
    if len(words) < 2 or words[-1][0] != "[" or words[-1][-1] != "]":
        return UNKNOWN
    host, _, rest = words[-2].partition(":") if words[-2].count(":") == 2 else _behind_launcher(words[-2])
    pid, _, thread = rest.partition(":")
    named = _NAMED.search(host)
    host = named[0] if named else ""
    if not host or not pid.isdecimal() or not thread.isdecimal():
        return UNKNOWN
    return Process(host, f"{host}:{pid}", f"{host}:{thread}")


def _behind_launcher(word: str) -> tuple[str, str, str]:
    """Host, colon and rest of `[1,0]<stdout>:gpu-001:34001:34043`."""
    parts = word.rsplit(":", 3)
    return (parts[-3], ":", ":".join(parts[-2:])) if len(parts) > 2 else ("", "", "")


def mended(text: str) -> list[tuple[int, str]]:
    """The lines with their numbers, without the line breaks of a terminal inside of hops, and with a mark before hops
    that have none.
    """
    numbered = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    lines = [line for _, line in numbered]
    out: list[tuple[int, str]] = []
    width = _width(lines)
    at = 0
    while at < len(lines):
        parts = [lines[at]]
        number, tail = numbered[at][0], lines[at][-_MOST_MESSAGE:]
        at += 1
        while at < len(lines):
            full = len(lines[at - 1]) == width and MARK not in lines[at]
            more = lines[at : at + 1] if full else _continued(tail, lines[at : at + _MOST_BROKEN])
            if not more:
                break
            parts += more
            tail = (tail + "".join(more))[-_MOST_MESSAGE:]
            at += len([one for one in more if one != " "])
        out.append((number, _marked("".join(parts))))
    return out


def _width(lines: list[str], mark: str = "") -> int:
    """The width at which a terminal broke lines: the greatest length, if most lines of it that have the mark go on in
    the next one.
    """
    width = max(map(len, lines), default=0)
    behind = [MARK not in following for line, following in pairwise(lines) if len(line) == width and mark in line]
    return width if len(behind) >= _LEAST_FULL and 2 * sum(behind) > len(behind) else 0


def _continued(tail: str, following: list[str]) -> list[str]:
    """The lines that a hop, a mark or a glued header goes on with behind its line break; and a blank that it took."""
    head = following[0][:_MOST_MESSAGE]
    start = max(tail.rfind("Channel "), tail.rfind("Ring "))
    whole = _HOP.match(tail, start) if start >= 0 else None
    if whole is not None:
        broken = whole.end() == len(tail) and _BROKEN.match(f"\n{head}\n")
        return following[:1] if broken else _glued(tail, head)
    if start >= 0:
        for count in range(1, len(following) + 1):
            if len(following[count - 1]) > _MOST_MESSAGE or (count > 1 and MARK in following[count - 2]):
                break
            for blank in ("", " "):
                found = _HOP.match(tail[start:] + blank + "".join(following[:count]))
                if found and found.end() > len(tail) - start + sum(map(len, following[: count - 1])):
                    return [*filter(None, [blank]), *following[:count]]
    straddles = any(token in tail[1 - len(token) :] + head[: len(token) - 1] for token in _TOKENS)
    return following[:1] if straddles else _glued(tail, head)


def _glued(tail: str, head: str) -> list[str]:
    """The next line, if the header at its beginning lost its own beginning to a line that has several messages."""
    return [head] if tail.count(MARK) > 1 and tail[-1:].strip() and _GLUED.match(head) else []


def _marked(line: str) -> str:
    """A hop without any header, as in excerpts, behind a mark."""
    if MARK in line or "via NET/" not in line[:_MOST_MESSAGE]:
        return line
    start = max(line.find("Channel ", 0, _MOST_MESSAGE), line.find("Ring ", 0, _MOST_MESSAGE))
    return line if start < 0 else f"{line[:start]}{MARK}{line[start:]}"


def _unknown(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines that look like hops and are none: number and text."""
    found = []
    for number, line in lines:
        for part in line.split(MARK) if " -> " in line or "via NET/" in line else ():
            if _LIKE_HOP.search(part) is not None and _HOP.match(part) is None:
                found.append((number, part[:_MOST_MESSAGE]))
                break
    return found


# ----------------------------------------------------------------------------------------------------------------------
# What the warnings of NCCL say of network devices: one that cannot be opened, work that failed, events of a port.

_WARNS = re.compile("NCCL WARN ")
_TROUBLE = re.compile(
    r"(?:NET/[^:\n]{1,100}?: ?)?(?:(?P<own>[^\s:]{1,100}):(?P<port>\d{1,4}) )?(?:"
    r"Unable to open device (?P<lacks>[^\s:,]{1,100})"
    r"|Got completion from peer (?P<peer>[^\s<]{1,100})(?:<\d{1,5}>)? with status=(?P<status>\d{1,3})\b"
    r"(?:[^\n]{0,400}? hca (?P<hca>[^\s:]{1,100}))?"
    r"|Got (?P<event>(?:non-fatal )?async(?: fatal)? event ?: [^\n(]{1,100}))"
)
"""`src/transport/net_ib.cc`, `net_ib/p2p.cc`: warnings of 2.4 to 2.30."""
_LONGEST_WARNING = 1000


def troubles(part: str) -> Iterator[NcclTrouble]:
    """What the warnings of a part of a log say of network devices."""
    for one in _WARNS.finditer(part):
        found = _TROUBLE.match(part, one.end(), one.end() + _LONGEST_WARNING)
        if found is None:
            continue
        begin = max(part.rfind("\n", 0, one.start()) + 1, one.start() - _LONGEST_WARNING)
        host = process_of(part[begin : one.start()].rstrip().rpartition(" ")[0]).host
        if found["lacks"]:
            yield NcclTrouble(host, "no device", found["lacks"])
        elif found["peer"]:
            yield NcclTrouble(host, "completion", found["hca"] or found["own"], int(found["status"]), found["peer"])
        else:
            yield NcclTrouble(host, "event", found["own"], None, found["event"].partition(": ")[2].strip())

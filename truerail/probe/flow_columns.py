"""The flows of a run as columns: a large fabric has half a million of them, and asks hops millions of times.

What one host is to send is rendered when it is sent, and only then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from truerail.model.columns import Codes, Mask, grouped, spans
from truerail.model.probe_facts import FULL_TTL
from truerail.probe.pinglists import Pair

# ----------------------------------------------------------------------------------------------------------------------
# The flows of a run as columns: a large fabric has half a million of them, and asks hops millions of times.
#
# What one host is to send is rendered when it is sent, and only then.

Flow = dict[str, Any]
Round = tuple[int, int, int]
"""Size, TTL and count of packets that each source port of a flow sends."""
Row = tuple[Any, ...]
"""Source port, TTL, size, count, seconds until the first packet, seconds from each to the next."""
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Paced:
    """Packets that are sent slowly. A row is one source port of a flow, which sends `count` packets with each TTL from
    `first_ttl` to `last_ttl`: the first one after `first` seconds, that of the next TTL `step` seconds later, and
    again `every` so many seconds. `flow` are places among the flows, ascending.
    """

    flow: Codes
    source_port: Codes
    first_ttl: Codes
    last_ttl: Codes
    size: Codes
    count: Codes
    first: Numbers
    step: Numbers
    every: Numbers

    @cached_property
    def packets(self) -> Codes:
        """Packets of each row."""
        return self.count * (self.last_ttl - self.first_ttl + 1)

    @cached_property
    def last(self) -> Numbers:
        """When the last packet of each row is due."""
        return self.first + self.step * (self.last_ttl - self.first_ttl) + self.every * (self.count - 1)

    def of(self, flows: Codes) -> "Paced":
        """The rows of some flows, in their order; `flow` are places among these."""
        begin, end = (np.searchsorted(self.flow, flows, side) for side in ("left", "right"))
        rows, of = spans(begin, end - begin)
        columns = (getattr(self, name)[rows] for name in list(self.__dataclass_fields__)[1:])
        return Paced(of, *columns)

    def by_ttl(self) -> tuple[Codes, Codes, Numbers]:
        """Row, TTL and time of the first packet of each TTL of every row."""
        ttls = self.last_ttl - self.first_ttl + 1
        ttl, row = spans(self.first_ttl, ttls)
        return row, ttl, self.first[row] + self.step[row] * (ttl - self.first_ttl[row])


_NONE, _NO_TIMES = np.zeros(0, dtype=np.int64), np.zeros(0)
NOT_PACED = Paced(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, _NO_TIMES, _NO_TIMES, _NO_TIMES)


@dataclass(frozen=True, eq=False)
class Flows:
    """Flows by place, columns of shape (flows,): `number` in the run, source ports from `source_port` on, `kind` the
    place of what it sends in `rounds`.
    """

    pairs: Sequence[Pair]
    number: Codes
    wired: Mask
    tos: Codes
    source_port: Codes
    source_ports: Codes
    kind: Codes
    rounds: tuple[tuple[Round, ...], ...]
    paced: Paced = NOT_PACED

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def names(self) -> list[str]:
        """The hosts by their codes."""
        return list(dict.fromkeys(nic.host for pair in self.pairs for nic in (pair.source, pair.to)))

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each host."""
        return {name: code for code, name in enumerate(self.names)}

    @cached_property
    def source(self) -> Codes:
        """The code of the host that sends."""
        return np.array([self.codes[pair.source.host] for pair in self.pairs], dtype=np.int64)

    @cached_property
    def to(self) -> Codes:
        """The code of the host that listens."""
        return np.array([self.codes[pair.to.host] for pair in self.pairs], dtype=np.int64)

    @cached_property
    def packets(self) -> Codes:
        """Packets of each flow, with those that are paced."""
        each = np.array([sum(count for _, _, count in rounds) for rounds in self.rounds], dtype=np.int64)
        paced = np.bincount(self.paced.flow, weights=self.paced.packets, minlength=len(self)).astype(np.int64)
        return self.source_ports * each[self.kind] + paced

    @cached_property
    def ending(self) -> Codes:
        """Packets of each flow that end at a hop, without those that are paced."""
        each = [sum(count for _, ttl, count in rounds if ttl < FULL_TTL) for rounds in self.rounds]
        return self.source_ports * np.array(each, dtype=np.int64)[self.kind]

    @cached_property
    def arriving(self) -> Mask:
        """Whether some packet of a flow shall arrive."""
        found = np.array([bool(rounds) for rounds in self.rounds], dtype=bool)[self.kind]
        found[self.paced.flow[self.paced.last_ttl == FULL_TTL]] = True
        return found

    def sent_by(self, host: str) -> Codes:
        """The flows that a host sends."""
        return _slice(self._by_source, self.codes.get(host))

    def heard_by(self, host: str) -> Codes:
        """The flows that a host listens for."""
        return _slice(self._by_target, self.codes.get(host))

    @cached_property
    def _by_source(self) -> tuple[Codes, Codes]:
        return _grouped(self.source, len(self.names))

    @cached_property
    def _by_target(self) -> tuple[Codes, Codes]:
        return _grouped(self.to, len(self.names))

    def at(self, cable: Codes, source_port: Codes) -> Codes:
        """The flow of each NIC, by its cable, and source port; -1 if there is none."""
        keys, order = self._by_port
        wanted = cable << _PORT_BITS | source_port
        place = np.searchsorted(keys, wanted, "right") - 1
        flow = order[np.maximum(place, 0)] if len(order) else np.zeros(len(wanted), dtype=np.int64)
        known = (place >= 0) & (cable >= 0)
        known[known] &= wanted[known] - keys[place[known]] < self.source_ports[flow[known]]
        return np.where(known, flow, -1)

    @cached_property
    def _by_port(self) -> tuple[Codes, Codes]:
        cable = np.array([pair.source.cable for pair in self.pairs], dtype=np.int64)
        keys = cable << _PORT_BITS | self.source_port
        order = np.argsort(keys)
        return keys[order], order

    def only_paced(self, paced: Paced) -> "Flows":
        """The flows of these rows, which send them and nothing else."""
        kept, of = np.unique(paced.flow, return_inverse=True)
        columns = {
            name: getattr(self, name)[kept] for name in ("number", "wired", "tos", "source_port", "source_ports")
        }
        pairs = [self.pairs[place] for place in kept.tolist()]
        none = np.zeros(len(kept), dtype=np.int64)
        return Flows(pairs, **columns, kind=none, rounds=((),), paced=replace(paced, flow=of))

    def about(self, place: int) -> Flow:
        """A flow as its sender knows it."""
        source, to, pinglist = self.pairs[place]
        return {
            "flow": int(self.number[place]),
            "port": source.netdev,
            "peer": to.host,
            "peer_port": to.netdev,
            "mode": "wired" if self.wired[place] else "routed",
            "tos": int(self.tos[place]),
            "pinglist": pinglist,
            "address": source.address,
            "peer_address": to.address,
        }

    def expected(self, place: int) -> Flow:
        """A flow as its listener knows it."""
        source, to, _ = self.pairs[place]
        return {**self.about(place), "port": to.netdev, "peer": source.host, "peer_port": source.netdev}

    def seconds_of_rounds(self, tried: Mask, packets_per_second: float) -> Numbers:
        """How long each host's rounds take, by its code: its packets, and the wait behind those of one size and TTL."""
        size, rows = len(self.names), np.flatnonzero(tried & self._has_rounds)
        each = np.array([sum(count for _, _, count in rounds) for rounds in self.rounds], dtype=np.int64)
        packets = np.bincount(self.source[rows], weights=(self.source_ports * each[self.kind])[rows], minlength=size)
        rows = rows[np.argsort(self.source[rows], kind="stable")]
        host, ports = self.source[rows], self.source_ports[rows]
        end = np.cumsum(ports)
        before = (end - ports)[np.searchsorted(host, host)]
        first, last = (end - ports - before) // _BATCH, (end - before - 1) // _BATCH
        batch, of = spans(first, last - first + 1)
        groups = np.zeros(size)
        for one in dict.fromkeys(one for rounds in self.rounds for one in rounds):
            has = np.array([one in rounds for rounds in self.rounds])[self.kind[rows]][of]
            seen = np.unique(np.stack([host[of][has], batch[has]]), axis=1)
            groups += np.bincount(seen[0], minlength=size)
        return packets / packets_per_second + WAIT_SECONDS * groups

    def seconds_paced(self, tried: Mask, packets_per_second: float) -> Numbers:
        """How long each host's paced rows take, by its code."""
        paced, size = self.paced, len(self.names)
        rows = np.flatnonzero(tried[paced.flow])
        host, last = self.source[paced.flow[rows]], np.zeros(size)
        np.maximum.at(last, host, paced.last[rows])
        packets = np.bincount(host, weights=paced.packets[rows], minlength=size)
        return np.where(packets > 0, np.maximum(last, packets / packets_per_second) + 2 * WAIT_SECONDS, 0.0)

    def rows_of(self, own: Codes, packets_per_second: float, paced_after: float) -> Iterator[list[Row]]:
        """The rows of the flows that one host sends. Paced rows begin so many seconds after the start."""
        parts = [*self._rounds(own, packets_per_second), _paced(self.paced.of(own), paced_after)]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.argsort(columns[0], kind="stable")
        ends = np.searchsorted(columns[0][order], np.arange(len(own) + 1))
        times = [np.round(column[order], 4).tolist() for column in columns[5:]]
        rows = list(zip(*(column[order].tolist() for column in columns[1:5]), *times, strict=True))
        return (rows[begin:end] for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))

    @cached_property
    def _has_rounds(self) -> Mask:
        return np.array([bool(rounds) for rounds in self.rounds], dtype=bool)[self.kind]

    def _rounds(self, own: Codes, packets_per_second: float) -> Iterator[tuple[Codes | Numbers, ...]]:
        """Columns of the packets of one size and TTL, in the order of sending: the flow's place in `own`, then those of
        a row.
        """
        sending = np.flatnonzero(self._has_rounds[own])
        source_port, of = spans(self.source_port[own[sending]], self.source_ports[own[sending]])
        place, kind = sending[of], self.kind[own[sending]][of]
        at, apart = 0.0, 1 / packets_per_second
        for begin in range(0, len(place), _BATCH):
            batch = slice(begin, begin + _BATCH)
            numbers = dict.fromkeys(kind[batch].tolist())
            groups = grouped((one, number) for number in numbers for one in self.rounds[number])
            for (size, ttl, count), kinds in groups.items():
                ends = begin + np.flatnonzero(np.isin(kind[batch], kinds))
                same = np.ones(len(ends), dtype=np.int64)
                first = np.asarray(at + np.arange(len(ends)) * apart, dtype=np.float64)
                every = np.full(len(ends), len(ends) * apart)
                yield place[ends], source_port[ends], ttl * same, size * same, count * same, first, every
                at += len(ends) * count * apart + WAIT_SECONDS


_PORT_BITS = 16


def _grouped(code: Codes, size: int) -> tuple[Codes, Codes]:
    """Places in the order of their codes, and where each code begins."""
    order = np.argsort(code, kind="stable")
    return order, np.searchsorted(code[order], np.arange(size + 1))


def _slice(grouped: tuple[Codes, Codes], code: int | None) -> Codes:
    order, begin = grouped
    return order[:0] if code is None else order[begin[code] : begin[code + 1]]


class FlowList:
    """Flows as they are planned, one by one."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self._columns: list[tuple[bool, int, int, int, int]] = []
        self._kinds: dict[tuple[Round, ...], int] = {}

    def add(
        self, pair: Pair, mode: str, tos: int, source_port: int, source_ports: int, rounds: Sequence[Round]
    ) -> None:
        """A flow of a pair, from so many source ports."""
        kind = self._kinds.setdefault(tuple(rounds), len(self._kinds))
        self.pairs.append(pair)
        self._columns.append((mode == "wired", tos, source_port, source_ports, kind))

    def flows(self, paced: Paced = NOT_PACED) -> Flows:
        """All of them as columns."""
        columns = np.array(self._columns, dtype=np.int64).reshape(-1, 5)
        wired, tos, source_port, source_ports, kind = np.ascontiguousarray(columns.T)
        number = np.arange(len(self.pairs))
        return Flows(
            self.pairs, number, wired.astype(bool), tos, source_port, source_ports, kind, tuple(self._kinds), paced
        )


# ----------------------------------------------------------------------------------------------------------------------
# When a host sends each packet: rows of packets for its script, first as fast as allowed, then paced by TTL.
#
# A row is source port, TTL, size, count, seconds until its first packet, seconds from each to the next.

WAIT_SECONDS = 0.3
"""How long a socket waits before it sends with another TTL or size, so that each ICMP answer has its probe."""
_BATCH = 480
"""Sockets that the script on the host holds at once."""
_GOLDEN, _ROOT = 0.6180339887498949, 0.4142135623730951
"""Multiples of them, without their whole parts, are spread evenly however many there are."""


def _paced(paced: Paced, after: float) -> tuple[Codes | Numbers, ...]:
    row, ttl, first = paced.by_ttl()
    columns = paced.flow[row], paced.source_port[row], ttl, paced.size[row], paced.count[row]
    return *columns, after + first, paced.every[row]


def ask_hops(
    nic: Codes, flow: Codes, source_port: Codes, source_ports: Codes, hops: Codes, *, size: int, every: float, asks: int
) -> Paced:
    """The paced rows of a sweep's flows, of which `nic` numbers the senders: each source port asks each TTL up to its
    `hops` `asks` times, and a NIC sends one probe of each TTL `every` so many seconds. No port has two TTLs under way
    at one time. NICs take turns by their number, and begin with another of their ports: long paths of all at one time
    would ask too much.
    """
    port, of = spans(source_port, source_ports)
    nics = int(nic.max(initial=-1)) + 1
    count, farthest = np.bincount(nic, weights=source_ports, minlength=nics), np.zeros(nics)
    np.maximum.at(farthest, nic, hops)
    sender = nic[of]
    order = np.argsort(sender, kind="stable")
    place = np.empty(len(of))
    place[order] = np.arange(len(of)) - (np.cumsum(count) - count)[sender[order]]
    number = np.arange(nics)
    turn = (place - np.floor(number * _ROOT % 1.0 * count)[sender]) % count[sender]
    apart = max(every, WAIT_SECONDS + 0.05)
    again = np.maximum(count * every, farthest * apart)
    same = np.ones(len(of), dtype=np.int64)
    return Paced(
        flow[of], port, same, hops[of], size * same, asks * same,
        first=(number * _GOLDEN % 1.0 * every)[sender] + turn * every,
        step=np.full(len(of), apart),
        every=again[sender],
    )  # fmt: skip

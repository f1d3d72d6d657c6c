"""When a host sends each packet: rows of packets for its script, first as fast as allowed, then paced by TTL.

A row is source port, TTL, size, count, seconds until its first packet, seconds from each to the next.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from truerail.model.columns import Codes, Mask, spans
from truerail.model.probe_facts import FULL_TTL as FULL_TTL
from truerail.probe.flow_columns import Flows, Numbers, Paced, Round

WAIT_SECONDS = 0.3
"""How long a socket waits before it sends with another TTL or size, so that each ICMP answer has its probe."""
_BATCH = 480
"""Sockets that the script on the host holds at once."""
_GOLDEN, _ROOT = 0.6180339887498949, 0.4142135623730951
"""Multiples of them, without their whole parts, are spread evenly however many there are."""

Row = tuple[Any, ...]
"""Source port, TTL, size, count, seconds until the first packet, seconds from each to the next."""


def seconds_of_rounds(flows: Flows, tried: Mask, packets_per_second: float) -> Numbers:
    """How long each host's rounds take, by its code: its packets, and the wait behind those of one size and TTL."""
    size, rows = len(flows.names), np.flatnonzero(tried & _has_rounds(flows))
    each = np.array([sum(count for _, _, count in rounds) for rounds in flows.rounds], dtype=np.int64)
    packets = np.bincount(flows.source[rows], weights=(flows.source_ports * each[flows.kind])[rows], minlength=size)
    rows = rows[np.argsort(flows.source[rows], kind="stable")]
    host, ports = flows.source[rows], flows.source_ports[rows]
    end = np.cumsum(ports)
    before = (end - ports)[np.searchsorted(host, host)]
    first, last = (end - ports - before) // _BATCH, (end - before - 1) // _BATCH
    batch, of = spans(first, last - first + 1)
    groups = np.zeros(size)
    for one in dict.fromkeys(one for rounds in flows.rounds for one in rounds):
        has = np.array([one in rounds for rounds in flows.rounds])[flows.kind[rows]][of]
        seen = np.unique(np.stack([host[of][has], batch[has]]), axis=1)
        groups += np.bincount(seen[0], minlength=size)
    return packets / packets_per_second + WAIT_SECONDS * groups


def seconds_paced(flows: Flows, tried: Mask, packets_per_second: float) -> Numbers:
    """How long each host's paced rows take, by its code."""
    paced, size = flows.paced, len(flows.names)
    rows = np.flatnonzero(tried[paced.flow])
    host, last = flows.source[paced.flow[rows]], np.zeros(size)
    np.maximum.at(last, host, paced.last[rows])
    packets = np.bincount(host, weights=paced.packets[rows], minlength=size)
    return np.where(packets > 0, np.maximum(last, packets / packets_per_second) + 2 * WAIT_SECONDS, 0.0)


def rows_of(flows: Flows, own: Codes, packets_per_second: float, paced_after: float) -> Iterator[list[Row]]:
    """The rows of the flows that one host sends. Paced rows begin so many seconds after the start."""
    parts = [*_rounds(flows, own, packets_per_second), _paced(flows.paced.of(own), paced_after)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    ends = np.searchsorted(columns[0][order], np.arange(len(own) + 1))
    times = [np.round(column[order], 4).tolist() for column in columns[5:]]
    rows = list(zip(*(column[order].tolist() for column in columns[1:5]), *times, strict=True))
    return (rows[begin:end] for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _has_rounds(flows: Flows) -> Mask:
    return np.array([bool(rounds) for rounds in flows.rounds], dtype=bool)[flows.kind]


def _rounds(flows: Flows, own: Codes, packets_per_second: float) -> Iterator[tuple[Codes | Numbers, ...]]:
    """Columns of the packets of one size and TTL, in the order of sending: the flow's place in `own`, then a row's."""
    sending = np.flatnonzero(_has_rounds(flows)[own])
    source_port, of = spans(flows.source_port[own[sending]], flows.source_ports[own[sending]])
    place, kind = sending[of], flows.kind[own[sending]][of]
    at, apart = 0.0, 1 / packets_per_second
    for begin in range(0, len(place), _BATCH):
        batch = slice(begin, begin + _BATCH)
        groups: dict[Round, list[int]] = {}
        for number in dict.fromkeys(kind[batch].tolist()):
            for one in flows.rounds[number]:
                groups.setdefault(one, []).append(number)
        for (size, ttl, count), kinds in groups.items():
            ends = begin + np.flatnonzero(np.isin(kind[batch], kinds))
            same = np.ones(len(ends), dtype=np.int64)
            first = np.asarray(at + np.arange(len(ends)) * apart, dtype=np.float64)
            every = np.full(len(ends), len(ends) * apart)
            yield place[ends], source_port[ends], ttl * same, size * same, count * same, first, every
            at += len(ends) * count * apart + WAIT_SECONDS


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

"""When a host sends each packet: rows of packets for its script, first as fast as allowed, then paced by TTL.

A row is source port, TTL, size, count, seconds until its first packet, seconds from each to the next.
"""

from collections.abc import Iterator, Sequence
from typing import Any

FULL_TTL = 64
"""The TTL of probes that shall arrive."""
WAIT_SECONDS = 0.3
"""How long a socket waits before it sends with another TTL or size, so that each ICMP answer has its probe."""
_BATCH = 480
"""Sockets that the script on the host holds at once."""
_GOLDEN, _ROOT = 0.6180339887498949, 0.4142135623730951
"""Multiples of them, without their whole parts, are spread evenly however many there are."""

Flow = dict[str, Any]
Row = list[Any]
"""Source port, TTL, size, count, seconds until the first packet, seconds from each to the next."""


def _groups(flows: Sequence[Flow]) -> Iterator[tuple[int, int, int, list[tuple[int, int]]]]:
    """Size, TTL, count, and the flows and source ports that send as many of these, in the order of sending."""
    ends = [(flow, flow["source_port"] + n) for flow in flows if flow["rounds"] for n in range(flow["source_ports"])]
    for begin in range(0, len(ends), _BATCH):
        groups: dict[tuple[int, int, int], list[tuple[int, int]]] = {}
        for flow, source_port in ends[begin : begin + _BATCH]:
            for one in flow["rounds"]:
                groups.setdefault(tuple(one), []).append((flow["flow"], source_port))
        for (size, ttl, count), members in groups.items():
            yield size, ttl, count, members


def seconds_of_rounds(flows: Sequence[Flow], packets_per_second: float) -> float:
    """How long a host's rounds take."""
    return sum(len(ends) * count / packets_per_second + WAIT_SECONDS for _, _, count, ends in _groups(flows))


def rows_of(flows: Sequence[Flow], packets_per_second: float, paced_after: float) -> dict[int, list[Row]]:
    """The rows of a host's flows, by flow. Paced rows begin so many seconds after the start."""
    found: dict[int, list[Row]] = {flow["flow"]: [] for flow in flows}
    at, apart = 0.0, 1 / packets_per_second
    for size, ttl, count, ends in _groups(flows):
        for number, (of, source_port) in enumerate(ends):
            row = [source_port, ttl, size, count, round(at + number * apart, 4), round(len(ends) * apart, 4)]
            found[of].append(row)
        at += len(ends) * count * apart + WAIT_SECONDS
    for flow in flows:
        for source_port, ttl, size, count, first, every in flow["paced"]:
            found[flow["flow"]].append([source_port, ttl, size, count, round(paced_after + first, 4), round(every, 4)])
    return found


def seconds_paced(flows: Sequence[Flow], packets_per_second: float) -> float:
    """How long a host's paced rows take."""
    rows = [row for flow in flows for row in flow["paced"]]
    last: float = max((first + every * (count - 1) for _, _, _, count, first, every in rows), default=0.0)
    sending: float = sum(row[3] for row in rows) / packets_per_second
    return max(last, sending) + (2 * WAIT_SECONDS if rows else 0.0)


def ask_hops(
    number: int, ports: Sequence[tuple[Flow, int]], hops: Sequence[int], size: int, every: float, asks: int
) -> None:
    """Gives the flows of one NIC their paced rows: each source port asks each TTL up to its `hops` `asks` times, and
    the NIC sends one probe of each TTL `every` so many seconds. No port has two TTLs under way at one time. NICs take
    turns by their `number`, and begin with another of their ports: long paths of all at one time would ask too much.
    """
    nic = number * _GOLDEN % 1.0 * every
    first = int(number * _ROOT % 1.0 * len(ports))
    apart = max(every, WAIT_SECONDS + 0.05)
    again = max(len(ports) * every, max(hops) * apart)
    for place, ((flow, source_port), far) in enumerate(zip(ports, hops, strict=True)):
        turn = (place - first) % len(ports)
        for ttl in range(1, far + 1):
            flow["paced"].append([source_port, ttl, size, asks, nic + turn * every + (ttl - 1) * apart, again])

"""What a sweep sends after its first part: what did not answer, links that few packets passed, links of a tie.

Paths are known by then, so few packets are enough. Their counts are added to those of the first part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import Losses
from truerail.model.columns import Codes, Mask
from truerail.model.plan import Port
from truerail.probe.path_sweep import LEAST_PACKETS

FULL_TTL = 64
"""The TTL of probes that shall arrive."""
FOR_EACH_LOSS = 8
"""Packets that a loss expected once in so many is asked with: 8 / rate of them behind each link of a tie."""
MOST_FLOWS = 24
"""Flows over which these are spread."""
MOST_PACKETS = 20_000
"""Packets behind one link."""


@dataclass(frozen=True)
class HopProbes:
    """Small probes of one flow that end at a TTL, or arrive with `FULL_TTL`."""

    source: Port
    target: Port
    source_port: int
    ttl: int
    packets: int


def unanswered(paths: FlowPaths) -> Iterator[HopProbes]:
    """The hops of flows that arrived that nothing answered: each once more."""
    hops = paths.hops
    asked = np.flatnonzero(~hops.large & (paths.flows.heard[hops.flow] > 0) & (hops.ttl <= paths.length[hops.flow]))
    key = hops.flow[asked] << 8 | hops.ttl[asked]
    distinct, inverse = np.unique(key, return_inverse=True)
    answers = np.bincount(inverse, weights=hops.answered[asked], minlength=len(distinct))
    for one in distinct[answers == 0].tolist():
        yield _probes(paths, one >> 8, one & 0xFF, 1)


def confirming(paths: FlowPaths, losses: Losses) -> Iterator[HopProbes]:
    """Probes that end just behind each link of a tie: where the loss begins, fewer are answered."""
    for seat in losses.lossy_seats:
        if len(seat.segments) < 2 or paths.graph.is_device(np.array(seat.segments)).any():
            continue
        inside = np.isin(paths.segment, seat.segments) & paths.whole[:, None]
        flows = np.flatnonzero(inside.any(axis=1))[:MOST_FLOWS]
        behind = {(flow, ttl) for flow in flows.tolist() for ttl in _ttls(inside[flow], int(paths.length[flow]))}
        packets = min(MOST_PACKETS, ceil(FOR_EACH_LOSS / seat.rate))
        each = ceil(packets / max(1, len(flows)))
        yield from (_probes(paths, flow, ttl, each) for flow, ttl in sorted(behind))
        for device in sorted({int(paths.node[flow, ttl - 1]) for flow, ttl in behind}):
            yield from _controls(paths, device, np.asarray(inside.any(axis=1), dtype=bool), packets)


def _controls(paths: FlowPaths, device: int, passing: Mask, packets: int) -> Iterator[HopProbes]:
    """As many probes that end at a switch, of flows that do not pass a tie: they show what share it answers."""
    row, place = np.nonzero((paths.node == device) & (paths.whole & ~passing)[:, None])
    each = ceil(packets / max(1, min(MOST_FLOWS, len(row))))
    for flow, at in list(zip(row.tolist(), place.tolist(), strict=True))[:MOST_FLOWS]:
        yield _probes(paths, flow, at + 1, each)


def more_packets(paths: FlowPaths, least: int = LEAST_PACKETS) -> Iterator[HopProbes]:
    """Packets that arrive, for the links of known paths that fewer than `least` have passed."""
    whole = np.flatnonzero(paths.whole)
    row, place = np.nonzero(paths.segment[whole] >= 0)
    segment = paths.segment[whole][row, place]
    size = int(segment.max(initial=0)) + 1
    passed = np.bincount(segment, weights=paths.flows.sent[whole][row], minlength=size)
    flows = np.maximum(np.bincount(segment, minlength=size), 1)
    each = np.ceil(np.maximum(least - passed, 0) / flows)
    wanted = np.zeros(len(whole))
    np.maximum.at(wanted, row, each[segment])
    for flow in np.flatnonzero(wanted).tolist():
        yield _probes(paths, int(whole[flow]), FULL_TTL, min(MOST_PACKETS, int(wanted[flow])))


def _ttls(inside: Codes, length: int) -> list[int]:
    """The TTLs that end behind the links of a tie; behind the last leaf there is the NIC, which is not asked."""
    return [place + 1 for place in np.flatnonzero(inside).tolist() if place < length]


def _probes(paths: FlowPaths, flow: int, ttl: int, packets: int) -> HopProbes:
    flows, spell = paths.flows, paths.graph.index.spell
    source, target = spell(int(flows.source[flow])), spell(int(flows.target[flow]))
    return HopProbes(source, target, int(flows.source_port[flow]), ttl, packets)

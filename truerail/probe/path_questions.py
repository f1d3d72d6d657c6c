"""What a sweep sends after its first part: what did not answer, links that few packets passed, links of a tie.

Paths are known by then, so few packets are enough. Their counts are added to those of the first part.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import Losses
from truerail.analysis.sweep.silent_ties import PROBES
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.plan import Port
from truerail.probe.path_sweep import LEAST_PACKETS
from truerail.probe.schedule import FULL_TTL

FOR_EACH_LOSS = 8
"""Packets that a loss expected once in so many is asked with: 8 / rate of them behind each link of a tie."""
MOST_FLOWS = 24
"""Flows over which these are spread."""
MOST_PACKETS = 20_000
"""Packets behind one link."""
MOST_CUT, BESIDE = 512, 16
"""Flows of which large probes are sent to each hop: of those that lose large packets, and beside them at a switch."""


@dataclass(frozen=True)
class HopProbes:
    """Probes of one flow that end at a TTL, or arrive with `FULL_TTL`; small ones, or `large` ones. `device` is the
    code of the switch where they end, -1 if that is not known.
    """

    source: Port
    target: Port
    source_port: int
    ttl: int
    packets: int
    device: int = NONE
    large: bool = False


def unanswered(paths: FlowPaths) -> Iterator[HopProbes]:
    """The hops of flows that arrived that nothing answered: each once more."""
    hops = paths.hops
    asked = np.flatnonzero(~hops.large & (paths.flows.heard[hops.flow] > 0) & (hops.ttl <= paths.length[hops.flow]))
    key = hops.flow[asked] << 8 | hops.ttl[asked]
    keys, inverse = np.unique(key, return_inverse=True)
    answers = np.bincount(inverse, weights=hops.answered[asked], minlength=len(keys))
    for one in keys[answers == 0].tolist():
        yield _probes(paths, one >> 8, one & 0xFF, 1)


def large_hops(paths: FlowPaths) -> Iterator[HopProbes]:
    """Large probes to every hop of the flows whose large packets are lost without a router that reports it: the last
    hop that they reach shows the link that is too small. Other flows over the same switches show what share these
    answer.
    """
    flows, hops = paths.flows, paths.hops
    reported = np.zeros(len(flows), dtype=bool)
    reported[hops.flow[hops.large & (hops.mtu >= 0)]] = True
    tried = paths.whole & (flows.large_sent > 0) & ~reported
    cut, passing = (np.flatnonzero(tried & heard) for heard in (flows.large_heard == 0, flows.large_heard > 0))
    wanted = {
        (flow, ttl)
        for flow in _one_of_each(flows.source, cut)[:MOST_CUT]
        for ttl in range(1, int(paths.length[flow]) + 1)
    }
    devices = distinct(np.array([paths.node[flow, ttl - 1] for flow, ttl in wanted], dtype=np.int64))
    row, place = np.nonzero(np.isin(paths.node[passing], devices[devices >= 0]))
    for device in devices[devices >= 0].tolist():
        here = paths.node[passing[row], place] == device
        at = dict(zip(passing[row[here]].tolist(), place[here].tolist(), strict=True))
        beside = _one_of_each(flows.source, passing[distinct(row[here])])[:BESIDE]
        wanted |= {(flow, at[flow] + 1) for flow in beside}
    for flow, ttl in sorted(wanted):
        yield _probes(paths, flow, ttl, 1, large=True)


def _one_of_each(source: Codes, rows: Codes) -> list[int]:
    """Flows so that each of the first ones has a NIC of its own: many NICs may ask more in a second than one."""
    order = np.argsort(source[rows], kind="stable")
    of = source[rows][order]
    turn = np.arange(len(of)) - np.searchsorted(of, of)
    found: list[int] = rows[order][np.argsort(turn, kind="stable")].tolist()
    return found


def confirming(paths: FlowPaths, losses: Losses) -> Iterator[HopProbes]:
    """Probes that end just behind each link of a tie: where the loss begins, fewer are answered."""
    for seat in losses.lossy_seats:
        if len(seat.segments) < 2 or paths.graph.is_device(np.array(seat.segments)).any():
            continue
        inside = np.isin(paths.segment, seat.segments) & paths.whole[:, None]
        flows = _one_of_each(paths.flows.source, np.flatnonzero(inside.any(axis=1)))[:MOST_FLOWS]
        behind = {(flow, ttl) for flow in flows for ttl in _ttls(inside[flow], int(paths.length[flow]))}
        packets = min(MOST_PACKETS, ceil(FOR_EACH_LOSS / seat.rate))
        each = ceil(packets / max(1, len(flows)))
        yield from (_probes(paths, flow, ttl, each) for flow, ttl in sorted(behind))
        for device in sorted({int(paths.node[flow, ttl - 1]) for flow, ttl in behind}):
            yield from _controls(paths, device, np.asarray(inside.any(axis=1), dtype=bool), packets)


def beyond(paths: FlowPaths, losses: Losses) -> Iterator[HopProbes]:
    """Of silent links that explain a loss alike: probes of the lost flows that end behind the last switch that
    answered, and as many of other flows that end at the switches there, which show that these answer.
    """
    for seat in losses.silent_seats:
        if len(seat.segments) < 2 or paths.graph.is_device(np.array(seat.segments)).any():
            continue
        lost = losses.flows_of(seat)
        flows = _one_of_each(paths.flows.source, lost[paths.flows.heard[lost] == 0])[:MOST_FLOWS]
        each = ceil(PROBES / max(1, len(flows)))
        for flow in flows:
            deepest = max(int(paths.deepest[flow]), 1)
            yield from (_probes(paths, flow, ttl, each) for ttl in range(deepest + 1, int(paths.length[flow])))
        arrived = paths.flows.heard > 0
        for device in distinct(paths.graph.tails(np.array(seat.segments))).tolist():
            yield from _controls(paths, device, ~arrived, PROBES)


def _controls(paths: FlowPaths, device: int, passing: Mask, packets: int) -> Iterator[HopProbes]:
    """As many probes that end at a switch, of flows that do not pass a tie: they show what share it answers."""
    row, place = np.nonzero((paths.node == device) & (paths.whole & ~passing)[:, None])
    each = ceil(packets / max(1, min(MOST_FLOWS, len(row))))
    at = dict(zip(row.tolist(), place.tolist(), strict=True))
    for flow in _one_of_each(paths.flows.source, distinct(row))[:MOST_FLOWS]:
        yield _probes(paths, flow, at[flow] + 1, each)


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


def _probes(paths: FlowPaths, flow: int, ttl: int, packets: int, *, large: bool = False) -> HopProbes:
    flows, spell = paths.flows, paths.graph.index.spell
    source, target = spell(int(flows.source[flow])), spell(int(flows.target[flow]))
    device = int(paths.node[flow, ttl - 1]) if ttl <= paths.node.shape[1] else NONE
    return HopProbes(source, target, int(flows.source_port[flow]), ttl, packets, device, large)

"""Where large packets end, and where packets lose their class: the seats of PRB003 and PRB006.

Both are found as losses are, among the flows whose small packets arrive: a link or switch that all of these flows share
and no other flow uses. A router that reports its MTU is a witness by itself.
"""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.sweep.confirming import confirmed
from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.losses import Losses
from truerail.analysis.sweep.seats import Seat, Trials, locate
from truerail.model.columns import NONE, Codes, Mask, distinct

ARRIVES = 0.5
"""Share of a flow's small packets that must arrive for its large ones to be evaluated."""
REWRITTEN = 0.5
"""Share of a flow's packets in another class from which on it counts as rewritten."""
LEAST_FLOWS = 2
"""Flows that must agree on a seat: one may have met something else."""


@dataclass(frozen=True)
class CutOff:
    """Where large packets end: a segment, or several that explain it alike; with the MTU where a router reports it."""

    segments: tuple[int, ...]
    flows: Codes
    mtu: int | None = None
    """None where packets are dropped silently, 0 where a router names no MTU."""


def cut_offs(paths: FlowPaths, losses: Losses) -> list[CutOff]:
    """The links or switches at which large packets end."""
    flows, hops = paths.flows, paths.hops
    small = losses.spoken & (flows.heard > ARRIVES * flows.sent) & (flows.large_sent > 0)
    cut = small & (flows.large_heard == 0)
    reported = np.flatnonzero(hops.large & (hops.mtu >= 0) & cut[hops.flow])
    found = _reported(paths, reported)
    silent = cut.copy()
    silent[hops.flow[reported]] = False
    return found + _silent(paths, silent, small & (flows.large_heard > 0) & paths.whole)


def _reported(paths: FlowPaths, rows: Codes) -> list[CutOff]:
    """By the router that reports it: the link behind it on the flow's path; the router where no path shows that."""
    hops, graph = paths.hops, paths.graph
    device, flow = hops.device[rows], hops.flow[rows]
    here = (paths.node[flow] == device[:, None]) & (device >= 0)[:, None]
    behind = paths.segment[flow, np.where(here.any(axis=1), here.argmax(axis=1) + 1, 0)]
    seat = np.where(here.any(axis=1) & (behind >= 0), behind, graph.of_device(device))
    found = []
    links = distinct(seat[(seat >= 0) & ~graph.is_device(seat)])
    seat[np.isin(seat, graph.of_device(graph.tails(links)))] = NONE
    for segment in distinct(seat[seat >= 0]).tolist():
        of = seat == segment
        if len(flows := distinct(flow[of])) >= LEAST_FLOWS:
            found.append(CutOff((segment,), flows, int(hops.mtu[rows][of].max())))
    return found


def _silent(paths: FlowPaths, cut: Mask, passed: Mask) -> list[CutOff]:
    """By the last hop that large probes reached: behind it, on the path of the small ones, the links that no large
    packet has passed.
    """
    hops, flows = paths.hops, paths.flows
    deepest = np.zeros(len(flows), dtype=np.int64)
    answers = hops.large & hops.expired
    np.maximum.at(deepest, hops.flow[answers], hops.ttl[answers])
    good = distinct(paths.segment[passed])
    good = good[~paths.graph.is_bundle(good)]
    lost = np.flatnonzero(cut & paths.whole)
    behind = paths.segment[lost].copy()
    behind[np.arange(behind.shape[1]) < deepest[lost][:, None]] = NONE
    behind[np.isin(behind, good)] = NONE
    block = np.concatenate([behind, paths.segment[passed]])
    sent = np.concatenate([flows.large_sent[lost], flows.large_sent[passed]])
    gone = np.concatenate([flows.large_sent[lost], np.zeros(int(passed.sum()), dtype=np.int64)])
    seats = [confirmed(paths, seat, large=True) for seat in _located(block, sent, gone)]
    return [CutOff(seat.segments, lost[seat.rows]) for seat in seats if len(seat.rows) >= LEAST_FLOWS]


def _located(block: Codes, sent: Codes, gone: Codes) -> list[Seat]:
    row, place = np.nonzero(block >= 0)
    return locate(Trials(sent, gone, row.astype(np.int64), block[row, place]))


@dataclass(frozen=True)
class Rewriter:
    """What rewrites the class of packets: switches or links that explain it alike. `flows` are those rewritten."""

    segments: tuple[int, ...]
    flows: Codes


def rewriters(paths: FlowPaths) -> list[Rewriter]:
    """The switches, or links, that rewrite the class of packets. Flows that turn round inside a pod (list E) tell apart
    the switches that flows between pods always meet together.
    """
    flows, graph = paths.flows, paths.graph
    rows = np.flatnonzero(paths.whole & ~flows.astray)
    node = np.where(np.arange(paths.node.shape[1]) < paths.length[rows][:, None], paths.node[rows], NONE)
    block = np.concatenate([graph.of_device(node), paths.segment[rows]], axis=1)
    changed = flows.rewritten[rows] > REWRITTEN * flows.heard[rows]
    heard = flows.heard[rows]
    found = []
    for seat in _located(block, heard, np.where(changed, heard, 0)):
        devices = [one for one in seat.segments if graph.is_device(np.array([one]))[0]]
        found.append(Rewriter(tuple(devices or seat.segments), rows[seat.rows]))
    return found

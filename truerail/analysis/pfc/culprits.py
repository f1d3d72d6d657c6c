"""The culprit at the root of a pause tree: its port, the reason, the victims and the confidence."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.pfc.edges import FLOWS, NOTHING
from truerail.analysis.pfc.graph import WaitGraph
from truerail.analysis.pfc.reasons import Reason, nic_reason
from truerail.analysis.pfc.trees import PauseGraph, Pauses, began
from truerail.model.columns import NONE, Codes, Mask, distinct, ratio
from truerail.model.plan import Role

BOTH_ENDS, ONE_END, SEVERAL_ROOTS, UNSEEN = 0.95, 0.8, 0.6, 0.4
"""Confidence in a culprit: both ends of its link report the pause and nothing else can be the root; one end does; there
are several roots; the root is beyond what is monitored. Engineering evaluation.
"""
AS_STRONG = 0.9
"""Share of the strongest wait from which another one at the same distance is as strong: polls are a tenth apart."""
MOST_PRESSED = 200
"""Roots of back-pressure reported in one round, the worst first: more than that are no longer single slow ports."""
MOST_WAITS, LEAST_WAITS = 200_000, 100
"""Maximum waits in all trees of a priority together, and minimum in each tree. A larger tree is reported in part."""


@dataclass(frozen=True)
class Wait:
    """One link of a pause tree: port `waiting` is paused by port `on` (codes, -1 unknown), `hops` from the root."""

    waiting: int
    on: int
    hops: int
    share: float
    exact: bool
    both: bool
    seen: bool
    """Whether the link between them was read; else it is taken from the plan."""
    level: int


@dataclass(frozen=True)
class Culprit:
    """A root of a pause tree. `port` is its code, `waits` are the waits upstream of it, the nearest first.

    `unseen` means that the root is behind `port`, outside of what is monitored. `pause_us` is NaN if unknown, `since`
    Unix seconds or NaN.
    """

    priority: int | None
    totals: bool
    port: int
    reason: Reason
    waits: tuple[Wait, ...]
    share: float
    pause_us: float
    since: float
    level: int
    unseen: bool
    roots: int
    watchdog: bool
    whole: bool
    """Whether `waits` is complete; else it holds those nearest to the root."""
    switch: int = NONE
    """Code of the switch whose port is the root if several of its ports are as likely; then `port` is one of these."""
    others: int = 0
    """Further roots left out because there are too many."""

    @property
    def first(self) -> Wait:
        """The strongest wait for the root itself."""
        return max((w for w in self.waits if w.hops == 1), key=lambda w: w.share)

    @property
    def victims(self) -> dict[int, int]:
        """Port code to hops of every victim port, the nearest first."""
        found: dict[int, int] = {}
        for wait in self.waits:
            if wait.waiting >= 0:
                found.setdefault(wait.waiting, wait.hops)
        return found

    @property
    def confidence(self) -> float:
        """Confidence that this is the culprit, 0..1."""
        if self.unseen or self.switch >= 0:
            return UNSEEN
        sure = BOTH_ENDS if self.first.both else ONE_END
        return min(sure, SEVERAL_ROOTS) if self.roots > 1 or self.reason is Reason.EGRESS_UNREPORTED else sure


def storm_culprits(pauses: Pauses) -> tuple[Culprit, ...]:
    """Culprits of all storms, one for each root and priority."""
    return tuple(culprit for graph in pauses.graphs for culprit in _storms(pauses, graph))


def pressure_culprits(pauses: Pauses) -> Iterator[Culprit]:
    """Roots of lasting back-pressure outside of storms. Their share is that over five minutes."""
    for pg in pauses.graphs:
        calm = ~np.isin(pg.graph.part, pg.graph.part[pg.graph.tail[pg.waits.level > NOTHING]])
        lasting = ~np.isnan(pg.waits.lasting) & calm[pg.graph.tail]
        graph = pg.graph.only(lasting)
        edges = np.flatnonzero(lasting)
        parts = np.bincount(graph.part[graph.roots], minlength=graph.nodes)
        roots = np.flatnonzero(graph.roots)
        roots = roots[np.argsort(-graph.awaited[roots], kind="stable")]
        for root in roots[:MOST_PRESSED].tolist():
            found = _culprit(pauses, pg, graph, root, edges, int(parts[graph.part[root]]), LEAST_WAITS)
            yield replace(found, others=max(0, len(roots) - MOST_PRESSED))


def _storms(pauses: Pauses, pg: PauseGraph) -> Iterator[Culprit]:
    roots, endless = pg.storms
    chosen = [*np.flatnonzero(roots).tolist(), *_in_circles(pg, endless)]
    parts = np.bincount(pg.graph.part[chosen], minlength=pg.graph.nodes)
    edges = np.arange(len(pg.graph.tail))
    most = max(LEAST_WAITS, MOST_WAITS // max(1, len(chosen)))
    unclear = _may_be_locked(pg) if chosen else endless
    for root in chosen:
        found = _culprit(pauses, pg, pg.graph, root, edges, int(parts[pg.graph.part[root]]), most)
        if unclear[root] and found.reason is Reason.EGRESS_UNREPORTED:
            found = replace(found, reason=Reason.CIRCLE, switch=pg.device(root))
        yield found


def _may_be_locked(pg: PauseGraph) -> Mask:
    """Nodes of circles that may be deadlocks, shape (nodes,): switches wait for each other, and no wait of the circle
    is shown to let traffic through. Waits count however weak they are: one that began a moment ago, at a port whose
    agent answers from a cache, is measured over the time before, too.
    """
    found = np.zeros(pg.graph.nodes, dtype=bool)
    for circle in pg.graph.only(pg.waits.flow != FLOWS).circles():
        found[circle] = True
    return found


def _in_circles(pg: PauseGraph, endless: Mask) -> Iterator[int]:
    """For storms in a cycle without a root: the node where the pause began first. A deadlock is reported separately."""
    graph = pg.graph
    passing = graph.only(graph.passing)
    locked = np.zeros(graph.nodes, dtype=bool)
    for circle in pg.deadlocks:
        locked[circle] = True
    left = endless & ~passing.reached(locked, backwards=True)
    for part in distinct(graph.part[left]).tolist():
        edges = np.flatnonzero(left[graph.head] & (graph.part[graph.head] == part))
        rose = np.nan_to_num(began(pg, edges), nan=np.inf)
        yield int(graph.head[edges[np.lexsort((-graph.weight[edges], rose))[0]]])


def _culprit(
    pauses: Pauses, pg: PauseGraph, graph: WaitGraph, root: int, edges: Codes, roots: int, most: int
) -> Culprit:
    """The culprit at a root of a graph; `edges` are the priority's waits that the graph's edges belong to."""
    behind, whole = _behind(graph, root, edges, most)
    waits = [w for found, hops in behind for w in _waits(pauses, pg, found, hops)]
    nearest = behind[0][0]
    strongest = int(nearest[np.argmax(pg.waits.share[nearest])])
    port, reason, unseen, alike = _root_port(pauses, pg, root, strongest)
    every = np.concatenate([found for found, _ in behind])
    lasting = float(pg.waits.lasting[strongest])
    calm = int(pg.waits.level[every].max()) == NOTHING
    return Culprit(
        priority=pg.waits.priority,
        totals=pg.waits.totals,
        port=port,
        reason=reason,
        waits=tuple(waits),
        share=lasting if calm and not np.isnan(lasting) else float(pg.waits.share[strongest]),
        pause_us=float(pg.waits.pause_us[strongest]),
        since=float(began(pg, np.array([strongest]))[0]),
        level=int(pg.waits.level[every].max()),
        unseen=unseen,
        roots=roots,
        watchdog=bool(pg.waits.watchdog[every].any()),
        whole=whole,
        switch=pg.device(root) if alike else NONE,
    )


def _behind(graph: WaitGraph, root: int, edges: Codes, most: int) -> tuple[list[tuple[Codes, int]], bool]:
    """Waits upstream of a root with their hops, at most `most`, the nearest first; and whether they are complete."""
    found: list[tuple[Codes, int]] = []
    left = most
    for level, hops in graph.behind(root):
        found.append((edges[level[:left]], hops))
        if len(level) > left:
            return found, False
        left -= len(level)
    return found, True


def _waits(pauses: Pauses, pg: PauseGraph, edges: Codes, hops: int) -> Iterator[Wait]:
    waits, seen, ports = pg.waits, pauses.peers.seen, pauses.reported.ports
    for e in edges.tolist():
        waiting, on = int(waits.waiting[e]), int(waits.on[e])
        end = waiting if 0 <= waiting < ports else on
        yield Wait(
            waiting, on, hops, float(waits.share[e]), bool(waits.exact[e]), bool(waits.both[e]), bool(seen[end]),
            int(waits.level[e]),
        )  # fmt: skip


def _root_port(pauses: Pauses, pg: PauseGraph, root: int, strongest: int) -> tuple[int, Reason, bool, bool]:
    """The culprit's port, its reason, whether the root is beyond what is monitored, and whether it may as well be
    another port of the switch.
    """
    waiting, on = int(pg.waits.waiting[strongest]), int(pg.waits.on[strongest])
    reported, index = pauses.reported, pauses.reported.wiring.index
    if pg.is_switch(root):
        device = pg.device(root)
        pausing = pg.waits.on[pg.graph.head == root]
        if not reported.speaks(device, pg.counters.last):
            of = pg.waits.waiting if waiting >= 0 else pg.waits.on
            return int(of[strongest]), Reason.NOT_MONITORED, True, _is_one_of_several(pg, root, strongest, of)
        port, reason = egress_of(reported, device, distinct(pausing), pg.counters.last)
        if port != NONE:
            return port, reason, False, False
        return on, reason, False, _is_one_of_several(pg, root, strongest, pg.waits.on)
    device = int(index.ports.device_of(np.array([on]))[0])
    if device < 0 or index.devices.tier[device] != Role.HOST.tier:
        return waiting, Reason.NOT_MONITORED, True, False
    return on, nic_reason(reported, on, pg.waits.priority, pg.counters.last), False, False


def _is_one_of_several(pg: PauseGraph, root: int, strongest: int, ports: Codes) -> bool:
    """Whether waits for the root at other ports are as strong."""
    share = pg.waits.share
    near = (pg.graph.head == root) & (share >= AS_STRONG * share[strongest]) & (ports >= 0)
    return len(distinct(ports[near])) > 1


# ----------------------------------------------------------------------------------------------------------------------
# The egress at which a switch's congestion begins: a port at its full capacity, or one below its planned speed.


SATURATED = 0.9
"""Share of its speed at which an egress is full (incast, oversubscription). Engineering evaluation."""
DEGRADED = 0.9
"""Share of the expected speed below which a link is degraded: at half speed it has 0.5, without a lane of four 0.75."""
BUSY = 0.5
"""Minimum load of a degraded egress that causes the congestion, as a share of its remaining speed."""
MOST_MARKS = 0.5
"""Share of a switch's congestion marks from which the one port that sets them holds the queue.
Engineering evaluation.
"""


def egress_of(telemetry: Telemetry, device: int, pausing: Codes, last: int) -> tuple[int, Reason]:
    """Port code of a switch's congested egress and the reason; (-1, `EGRESS_UNREPORTED`) if no port of it shows one.

    `pausing` are the ports by which it pauses others: traffic enters there, so they are checked last.
    """
    ports = telemetry.ports_of(device)
    used = ratio(telemetry.mean_rate(Quantity.TX_BYTES, None, last, ports), telemetry.speed()[ports])
    slow = _degraded(telemetry, ports) & ~(used < BUSY)
    out = ~np.isin(ports, pausing)
    for of in (out, ~out):
        for which, reason in ((slow & of, Reason.DEGRADED_LINK), ((used >= SATURATED) & of, Reason.INCAST)):
            if which.any():
                found = np.flatnonzero(which)
                return int(ports[found[np.argmax(np.nan_to_num(used[found]))]]), reason
    return _marking(telemetry, ports, used, last)


def _marking(telemetry: Telemetry, ports: Codes, used: npt.NDArray[np.floating], last: int) -> tuple[int, Reason]:
    """The busy port that sets most of the switch's marks: a switch marks packets that leave by a port with a long
    queue. Jobs send in bursts, so that port need not be full on average.
    """
    marks = np.zeros(len(ports))
    for priority in telemetry.priorities(Quantity.ECN_MARKED_PACKETS):
        marks = np.fmax(marks, np.nansum(telemetry.part(Quantity.ECN_MARKED_PACKETS, priority, ports, last)[0], axis=1))
    most = int(np.argmax(marks)) if len(ports) else NONE
    if most >= 0 and marks[most] > 0 and marks[most] >= MOST_MARKS * marks.sum() and used[most] >= BUSY:
        return int(ports[most]), Reason.INCAST
    return NONE, Reason.EGRESS_UNREPORTED


def _degraded(telemetry: Telemetry, ports: Codes) -> Mask:
    """Ports whose link reports a lower speed than planned, or, without a planned speed, than most similar ports."""
    index = telemetry.wiring.index
    speed = telemetry.wiring.states.speed_gbps[ports]
    cable = index.cables_at(ports)
    planned = np.append(index.speed_gbps, np.nan)[cable]
    up = index.a[cable] == ports
    for kind in (up, ~up):
        reported_speeds = speed[kind & ~np.isnan(speed)]
        if len(reported_speeds):
            planned[kind & np.isnan(planned)] = np.median(reported_speeds)
    return np.asarray(speed < DEGRADED * planned, dtype=bool)

"""Switches wait for each other in a circle: nothing on this priority will ever move again by itself.

## Why it matters
Each switch waits for buffers of the next one. No timeout ends it, every flow through any of them stands still, and the
pauses reach all hosts behind. Only draining a queue (a PFC watchdog, a port that is shut) breaks the circle.

## How it is detected
A circle in the wait-for graph of one priority in which every link is paused for at least 80 % of the time in two polls
in a row while nothing of that priority is sent. Where traffic is not counted by priority: while its bytes over all
priorities are below 1e-4 of its speed and 5 % of what it carries when busy, as LLDP, BGP and pause frames go on; or
paused for 99 %, where bytes are not counted either. `cycle` names the switches in the order in which they wait; the
first of them by name is the subject. A circle needs a path that goes down and up again: `valleys` are the switches
where it does. Warning where frames are all that is counted. Hosts pass no pause on and are never part of it. Where
agents answer from caches, a pause is measured over the time between two refreshes, by both ends of the link.

## What to do
Shut one of the ports in `ports` for a second, or let the PFC watchdog drop (`pfcwd`): the circle is gone. Then find the
route that goes down and up again in `valleys`: a link that failed, or a missing filter that lets leaves carry transit.

## Decide
- `critical PFC003`: nothing moves on this priority. Shut the port that `do` names for a second; note the switches
  first.
- `warning PFC003`: only frames are counted. Confirm on one switch that the priority's queue does not move, then do the
  same.
- `goes down and up again`: the route to look for, once traffic flows: a failed link, or a filter that lets a leaf carry
  transit.

## False positives
A storm (PFC001) at a host makes long pauses without a circle; this finding needs the whole circle. While a part of the
circle cannot be decided, PFC001 reports "a PFC storm or a deadlock".
"""

from collections.abc import Sequence

import numpy as np

from rules._examples import Rates
from rules._links import report_uncounted_links
from rules._pauses import priority_words
from truerail.analysis.pfc.culprits import BOTH_ENDS, ONE_END
from truerail.analysis.pfc.measures import recent
from truerail.analysis.pfc.trees import PAUSES, PauseGraph, Pauses
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import CauseKind, Finding, PortCounters, Severity, Transport
from truerail.model.columns import Codes
from truerail.model.names import natural_key


@rule(
    "PFC003",
    Severity.CRITICAL,
    [PortCounters],
    transports=[Transport.ROCE],
    cause=CauseKind.PFC_DEADLOCK,
    first="storm",
)
def pfc_deadlock(round: Round) -> Findings:
    """Circles of switches that wait for each other, one finding for each subject."""
    pauses = round.pauses
    reported: set[str] = set()
    for graph in pauses.graphs:
        for circle in graph.deadlocks:
            found = _found(pauses, graph, circle)
            if found.subject not in reported:
                reported.add(found.subject)
                yield found
    report_uncounted_links(pauses.reported, "pauses", *PAUSES, last=recent(pauses.reported), switches=True)


def _found(pauses: Pauses, graph: PauseGraph, circle: Codes) -> Finding:
    nodes = _cycle(pauses, graph, circle)
    names = [_name(pauses, graph, node) for node in nodes]
    waits = [_link(graph, a, b) for a, b in zip(nodes, [*nodes[1:], nodes[0]], strict=True)]
    index = pauses.reported.wiring.index
    ports = [str(index.spell(int(graph.waits.waiting[w] if graph.waits.waiting[w] >= 0 else graph.waits.on[w])))
             for w in waits]  # fmt: skip
    valleys = _valleys([index.devices.tier[graph.device(node)] for node in nodes], names)
    exact = bool(graph.waits.exact[waits].all())
    behind = graph.graph.reached(_mask(graph, circle), backwards=True)
    down = f"; the path goes down and up again at {', '.join(valleys)}" if valleys else ""
    return pfc_deadlock.found(
        names[0],
        severity=Severity.CRITICAL if exact else Severity.WARNING,
        summary=f"{' waits for '.join([*names, names[0]])}: a PFC deadlock on "
        f"{priority_words(graph.waits.priority, graph.waits.totals)}{down}",
        action=f"Shut {ports[0]} for a second to break the circle, then find the route that makes it.",
        confidence=BOTH_ENDS if bool(graph.waits.both[waits].all()) else ONE_END,
        evidence=pauses.reported.wiring.evidence(*(int(graph.waits.waiting[w]) for w in waits)),
        detail=(
            ("cycle", names),
            ("ports", ports),
            ("priority", graph.waits.priority),
            ("valleys", valleys),
            ("victims", _victims(pauses, graph, circle, behind)),
        ),
    )


def _name(pauses: Pauses, graph: PauseGraph, node: int) -> str:
    return pauses.reported.wiring.index.devices.names[graph.device(node)]


def _mask(graph: PauseGraph, nodes: Codes) -> "np.typing.NDArray[np.bool_]":
    found = np.zeros(graph.graph.nodes, dtype=bool)
    found[nodes] = True
    return found


def _cycle(pauses: Pauses, graph: PauseGraph, circle: Codes) -> list[int]:
    """The shortest circle through the first of these switches by name, in the order in which they wait."""
    first = min(circle.tolist(), key=lambda node: natural_key(_name(pauses, graph, node)))
    inside = graph.waits.stuck & np.isin(graph.graph.tail, circle) & np.isin(graph.graph.head, circle)
    stuck = graph.graph.only(inside)
    left = stuck.distance(_mask(graph, np.array([first])), backwards=True)
    nexts = stuck.head[stuck.tail == first]
    path = [first, int(nexts[np.argmin(left[nexts])])]
    while left[path[-1]] > 0:
        nexts = stuck.head[stuck.tail == path[-1]]
        path.append(int(nexts[np.argmin(left[nexts])]))
    return path[:-1]


def _link(graph: PauseGraph, a: int, b: int) -> int:
    """The strongest wait of one switch for the next."""
    edges = np.flatnonzero((graph.graph.tail == a) & (graph.graph.head == b) & graph.waits.stuck)
    return int(edges[np.argmax(graph.graph.weight[edges])])


def _valleys(tiers: Sequence[int], names: Sequence[str]) -> list[str]:
    """Switches of the circle that stand below both of their neighbours in it."""
    around = zip(names, tiers, [tiers[-1], *tiers[:-1]], [*tiers[1:], tiers[0]], strict=True)
    return [name for name, own, before, after in around if own < before and own < after]


def _victims(
    pauses: Pauses, graph: PauseGraph, circle: Codes, behind: "np.typing.NDArray[np.bool_]"
) -> list[dict[str, object]]:
    """The ports that wait for the circle without being part of it, with their hops from it."""
    far = graph.graph.distance(_mask(graph, circle), backwards=True)
    outside = behind[graph.graph.head] & ~np.isin(graph.graph.tail, circle) & (graph.waits.waiting >= 0)
    index = pauses.reported.wiring.index
    hops = {int(graph.waits.waiting[e]): int(far[graph.graph.head[e]]) + 1 for e in np.flatnonzero(outside)}
    named = [{"port": str(index.spell(port)), "hops": number} for port, number in hops.items()]
    return sorted(named, key=lambda victim: (victim["hops"], natural_key(str(victim["port"]))))


PLAN = "\n".join(
    [f"gpu-{n + 1}/nic0 leaf-{n}/swp1 rail=0 speed=400" for n in (0, 1)]
    + [f"leaf-{leaf}/swp{7 + n} spine-{n}/swp{leaf + 1} speed=400" for leaf in (0, 1) for n in (1, 2)]
)
_LOCKED: Rates = {"rx_pause_us:3": 1e6, "rx_pause_transitions:3": 0, "tx_bytes:3": 0}
_MOVING: Rates = {"rx_pause_us:3": 9e5, "rx_pause_transitions:3": 2e4, "tx_bytes:3": 1e9}
_LOCKS: Rates = {"tx_pause_us:3": 1e6}
_STILL: dict[str, Rates] = {f"spine-{s}/swp{p}": {"rx_pause_us:3": 0.0} for s in (1, 2) for p in (1, 2)}
_CIRCLE = ("leaf-0/swp8", "spine-1/swp2", "leaf-1/swp9", "spine-2/swp1")
_PAUSES_THE_CIRCLE = ("spine-1/swp1", "leaf-1/swp8", "spine-2/swp2", "leaf-0/swp9")
_ONE_LINK = ("leaf-0/swp8", "spine-1/swp1")

EXAMPLES = {
    "A circle of two leaves and two spines, and a host that waits for it.": Case(
        finds="leaf-0",
        rates=dict.fromkeys((*_CIRCLE, "gpu-1/nic0"), _LOCKED) | dict.fromkeys(_PAUSES_THE_CIRCLE, _LOCKS),
    ),
    "A leaf and a spine pause each other on two links, counted at one end.": Case(
        finds="leaf-0",
        plan=PLAN + "\nleaf-0/swp7 spine-1/swp7 speed=400",
        rates={"leaf-0/swp8": _LOCKED, "spine-1/swp7": _LOCKED},
    ),
    "Traffic is not counted by priority, and the pause has no end.": Case(
        finds="leaf-0", rates={port: {"rx_pause_us:3": 1e6} for port in _ONE_LINK}
    ),
    "Counted in frames: they allow for it, and nothing is sent.": Case(
        finds="leaf-0", rates={port: {"rx_pause_frames:3": 13_000, "tx_bytes:3": 0} for port in _ONE_LINK}
    ),
    # Quiet:
    "The same circle, and traffic flows.": Case(rates=dict.fromkeys(_CIRCLE, _MOVING)),
    "A storm without a circle.": Case(
        rates=_STILL | {"leaf-0/swp1": _LOCKED, "gpu-1/nic0": {**_LOCKS, **_LOCKED}, "leaf-0/swp8": _LOCKS}
    ),
    "Two priorities wait in opposite directions: no circle.": Case(
        rates=_STILL
        | {"leaf-0/swp8": _LOCKED, "spine-1/swp1": {"rx_pause_us:4": 1e6, "rx_pause_transitions:4": 0, "tx_bytes:4": 0}}
    ),
    "Half of the circle is counted by neither end.": Case(
        unknown=True, rates={"leaf-0/swp8": _LOCKED, "spine-1/swp2": _LOCKED}
    ),
}

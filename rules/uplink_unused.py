"""A link that routing offers takes no flow, while the others beside it take them all.

## Why it matters
Its capacity is lost, and the links beside it carry its share: a withdrawn route, a wrong weight, a member missing in
the switch's table. The port is up and counts no error.

## How it is detected
`truerail probe` sends flows from many source ports and reads from the hops which link each switch took. A link on a
shortest way to the targets that none of them took is named where chance leaves it out less than once in ten thousand
times, over all links together: with four links that needs some 45 flows at the switch, with eight some 110. Leaves
whose choice shows the next one (PRB004) leave links idle for another reason, and are left out. A switch whose next hops
do not answer is not evaluated: a neighbour that is silent is not one that is unused. LBL003 sees the same in counters,
where there is load. Where the same source port changes its path (spraying, adaptive routing), the rule does not apply.

## What to do
Look at the routes over this next hop (`show ip route`, the ECMP group in the ASIC), and whether its neighbour is
drained or withdraws the route.

## Decide
- `takes none of N flows`: no route over it, drained, or missing in the ECMP group. `show ip route` on the switch.
- `dead-member`: counters show it too.

## False positives
A neighbour that is drained for maintenance: announce the maintenance in truerail. Weights that prefer other links.
"""

import numpy as np

from rules._examples import SweptFacts, spines, swept_example, undecided
from rules._probes import Sweep, round_rate, settled_sweep
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.analysis.sweep.choices import IdleMember
from truerail.model import CauseKind, Finding, LoadBalancing, ProbeHop, Severity


@rule(
    "PRB008",
    Severity.WARNING,
    [ProbeHop],
    balancing=(LoadBalancing.ECMP,),
    cause=CauseKind.DEAD_MEMBER,
    first="where SWITCH/PORT",
)
def uplink_unused(round: Round) -> Findings:
    """Links that no flow takes."""
    sweep = settled_sweep(round, uplink_unused)
    paths, choices = sweep.swept.paths, sweep.swept.choices
    for member in choices.idle:
        yield _finding(sweep, member)
    if not len(choices.of):
        raise InsufficientDataError("no flow passed a switch with a choice whose next hop is known")
    segments = paths.edge_segments()
    open_ = np.setdiff1d(segments[choices.of], segments[choices.tested])
    short = np.isin(sweep.swept.coverage.segment, open_)
    report_not_evaluated(sweep.not_covered(short, "too few flows with known hops could have taken"))


def _finding(sweep: Sweep, member: IdleMember) -> Finding:
    name, link = sweep.subject((member.segment,)), sweep.graph.name(member.segment)
    tail = int(sweep.graph.tails(np.array([member.segment]))[0])
    switch = sweep.names[tail]
    return sweep.found(
        name,
        np.flatnonzero((sweep.swept.paths.node == tail).any(axis=1)),
        summary=f"takes none of {member.flows} flows that {switch} could send over {link}; by "
        f"chance less than once in {1 / max(member.chance, 1e-300):.0e} times",
        action=f"Check why {switch} does not send over {name}: routes, weights, a drained neighbour, the ECMP group.",
        confidence=0.95,
        detail=(("links", (link,)), ("flows", member.flows), ("chance", round_rate(member.chance))),
    )


PLAN = spines()


def _over(*used: int) -> SweptFacts:
    return swept_example(lambda flow: ("leaf-0", f"spine-{used[flow % len(used)]}", "leaf-1"))


EXAMPLES = {
    "Three of four uplinks share 64 flows.": Case(_over(0, 1, 3), "leaf-0/up2"),
    # Quiet:
    "All uplinks take flows.": Case(_over(0, 1, 2, 3)),
    "One of four spines never answers: it may be the one that is used.": undecided(
        swept_example(deepest=lambda flow: 1 if flow % 4 == 2 else 9)
    ),
    "Twelve flows are too few.": undecided(swept_example(lambda flow: ("leaf-0", "spine-0", "leaf-1"), 12)),
    "Hops were not asked.": undecided(),
}

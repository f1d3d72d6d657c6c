"""A link loses everything that one of its ends sends, and no counter shows it.

## Why it matters
Both ends are up and count no error, and the packets are gone. The flows that a hash puts on this link hang until a
timeout, while others on the same rail run at full speed.

## How it is detected
`truerail probe` sweeps source ports, so that flows take every path, and names each hop by probes whose TTL ends there.
Loss is what the listener at the other end did not hear; ICMP answers only name paths. Of flows that lost everything,
the links behind the last switch that answered count, but for those that a flow that arrived has used. The fewest that
explain all are named, several where they explain it alike; a link is left out where a switch before it answers all
other flows and none of these: they did not come so far. Over 90 % loss is silent, less is PRB007; a NIC of which
nothing is heard is PRB001. Unknown instead of passed: links that no flow of known path has crossed.

## What to do
Shut the link down: routing avoids what is down. Reseat and clean the optics of this direction, that of the sending end
first; then exchange it. Where the receiving end counts errors, see LNK004.

## Decide
- `N of N packets`: the link is dead in this direction. Shut it down, then repair.
- `one or more of`: the sweep cannot separate these links. Compare their counters; exchange nothing before.

## False positives
An access list or a wrong entry in a forwarding table of the switch behind the link loses the same flows.
"""

import numpy as np

from rules._examples import over_spines, spines, swept_example, together, undecided
from rules._probes import sweep_to_evaluate
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, ProbeHop, Severity


@rule("PRB005", Severity.CRITICAL, [ProbeHop], cause=CauseKind.SILENT_LINK, first="where SWITCH/PORT")
def silent_link(round: Round) -> Findings:
    """Links that lose everything in one direction."""
    sweep = sweep_to_evaluate(round, silent_link)
    paths, losses, coverage = sweep.swept.paths, sweep.swept.losses, sweep.swept.coverage
    for seat in losses.silent_seats:
        flows = losses.flows_of(seat)
        lost, sent = int(paths.flows.lost[flows].sum()), int(paths.flows.sent[flows].sum())
        where = f"{len(flows)} flows are lost on {sweep.words(seat.segments)}; no other flow passes there"
        yield sweep.loses(seat, flows, f"{lost:,} of {sent:,} packets of {where}")
    if losses.by_device:
        raise InsufficientDataError("paths change from packet to packet: loss is seated at leaves and NICs alone")
    passed = np.isin(coverage.segment, [*paths.good.tolist(), *losses.spoilt.tolist()])
    report_not_evaluated(sweep.not_covered(~passed, "no flow of known path has crossed"))


PLAN = spines()


def _dead(flow: int) -> int:
    return 100 if flow % 4 == 2 else 0


def _half(flow: int) -> int:
    return 100 if flow % 4 > 1 else 0


EXAMPLES = {
    "The spine receives and answers; what it sends down is lost.": Case(
        swept_example(lost=_dead, deepest=lambda flow: 2 if _dead(flow) else 9), "spine-2/d1"
    ),
    "The leaf answers, the spine behind it never: no other flow has used that uplink.": Case(
        swept_example(lost=_dead, deepest=lambda flow: 1 if _dead(flow) else 9), "leaf-0/up2"
    ),
    "Two uplinks of the leaf carry nothing that arrives.": Case(
        swept_example(lost=_half, deepest=lambda flow: 1 if _half(flow) else 9), "leaf-0/up2"
    ),
    # Quiet:
    "Everything arrives, in one direction; the other one was not swept.": undecided(swept_example()),
    "Nothing of the NIC arrives anywhere: PRB001.": undecided(swept_example(lost=lambda _: 100)),
    "Paths change from packet to packet, and everything arrives.": undecided(
        together(swept_example(), swept_example(lambda flow: over_spines(flow + 1)))
    ),
    "Hops were not asked.": undecided(),
}

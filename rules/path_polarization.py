"""A leaf's choice of uplink shows which link the next switch takes: two tiers hash alike (ECMP polarization).

## Why it matters
Flows that a leaf sends to one spine then leave that spine by the same few links, whatever their number. The others stay
idle, and the fabric has a half or a quarter of its bisection, which shows only under load.

## How it is detected
`truerail probe` sends flows from many source ports and reads from the hops which uplink the leaf took and which link
the next switch took. The mutual information of the two choices is zero bits where hashes are independent. A leaf is
named where it is at least half of what is possible and where shuffled choices show as much less than once in ten
thousand times, over all leaves together. It needs no load; LBL001 sees the same in counters, after minutes of traffic.
A leaf needs 64 flows with known hops for up to 8 uplinks, 128 for 16, 256 for 32; with fewer it is unknown. Where the
same source port changes its path (spraying, adaptive routing), the rule does not apply.

## What to do
Give each tier another hash seed (`hash seed`, `ecmp-hash-seed`, `net.ipv4.fib_multipath_hash_seed`), or another hash
algorithm or set of fields. Then sweep again.

## Decide
- `shows which link`: the named switches repeat the leaf's hash. Give their tier another seed, in a quiet hour.
- `ecmp-polarization`: its cause lists the leaves that it concerns, and the effect on their uplinks under load.

## False positives
Switches that hash on the port of arrival by design.
"""

from collections.abc import Iterator

import numpy as np

from rules._examples import swept_example, undecided
from rules._probes import Sweep, round_rate, settled_sweep
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.analysis.sweep.choices import ANSWERED, Spread, flows_for
from truerail.model import CauseKind, Finding, LoadBalancing, NotEvaluated, ProbeHop, Severity, Transport
from truerail.model.names import folded


@rule(
    "PRB004",
    Severity.CRITICAL,
    [ProbeHop],
    transports=(Transport.ROCE,),
    balancing=(LoadBalancing.ECMP,),
    cause=CauseKind.ECMP_POLARIZATION,
    first="where SWITCH",
)
def path_polarization(round: Round) -> Findings:
    """Leaves whose choice of uplink shows the choice of the next switch."""
    sweep = settled_sweep(round, path_polarization)
    for spread in sweep.swept.choices.polarized:
        yield _finding(sweep, spread)
    if not sweep.swept.choices.spreads:
        why = "no flow has a path with two choices: over two tiers, or parallel links with addresses"
        raise InsufficientDataError(why)
    report_not_evaluated(_unclear(sweep))


def _finding(sweep: Sweep, spread: Spread) -> Finding:
    paths, one = sweep.swept.paths, spread.found
    leaf, above = sweep.names[spread.leaf], tuple(sweep.names[code] for code in spread.switches.tolist())
    flows = np.flatnonzero((paths.leaf[0] == spread.leaf) & (paths.length > 2))
    return sweep.found(
        leaf,
        flows,
        summary=f"the uplink that {leaf} takes shows which link {folded(above)} takes: {one.bits:.2f} of "
        f"{one.possible:.2f} bits in {one.flows} flows, by chance less than once in {1 / one.chance:.0e} times",
        action=f"Give {folded(above)} another hash seed than {leaf} has.",
        confidence=0.99,
        detail=(
            ("bits", round_rate(one.bits)),
            ("possible", round_rate(one.possible)),
            ("chance", round_rate(one.chance)),
            ("flows", one.flows),
            ("switches", above),
        ),
    )


def _unclear(sweep: Sweep) -> Iterator[NotEvaluated]:
    unclear = sweep.swept.choices.unclear
    if unclear:
        needed = max(int(ANSWERED * flows_for(one.members)) for one in unclear)
        most = max(one.found.flows for one in unclear)
        leaves = tuple(sweep.names[one.leaf] for one in unclear)
        why = f"at most {most} flows of {folded(leaves)} have both hops known, and {needed} show a repeated hash"
        yield NotEvaluated(why, "switch", len(leaves), len(sweep.swept.choices.spreads), leaves, rest_evaluated=True)


PLAN = "\n".join(
    ["h1/nic0 leaf-0/p1 rail=0", "h2/nic0 leaf-1/p1 rail=0"]
    + [f"leaf-{pod}/up{spine} spine-{pod * 10 + spine}/d0" for pod in range(2) for spine in range(2)]
    + [
        f"spine-{pod * 10 + spine}/up{core} superspine-{spine * 10 + core}/d{pod}"
        for pod in range(2)
        for spine in range(2)
        for core in range(2)
    ]
)


def _way(spine: int, core: int) -> tuple[str, ...]:
    return "leaf-0", f"spine-{spine}", f"superspine-{spine * 10 + core}", f"spine-{10 + spine}", "leaf-1"


def _own(flow: int) -> tuple[str, ...]:
    return _way(flow % 2, flow // 2 % 2)


_repeated = swept_example(lambda flow: _way(flow % 2, flow % 2))

EXAMPLES = {
    "Each of two spines uses one of its two uplinks.": Case(_repeated, "leaf-0"),
    # Quiet:
    "The two choices are independent.": Case(swept_example(_own)),
    "Sixteen flows are too few.": undecided(swept_example(_own, 16)),
    "Paths without a second choice.": undecided(
        swept_example(lambda _: ("leaf-0", "spine-0", "leaf-1")),
        plan="h1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-1/p1 rail=0\nleaf-0/u spine-0/p0\nleaf-1/u spine-0/p1",
    ),
    "Hops were not asked.": undecided(),
}

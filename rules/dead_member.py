"""One uplink of a switch stays unused while all others share the load evenly.

## Why it matters
The link's capacity is lost: routing gives it no weight, its next hop is a black hole, or it is drained and forgotten.
The others carry its share, and nothing alerts, because the port is up and counts no errors.

## How it is detected
Exactly one member of the group carries under 5 % of the mean, in every window, while its link is up. With few flows
that happens by chance; but few flows also load the other members unevenly. The finding requires that both together, a
member without any flow and others so even, happen by chance less than once in 10,000 times, whatever the number of
flows from the lower bounds of LBL001 on. Siblings of the pod with the same load are included: their evenness shows how
many flows such a switch has, as long as its own loads agree. The flows expected from hosts and siblings may be wrong,
so chance must be small without either too. Full uplinks prove nothing: the limit makes few flows look even. So a
switch with 16 uplinks needs some 200 flows, one with eight some 100; with four uplinks the rule is rarely sure.
Adaptive routing and spraying leave no member out by chance: there the others must differ by no more than a quarter.
Uplinks that are down or switched off are not members. Unknown instead of passed: a switch with uplinks without data or
with too little load to be evaluated, and one whose idle uplinks so few flows explain.

## What to do
Look at the routes over this next hop (`show ip route`, the ECMP group in the ASIC), at a drained or weighted neighbour,
and whether the link is in the group at all; then at its errors: adaptive routing avoids a bad link.

## Decide
- `carries 0.00 Gb/s`: not used at all: no route over it, drained, or missing in the ECMP group. `show ip route` on the
  switch.
- `dead-member`: the other uplinks carry its share. If its error counters rise, adaptive routing avoids a bad link: see
  LNK004.

## False positives
A neighbour that is drained for maintenance. Announce the maintenance in truerail.
"""

import numpy as np

from rules._examples import one_leaf, undecided
from truerail.analysis.counters.carried import overall
from truerail.analysis.ecmp.siblings import polarized
from truerail.analysis.ecmp.tiers import balance_to_evaluate, idle_switches, not_evaluated
from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, PortCounters, Severity


@rule("LBL003", Severity.WARNING, [PortCounters], cause=CauseKind.DEAD_MEMBER, first="where SWITCH/PORT")
def dead_member(round: Round) -> Findings:
    """Uplinks that are up and carry no traffic."""
    b = balance_to_evaluate(round)
    found = round.dead_members
    for group, chance in found.items():
        yield _finding(b, group, chance)
    explained = np.zeros(len(b.switch), dtype=bool)
    explained[list(found)] = True
    for siblings in polarized(round.siblings):
        explained[siblings.groups] = True
    report_not_evaluated([*idle_switches(b, explained), *not_evaluated(b)])


def _finding(b: Balance, group: int, chance: float) -> Finding:
    rows = b.uplinks(group)
    row = int(rows[b.idle[rows]][0])
    port, name = b.telemetry.wiring.index.spell(int(b.port[row])), b.names(np.array([group]))[0]
    received = float(overall(b.carried.rx[b.port[[row]]])[0])
    share = 1 / max(int(b.members[group]) - 1, 1)
    return dead_member.found(
        port,
        summary=f"is up and carries {b.load[row] * 8e-9:.2f} Gb/s, while the other {b.members[group] - 1} uplinks of "
        f"{name} carry {b.total[group] * share * 8e-9:.3g} Gb/s each on average",
        action=f"Check why {name} does not send over {port}: routes, weights, a drained neighbour, the ECMP group.",
        confidence=0.9,
        detail=(
            ("chance", chance),
            ("receives_gbps", None if np.isnan(received) else round(received * 8e-9, 3)),
            ("shares", dict(b.shares(group))),
        ),
    )


PLAN = one_leaf(hosts=16, spines=16)


def _rates(idle: int) -> dict[str, dict[str, float]]:
    return {f"leaf-0/up{s}": {"tx_bytes": 0.0 if s == idle else 1e10 * (1 + s % 3 / 50)} for s in range(16)}


EXAMPLES = {
    "Fifteen uplinks share the load evenly, the sixteenth gets nothing.": Case(finds="leaf-0/up3", rates=_rates(3)),
    # Quiet:
    "All uplinks carry alike.": Case(rates=_rates(99)),
    "Few flows: one uplink gets none of them, others get two.": undecided(
        rates={f"leaf-0/up{s}": {"tx_bytes": (0.0 if s == 3 else 1e10 * (1 + s % 2))} for s in range(16)}
    ),
    "It carried in one of the windows.": Case(rates=_rates(3) | {"leaf-0/up3": {"tx_bytes": [0.0] * 9 + [1.6e9] * 3}}),
}

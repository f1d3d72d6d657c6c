"""A switch spreads its load over its uplinks more unevenly than the number of flows explains.

## Why it matters
The busiest uplink sets the pace of the collectives that cross it. A hash that leaves out the fields that vary (the UDP
source port, the queue pair), unintended weights and a degraded link all look like this.

## How it is detected
In every window the busiest member carries half more than the mean, or the loads scatter by more than a quarter. A few
flows do that to any hash: loads of F flows over K uplinks scatter by sqrt((K-1)/F). Up to twice that, and what chance
does once in a million times, is expected for the fewest flows that can be there (LBL001 says how they are bounded).
What is beyond, or idle members that are less likely, is a finding. Adaptive routing and spraying have no such excuse:
there uneven uplinks point to a degraded one. Not found: loads that are even by speed, missing uplinks, shares that are
the same on three or more siblings and in every window (weights), and what LBL001 and LBL003 report. Unknown instead of
passed: a switch whose uplinks are not all reported or carry too little to be evaluated, and one no more uneven than so
few flows make it.

## What to do
See whether the hash includes UDP source port or destination queue pair (`show ip ecmp`, hash fields), look for weights,
and at errors, pauses and speed of the uplinks that carry least. One cause for all: the same neighbour on many switches.

## Decide
- `none of them stay idle`: all are used, unevenly. Look at weights and at the uplinks that carry least: errors, speed,
  pauses.
- `N of them stay idle`: some are not used at all. Look at routes, the ECMP group and drained neighbours (LBL003).

## False positives
Few large flows, such as one job with few queue pairs, load any hash unevenly. A reroute within the last minutes.
"""

from functools import partial

import numpy as np

from rules._examples import one_leaf, undecided
from truerail.analysis.ecmp.flow_bounds import FlowBounds
from truerail.analysis.ecmp.occupancy import idle_chance
from truerail.analysis.ecmp.siblings import CHANCE, polarized, weighted
from truerail.analysis.ecmp.tiers import balance_to_evaluate, not_evaluated, uneven_switches
from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, LoadBalancing, PortCounters, Severity
from truerail.model.columns import Mask, Numbers

PEAK, UNEVEN = 1.5, 0.25
"""Maximum over mean, and coefficient of variation, from which loads are uneven (detection.md 2.5)."""
EXPECTED = 2.0
"""Times the scatter of random hashing that is still expected (detection.md 2.5)."""
DEVIATIONS = 4.75
"""Standard deviations of what chance exceeds once in a million times (`siblings.CHANCE`)."""


@rule("LBL002", Severity.WARNING, [PortCounters], cause=CauseKind.OVERLOAD, first="where SWITCH")
def uplink_imbalance(round: Round) -> Findings:
    """Switches whose uplinks are uneven beyond what their flows explain."""
    b = balance_to_evaluate(round)
    explained = np.zeros(len(b.switch), dtype=bool)
    explained[list(round.dead_members)] = True
    for siblings in polarized(round.siblings):
        explained[siblings.groups] = True
    uneven = b.evaluated & ~explained & ((b.peak > PEAK) | (b.uneven > UNEVEN))
    hashed = round.plan.load_balancing is LoadBalancing.ECMP
    expected = _scatter_by_chance(b, round.flow_bounds) if hashed else np.zeros(len(b.switch))
    candidates = np.flatnonzero(uneven & ((b.uneven > expected) | _not_chance(b, round.flow_bounds, uneven)))
    candidates = candidates[~_weighted(b, uneven)[candidates]]
    yield from (_finding(b, group, float(expected[group])) for group in candidates.tolist() if _always(b, group))
    by_chance = np.flatnonzero(uneven & ~np.isin(np.arange(len(uneven)), candidates) & ~_weighted(b, uneven))
    always = [group for group in by_chance.tolist() if _always(b, group)]
    report_not_evaluated([*uneven_switches(b, always), *not_evaluated(b)])


def _scatter_by_chance(b: Balance, flows: FlowBounds) -> Numbers:
    """The largest coefficient of variation that random hashing may give the fewest flows that can be there; infinite
    for none. F times its square is distributed as chi-square over K-1 is, whose tail is long where K is small (quantile
    by Wilson and Hilferty, 1931).
    """
    free = np.maximum(b.members - 1, 1)
    rare = (1 - 2 / (9 * free) + DEVIATIONS * np.sqrt(2 / (9 * free))) ** 3
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(np.maximum(EXPECTED**2, rare) * free / np.maximum(flows.rates, flows.from_below)))


def _not_chance(b: Balance, flows: FlowBounds, which: Mask) -> Mask:
    """Groups whose idle members, each for itself, cannot be chance."""
    found = np.zeros(len(which), dtype=bool)
    least = flows.least
    for group in np.flatnonzero(which & (b.idle_members > 0)).tolist():
        chance = idle_chance(int(least[group]), int(b.members[group]), int(b.idle_members[group]))
        found[group] = chance < CHANCE
    return found


def _weighted(b: Balance, which: Mask) -> Mask:
    """Which of these groups share their load as their siblings do: weights, and no hash."""
    found = np.zeros(len(which), dtype=bool)
    found[which] = weighted(b, np.flatnonzero(which))
    return found


def _always(b: Balance, group: int) -> bool:
    """Whether the group is uneven in every window that is reported."""
    rows = b.uplinks(group)
    windows = b.in_windows(rows[b.member[rows]])
    windows = windows[:, ~np.isnan(windows).any(axis=0)]
    mean = windows.mean(axis=0)
    uneven = (windows.max(axis=0, initial=0.0) > PEAK * mean) | (windows.std(axis=0) > UNEVEN * mean)
    return bool(uneven.any() and uneven.all())


def _finding(b: Balance, group: int, expected: float) -> Finding:
    name = b.names(np.array([group]))[0]
    idle = int(b.idle_members[group])
    return uplink_imbalance.found(
        name,
        summary=f"the busiest of {b.members[group]} uplinks carries {b.peak[group]:.1f} times the mean, "
        f"{idle or 'none'} of them {'stays' if idle == 1 else 'stay'} idle",
        action=f"Check hash fields, weights and the links that carry least on {name}.",
        confidence=0.7,
        detail=(
            ("peak", round(float(b.peak[group]), 3)),
            ("uneven", round(float(b.uneven[group]), 3)),
            ("expected_at_most", round(expected, 3)),
            ("idle", idle),
            ("shares", dict(b.shares(group))),
        ),
    )


PLAN = one_leaf(hosts=64, spines=4)
_HOSTS = {f"leaf-0/p{n}": {"rx_bytes": 1e9} for n in range(64)}


def _rates(*shares: float) -> dict[str, dict[str, float]]:
    return {f"leaf-0/up{s}": {"tx_bytes": 64e9 * share} for s, share in enumerate(shares)}


_SIBLINGS = "\n".join(f"leaf-{n}/up{s} spine-{s}/p{n} speed={200 if s else 400}" for n in range(4) for s in range(4))
_finds_leaf = partial(Case, finds="leaf-0")

EXAMPLES = {
    "64 hosts send alike, and one of four uplinks carries two thirds of it.": _finds_leaf(
        rates=_HOSTS | _rates(0.66, 0.12, 0.12, 0.1)
    ),
    "Half of the uplinks stay idle on one switch alone.": _finds_leaf(rates=_HOSTS | _rates(0.5, 0.5, 0.0, 0.0)),
    "Adaptive routing steers away from one uplink.": _finds_leaf(
        load_balancing=LoadBalancing.ADAPTIVE, rates=_rates(0.3, 0.3, 0.3, 0.1)
    ),
    # Quiet:
    "All uplinks carry alike.": Case(rates=_HOSTS | _rates(0.25, 0.25, 0.26, 0.24)),
    "Four hosts send at full speed: some uplinks get two flows, others none.": undecided(
        rates={f"leaf-0/p{n}": {"rx_bytes": 4e10 if n < 4 else 1.0} for n in range(64)}
        | {f"leaf-0/up{s}": {"tx_bytes": 4e10 * flows} for s, flows in enumerate((1, 1, 0, 1))}
        | {"leaf-0/up0": {"tx_bytes": 5e10}}
    ),
    "Uplinks of different speed carry by their speed.": Case(
        plan=_SIBLINGS, rates={f"leaf-{n}/up{s}": {"tx_bytes": 1e10 if s else 2e10} for n in range(4) for s in range(4)}
    ),
    "All siblings give the same uplink the same larger share: weights.": Case(
        plan=_SIBLINGS,
        load_balancing=LoadBalancing.ADAPTIVE,
        rates={f"leaf-{n}/up{s}": {"tx_bytes": (n + 3) * (1e9 if s else 4e9)} for n in range(4) for s in range(4)},
    ),
    "It was even for a part of the time.": Case(
        rates=_HOSTS | _rates(0.25, 0.25, 0.25, 0.25) | {"leaf-0/up0": {"tx_bytes": [16e9] * 3 + [48e9] * 9}},
        load_balancing=LoadBalancing.SPRAY,
    ),
}

"""Switches hash flows as the tier below did, so that a part of their uplinks stays idle (ECMP polarization).

## Why it matters
A switch with the hash and seed of the tier below receives only the flows that this hash has sent to it, and maps them
all alike: of K uplinks only K/gcd(K, K below) are used, whatever the load. The others stay idle while the used ones
carry two or four times their share, mark, pause and slow every collective that crosses the tier.

## How it is detected
Members that carry under 5 % of the mean over the whole window are idle. A repeated hash determines which: a switch at
place j of K below uses the uplinks whose number leaves the remainder of j by the greatest common divisor, or those in
j's part of the range, and its siblings at other places use others. Switches that follow such a pattern, in the plan's
order of ports or in one order of their own, are named where chance explains it less than once in a million times, over
the siblings together. The probability depends on how many members are in use and on the number of flows, which no
interface counts; so it is bounded from below: by the ports that bring the traffic, by the fewest NICs that can send it,
by the scatter of the uplinks one tier below, and by the hosts' queue pairs where reported. Estimates alone are never
decisive. Siblings that leave any half of their uplinks or more idle are named by the same bounds.

The same happens downwards where a leaf has several links to each spine: a spine with the leaves' hash uses one link of
each bundle, or half of them. It is named where chance is excluded by the least number of flows that its loads require,
and where another spine uses links at other places: links that all spines leave out are drained.

No finding: members idle because of a few large flows; uplinks that are down; uplinks to a neighbour without any
traffic, or the same ones on all siblings, which routing may leave out. One sibling in four may not fit the pattern (a
member that is out of the routing gives it another divisor). A single switch cannot show it. Unknown instead of passed:
a switch with uplinks without data or with too little load, and idle uplinks that fit a pattern but may be chance.

## What to do
Give each tier another hash seed (`hash seed`, `ecmp-hash-seed`, `net.ipv4.fib_multipath_hash_seed`), or another hash
algorithm or set of fields; or use adaptive routing. Then look whether all uplinks carry traffic.

## Decide
- `uplinks stay idle`: the hash of the tier below is repeated here. Give this tier another hash seed; in a quiet hour,
  since flows are rehashed.
- `parallel links to each of`: the spines repeat the leaves' hash downwards. Give the spines another seed.

## False positives
Few large flows leave uplinks idle by chance; the rule bounds that to less than one in a million. Uplinks taken out of
routing on purpose on several siblings.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from truerail.analysis.ecmp.parallel import Bundled, bundled
from truerail.analysis.ecmp.siblings import CHANCE, Siblings, polarized
from truerail.analysis.ecmp.tiers import balance_to_evaluate, unclear_tiers
from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.analysis.rule import Case, Findings, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, LoadBalancing, NotEvaluated, PortCounters, Severity, Transport


@rule(
    "LBL001",
    Severity.CRITICAL,
    [PortCounters],
    transports=(Transport.ROCE,),
    balancing=(LoadBalancing.ECMP,),
    cause=CauseKind.ECMP_POLARIZATION,
    first="where SWITCH",
)
def ecmp_polarization(round: Round) -> Findings:
    """Switches that leave as many of their uplinks idle as a repeated hash does."""
    b = balance_to_evaluate(round)
    found = polarized(round.siblings)
    for siblings in found:
        yield from _findings(b, siblings)
    below = bundled(b)
    sure = [one for one in below if one.chance < CHANCE]
    yield from (_downwards(b, one) for one in sure)
    report_not_evaluated([*unclear_tiers(b, round.siblings), *_faint(b, below)])


def _faint(b: Balance, below: Sequence[Bundled]) -> Iterator[NotEvaluated]:
    """Switches whose bundles of parallel links are used as a repeated hash uses them, or by chance."""
    names = tuple(b.telemetry.wiring.index.devices.names[one.switch] for one in below if one.chance >= CHANCE)
    if names:
        why = "more flows: links of parallel ones stay idle as a repeated hash leaves them, or by chance"
        yield NotEvaluated(why, what="switch", count=len(names), subjects=names)


def _findings(b: Balance, siblings: Siblings) -> Findings:
    names = b.names(siblings.groups)
    pairs = zip(siblings.groups.tolist(), siblings.idle.tolist(), siblings.members.tolist(), strict=True)
    for name, (group, idle, members) in zip(names, pairs, strict=True):
        yield ecmp_polarization.found(
            name,
            summary=f"{idle} of {members} uplinks stay idle, as the hash of the tier below leaves them on it and "
            f"{len(names) - 1} siblings, and chance does that less than once in {1 / siblings.chance:.0e} times",
            action="Give these switches another hash seed than the tier below has.",
            confidence=0.99 if siblings.classes >= 2 else 0.95,
            detail=(
                ("idle", idle),
                ("members", members),
                ("chance", siblings.chance),
                ("siblings", names),
                ("shares", dict(b.shares(group))),
            ),
        )


def _downwards(b: Balance, one: Bundled) -> Finding:
    name, used = b.telemetry.wiring.index.devices.names[one.switch], len(one.used)
    return ecmp_polarization.found(
        name,
        summary=f"of the {one.members} parallel links to each of {one.bundles} leaves it uses {used}, as their hash "
        f"leaves them, and chance does that less than once in {1 / one.chance:.0e} times",
        action=f"Give {name} and its siblings another hash seed than the leaves have.",
        confidence=0.95,
        detail=(
            ("idle", one.members - used),
            ("members", one.members),
            ("chance", one.chance),
            ("bundles", one.bundles),
            ("shares", dict(one.shares)),
        ),
    )


def _cables(spines: int, leaves: int, superspines: int) -> str:
    below = [f"leaf-{n}/up{s} spine-{s}/down{n} speed=400" for n in range(leaves) for s in range(spines)]
    above = [f"spine-{s}/up{t} superspine-{t}/down{s} speed=400" for s in range(spines) for t in range(superspines)]
    return "\n".join(below + above)


PLAN, _PLAN_OF_SIX = _cables(4, 12, 8), _cables(4, 12, 6)
_BELOW = {f"leaf-{n}/up{s}": {"tx_bytes": 1e10} for n in range(12) for s in range(4)}


def _above(used: dict[int, set[int]], superspines: int = 8, back: float = 0.0) -> dict[str, dict[str, float]]:
    return {
        f"spine-{s}/up{t}": {"tx_bytes": 12e10 / len(of) if t in of else 0.0, "rx_bytes": back}
        for s, of in used.items()
        for t in range(superspines)
    }


_PARALLEL = "\n".join(
    [f"leaf-{n}/up{u} spine-{u % 4}/p{n}-{u // 4} speed=400" for n in range(6) for u in range(16)]
    + [f"h{n}x{h}/nic0 leaf-{n}/p{h} rail=0 speed=400" for n in range(6) for h in range(16)]
)


def _down(used: dict[int, set[int]]) -> dict[str, dict[str, float]]:
    """What spines send over the four links to each leaf, and all leaves over their uplinks."""
    return {
        f"spine-{s}/p{n}-{u}": {"tx_bytes": 4e10 / len(of) if u in of else 0.0}
        for s, of in used.items()
        for n in range(6)
        for u in range(4)
    } | {f"leaf-{n}/up{u}": {"tx_bytes": 1e10} for n in range(6) for u in range(16)}


_finds_spines = partial(Case, finds="spine-0 spine-1 spine-2 spine-3")

EXAMPLES = {
    "Every spine uses two of eight uplinks, each its own.": _finds_spines(
        rates=_BELOW | _above({s: {s, s + 4} for s in range(4)})
    ),
    "Every spine uses a quarter of the hash's range, which is one and a half of six uplinks.": _finds_spines(
        plan=_PLAN_OF_SIX, rates=_BELOW | _above({0: {0, 1}, 1: {1, 2}, 2: {3, 4}, 3: {4, 5}}, 6)
    ),
    "The second link to every spine stays idle on all leaves: the bundle's hash is that of the next hop.": Case(
        finds="leaf-0 leaf-1 leaf-2 leaf-3",
        plan="\n".join(
            [f"leaf-{n}/up{u} spine-{u // 2}/p{n}-{u % 2} speed=400" for n in range(4) for u in range(8)]
            + [f"h{n}x{h}/nic0 leaf-{n}/p{h} rail=0 speed=400" for n in range(4) for h in range(24)]
        ),
        rates={f"leaf-{n}/up{u}": {"tx_bytes": 0.0 if u % 2 else 4e10} for n in range(4) for u in range(8)}
        | {f"leaf-{n}/p{h}": {"rx_bytes": 16e10 / 24} for n in range(4) for h in range(24)},
    ),
    "Of four parallel links to each leaf every spine uses one, each another: it has the leaves' hash.": _finds_spines(
        plan=_PARALLEL, rates=_down({s: {s} for s in range(4)})
    ),
    "Every spine uses two of four parallel links, by the parity of its place.": _finds_spines(
        plan=_PARALLEL, rates=_down({s: {s % 2, s % 2 + 2} for s in range(4)})
    ),
    # Quiet:
    "All uplinks carry alike.": Case(rates=_BELOW | _above({s: set(range(8)) for s in range(4)})),
    "Three large flows over eight uplinks leave five idle, and each sibling others.": Case(
        rates={f"leaf-{n}/up{s}": {"tx_bytes": 4e10 if n < 3 else 0.0} for n in range(12) for s in range(4)}
        | _above({0: {0, 1, 5}, 1: {1, 2, 3}, 2: {0, 3, 6}, 3: {2, 4, 7}})
    ),
    "The same half is idle on all spines: no route leads over those superspines.": Case(
        rates=_BELOW | _above({s: set(range(4)) for s in range(4)})
    ),
    "The same half is idle on all spines, though those superspines send: this pod has no route over them.": Case(
        rates=_BELOW | _above({s: set(range(4)) for s in range(4)}, back=2e10)
    ),
    "All parallel links down carry alike.": Case(plan=_PARALLEL, rates=_down({s: set(range(4)) for s in range(4)})),
    "All spines leave the same parallel links idle: they are drained.": Case(
        plan=_PARALLEL, rates=_down({s: {0, 1} for s in range(4)})
    ),
}

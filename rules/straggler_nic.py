"""A NIC is slower than the NICs of its rail in other hosts.

## Why it matters
It sets the pace of every ring that passes it. The reason is behind this one port: a narrowed PCIe link, lost lanes, a
bad cable, a NIC that throttles by heat, a GPU that lags.

## How it is detected
What the NIC sends and receives on the wire, against what is expected of it: its host's level, its rail's usual share,
and the share that NICs with as many congestion signs (notices, marks) keep, computed in turn as medians. It is 15 %
below that, further than 3.5 standard deviations of its peers (eight or more hosts on that rail), of its host's other
NICs and of NICs with as many signs, in three windows of a minute and in the newest. Each direction is weighted by its
certainty. Hosts are left out as in RAL001: too little load, jobs on fewer GPUs, the same pattern on most hosts of one
level of load.

A NIC that congestion slows down is not slow itself: where it sends less it gets notices (CNP), pauses, or waits for
credits (InfiniBand's port_xmit_wait), and where it receives less, marked packets: half as many again as its peers. It
then lacks no more than NICs with as many signs. What a slow NIC sends too slowly another one receives too slowly: of
the two the one that lacks less in its other direction is not slow; where both may be, both are named.

Unknown instead of passed: rails with fewer than eight NICs that carry enough, hosts with traffic that are not
evaluated, NICs that lack as much while their peers are apart by as much, and hosts that move in step below 90 % of the
line rate: all NICs of a host within 5 %, and another host within 1 % of its level; hosts whose NICs' counters are
updated at different moments, which do not show whether they move in step. Synchronous collectives do so with a slow NIC
and without one: it drags its peers to its own rate. A NIC that lags for a known reason shows that its job does not.

What cannot be found: a slow NIC whose flows collide with many others, where NICs with as many congestion signs differ
by as much as it lacks; one on a host whose other NICs differ among themselves; and in synchronous collectives, which
NIC is the slow one. One that takes in too slowly pauses its leaf (PFC001, PFC002); one that sends too slowly, or whose
GPU computes too slowly, leaves nothing in any counter of the network: look at the job's own timings.

## What to do
Compare PCIe width and speed, link speed, temperature, pauses sent and out-of-sequence packets of this NIC with its
peers, then the cable and its leaf port.

## Decide
- `without congestion`: the NIC or its host. Compare PCIe, speed, temperature and out-of-sequence packets with a NIC
  beside it.
- `at the other end of its flows`: one of two NICs, and the counters do not decide. Look at both.

## False positives
A host that computes more slowly sends less on all rails, and is left out. In synchronous collectives all NICs sink
together: then look at the job's own timings.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from rules._examples import down, undecided
from rules._held_up import Directions, Why, directions
from rules._links import hosts_not_evaluated
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.carried import TOO_FEW
from truerail.analysis.counters.rail_balance import (
    FLAGGED_WINDOWS,
    FLOOR,
    IDLE,
    LEAST_NICS,
    LEAST_PEERS,
    OUTLIER,
    SHORTFALL,
    Rails,
    means,
    medians,
)
from truerail.analysis.rule import Case, Findings, InsufficientDataError, Round, report_not_evaluated, rule
from truerail.model import CauseKind, Finding, NotEvaluated, PortCounters, Severity
from truerail.model.columns import Mask, Numbers, distinct

IN_STEP, ONE_LEVEL = 1.05, 1.01
"""Maximum ratio between the rates of a host's NICs, and between neighbouring host levels, where one job moves all of
them in step: 1.04 and 1.007 in the simulator's synchronous collectives, with a slow NIC in them. Chosen by judgement.
"""
LINE_RATE = 0.9
"""Share of the line rate from which no NIC slows down the others."""


class _Lagging(NamedTuple):
    """NICs that stand out below their peers, and those that carry as little while their peers scatter too much to
    decide, shapes (hosts, NICs of a host); rails with data on enough NICs to compare them, and rails with traffic.
    """

    found: Mask
    doubtful: Mask
    compared: int
    rails: int


SURE, BY_RATES_ONLY, ONE_OF_TWO = 0.8, 0.6, 0.4
"""Confidence where congestion is counted and is not the reason; where it is not counted (detection.md 7: inferred by
traffic only); where the NIC at the other end may be the slow one as well.
"""


@rule("RAL002", Severity.WARNING, [PortCounters], cause=CauseKind.SLOW_HOST)
def straggler_nic(round: Round) -> Findings:
    """NICs below their peers on the rail."""
    telemetry = round.telemetry
    rails = round.rails
    if not rails.carried.enough:
        raise InsufficientDataError(TOO_FEW)
    ways = round.once(directions)
    lags = _lagging(ways)
    if not lags.compared:
        raise InsufficientDataError(f"no rail with {LEAST_PEERS} NICs that carry enough to compare")
    named = set[int]()
    for row, nic in np.argwhere(lags.found).tolist():
        code = int(rails.port[row, nic])
        why, others = ways.why(row, nic)
        down = telemetry.wiring.states.down(np.array([code]))[0]
        if why in (Why.ITSELF, Why.EITHER) and code not in named and not down:
            named |= {code, *others}
            yield _finding(telemetry, ways, (row, nic), why, others)
    report_not_evaluated(_not_evaluated(round, ways, lags))


def _not_evaluated(round: Round, ways: Directions, lags: _Lagging) -> Iterator[NotEvaluated]:
    """NICs that may be slow, and that nothing can be compared with."""
    index, rails = round.cabling.index, ways.rails
    if missing := lags.rails - lags.compared:
        why = f"{missing} of {lags.rails} rails have fewer than {LEAST_PEERS} NICs that carry enough"
        yield NotEvaluated(why, what="rail", count=missing, of=lags.rails)
    yield from hosts_not_evaluated(round)
    places = np.argwhere(lags.doubtful).tolist()
    slow = [at for at in places if ways.why(*at)[0] in (Why.ITSELF, Why.EITHER)]
    if slow:
        why = f"{len(slow)} NICs carry less than is expected, and their peers are apart by as much"
        ports = tuple(str(index.spell(int(rails.port[row, nic]))) for row, nic in slow)
        yield NotEvaluated(why, what="NIC", count=len(ports), subjects=ports)
    step = f"move in step below {LINE_RATE:.0%} of the line rate: a slow NIC would slow all of them to its own rate"
    moments = "count their NICs at different moments: a slow NIC that holds its job would not show"
    for which, does in ((_in_step(rails), step), (_renewed_apart(round.telemetry, rails), moments)):
        hosts = tuple(index.devices.names[code] for code in rails.host[which].tolist())
        if hosts and not lags.found.any():  # a NIC that lags for a known reason slows no other NIC
            yield NotEvaluated(f"{len(hosts)} hosts {does}", what="host", count=len(hosts), subjects=hosts)


def _renewed_apart(telemetry: Telemetry, rails: Rails) -> Mask:
    """Evaluated hosts of whose NICs most readings renew some and leave the others as they were. Shape (hosts,)."""
    gained = telemetry.part(Quantity.TX_BYTES, None, rails.port.ravel())[0]
    known = ~np.isnan(gained).reshape(*rails.port.shape, gained.shape[1])
    some, every = known.any(axis=1), (known | (rails.port < 0)[..., None]).all(axis=1)
    return np.asarray(rails.evaluated & (2 * (some & ~every).sum(axis=1) > some.sum(axis=1)))


def _finding(telemetry: Telemetry, ways: Directions, at: tuple[int, int], why: Why, others: tuple[int, ...]) -> Finding:
    index, rails = telemetry.wiring.index, ways.rails
    code = int(rails.port[at])
    port, share, fair = index.spell(code), float(rails.typical[at]), ways.alike.share(at)
    rail = int(index.rail[index.cable_at(code)])
    peers = int(np.count_nonzero((rails.rail == rails.rail[at]) & rails.evaluated[:, None]))
    counted = bool(ways.reported[:, *at].all())
    ends = [str(index.spell(other)) for other in others]
    either = f"; or {' or '.join(ends)} is slow, at the other end of its flows" if ends else ""
    return straggler_nic.found(
        port,
        summary=f"carries {share:.0%} of its host's median NIC and {fair:.0%} of what its host and the {peers} NICs of "
        f"rail {rail} imply, {_besides(ways, at, counted=counted)}{either}",
        action=f"Compare PCIe width, link speed, pauses and errors of {' and of '.join([str(port), *ends])} with "
        f"the peers on rail {rail}.",
        rail=rail,
        confidence=ONE_OF_TWO if ends else SURE if counted else BY_RATES_ONLY,
        detail=(
            ("share_of_median", round(share, 3)),
            ("share_of_expected", round(fair, 3)),
            ("peers", peers),
            ("congestion_counted", counted),
            ("because", why.value),
            *((("or", tuple(ends)),) if ends else ()),
        ),
    )


def _besides(ways: Directions, at: tuple[int, int], *, counted: bool) -> str:
    if ways.alike.known[:, *at].any():
        return "more than NICs with as many congestion signs lack"
    return "without congestion" if counted else "and no counter shows congestion"


def _lagging(ways: Directions) -> _Lagging:
    """NICs that carry less than expected, compared with the NICs of their rail in other hosts, minute after minute.

    What a NIC lacks in the two directions is combined by certainty (weights of inverse variance): a slow NIC lacks
    equally in both, and where collisions scatter one direction, the other still shows it. Arrays have shape (hosts,
    NICs of a host) and, last, windows.
    """
    rails, compared, busy = ways.rails, 0, 0
    found, doubtful = (np.zeros(rails.port.shape, dtype=bool) for _ in range(2))
    own, scatter = _own(ways)
    for rail in distinct(rails.rail[rails.rail >= 0]).tolist():
        on = rails.rail == rail
        known = (~np.isnan(rails.share[on & rails.busy[:, None]])).sum(axis=0) >= LEAST_PEERS
        compared += int(known.sum() >= FLAGGED_WINDOWS)
        busy += bool((rails.use[on] >= IDLE).any())
        at = on & rails.evaluated[:, None]
        found[at] = _low(own[at], scatter[at, None])
        doubtful[at] = ~found[at] & _low(own[at])
    return _Lagging(found, doubtful, compared, busy)


def _in_step(rails: Rails) -> Mask:
    """Evaluated hosts that move in step with another one below the line rate, as synchronous jobs do: the slowest NIC
    sets the rate of all, and the rates do not show whether there is a slow one. Shape (hosts,).
    """
    found = np.zeros(len(rails.host), dtype=bool)
    hosts = np.flatnonzero(rails.evaluated)
    level = means(rails.use[hosts])
    use = np.where(np.isnan(rails.use[hosts]), level[:, None], rails.use[hosts])
    even = (use.max(axis=1, initial=0.0) <= IN_STEP * use.min(axis=1, initial=np.inf)) & (level < LINE_RATE)
    hosts, level = hosts[even], level[even]
    order = np.argsort(level)
    near = level[order][1:] <= ONE_LEVEL * level[order][:-1]
    beside = np.r_[near, False] | np.r_[False, near]
    found[hosts[order]] = beside[: len(hosts)]
    return found


def _own(ways: Directions) -> tuple[Numbers, Numbers]:
    """What each NIC carries in each window, as a share of the expected rate; and its standard error."""
    rails, alike = ways.rails, ways.alike
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.where(np.isnan(ways.lack), 0.0, alike.scatter**-2)[..., None]
        own = np.stack([_by_window(carried, alike.expected[way]) for way, carried in enumerate((rails.tx, rails.rx))])
        mean = np.where(weight > 0, weight * own, 0.0).sum(axis=0) / weight.sum(axis=0)
        return mean, weight.sum(axis=0)[..., 0] ** -0.5


def _by_window(carried: Numbers, expected: Numbers) -> Numbers:
    """The expected rate follows the host's median NIC."""
    level = medians(carried, LEAST_NICS)
    return np.asarray(carried / level[:, None, :] * (means(level)[:, None] / expected)[:, :, None])


def _low(own: Numbers, scatter: Numbers | None = None) -> Mask:
    """Of one rail's NICs, shape (NICs, windows), those that are low in enough windows and in their newest one;
    without `scatter`, regardless of how much their peers differ.

    Peers that carry more than expected (other jobs load this rail more) are not a reference: the further they are above
    it, the less certain the comparison.
    """
    middle = np.fmin(medians(own[None], LEAST_PEERS)[0], 1.0)
    apart = 1.4826 * medians(np.abs(own - middle)[None], LEAST_PEERS)[0]
    with np.errstate(invalid="ignore"):
        limit = SHORTFALL * middle
        if scatter is not None:
            limit = np.fmin(OUTLIER * np.fmax(np.fmax(apart, FLOOR * middle), scatter * middle), limit)
        flagged = own - middle < limit
    last = own.shape[1] - 1 - np.argmax(~np.isnan(own)[:, ::-1], axis=1)
    still = flagged[np.arange(len(own)), last]  # a link that was down and is back is not a straggler
    return np.asarray((flagged.sum(axis=1) >= FLAGGED_WINDOWS) & still, dtype=bool)


PLAN = "\n".join(f"h{h}/nic{r} leaf-{r}/p{h} rail={r} speed=400" for h in range(10) for r in range(4))


_REPORTED = {"cnp_handled": 0.0, "ecn_received_packets": 0.0}


def _rates(slow: dict[str, float], level: float = 3e10, **more: dict[str, float]) -> dict[str, dict[str, float]]:
    """All NICs alike, those in `slow` at their share; `more` by `h4_nic2` instead of `h4/nic2`."""
    ports = [f"h{h}/nic{r}" for h in range(10) for r in range(4)]
    rates = {port: dict.fromkeys(("tx_bytes", "rx_bytes"), level * slow.get(port, 1.0)) | _REPORTED for port in ports}
    return rates | {port.replace("_", "/"): rates[port.replace("_", "/")] | of for port, of in more.items()}


_CUT, _MARKED, _PAUSED = {"cnp_handled": 5e3}, {"ecn_received_packets": 5e3}, {"rx_pause_us:3": 2e5}
_SENDS_HALF, _GETS_HALF = {"tx_bytes": 1.5e10}, {"rx_bytes": 1.5e10}
_ENDS = {"h4/nic2": 0.75, "h5/nic2": 0.75}
_finds_slow = partial(Case, finds="h4/nic2")

EXAMPLES = {
    "One NIC at three quarters.": _finds_slow(rates=_rates({"h4/nic2": 0.75})),
    "It is slow; the next in the ring gets less, but sends as ever.": _finds_slow(
        rates=_rates({"h4/nic2": 0.5}, h5_nic2=_GETS_HALF)
    ),
    "It is slow at what it sends, while congestion hides what it receives.": _finds_slow(
        rates=_rates({"h4/nic2": 0.75}, h4_nic2=_GETS_HALF | _MARKED)
    ),
    "Either is slow: what one sends the other receives, and congestion hides the rest. "
    "Both are named in one.": _finds_slow(
        rates=_rates(_ENDS, h4_nic2=_GETS_HALF | _MARKED, h5_nic2=_SENDS_HALF | _CUT)
    ),
    # Quiet:
    "All carry alike, at the line rate.": Case(rates=_rates({}, 4.8e10)),
    "All move in step at 60 % of the line rate: one may hold them.": undecided(rates=_rates({})),
    "Only two hosts report rail 3: too few to compare.": undecided(
        rates={port: of for port, of in _rates({}, 4.8e10).items() if "nic3" not in port or port[:3] in ("h0/", "h1/")}
    ),
    "A tenth less is noise.": Case(rates=_rates({"h4/nic2": 0.9}, 4.8e10)),
    "Rail 2 is loaded less on all hosts.": Case(rates=_rates({f"h{h}/nic2": 0.5 for h in range(10)})),
    "Congestion slows it both ways.": Case(rates=_rates({"h4/nic2": 0.75}, h4_nic2=_CUT | _MARKED)),
    "Its leaf pauses it while it would send.": Case(rates=_rates({"h4/nic2": 0.75}, h4_nic2=_PAUSED | _MARKED)),
    "The NIC has no link.": Case({"h4": [down("nic2")]}, rates=_rates({"h4/nic2": 0.0})),
}

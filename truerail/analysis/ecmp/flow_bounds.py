"""Lower bounds of the number of flows that a switch spreads over its uplinks, which no interface counter reports.

Three sources, from the surest to the boldest.

`least`: a flow is no faster than a NIC, and a port that sends upwards carries at least one. Traffic between the
switch's own lower ports inflates what comes in, so of these only as many count as are needed to bring what leaves.

`from_below`: the tier below hashed the same flows. Loads that random hashing spreads over K uplinks scatter with
variance sum(w^2)(K-1)/K of the flows' rates w, so their scatter gives sum(w^2) of all that a switch gets; and flows
that carry U in all are at least U^2 / sum(w^2), whatever else there is (Cauchy-Schwarz). Local traffic can only lower
this bound, by the square of its share. The scatter is an estimate: the bound is lowered by its error.

`claimed`: half of the RC queue pairs of the hosts below (a connection sends one way on each), by the share that leaves.
Hosts without data count for none. Queue pairs may be idle, so alone a quarter of them counts, and they cap `from_below`
where all hosts report them.

Group columns, as in `Balance`; 0 where nothing is known.
"""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.carried import overall
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.ecmp.uplink_balance import IDLE, Balance
from truerail.model.columns import NONE, Codes, Mask, Numbers, ratio
from truerail.model.plan import Role

ALL_BUT = 0.999
"""Ingress ports are counted until they bring this share of the traffic that leaves (detection.md 2.4)."""
MOST = 0.95
"""The same for the NICs of several switches, which are read at other times than the uplinks that they send over."""
ERRORS = 3.1
"""Standard errors by which the estimated scatter is raised: it is more in one case of 1,000 (`siblings.DOUBT`)."""
LEAST_FREEDOM = 15.0
"""Degrees of freedom below which the scatter of the tier below is no estimate."""
SPRAYED = 0.05
"""Uplinks of the tier below that scatter less than this are sprayed or steered, not hashed (detection.md 2.6): their
scatter shows nothing about flows, and siblings do not get different flows.
"""
BELIEVED = 0.25
"""Share of the claimed flows that counts where no other source confirms them."""
SENDING = 0.5
"""Of the two queue pairs of a connection one sends the data."""


@dataclass(frozen=True)
class FlowBounds:
    """Lower bounds of the number of flows behind each group, shape (groups,)."""

    least: Codes
    rates: Numbers
    """`least` as a number of equally large flows: its flows may differ in rate."""
    from_below: Codes
    claimed: Codes
    sprayed: Mask
    """Whether the tier below spreads so evenly that it does not hash flows."""


def flow_bounds(b: Balance) -> FlowBounds:
    """The bounds of every group."""
    index, groups = b.telemetry.wiring.index, len(b.switch)
    of_device = np.full(len(index.devices.names) + 1, NONE, dtype=np.int64)
    of_device[b.switch] = np.arange(groups)
    cable = np.flatnonzero((index.b >= 0) & (of_device[index.b_device] >= 0) & (index.b_device >= 0))
    group, below = of_device[index.b_device[cable]], of_device[index.a_device[cable]]
    below = np.where(index.from_host[cable], NONE, below)
    rate = overall(b.carried.rx[index.b[cable]])
    least, rates = _ingress(b, group, rate, b.telemetry.speed()[index.b[cable]])
    incoming = np.bincount(group, weights=rate, minlength=groups)
    leaving = np.nan_to_num(np.clip(ratio(b.total, incoming), 0, 1))
    with np.errstate(invalid="ignore"):
        claimed, most = (_claimed(b, group, below, cable, unreported) * leaving for unreported in (0.0, np.inf))
    scatter, freedom, sprayed = _scatter(b, group, below)
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = b.total**2 / scatter * _low(freedom)
    usable = (freedom >= LEAST_FREEDOM) & ~sprayed & np.isfinite(alike)
    alike = np.where(usable, np.fmin(alike, most), 0.0)
    return FlowBounds(least, rates, _floor(alike), _floor(np.where(usable, 0.0, claimed * BELIEVED)), sprayed)


def senders(b: Balance, port: Codes, total: float) -> int:
    """The fewest of these ports to hosts that can bring this many bytes per second: each of them has a flow in it. A
    port with almost no input is not needed, however little is left to bring.
    """
    rate, speed = overall(b.carried.rx[port]), b.telemetry.speed()[port]
    could = np.where(np.isnan(rate), np.where(np.isnan(speed), 1e15, speed), rate)
    order = np.argsort(-could)
    could, known = could[order], ~np.isnan(rate[order])
    before = np.cumsum(could) - could
    return int(np.count_nonzero(known & (before < MOST * total) & (could > IDLE * total / max(len(port), 1))))


def _floor(values: Numbers) -> Codes:
    return np.asarray(np.floor(np.minimum(values, 1e6) + 1e-9), dtype=np.int64)


def _ingress(b: Balance, group: Codes, rate: Numbers, speed: Numbers) -> tuple[Codes, Numbers]:
    """The fewest ports that can bring what leaves, of those that bring enough to be seen; and the same as equally large
    flows. A port without data counts for none and may bring up to its full speed.
    """
    index = b.telemetry.wiring.index
    unknown = np.isnan(rate)
    could = np.where(unknown, np.where(np.isnan(speed), np.inf, speed), rate)
    order = np.lexsort((-could, group))
    group, could, unknown = group[order], could[order], unknown[order]
    running = np.cumsum(np.minimum(could, 1e15))
    starts = np.searchsorted(group, np.arange(len(b.switch)))
    before = running - np.minimum(could, 1e15)
    before = before - before[starts[group]] if len(before) else before
    total = np.nan_to_num(b.total)
    threshold = IDLE * total / np.maximum(b.members, 1)
    counts = (before < ALL_BUT * total[group]) & (could > threshold[group]) & ~unknown
    ports = np.bincount(group, weights=counts, minlength=len(b.switch))
    squares = np.bincount(group, weights=np.where(counts, could, 0.0) ** 2, minlength=len(b.switch))
    fastest = np.nanmax(index.speed_gbps[index.from_host], initial=0.0) * 1e9 / 8
    by_speed = total / fastest if fastest else np.zeros(len(total))
    equal = np.where(squares > 0, ratio(total**2, squares), 0.0)
    least = np.maximum(ports, np.ceil(by_speed - 1e-3))
    return _floor(least), np.maximum(np.minimum(equal, ports), by_speed)


def _scatter(b: Balance, group: Codes, below: Codes) -> tuple[Numbers, Numbers, Mask]:
    """The sum of squares of the rates of all flows that come from below, its degrees of freedom (Satterthwaite), and
    whether the tier below spreads too evenly for a hash. NaN where a switch below has no data or has one uplink.
    """
    size = len(b.switch)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = b.total / b.members
        apart = b.sum(np.where(b.member, b.load - mean[b.group], 0.0) ** 2)
        squares = np.where(b.reported, apart * b.members / (b.members - 1), np.nan)
        part = np.where(below >= 0, (squares / b.members)[below], np.nan)
        total = np.bincount(group, weights=part, minlength=size)
        error = np.bincount(group, weights=part**2 / (b.members[below] - 1), minlength=size)
        feeders = np.bincount(group, weights=np.where(below >= 0, b.total[below] ** 2, 0), minlength=size)
        evenness = np.bincount(group, weights=np.where(below >= 0, (b.uneven * b.total)[below] ** 2, 0), minlength=size)
        sprayed = np.sqrt(evenness / feeders) < SPRAYED
        return total.astype(np.float64), total**2 / error, sprayed


def _low(freedom: Numbers) -> Numbers:
    """The factor by which an estimate of that many degrees of freedom may be too small: a low quantile of chi-square
    over its mean (Wilson and Hilferty, 1931).
    """
    root = np.clip(1 - 2 / (9 * freedom) - ERRORS * np.sqrt(2 / (9 * freedom)), 0, None)
    return np.asarray(root**3)


def _claimed(b: Balance, group: Codes, below: Codes, cable: Codes, unreported: float) -> Numbers:
    """Flows by the hosts' queue pairs; `unreported` for a host that does not report them."""
    index = b.telemetry.wiring.index
    size = len(b.switch)
    if not b.telemetry.counts(Quantity.FLOWS):
        return np.full(size, unreported)
    hosted = index.from_host[cable]
    gauge, _ = b.telemetry.part(Quantity.FLOWS, None, index.a[cable[hosted]])
    reported = np.where(np.isnan(gauge), -1.0, gauge).max(axis=1, initial=-1.0)
    own = np.bincount(group[hosted], weights=np.where(reported < 0, unreported, reported * SENDING), minlength=size)
    links = np.bincount(group[~hosted], minlength=size)
    shared = np.where(below >= 0, (own / np.maximum(b.members, 1))[below], 0.0)
    passed = np.bincount(group[~hosted], weights=shared[~hosted], minlength=size)
    tiers = index.devices.tiers[b.switch]
    return np.asarray(np.where((links > 0) & (tiers > Role.LEAF.tier), passed, own), dtype=np.float64)

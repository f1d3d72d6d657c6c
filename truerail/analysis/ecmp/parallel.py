"""Parallel links downwards: how a switch uses its bundles where it hashes as the tier below did.

Where a leaf has several links to each spine, the spine chooses among them for its downward traffic. With the leaf's
hash it finds all its flows equal, because the same hash has brought them to it: of a bundle it uses one link, or the
share that a common divisor leaves, and another spine uses others. Groups of `Balance` look upwards and do not show it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, exp, log

import numpy as np

from truerail.analysis.counters.carried import overall
from truerail.analysis.ecmp.occupancy import LEAST
from truerail.analysis.ecmp.siblings import IDLE_SHARE
from truerail.analysis.ecmp.uplink_balance import IDLE, WARM_MEAN, WARM_MEMBER, Balance
from truerail.model.columns import Codes, Mask, Numbers, distinct, factorize, ratio

ALIGNED = 2
"""Minimum number of sets: switches that use links at other places of their bundles have no drained or
weighted links.
"""


@dataclass(frozen=True)
class Bundled:
    """One switch whose bundles leave links idle, as a repeated hash does. `chance` is of all its siblings."""

    switch: int
    """Device code."""
    bundles: int
    members: int
    """Links of each bundle."""
    used: frozenset[int]
    """Places in the bundles that carry traffic."""
    chance: float
    shares: tuple[tuple[str, float], ...]
    """Each link's share of the switch's downward traffic over its bundles, by port name."""


@dataclass(frozen=True)
class _Links:
    """Parallel links, a row each, ordered by bundle: shapes (links,), and of bundles (bundles,)."""

    port: Codes
    place: Codes
    load: Numbers
    bundle: Codes
    upper: Codes
    """Upper device of each bundle."""
    members: Codes
    reported: Mask
    """Bundles all of whose links have counters, and with enough load to be evaluated."""


def bundled(b: Balance) -> tuple[Bundled, ...]:
    """Switches with parallel links down, and the probability that their idle links are idle by chance."""
    links = _links(b)
    if links is None:
        return ()
    index = b.telemetry.wiring.index
    fastest = float(np.nanmax(index.speed_gbps[index.from_host], initial=0.0)) * 1e9 / 8
    found = [one for upper in distinct(links.upper[links.reported]).tolist() if (one := _of(b, links, upper, fastest))]
    return tuple(_together(b, found))


def _links(b: Balance) -> _Links | None:
    """Links with another link between the same two switches; None where there are none."""
    index, size = b.telemetry.wiring.index, len(b.telemetry.wiring.index.devices.names) + 1
    low, high = index.a_device[b.cable], index.b_device[b.cable]
    bundle, count = np.unique(high * size + low, return_inverse=True, return_counts=True)[1:]
    parallel = np.flatnonzero((count[bundle] > 1) & b.member)
    if not len(parallel):
        return None
    parallel = parallel[np.argsort(bundle[parallel], kind="stable")]
    upper = high[parallel]
    pairs, first, of = np.unique(bundle[parallel], return_index=True, return_inverse=True)
    port = index.b[b.cable[parallel]]
    load, speed = overall(b.carried.tx[port]), b.telemetry.speed()[port]

    def by_bundle(values: Numbers) -> Numbers:
        return np.bincount(of, weights=values, minlength=len(pairs)).astype(np.float64)

    members = by_bundle(np.ones(len(of)))
    use = np.nan_to_num(ratio(load, speed))
    hottest = np.zeros(len(pairs))
    np.maximum.at(hottest, of, use)
    reported = ~np.isnan(by_bundle(load)) & (members == count[pairs]) & (members > 1)
    reported &= (hottest >= WARM_MEMBER) | (by_bundle(use) / members >= WARM_MEAN)
    place = np.arange(len(of)) - first[of]
    return _Links(port, place, load, of, upper[first], members.astype(np.int64), reported)


def _of(b: Balance, links: _Links, upper: int, fastest: float) -> Bundled | None:
    """One switch; None where its bundles differ in size, or use more of their links than a common divisor leaves."""
    bundles = np.flatnonzero((links.upper == upper) & links.reported)
    members = distinct(links.members[bundles])
    if len(members) > 1:
        return None
    size = int(members[0])
    rows = np.flatnonzero(np.isin(links.bundle, bundles))
    load, place = links.load[rows].reshape(len(bundles), size), links.place[rows].reshape(len(bundles), size)
    busy = load >= IDLE * load.mean(axis=1, keepdims=True)
    used = frozenset(place[busy].tolist())
    if len(used) > (1 - IDLE_SHARE) * size:
        return None
    flows = np.maximum(np.ceil(load.sum(axis=1) / fastest - 1e-3) if fastest else 0, busy.sum(axis=1)).sum()
    chance = min(1.0, exp(max(log(LEAST), log(comb(size, len(used))) + float(flows) * log(len(used) / size))))
    total, spell = load.sum(), b.telemetry.wiring.index.spell
    shares = zip(links.port[rows].tolist(), links.load[rows].tolist(), strict=True)
    named = tuple((spell(port).name, round(sent / total, 4)) for port, sent in shares)
    return Bundled(upper, len(bundles), size, used, chance, named)


def _together(b: Balance, found: list[Bundled]) -> Iterator[Bundled]:
    """Those whose siblings use links at other places: links that all leave out are drained, or have another weight.

    Chances of siblings multiply, because each has flows of its own.
    """
    devices = list(b.telemetry.wiring.index.plan.devices.values())
    keys = [(devices[one.switch].role, devices[one.switch].pod, one.members) for one in found]
    family = factorize(keys)[0]
    for number in distinct(family).tolist():
        beside = [one for one, own in zip(found, family.tolist(), strict=True) if own == number]
        if len({one.used for one in beside}) >= ALIGNED:
            together = exp(max(log(LEAST), sum(log(max(one.chance, LEAST)) for one in beside)))
            for one in beside:
                yield Bundled(one.switch, one.bundles, one.members, one.used, together, one.shares)

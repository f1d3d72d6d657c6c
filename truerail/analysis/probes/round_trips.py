"""Round-trip times between idle hosts, and the pairs whose time is out of line with those of as many hops.

A time is the shortest of three echoes, so that an outlier is one three times in a row. Under load they say nothing.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from truerail.analysis.probes.upper_links import probed_ends
from truerail.model.columns import NONE, Codes, factorize
from truerail.model.names import some
from truerail.model.probe_facts import ProbeEcho

if TYPE_CHECKING:
    from truerail.analysis.round import Round

SLOWER = 3.0
"""Times the median of the pairs of a rail with as many hops: probe.md, day-1 matrix, check 7."""
LEAST = 4
"""Pairs of which the median is a measure for each."""
SHOWN = 4


@dataclass(frozen=True)
class RoundTrips:
    """The pairs that were to be measured, as columns of shape (pairs,)."""

    cable: Codes
    peer: Codes
    microseconds: np.ndarray
    """NaN where there was no answer."""
    median: np.ndarray
    """Of the pairs of the rail with as many hops; NaN where these are too few."""

    @property
    def slow(self) -> Codes:
        """The outliers, the slowest first."""
        rows = np.flatnonzero(self.microseconds > SLOWER * self.median)
        return rows[np.argsort(-self.microseconds[rows])]


def round_trips(round: "Round") -> RoundTrips:
    """The round-trip times between planned NICs of one rail."""
    table, wiring = round.snapshot.table(ProbeEcho), round.cabling
    _, _, cable, peer = probed_ends(wiring, table, np.arange(len(table)))
    rail, leaf = (np.append(column, NONE) for column in (wiring.index.rail, wiring.index.b_device))
    railed = (rail[cable] >= 0) & (rail[cable] == rail[peer])
    times = np.array([one.rtt_us or np.nan for one in table.rows], dtype=float)[railed]
    cable, peer = cable[railed], peer[railed]
    pod = _pods(round)
    far_apart = np.where(leaf[cable] == leaf[peer], 0, np.where(pod[leaf[cable]] == pod[leaf[peer]], 1, 2))
    median = np.full(len(cable), np.nan)
    for group in np.unique(np.stack([rail[cable], far_apart], axis=1), axis=0):
        here = (rail[cable] == group[0]) & (far_apart == group[1])
        if np.count_nonzero(here & ~np.isnan(times)) >= LEAST:
            median[here] = np.nanmedian(times[here])
    return RoundTrips(cable, peer, times, median)


def words(round: "Round") -> str:
    """One sentence for people; empty if no time was to be measured."""
    if not round.snapshot.table(ProbeEcho).rows:
        return ""
    found = round_trips(round)
    if not len(found.cable):
        return ""
    name = round.cabling.index.a_port
    known = found.microseconds[~np.isnan(found.microseconds)]
    parts = [f"{len(known):,} of {len(found.cable):,} pairs measured"]
    if len(known):
        parts[0] += f", median {np.median(known):.0f} us"
    compared = int(np.count_nonzero(~np.isnan(found.microseconds) & ~np.isnan(found.median)))
    if compared < len(known):
        parts.append(f"{len(known) - compared:,} with too few of as many hops to compare")
    slow = [
        f"{name(int(found.cable[row]))} to {name(int(found.peer[row]))} {found.microseconds[row]:.0f} us "
        f"instead of {found.median[row]:.0f}"
        for row in found.slow.tolist()
    ]
    if slow:
        parts.append(f"slower than {SLOWER:g} times their median: {some(slow, SHOWN)}")
    elif compared:
        parts.append(f"no outlier among {compared:,}")
    return f"Round-trip times: {'; '.join(parts)}."


def _pods(round: "Round") -> Codes:
    """The pod of each device by its code, as a number; -1 where none is planned."""
    devices, names = round.plan.devices, round.cabling.index.devices.names
    return np.append(factorize(devices[name].pod if name in devices else None for name in names)[0], NONE)

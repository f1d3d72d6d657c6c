"""The confirming step: probes whose TTL ends just behind each link of a tie show where the loss begins.

ICMP answers are limited everywhere, so a missing answer is loss only beside the same switch's answers to flows that do
not pass the tie. Where these are missing too, or more is missing than the loss explains, nothing is confirmed and the
tie stays.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.sweep.flow_paths import FlowPaths
from truerail.analysis.sweep.seats import DECISIVE, Seat
from truerail.model.columns import Codes, Mask, Numbers

LIMITED = 5
"""Missing answers from which on answers are limited: as a multiple of those that the loss explains, and one more."""
ANSWERS = 8
"""Probes that did not pass the tie, from which on a switch's own share of answers is known."""
UNSTEADY = 0.1
"""Share of probes that a switch may leave unanswered although they did not pass the tie."""
USUAL = 200.0
"""Probes for which the share that all switches answer counts, beside a switch's own."""
_SHARES = 1 - np.geomspace(1e-6, 5 * UNSTEADY, 80)


def confirmed(paths: FlowPaths, seat: Seat, *, large: bool = False) -> Seat:
    """A seat with the links of its tie that the answers of hops leave; the same one where they decide nothing. The
    probes are small ones, or the `large` ones.
    """
    if len(seat.segments) < 2 or paths.graph.is_device(np.array(seat.segments)).any():
        return seat
    flow, ttl, asked, answered = asked_of(paths, large=large)
    behind = _behind(paths, seat.segments, flow, ttl)
    device = paths.node[flow, ttl - 1]
    useful = _steady(device, asked, answered, np.asarray(behind.any(axis=0), dtype=bool))
    asked, answered, behind, device = asked[useful], answered[useful], behind[:, useful], device[useful]
    gone = asked - answered
    if any(gone[one].sum() > LIMITED * (seat.rate * asked[one].sum() + 1) for one in behind):
        return seat
    worth = np.array([_worth(device, asked, answered, one, seat.rate) for one in behind])
    left = np.flatnonzero(worth > worth.max() - DECISIVE)
    return replace(seat, segments=tuple(seat.segments[one] for one in left.tolist()))


def _worth(device: Codes, asked: Codes, answered: Codes, behind: Mask, rate: float) -> float:
    """The likelihood in nats if the loss sits before the probes of `behind`. Each switch answers a share of its own,
    the one that fits best; that of all probes that passed nothing counts as some probes more.
    """
    codes, of = np.unique(device, return_inverse=True)
    free = asked[~behind].sum() + 1
    usual = (answered[~behind].sum() + 0.5) / free
    counts = []
    for rows in (~behind, behind):
        back = np.bincount(of[rows], weights=answered[rows], minlength=len(codes))
        counts.append((back, np.bincount(of[rows], weights=asked[rows], minlength=len(codes)) - back))
    (back, missing), (back_behind, missing_behind) = counts
    weight = min(USUAL, float(free))
    back, missing = back + weight * usual, missing + weight * (1 - usual)
    share, passes = _SHARES[:, None], _SHARES[:, None] * (1 - rate)
    fit = back * np.log(share) + missing * np.log1p(-share)
    fit += back_behind * np.log(passes) + missing_behind * np.log1p(-passes)
    return float(fit.max(axis=0).sum())


def asked_of(paths: FlowPaths, *, large: bool) -> tuple[Codes, Codes, Codes, Codes]:
    """Probes of a size to a hop whose switch is known: flow, TTL, packets sent and answered."""
    hops = paths.hops
    rows = np.flatnonzero((hops.large == large) & (hops.ttl >= 1) & (hops.ttl <= paths.node.shape[1]))
    key = hops.flow[rows] * (paths.node.shape[1] + 1) + hops.ttl[rows]
    distinct, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    back = np.where(hops.expired[rows], hops.answered[rows], 0)
    answered = np.bincount(inverse, weights=back, minlength=len(distinct)).astype(np.int64)
    flow, ttl, sent = hops.flow[rows[first]], hops.ttl[rows[first]], hops.sent[rows[first]]
    known = paths.node[flow, ttl - 1] >= 0
    answered = np.minimum(answered, sent)
    return flow[known], ttl[known], sent[known], answered[known]


def _behind(paths: FlowPaths, segments: Sequence[int], flow: Codes, ttl: Codes) -> Mask:
    """Whether probes have passed each segment where their TTL ends, shape (segments, probes)."""
    inside = np.arange(paths.segment.shape[1]) < ttl[:, None]
    return np.array([((paths.segment[flow] == one) & inside).any(axis=1) for one in segments])


def _steady(device: Codes, asked: Codes, answered: Codes, passed: Mask) -> Mask:
    """The probes to use: those of switches that answer nearly all others, with these others. Where the others of a
    switch are few, or lost on their way back, its probes that passed the tie are used alone, if nearly all of them are
    answered or there are no others, and if the switches together answer nearly everything.
    """
    size, free = int(device.max(initial=-1)) + 1, ~passed

    def share(rows: Mask) -> tuple[Numbers, Numbers]:
        sent = np.asarray(np.bincount(device[rows], weights=asked[rows], minlength=size), dtype=np.float64)
        return sent, np.bincount(device[rows], weights=answered[rows], minlength=size) / np.maximum(sent, 1)

    (others, back), (own, own_back) = share(free), share(passed)
    known = (others >= ANSWERS) & (back >= 1 - UNSTEADY)
    every = float(asked[free].sum())
    usual = every >= USUAL and answered[free].sum() >= (1 - UNSTEADY / 10) * every
    alone = usual & ~known & ((own_back >= 1 - UNSTEADY) | (others == 0)) & (own > 0)
    return np.asarray(known[device] | (alone[device] & passed), dtype=bool)

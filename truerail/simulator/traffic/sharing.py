"""Max-min fair shares: no flow gets more at the cost of one with less. Thousands of flows at once."""

from dataclasses import dataclass

import numpy as np

from truerail.model.columns import Codes
from truerail.simulator.traffic.net import NOWHERE, Rates

_EQUAL = 1e-3
"""Tolerance of equal shares: levels that differ by less are filled together."""
_ROUNDS = 400


@dataclass(frozen=True, slots=True)
class Shares:
    """Each flow's rate in bytes per second, and the hop that limits it; -1 if it gets its full demand."""

    rate: Rates
    tight: Codes


def fair_shares(hops: Codes, wish: Rates, capacity: Rates) -> Shares:
    """Shares of flows over links. `hops` has shape (flows, hops), with -1 after the last; `capacity` is by link.

    In each round every flow that gets its full demand is served, and every link that is the tightest of all of its
    flows is divided among them. No later round can change either: shares only grow.
    """
    rate, tight = np.zeros(len(hops)), np.full(len(hops), NOWHERE)
    room = np.append(capacity, np.inf)  # hop -1 is the last: room for all
    links = len(room)
    open_flows = np.flatnonzero((wish > 0) & (hops[:, 0] >= 0))
    for _ in range(_ROUNDS):
        if not len(open_flows):
            break
        path = hops[open_flows]
        count = np.bincount((path % links).ravel(), minlength=links)
        share = np.maximum(room, 0.0) / np.maximum(count, 1)
        share[-1] = np.inf
        at = share[path]
        least = at.min(axis=1)
        served = wish[open_flows] <= least
        if not served.any():
            served = _decided(path % links, at, least, count)
            tight[open_flows[served]] = at[served].argmin(axis=1)
        done = open_flows[served]
        rate[done] = np.minimum(wish[done], least[served])
        spent = np.repeat(rate[done], hops.shape[1])
        room -= np.bincount((path[served] % links).ravel(), weights=spent, minlength=links)
        room[-1] = np.inf
        open_flows = open_flows[~served]
    return Shares(rate, tight)


def _decided(path: Codes, at: Rates, least: Rates, count: Codes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Flows over a link that is the tightest of all its flows."""
    tightest = at <= (least * (1 + _EQUAL))[:, None]
    wins = np.bincount(path.ravel(), weights=tightest.ravel(), minlength=len(count))
    return np.asarray((tightest & (wins == count)[path]).any(axis=1), dtype=bool)

"""Where losses sit: the few segments whose own loss explains what flows lost, by likelihood.

The model is that of NetBouncer (NSDI'19) and others before it: each segment loses packets at a rate of its own, a flow
arrives if all of its segments let it pass. Few segments are bad: each one that is named must add more to the likelihood
than it costs to name it. Sets of up to three are compared as wholes, because the links of two faults often meet in a
third link that explains both alone, and worse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truerail.model.columns import Codes, Mask, Numbers, distinct

FLOOR = 1e-5
"""Loss of a flow over links without a fault."""
LEAST = 14.0
"""Nats that a segment must add: by chance less than once in ten million (chi-square of 28)."""
PRICE = 7.0
"""Nats that naming a further segment costs when sets are compared: about the logarithm of the number of links."""
TIE = 2.0
"""Segments within so many nats of the best one explain it alike (probe.md, section 4)."""
DECISIVE = 4.6
"""Nats that decide between the segments of a tie: a hundred to one. The few answers of a sweep itself seldom reach it;
the confirming step is made for it. At `TIE`, one of 170 seats was the wrong one of two.
"""
BREADTH, DEPTH = 12, 3
"""Sets that are followed, and their size; further seats are added one by one."""
MOST = 24
LEAST_LOST = 3
"""Packets that a segment must have lost."""
ALMOST = 1 - 1e-6
_ROUNDS = 24


@dataclass(frozen=True)
class Trials:
    """What was tried: `sent` and `lost` packets of each row, and the segments of each row as pairs of `row` and
    `segment`, each pair once.
    """

    sent: Codes
    lost: Codes
    row: Codes
    segment: Codes


@dataclass(frozen=True)
class Seat:
    """Where packets are lost: one segment, or several that explain it alike. `rows` are those of the trials that lost
    packets there.
    """

    segments: tuple[int, ...]
    rate: float
    gain: float
    sent: int
    lost: int
    rows: Codes


def locate(trials: Trials) -> list[Seat]:
    """The segments that lose, the most certain first."""
    search = _Search(trials)
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    front: list[tuple[float, tuple[int, ...]]] = [best]
    for _ in range(DEPTH):
        grown = {tuple(sorted(more)): worth for worth, more in (one for old in front for one in search.grown(old))}
        front = sorted(((worth, chosen) for chosen, worth in grown.items()), reverse=True)[:BREADTH]
        if not front:
            break
        best = max(best, front[0])
    chosen = list(best[1])
    while len(chosen) < MOST and (further := search.grown((0.0, tuple(chosen)))):
        chosen = list(max(further)[1])
    return search.seats(chosen)


class _Search:
    """The candidates among segments, and the likelihood of sets of them."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        lossy = trials.lost[trials.row] > 0
        rows, self.row = np.unique(trials.row[lossy], return_inverse=True)
        self.rows = rows
        self.lost = trials.lost[rows].astype(np.float64)
        every, code = np.unique(trials.segment, return_inverse=True)
        size = len(every)
        sent = np.bincount(code, weights=trials.sent[trials.row], minlength=size)
        lost = np.bincount(code, weights=trials.lost[trials.row], minlength=size)
        keep = np.flatnonzero(lost >= LEAST_LOST)
        self.segments = every[keep]
        self.sent, self.gone = sent[keep], lost[keep]
        place = np.full(size, -1, dtype=np.int64)
        place[keep] = np.arange(len(keep))
        self.column = place[code[lossy]]
        used = self.column >= 0
        self.row, self.column = self.row[used], self.column[used]

    def passing(self, chosen: Sequence[int]) -> tuple[Numbers, Numbers]:
        """The share of packets of each lossy row that passes these segments, and their rates, fitted together."""
        member, rates = self._members(chosen), np.array([self._alone(one) for one in chosen])
        for _ in range(_ROUNDS if len(chosen) > 1 else 1):
            passes = np.where(member, 1 - rates[:, None], 1.0).prod(axis=0) * (1 - FLOOR)
            blamed = np.where(member, rates[:, None], 0.0) / np.maximum(1 - passes, FLOOR)
            rates = np.clip((self.lost * np.minimum(blamed, 1.0)).sum(axis=1) / self._sent(chosen), FLOOR, ALMOST)
        return np.where(member, 1 - rates[:, None], 1.0).prod(axis=0) * (1 - FLOOR), rates

    def _members(self, chosen: Sequence[int]) -> Mask:
        member = np.zeros((len(chosen), len(self.rows)), dtype=bool)
        for number, one in enumerate(chosen):
            member[number, self.row[self.column == one]] = True
        return member

    def _alone(self, one: int) -> float:
        return float(np.clip(self.gone[one] / self.sent[one], FLOOR, ALMOST))

    def _sent(self, chosen: Sequence[int]) -> Numbers:
        return np.asarray(self.sent[list(chosen)], dtype=np.float64)

    def gains(self, chosen: Sequence[int]) -> tuple[Numbers, Numbers]:
        """What each candidate would add to the likelihood beside those chosen, in nats, and its rate there."""
        passes = self.passing(chosen)[0][self.row]
        lost = self.lost[self.row]
        rate = np.clip(self.gone / self.sent, FLOOR, ALMOST)
        for _ in range(_ROUNDS if chosen else 1):
            blamed = rate[self.column] / (1 - passes * (1 - rate[self.column]))
            rate = np.clip(self._by_column(lost * np.minimum(blamed, 1.0)) / self.sent, FLOOR / 10, ALMOST)
        arrived = self.sent - self.gone
        explained = lost * (np.log(1 - passes * (1 - rate[self.column])) - np.log(np.maximum(1 - passes, FLOOR / 10)))
        gain = self._by_column(explained) + arrived * np.log1p(-rate)
        gain[list(chosen)] = -np.inf
        return gain, rate

    def _by_column(self, values: Numbers) -> Numbers:
        return np.asarray(np.bincount(self.column, weights=values, minlength=len(self.segments)), dtype=np.float64)

    def grown(self, old: tuple[float, tuple[int, ...]]) -> list[tuple[float, tuple[int, ...]]]:
        """A set with each of the best further candidates, and what it is worth."""
        worth, chosen = old
        gain, _ = self.gains(chosen)
        order = np.argsort(-gain, kind="stable")[:BREADTH]
        return [(worth + float(gain[one]) - PRICE, (*chosen, one)) for one in order.tolist() if gain[one] >= LEAST]

    def seats(self, chosen: Sequence[int]) -> list[Seat]:
        """The seats of a set: with those that explain as much in its place, given the others."""
        found = []
        for one in chosen:
            gain, rates = self.gains([other for other in chosen if other != one])
            if gain[one] < LEAST:
                continue
            tied = np.flatnonzero(gain > gain[one] - TIE)
            segments = tuple(sorted(self.segments[tied].tolist()))
            rows = self.rows[distinct(self.row[self.column == one])]
            rate, count = float(rates[one]), (int(self.sent[one]), int(self.gone[one]))
            found.append(Seat(segments, rate, float(gain[one]), *count, rows))
        return _apart(sorted(found, key=lambda seat: -seat.gain))


def _apart(seats: Sequence[Seat]) -> list[Seat]:
    """Seats without those that name the same segments again."""
    kept: list[Seat] = []
    for seat in seats:
        if all(set(seat.segments).isdisjoint(one.segments) for one in kept):
            kept.append(seat)
    return kept

"""Mutual information of two choices, and the chance that independent choices show as much.

Few flows show much information by chance: 0.5 of 2 bits for 16 flows over 4 x 4 members. So the observed information
is compared with that of the same choices, shuffled.
"""

from dataclasses import dataclass
from math import log2

import numpy as np
import numpy.typing as npt

from truerail.model.columns import Codes, Numbers

SHUFFLES = 20_000
COUNTED = 10
"""Shuffles with as much information from which on their share is the chance; below, a gamma distribution with the
shuffles' mean and variance continues their tail.
"""
LEAST_FLOWS = 8
_BLOCK = 2000
_SEED = 20_241


@dataclass(frozen=True)
class Dependence:
    """How much one choice shows of another: `bits` of `possible`, and the `chance` of as much by chance."""

    flows: int
    bits: float
    possible: float
    chance: float

    @property
    def half(self) -> bool:
        """Whether it is at least half of what is possible."""
        return self.possible > 0 and self.bits >= self.possible / 2


def information(first: Codes, second: npt.NDArray[np.int64]) -> Numbers:
    """Bits of mutual information of `first`, shape (flows,), with each row of `second`, shape (rows, flows). Both are
    small numbers from 0 on.
    """
    rows, flows = second.shape
    ones, twos = int(first.max()) + 1, int(second.max()) + 1
    cell = first * twos + second + (np.arange(rows) * ones * twos)[:, None]
    table = np.bincount(cell.ravel(), minlength=rows * ones * twos).reshape(rows, ones, twos) / flows
    return _entropy(table.sum(axis=2)) + _entropy(table.sum(axis=1)) - _entropy(table.reshape(rows, -1))


def _entropy(shares: Numbers) -> Numbers:
    """Bits of the distributions in the rows."""
    return np.asarray(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum(axis=1))


def dependence(first: Codes, second: Codes) -> Dependence:
    """How much two columns of codes show of each other. The shuffles, which take a tenth of a second, are drawn only
    where it is half of what is possible: below that the chance is given as 1.
    """
    one, two = (np.unique(column, return_inverse=True)[1].astype(np.int64) for column in (first, second))
    flows, fewest = len(one), min(int(one.max(initial=0)), int(two.max(initial=0))) + 1
    possible = log2(fewest)
    if flows < LEAST_FLOWS or fewest < 2:
        return Dependence(flows, 0.0, possible, 1.0)
    found = Dependence(flows, float(information(one, two[None])[0]), possible, 1.0)
    return Dependence(flows, found.bits, possible, _chance(one, two, found.bits)) if found.half else found


def _chance(one: Codes, two: Codes, bits: float) -> float:
    rng = np.random.default_rng(_SEED)  # the same choices give the same chance
    blocks = (np.tile(two, (_BLOCK, 1)) for _ in range(SHUFFLES // _BLOCK))
    shuffled = np.concatenate([information(one, rng.permuted(block, axis=1)) for block in blocks])
    as_much = int((shuffled >= bits - 1e-12).sum())
    if as_much >= COUNTED:
        return (1 + as_much) / (1 + SHUFFLES)
    return min((1 + as_much) / (1 + SHUFFLES), gamma_tail(bits, float(shuffled.mean()), float(shuffled.var())))


def gamma_tail(value: float, mean: float, variance: float) -> float:
    """The chance that a gamma variable with this mean and variance is as large, bounded from above (Chernoff); 1 up to
    its mean.
    """
    if value <= mean or variance <= 0:
        return 1.0
    shape = mean * mean / variance
    ratio = value / mean
    return float(np.exp(-shape * (ratio - 1 - np.log(ratio))))

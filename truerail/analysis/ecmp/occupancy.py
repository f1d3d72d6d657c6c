"""The probability that a fair hash leaves members of a group idle: flows are balls, members are bins.

All of these are upper bounds of the probability that the observation is chance, and remain so with more flows than
known: more balls leave fewer bins empty.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import comb, exp, lgamma, log, sqrt

import numpy as np
import numpy.typing as npt

LEAST = 1e-300
"""Probabilities below this are reported as this."""
MOST_FLOWS = 1 << 16
"""Beyond this many flows nothing changes. Over 64 uplinks, as many as a switch of 51.2 Tb/s has at 800 Gb/s, a fair
hash leaves one of them idle less often than `LEAST` (64 e^-1024), and the busiest stays within an eighth of the mean
(`spread.expected`).
"""


def idle_chance(flows: int, members: int, idle: int) -> float:
    """P(at least `idle` of `members` get none of `flows` that are spread at random), 0..1.

    The distribution of the number of members in use is a Markov chain over flows. Its matrix has no negative entry, so
    its power is exact to rounding however small the chance, where inclusion and exclusion would cancel.
    """
    if idle <= 0:
        return 1.0
    if idle >= members:
        return 1.0 if flows == 0 else 0.0
    return float(max(_at_least_idle(_round(flows), members)[idle], LEAST))


def _round(flows: int) -> int:
    """Slightly fewer flows, so that few different numbers occur: five binary digits are significant."""
    flows = min(flows, MOST_FLOWS)
    drop = max(flows.bit_length() - 5, 0)
    return flows >> drop << drop


@lru_cache(maxsize=4096)
def _at_least_idle(flows: int, members: int) -> npt.NDArray[np.float64]:
    used = np.arange(members + 1)
    step = np.diag(used / members) + np.diag((members - used[:-1]) / members, 1)
    return np.asarray(np.cumsum(np.linalg.matrix_power(step, flows)[0])[::-1])


def joint_chance(chances: Sequence[float]) -> float:
    """Fisher's method: the probability that independent chances are all together as small as these, 0..1.

    The tail of chi-square with 2n degrees of freedom has a closed form.
    """
    half = -sum(log(max(chance, LEAST)) for chance in chances)
    terms = [n * log(half) - lgamma(n + 1) if half > 0 else (0.0 if n == 0 else -1e9) for n in range(len(chances))]
    return min(1.0, sum(exp(term - half) for term in terms)) if half < 700 else LEAST


def chi_square_below(value: float, freedom: int) -> float:
    """P(chi-square with so many degrees of freedom is `value` or less), 0..1, by the series of the incomplete gamma."""
    shape, half = freedom / 2, value / 2
    if half > shape + 40 * sqrt(shape):
        return 1.0
    term = total = 1 / shape
    while term > total * 1e-12:
        shape += 1
        term *= half / shape
        total += term
    return min(1.0, total * exp(freedom / 2 * log(half) - half - lgamma(freedom / 2))) if half > 0 else 0.0


def classes_chance(members: int, used: Iterable[frozenset[int]]) -> tuple[float, int]:
    """The probability that sets, drawn at random in their sizes, fall into disjoint classes, and the classes found.

    Switches that share one hash with the tier below use members by residue: the members of two of them are nested or
    disjoint. Of sets drawn at random in the sizes seen, each does that with a chance known before it is drawn, so one
    over the product is an e-value, and the product bounds the chance (Ville's inequality). It does not depend on the
    number of flows. (1, 0) where some two sets overlap in part.
    """
    classes: list[frozenset[int]] = []
    chance = 1.0
    for one in used:
        size, taken = len(one), sum(map(len, classes))
        ways = comb(members - taken, size)
        for known in classes:
            ways += comb(len(known), size)
            ways += comb(members - taken, size - len(known)) if size > len(known) else 0
        chance *= min(1.0, ways / comb(members, size))
        met = [known for known in classes if known & one]
        if len(met) > 1 or any(not (known <= one or one <= known) for known in met):
            return 1.0, 0
        classes = [known for known in classes if known not in met] + [one.union(*met)]
    return max(chance, LEAST), len(classes)

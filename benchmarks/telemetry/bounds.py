"""What a count allows to say: bounds at 95 % confidence, one-sided."""

from collections.abc import Callable
from math import comb, exp, factorial

DOUBT = 0.05


def at_most(count: int) -> float:
    """The mean that a Poisson count of events stays below: 3.0 where none was seen (the rule of three)."""
    return _falling(lambda mean: exp(-mean) * sum(mean**n / factorial(n) for n in range(count + 1)), 3.0 + 3.0 * count)


def at_least(part: int, whole: int) -> float:
    """The share that lies above (Clopper and Pearson): 0.95 where 59 of 59 were found."""
    if not part:
        return 0.0
    return 1.0 - _falling(lambda miss: _no_more_misses(whole - part, whole, miss), 1.0)


def _no_more_misses(misses: int, whole: int, share: float) -> float:
    return sum(comb(whole, n) * share**n * (1 - share) ** (whole - n) for n in range(misses + 1))


def _falling(chance: Callable[[float], float], high: float) -> float:
    """Where a falling function of a positive number reaches the doubt that is left."""
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) > DOUBT else (low, middle)
    return high

"""Fates of links, drawn: those that decay, and healthy ones with everything that looks like it."""

import numpy as np
import numpy.typing as npt

from benchmarks.degradation.physics import READINGS_A_DAY, Fates, Numbers

DECAYS = (
    "contamination, steady",
    "contamination, accelerating",
    "damaged fibre, growing in steps",
    "laser that ages",
    "receiver that ages",
    "fast, within four days",
)
STEPS = ("one step of 1 to 3 dB", "worse since a fall of the link")
TRAPS = (
    "nothing",
    "cleaned after dirt",
    "module exchanged",
    "touched, 0.5 dB",
    "meter that drifts",
    "meter that jumps",
    "hours missing",
    "counters that begin again",
    "harmless drift of 0.4 dB a month",
)
REPAIRED = "cleaned after dirt"
"""Worse for some days, and then repaired: a warning before that is right."""
SHARES = (0.86, 0.02, 0.02, 0.02, 0.01, 0.01, 0.02, 0.02, 0.02)
"""Of healthy links. Half of all links are touched or exchanged once in a few years; here in two months."""


def healthy(rng: np.random.Generator, days: int, count: int) -> Fates:
    """Directions of links that do not fail."""
    return drawn(rng, days, rng.choice(TRAPS, count, p=SHARES))


def decaying(rng: np.random.Generator, days: int, each: int) -> Fates:
    """Directions that fail, or are worse after a step: `each` of a kind."""
    return drawn(rng, days, np.repeat((*DECAYS, *STEPS), each))


def drawn(rng: np.random.Generator, days: int, kind: npt.NDArray[np.str_]) -> Fates:
    """Directions of these kinds; each begins on a day of its own."""
    count = len(kind)
    time = (np.arange(days * READINGS_A_DAY) / READINGS_A_DAY)[:, None]
    since_day = rng.uniform(16, days - 12, count)
    since = np.maximum(time - since_day, 0)
    after = since > 0
    rate = np.exp(rng.uniform(np.log(0.04), np.log(0.4), count))
    size = rng.uniform(1, 3, count)
    walk = np.cumsum(rng.normal(0, 0.02 / np.sqrt(READINGS_A_DAY), (len(time), count)), axis=0)
    loss, sent, penalty, meter = (np.zeros((len(time), count)) for _ in range(4))

    def add(to: Numbers, name: str, what: Numbers) -> None:
        at = np.flatnonzero(kind == name)
        to[:, at] += np.broadcast_to(what, to.shape)[:, at]

    add(loss, "contamination, steady", rate * since + np.where(after, walk * 5 * rate, 0))
    add(loss, "contamination, accelerating", 0.1 * np.expm1(since * rng.uniform(0.08, 0.3, count)))
    breaks = after & (rng.random((len(time), count)) < 1 / READINGS_A_DAY)
    add(loss, "damaged fibre, growing in steps", np.cumsum(breaks * rng.exponential(rate, breaks.shape), axis=0))
    add(sent, "laser that ages", rate * since)
    add(penalty, "receiver that ages", rate * since)
    add(loss, "fast, within four days", rng.uniform(0.8, 2, count) * since)
    add(loss, "one step of 1 to 3 dB", size * after)
    add(loss, "worse since a fall of the link", size * after)
    cleaned = since > rng.uniform(4, 8, count)
    add(loss, "cleaned after dirt", np.where(cleaned, 0, rng.uniform(0.05, 0.1, count) * since))
    add(loss, "module exchanged", rng.normal(0, 1, count) * after)
    add(loss, "touched, 0.5 dB", rng.normal(0, 0.5, count) * after)
    add(meter, "meter that drifts", rng.uniform(-0.15, 0.15, count) * since)
    add(meter, "meter that jumps", rng.choice([0.0, -1.5], (len(time), count), p=[0.9, 0.1]))
    add(loss, "harmless drift of 0.4 dB a month", rng.uniform(0.2, 0.4, count) / 30 * time)
    return Fates(kind, since_day, loss, sent, penalty, meter)

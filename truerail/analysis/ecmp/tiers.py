"""What the load rules can evaluate. A switch without data on its uplinks, or with too little load, is unknown, and so
is what too few flows leave open: a rule reports this instead of passing, and beside its findings.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from truerail.analysis.counters.carried import TOO_FEW
from truerail.analysis.ecmp.siblings import Siblings, hashed_twice, unclear
from truerail.analysis.ecmp.uplink_balance import IDLE, Balance
from truerail.analysis.not_evaluated import InsufficientDataError
from truerail.analysis.round import Round
from truerail.model import NotEvaluated
from truerail.model.columns import Mask, ratio

SILENT = 0.001
"""Share of their speed below which uplinks carry no traffic except control traffic between switches."""


def balance_to_evaluate(round: Round) -> Balance:
    """The groups of a fabric. Raises InsufficientDataError where no group can be evaluated."""
    b = round.balance
    if not b.carried.enough:
        raise InsufficientDataError(TOO_FEW)
    if not b.evaluated.any():
        raise InsufficientDataError("no switch whose uplinks are all reported and carry enough to be evaluated")
    return b


def not_evaluated(b: Balance) -> Iterator[NotEvaluated]:
    """Switches that have traffic on their uplinks, or may have, and are not evaluated."""
    yield from _not_evaluated(b, np.ones(len(b.switch), dtype=bool))


def unclear_tiers(b: Balance, siblings: Iterable[Siblings]) -> Iterator[NotEvaluated]:
    """The same of tiers that a repeated hash can polarize, and tiers in which it may have done so, where there are too
    few flows to distinguish it from chance.
    """
    yield from _not_evaluated(b, hashed_twice(b))
    if doubtful := unclear(siblings):
        tiers = "a tier of one pod" if len(doubtful) == 1 else f"tiers of {len(doubtful)} pods"
        names = tuple(name for one in doubtful for name in b.names(one.groups))
        why = f"more flows: in {tiers} uplinks stay idle as a repeated hash leaves them, or by chance"
        yield NotEvaluated(why, what="switch", count=len(names), of=len(b.switch), subjects=names)


def idle_switches(b: Balance, explained: Mask) -> Iterator[NotEvaluated]:
    """Evaluated switches that leave uplinks idle in every window, where only few flows or a dead member explain it."""
    groups = np.flatnonzero(b.evaluated & (b.idle_members > 0) & ~explained)
    idle = [group for group in groups.tolist() if _always_idle(b, group)]
    if idle:
        yield _few_flows(b, idle, "idle, as dead members are or as so few flows do")


def _always_idle(b: Balance, group: int) -> bool:
    rows = b.uplinks(group)
    windows = b.in_windows(rows[b.member[rows]])
    return bool((windows < IDLE * windows.mean(axis=0)).all(axis=1).any())


def uneven_switches(b: Balance, uneven: Sequence[int]) -> Iterator[NotEvaluated]:
    """These groups are uneven in all their data, and few flows may be the reason."""
    if uneven:
        yield _few_flows(b, uneven, "uneven, by a fault or as so few flows do")


def _few_flows(b: Balance, groups: Sequence[int], how: str) -> NotEvaluated:
    switches = "1 switch leaves" if len(groups) == 1 else f"{len(groups)} switches leave"
    names = tuple(b.names(np.array(groups)))
    why = f"more flows: {switches} uplinks {how}"
    return NotEvaluated(why, what="switch", count=len(groups), of=len(b.switch), subjects=names)


def _not_evaluated(b: Balance, of: Mask) -> Iterator[NotEvaluated]:
    quiet = b.sum(ratio(b.load, b.speed)) < SILENT * b.members
    every = of & (b.members > 1) & ~quiet
    missing = np.flatnonzero(every & ~b.evaluated)
    if len(missing):
        switches = int(np.count_nonzero(every))
        which = f"uplinks of {len(missing)} of {switches} switches"
        why = f"{which}: not all are reported, or they carry too little to be evaluated"
        yield NotEvaluated(why, what="switch", count=len(missing), of=switches, subjects=tuple(b.names(missing)))

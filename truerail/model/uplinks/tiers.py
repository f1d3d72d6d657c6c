"""What the load rules could look at. A tier whose uplinks nobody tells, or that carries too little to be judged, is
unknown: a rule without findings says so instead of passing.
"""

import numpy as np

from truerail.model import Plan, Snapshot
from truerail.model.columns import Mask
from truerail.model.counters.carried import TOO_FEW
from truerail.model.counters.telemetry import telemetry_of
from truerail.model.rule import Undecided
from truerail.model.uplinks.balance import Balance, balance_of
from truerail.model.uplinks.siblings import families, hashed_twice, unclear

SILENT = 0.001
"""Share of their speed below which uplinks carry no traffic but what switches say to each other."""


def balance_to_judge(plan: Plan, seen: Snapshot) -> Balance:
    """The groups of a fabric. Raises Undecided where no group can be judged."""
    b = balance_of(telemetry_of(plan, seen))
    if not b.carried.enough:
        raise Undecided(TOO_FEW)
    if not b.judged.any():
        raise Undecided("no switch whose uplinks are all told and carry enough to be judged")
    return b


def tell_unjudged(b: Balance) -> None:
    """Raises Undecided where a tier of a pod has traffic, or may have, and none of its switches is judged."""
    _tell(b, np.ones(len(b.switch), dtype=bool))


def tell_unclear(b: Balance) -> None:
    """The same of tiers that a repeated hash can polarize. Raises Undecided also where it may have done so, and there
    are too few flows to tell it from chance.
    """
    _tell(b, hashed_twice(b))
    if doubtful := len(unclear(b)):
        tiers = "a tier of one pod" if doubtful == 1 else f"tiers of {doubtful} pods"
        raise Undecided(f"more flows: in {tiers} uplinks stay idle as a repeated hash leaves them, or by chance")


def _tell(b: Balance, of: Mask) -> None:
    family = families(b)
    with np.errstate(invalid="ignore", divide="ignore"):
        quiet = b.sum(b.load / b.speed) < SILENT * b.members
    every = np.unique(family[of & (b.members > 1) & ~quiet])
    missing = len(every) - len(np.intersect1d(every, family[b.judged]))
    if missing:
        raise Undecided(
            f"uplinks of {missing} of {len(every)} groups of switches (a tier of a pod each): not all are told, or "
            "they carry too little to be judged"
        )

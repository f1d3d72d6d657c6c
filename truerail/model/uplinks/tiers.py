"""What the load rules could look at. A switch whose uplinks nobody tells, or that carries too little to be judged, is
unknown, and so is what too few flows leave open: a rule without findings says so instead of passing.
"""

import numpy as np

from truerail.model import Plan, Snapshot
from truerail.model.columns import Mask
from truerail.model.counters.carried import TOO_FEW
from truerail.model.counters.telemetry import telemetry_of
from truerail.model.rule import Undecided
from truerail.model.uplinks.balance import IDLE, Balance, balance_of
from truerail.model.uplinks.siblings import hashed_twice, unclear

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
    """Raises Undecided where a switch has traffic on its uplinks, or may have, and is not judged."""
    _tell(b, np.ones(len(b.switch), dtype=bool))


def tell_unclear(b: Balance) -> None:
    """The same of tiers that a repeated hash can polarize. Raises Undecided also where it may have done so, and there
    are too few flows to tell it from chance.
    """
    _tell(b, hashed_twice(b))
    if doubtful := len(unclear(b)):
        tiers = "a tier of one pod" if doubtful == 1 else f"tiers of {doubtful} pods"
        raise Undecided(f"more flows: in {tiers} uplinks stay idle as a repeated hash leaves them, or by chance")


def tell_idle(b: Balance, explained: Mask) -> None:
    """Raises Undecided where judged switches leave uplinks idle in every window, and nothing but few flows or a dead
    member explains it.
    """
    groups = np.flatnonzero(b.judged & (b.idle_members > 0) & ~explained)
    idle = sum(_always_idle(b, group) for group in groups.tolist())
    if idle:
        raise Undecided(f"more flows: {_switches(idle)} uplinks idle, as dead members are or as so few flows do")


def _always_idle(b: Balance, group: int) -> bool:
    rows = b.uplinks(group)
    windows = b.in_windows(rows[b.member[rows]])
    with np.errstate(invalid="ignore"):
        return bool((windows < IDLE * windows.mean(axis=0)).all(axis=1).any())


def tell_uneven(uneven: int) -> None:
    """Raises Undecided where so many switches are uneven for as long as they are told, and few flows may be why."""
    if uneven:
        raise Undecided(f"more flows: {_switches(uneven)} uplinks uneven, by a fault or as so few flows do")


def _switches(number: int) -> str:
    return "1 switch leaves" if number == 1 else f"{number} switches leave"


def _tell(b: Balance, of: Mask) -> None:
    with np.errstate(invalid="ignore", divide="ignore"):
        quiet = b.sum(b.load / b.speed) < SILENT * b.members
    every = of & (b.members > 1) & ~quiet
    missing = int(np.count_nonzero(every & ~b.judged))
    if missing:
        raise Undecided(
            f"uplinks of {missing} of {np.count_nonzero(every)} switches: not all are told, or they carry too little "
            "to be judged"
        )

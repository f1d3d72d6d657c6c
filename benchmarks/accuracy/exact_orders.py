"""The fewest moves that turn observed links into planned ones, by integer programming (HiGHS).

It shares no line with what it judges: any cable may become any of the wanted links, and moves as many plugs for it as
ports of the link are not its own.
"""

from collections.abc import Collection

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from truerail.model import Port

Link = frozenset[Port]
"""The two ports of a cable."""


def fewest_moves(links: Collection[Link], wanted: Collection[Link]) -> int:
    """The least number of plugs to move until all `wanted` links are there, made of the cables of `links`. Raises
    RuntimeError if that is impossible.
    """
    cables, ends = sorted(links, key=sorted), sorted(wanted, key=sorted)
    if not ends:
        return 0
    cost = np.array([[2 - len(cable & end) for end in ends] for cable in cables], dtype=np.float64)
    number = np.arange(cost.size).reshape(cost.shape)
    once = [np.isin(np.arange(cost.size), row).astype(np.float64) for row in (*number, *number.T)]
    least = [0.0] * len(cables) + [1.0] * len(ends)
    found = milp(
        cost.ravel(),
        constraints=LinearConstraint(np.array(once), least, 1.0),
        integrality=np.ones(cost.size, dtype=np.int64),
        bounds=Bounds(0, 1),
    )
    if found.status:
        raise RuntimeError(f"no cables make these links: {found.message}")
    return round(float(found.fun))

"""The judge of an order of repairs: the exact optimum by integer programming, and a check of every constraint.

Neither shares a line with what it judges (`truerail/questions/repair_order.py`): the optimum is that of a
time-indexed formulation, in which `x[i, t]` is 1 if repair `i` begins at unit `t`, solved to optimality by HiGHS; the
check walks through a schedule unit by unit.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from truerail.questions.repair_order import Schedule

MOST_SECONDS = 60.0
"""Seconds for one optimum."""
Row = dict[int, float]
"""A constraint's coefficients by variable."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The highest objective of any schedule, in GPU-units; if it is not `proven`, a bound that no schedule exceeds."""

    value: float
    proven: bool = True


def optimum(work: Schedule) -> Optimum:
    """The optimum, or a bound where the solver takes too long to prove one. Raises RuntimeError if it fails."""
    begins = list(_begins(work))
    if not begins:
        return Optimum(0.0)
    gain = [work.weight[row] * (work.horizon - at - work.units[row]) for row, at in begins]
    matrix, most = _matrix(list(_constraints(work, begins)), len(begins))
    found = milp(
        -np.array(gain),
        constraints=LinearConstraint(matrix, -np.inf, most),
        integrality=np.ones(len(begins), dtype=np.int64),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0, "time_limit": MOST_SECONDS},
    )
    least = {0: found.fun, 1: found.mip_dual_bound}.get(found.status)
    if least is None:
        raise RuntimeError(f"the solver found no optimum: {found.message}")
    return Optimum(-float(least), proven=found.status == 0)


def _begins(work: Schedule) -> Iterator[tuple[int, int]]:
    """Every repair with every unit at which it can begin."""
    for row, length in enumerate(work.units.tolist()):
        for at in range(work.horizon - length + 1):
            if work.allowed[row, at : at + length].all():
                yield row, at


def _constraints(work: Schedule, begins: list[tuple[int, int]]) -> Iterator[tuple[Row, float]]:
    """Coefficients, and what their sum may be at most."""
    number = {one: at for at, one in enumerate(begins)}
    of = [[at for row, at in begins if row == wanted] for wanted in range(len(work.weight))]
    for row, units in enumerate(of):
        yield {number[row, at]: 1.0 for at in units}, 1.0
    for unit in range(work.horizon):
        going = [[number[row, at] for at in units if at <= unit < at + work.units[row]] for row, units in enumerate(of)]
        yield {one: float(work.people[row]) for row, ones in enumerate(going) for one in ones}, float(work.technicians)
        for row, other in np.argwhere(np.triu(work.apart)).tolist():
            if going[row] and going[other]:
                yield dict.fromkeys((*going[row], *going[other]), 1.0), 1.0
    for row, before in enumerate(work.after):
        for one in before:
            yield from _after(work, number, of, row, one)


def _after(
    work: Schedule, number: dict[tuple[int, int], int], of: list[list[int]], row: int, before: int
) -> Iterator[tuple[Row, float]]:
    """What has begun by a unit needs what comes before it to have ended by then."""
    for unit in of[row]:
        begun = {number[row, at]: 1.0 for at in of[row] if at <= unit}
        ended = {number[before, at]: -1.0 for at in of[before] if at + work.units[before] <= unit}
        yield begun | ended, 0.0


def _matrix(rows: list[tuple[Row, float]], width: int) -> tuple[csr_array, "np.typing.NDArray[np.float64]"]:
    used = [(row, most) for row, most in rows if row]
    at = np.repeat(np.arange(len(used)), [len(row) for row, _ in used])
    column = [one for row, _ in used for one in row]
    value = [one for row, _ in used for one in row.values()]
    matrix = csr_array((value, (at, column)), shape=(len(used), width))
    return matrix, np.array([most for _, most in used])


def violations(work: Schedule, start: "np.typing.NDArray[np.int64]") -> list[str]:
    """What a schedule does that it must not, in words."""
    placed = np.flatnonzero(start >= 0).tolist()
    found = [f"repair {row} leaves the plan" for row in placed if start[row] + work.units[row] > work.horizon]
    for unit in range(work.horizon):
        going = [row for row in placed if start[row] <= unit < start[row] + work.units[row]]
        found += [
            f"repair {row} at unit {unit}, which does not allow it" for row in going if not work.allowed[row, unit]
        ]
        people = sum(int(work.people[row]) for row in going)
        found += [f"{people} technicians at unit {unit}"] if people > work.technicians else []
        found += [f"repairs {a} and {b} together" for a in going for b in going if a < b and work.apart[a, b]]
    for row, before in enumerate(work.after):
        late = (one for one in before if start[one] < 0 or start[one] + work.units[one] > start[row])
        found += [f"repair {row} before {one}" for one in late if start[row] >= 0]
    return found

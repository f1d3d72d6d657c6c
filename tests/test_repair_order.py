"""The order of repairs keeps every constraint, and is close to the exact optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.accuracy.exact_repairs import optimum, violations
from benchmarks.accuracy.repairs import ORDER, TIMES, Speed, judge, placed, section, times
from truerail.questions.repair_order import Schedule, at_once, in_order, value


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Up to 7 repairs in up to 16 units: gaps in time, pairs apart, chains, repairs that are too long or too large."""
    number, horizon = draw(st.integers(0, 7)), draw(st.integers(1, 16))

    def column(low: int, high: int) -> np.ndarray:
        return np.array(draw(st.lists(st.integers(low, high), min_size=number, max_size=number)), dtype=np.int64)

    def mask(*shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        bits = draw(st.integers(0, (1 << size) - 1)) if size else 0
        return np.array([bits >> at & 1 for at in range(size)], dtype=bool).reshape(shape)

    pairs = np.triu(mask(number, number), 1)
    chain = mask(number, number)
    return Schedule(
        weight=column(0, 9) + 0.01,
        units=column(1, 5),
        people=column(1, 3),
        allowed=mask(number, horizon) | (column(0, 2) > 0)[:, None],
        apart=pairs | pairs.T,
        after=tuple(tuple(one for one in range(row) if chain[row, one] and row % 3 == 0) for row in range(number)),
        technicians=draw(st.integers(1, 3)),
    )


@settings(max_examples=20, deadline=None)
@given(work=schedules())
def test_no_constraint_is_ever_broken(work: Schedule) -> None:
    start = in_order(work)
    assert violations(work, start) == []
    assert in_order(work).tolist() == start.tolist()
    assert violations(work, at_once(work, np.arange(len(work.weight)))) == []
    assert value(work, start) >= value(work, at_once(work, np.argsort(-work.weight, kind="stable"))) - 1e-9
    assert value(work, start) <= optimum(work).value + 1e-6


def drawn(seed: int) -> Schedule:
    """A problem harder than those of fabrics: every fourth pair apart, a third of the time closed."""
    random = np.random.default_rng(seed)
    number, horizon = 8, 20
    pairs = np.triu(random.random((number, number)) < 0.25, 1)
    return Schedule(
        weight=random.integers(1, 20, number).astype(float),
        units=random.integers(1, 6, number),
        people=random.integers(1, 3, number),
        allowed=random.random((number, horizon)) < 0.9,
        apart=pairs | pairs.T,
        after=tuple((row - 1,) if row in (3, 6) else () for row in range(number)),
        technicians=2,
    )


def test_it_is_close_to_the_optimum_where_that_is_hard() -> None:
    found, best = zip(
        *((value(drawn(seed), in_order(drawn(seed))), optimum(drawn(seed)).value) for seed in range(5)), strict=True
    )
    assert sum(found) >= 0.98 * sum(best)


def test_a_repair_takes_the_earliest_time_that_is_left() -> None:
    allowed = np.ones((3, 8), dtype=bool)
    allowed[1, :2] = False
    apart = np.zeros((3, 3), dtype=bool)
    apart[0, 2] = apart[2, 0] = True
    work = Schedule(
        np.array([5.0, 3.0, 1.0]), np.array([2, 2, 3]), np.array([1, 1, 1]), allowed, apart, ((), (), ()), 2
    )
    assert in_order(work).tolist() == [0, 2, 2]
    assert value(work, in_order(work)) == 5 * 6 + 3 * 4 + 1 * 3
    late = Schedule(work.weight, work.units, work.people, allowed, apart, ((2,), (), ()), 2)
    assert in_order(late).tolist() == [3, 2, 0]


def test_what_waits_for_something_without_a_place_has_none() -> None:
    allowed = np.array([[False] * 4, [True] * 4, [True] * 4])
    none = np.zeros((3, 3), dtype=bool)
    work = Schedule(np.ones(3), np.ones(3, dtype=int), np.ones(3, dtype=int), allowed, none, ((), (0,), (2,)), 1)
    assert in_order(work).tolist() == [-1, -1, -1], "one that waits for itself has none either"


@pytest.mark.parametrize("seed", [4, 21])
def test_a_fabric_is_planned_at_its_optimum(seed: int) -> None:
    one = judge(seed)
    assert one.broken == ()
    assert one.share > 0.98
    page = placed("before\n", f"{section([one])}\n\n{times(Speed(12_500, 300, 67, [1.2, 0.5]))}")
    assert ORDER.of(page).count("Order of repairs") == 1
    assert "0.50 s for the next" in TIMES.of(page)
    assert placed(page, times(Speed(64, 3, 2, [0.1]))).count("the first question") == 1
    assert ORDER.of("without") == ""

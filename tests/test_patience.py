"""What the tests measure with can fail."""

import pytest

from tests.each import each
from tests.patience import grows_with


def test_work_that_is_linear_passes_and_work_that_is_cubic_fails() -> None:
    grows_with(lambda k: sum(range(100_000 * k)))
    with pytest.raises(AssertionError, match="four times the work took"):
        grows_with(lambda k: sum(range(1_000_000 * k**3)))


def test_every_case_is_checked_and_those_that_fail_are_listed() -> None:
    seen = []

    @each("left, right", lambda: [(1, 2), pytest.param(2, 2, id="same"), (3, 2)])
    @each("factor", [1, -1])
    def less(left: int, right: int, factor: int) -> None:
        seen.append(left * factor)
        assert left < right or factor == -1, f"{left} is not less"

    with pytest.raises(AssertionError) as raised:
        less()
    assert seen == [1, -1, 2, -2, 3, -3]
    lines = str(raised.value).splitlines()
    assert lines[0] == "2 of 3 cases fail:"
    assert [line for line in lines if line.startswith(("same", "3-2"))] == [
        f"{label}: AssertionError: 1 of 2 cases fail:" for label in ("same", "3-2")
    ]
    assert sum("is not less" in line for line in lines) == 2

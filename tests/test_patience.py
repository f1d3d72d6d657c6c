"""What the tests measure with can fail."""

import ast
from pathlib import Path

import pytest

from tests import patience
from tests.each import each
from tests.patience import PAUSES, grows_with

TESTS = Path(__file__).parent


def _pauses(node: ast.AST) -> bool:
    """Whether it is `asyncio.sleep` or `time.sleep` for longer than no time."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("asyncio" | "time"), "sleep"), [seconds]):
            return not (isinstance(seconds, ast.Constant) and seconds.value == 0)
    return False


def test_where_tests_pause_is_listed_with_the_reason() -> None:
    sources = {path.relative_to(TESTS).as_posix(): path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")}
    assert sorted(PAUSES) == sorted(
        name
        for name, source in sources.items()
        if "sleep(" in source and any(map(_pauses, ast.walk(ast.parse(source))))
    )


def test_work_that_is_linear_passes_and_work_that_is_cubic_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "_NO_GROWTH_SECONDS", 0.01)
    grows_with(lambda k: sum(range(100_000 * k)))
    with pytest.raises(AssertionError, match="four times the work took"):
        grows_with(lambda k: sum(range(100_000 * k**3)))


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

"""What is worked out once for an object and kept with it."""

from dataclasses import dataclass

import pytest

from truerail.model.kept import kept


@dataclass(frozen=True)
class Box:
    """Something that is equal to another, and frozen."""

    number: int


asked: list[int] = []


@kept
def half(box: Box) -> int | None:
    """Half of an even number."""
    asked.append(box.number)
    if box.number < 0:
        raise ValueError(box.number)
    return None if box.number % 2 else box.number // 2


@pytest.fixture(autouse=True)
def nobody_asked() -> None:
    asked.clear()


def test_it_is_worked_out_once_for_each_object() -> None:
    first, second = Box(8), Box(8)
    assert [half(first), half(first), half(second)] == [4, 4, 4]
    assert asked == [8, 8]


def test_nothing_is_an_answer_too() -> None:
    odd = Box(7)
    assert half(odd) is half(odd) is None
    assert asked == [7]


def test_what_raises_is_asked_again() -> None:
    bad = Box(-1)
    for _ in range(2):
        with pytest.raises(ValueError, match="-1"):
            half(bad)
    assert asked == [-1, -1]


def test_the_object_stays_what_it_was() -> None:
    box = Box(8)
    half(box)
    assert box == Box(8)
    assert repr(box) == "Box(number=8)"
    assert half.__doc__ == "Half of an even number."

"""Rows of a view that are decoded when they are read."""

import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from truerail.viewfile.parts import ROWS
from truerail.viewfile.stored_round import MOST_DECODED, StoredRows

PARTS = 3 * MOST_DECODED


@pytest.fixture
def eager() -> Iterator[None]:
    """Threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-7)
    yield
    sys.setswitchinterval(before)


def part(number: str) -> list[int]:
    return [int(number) * ROWS + place for place in range(ROWS)]


@pytest.mark.usefixtures("eager")
def test_threads_read_the_same_rows_at_once() -> None:
    rows: StoredRows[int] = StoredRows(PARTS * ROWS, part)

    def read(seed: int) -> bool:
        rng = Random(seed)
        wanted = (rng.randrange(len(rows)) for _ in range(1000))
        return all(rows[row] == row for row in wanted)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(read, range(16)))


def test_parts_are_decoded_once_and_a_bounded_number_is_kept() -> None:
    asked: Counter[str] = Counter()

    def counted(number: str) -> list[int]:
        asked[number] += 1
        return part(number)

    rows: StoredRows[int] = StoredRows(PARTS * ROWS, counted)
    assert [rows[row] for row in (0, 1, ROWS - 1)] == [0, 1, ROWS - 1]
    assert asked == {"0": 1}
    for number in range(PARTS):
        assert rows[number * ROWS] == number * ROWS
    assert rows[0] == 0
    assert asked["0"] == 2
    with pytest.raises(IndexError):
        rows[len(rows)]

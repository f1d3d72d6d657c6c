"""A ring of samples: what is known is shared, what is alike takes the memory of one value, what is missing stays so."""

import numpy as np

from truerail.analysis.counters.ring import Ring

ALL = np.arange(3)


def a_ring(*samples: list[float]) -> Ring:
    return Ring.beginning_with(np.array(samples, dtype=np.float32).T, 3)


def shown(ring: Ring) -> list[list[float]]:
    """Each sample; -1 is no data."""
    return np.nan_to_num(ring.view().of(ALL), nan=-1).T.tolist()


def test_a_sample_is_copied_before_it_is_written_to_and_no_other_one_is() -> None:
    ring = a_ring([1, 2], [3, 4])
    before = ring.view()
    ring.put(1, np.array([0]), np.array([9], dtype=np.float32))
    written = ring[1]
    ring.put(1, slice(1, 2), np.array([8], dtype=np.float32))
    assert ring[1] is written, "no view has it"
    assert shown(ring) == [[1, 2], [9, 8], [-1, -1]]
    assert before.of(np.array([1, 0])).tolist() == [[3, 1], [4, 2]]
    assert np.shares_memory(ring[0], before.columns[0])


def test_some_rows_of_some_samples_are_read_in_the_order_asked_for() -> None:
    samples = a_ring([1, 2, 3], [4, 5, 6]).view()
    assert samples.of(np.array([1, 0]), np.array([2, 0])).tolist() == [[6, 3], [4, 1]]
    assert samples.of(ALL[:0]).shape == (3, 0)
    assert samples.of(ALL[:0], np.array([1])).shape == (1, 0)


def test_a_closed_sample_that_is_alike_everywhere_takes_the_memory_of_one_value() -> None:
    ring = a_ring([7, 7], [7, 8], [np.nan, np.nan])
    for sample in range(3):
        ring.close(sample)
        ring.close(sample)
    assert [ring[sample].strides for sample in range(3)] == [(0,), (4,), (0,)]
    assert shown(ring) == [[7, 7], [7, 8], [-1, -1]]
    ring.put(0, np.array([1]), np.array([5], dtype=np.float32))
    assert shown(ring)[0] == [7, 5]
    no_rows = Ring(0, 3)
    no_rows.close(0)
    assert no_rows[0].shape == (0,)


def test_new_rows_have_no_data_and_what_is_known_stays() -> None:
    ring = a_ring([7, 7], [1, 2])
    ring.close(0)
    ring.grow(3)
    assert shown(ring) == [[7, 7, -1], [1, 2, -1], [-1, -1, -1]]
    assert shown(ring.only(np.array([2, 1]))) == [[-1, 7], [-1, 2], [-1, -1]]


def test_a_copy_goes_on_alone() -> None:
    ring = a_ring([1, 2])
    other = ring.copy()
    other.put(0, slice(0, 1), np.array([5], dtype=np.float32))
    ring.clear(0)
    ring.put(1, slice(0, 2), np.array([3, 4], dtype=np.float32))
    assert (shown(ring)[:2], shown(other)[:2]) == ([[-1, -1], [3, 4]], [[5, 2], [-1, -1]])

"""What the tests measure with can fail."""

import pytest
from patience import grows_with


def test_work_that_is_linear_passes_and_work_that_is_cubic_fails() -> None:
    grows_with(lambda k: sum(range(100_000 * k)))
    with pytest.raises(AssertionError, match="four times the work took"):
        grows_with(lambda k: sum(range(1_000_000 * k**3)))

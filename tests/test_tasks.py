"""Tasks end although one of them misses a cancellation, as some do that wait by `asyncio.wait_for` of Python 3.11."""

import asyncio

import pytest

from truerail.model import tasks


async def stubborn(missed: int) -> None:
    """Misses that many cancellations."""
    for _ in range(missed):
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue
    await asyncio.sleep(3600)


async def failing() -> None:
    raise ValueError("as found")


async def test_a_task_that_misses_its_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "AGAIN_SECONDS", 0.01)
    every = [asyncio.create_task(stubborn(missed)) for missed in (0, 1, 3)]
    await asyncio.sleep(0)
    await tasks.end(every)
    assert all(task.cancelled() for task in every)


async def test_an_error_is_dropped_or_raised_once_all_have_ended() -> None:
    every = [asyncio.create_task(failing()), asyncio.create_task(stubborn(0))]
    await asyncio.wait(every, timeout=0)
    await tasks.end(every)
    with pytest.raises(ValueError, match="as found"):
        await tasks.end(every, failed=True)
    assert every[1].cancelled()
    await tasks.end([])

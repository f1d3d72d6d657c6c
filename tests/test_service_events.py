"""The event stream: everything in order, nothing twice, a gap is reported and never hidden."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from tests.patience import ENOUGH
from truerail.link.messages import Event
from truerail.service.events import KEPT, EventLog


async def taken(log: EventLog, known: int | None, count: int) -> list[Event | None]:
    stream = log.follow(known)
    found = [await anext(stream) for _ in range(count)]
    await stream.aclose()
    return found


async def test_a_new_reader_needs_the_whole_state_and_then_gets_what_comes() -> None:
    log = EventLog(100)
    log.add("round", b"1")
    stream = log.follow(None)
    assert await anext(stream) is None
    log.add("round", b"2")
    event = await anext(stream)
    assert event == Event(101, "round", b"2")
    assert log.readers == 1
    await stream.aclose()
    assert log.readers == 0


def test_a_reader_that_comes_back_gets_what_it_missed() -> None:
    log = EventLog(100)
    for number in range(5):
        log.add("round", str(number).encode())
    found = asyncio.run(taken(log, 102, 2))
    assert [event and event.id for event in found] == [103, 104]


async def test_a_reader_that_missed_too_much_is_reported_so_and_goes_on() -> None:
    log = EventLog(1)
    for number in range(KEPT + 10):
        log.add("round", str(number).encode())
    stream = log.follow(3)
    assert await anext(stream) is None
    log.add("round", b"new")
    event = await anext(stream)
    assert event is not None
    assert event.data == b"new"


def test_a_number_of_an_earlier_process_is_a_gap() -> None:
    log = EventLog(5000)
    assert log.after(4000) is None
    log.add("round", b"")
    assert log.after(4000) is None
    assert log.after(6000) is None
    assert log.after(4999) is not None


async def test_a_waiting_reader_wakes_when_something_happens() -> None:
    log = EventLog(1)
    log.add("round", b"0")
    waiting = asyncio.create_task(taken(log, 1, 1))
    await asyncio.sleep(0)
    assert not waiting.done()
    log.add("mutes", b"{}")
    assert (await asyncio.wait_for(waiting, ENOUGH))[0] == Event(2, "mutes", b"{}")


@given(st.integers(0, 30), st.integers(-2, 40))
def test_what_is_behind_a_number_is_exactly_the_rest(count: int, known: int) -> None:
    log = EventLog(1)
    for _ in range(count):
        log.add("round", b"")
    found = log.after(known)
    if 0 <= known <= count:
        assert found is not None
        assert [event.id for event in found] == list(range(known + 1, count + 1))
    else:
        assert found is None

"""What is published is immutable: counters that come in later change nothing of what readers hold, and cannot."""

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from tests.patience import ENOUGH
from tests.small_fabric import World, make_plan
from truerail.analysis.counters import CounterView, Quantity, Window
from truerail.analysis.counters.ring import Samples
from truerail.analysis.published import JournalState, Published
from truerail.journal import Lives
from truerail.model import Counter, PortCounters, Reading, Snapshot
from truerail.service.evaluator import Evaluator

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
NAMES = (Counter("tx_bytes"), Counter("rx_bytes"))


def counted(number: int, ports: int = 4, source: str = "port_counters") -> Reading:
    facts = tuple(PortCounters(f"swp{port}", NAMES, (number * 1000 * port, number)) for port in range(1, ports + 1))
    return Reading("leaf-0", source, AT + timedelta(seconds=10 * number), facts)


def published(evaluator: Evaluator, number: int, ports: int = 4) -> Published:
    plan = make_plan()
    snapshot = Snapshot(AT + timedelta(seconds=10 * number), World(plan).snapshot().readings)
    evaluated = evaluator.evaluate(
        plan, snapshot, [counted(number, ports)], (), {}, JournalState(), (), (), snapshot.at
    )
    return evaluated.publication


def an_evaluator() -> Evaluator:
    return Evaluator("test", Lives(timedelta(0), 2, timedelta(0)), 1)


def test_a_publication_keeps_the_counters_that_it_was_evaluated_with() -> None:
    evaluator = an_evaluator()
    for number in range(1, 4):
        publication = published(evaluator, number)
    counters = view_in(publication)
    before = bytes_of(counters)
    for number in range(4, 60):  # round the ring, with new ports and sources on the way
        newer = published(evaluator, number, ports=number)
        evaluator.window.put([counted(number, source=f"source-{number % 5}")])
    assert bytes_of(counters) == before != bytes_of(view_in(newer))
    assert len(counters.sources["port_counters"].ports) == 4
    assert list(counters.sources) == ["port_counters"]


def view_in(publication: Published) -> CounterView:
    counters = publication.round.counters
    assert counters is not None
    return counters


def parts(value: object) -> Iterator[object]:
    """A value, and whatever can be reached through its fields and items."""
    yield value
    held: Iterable[object] = ()
    if is_dataclass(value):
        held = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, Mapping):
        held = [*value.keys(), *value.values()]
    elif isinstance(value, tuple):
        held = value
    for one in held:
        yield from parts(one)


def bytes_of(counters: CounterView) -> bytes:
    """All arrays of a view."""
    return b"".join(one.tobytes() for one in parts(counters) if isinstance(one, np.ndarray))


def test_nothing_in_what_is_published_can_be_changed() -> None:
    evaluator = an_evaluator()
    found = list(parts(view_in(published(evaluator, 1))))
    arrays = [one for one in found if isinstance(one, np.ndarray)]
    assert len(arrays) > 10
    assert not any(array.flags.writeable for array in arrays)
    assert view_in(published(evaluator, 2)).order.flags.writeable is False
    assert not any(isinstance(one, list | dict | set) for one in found)
    for one in found:
        if is_dataclass(one):
            with pytest.raises((FrozenInstanceError, TypeError)):
                setattr(one, fields(one)[0].name, None)
        if isinstance(one, Mapping):
            with pytest.raises(TypeError, match="item assignment"):
                one["port_counters"] = None  # type: ignore[index]  # that it is refused is the point


def test_arrays_are_shared_until_they_are_written_to() -> None:
    window = Window()
    for number in (1, 2):
        window.put([counted(number), counted(number, source="other")])
    first, now = view_of(window), window.head
    for name, source in window.sources.items():
        assert np.shares_memory(first.sources[name].span.columns[now], source.span[now])
    assert view_of(window).sources == first.sources, "what did not change is viewed once"
    window.put([counted(2, source="other")])
    second = view_of(window)
    assert second.sources["port_counters"] is first.sources["port_counters"]
    assert not np.shares_memory(sent(first).columns[now], sent(second).columns[now])
    window.put([counted(3), counted(3, source="other")])
    third, now = view_of(window), window.head
    assert third.sources["other"] is not second.sources["other"], "a new sample empties a place in each"
    window.put([counted(4), counted(4, source="other")])
    fourth = view_of(window)
    assert np.shares_memory(sent(third).columns[now], sent(fourth).columns[now]), "earlier samples are not copied"


def sent(counters: CounterView) -> Samples:
    return counters.sources["other"].series[Quantity.TX_BYTES, None]


def view_of(window: Window) -> CounterView:
    counters = window.view()
    assert counters is not None
    return counters


def test_readers_meet_no_half_written_sample_while_the_window_is_fed() -> None:
    """Readers walk what is published while the live window is fed after each evaluation: nothing they see changes."""
    evaluator, stop, faults, turns = an_evaluator(), threading.Event(), [], threading.Semaphore(0)
    shown = [published(evaluator, 1)]

    def read() -> None:
        while not stop.is_set():
            held = view_in(shown[0])
            first = bytes_of(held)
            for source in held.sources.values():
                columns = (column for samples in source.series.values() for column in samples.columns)
                if {len(column) for column in columns} != {len(source.ports)}:
                    faults.append("ragged")
            if bytes_of(held) != first:
                faults.append("changed")
            turns.release()

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        for number in range(2, 42):
            for part in range(3):  # counters that come in after the evaluation, with new ports and sources
                evaluator.window.put([counted(10 * number + part, ports=number + part, source=f"source-{part}")])
            assert turns.acquire(timeout=ENOUGH), "readers go on meanwhile"
            if number % 10 == 0:
                shown[0] = published(evaluator, 10 * number + 5, ports=number)
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert faults == []
    counters = view_in(shown[0])
    assert np.isfinite(counters.begun[counters.order]).all()

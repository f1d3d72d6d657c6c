"""What is published is immutable: counters that come in later change nothing of what readers hold, and cannot."""

import threading
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from tests.small_fabric import World, make_plan
from truerail.analysis.counters import Quantity, Window
from truerail.analysis.counters.storage import dumped
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
    window = publication.snapshot.window
    assert window is not None
    before = dumped(window)
    for number in range(4, 60):  # round the ring, with new ports and sources on the way
        published(evaluator, number, ports=number)
        evaluator.window.put([counted(number, source=f"source-{number % 5}")])
    assert dumped(window) == before
    assert len(window.sources["port_counters"].ports) == 4
    assert list(window.sources) == ["port_counters"]
    assert dumped(evaluator.window) != before


def test_what_is_published_refuses_to_be_written_to() -> None:
    evaluator = an_evaluator()
    window = published(evaluator, 1).snapshot.window
    assert window is not None
    with pytest.raises(ValueError, match="read-only"):
        window.put([counted(2)])
    source = window.sources["port_counters"]
    series = source.series[Quantity.TX_BYTES, None]
    for array in (source.span, source.at, source.moved_at, source.paces, series.last, series.last_at, series.gained):
        assert not array.flags.writeable


def test_sources_that_did_not_change_are_copied_once() -> None:
    window = Window()
    window.put([counted(1), counted(1, source="other")])
    first = window.frozen()
    assert window.frozen().sources == first.sources
    late = counted(1, source="other")
    window.put([late])
    second = window.frozen()
    assert second.sources["port_counters"] is first.sources["port_counters"]
    assert second.sources["other"] is not first.sources["other"]
    window.put([counted(2)])
    assert window.frozen().sources["other"] is not second.sources["other"], "a new sample empties a place in each"


def test_readers_meet_no_half_written_sample_while_others_are_put_in() -> None:
    """A reader walks what is published while a writer goes on: nothing it sees ever changes or breaks."""
    window, stop, faults = Window(), threading.Event(), []
    window.put([counted(1)])
    shown = [window.frozen()]

    def read() -> None:
        while not stop.is_set():
            held = shown[0]
            first = dumped(held)
            for _, source, series in held.columns():
                if len(series.gained) != len(source.ports):
                    faults.append("ragged")
            if dumped(held) != first:
                faults.append("changed")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(2, 120):
            window.put([counted(number, ports=number), counted(number, source=f"source-{number}")])
            shown[0] = window.frozen()
    finally:
        stop.set()
        reader.join()
    assert faults == []
    assert np.isfinite(shown[0].begun[shown[0].order]).all()

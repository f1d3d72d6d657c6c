"""A round as arrays leaves in a window exactly what the same round as readings leaves there."""

from itertools import pairwise

import numpy as np
import pytest

from truerail.analysis.counters import Window
from truerail.analysis.counters.storage import packed
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, FlowSimulation, Polls, flows

BAD = Polls(lost=0.1, cached=0.1, reset=0.02, silent=0.01, stale=0.05)


def traffic(polls: Polls, *, faulty: bool = False) -> FlowSimulation:
    faults = [FlowFault(FlowFaultKind.STORM, since=60.0)] if faulty else []
    return flows(simulate(Shape(hosts=12, rails=4, spines=2), seed=1), None, faults, 1, polls=polls)


def bytes_of(window: Window) -> bytes:
    return packed(window.copy(), {})


@pytest.mark.parametrize(("polls", "faulty"), [(Polls(), False), (Polls(), True), (BAD, False)], ids=str)
def test_arrays_and_readings_leave_the_same(polls: Polls, *, faulty: bool) -> None:
    one, other = traffic(polls, faulty=faulty), traffic(polls, faulty=faulty)
    by_readings, by_arrays = Window(), Window()
    for _ in range(40):
        one.step(10.0)
        other.step(10.0)
        by_readings.put(one.readings())
        by_arrays.put_answers(other.answers())
    counted = by_readings.view()
    assert counted is not None
    assert bytes_of(by_readings) == bytes_of(by_arrays)
    series = [samples for source in counted.sources.values() for samples in source.series.values()]
    assert sum(np.count_nonzero(~np.isnan(samples.of(counted.order))) for samples in series) > 10_000


def test_readings_and_arrays_take_turns() -> None:
    one, other = traffic(BAD), traffic(BAD)
    plain, mixed = Window(), Window()
    for number in range(35):
        one.step(10.0)
        other.step(10.0)
        plain.put(one.readings())
        if number % 3:
            mixed.put_answers(other.answers())
        else:
            mixed.put(other.readings())
    assert bytes_of(plain) == bytes_of(mixed)


def test_nobody_answers() -> None:
    made = traffic(Polls(lost=1.0))
    made.step(10.0)
    window = Window()
    window.put_answers(made.answers())
    assert not window.sources
    assert all(reading.error for reading in made.readings())


def test_a_silent_device_answers_nothing_for_a_while() -> None:
    made = traffic(Polls(silent=0.02))
    heard: list[dict[str, bool]] = []
    for _ in range(60):
        made.step(10.0)
        heard.append({reading.device: not reading.error for reading in made.readings()})
    runs = ["".join("x" if one[device] else "." for one in heard) for device in heard[0]]
    gaps = [len(gap) for run in runs for gap in run.strip(".").split("x") if gap]
    assert gaps
    assert min(gaps) >= 3


def test_a_stale_agent_tells_the_same_again_for_some_minutes() -> None:
    made = traffic(Polls(jitter=0.0, stale=0.005))
    reported: list[dict[tuple[str, str], object]] = []
    for _ in range(60):
        made.step(10.0)
        reported.append({(reading.device, reading.collector): reading.facts for reading in made.readings()})
    again = [[a[key] == b[key] for a, b in pairwise(reported)] for key in reported[0] if "port_c" in key[1]]
    runs = [len(run) for row in again for run in "".join("x" if same else " " for same in row).split()]
    assert 3 < max(runs) <= 48  # two of up to 24 may follow each other

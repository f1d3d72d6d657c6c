"""A snapshot with its window of counters, as a service would have it after some minutes of polling."""

from datetime import timedelta

from truerail.model import Reading, Snapshot
from truerail.model.counters.window import STEP_SECONDS, Window
from truerail.simulator.flows.simulation import FlowSimulation
from truerail.simulator.simulation import Simulation


def snapshot_after(
    fabric: Simulation, traffic: FlowSimulation, minutes: float = 5.0, step_seconds: float = STEP_SECONDS
) -> Snapshot:
    """Lets the traffic of a fabric go on for so many minutes and polls it all the while.

    The answers about cabling and links are those of the fabric as it stands. The window keeps its last samples.
    """
    window = Window(step_seconds=step_seconds)
    last: list[Reading] = []
    for number in range(round(minutes * 60 / step_seconds) + 1):
        if number:
            traffic.step(step_seconds)
        last = traffic.readings()
        window.put(last)
    still = fabric.snapshot()
    moved = traffic.at - still.at
    readings = [_later(reading, moved) for reading in still.readings]
    return Snapshot(traffic.at, (*readings, *last), window=window)


def _later(reading: Reading, moved: timedelta) -> Reading:
    return Reading(
        reading.device, reading.collector, reading.at + moved, reading.facts, reading.error, source=reading.source
    )

"""A storm harms those who wait for its culprit, though every cable is where it belongs."""

from benchmarks.telemetry.polled_rounds import round_after
from truerail.model import CauseKind
from truerail.rounds import publication_of
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, Job, Pattern, flows
from truerail.views.lines import cause_lines
from truerail.views.view import view_of


def test_a_storm_counts_the_gpus_that_wait() -> None:
    simulation = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4))
    hosts = tuple(name for name, device in simulation.plan.devices.items() if device.role == "host")
    job = Job("train", hosts, Pattern.RING, (0, 1, 2, 3))
    traffic = flows(simulation, [job], [FlowFault(FlowFaultKind.STORM)], seed=3)
    publication = publication_of(round_after(simulation, traffic, 4))
    lines = cause_lines(view_of(publication), publication.evaluation.causes)
    storms = [line for line in lines if line.kind == CauseKind.PFC_STORM.value]
    assert len(storms) == 1
    assert 1 < storms[0].impact <= len(hosts)

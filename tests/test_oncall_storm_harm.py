"""A storm harms those who wait for its culprit, though every cable is where it belongs."""

from benchmarks.telemetry.polled_rounds import round_after
from truerail.model import CauseKind
from truerail.questions.rails import balance
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
    (storm,) = (line for line in cause_lines(view_of(publication)) if line.kind == CauseKind.PFC_STORM.value)
    assert 1 < storm.impact <= len(hosts)
    rails = balance(publication)
    assert rails.summary.startswith(f"{storm.kind} at {storm.subjects[0]}, ")
    assert (rails.causes[0], rails.action) == (storm, storm.action)

"""A storm harms those who wait for its culprit, though every cable is where it belongs."""

from truerail.analysis.round import Round
from truerail.model import CauseKind
from truerail.questions.answers.capture import publication_of
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, Job, Pattern, flows, snapshot_after
from truerail.views.lines import cause_lines
from truerail.views.view import view_of


def test_a_storm_counts_the_gpus_that_wait() -> None:
    simulation = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4))
    hosts = tuple(name for name, device in simulation.plan.devices.items() if device.role == "host")
    job = Job("train", hosts, Pattern.RING, (0, 1, 2, 3))
    traffic = flows(simulation, [job], [FlowFault(FlowFaultKind.STORM)], seed=3)
    snapshot = snapshot_after(simulation, traffic, 4)
    evaluation = evaluate(Round(simulation.plan, snapshot))
    publication = publication_of(Round(simulation.plan, snapshot), evaluation)
    storms = [
        line for line in cause_lines(view_of(publication), evaluation.causes) if line.kind == CauseKind.PFC_STORM.value
    ]
    assert len(storms) == 1
    assert 1 < storms[0].impact <= len(hosts)

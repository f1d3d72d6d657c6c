"""The numbers of DPUs in the names that they send: what hosts agree on decides, an assumed order does not."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from rules._examples import hears
from tests.each import each
from truerail.analysis.rule import Case
from truerail.model import CableState, Evaluation, Port, Reading, Snapshot, Status
from truerail.outputs.report_words import headline
from truerail.plans import infer
from truerail.rounds import evaluate
from truerail.testing.cases import scene

RAILS = 4
PLAN = "\n".join(
    f"gpu-{host}/nic{rail} leaf-{rail}/swp{host} rail={rail}" for host in range(1, 6) for rail in range(RAILS)
)


def found(name: Callable[[int, int], str], port: Callable[[int], str] = lambda nic: "p0") -> Evaluation:
    """What the leaves hear from the DPUs of five hosts; two cables of gpu-2 are exchanged."""

    def heard(leaf: int, host: int) -> str:
        nic = {1: 2, 2: 1}.get(leaf, leaf) if host == 2 else leaf
        return f"{name(host, nic)}/{port(nic)}"

    leaves = {f"leaf-{leaf}": [hears(f"swp{host}", heard(leaf, host)) for host in range(1, 6)] for leaf in range(RAILS)}
    return evaluate(scene(Case(leaves, plan=PLAN)))


@each(
    "name, port",
    [
        (lambda host, nic: f"gpu-{host}-bf{nic}", lambda nic: "p0"),
        (lambda host, nic: f"dpu{nic + 1}-gpu-{host}.example.org", lambda nic: "p0"),
        (lambda host, nic: f"gpu-{host}-bf{(2, 0, 3, 1)[nic]}", lambda nic: "p0"),  # in another order
        (lambda host, nic: f"gpu-{host}-bf{nic // 2}", lambda nic: f"p{nic % 2}"),  # two ports a DPU
    ],
)
def test_exchanged_cables_of_one_host_are_found(name: Callable[[int, int], str], port: Callable[[int], str]) -> None:
    states = found(name, port).cable_states
    wrong = {Port("gpu-2", "nic1"), Port("gpu-2", "nic2")}
    assert {cable for cable, state in states.items() if state is not CableState.RIGHT} == wrong
    assert {states[cable] for cable in wrong} == {CableState.WRONG}


@pytest.mark.parametrize(
    "name",
    [
        lambda host, nic: f"gpu-{host}-bf",
        lambda host, nic: f"gpu-{host}-bf3",
        lambda host, nic: f"gpu-{host}-bf{(nic + host) % RAILS}",
    ],
)
def test_a_number_that_hosts_do_not_agree_on_names_no_nic(name: Callable[[int, int], str]) -> None:
    evaluation = found(name)
    assert not evaluation.causes
    assert {*evaluation.cable_states.values()} == {CableState.UNKNOWN}  # the right host, and any of its NICs
    assert headline(evaluation).cables == "20 could not be evaluated; 0 of 20 cables right."
    assert {one.rule: one.status for one in evaluation.verdicts}["CAB001"] is Status.UNKNOWN


def test_a_leaf_that_hears_a_numbered_dpu_is_enough_to_look_for_a_plan() -> None:
    """The plan that inference begins with has no cables."""
    facts = (hears("swp1", "gpu-1-bf0/p0"),)
    at = datetime(2026, 11, 20, tzinfo=UTC)
    readings = [Reading("leaf-0", "lldp_switch", at, facts), Reading("gpu-1", "lldp_host", at, ())]
    assert infer(Snapshot(at, readings)).plan.cables == ()

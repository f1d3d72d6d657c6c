"""Rails are read off simulated fabrics: the plan comes back, and who differs from it is named."""

from random import Random
from typing import Any

import pytest
from msgspec import structs

from tests.draws import SOAK
from tests.each import each
from truerail.analysis.round import Round
from truerail.model import CauseKind, Plan, Role, Snapshot
from truerail.plans import Inference, infer
from truerail.rounds import evaluate
from truerail.simulator import Fault, Noise, Shape, simulate
from truerail.simulator.simulation import TAKEN_AT


def ends(plan: Plan) -> set[tuple[Any, ...]]:
    return {(c.a, c.b, c.rail, c.plane) for c in plan.cables}


def outliers(found: Inference) -> set[str]:
    return {outlier.subject for outlier in found.outliers}


SHAPES = {
    "pod": Shape(hosts=16),
    "two pods": Shape(hosts=16, pods=2),
    "superspines": Shape(hosts=16, pods=4, superspines=2),
    "two rails a leaf": Shape(hosts=16, rails_per_leaf=2),
    "in turn": Shape(hosts=16, rails_per_leaf=2, stride=True),
    "two planes": Shape(hosts=16, planes=2),
    "rail-only": Shape(hosts=16, spines=0),
    "storage": Shape(hosts=16, storage=True),
    "two models": Shape(hosts=16, models=("xe9680", "dgx-h100"), storage=True),
}

SEEDS = [1, 2, 3] if SOAK else [1]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_right_fabric_comes_back_as_planned(shape: Shape) -> None:
    sim = simulate(shape)
    found = infer(sim.snapshot())
    assert ends(found.plan) == ends(sim.plan)
    assert found.outliers == ()
    assert found.confidence == 1.0
    assert found.plan.inferred


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@each("seed", SEEDS)
def test_a_swap_on_one_host_is_an_outlier_and_the_plan_says_where_it_belongs(shape: Shape, seed: int) -> None:
    sim = simulate(shape, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=seed)
    found = infer(sim.snapshot())
    assert ends(found.plan) == ends(sim.plan)
    assert outliers(found) == set(sim.truth.causes[0].subjects)


@pytest.mark.parametrize("variant", ["one-leaf", "across"])
def test_a_swap_between_hosts_is_seen_by_the_ports_of_the_other_rails(variant: str) -> None:
    sim = simulate(Shape(hosts=16), [Fault(CauseKind.CABLE_SWAP, variant)])
    found = infer(sim.snapshot())
    assert ends(found.plan) == ends(sim.plan)
    assert outliers(found) == set(sim.truth.causes[0].subjects)


def test_support_counts_the_hosts_that_agree() -> None:
    found = infer(simulate(Shape(hosts=16), [Fault(CauseKind.CABLE_SWAP, "one-host")]).snapshot())
    assert sorted(found.support.values()) == ["15 of 16"] * 2 + ["16 of 16"] * 6


@pytest.mark.parametrize("shape", [Shape(hosts=32), Shape(hosts=32, pods=4), Shape(hosts=32, spines=0)])
def test_swapped_leaf_labels_are_found_by_the_numbers_of_the_other_leaves(shape: Shape) -> None:
    sim = simulate(shape, [Fault(CauseKind.LEAF_SWAP, "labels")])
    found = infer(sim.snapshot())
    assert ends(found.plan) == ends(sim.plan)
    assert outliers(found) == set(sim.truth.causes[0].subjects)


def test_a_shifted_block_is_seen_by_the_ports_of_the_other_rails() -> None:
    sim = simulate(Shape(hosts=16), [Fault(CauseKind.PORT_SHIFT, "cyclic")])
    assert ends(infer(sim.snapshot()).plan) == ends(sim.plan)


def test_hosts_with_scrambled_gpu_order_are_noted_and_do_not_change_the_rails() -> None:
    sim = simulate(Shape(hosts=16), [Fault(CauseKind.GPU_NIC_ORDER, "gpus")])
    found = infer(sim.snapshot())
    assert ends(found.plan) == ends(sim.plan)
    assert any(sim.truth.causes[0].subjects[0] in note for note in found.notes)


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_does_not_change_what_is_found(seed: int) -> None:
    noise = Noise(unreachable=0.05, deaf=0.1, mute=0.05, stale=0.02, forms=True, labels=True, management=True)
    sim = simulate(Shape(hosts=64), [Fault(CauseKind.CABLE_SWAP, "one-host")], noise, seed)
    found = infer(sim.snapshot())
    assert ends(found.plan) <= ends(sim.plan)
    assert len(found.plan.cables) >= 0.98 * len(sim.plan.cables)
    assert outliers(found) == set(sim.truth.causes[0].subjects)


def test_storage_and_management_are_set_apart() -> None:
    found = infer(simulate(Shape(hosts=8, storage=True), 0, Noise(management=True)).snapshot())
    assert {cable.rail for cable in found.plan.host_cables} == set(range(8))
    assert any("storage or management" in note for note in found.notes)


def test_mixed_network_operating_systems_do_not_make_outliers() -> None:
    sim = simulate(Shape(hosts=16, platforms=("cumulus", "eos", "nxos", "junos")))
    found = infer(sim.snapshot())
    assert found.outliers == ()
    assert len(found.plan.cables) == len(sim.plan.cables)


def test_nothing_seen_gives_an_empty_plan_without_confidence() -> None:
    found = infer(Snapshot(TAKEN_AT, []))
    assert (found.plan.cables, found.support, found.outliers, found.confidence) == ((), {}, (), 0.0)


def thinned(seed: int, share: float) -> Snapshot:
    """A pod of which only a share of all answers came."""
    sim = simulate(Shape(hosts=16, storage=True, planes=1 + seed % 2), 2, Noise(management=True), seed)
    rng = Random(seed)
    seen = sim.snapshot()
    return Snapshot(seen.at, [reading for reading in seen.readings if rng.random() < share])


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(6))
def test_any_part_of_the_answers_gives_a_consistent_plan(seed: int, share: float) -> None:
    found = infer(thinned(seed, share))
    ports = [port for cable in found.plan.cables for port in (cable.a, cable.b)]
    assert len(ports) == len(set(ports))
    assert {port.device for port in ports} <= found.plan.devices.keys()
    assert 0 <= found.confidence <= 1


def test_a_check_without_a_plan_finds_the_swap() -> None:
    sim = simulate(Shape(hosts=16), [Fault(CauseKind.CABLE_SWAP, "one-host")])
    seen = sim.snapshot()
    causes = evaluate(Round(infer(seen).plan, seen)).causes
    assert [(cause.kind, set(cause.subjects)) for cause in causes] == [
        (CauseKind.CABLE_SWAP, set(sim.truth.causes[0].subjects))
    ]


@pytest.mark.parametrize("shape", [Shape(hosts=16), Shape(hosts=2), Shape(hosts=16, planes=2, storage=True)])
def test_hosts_alone_name_the_switches_that_do_not_answer(shape: Shape) -> None:
    sim = simulate(shape, [Fault(CauseKind.CABLE_SWAP, "one-host")], Noise(management=True), 3)
    seen = sim.snapshot()
    alone = [reading for reading in seen.readings if sim.plan.role_of(reading.device) is Role.HOST]
    found = infer(Snapshot(seen.at, alone))
    assert {(c.a, c.b) for c in found.plan.host_cables} == {(c.a, c.b) for c in sim.plan.host_cables}
    assert outliers(found) == set(sim.truth.causes[0].subjects)


def test_switches_alone_say_what_is_missing() -> None:
    sim = simulate(Shape(hosts=8))
    seen = sim.snapshot()
    alone = [reading for reading in seen.readings if sim.plan.role_of(reading.device) is not Role.HOST]
    found = infer(Snapshot(seen.at, alone))
    assert not found.plan.cables
    assert "no host answered" in found.why_not


def test_a_switch_that_answers_as_a_linux_host_does_is_still_a_switch() -> None:
    sim = simulate(Shape(hosts=8))
    seen = sim.snapshot()
    renamed = [
        structs.replace(reading, collector="lldp_host") if reading.collector == "lldp_switch" else reading
        for reading in seen.readings
    ]
    assert ends(infer(Snapshot(seen.at, renamed)).plan) == ends(sim.plan)


def test_without_gpus_the_order_of_pci_addresses_counts() -> None:
    sim = simulate(Shape(hosts=8))
    seen = sim.snapshot()
    kept = [reading for reading in seen.readings if reading.collector != "gpu_nic_topology"]
    assert ends(infer(Snapshot(seen.at, kept)).plan) == ends(sim.plan)

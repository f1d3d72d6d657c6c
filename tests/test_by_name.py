"""Faults of cables whose hosts are heard by their names alone: named by the hosts, and nothing is moved."""

from dataclasses import replace

import pytest
from msgspec import structs

from tests.each import each
from truerail.analysis.round import Round
from truerail.causes.by_name import Strays, swapped_hosts
from truerail.model import Cable, Cause, CauseKind, Device, Neighbor, Plan, Port, Reading, Role, Snapshot
from truerail.model.index import PlanIndex
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, Simulation, simulate

SHAPE = Shape(hosts=16, rails=4, spines=2, uplinks=8, spare_ports=6)
TWO_RAILS = Shape(hosts=16, rails=8, rails_per_leaf=2, spines=2, uplinks=8, spare_ports=6)
FAULTS = [
    (CauseKind.PORT_SHIFT, "spare"),
    (CauseKind.PORT_SHIFT, "cyclic"),
    (CauseKind.CABLE_ROTATION, "hosts"),
    (CauseKind.CABLE_SWAP, "across"),
    (CauseKind.HOST_SWAP, "bundles"),
    (CauseKind.HOST_SWAP, "labels"),
    (CauseKind.CABLE_MOVE, "one-leaf"),
    (CauseKind.CABLE_MOVE, "other-leaf"),
]


def causes(made: Simulation) -> tuple[Cause, ...]:
    return evaluate(Round(made.plan, made.snapshot())).causes


@each("seed", range(3))
@each("shape", [SHAPE, TWO_RAILS])
@each("fault", FAULTS, ids=lambda fault: "-".join(fault))
def test_the_fault_is_named_by_the_hosts_that_are_heard(fault: tuple[CauseKind, str], shape: Shape, seed: int) -> None:
    made = simulate(shape, [Fault(*fault)], seed=seed, folders="inventory", behaviours=["dpu"])
    (cause,) = causes(made)
    assert (cause.kind, set(cause.subjects)) == (fault[0], set(made.truth.causes[0].subjects))
    assert cause.moves == ()
    assert cause.alternatives
    assert not any(other.moves for other in cause.alternatives)
    assert "confirm" in cause.action + cause.to_confirm
    assert cause.confidence < 0.9


@pytest.mark.parametrize("seed", range(3))
def test_all_explain_every_finding_of_two_faults_that_touch(seed: int) -> None:
    """Two leaves bear each other's names, and on one of them two cables are swapped."""
    faults = [Fault(CauseKind.LEAF_SWAP, "labels")]
    made = simulate(SHAPE, faults, seed=seed, folders="inventory", behaviours=["dpu"], compound=True)
    found = {(cause.kind, frozenset(cause.subjects)) for cause in causes(made)}
    assert found == {(cause.kind, frozenset(cause.subjects)) for cause in made.truth.causes}


def silenced(made: Simulation) -> Snapshot:
    """Its snapshot; the fault's first place hears no one, though its link is up."""
    seen, cable = made.snapshot(), made.truth.causes[0].cables[0]
    place = made.plan.peer_of(cable)
    assert place is not None

    def reported(reading: Reading) -> Reading:
        if reading.device != place.device:
            return reading
        rest = [fact for fact in reading.facts if not isinstance(fact, Neighbor) or fact.port != place.name]
        return structs.replace(reading, facts=tuple(rest))

    return Snapshot(seen.at, [reported(reading) for reading in seen.readings])


@pytest.mark.parametrize("seed", range(3))
def test_of_a_circle_that_a_silent_cable_closes_the_path_is_named(seed: int) -> None:
    fault = [Fault(CauseKind.CABLE_ROTATION, "hosts")]
    made = simulate(SHAPE, fault, seed=seed, folders="inventory", behaviours=["dpu"])
    (cause,) = (one for one in evaluate(Round(made.plan, silenced(made))).causes if one.kind is not CauseKind.UNKNOWN)
    assert cause.kind is CauseKind.CABLE_MOVE
    assert len(cause.subjects) == len(made.truth.causes[0].cables) - 1
    assert cause.moves == ()


@pytest.mark.parametrize("seed", range(3))
def test_a_silent_cable_of_the_same_host_is_not_the_one_that_is_elsewhere(seed: int) -> None:
    made = simulate(
        SHAPE, [Fault(CauseKind.CABLE_ROTATION, "hosts")], seed=seed, folders="inventory", behaviours=["dpu"]
    )
    faulty = made.truth.causes[0].cables[0]
    other = next(one for one in made.plan.cables if one.a.device == faulty.device and one.a != faulty)
    seen = made.snapshot()
    reported = [
        structs.replace(one, facts=tuple(f for f in one.facts if not isinstance(f, Neighbor) or f.port != other.b.name))
        if one.device == other.b.device
        else one
        for one in seen.readings
    ]
    kinds = {one.kind: set(one.subjects) for one in evaluate(Round(made.plan, Snapshot(seen.at, reported))).causes}
    assert kinds[CauseKind.CABLE_ROTATION] == set(made.truth.causes[0].subjects)


@pytest.mark.parametrize("seed", range(4))
def test_a_circle_of_hosts_that_share_a_name_is_open(seed: int) -> None:
    """No one can say of the ARM of a host that was never named whose it is: the truth has the path as well."""
    fault = [Fault(CauseKind.CABLE_ROTATION, "hosts")]
    made = simulate(SHAPE, fault, seed=seed, folders="inventory", behaviours=["dpu", "default_name@0.25"])
    (cause,) = made.truth.causes
    nameless = [port for port in cause.cables if made.world.behaviours.hits("default_name", port.device)]
    assert bool(nameless) == (not cause.decidable)


FORGETFUL = replace(TWO_RAILS, hosts=12, uplinks=4, platforms=("cumulus", "snmp"))


@pytest.mark.parametrize("seed", [2, 4, 6, 13])
def test_swapped_hosts_are_one_cause_where_a_switch_has_forgotten_one_of_them(seed: int) -> None:
    """Most of their places hear the other host, and the rest hear no host."""
    fault = [Fault(CauseKind.HOST_SWAP, "bundles")]
    made = simulate(FORGETFUL, fault, seed=seed, behaviours=["dpu", "ttl0_chassis@0.15"])
    found = [cause for cause in causes(made) if cause.kind is not CauseKind.UNKNOWN]
    assert [(cause.kind, set(cause.subjects), cause.moves) for cause in found] == [
        (CauseKind.HOST_SWAP, set(made.truth.causes[0].subjects), ())
    ]


def test_a_third_host_in_one_of_their_places_makes_it_another_fault() -> None:
    index = PlanIndex(
        Plan(
            {name: Device(name, Role.HOST) for name in ("a", "b", "c")} | {"leaf": Device("leaf", Role.LEAF)},
            tuple(
                Cable(Port(host, f"nic{rail}"), Port("leaf", f"p{3 * rail + at}"), rail)
                for at, host in enumerate("abc")
                for rail in range(3)
            ),
        )
    )
    cables = {host: [row for row, cable in enumerate(index.plan.cables) if cable.a.device == host] for host in "abc"}
    code = {host: index.devices.find(host) for host in "abc"}
    places = {host: index.b[rows].tolist() for host, rows in cables.items()}

    def found(a_at: list[int], b_at: list[int], c_at: list[int]) -> list[set[int]]:
        at = {code["a"]: a_at, code["b"]: b_at} | ({code["c"]: c_at} if c_at else {})
        lost = {code[host]: rows for host, rows in cables.items() if code[host] in at}
        heard = Strays(lost, at, ports={place: place for own in at.values() for place in own})
        return [{one, other} for one, other, _ in swapped_hosts(index, heard)]

    assert found(places["b"], places["a"], []) == [{code["a"], code["b"]}]
    assert found(places["b"][:2], places["a"], []) == [{code["a"], code["b"]}]
    assert found(places["b"][:1], places["a"], []) == []
    assert found(places["b"][:2], places["a"], places["b"][2:]) == []

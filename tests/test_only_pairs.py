"""Ends of one cable that name each other's device alone: brought together where no other port can be meant."""

import pytest

from rules._examples import hears
from tests.small_fabric import AT, snapshot_of
from truerail.analysis.cabling import ONE_END, State, Wiring
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Neighbor, Plan, Reading, Snapshot
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.simulator.fabric.builder import build

NO_PORTS = ["junos_no_portid", "descr=peer_of_plan"]
LABELS = ["host_alias=peer"]


def pod() -> Plan:
    """Two hosts with two rails on two leaves."""
    return build(Shape(hosts=2, rails=2, spines=0, spare_ports=2, style="eth")).plan


def wiring(plan: Plan, said: dict[str, list[tuple[str, str]]]) -> Wiring:
    """What devices hear of each other by name: device to (own port, device heard)."""
    facts = {device: [hears(port, name) for port, name in rows] for device, rows in said.items()}
    return Round(plan, snapshot_of(facts)).cabling


def crossed(plan: Plan) -> dict[str, list[tuple[str, str]]]:
    """The two cables of the first host are in each other's places."""
    one, other = (cable for cable in plan.cables if cable.a.device == "gpu-001")
    rest = [cable for cable in plan.cables if cable.a.device != "gpu-001"]
    ends = [(one.a, other.b), (other.a, one.b), *((cable.a, cable.b) for cable in rest)]
    said: dict[str, list[tuple[str, str]]] = {}
    for a, b in ends:
        said.setdefault(a.device, []).append((a.name, b.device))
        said.setdefault(b.device, []).append((b.name, a.device))
    return said


def test_the_only_two_that_hear_each_other_are_one_cable() -> None:
    plan = pod()
    found = wiring(plan, crossed(plan))
    own = [i for i, cable in enumerate(plan.cables) if cable.a.device == "gpu-001"]
    assert [(found.state[i], found.confidence(i)) for i in own] == [(State.WRONG, ONE_END)] * 2
    places = [str(found.index.spell(int(found.place[i]))) for i in own]
    assert places == [str(plan.cables[i].b) for i in reversed(own)]


def test_silent_ports_at_both_devices_leave_it_open() -> None:
    """Another cable between the two may be heard at neither end."""
    plan = pod()
    said = crossed(plan)
    one, other = (cable for cable in plan.cables if cable.a.device == "gpu-001")
    said["gpu-001"] = [row for row in said["gpu-001"] if row[0] != other.a.name]
    second = next(cable for cable in plan.cables if cable.a.device != "gpu-001" and cable.b.device == other.b.device)
    said[other.b.device] = [row for row in said[other.b.device] if row[0] != second.b.name]
    found = wiring(plan, said)
    assert int(found.place[plan.cables.index(one)]) < 0


def test_two_names_on_one_port_leave_it_open() -> None:
    plan = pod()
    said = crossed(plan)
    one, other = (cable for cable in plan.cables if cable.a.device == "gpu-001")
    said[other.b.device].append((other.b.name, "gpu-002"))
    assert int(wiring(plan, said).place[plan.cables.index(one)]) < 0


def test_a_port_that_is_taken_is_no_place_for_a_cable_whose_leaf_is_heard() -> None:
    """The NIC hears its own leaf, and its port there has another cable: neither right nor missing."""
    plan = pod()
    one, other = (cable for cable in plan.cables if cable.a.device == "gpu-001")
    heard = hears(one.b.name, f"gpu-001/{other.a.name}")
    found = Round(
        plan,
        Snapshot(
            AT,
            [
                Reading("gpu-001", "lldp_host", AT, (Neighbor(one.a.name, system_name=one.b.device),)),
                Reading(one.b.device, "lldp_host", AT, (heard,)),
            ],
        ),
    ).cabling
    assert found.state[plan.cables.index(one)] == State.UNKNOWN
    assert found.state[plan.cables.index(other)] == State.WRONG


@pytest.mark.parametrize(("rails_per_leaf", "labels"), [(1, False), (2, False), (1, True), (2, True)])
def test_crossed_bundles_are_reported_from_labels_by_uplinks_without_ports(rails_per_leaf: int, labels: bool) -> None:
    """The spines hear both leaves under their own names where they belong, though not from which port. Where NICs have
    labels, the leaves do not hear from which NIC either.
    """
    shape = Shape(hosts=12, rails=4, rails_per_leaf=rails_per_leaf, spines=2, uplinks=8, platforms=("junos",))
    flags = [*NO_PORTS, *LABELS[:labels]]
    made = simulate(shape, [Fault(CauseKind.BUNDLE_SWAP)], seed=1, folders="inventory", behaviours=flags)
    (cause,) = evaluate(Round(made.plan, made.snapshot())).causes
    assert (cause.kind, set(cause.subjects)) == (CauseKind.BUNDLE_SWAP, set(made.truth.causes[0].subjects))
    assert {move.cable for move in cause.moves} == (set() if labels and rails_per_leaf == 2 else made.truth.moved)
    assert not cause.alternatives  # the hosts' topologies show that their NICs are named as planned


def test_bundles_without_ports_may_be_an_order_of_nics_where_no_topology_shows_it() -> None:
    shape = Shape(hosts=12, rails=4, rails_per_leaf=2, spines=2, uplinks=8, platforms=("junos",))
    flags = [*NO_PORTS, *LABELS, "topo_flat"]
    made = simulate(shape, [Fault(CauseKind.BUNDLE_SWAP)], seed=1, folders="inventory", behaviours=flags)
    (cause,) = evaluate(Round(made.plan, made.snapshot())).causes
    assert (cause.kind, cause.moves) == (CauseKind.BUNDLE_SWAP, ())
    assert [other.kind for other in cause.alternatives] == [CauseKind.GPU_NIC_ORDER]


@pytest.mark.parametrize("seed", range(3))
def test_labels_without_ports_are_swapped_once(seed: int) -> None:
    """One leaf names its ports and the other does not: what both show is one cause."""
    shape = Shape(hosts=12, rails=8, rails_per_leaf=2, spines=2, uplinks=8, platforms=("cumulus", "junos"))
    faults = [Fault(CauseKind.LEAF_SWAP)]
    made = simulate(shape, faults, seed=seed, folders="inventory", behaviours=[*NO_PORTS, "stale_ttl@0.03"])
    causes = [one for one in evaluate(Round(made.plan, made.snapshot())).causes if one.kind is not CauseKind.UNKNOWN]
    assert [(one.kind, set(one.subjects), one.moves) for one in causes] == [
        (CauseKind.LEAF_SWAP, set(made.truth.causes[0].subjects), ())
    ]


def test_right_cables_whose_ends_name_devices_alone_are_right() -> None:
    made = simulate(Shape(hosts=12, rails=4, spines=2, uplinks=8, platforms=("junos",)), [], behaviours=NO_PORTS)
    evaluation = evaluate(Round(made.plan, made.snapshot()))
    assert set(evaluation.cable_states.values()) == {CableState.RIGHT}
    assert not evaluation.causes

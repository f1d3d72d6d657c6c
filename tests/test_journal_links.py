"""What changed at every planned cable, from round to round, over changes of the plan and over restarts."""

from dataclasses import replace

import numpy as np
from msgspec import structs

from tests.journal_helpers import ROUND, Fabric, lives, swapped
from tests.small_fabric import AT, World
from truerail.journal.round_changes import Backlog, Changes, LinkState, Memory
from truerail.model import Cable, Neighbor, Port, Reading
from truerail.model.history import LinkChange
from truerail.model.index import PlanIndex
from truerail.poller.received import NOT_YET

ONE, OTHER = Port("h1", "nica"), Port("h1", "nicb")


def reported(changes: Changes) -> set[tuple[str, str | None, str | None, str, str]]:
    """Link changes without their time."""
    return {(one.port, one.was, one.now, one.was_state, one.now_state) for one in changes.links}


def test_ports_are_found_by_the_names_that_reports_show() -> None:
    plan = Fabric().plan
    for called in ({}, {cable.a: f"own{n}" for n, cable in enumerate(plan.cables)}):
        index = PlanIndex(plan, called=called)
        every = np.arange(index.planned_ports)
        names = [index.spell(port).name for port in every.tolist()]
        assert index.find(index.ports.device_of(every), names).tolist() == every.tolist()
        assert [index.cable_at(port) for port in every.tolist()] == index.cables_at(every).tolist()
        last = len(index.devices.names) - 1
        assert index.find(np.array([0, -1, last]), ["none", names[0], "none"]).tolist() == [-1, -1, -1]
        assert [index.cable_at(port) for port in (-1, len(every))] == [-1, -1]


def test_the_first_round_is_where_comparing_begins() -> None:
    fabric = Fabric()
    first, second = fabric.rounds(2)
    assert first.links == ()
    assert len(first.link_states) == len(fabric.plan.cables)
    assert first.link_states["h1/nica"] == LinkState("h1/nica", "leaf-0/swp1", "right")
    assert (second.links, second.link_states) == ((), {})


def test_a_swap_and_its_repair() -> None:
    fabric = Fabric()
    fabric.round()
    changes = fabric.round(swapped)
    assert reported(changes) == {
        ("h1/nica", "leaf-0/swp1", "leaf-1/swp1", "right", "wrong"),
        ("h1/nicb", "leaf-1/swp1", "leaf-0/swp1", "right", "wrong"),
    }
    assert changes.link_states["h1/nica"] == LinkState("h1/nica", "leaf-1/swp1", "wrong", AT + 2 * ROUND)
    assert len(fabric.round().links) == 2


def test_a_pulled_cable_is_seen_on_nothing() -> None:
    fabric = Fabric()
    fabric.round()
    assert reported(fabric.round(lambda world: world.where.update({ONE: None}))) == {
        ("h1/nica", "leaf-0/swp1", None, "right", "missing")
    }


def test_a_port_that_no_plan_has_is_the_same_place_in_every_round() -> None:
    fabric = Fabric()

    def moved(world: World) -> None:
        world.where[ONE] = Port("leaf-0", "swp77")

    def moved_and_another_strange_one(world: World) -> None:
        world.where[Port("h2", "nica")] = Port("leaf-0", "swp66")
        moved(world)

    fabric.round()
    assert reported(fabric.round(moved)) == {("h1/nica", "leaf-0/swp1", "leaf-0/swp77", "right", "wrong")}
    assert {one[0] for one in reported(fabric.round(moved_and_another_strange_one))} == {"h2/nica"}


def test_a_leaf_that_names_no_port_is_a_place_too() -> None:
    fabric = Fabric()
    world = World(fabric.plan)
    readings = [
        structs.replace(one, facts=tuple(_vague(fact) for fact in one.facts if not _about_h1(one.device, fact)))
        for one in world.snapshot().readings
    ]
    fabric.round()
    changes = fabric.tell(replace(world.snapshot(), readings=readings))
    assert ("h1/nica", "leaf-0/swp1", "leaf-0", "right", "right") in reported(changes)


def _vague(fact: object) -> object:
    if isinstance(fact, Neighbor) and (fact.system_name or "").startswith("leaf") and fact.port.startswith("nic"):
        return fact._replace(port_id=None, port_id_type=None, port_description=None)
    return fact


def _about_h1(device: str, fact: object) -> bool:
    return device.startswith("leaf") and isinstance(fact, Neighbor) and fact.system_name == "h1"


def test_devices_that_fail_are_reported_as_unknown_and_devices_not_asked_are_not() -> None:
    fabric = Fabric()
    fabric.round()
    world = World(fabric.plan)
    others = [one for one in world.snapshot().readings if one.device not in ("h1", "leaf-0")]
    silent = replace(world.snapshot(), readings=others)
    assert fabric.tell(silent).links == (), "nobody was asked: nothing is said of the cable"
    waiting = [Reading(name, "lldp", AT, error=NOT_YET, polled=False) for name in ("h1", "leaf-0")]
    assert fabric.tell(replace(silent, readings=[*others, *waiting])).links == (), "nor before a first answer"
    expired = [*others, *(structs.replace(one, read_at=1.0) for one in waiting)]
    assert {one.now_state for one in fabric.tell(replace(silent, readings=expired)).links} == {"unknown"}
    fabric.round()
    asked = [one for one in world.snapshot().readings if one.device in ("h1", "leaf-0")]
    failed = [*others, *(structs.replace(one, facts=(), error="timed out") for one in asked)]
    changes = fabric.tell(replace(world.snapshot(), readings=failed))
    assert ("h1/nica", "leaf-0/swp1", None, "right", "unknown") in reported(changes)
    assert ("h1/nica", None, "leaf-0/swp1", "unknown", "right") in reported(fabric.round())


def test_a_new_plan_is_compared_port_by_port() -> None:
    fabric = Fabric()
    fabric.round()
    kept = [cable for cable in fabric.plan.cables if cable.a != Port("h2", "nica")]
    one, other = (next(i for i, cable in enumerate(kept) if cable.a == port) for port in (ONE, OTHER))
    kept[one], kept[other] = kept[one]._replace(b=kept[other].b), kept[other]._replace(b=kept[one].b)
    new = Cable(Port("h9", "nica"), Port("leaf-0", "swp9"), rail=0)
    before = World(fabric.plan).snapshot()
    fabric.plan = replace(fabric.plan, cables=(*reversed(kept), new))
    changes = fabric.tell(before)
    assert reported(changes) == {
        ("h1/nica", "leaf-0/swp1", "leaf-0/swp1", "right", "wrong"),
        ("h1/nicb", "leaf-1/swp1", "leaf-1/swp1", "right", "wrong"),
    }
    assert changes.links_gone == {"h2/nica"}


def test_a_restart_tells_what_changed_in_the_gap() -> None:
    fabric = Fabric()
    first = fabric.round()
    fabric.lives = lives()
    fabric.lives.restore(Memory(links=tuple(first.link_states.values()), at=first.at))
    changes = fabric.round(lambda world: world.where.update({ONE: Port("leaf-0", "swp77")}))
    assert reported(changes) == {("h1/nica", "leaf-0/swp1", "leaf-0/swp77", "right", "wrong")}
    fabric.lives = lives()
    fabric.lives.restore(Memory(links=tuple((first.link_states | changes.link_states).values()), at=changes.at))
    assert reported(fabric.round()) == {("h1/nica", "leaf-0/swp77", "leaf-0/swp1", "wrong", "right")}


def test_two_cables_at_one_port_are_no_obstacle() -> None:
    fabric = Fabric()
    fabric.plan = replace(fabric.plan, cables=(*fabric.plan.cables, fabric.plan.cables[0]))
    first = fabric.round()
    assert "h1/nica" in first.link_states
    assert fabric.round().links == ()


def test_states_of_dropped_rounds_go_over_to_the_next() -> None:
    fabric = Fabric()
    dropped = [fabric.round(), fabric.round(swapped), fabric.round(lambda world: world.where.update({ONE: None}))]
    backlog = Backlog()
    assert not backlog
    for one in dropped:
        backlog.add(one)
    assert backlog
    written = backlog.under(fabric.round())
    assert len(written.link_states) == len(fabric.plan.cables)
    assert {one.state for one in written.link_states.values()} == {"right"}
    assert written.findings.keys() >= dropped[1].findings.keys()
    assert {one.port for one in written.links} == {"h1/nica"}, "changes of dropped rounds are lost, and counted"


def test_ports_that_leave_and_come_back_while_rounds_are_dropped() -> None:
    backlog = Backlog()
    backlog.add(Changes(AT, link_states={"a/1": LinkState("a/1", None, "missing")}))
    backlog.add(Changes(AT, links_gone=frozenset({"a/1", "b/1"})))
    backlog.add(Changes(AT, link_states={"b/1": LinkState("b/1", None, "missing")}))
    written = backlog.under(Changes(AT, links=(LinkChange(0, AT, "c/1", None, None, "right", "missing"),)))
    assert written.link_states.keys() == {"b/1"}
    assert written.links_gone == {"a/1"}

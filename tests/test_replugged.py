"""A plug that a hand moves makes its link fall: that is a repair of the cabling, and no flapping."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from rules import rules
from rules._examples import hears
from tests.health_scenes import FOUR, Rates, at
from truerail.analysis.cabling.plugs import LONGEST_UNSEEN_SECONDS, Plugs, Replugged, Spans
from truerail.analysis.counters import Window
from truerail.analysis.counters.storage import loaded, packed
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import Counter, Fact, NetLink, PortCounters, Reading, Snapshot
from truerail.model.history import LinkChange
from truerail.testing.cases import AT, scene

NOW = AT.timestamp()
FELL_AT_6: Rates = {
    "gpu-1/nic0": {"link_downs": at({6: 0.1})},
    "leaf-0/swp1": {"link_downs": at({6: 0.1})},
    **{f"gpu-{host}/nic0": {"link_downs": 0.0} for host in (2, 3, 4)},
}
"""The fall lies between 60 and 50 seconds ago."""
NIC, PORT = "gpu-1/nic0", "leaf-0/swp1"


def falls(
    moved: Spans | None = None, facts: dict[str, list[Fact]] | None = None, rates: Rates = FELL_AT_6
) -> list[str]:
    """The subjects of LNK003 with what is known of moved plugs."""
    made = scene(Case(facts or {}, plan=FOUR, rates=rates))
    return flapping(replace(made, before=Plugs().moved(moved or {})))


def flapping(made: Round) -> list[str]:
    return [one.subject for one in rules()["LNK003"].findings(made)]


def test_a_fall_within_a_move_is_not_counted_and_one_beside_it_is() -> None:
    def moved(begin: float, end: float) -> Spans:
        spans = ((NOW - begin, NOW - end),)
        return {NIC: spans, PORT: spans}

    assert falls() == [NIC]
    assert falls(moved(70, 40)) == []
    assert falls(moved(56, 52)) == []
    assert falls(moved(110, 90)) == [NIC]
    assert falls(moved(30, 10)) == [NIC]
    assert falls({"gpu-2/nic0": ((NOW - 70, NOW - 40),)}) == [NIC]


def test_a_plug_that_comes_back_three_times_was_not_moved_by_hand() -> None:
    spans = ((NOW - 110, NOW - 100), (NOW - 95, NOW - 90), (NOW - 70, NOW - 40))
    assert falls({NIC: spans[1:], PORT: spans[1:]}) == []
    assert falls({NIC: spans, PORT: spans}) == [NIC]


def test_what_fell_after_the_neighbour_was_read_last_waits_until_it_is_read_again() -> None:
    made = scene(Case({"gpu-1": [hears("nic0", "leaf-0/swp1")]}, plan=FOUR, rates=FELL_AT_6))
    heard, *counted = made.snapshot.readings
    old = replace(made.snapshot, readings=(structs.replace(heard, at=AT - timedelta(seconds=70)), *counted))
    still = replace(made, snapshot=old, before=Plugs())
    assert flapping(still) == []
    assert flapping(replace(made, before=still.plugs)) == [NIC]
    assert flapping(replace(still, before=None)) == [NIC], "where the rounds before are not followed, nothing waits"


@pytest.mark.parametrize(("fallen", "named"), [({6: 0.1}, []), ({3: 0.1, 6: 0.1}, [NIC])])
def test_a_link_that_has_not_come_back_is_down_and_does_not_flap(fallen: dict[int, float], named: list[str]) -> None:
    rates = {**FELL_AT_6, NIC: {"link_downs": at(fallen)}}
    down = NetLink("nic0", operstate="DOWN", flags=("UP", "NO-CARRIER"))
    assert falls(None, {"gpu-1": [down], "leaf-0": []}, rates) == named


def rounds(*places: str | None, seconds: float = 60.0) -> Replugged:
    """What is known after rounds in which the cable of gpu-1 was heard on these ports of the leaf; None: without link.
    Every round is a minute after the last one, which is now.
    """
    plugs, plan = Plugs(), scene(Case(plan=FOUR)).plan
    for number, place in enumerate(places):
        moment = AT - timedelta(seconds=seconds * (len(places) - 1 - number))
        fact: Fact = hears("nic0", f"leaf-0/{place}") if place else NetLink("nic0", operstate="DOWN", flags=("UP",))
        made = scene(Case({"gpu-1": [fact]}, plan=FOUR))
        seen = made.snapshot
        seen = Snapshot(moment, tuple(structs.replace(one, at=moment) for one in seen.readings))
        plugs = plugs.after(Round(plan, seen).cabling, 0.0)
    return plugs.replugged


def test_a_plug_in_another_port_was_moved_between_the_two_readings() -> None:
    known = rounds("swp1", "swp1", "swp2")
    span = ((NOW - 60, NOW),)
    assert known.spans == {NIC: span, PORT: span, "leaf-0/swp2": span}


def test_the_time_without_link_in_between_belongs_to_the_move() -> None:
    span = ((NOW - 120, NOW),)
    assert rounds("swp1", None, "swp2").spans == {NIC: span, PORT: span, "leaf-0/swp2": span}


def test_a_cable_that_was_missing_and_is_there_was_plugged_in() -> None:
    span = ((NOW - 60, NOW),)
    assert rounds(None, None, "swp1").spans == {NIC: span, PORT: span}


def test_a_cable_that_comes_back_in_its_place_was_not_moved_before_it_was_missing() -> None:
    """Its fall may be flapping; what falls while it comes back is the plug."""
    assert rounds("swp1", None, "swp1").spans == {NIC: ((NOW - 60, NOW),), PORT: ((NOW - 60, NOW),)}
    assert rounds("swp1", "swp1", "swp1").spans == {}


def test_a_place_that_the_plan_does_not_have_is_a_place() -> None:
    span = ((NOW - 60, NOW),)
    assert rounds("swp1", "swp77").spans == {NIC: span, PORT: span}
    assert rounds("swp77", "swp77").spans == {}


def test_moved_plugs_survive_a_restart_with_the_counters() -> None:
    window = Window()
    window.put([Reading("leaf-0", "port_counters", AT, (PortCounters("swp1", (Counter("tx_bytes"),), (1,)),))])
    spans = {NIC: ((NOW - 70, NOW - 40), (NOW - 20, NOW - 10))}
    again = loaded(packed(window, spans))
    assert again.replugged == spans
    assert again.window.sources.keys() == {"port_counters"}


def test_what_ended_before_the_window_is_forgotten() -> None:
    known = Replugged({NIC: ((1.0, 2.0), (3.0, 4.0)), PORT: ((1.0, 2.0),)})
    assert known.since(3.5).spans == {NIC: ((3.0, 4.0),)}
    made = replace(scene(Case(plan=FOUR, rates=FELL_AT_6)), before=Plugs().moved(known.spans))
    assert made.plugs.replugged.spans == {}
    assert replace(made, counters=None).plugs.replugged.spans == {}


def test_a_run_goes_on_with_the_places_that_the_one_before_saw() -> None:
    plugs = Plugs().restored({NIC: "leaf-0/swp2", "gpu-2/nic0": "leaf-9"}, NOW - 400)
    after = plugs.after(scene(Case({"gpu-1": [hears("nic0", "leaf-0/swp1")]}, plan=FOUR)).cabling, 0.0)
    assert after.restored({NIC: "leaf-0/swp3"}, NOW) is after, "a round was seen since"
    assert after.replugged.spans == dict.fromkeys((NIC, PORT, "leaf-0/swp2"), ((NOW - 400, NOW),))


def test_the_journal_tells_of_moves_that_the_kept_counters_do_not_know() -> None:
    def change(seconds: float, was: str | None, now: str | None) -> LinkChange:
        return LinkChange(0, AT - timedelta(seconds=seconds), NIC, was, now, "right", "wrong")

    known = Plugs().moved_in([change(90, PORT, None), change(60, None, "leaf-0/swp2")]).replugged
    span = ((NOW - 90 - LONGEST_UNSEEN_SECONDS, NOW - 60),)
    assert known.spans == {NIC: span, PORT: span, "leaf-0/swp2": span}
    assert Plugs().moved_in([change(90, PORT, None), change(60, None, PORT)]).replugged.spans == {}
    assert Plugs().moved_in([change(60, None, PORT)]).replugged.spans[NIC][0][1] == NOW - 60


def test_links_of_a_device_that_fall_one_after_another_are_no_restart() -> None:
    falls_at = {f"gpu-{host}/nic0": {"link_downs": at({2 * host: 0.1})} for host in (1, 2, 3, 4)}
    assert falls(rates=falls_at) == [f"gpu-{host}/nic0" for host in (1, 2, 3, 4)]

"""Ports that list two neighbours, as both ends do after a cable was moved where carrier stays."""

from rules._examples import hears
from truerail.analysis.cabling import State, Why, Wiring
from truerail.testing.cases import Case, scene

PLAN = "h0/nic0 leaf-0/p0 rail=0\nh1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-0/p2 rail=0\n"


def listed(said: dict[str, list[tuple[str, str, str]]]) -> Wiring:
    """Who lists whom: device to (own port, device listed, its port)."""
    facts = {device: [hears(port, f"{far}/{name}") for port, far, name in rows] for device, rows in said.items()}
    return scene(Case(facts, plan=PLAN)).cabling


MOVED = ("nic0", "leaf-0", "p1"), ("p1", "h0", "nic0")


def test_two_ends_that_both_list_another_leave_it_open() -> None:
    """One of the two is old, and who is listed besides is silent: which one it is, neither end tells."""
    here, there = MOVED
    found = listed({"h0": [here, ("nic0", "leaf-0", "p0")], "leaf-0": [there, ("p1", "h1", "nic0")]})
    assert (found.state[0], found.why[0]) == (State.UNKNOWN, Why.AMBIGUOUS)


def test_one_end_that_lists_nobody_else_decides() -> None:
    here, there = MOVED
    found = listed({"h0": [here, ("nic0", "leaf-0", "p0")], "leaf-0": [there]})
    assert found.state[0] == State.WRONG


def test_who_has_its_own_cable_is_the_old_neighbour() -> None:
    """Both ends of the first host's cable list one end of the second's, which lists its own alone."""
    old = ("nic0", "leaf-0", "p1"), ("p0", "h1", "nic0")
    own = ("nic0", "leaf-0", "p0"), ("p0", "h0", "nic0")
    found = listed(
        {"h0": [own[0], old[0]], "h1": [("nic0", "leaf-0", "p1")], "leaf-0": [own[1], old[1], ("p1", "h1", "nic0")]}
    )
    assert found.state[:2].tolist() == [State.RIGHT] * 2

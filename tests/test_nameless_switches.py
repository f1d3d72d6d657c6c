"""Switches that no one named, wired to each other: their chassis ids are known from their other cables."""

from collections.abc import Mapping, Sequence

from rules._examples import hears
from tests.small_fabric import snapshot_of
from truerail.analysis.cabling import State
from truerail.analysis.round import Round
from truerail.model import Cable, Device, Neighbor, Plan, Port, Role

LEAVES, SPINES = ("leaf-0", "leaf-1", "leaf-2"), ("spine-0", "spine-1", "spine-2")
PLAN = Plan(
    {**{one: Device(one, Role.LEAF) for one in LEAVES}, **{one: Device(one, Role.SPINE) for one in SPINES}},
    tuple(
        Cable(Port(leaf, f"swp{n}"), Port(spine, f"swp{m}"))
        for m, leaf in enumerate(LEAVES)
        for n, spine in enumerate(SPINES)
    ),
)
NAMELESS = ("leaf-0", "spine-1")
UNDECIDED = "leaf-0/swp1"


def states(
    ends: Mapping[Port, Port] | None = None, chassis: Mapping[str, str] | None = None, silent: Sequence[str] = ()
) -> dict[str, State]:
    """The state of each cable where the nameless send `localhost`; cables are as planned, but for those in `ends`."""
    far = {cable.a: cable.b for cable in PLAN.cables} | dict(ends or {})
    far |= {b: a for a, b in far.items()}
    heard: dict[str, list[Neighbor]] = {name: [] for name in PLAN.devices if name not in silent}
    for own, peer in far.items():
        if own.device in heard:
            name = "localhost" if peer.device in NAMELESS else peer.device
            usual_chassis = f"02:00:00:00:00:{sorted(PLAN.devices).index(peer.device):02x}"
            chassis_id = (chassis or {}).get(peer.device, usual_chassis)
            heard[own.device].append(hears(own.name, f"{name}/{peer.name}", chassis_id=chassis_id))
    wiring = Round(PLAN, snapshot_of(heard)).cabling
    return {str(cable.a): State(state) for cable, state in zip(PLAN.cables, wiring.state.tolist(), strict=True)}


def test_the_cable_between_two_nameless_switches_is_evaluated() -> None:
    assert set(states().values()) == {State.RIGHT}


def test_a_wrong_cable_between_them_is_wrong() -> None:
    swapped = {Port("leaf-0", "swp1"): Port("spine-1", "swp1"), Port("leaf-1", "swp1"): Port("spine-1", "swp0")}
    found = states(swapped)
    assert {cable for cable, state in found.items() if state is State.WRONG} == {"leaf-0/swp1", "leaf-1/swp1"}


def test_a_chassis_id_of_two_devices_tells_nothing() -> None:
    assert states(chassis=dict.fromkeys(NAMELESS, "02:00:00:00:00:99"))[UNDECIDED] is not State.WRONG


def test_one_cable_is_not_enough_to_know_a_chassis_id() -> None:
    silent = ("leaf-1", "leaf-2", "spine-0")
    assert states(silent=silent)[UNDECIDED] is not State.RIGHT

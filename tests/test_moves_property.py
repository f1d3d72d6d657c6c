"""The moves of compound faults, carried out as a technician would: they end in the plan, whatever was wrong at once."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.draws import draws
from tests.small_fabric import World, make_plan
from tests.test_causes import causes_of
from truerail.model import Cause, CauseKind, Port

HOSTS, RAILS = 8, 4
NAMES = (CauseKind.LEAF_SWAP, CauseKind.HOST_SWAP)


@dataclass
class Hall:
    """What hands see: plugs in sockets of machines, which have names on them. `plugs` maps a socket to the machine port
    at the other end of its cable.
    """

    world: World
    plugs: dict[Port, Port] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.plugs = {place: slot for slot, place in self.world.where.items() if place is not None}

    def socket(self, named: Port) -> Port:
        """The socket that is called so now."""
        machine = next(one for one in self.world.plan.devices if self.world.name(one) == named.device)
        return Port(machine, named.name)

    def carry_out(self, cause: Cause, *, whole: bool) -> None:
        """One cause: its names are swapped, or its plugs are taken out and then put in."""
        if not cause.moves:
            assert cause.kind in NAMES
            one, other = (self.socket(Port(name, "")).device for name in cause.subjects)
            self.world.exchange_names(one, other)
        elif whole and cause.kind is CauseKind.BUNDLE_SWAP and cause.action.startswith("Swap the two bundles"):
            self.exchange_bundles(*cause.subjects)
        else:
            hands = [(self.plugs.pop(self.socket(move.source)), move.target) for move in cause.moves]
            for slot, target in hands:
                assert self.socket(target) not in self.plugs, f"{target} is taken"
                self.plugs[self.socket(target)] = slot

    def exchange_bundles(self, one: str, other: str) -> None:
        """All host cables of two leaves, where they cross in the patch panel."""
        names = {one: other, other: one}
        machines = {self.socket(Port(a, "")).device: self.socket(Port(b, "")).device for a, b in names.items()}
        hosts = {s: slot for s, slot in self.plugs.items() if s.device in machines and slot.device.startswith("h")}
        for socket in hosts:
            del self.plugs[socket]
        self.plugs |= {Port(machines[s.device], s.name): slot for s, slot in hosts.items()}

    def by_names(self) -> dict[Port, Port]:
        """Every cable as an inventory would list it."""
        name = self.world.name
        return {
            Port(name(slot.device), slot.name): Port(name(socket.device), socket.name)
            for socket, slot in self.plugs.items()
        }


@st.composite
def compounds(draw: Any) -> World:
    """Swapped names of leaves or hosts, a crossed bundle, and a few cables in each other's places, at once."""
    world = World(make_plan(hosts=HOSTS, rails=RAILS))
    leaves = draw(st.permutations([f"leaf-{rail}" for rail in range(RAILS)]))
    if draw(st.booleans()):
        here = [slot for slot, place in world.where.items() if place and slot.device.startswith("h")]
        crossed = {leaves[0]: leaves[1], leaves[1]: leaves[0]}
        for slot in here:
            place = world.where[slot]
            assert place is not None
            world.where[slot] = Port(crossed.get(place.device, place.device), place.name)
    if draw(st.booleans()):
        world.exchange_names(leaves[2], leaves[3])
    if draw(st.booleans()):
        world.exchange_names("h1", "h7")
    slots = [slot for slot in world.where if slot.device.startswith("h")]
    for _ in range(draw(st.integers(0, 3))):
        one, other = draw(st.lists(st.sampled_from(slots), min_size=2, max_size=2, unique=True))
        world.swap(one, other)
    if draw(st.booleans()):
        slot = draw(st.sampled_from(slots))
        place = world.where[slot]
        assert place is not None
        world.where[slot] = Port(place.device, "swp77")
    return world


@settings(max_examples=draws(30, 600), deadline=None)
@given(compounds(), st.booleans())
def test_moves_in_their_order_end_in_the_plan(world: World, whole: bool) -> None:
    """Names first, as the moves that wait for them say. A cable that was right by a wrong name shows when the name is
    right: then, and only then, a second round is needed.
    """
    planned = {cable.a: cable.b for cable in world.plan.cables}
    before = Hall(world).by_names()
    places = {before[one] for one in before if before[one] == planned[one]}
    after = carried_out(world, whole=whole)
    left = {place for one, place in after.items() if planned[one] != place}
    if left:
        assert places, "every cable was wrong, and some still are"
        assert carried_out(world, whole=whole) == planned


def carried_out(world: World, *, whole: bool) -> dict[Port, Port]:
    """One round: everything that the causes say is done. Where the cables are then, by name."""
    _, causes = causes_of(world)
    assume(all(cause.moves or cause.kind in NAMES for cause in causes))
    assume(all(len(cause.subjects) == 2 for cause in causes if not cause.moves))
    hall = Hall(world)
    for cause in (*(one for one in causes if not one.moves), *(one for one in causes if one.moves)):
        for move in cause.moves:
            assert move.source != move.target
        hall.carry_out(cause, whole=whole)
    world.where = {slot: socket for socket, slot in hall.plugs.items()}
    return hall.by_names()


@settings(max_examples=draws(20, 400), deadline=None)
@given(compounds())
def test_a_move_that_waits_for_another_repair_says_so(world: World) -> None:
    """Where no names and no bundle have to be swapped first, the ports are called as they are now."""
    names = {world.name(machine): machine for machine in world.plan.devices}
    occupied = {place for place in world.where.values() if place is not None}
    for cause in causes_of(world)[1]:
        for move in cause.moves:
            if not move.after:
                assert Port(names[move.source.device], move.source.name) in occupied, (cause, move)
            elif cause.kind is not CauseKind.BUNDLE_SWAP:
                assert move.after in cause.action

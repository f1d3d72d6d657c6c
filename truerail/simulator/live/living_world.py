"""A world that can be changed and reverted at any time: each change is a value with the states before and after."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from truerail.model import Port
from truerail.poller import Ambient
from truerail.simulator.fabric.world import World
from truerail.simulator.live.hearing import Daemons, LiveEther

T = TypeVar("T")
_MAPS = ("far", "hostname", "nic_order", "gpu_order", "slow")
_SETS = ("dead", "off", "hung", "absent")


@dataclass(frozen=True, slots=True)
class Change:
    """A fault's effect on a world. `before` and `after` have entries by field of `World`, None for a missing entry;
    `turned` are the members added to or removed from its sets.
    """

    before: Mapping[str, Mapping[Any, Any]]
    after: Mapping[str, Mapping[Any, Any]]
    turned: Mapping[str, frozenset[Any]]


class LivingWorld:
    """A world and its time. `versions` counts the changes that affect each machine's answers, except LLDP."""

    def __init__(self, world: World, ambient: Ambient, daemons: Daemons) -> None:
        self.world = world
        self.ambient = ambient
        began = ambient.clock()
        self.ether = LiveEther(world, int(daemons.ttl_seconds), daemons=daemons, began=began)
        self.versions: Counter[str] = Counter()
        self.changed_at = began
        self.turn()

    def turn(self) -> LiveEther:
        """The LLDP state now."""
        self.ether.turn(self.ambient.clock(), self.ambient.now().timestamp())
        return self.ether

    def alter(self, edit: Callable[[World], T]) -> tuple[T, Change]:
        """Changes the world now; returns the result of `edit`, and the change. Exceptions of `edit` pass through."""
        before = _copy(self.world)
        result = edit(self.world)
        change = _difference(before, self.world)
        self._follow(before, change)
        return result, change

    def revert(self, change: Change) -> None:
        """Undoes a change now, whatever has changed elsewhere since."""
        self.alter(lambda world: _restore(world, change))

    def settle(self) -> None:
        """Treats all changes up to now as old: no LLDP daemon lists former neighbours."""
        self.ether.settle()

    def _follow(self, before: World, change: Change) -> None:
        self.turn()
        self.changed_at = self.ether.at
        jacks = self._jacks(before, change)
        renamed = change.after["hostname"].keys()
        for machine in renamed:
            self.ether.rename(machine)
        self.ether.follow(before, jacks)
        self.versions.update({jack.device for jack in jacks})
        self.versions.update({*change.after["nic_order"], *change.after["gpu_order"], *renamed})

    def _jacks(self, before: World, change: Change) -> set[Port]:
        """The jacks at which a link or a neighbour is different now."""
        jacks = {*change.after["far"], *change.after["slow"], *change.turned["dead"]}
        for machine in {*change.turned["off"], *change.turned["hung"]}:
            own = list(_jacks_of(self.world, machine))
            jacks.update(own, _ends(before, own), _ends(self.world, own))
        return jacks


def _jacks_of(world: World, host: str) -> Iterator[Port]:
    names = world.fabric.shape.host_ports
    return (Port(host, getattr(name, names)) for name in world.fabric.models[host].names)


def _ends(world: World, jacks: Iterable[Port]) -> Iterator[Port]:
    return (world.far[jack] for jack in jacks if jack in world.far)


def _copy(world: World) -> World:
    copies: dict[str, Any] = {name: getattr(world, name).copy() for name in (*_MAPS, *_SETS)}
    return replace(world, **copies)


def _difference(before: World, after: World) -> Change:
    old, new = {}, {}
    for name in _MAPS:
        was, now = getattr(before, name), getattr(after, name)
        keys = [key for key in {**was, **now} if was.get(key) != now.get(key)]
        old[name], new[name] = {key: was.get(key) for key in keys}, {key: now.get(key) for key in keys}
    return Change(old, new, {name: frozenset(getattr(after, name) ^ getattr(before, name)) for name in _SETS})


def _restore(world: World, change: Change) -> None:
    for name, entries in change.before.items():
        field = getattr(world, name)
        for key, value in entries.items():
            if value is None:
                field.pop(key, None)
            else:
                field[key] = value
    for name, members in change.turned.items():
        getattr(world, name).symmetric_difference_update(members)

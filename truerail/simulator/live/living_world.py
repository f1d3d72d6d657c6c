"""A world that can be changed at any time, and put back: each change is a value that tells before from after."""

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
    """What a fault did to a world. `before` and `after` hold entries by field of `World`, an entry that was not there
    as None; `turned` the members of its sets that came or went.
    """

    before: Mapping[str, Mapping[Any, Any]]
    after: Mapping[str, Mapping[Any, Any]]
    turned: Mapping[str, frozenset[Any]]


class LivingWorld:
    """A world and its time. `versions` counts the changes that each machine's answers have seen, LLDP apart."""

    def __init__(self, world: World, ambient: Ambient, daemons: Daemons) -> None:
        self.world = world
        self.ambient = ambient
        began = ambient.clock()
        self.ether = LiveEther(world, int(daemons.ttl_seconds), daemons=daemons, began=began)
        self.versions: Counter[str] = Counter()
        self.changed_at = began
        self.turn()

    def turn(self) -> LiveEther:
        """What is heard now."""
        self.ether.turn(self.ambient.clock(), self.ambient.now().timestamp())
        return self.ether

    def alter(self, edit: Callable[[World], T]) -> tuple[T, Change]:
        """Changes the world now; gives what `edit` gives, and the change. What `edit` raises goes through."""
        before = _copy(self.world)
        result = edit(self.world)
        change = _difference(before, self.world)
        self._follow(before, change)
        return result, change

    def revert(self, change: Change) -> None:
        """Undoes a change now, whatever else has changed since in other places."""
        self.alter(lambda world: _restore(world, change))

    def settle(self) -> None:
        """Lets all that was changed until now have been so for long: nobody remembers anything else."""
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
        """The jacks at which anything is different now, links and neighbours alike."""
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

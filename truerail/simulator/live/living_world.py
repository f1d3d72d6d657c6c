"""A world that can be changed and reverted at any time, and its LLDP over time."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from zlib import crc32

from truerail.model import Port
from truerail.poller import Ambient
from truerail.simulator.fabric.ether import Ether, first_age
from truerail.simulator.fabric.lldp_frames import Announced, Heard, Speaker
from truerail.simulator.fabric.world import World

# ----------------------------------------------------------------------------------------------------------------------
# LLDP over time: the neighbours that a port hears now, and former ones that have not aged out yet.
#
# As in lldpd (measured with real daemons, lldpd 1.0): a port that loses its carrier forgets its neighbours at once; one
# whose cable is swapped unnoticed keeps the old neighbour beside the new one until its time to live ends. A port that
# comes up sends at once; one that noticed nothing sends at its next interval. A neighbour that returns within the time
# to live is the old one again, with its old age.

UP_AGAIN_SECONDS = 1.0
"""Time from link-up of a port to its first frame."""


@dataclass(frozen=True, slots=True)
class Daemons:
    """Settings of the LLDP daemons: a frame every `tx_seconds`, with a time to live `hold` times as long."""

    tx_seconds: float = 30.0
    hold: int = 4

    @property
    def ttl_seconds(self) -> float:
        """A frame's time to live."""
        return self.tx_seconds * self.hold


@dataclass(frozen=True, slots=True)
class Past:
    """A former neighbour in the state of its last frame here, listed until `until`."""

    jack: Port
    speaker: Speaker
    port: Announced
    since: float
    until: float


@dataclass(slots=True)
class LiveEther(Ether):
    """The LLDP frames of a changing world. Times are seconds of one clock; `began` is the world's start.

    `_since` has the time of the first frame of a jack's neighbour, past or future, if not before the start.
    """

    daemons: Daemons = field(kw_only=True)
    began: float = field(kw_only=True)
    at: float = field(default=0.0, kw_only=True)
    _since: dict[Port, float] = field(default_factory=dict)
    _past: dict[Port, list[Past]] = field(default_factory=dict)

    def turn(self, at: float, now: float) -> None:
        """Sets the clock of answers, and the devices' time of day."""
        self.at, self.now = at, now
        self.elapsed_seconds = int(at - self.began)

    def heard(self, jack: Port, local: str, number: int) -> Iterator[Heard]:
        """The neighbours on one jack now; the present one first."""
        other, since = speaks(self.world, jack), self._since.get(jack)
        if other is not None and (since is None or since <= self.at):
            age = self.at - (self._birth(jack, number) if since is None else since)
            yield Heard(local, number, self.speaker(other.device), self.summary(other), int(age), self.ttl_seconds)
        for past in self._past.get(jack, ()):
            if past.until > self.at:
                yield Heard(local, number, past.speaker, past.port, int(self.at - past.since), self.ttl_seconds)

    def follow(self, before: World, jacks: Iterable[Port]) -> None:
        """Records that the world was `before` until now, and has changed at these jacks."""
        for jack in jacks:
            if self.world.carrier(jack):
                self._follow(before, jack)
            else:
                self._past.pop(jack, None)
                self._since.pop(jack, None)

    def settle(self) -> None:
        """Treats all current neighbours as old, and drops former ones."""
        self._past.clear()
        self._since.clear()

    def rename(self, machine: str) -> None:
        """Applies a machine's new announced name from now on."""
        self._speakers.pop(machine, None)

    def _follow(self, before: World, jack: Port) -> None:
        was, now = speaks(before, jack), speaks(self.world, jack)
        if was == now:
            return
        known = [past for past in self._past.pop(jack, ()) if past.until > self.at]
        since = self._since.pop(jack, None)
        if was is not None and (since is None or since <= self.at):
            known.append(self._remember(jack, was, since))
        if now is not None:
            again = next((past.since for past in known if past.jack == now), None)
            wait = self.daemons.tx_seconds * _phase(now) if before.carrier(now) else UP_AGAIN_SECONDS
            self._since[jack] = self.at + wait if again is None else again
        if left := [past for past in known if past.jack != now]:
            self._past[jack] = left

    def _remember(self, jack: Port, other: Port, since: float | None) -> Past:
        first = self._birth(jack, self._place(jack)) if since is None else since
        last_frame = self.at - self.daemons.tx_seconds * (1.0 - _phase(other))
        until = last_frame + self.daemons.ttl_seconds
        return Past(other, self.speaker(other.device), self.summary(other), first, until)

    def _birth(self, jack: Port, number: int) -> float:
        return self.began - first_age(self.world, jack, number)

    def _place(self, jack: Port) -> int:
        return self.world.slot(jack) + 1 if self.world.is_host(jack.device) else self.number(jack)


def speaks(world: World, jack: Port) -> Port | None:
    """The sender of the frames that arrive at a jack, if any."""
    if jack.device in world.deaf or not world.carrier(jack):
        return None
    far = world.far[jack]
    return None if far.device in world.mute or far.device in world.hung else far


def _phase(port: Port) -> float:
    """The phase of a port's daemon in its interval: in [0, 1), the same in every run."""
    return crc32(str(port).encode()) / 2**32


# ----------------------------------------------------------------------------------------------------------------------
# Changes of a world, each a value with the states before and after.

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
            own = self.world.jacks(machine)
            jacks.update(own, _ends(before, own), _ends(self.world, own))
        return jacks


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

"""Proves orders of moves: replays each on the observed wiring, as hands would, and compares the end with the plan.

It shares no code with the search for causes, so that a mistake there shows here. An order holds if, after exactly what
it waits for,

- each plug is where its move takes it from, its cable is wrong there, and in the planned place afterwards;
- each plug goes into a free port. One plug of a cycle may hang loose until the others of its cause have moved; a bundle
  moves as a whole;
- no cable moves twice, but with its bundle and then by an order that waits for the bundle;
- no device that it plugs at changes its name, unless the order waits for that; a cable's own end has its present name.

Then it holds in every sequence that `after` allows: no other order frees or takes its ports. And none has fewer moves:
a move changes one link, and here each makes a planned one (`benchmarks/accuracy/exact_orders.py` has the optimum).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.model import Cause, CauseKind, Move, Plan, Port
from truerail.model.finding import UNPROVEN

Links = dict[Port, Port]
"""The port at the other end of each occupied one, both ways."""
Names = Mapping[str, str]
"""Planned names by those that are changed to them, of devices and of `device/port`."""


class _BrokenError(Exception):
    """An order that cannot be followed, and why."""


def both_ways(far: Mapping[Port, Port | None]) -> Links:
    """Links by either of their ends."""
    pairs = [(here, there) for here, there in far.items() if there is not None]
    return {**dict(pairs), **{there: here for here, there in pairs}}


def observed(wiring: Wiring, causes: Sequence[Cause]) -> Links:
    """The links of all devices in the orders of these causes, as observed, and of those that get their names."""
    index = wiring.index
    names = {port.device for cause in causes for move in cause.moves for port in (move.cable, move.source, move.target)}
    names |= {rename.actual for cause in causes for rename in cause.renames if rename.planned in names}
    ports = np.flatnonzero(wiring.partner[: wiring.ports] >= 0)
    ports = ports[np.isin(index.ports.device_of(ports), [index.devices.find(name) for name in names])]
    there = wiring.partner[ports].tolist()
    return both_ways({index.spell(one): index.spell(other) for one, other in zip(ports.tolist(), there, strict=True)})


@dataclass(frozen=True)
class Proof:
    """The replay of all orders of some causes. `links` are observed."""

    causes: Sequence[Cause]
    links: Links
    plan: Plan
    _known: dict[str, set[str]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def broken(self) -> dict[str, str]:
        """Why an order does not hold, by the key of its cause; no entry for one that holds."""
        found: dict[str, str] = {}
        for cause in self.causes:
            try:
                if cause.moves:
                    self._check(cause)
            except _BrokenError as why:
                found[cause.key] = str(why)
        while more := {key: why for key, why in self._waiting(found) if key not in found}:
            found |= more
        return found

    def ends(self) -> Links:
        """The links after all orders and changes of names, in the sequence of the causes."""
        return self._after(self._by_key.keys())

    @cached_property
    def _by_key(self) -> Mapping[str, Cause]:
        return {cause.key: cause for cause in self.causes}

    @cached_property
    def _moved(self) -> Mapping[Port, Sequence[Cause]]:
        """The causes that move a cable, by the end that stays."""
        found: dict[Port, list[Cause]] = {}
        for cause in self.causes:
            for move in cause.moves:
                found.setdefault(move.cable, []).append(cause)
        return found

    @cached_property
    def _changes(self) -> Sequence[Names]:
        """The changes of all names."""
        return list(filter(None, map(_names, self.causes)))

    @cached_property
    def _changing(self) -> Mapping[str, Cause]:
        """The cause that changes a name."""
        return {name: cause for cause in self.causes for name in _names(cause)}

    @cached_property
    def _targets(self) -> Mapping[Port, Sequence[Cause]]:
        found: dict[Port, list[Cause]] = {}
        for cause in self.causes:
            for move in cause.moves:
                found.setdefault(move.target, []).append(cause)
        return found

    def _waiting(self, broken: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        for cause in self.causes:
            for key in dict.fromkeys(key for move in cause.moves for key in move.after_causes if key in broken):
                yield cause.key, f"it waits for {self._by_key[key].id}, whose order does not hold"

    def _before(self, cause: Cause) -> set[str]:
        """The keys of all causes that must be repaired before this one. Raises _BrokenError for one that is none."""
        if cause.key in self._known:
            return self._known[cause.key]
        found: set[str] = set()
        left = [cause]
        while left:
            after = {key for move in left.pop().moves for key in move.after_causes} - found
            if unknown := sorted(after - self._by_key.keys()):
                raise _BrokenError(f"it waits for {unknown[0]}, which is no cause of the report")
            found |= after
            left += [self._by_key[key] for key in sorted(after)]
        self._known[cause.key] = found
        return found

    def _sequence(self, keys: Collection[str]) -> list[Cause]:
        """These causes in a sequence that their `after` allows. Raises _BrokenError where there is none."""
        after = {key: {one for move in self._by_key[key].moves for one in move.after_causes} for key in sorted(keys)}
        try:
            return [self._by_key[key] for key in TopologicalSorter(after).static_order()]
        except CycleError as error:
            ids = sorted({self._by_key[key].id for key in error.args[1]})
            raise _BrokenError(f"{' and '.join(ids)} wait for each other") from error

    def _after(self, keys: Collection[str]) -> Links:
        """The links, by the names of then, once these causes are repaired."""
        links, changed = dict(self.links), list[Names]()
        for cause in self._sequence(keys):
            if names := _names(cause):
                changed.append(names)
                links = {_renamed(here, [names]): _renamed(there, [names]) for here, there in links.items()}
            for move in cause.moves:
                links.pop(links.pop(_renamed(move.cable, changed), move.source), None)
            links |= both_ways({_renamed(move.cable, changed): move.target for move in cause.moves})
        return links

    def _check(self, cause: Cause) -> None:
        """Replays one order after all that it waits for. Raises _BrokenError."""
        before = self._before(cause)
        self._alone(cause, before)
        changed = list(filter(None, map(_names, self._sequence(before))))
        links = self._after(before) if before else self.links
        ends = {port for move in cause.moves for port in (move.source, move.target, _renamed(move.cable, changed))}
        links = {port: links[port] for port in ends & links.keys()}
        loose: dict[Port, Port] = {}
        for number, move in enumerate(cause.moves):
            cable = _renamed(move.cable, changed)
            self._take(links, cause, move, cable)
            loose[cable] = move.target
            for cable, target in list(loose.items()):
                if target not in links:
                    links |= both_ways({cable: loose.pop(cable)})
            later = {one.source for one in cause.moves[number + 1 :]}
            for cable, target in loose.items():
                if target not in later:
                    raise _BrokenError(
                        f"{target} is taken by the cable of {links[target]} when that of {cable} comes to it"
                    )
            if len(loose) > 1 and cause.kind is not CauseKind.BUNDLE_SWAP:
                raise _BrokenError(f"the plugs of {' and '.join(map(str, loose))} hang loose at once")

    def _take(self, links: Links, cause: Cause, move: Move, cable: Port) -> None:
        """Unplugs one cable; `cable` is its end by its name of then."""
        if links.get(cable) != move.source:
            raise _BrokenError(f"the cable of {cable} is not in {move.source} but in {links.get(cable, 'no port')}")
        moves_on = any(one is not cause and cause.key in self._before(one) for one in self._moved[move.cable])
        planned = self.plan.peer_of(_renamed(move.cable, self._changes))
        if planned == move.source:
            raise _BrokenError(f"the cable of {cable} is right in {move.source}")
        if planned != move.target and not moves_on:
            raise _BrokenError(f"the cable of {cable} is not planned in {move.target}")
        del links[cable], links[move.source]

    def _alone(self, cause: Cause, before: set[str]) -> None:
        """No other order moves these cables or takes these ports, and no name changes meanwhile."""
        for cable, times in Counter(move.cable for move in cause.moves).items():
            if times > 1:
                raise _BrokenError(f"the cable of {cable} moves {times} times")
        for move in cause.moves:
            for other in (*self._moved[move.cable], *self._targets[move.target]):
                if other is cause:
                    continue
                ordered = other.key in before or cause.key in self._before(other)
                if not ordered or CauseKind.BUNDLE_SWAP not in (other.kind, cause.kind):
                    raise _BrokenError(f"{other.id} moves the cable of {move.cable} or takes {move.target} as well")
        ends = {port.device for move in cause.moves for port in (move.source, move.target)}
        for name in sorted(ends & self._changing.keys()):
            if self._changing[name].key not in before:
                raise _BrokenError(
                    f"{self._changing[name].id} changes the name of {name}, and it does not wait for that"
                )


def _names(cause: Cause) -> Names:
    return {one.actual: one.planned for one in cause.renames} if not cause.moves else {}


def _renamed(port: Port, changed: Iterable[Names]) -> Port:
    for names in changed:
        device, _, name = names.get(str(port), "").partition("/")
        port = Port(device, name) if device else Port(names.get(port.device, port.device), port.name)
    return port


def proven(wiring: Wiring, causes: tuple[Cause, ...]) -> tuple[Cause, ...]:
    """The causes, without orders that do not hold: such a cause is `unproven`."""
    if not any(cause.moves for cause in causes):
        return causes
    broken = Proof(causes, observed(wiring, causes), wiring.index.plan).broken
    return tuple(_open(cause, broken[cause.key]) if cause.key in broken else cause for cause in causes)


def _open(cause: Cause, why: str) -> Cause:
    return replace(
        cause,
        kind=CauseKind.UNKNOWN,
        summary=f"{cause.summary}; {UNPROVEN}: {why}",
        action="Move no cable before it is confirmed where both ends of each of these are (`ethtool -p`).",
        moves=(),
        confidence=min(cause.confidence, 0.5),
    )

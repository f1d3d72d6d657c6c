"""Locates cables whose devices are heard by name alone: assigns each lost cable to a place that hears its device.

The ARM of a DPU sends `dpu-gpu-004` from each NIC. A leaf that hears gpu-004 where gpu-005 is planned shows that a
cable of gpu-004 is there. Which cable it is follows if gpu-004 is heard in all of its own places except one: the fewest
cables are wrong if it is the cable of that place. The same holds for switches that send their names and no known port,
heard from below. So the devices heard identify a swap, a rotation and a shifted block. No answer rules out that other
cables of these devices are there, and are swapped among each other as well: nothing based on such a place orders a
move.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring
from truerail.causes.observed_links import Slots, renamed
from truerail.causes.shift import positions
from truerail.model.columns import NONE, Codes, distinct, grouped
from truerail.model.index import PlanIndex

_NOT_ELSEWHERE = (Why.LINK_DOWN, Why.DISABLED, Why.NIC_ABSENT, Why.PENDING)
"""Reasons for which a cable is in no place at all."""


@dataclass
class Strays:
    """By host code: `lost` are the host's cables that are not heard in their places, `places` the ports of switches
    that hear it by its name and are planned for other hosts.
    """

    lost: dict[int, list[int]] = field(default_factory=dict)
    places: dict[int, list[int]] = field(default_factory=dict)
    held: Counter[int] = field(default_factory=Counter)
    """Number of a host's own places in which it is heard."""
    ports: dict[int, int] = field(default_factory=dict)
    """For each place, the port that hears it, under the name that its switch actually has."""

    def without(self, cables: Sequence[int], places: Sequence[int]) -> "Strays":
        """These, without some cables and places that are explained."""
        gone, taken = set(cables), set(places)
        lost = {host: [one for one in own if one not in gone] for host, own in self.lost.items()}
        left = {host: [one for one in at if one not in taken] for host, at in self.places.items()}
        return Strays(lost, left, self.held, self.ports)


def strays(wiring: Wiring, true_name: Mapping[int, int]) -> Strays:
    """The lost cables of hosts and the places that hear them; `true_name` maps switches to the ones they really are."""
    index, found = wiring.index, Strays()
    tier = index.devices.tiers
    heard = wiring.heard[: len(index.ports)]
    ports = np.flatnonzero((heard >= 0) & (heard < index.devices.planned) & (wiring.partner[: len(heard)] < 0))
    ports = ports[(tier[heard[ports]] == 0) & (tier[index.ports.device_of(ports)] > 0) & ~wiring.ambiguous[ports]]
    if not len(ports):
        return found
    true_device = np.arange(len(index.devices.names) + 1)
    true_device[[*true_name]] = [*true_name.values()]
    hosts, places = heard[ports], renamed(index, ports, true_device, ports >= 0)
    planned = index.cables_at(places)
    owner = np.where((planned >= 0) & (index.b[planned] == places), index.a_device[planned], NONE)
    away = owner != hosts
    found.places = grouped(zip(hosts[away].tolist(), places[away].tolist(), strict=True))
    found.ports.update(zip(places.tolist(), ports.tolist(), strict=True))
    found.held.update(hosts[owner == hosts].tolist())
    lost = index.from_host & (wiring.partner[index.a] < 0) & wiring.listened[index.b_device]
    lost &= ~np.isin(index.b, places[owner == hosts]) & ~np.isin(wiring.why, _NOT_ELSEWHERE)
    lost &= np.isin(index.a_device, list(found.places))
    found.lost = grouped((int(index.a_device[cable]), cable) for cable in np.flatnonzero(lost).tolist())
    vacant = np.isin(index.b, wiring.identity.claims.u) | ~wiring.states.up(index.b)
    for host, own in found.lost.items():
        if len(own) > len(found.places[host]):  # some are in their places and silent
            found.lost[host] = [cable for cable in own if vacant[cable]]
    return found


def swapped_hosts(index: PlanIndex, found: Strays) -> Iterator[tuple[int, int, list[int]]]:
    """Pairs of hosts that are heard in most of each other's places and in none of their own, with their cables. In the
    rest of these places no host is heard: a switch may have forgotten it.
    """
    owner = {int(index.b[cable]): host for host, own in found.lost.items() for cable in own}
    for host, own in sorted(found.lost.items()):
        others = {owner.get(place, NONE) for place in found.places[host]}
        other = others.pop() if len(others) == 1 else NONE
        back = {owner.get(place, NONE) for place in found.places.get(other, ())}
        both = [*own, *found.lost.get(other, ())]
        alone = not found.held[host] and not found.held[other]
        most = _is_in(index, own, other, found) and _is_in(index, found.lost.get(other, ()), host, found)
        if host < other and back == {host} and alone and most:
            yield host, other, both


def _is_in(index: PlanIndex, own: Sequence[int], other: int, found: Strays) -> bool:
    """Whether another host is heard in most of these cables' places, in two or more, and no third one in the rest."""
    places = [int(index.b[cable]) for cable in own]
    there = set(found.places.get(other, ())).intersection(places)
    silent = all(place in there or place not in found.ports for place in places)
    return len(own) > 1 and silent and 2 * len(there) > len(places)


def placed(index: PlanIndex, slots: Slots, found: Strays) -> tuple[Codes, Codes]:
    """Lost cables and the places where they are, as far as known: by the leaf, else if there is only one."""
    pairs = [*_on_their_leaves(index, found)]
    left = found.without([cable for cable, _ in pairs], [place for _, place in pairs])
    for host, own in sorted(left.lost.items()):
        at = left.places[host]
        pairs += [(own[0], at[0])] if len(own) == len(at) == 1 else _of_a_kind(index, slots, own, at)
    return _columns(pairs)


def reordered(wiring: Wiring, true_name: Mapping[int, int]) -> Codes:
    """Cables of NICs that hear another leaf than planned, by its name alone, and whose nearest GPU's rail is on that
    leaf in the plan: the GPU's NIC is where it belongs, under another's name. None of these cables is wrong.
    """
    index = wiring.index
    near = wiring.gpu_rails.near[index.a]
    vague = (wiring.state == State.WRONG) & (wiring.place < 0) & index.from_host & (index.rail >= 0)
    own = near >> np.maximum(index.rail, 0) & 1 == 1
    cables = np.flatnonzero(vague & (wiring.heard[index.a] >= 0) & (near != 0) & ~own)
    fellows = np.flatnonzero(index.from_host & (index.rail >= 0) & np.isin(index.a_device, index.a_device[cables]))
    columns = (column[fellows].tolist() for column in (index.a_device, index.b_device, index.rail))
    planned = grouped(((host, leaf), rail) for host, leaf, rail in zip(*columns, strict=True))
    heard = [true_name.get(leaf, leaf) for leaf in wiring.heard[index.a[cables]].tolist()]
    rails = [planned.get(pair, ()) for pair in zip(index.a_device[cables].tolist(), heard, strict=True)]
    there = zip(cables.tolist(), near[cables].tolist(), rails, strict=True)
    return np.array([cable for cable, bits, on in there if any(bits >> rail & 1 for rail in on)], dtype=np.int64)


def heard_above(wiring: Wiring, explained: Codes) -> tuple[Codes, Codes]:
    """Cables whose lower ends hear another switch than planned, by its name alone, and the place in it where they are:
    that of the switch's only lost cable, if it is the only one that hears it so. Without those `explained` otherwise.
    """
    index = wiring.index
    heard, known = wiring.heard[index.a], wiring.place >= 0
    tier = index.devices.tiers
    astray = ~known & (heard >= 0) & (heard != index.b_device) & (tier[heard] == tier[index.b_device])
    astray &= ~wiring.ambiguous[index.a]  # of several switches heard, one may be a former neighbour
    gone = (astray | (known & (wiring.place != index.b))) & (wiring.partner[index.b] < 0)
    found: list[tuple[int, int]] = []
    for switch in distinct(heard[astray]).tolist():
        here, lost = np.flatnonzero(astray & (heard == switch)), np.flatnonzero(gone & (index.b_device == switch))
        alone = len(here) == len(lost) == 1 and here[0] not in explained
        if alone and wiring.heard[index.b[lost[0]]] in (NONE, index.a_device[here[0]]):
            found.append((int(here[0]), int(index.b[lost[0]])))
    return _columns(found)


def _columns(pairs: Sequence[tuple[int, int]]) -> tuple[Codes, Codes]:
    cables, places = zip(*pairs, strict=True) if pairs else ((), ())
    return np.array(cables, dtype=np.int64), np.array(places, dtype=np.int64)


def _on_their_leaves(index: PlanIndex, found: Strays) -> Iterator[tuple[int, int]]:
    """Cables in another port of their own leaf: of several of one host, those with the most common offset."""
    places = [place for at in found.places.values() for place in at]
    leaf_of = dict(zip(places, index.ports.device_of(np.array(places, dtype=np.int64)).tolist(), strict=True))
    lost = ((int(index.b_device[cable]), (host, cable)) for host, own in sorted(found.lost.items()) for cable in own)
    for leaf, cables in grouped(lost).items():
        near = [(cable, place) for host, cable in cables for place in found.places[host] if leaf_of[place] == leaf]
        yield from _by_offset(index, leaf, near).items()


def _by_offset(index: PlanIndex, leaf: int, possible: list[tuple[int, int]]) -> dict[int, int]:
    cables, places = _columns(possible)
    at = positions(index, leaf, np.concatenate([index.b[cables], places]))
    offset = (at[len(cables) :] - at[: len(cables)]).tolist()
    votes = Counter(offset)
    found: dict[int, int] = {}
    for row in sorted(range(len(possible)), key=lambda r: (-votes[offset[r]], abs(offset[r]), offset[r], r)):
        cable, place = possible[row]
        if cable not in found and place not in found.values():
            found[cable] = place
    return found


def _of_a_kind(index: PlanIndex, slots: Slots, own: list[int], at: list[int]) -> list[tuple[int, int]]:
    """Cables in places of other hosts' NICs of the same rail and plane, if there is exactly one such place for each."""
    planned = index.cables_at(np.array(at, dtype=np.int64))
    slot = [int(slots.of[cable]) if cable >= 0 else NONE for cable in planned.tolist()]
    wanted = [int(slots.of[cable]) for cable in own]
    if len(set(wanted)) < len(wanted):
        return []
    return [(cable, at[slot.index(kind)]) for cable, kind in zip(own, wanted, strict=True) if slot.count(kind) == 1]

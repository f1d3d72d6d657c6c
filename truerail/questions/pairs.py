"""Pairs of hosts by what NCCL would do between them, counted per rail without a loop over pairs.

Hosts with the same status on a rail (same connected leaves per plane, same detours) are one kind. There are few kinds,
and every pair of kinds is evaluated once, as matrices of shape (kinds, kinds).

On a rail, two hosts are on the *same rail* if, on one plane, both are on leaves that reach each other, or both end on
one leaf, even the wrong one (if all cables of two leaves are swapped, only the labels are wrong). Otherwise traffic is
rerouted only if each reaches the other's NIC: senders may use any of their NICs (PXN hands the data over NVLink to the
GPU of that NIC), receivers cannot choose: they are reached where their rail's NIC is, or, if that has no link, where
their other NICs are. Where no path leads from rail to rail, the pair is cut (see rule
RAL003). A pair counts as the worse of its two directions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.questions.job_answer import Pairs
from truerail.questions.rail_status import RailStatus, Stand


@dataclass(frozen=True)
class OnRail:
    """Hosts on one rail, ascending, and their status there: `sure` and `maybe` have shape (hosts, 2, cables a host).

    For each cable: the connected part it belongs to, and the leaf it ends on; -1 if it does not. `planes` is the plane
    of each of a host's cables.
    """

    hosts: Codes
    planes: list[int]
    sure: Codes
    maybe: Codes


def rails_of(standing: RailStatus, cables: Codes) -> list[int]:
    """The rails of some host cables, ascending; cables without a rail are left out."""
    rails: list[int] = distinct(standing.index.rail[cables]).tolist()
    return [rail for rail in rails if rail >= 0]


def count_pairs(standing: RailStatus, cables: Codes) -> Pairs:
    """The pairs of hosts over all rails of these cables (all cables of the hosts in question), each rail counted."""
    ways = None if standing.rail_only else _Ways(standing, cables)
    counted = [_on_rail(standing, cables, rail, ways) for rail in rails_of(standing, cables)]
    total, same, rerouted, cut = (sum(column) for column in zip(*counted, strict=True)) if counted else (0, 0, 0, 0)
    return Pairs(total, same, rerouted, cut, total - same - rerouted - cut)


def joined(standing: RailStatus, cables: Codes) -> int:
    """Pairs that are, or may be, on the same rail, each rail counted."""
    found = 0
    for rail in rails_of(standing, cables):
        on = on_rail(standing, cables, rail)
        kinds, number = np.unique(on.maybe, axis=0, return_counts=True)
        found += _count(_meet(kinds, on.planes), number)
    return found


def on_rail(standing: RailStatus, cables: Codes, rail: int) -> OnRail:
    """The hosts that have one of these cables on a rail."""
    index = standing.index
    chosen = cables[index.rail[cables] == rail]
    hosts, row = np.unique(index.a_device[chosen], return_inverse=True)
    places = list(zip(index.plane[chosen].tolist(), _nth(standing, chosen), strict=True))
    slots = {place: slot for slot, place in enumerate(sorted(set(places)))}
    column = np.array([slots[place] for place in places], dtype=np.int64)
    sure, maybe = (np.full((len(hosts), 2, len(slots)), NONE, dtype=np.int64) for _ in range(2))
    end, stand = standing.end[chosen], standing.stand[chosen]
    apart = standing.rail_only  # whatever leads to the switches of a rail then stays within it
    for table, part, stands, ends in (
        (sure, standing.certain, (stand == Stand.ON) | (apart & (stand == Stand.OFF)), stand != Stand.UNKNOWN),
        (maybe, standing.possible, (stand != Stand.OFF) | apart, np.ones(len(chosen), dtype=bool)),
    ):
        table[row, 0, column] = np.where(stands & (end >= 0), part[end], NONE)
        table[row, 1, column] = np.where(ends, end, NONE)
    return OnRail(hosts, [plane for plane, _ in slots], sure, maybe)


def _nth(standing: RailStatus, cables: Codes) -> list[int]:
    """Numbers the cables that one host has on one rail and plane, in the plan's order."""
    seen: dict[tuple[int, int], int] = {}
    nth = []
    of = zip(standing.index.a_device[cables].tolist(), standing.index.plane[cables].tolist(), strict=True)
    for key in of:
        nth.append(seen.get(key, 0))
        seen[key] = nth[-1] + 1
    return nth


def _on_rail(standing: RailStatus, cables: Codes, rail: int, ways: "_Ways | None") -> tuple[int, int, int, int]:
    """Total, same rail, rerouted and cut; the rest of the total is unknown."""
    on = on_rail(standing, cables, rail)
    size = len(on.hosts)
    parts = [on.sure.reshape(size, -1), on.maybe.reshape(size, -1)]
    if ways is not None:
        parts += ways.kinds(on.hosts, rail)
    _, first, number = np.unique(np.concatenate(parts, axis=1), axis=0, return_index=True, return_counts=True)
    same, maybe = _meet(on.sure[first], on.planes), _meet(on.maybe[first], on.planes)
    total = _count(np.ones_like(same), number)
    if ways is None or bool(maybe.all()):
        return total, _count(same, number), 0, _count(~maybe, number)
    round_, perhaps = ways.meet(on.hosts[first], rail)
    return total, _count(same, number), _count(~maybe & round_, number), _count(~maybe & ~perhaps, number)


def _meet(kinds: Codes, planes: list[int]) -> Mask:
    """Which kinds share a connected part or a leaf on one plane, shape (kinds, kinds)."""
    met = np.zeros((len(kinds), len(kinds)), dtype=bool)
    for one, other in product(range(len(planes)), repeat=2):
        if planes[one] == planes[other]:
            for layer in (0, 1):
                mine, its = kinds[:, None, layer, one], kinds[None, :, layer, other]
                met |= (mine == its) & (mine >= 0)
    return met


def _count(which: Mask, number: Codes) -> int:
    """The number of pairs of hosts from a symmetric matrix over kinds, given the number of hosts of each kind."""
    ordered = int(number @ (which.astype(np.int64) @ number))
    return (ordered - int(number[np.diagonal(which)].sum())) // 2


class _Ways:
    """The detours: the connected parts that each host touches with any NIC, and where its rail's NIC is reached."""

    def __init__(self, standing: RailStatus, cables: Codes) -> None:
        self._standing = standing
        self._cables = cables
        self._alive = (standing.end[cables] >= 0) & (standing.stand[cables] != Stand.UNKNOWN)
        self._open = self._alive | (standing.stand[cables] == Stand.UNKNOWN)
        self._touch = (self._table(self._alive, standing.certain), self._table(self._open, standing.possible))

    def kinds(self, hosts: Codes, rail: int) -> Iterator[Codes]:
        """Columns that distinguish hosts with different detours, shapes (hosts, 1)."""
        for table in (*(touch[hosts] for touch in self._touch), *self._met(hosts, rail)):
            packed = np.packbits(table, axis=1)
            yield np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1, 1).astype(np.int64)

    def meet(self, hosts: Codes, rail: int) -> tuple[Mask, Mask]:
        """Which of these hosts reach each other in both directions, for sure and perhaps, shapes (hosts, hosts)."""
        found = []
        for touch, met in zip(self._touch, self._met(hosts, rail), strict=True):
            reach = touch[hosts].astype(np.float32) @ met.astype(np.float32).T > 0
            found.append(reach & reach.T)
        return found[0], found[1]

    def _met(self, hosts: Codes, rail: int) -> tuple[Mask, Mask]:
        """Where each host's NIC of this rail is reached, for sure and perhaps, shapes (hosts, parts)."""
        on_rail = self._standing.index.rail[self._cables] == rail
        sure = self._table(self._alive & on_rail, self._standing.certain)[hosts]
        maybe = self._table(self._open & on_rail, self._standing.possible)[hosts]
        dark = ~maybe.any(axis=1)
        sure[dark] = self._touch[0][hosts[dark]]
        doubtful = ~sure.any(axis=1) | dark
        maybe[doubtful] = self._touch[1][hosts[doubtful]]
        return sure, maybe

    def _table(self, use: Mask, part: Codes) -> Mask:
        """Whether each host has such a cable into each part that any of these cables is in, shape (devices, parts)."""
        standing, ends = self._standing, self._standing.end[self._cables]
        numbers = distinct(part[ends[ends >= 0]])
        table = np.zeros((len(standing.index.devices.names), len(numbers)), dtype=bool)
        known = use & (ends >= 0)
        table[standing.index.a_device[self._cables[known]], np.searchsorted(numbers, part[ends[known]])] = True
        return table

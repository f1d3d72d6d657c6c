"""The members that one hash at two tiers leaves to each switch of the upper tier: known before any flow is observed.

A switch at place j of K below gets the flows whose hash leaves j as remainder, or falls into the j-th of K parts of its
range. Applied to N members, that same hash gives the remainders that agree with j by the greatest common divisor, or
the parts of the range that overlap. So each switch has members that it may use, its siblings at other places have
others, and every flow that keeps to them is evidence: chance gives it any of N.

Places are numbers among the members that are up, in the plan's order. Switches may number their uplinks otherwise: then
the members used by siblings at equal places must fit into one class each, and all the ways to form such classes are
counted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd, lgamma, log

import numpy as np

from truerail.analysis.ecmp.uplink_balance import Balance
from truerail.model.columns import NONE, Codes, RowsBy, distinct

Places = frozenset[int]
EXCEPTIONS = 4
"""One in this many siblings may not fit: a member that routing leaves out, for example, gives it another divisor."""


@dataclass(frozen=True)
class Pattern:
    """Siblings that use only what one hash leaves them. `allowed` are numbers of members, one set for each of `groups`;
    `ways` is the logarithm of the number of patterns as good as this one.
    """

    groups: Codes
    allowed: Sequence[Places]
    ways: float

    @property
    def classes(self) -> int:
        """The number of different allowed sets."""
        return len(set(self.allowed))


@dataclass(frozen=True)
class Sibling:
    """A switch: its places and the number of places below, its number of members, and the numbers of those in use."""

    group: int
    below: int
    places: Places
    members: int
    used: Places

    @property
    def divisor(self) -> int:
        """The greatest common divisor of the two numbers of next hops."""
        return gcd(self.below, self.members)

    def residues(self, turn: int) -> Places:
        """The members that remainders leave, if one order begins this much later than the other."""
        at = {(place + turn) % self.divisor for place in self.places}
        return frozenset(n for n in range(self.members) if n % self.divisor in at)

    @cached_property
    def ranges(self) -> Places:
        """The members whose part of the hash's range overlaps with the places'."""
        here = [(place * self.members, (place + 1) * self.members) for place in self.places]
        each = [(n, n * self.below, (n + 1) * self.below) for n in range(self.members)]
        return frozenset(n for n, low, high in each if any(low < end and begin < high for begin, end in here))


class Numbered:
    """The uplinks of a fabric by their numbers, and by the switch that they lead to."""

    def __init__(self, b: Balance) -> None:
        self.b = b
        self.number = _numbers(b)
        """Of each uplink among the members of its switch; -1 for an uplink that is no member."""
        self._feeding = RowsBy(b.above)
        index = b.telemetry.wiring.index
        self._hosted = index.b[index.from_host & (index.b >= 0)]
        self._nics = RowsBy(index.ports.device_of(self._hosted))

    def feeding(self, groups: Codes) -> Codes:
        """The members below that lead to any of these switches."""
        found = self._feeding.of(self.b.switch[groups])
        return np.asarray(found[self.b.member[found]])

    def nics(self, groups: Codes) -> Codes:
        """The ports to hosts of the switches below these."""
        return np.asarray(self._hosted[self._nics.of(distinct(self.b.switch[self.b.group[self.feeding(groups)]]))])

    def sibling(self, group: int) -> Sibling:
        """A switch with its place: that in most of the switches below which have as many members as most of them."""
        b = self.b
        rows, below = b.uplinks(group), self.feeding(np.array([group]))
        rows = rows[b.member[rows]]
        sizes = Counter(b.members[b.group[below]].tolist())
        size = sizes.most_common(1)[0][0] if sizes else 0
        below = below[b.members[b.group[below]] == size]
        half = len(set(b.group[below].tolist())) / 2
        places = frozenset(n for n, count in Counter(self.number[below].tolist()).items() if count > half)
        return Sibling(group, size, places, len(rows), frozenset(self.number[rows[~b.idle[rows]]].tolist()))


def _numbers(b: Balance) -> Codes:
    count = np.cumsum(b.member)
    before: Codes = (count - b.member)[np.searchsorted(b.group, np.arange(len(b.switch)))]
    return np.where(b.member, count - 1 - before[b.group], NONE)


def patterns(siblings: Sequence[Sibling]) -> Iterator[Pattern]:
    """The patterns that these siblings, or all but a few of them, fit into."""
    siblings = [one for one in siblings if one.below > 1 and one.places]
    turns = max((one.divisor for one in siblings), default=1)
    ranges = [one.ranges for one in siblings]
    found = [_in_order(siblings, [one.residues(turn) for one in siblings], log(turns)) for turn in range(turns)]
    found += [_in_order(siblings, ranges, 0.0), _reordered(siblings, ranges)]
    found += [_reordered(siblings, [one.residues(0) for one in siblings])]
    yield from (one for one in found if one is not None)


def _in_order(siblings: Sequence[Sibling], allowed: Sequence[Places], ways: float) -> Pattern | None:
    """The siblings that use only what is allowed, where that is less than all; None where fewer than two do, or too
    few.
    """
    bound = [(one, may) for one, may in zip(siblings, allowed, strict=True) if len(may) < one.members]
    fits = [(one, may) for one, may in bound if one.used <= may]
    return _pattern([one for one, _ in fits], [may for _, may in fits], len(bound), ways)


def _pattern(siblings: Sequence[Sibling], allowed: Sequence[Places], of: int, ways: float) -> Pattern | None:
    """The pattern that so many of them fit: None if that is too few."""
    fit, out = len(siblings), of - len(siblings)
    if fit < 2 or EXCEPTIONS * out > of:
        return None
    ways += lgamma(of + 1) - lgamma(out + 1) - lgamma(fit + 1)
    return Pattern(np.array([one.group for one in siblings]), allowed, ways)


def _reordered(siblings: Sequence[Sibling], allowed: Sequence[Places]) -> Pattern | None:
    """The same where the switches number their members otherwise than the plan, but all alike."""
    shapes = Counter((one.below, one.members) for one in siblings)
    shape = shapes.most_common(1)[0][0] if shapes else (0, 0)
    bound = [(one, may) for one, may in zip(siblings, allowed, strict=True) if (one.below, one.members) == shape]
    fits = [(one, may) for one, may in bound if len(one.used) <= len(may) < one.members]
    members = range(shape[1])
    using = [frozenset(n for n, (one, _) in enumerate(fits) if member in one.used) for member in members]
    leaving = [frozenset(n for n, (_, may) in enumerate(fits) if member in may) for member in members]
    place = matched(using, leaving)
    if place is None:
        return None
    moved = [frozenset(member for member in members if place[member] in may) for _, may in fits]
    ways = lgamma(len(members) + 1) - sum(lgamma(count + 1) for count in Counter(leaving).values())
    return _pattern([one for one, _ in fits], moved, len(bound), ways)


def matched(needs: Sequence[Places], offers: Sequence[Places]) -> Sequence[int] | None:
    """For each need a different offer that contains all of it; None where there are not enough. By augmenting paths,
    the largest needs first.
    """
    taken: dict[int, int] = {}

    def find(need: int, tried: set[int]) -> bool:
        for offer, has in enumerate(offers):
            if offer not in tried and needs[need] <= has:
                tried.add(offer)
                if offer not in taken or find(taken[offer], tried):
                    taken[offer] = need
                    return True
        return False

    if not all(find(need, set()) for need in sorted(range(len(needs)), key=lambda n: -len(needs[n]))):
        return None
    place = {need: offer for offer, need in taken.items()}
    return [place[need] for need in range(len(needs))]

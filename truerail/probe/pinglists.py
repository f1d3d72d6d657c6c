"""The pairs of NICs that are probed: as few as show what has to be shown.

| list | pairs | shows |
|---|---|---|
| A | under a leaf, offsets 1, 2 and 4 on the ring of its NICs of one rail | each NIC, both ways, by six peers |
| B | each ordered pair of leaves of a rail, by two pairs of NICs | routes between leaves |
| C | each NIC to one NIC under each other leaf of its rail | host routes on every leaf |
| D | each ordered pair of NICs of a rail | every pair |
| E | each ordered pair of leaves of different rails in one pod, by one pair of NICs | ways, or none, between rails |

A needs four NICs under a leaf to distinguish a bad NIC from a bad peer: with two it is one of the two.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations, product
from typing import NamedTuple

from truerail.model import Plan
from truerail.probe.nics import Nic

LISTS = ("A", "B", "C", "D", "E")
USUAL = ("A", "B", "C", "E")
"""What is shown before a hand-over. D is for up to a thousand hosts: its pairs grow with their square."""
SWEPT = "P"
"""The mark of a path sweep's pairs between leaves of one rail."""
_OFFSETS = (1, 2, 4)


class Pair(NamedTuple):
    """One sender and one receiver; `pinglist` is the first list that has the pair."""

    source: Nic
    to: Nic
    pinglist: str


class Share(NamedTuple):
    """One of `of` equal shares of each list: its pairs, or its pairs of leaves, by their numbers."""

    number: int = 0
    of: int = 1

    def has(self, number: int) -> bool:
        """Whether a pair with this number belongs to it."""
        return number % self.of == self.number


ALL = Share()


def pairs_of(plan: Plan, nics: Sequence[Nic], lists: Sequence[str], share: Share = ALL) -> list[Pair]:
    """The pairs of some lists, or a share of each, each pair once, in the lists' order. NICs of one host are never
    paired.
    """
    under: dict[tuple[tuple[int, int], str], list[Nic]] = defaultdict(list)
    for nic in nics:
        under[nic.group, nic.leaf].append(nic)
    groups: dict[tuple[int, int], list[list[Nic]]] = defaultdict(list)
    for (group, _), members in under.items():
        groups[group].append(members)
    makers = {"A": _ring, "B": _between_leaves, "C": _to_each_leaf, "D": _mesh}
    found: dict[tuple[int, int], Pair] = {}
    for name in lists:
        pairs = (
            _between_rails(plan, groups, share)
            if name == "E"
            else (pair for leaves in groups.values() for pair in makers[name](leaves, share))
        )
        for source, to in pairs:
            if source.host != to.host:
                found.setdefault((source.cable, to.cable), Pair(source, to, name))
    return list(found.values())


def _ring(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    for members in leaves:
        for offset in _OFFSETS:
            if offset < len(members):
                yield from (
                    (one, members[(at + offset) % len(members)]) for at, one in enumerate(members) if share.has(at)
                )


def _between_leaves(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    """The NICs of a leaf take turns, so that no NIC carries the probes of all other leaves."""
    for number, ((x, ours), (y, theirs)) in enumerate(permutations(enumerate(leaves), 2)):
        for turn in (0, 1) if share.has(number) else ():
            yield ours[(y + turn) % len(ours)], theirs[(x + 2 * turn) % len(theirs)]


def _to_each_leaf(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    for number, (ours, theirs) in enumerate(permutations(leaves, 2)):
        if share.has(number):
            yield from ((one, theirs[at % len(theirs)]) for at, one in enumerate(ours))


def _mesh(leaves: Sequence[Sequence[Nic]], share: Share) -> Iterator[tuple[Nic, Nic]]:
    pairs = permutations([nic for members in leaves for nic in members], 2)
    yield from (pair for number, pair in enumerate(pairs) if share.has(number))


def _between_rails(
    plan: Plan, groups: dict[tuple[int, int], list[list[Nic]]], share: Share
) -> Iterator[tuple[Nic, Nic]]:
    """Of one plane and pod. Two rails under one leaf are left out: the plan does not say whether it joins them."""
    for number, ((x, ours), (y, theirs)) in enumerate(permutations(sorted(groups.items()), 2)):
        if x[0] == y[0] or x[1] != y[1] or not share.has(number):
            continue
        for a, b in product(ours, theirs):
            if a[0].leaf != b[0].leaf and plan.devices[a[0].leaf].pod == plan.devices[b[0].leaf].pod:
                turn = (x[0] + y[0]) % len(a)
                other = b[(turn + 1) % len(b)]
                yield a[turn], other if other.host != a[turn].host else b[turn % len(b)]

"""Rails by consensus: where most hosts of a pod have NIC N, there is rail N; a host that differs is an outlier.

A few hosts are not enough evidence: the whole fabric decides (the names of its leaves), or the place is undecided. A
cable with several possible places stays where it is, and is *undecided*, with the reason.

Rails by the names of leaves, over the whole fabric.

Sites number leaves by rail, by pod, or both: `leaf-0` to `leaf-7`, then `leaf-8` for rail 0 of the next pod;
`IBLEAF-04-02` for rail 4 of pod 2. Each number in a name is taken as the sum of what the pod and the rail add. Where
that holds for most leaves, it gives the leaf of each rail of a pod, also where few hosts vote.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar

from truerail.analysis.cabling.host_nics import FEWEST_VOTES, NicOrder
from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.analysis.cabling.spellings import numbers_alone
from truerail.model import Port
from truerail.model.columns import grouped, tally
from truerail.model.names import natural_key
from truerail.plans.lint_view import pods_of

Row = tuple[str, int]
"""Pod and plane."""
Cell = tuple[Row, int]
"""Row and rail."""

_REGULAR = 0.75
"""Share of the leaves that must follow a rule of numbers."""
_MOST_RAILS = 64
_FEWEST = 4
"""Leaves that must follow it, at least."""


_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T", bound=Hashable)


def leading(pairs: Iterable[tuple[_K, _T]]) -> dict[_K, _T]:
    """The most frequent value of each key, of equally frequent ones the first."""
    return {key: votes.most_common(1)[0][0] for key, votes in tally(pairs).items()}


def mode(values: Sequence[_T] | Counter[_T]) -> _T | None:
    """The most frequent value; None if two are equally frequent."""
    top = Counter(values).most_common(2)
    return top[0][0] if top and (len(top) < 2 or top[0][1] > top[1][1]) else None


class _Field(NamedTuple):
    """One number of the names: what each row and each rail add. `varies` from rail to rail or not."""

    rows: dict[Row, int]
    rails: dict[int, int]

    def at(self, cell: Cell) -> int | None:
        row, rail = self.rows.get(cell[0]), self.rails.get(cell[1])
        return None if row is None or rail is None else row + rail


class LeafNames:
    """The leaf of each cell by the names. `likely` has the leaf that most hosts of a cell are on."""

    def __init__(self, likely: Mapping[Cell, str], leaves: Iterable[str]) -> None:
        numbers = {leaf: numbers_alone(leaf) for leaf in leaves if not canonical_guid(leaf)}
        usual = mode([len(found) for found in numbers.values()]) or 0
        alike = {leaf: found for leaf, found in numbers.items() if len(found) == usual}
        values = {cell: alike[leaf] for cell, leaf in likely.items() if leaf in alike}
        fitted = {place: _fitted({cell: value[place] for cell, value in values.items()}) for place in range(usual)}
        self._fields = {place: found for place, found in fitted.items() if found is not None}
        if all(len(set(found.rails.values())) == 1 for found in self._fields.values()):
            self._fields = {}  # they name pods at most
        self._by_number = grouped(
            (tuple(found[place] for place in self._fields), leaf) for leaf, found in alike.items()
        )

    def at(self, cell: Cell) -> str | None:
        """The leaf of this cell by its name; None if names do not decide."""
        wanted = tuple(found.at(cell) for found in self._fields.values())
        leaves = self._by_number.get(wanted, []) if self._fields and None not in wanted else []  # type: ignore[arg-type] # without None
        return leaves[0] if len(leaves) == 1 else None


def _fitted(values: Mapping[Cell, int]) -> _Field | None:
    """The better of two rules: in equal steps from rail to rail, or the same from rail to rail in every pod."""
    rules = [rule for rails in (_in_steps(values), _by_pods(values)) if (rule := _with_rows(values, rails)) is not None]
    if not rules:
        return None
    best = max(rules, key=lambda rule: _follow(values, rule))
    follow = _follow(values, best)
    return best if follow >= _FEWEST and follow >= _REGULAR * len(values) else None


def _follow(values: Mapping[Cell, int], rule: _Field) -> int:
    return sum(rule.at(cell) == value for cell, value in values.items())


def _in_steps(values: Mapping[Cell, int]) -> dict[int, int]:
    rails = sorted({rail for _, rail in values})
    steps = [
        values[row, high] - values[row, low]
        for row in {row for row, _ in values}
        for low, high in pairwise(rails)
        if high == low + 1 and (row, low) in values and (row, high) in values
    ]
    step = mode(steps)
    return {} if step is None else {rail: step * rail for rail in range(_MOST_RAILS)}


def _by_pods(values: Mapping[Cell, int]) -> dict[int, int]:
    """What each rail adds to the number of the rail that most pods have, in two pods at least."""
    if not values:
        return {}
    base = Counter(rail for _, rail in values).most_common(1)[0][0]
    gaps = grouped((rail, value - values[row, base]) for (row, rail), value in values.items() if (row, base) in values)
    found = {rail: mode(gap) for rail, gap in gaps.items()}
    return {rail: gap for rail, gap in found.items() if gap is not None and gaps[rail].count(gap) > 1}


def _with_rows(values: Mapping[Cell, int], rails: Mapping[int, int]) -> _Field | None:
    starts = grouped((row, value - rails[rail]) for (row, rail), value in values.items() if rail in rails)
    rows = {row: found for row, values_of in starts.items() if (found := mode(values_of)) is not None}
    return _Field(rows, dict(rails)) if rows else None


Column = tuple[int, int]
"""Rail and plane."""
Key = tuple[str, Column]
"""A host and a column: one rail cable."""

REGULAR = 0.95
"""Share of a fabric that follows a rule from which the rule decides where few hosts vote, and about single cables."""


class Wire(NamedTuple):
    """A rail cable as observed: the host's own port, and the leaf's."""

    own: Port
    at: Port


Columns = dict[str, dict[Column, Wire]]
"""The rail cables of each host that has any."""


def clear(votes: Counter[_T]) -> _T | None:
    """The winner of a vote that could not go the other way: three hosts or more, and over two thirds of all."""
    if not votes:
        return None
    winner, count = votes.most_common(1)[0]
    return winner if count >= FEWEST_VOTES and 3 * count > 2 * votes.total() else None


def common_orders(orders: Mapping[str, NicOrder], sure: frozenset[str]) -> tuple[dict[str, NicOrder], list[str]]:
    """For each host the order that most hosts with the same NICs report, and the hosts that report another.

    `sure` are the hosts that report how near their NICs are to GPUs. Of another host's NICs, those count that a sure
    host with the same NICs has in rails: the rest is storage or management.
    """
    models: dict[frozenset[str], Counter[NicOrder]] = defaultdict(Counter)
    for host in sorted(orders, key=lambda host: host not in sure):
        names = frozenset(port for nic in orders[host] for port in nic)
        if host not in sure:
            names = max((model for model in models if model <= names), key=len, default=names)
        models[names][tuple(nic for nic in orders[host] if set(nic) <= names)] += 1
    common = {model: counts.most_common(1)[0][0] for model, counts in models.items()}
    result = {}
    for host, order in orders.items():
        names = frozenset(port for nic in order for port in nic)
        result[host] = common.get(names) or common[max((model for model in common if model <= names), key=len)]
    return result, [host for host in orders if host in sure and orders[host] != result[host]]


@dataclass
class Consensus:
    """Where every rail cable belongs. `of` is its leaf before `renamed`, which maps a leaf's own name to the name that
    the fabric expects there; `expected` is its leaf port. A cable without a decision stays where it is, and `undecided`
    has the reason.
    """

    wires: dict[Key, Wire]
    pods: dict[str, str]
    of: dict[Key, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    undecided: dict[Key, str] = field(default_factory=dict)
    expected: dict[Key, Port] = field(default_factory=dict)

    def named(self, port: Port) -> Port:
        """A leaf's port under the name that the fabric expects of the leaf."""
        return Port(self.renamed.get(port.device, port.device), port.name)

    def in_order(self) -> list[tuple[Key, Wire]]:
        """The cables by host, rail and plane."""
        return sorted(self.wires.items(), key=lambda one: (natural_key(one[0][0]), one[0]))


def leaves_of(columns: Columns) -> Consensus:
    """The leaf of every cable, by the hosts of its pod if they are enough, else by the names of all leaves."""
    seen_on = {host: frozenset(wire.at.device for wire in places.values()) for host, places in columns.items()}
    wires = {(host, column): wire for host, places in columns.items() for column, wire in places.items()}
    found = Consensus(wires, pods_of(seen_on))
    voters = grouped(
        (((found.pods[host], plane), rail), (host, wire.at.device)) for (host, (rail, plane)), wire in wires.items()
    )
    votes = {cell: Counter(leaf for _, leaf in pairs) for cell, pairs in voters.items()}
    own = _own_leaves(columns)
    names = LeafNames(
        {cell: top for cell, counts in votes.items() if (top := mode(counts))}, {*chain(*seen_on.values())}
    )
    found.renamed = _renamed({cell: leaf for cell, counts in votes.items() if (leaf := clear(counts))}, names)
    for cell, counts in votes.items():
        leaf = clear(counts) or _by_name(counts, names.at(cell))
        (_, plane), rail = cell
        for host, seen in voters[cell]:
            found.of[host, (rail, plane)] = leaf or own.get(host, seen)
            if leaf is None and host not in own:
                found.undecided[host, (rail, plane)] = _why(counts, rail, names.at(cell))
    return found


def _own_leaves(columns: Columns) -> dict[str, str]:
    """The leaf of each host by its own cables, where nearly all hosts of the fabric have all of theirs on one leaf."""
    alone = [len({wire.at.device for wire in places.values()}) == 1 for places in columns.values() if len(places) > 1]
    if sum(alone) < max(FEWEST_VOTES, REGULAR * len(alone)):
        return {}
    found = {host: clear(Counter(wire.at.device for wire in places.values())) for host, places in columns.items()}
    return {host: leaf for host, leaf in found.items() if leaf is not None}


def _by_name(counts: Counter[str], named: str | None) -> str | None:
    """The leaf chosen by few hosts together with the names of the fabric's leaves; without names, two that
    agree decide.
    """
    if named is not None:
        return named if named in counts else None
    return next(iter(counts)) if len(counts) == 1 and counts.total() > 1 else None


def _why(counts: Counter[str], rail: int, named: str | None) -> str:
    where = " and ".join(sorted(counts, key=natural_key)[:3])
    if counts.total() == 1:
        return f"rail {rail}: its pod has no other host to compare {where} with"
    if len(counts) == 1 and named is not None:
        return f"rail {rail}: its hosts are on {where}, by the names of the other leaves it is {named}"
    return f"rail {rail}: its hosts are on {where}, neither with enough votes"


def _renamed(leaf_at: Mapping[Cell, str], names: LeafNames) -> dict[str, str]:
    """Leaves that all hosts have in places where the other leaves' names imply another, in closed cycles: labels."""
    stands = grouped((leaf, names.at(cell) or leaf) for cell, leaf in leaf_at.items())
    wanted = {leaf: named[0] for leaf, named in stands.items() if len({*named}) == 1 and named[0] != leaf}
    while left := wanted.keys() ^ set(wanted.values()):
        wanted = {leaf: name for leaf, name in wanted.items() if leaf not in left and name not in left}
    return wanted

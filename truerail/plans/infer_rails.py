"""Rails by consensus: where most hosts of a pod have NIC N, there is rail N; a host that differs is an outlier.

A few hosts are not enough evidence: the whole fabric decides (the names of its leaves), or the place is undecided. A
cable with several possible places stays where it is, and is *undecided*, with the reason.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from truerail.analysis.cabling.dpus import FEWEST_VOTES
from truerail.analysis.cabling.host_nics import NicOrder
from truerail.model import Port
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.plans.infer_names import Cell, LeafNames, mode
from truerail.plans.standing import leaf_groups, pod_of

Column = tuple[int, int]
"""Rail and plane."""
Key = tuple[str, Column]
"""A host and a column: one rail cable."""

REGULAR = 0.95
"""Share of a fabric that follows a rule from which the rule decides where few hosts vote, and about single cables."""


@dataclass
class Columns:
    """The rail cables as observed: `at[host][column]` is the leaf port, `name[host][column]` the host's own port."""

    at: dict[str, dict[Column, Port]] = field(default_factory=lambda: defaultdict(dict))
    name: dict[str, dict[Column, str]] = field(default_factory=lambda: defaultdict(dict))

    def leaves(self) -> dict[str, frozenset[str]]:
        """The leaves of each host that has a cable."""
        return {host: frozenset(port.device for port in places.values()) for host, places in self.at.items() if places}


_T = TypeVar("_T")


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
class Leaves:
    """Which leaf every column of every host belongs to, before `renamed` (a leaf's actual name to the name that the
    fabric expects there). `undecided` holds the cables without a decision, with the reason.
    """

    pods: dict[str, str]
    of: dict[Key, str]
    renamed: dict[str, str]
    undecided: dict[Key, str] = field(default_factory=dict)


def leaves_of(columns: Columns) -> Leaves:
    """The leaf of every cable, by the hosts of its pod if they are enough, else by the names of all leaves."""
    seen_on = columns.leaves()
    groups = leaf_groups(seen_on.values())
    pods = {host: pod_of(leaves, groups) for host, leaves in seen_on.items()}
    voters: dict[Cell, dict[str, str]] = defaultdict(dict)
    for host, places in columns.at.items():
        for (rail, plane), port in places.items():
            voters[(pods[host], plane), rail][host] = port.device
    votes = {cell: Counter(by_host.values()) for cell, by_host in voters.items()}
    own = _own_leaves(columns)
    names = LeafNames({cell: top for cell, counts in votes.items() if (top := mode(counts))}, [*groups])
    found = Leaves(pods, {}, _renamed({cell: leaf for cell, counts in votes.items() if (leaf := clear(counts))}, names))
    for cell, counts in votes.items():
        leaf = clear(counts) or _by_name(counts, names.at(cell))
        (_, plane), rail = cell
        for host, seen in voters[cell].items():
            found.of[host, (rail, plane)] = leaf or own.get(host, seen)
            if leaf is None and host not in own:
                found.undecided[host, (rail, plane)] = _why(counts, rail, names.at(cell))
    return found


def _own_leaves(columns: Columns) -> dict[str, str]:
    """The leaf of each host by its own cables, where nearly all hosts of the fabric have all of theirs on one leaf."""
    alone = [len({port.device for port in places.values()}) == 1 for places in columns.at.values() if len(places) > 1]
    if sum(alone) < max(FEWEST_VOTES, REGULAR * len(alone)):
        return {}
    found = {host: clear(Counter(port.device for port in places.values())) for host, places in columns.at.items()}
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

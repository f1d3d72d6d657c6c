"""Which port of its leaf each rail cable belongs to, where port numbers follow a rule.

On most fabrics a host has the same port number on all its leaves, or numbers at fixed distances. A port's number is
taken as the sum of the host's place and the column's distance. A cable that follows the rule on its right leaf is
right. Any other is wrong only if the evidence is clear: another cable sits in its place, or a whole block is off by the
same amount, or nearly the whole fabric follows the rule. Else a single cable in a free port may be intended: it stays,
undecided.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from truerail.analysis.cabling.host_nics import FEWEST_VOTES
from truerail.analysis.cabling.spellings import form, numbered
from truerail.model import Port
from truerail.model.columns import grouped, tally
from truerail.plans.infer_kinds import Members
from truerail.plans.infer_rails import REGULAR, Column, Columns, Consensus, Key, Wire, clear, leaves_of

_REGULAR = 0.75
"""Share of cables that must follow the rule of port numbers before the others count as wrong."""
_DOUBTFUL = 0.5
"""Share from which a host whose own NICs disagree does not count as right."""
_SHIFTED = 0.2
"""Share of a leaf's hosts in the usual place that shows the others to be shifted, not the leaf to be different."""
_FEWEST_STRICT = 64
"""Cables, at least, of a fabric that follows a rule strictly."""
_ROUNDS = 3
Place = tuple[str, Column]
"""A pod and a column."""


def agree(columns: Columns, found: Members) -> Consensus:
    """The place of every cable: its leaf by its pod and the whole fabric, its port by the rule of port numbers."""
    agreed = leaves_of(columns)
    seen = {key: wire.at for key, wire in agreed.wires.items()}
    rule = _Rule(seen, agreed)
    regular = rule.follow >= _REGULAR * len(seen)
    holders = {port: key for key, port in seen.items()}
    for key, port in seen.items():
        leaf = agreed.renamed.get(agreed.of[key], agreed.of[key])
        own = agreed.named(port)
        target = rule.target(key, leaf) if regular else None
        if target is None and own.device != leaf:
            target = _own_port_on(leaf, columns[key[0]], agreed)
        agreed.expected[key] = own
        if key in agreed.undecided or (own.device == leaf and target == own):
            continue
        if own.device == leaf and target is None:
            if rule.follow >= _DOUBTFUL * len(seen) and rule.torn(key[0]):
                agreed.undecided[key] = "the NICs of its host have different port numbers on their leaves"
            continue
        if target is None:
            agreed.undecided[key] = f"its leaf is {leaf}, its port there is unknown"
        elif own.device == leaf and rule.contested.get(rule.at(key)):
            agreed.undecided[key] = f"the ports of {leaf} follow two patterns, neither with enough hosts"
        elif key[0] in found.unsure:
            agreed.undecided[key] = f"its leaf would be {leaf}, but {found.unsure[key[0]]}"
        elif own.device != leaf or rule.is_off(key) or rule.strict or _swapped(key, target, holders, rule, agreed):
            agreed.expected[key] = target
        else:
            agreed.undecided[key] = f"it is on its leaf, but in another port than its host's other NICs ({target.name})"
    if rule.follow >= _DOUBTFUL * len(seen):
        _doubt_contested(agreed, rule)
    _keep_apart(agreed)
    return agreed


def _doubt_contested(agreed: Consensus, rule: "_Rule") -> None:
    """Leaves whose ports follow two rules; a host with few NICs whose place depends on them is undecided entirely."""
    contested = [key for key in agreed.expected if rule.contested.get(rule.at(key))]
    hosts = {host for host, _ in contested if not rule.sure(host)}
    for key in contested:
        why = f"the ports of {agreed.of[key]} follow two patterns, neither with enough hosts"
        agreed.undecided.setdefault(key, why)
    for key in agreed.expected:
        if key[0] in hosts and rule.follows(key):
            agreed.undecided.setdefault(key, "the ports of its host's other NICs are not decided")


def _swapped(key: Key, target: Port | None, holders: dict[Port, Key], rule: "_Rule", agreed: Consensus) -> bool:
    """Whether another cable that is not in its own place sits where this one belongs, and this host's place is sure."""
    back = {name: leaf for leaf, name in agreed.renamed.items()}
    holder = target and holders.get(Port(back.get(target.device, target.device), target.name))
    return bool(holder) and rule.sure(key[0]) and not rule.follows(holder) and rule.sure(holder[0])  # type: ignore[arg-type,index] # it is one


def _own_port_on(leaf: str, places: Mapping[Column, Wire], agreed: Consensus) -> Port | None:
    """Without a rule, a cable on a wrong leaf gets the port that its own host holds on the right one."""
    held = [port for wire in places.values() if (port := agreed.named(wire.at)).device == leaf]
    return held[0] if len(held) == 1 else None


def _keep_apart(agreed: Consensus) -> None:
    """No two cables in one port: of two, the one that is actually there has it; the other stays, undecided."""
    own = {key: agreed.named(wire.at) for key, wire in agreed.wires.items()}
    holders = defaultdict(list, grouped((port, key) for key, port in agreed.expected.items()))
    crowded = [port for port, keys in holders.items() if len(keys) > 1]
    while crowded:
        port = crowded.pop()
        keys, holders[port] = holders[port], [key for key in holders[port] if own[key] == port]
        for key in keys:
            if own[key] != port:
                agreed.expected[key] = own[key]
                agreed.undecided[key] = f"its leaf is {port.device}, but its port there, {port.name}, has another cable"
                holders[own[key]].append(key)
                if len(holders[own[key]]) > 1:
                    crowded.append(own[key])


class _Rule:
    """The rule of port numbers: the place of each host, and the distance of each column of a pod."""

    def __init__(self, seen: dict[Key, Port], leaves: Consensus) -> None:
        places = numbered({port.name for port in seen.values()})
        self._names = {(form(name), place): name for name, place in places.items()}
        self._pods = leaves.pods
        self._number = {key: places[port.name] for key, port in seen.items()}
        on_leaf = {key for key, port in seen.items() if port.device == leaves.of[key]}
        hosts = {host for host, _ in on_leaf}
        self._voting = [key for key in seen if key in on_leaf or key[0] not in hosts]
        self._rank = _ranks(leaves)
        self._place, self._distance = self._fit()
        self.contested: dict[Place, bool] = {}
        self._settle()
        self._votes = tally((key[0], self._number[key] - self._distance[self.at(key)]) for key in self._voting)
        self._place = {host: votes.most_common(1)[0][0] for host, votes in self._votes.items()}
        self.follow = sum(map(self.follows, seen))
        self.strict = self.follow >= max(_FEWEST_STRICT, REGULAR * len(seen))
        self._shape = _shapes(seen)
        offsets = Counter((self.at(key), self._off(key)) for key in on_leaf if self._off(key))
        self._blocks = {block for block, count in offsets.items() if count >= FEWEST_VOTES}

    def at(self, key: Key) -> Place:
        """The pod and the column of a cable."""
        return self._pods[key[0]], key[1]

    def _off(self, key: Key) -> int:
        return self._number[key] - self._place.get(key[0], 0) - self._distance.get(self.at(key), 0)

    def follows(self, key: Key) -> bool:
        """Whether the cable's port number follows the rule."""
        return key[0] in self._place and self._off(key) == 0

    def sure(self, host: str) -> bool:
        """Whether the host's place is unambiguous: of a strict rule, also if two of three cables agree."""
        votes = self._votes[host]
        return clear(votes) is not None or (self.strict and 2 * max(votes.values()) > max(votes.total(), 2))

    def torn(self, host: str) -> bool:
        """Whether the host's place is ambiguous."""
        return len(self._votes[host]) > 1 and not self.sure(host)

    def is_off(self, key: Key) -> bool:
        """Whether the cable is one of a block that is off by the same amount, of a host whose place is sure."""
        return (self.at(key), self._off(key)) in self._blocks and self.sure(key[0])

    def target(self, key: Key, leaf: str) -> Port | None:
        """The port by the rule; None if no port of the fabric has that number or the host has no place."""
        if not self._votes.get(key[0]) or self.torn(key[0]):
            return None
        place = self._place[key[0]] + self._distance.get(self.at(key), 0)
        name = self._names.get((self._shape.get(leaf, ""), place))
        return None if name is None else Port(leaf, name)

    def _fit(self) -> tuple[dict[str, int], dict[Place, int]]:
        """Places and distances in turns, by majority; then the distance that most columns have is 0."""
        distance: dict[Place, int] = defaultdict(int)
        place: dict[str, int] = {}
        for _ in range(_ROUNDS):
            by_host = tally((key[0], self._number[key] - distance[self.at(key)]) for key in self._voting)
            place = {host: votes.most_common(1)[0][0] for host, votes in by_host.items()}
            by_column = tally((self.at(key), self._number[key] - place[key[0]]) for key in self._voting)
            distance = defaultdict(int, {at: votes.most_common(1)[0][0] for at, votes in by_column.items()})
        usual = tally((at[0], gap) for at, gap in distance.items() if self._rank.get(at, 0) == 0)
        zero = {pod: gaps.most_common(1)[0][0] for pod, gaps in usual.items()}
        place = {host: number + zero.get(self._pods[host], 0) for host, number in place.items()}
        return place, {at: gap - zero.get(at[0], 0) for at, gap in distance.items()}

    def _settle(self) -> None:
        """A column whose hosts differ: the distance that the columns of all pods have, where it is a rule. A column of
        few hosts has the distance that it has in other pods, unless several have another one.
        """
        votes = tally((self.at(key), self._number[key] - self._place[key[0]]) for key in self._voting)
        shared: Iterator[tuple[int | Column, int]] = (
            (key, own) for at, own in self._distance.items() for key in (self._rank.get(at, 0), at[1])
        )
        usual = tally(shared)
        for at, counts in votes.items():
            few, own, same = counts.total() < FEWEST_VOTES, self._distance[at], usual[at[1]]
            gap = _common(same)
            if few and gap is not None and (own == gap or same[own] < FEWEST_VOTES):
                self._distance[at] = gap
                continue
            gap = _common(usual[self._rank.get(at, 0)])
            if gap is not None and own == gap:
                continue
            if len(counts) == 1:
                self.contested[at] = gap is not None and few
            elif gap is not None and counts[gap]:
                self._distance[at] = gap
                self.contested[at] = counts[gap] < _SHIFTED * counts.total()
            else:
                self.contested[at] = clear(counts) is None


def _common(gaps: Counter[int]) -> int | None:
    """The distance that nearly all columns have, and at least three."""
    gap, count = gaps.most_common(1)[0]
    return gap if count >= max(FEWEST_VOTES, _REGULAR * gaps.total()) else None


def _ranks(leaves: Consensus) -> dict[Place, int]:
    """The rank of each column on its leaf, if a leaf serves several."""
    on = grouped(((leaves.pods[host], leaf), column) for (host, column), leaf in leaves.of.items())
    return {(pod, column): rank for (pod, _), held in on.items() for rank, column in enumerate(sorted({*held}))}


def _shapes(seen: dict[Key, Port]) -> dict[str, str]:
    """The form of the names of most ports of each leaf."""
    votes = tally((port.device, form(port.name)) for port in seen.values())
    return {leaf: counts.most_common(1)[0][0] for leaf, counts in votes.items()}

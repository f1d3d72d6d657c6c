"""Which hosts take part in the rails, and which port of its leaf each of their cables belongs to."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from truerail.analysis.cabling.host_nics import FEWEST_VOTES, HostSays, NicOrder
from truerail.analysis.cabling.spellings import form, numbered, sort_of
from truerail.model import Port
from truerail.model.columns import grouped, tally
from truerail.plans.infer_rails import REGULAR, Column, Columns, Consensus, Key, Wire, clear, leading, leaves_of

# ----------------------------------------------------------------------------------------------------------------------
# Which hosts take part in the rails, and with which NICs: hosts vote among their own kind.
#
# Hosts of one kind have the same number and names of NICs. The kind with the most cables defines the rails (one that
# reports its GPUs comes first). Another kind takes part if it reports GPUs near its NICs, has as many NICs, or at
# least half as many on several hosts; a server with other adapters (management, storage) is no part of the rails.

_STRANGE = "its name does not match those of the other hosts"


@dataclass
class Members:
    """`order` gives the rail NICs of every host that takes part, `apart` the reason why a host does not.

    `unsure` are hosts of which too little is known for a move: a few of their NICs, a kind of their own, or a name
    unlike all others.
    """

    main: NicOrder = ()
    order: dict[str, NicOrder] = field(default_factory=dict)
    apart: dict[str, str] = field(default_factory=dict)
    unsure: dict[str, str] = field(default_factory=dict)


def members(
    held: Mapping[str, Mapping[str, Port]], orders: Mapping[str, NicOrder], says: Mapping[str, HostSays]
) -> Members:
    """Sorts the hosts that have cables (`held`: host to its ports to the ports at the other end)."""
    kinds = Counter(orders.values())
    if not kinds:
        return Members()
    near = Counter(order for host, order in orders.items() if host in says and says[host].near)
    main = max(kinds, key=lambda order: (order in near, len(order) * kinds[order], len(order)))
    found = Members(main)
    shapes = Counter(sort_of(host) for host in held if orders.get(host) == main)
    whole = {sort_of(host) for host in held if host in orders}
    for host, ports in held.items():
        order = orders.get(host)
        if order is None:
            _place_partial(found, host, ports, kinds, whole)
        elif _takes_part(order, kinds, near, main):
            found.order[host] = order
            if order != main and order not in near and kinds[order] < FEWEST_VOTES:
                found.unsure[host] = "few hosts have its adapters"
            elif sort_of(host) not in shapes and order not in near:
                found.unsure[host] = _STRANGE
        else:
            found.apart[host] = f"{len(order)} NICs where most have {len(main)}"
    few = {shape for shape, count in shapes.items() if count < FEWEST_VOTES and count * 4 < shapes.total()}
    for host, order in found.order.items():
        if sort_of(host) in few and order not in near:
            found.unsure.setdefault(host, _STRANGE)
    return found


def _takes_part(order: NicOrder, kinds: Counter[NicOrder], near: Counter[NicOrder], main: NicOrder) -> bool:
    if order == main or order in near or len(order) == len(main):
        return True
    return 2 * len(order) >= len(main) and kinds[order] >= FEWEST_VOTES


def _place_partial(
    found: Members, host: str, ports: Mapping[str, Port], kinds: Counter[NicOrder], whole: Collection[str]
) -> None:
    """The kind of a host that reports not all of its NICs, or none: the one with most of the observed ports. `whole`
    are the forms of the names of hosts that report all: under another name, half of the NICs are a server beside the
    rails.
    """
    share = {order: len(ports.keys() & by_name(order).keys()) for order in kinds}
    best = max(share, key=lambda order: (share[order], kinds[order]))
    if not share[best]:
        return
    strange = sort_of(host) not in whole
    if strange and 2 * share[best] <= len(by_name(best)):
        found.apart[host] = f"{share[best]} NICs where most have {len(found.main)}"
        return
    found.order[host] = best
    if 2 * share[best] < len(by_name(best)):
        found.unsure[host] = f"only {share[best]} of its NICs are found"
    elif strange:
        found.unsure[host] = _STRANGE


def by_name(order: NicOrder) -> dict[str, Column]:
    """The rail and plane of each NIC port, by the place in the order."""
    return {name: (rail, plane) for rail, ports in enumerate(order) for plane, name in enumerate(ports)}


def align(columns: Columns, found: Members) -> None:
    """Brings the other kinds to the rails of the main one, by the leaves that their NICs reach.

    A server with four NICs may use rails 0, 2, 4, 6. A few hosts of a kind are not enough evidence: unless their NICs
    reach the leaves in the order of the rails, they are unsure.
    """
    column_of = columns_of_leaves(columns, found)
    others = [host for host in columns if found.order[host] != found.main]
    ends = ((found.order[host], column, wire.at.device) for host in others for column, wire in columns[host].items())
    votes = tally(((order, column), column_of[leaf]) for order, column, leaf in ends if leaf in column_of)
    fits = {order: _fit(order, votes, found) for order in {found.order[host] for host in others}}
    for host in others:
        fit = fits[found.order[host]]
        if fit is None:
            found.unsure.setdefault(host, "the NICs of its kind do not follow the order of the rails")
        else:
            columns[host] = {fit.get(column, column): wire for column, wire in columns[host].items()}


def _fit(
    order: NicOrder, votes: Mapping[tuple[NicOrder, Column], Counter[Column]], found: Members
) -> dict[Column, Column] | None:
    """The main kind's column for each of this kind; None where neither votes nor the order of the rails decide."""
    places = sorted(by_name(order).values())
    top = {column: votes[order, column].most_common(1)[0][0] for column in places if votes[order, column]}
    certain = all(clear(votes[order, column]) == rail for column, rail in top.items())
    if len(order) == len(found.main):
        differ = {column for column, rail in top.items() if column != rail}
        return top if differ and certain and len(set(top.values())) == len(places) else {}
    fit = {column: top.get(column, column) for column in places}
    rising = [fit[column] for column in places]
    return fit if len(set(rising)) == len(rising) and (rising == sorted(rising) or certain) else None


def columns_of_leaves(columns: Columns, found: Members) -> dict[str, Column]:
    """The column of each leaf that has one column only, for most cables of the main kind."""
    mine = (places for host, places in columns.items() if found.order.get(host) == found.main)
    counts = tally((wire.at.device, column) for places in mine for column, wire in places.items())
    return {leaf: one.most_common(1)[0][0] for leaf, one in counts.items() if 3 * max(one.values()) > 2 * one.total()}


# ----------------------------------------------------------------------------------------------------------------------
# Which port of its leaf each rail cable belongs to, where port numbers follow a rule.
#
# On most fabrics a host has the same port number on all its leaves, or numbers at fixed distances. A port's number is
# taken as the sum of the host's place and the column's distance. A cable that follows the rule on its right leaf is
# right. Any other is wrong only if the evidence is clear: another cable sits in its place, or a whole block is off by
# the same amount, or nearly the whole fabric follows the rule. Else a single cable in a free port may be intended: it
# stays, undecided.

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
        self._shape = leading((port.device, form(port.name)) for port in seen.values())
        """The form of the names of most ports of each leaf."""
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
            place = leading((key[0], self._number[key] - distance[self.at(key)]) for key in self._voting)
            by_column = leading((self.at(key), self._number[key] - place[key[0]]) for key in self._voting)
            distance = defaultdict(int, by_column)
        zero = leading((at[0], gap) for at, gap in distance.items() if self._rank.get(at, 0) == 0)
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

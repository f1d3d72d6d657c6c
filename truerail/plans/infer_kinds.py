"""Which hosts take part in the rails, and with which NICs: hosts vote among their own kind.

Hosts of one kind have the same number and names of NICs. The kind with the most cables defines the rails (one that
reports its GPUs comes first). Another kind takes part if it reports GPUs near its NICs, has as many NICs, or at
least half as many on several hosts; a server with other adapters (management, storage) is no part of the rails.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from truerail.analysis.cabling.host_nics import FEWEST_VOTES, HostSays, NicOrder
from truerail.analysis.cabling.spellings import sort_of
from truerail.model import Port
from truerail.model.columns import tally
from truerail.plans.infer_rails import Column, Columns, clear

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

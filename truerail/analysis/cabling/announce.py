"""Which device announces which name.

A device may announce another device's hostname, or one that is not in the plan. Two witnesses show this: its MACs,
which its own list of interfaces contains, and the other ends of its cables: where u hears port q of X, but port q of
device D hears u, then D announces itself as X.
"""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.model.columns import NONE, Codes, distinct
from truerail.model.index import PlanIndex

_TIMES_ITS_OWN = 4
"""How many times as often as under its own name a device must be heard under another's to count as announcing it."""
_TIMES_IN_CYCLE = 2
"""The same for devices that bear each other's names in a closed circle, taken together. Neighbours that a port still
shows point to scattered names, and a MAC that two devices share is found under both of their names equally often:
neither closes a circle by a majority at each device.
"""


def announced(
    index: PlanIndex, claims: Claims, more: Codes | None = None
) -> tuple[dict[int, int], dict[int, int], dict[int, tuple[int, ...]]]:
    """Names and the devices that announce them: (unplanned names and their owners, devices under another's name, shared
    names).

    A device that is heard under its own name as well does not announce another's: its MAC is found on both. A name that
    is not in the plan and that several devices announce, such as a factory default, has no owner.

    `more` are further votes: a name announced << 32 | the device that owns it.
    """
    votes = _votes(index, claims, more)
    planned = index.devices.planned
    by_owner: dict[int, Counter[int]] = {}
    for (name, owner), count in votes.items():
        by_owner.setdefault(owner, Counter())[name] = count
    circled = _circled(by_owner, planned)
    says: dict[int, set[int]] = {}
    for owner, counts in by_owner.items():
        name, count = _most(counts)
        sure = count >= 2 and (owner in circled or count >= _TIMES_ITS_OWN * counts[owner])
        if name >= planned or name == owner or sure:
            says.setdefault(name, set()).add(owner)
    names = {name: min(owners) for name, owners in says.items() if name >= planned and len(owners) == 1}
    says = {name: owners for name, owners in says.items() if name < planned or len(owners) > 1}
    _without_swapped(index, claims, votes, says)
    duplicates = {name: tuple(sorted(owners)) for name, owners in says.items() if len(owners) > 1}
    announces = {owner: name for name, owners in says.items() if len(owners) == 1 for owner in owners if owner != name}
    return names, announces, duplicates


def _most(counts: Counter[int]) -> tuple[int, int]:
    """The name with the most votes, and their number."""
    ((name, count),) = counts.items() if len(counts) == 1 else counts.most_common(1)
    return name, count


def _circled(by_owner: Mapping[int, Counter[int]], planned: int) -> frozenset[int]:
    """Planned devices that bear each other's names in a closed circle."""
    bears: dict[int, int] = {}
    for owner, counts in by_owner.items():
        name, count = _most(counts)
        if owner != name and max(owner, name) < planned and count > counts[owner]:
            bears[owner] = name
    found: set[int] = set()
    open_ends = set(bears)
    while open_ends:
        walk = [open_ends.pop()]
        while (following := bears.get(walk[-1], NONE)) in open_ends:
            open_ends.remove(following)
            walk.append(following)
        circle = walk[walk.index(following) :] if following in walk else []
        others = sum(by_owner[one][bears[one]] for one in circle)
        if others >= _TIMES_IN_CYCLE * sum(by_owner[one][one] for one in circle):
            found.update(circle)
    return frozenset(found)


def _without_swapped(
    index: PlanIndex, claims: Claims, votes: Counter[tuple[int, int]], says: dict[int, set[int]]
) -> None:
    """Removes hosts from the names of others where the only evidence comes from swapped switches: what hears such a
    switch hears the other.
    """
    swapped = _swapped_switches(index, votes) if any(len(owners) > 1 for owners in says.values()) else None
    if swapped:
        sure = _votes(index, claims.where(~np.isin(index.ports.device_of(claims.u), list(swapped))), None)
        for name, owners in says.items():
            if name in owners:
                owners -= {one for one in owners if one != name and index.devices.is_host(one) and not sure[name, one]}


def _swapped_switches(index: PlanIndex, votes: Counter[tuple[int, int]]) -> frozenset[int]:
    """Planned switches under each other's names, by most of the evidence for each."""
    best: dict[int, tuple[int, int]] = {}
    for (name, owner), count in sorted(votes.items()):
        if max(name, owner) < index.devices.planned and not index.devices.is_host(owner):
            best[owner] = max(best.get(owner, (0, NONE)), (count, name))
    return frozenset(owner for owner, (_, name) in best.items() if name != owner and name in best)


def _votes(index: PlanIndex, claims: Claims, more: Codes | None) -> Counter[tuple[int, int]]:
    """(name announced, device that owns it) with the number of claims that support it, wherever there is a witness."""
    pairs = [_pack(claims.named, claims.witness), _reverse_votes(index, claims)]
    if more is not None:
        pairs.append(more)
    packed, counts = np.unique(np.concatenate(pairs), return_counts=True)
    votes = zip(packed.tolist(), counts.tolist(), strict=True)
    return Counter({(pair >> 32, pair & 0xFFFFFFFF): count for pair, count in votes if pair >= 0})


def _reverse_votes(index: PlanIndex, claims: Claims) -> Codes:
    """Votes of the other ends, packed: u hears X, no port of X hears u, but a port of device D does, and of no other
    device.
    """
    ports = index.ports
    hears = np.flatnonzero((claims.v >= 0) & (claims.v != claims.u))
    back = distinct(claims.v[hears] << 32 | ports.device_of(claims.u[hears]))
    if not len(back):
        return np.empty(0, dtype=np.int64)
    _, start, count = np.unique(back >> 32, return_index=True, return_counts=True)
    heard = back[start] >> 32
    known = np.flatnonzero(claims.w >= 0)
    u, w, name = claims.u[known], claims.w[known], claims.named[known]
    agreed = np.isin(u << 32 | w, back)
    place = np.minimum(np.searchsorted(heard, u), len(heard) - 1)
    only = (heard[place] == u) & (count[place] == 1)
    other, hit = back[start[place]] & 0xFFFFFFFF, ~agreed & only
    return np.concatenate([_pack(name[agreed], name[agreed]), _pack(name[hit], other[hit])])


def _pack(name: Codes, owner: Codes) -> Codes:
    return np.where((name >= 0) & (owner >= 0), name << 32 | owner, NONE)

"""Blocks of ports that are off by k on one leaf: a trunk plugged one port too far, a patch panel counted backwards.

Wrong cables that stay on their leaf vote for (leaf, seen position - planned position). A run of neighbouring
positions with one offset, too long for chance, is a shifted block; a block that exceeds its own end continues at its
start.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from truerail.causes.observed_links import Chain, ObservedLinks, chains
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.index import PlanIndex
from truerail.model.names import natural_key

MIN_RUN = 3
"""Neighbouring cables with one offset. Two are as likely a swap or two moves as a shift."""
MIN_BLOCK = 4
"""Cables of a block that wraps to its own start: three would be a rotation."""


@dataclass(frozen=True)
class Shift:
    """A shifted block on `leaf`: `offset` in ports, and the rows of its sightings."""

    leaf: int
    offset: int
    rows: Codes


def blocks(s: ObservedLinks, left: list[Shift], *, whole: bool = False) -> Iterator[tuple[Shift, list[int]]]:
    """Each shifted block of `left`, and its sightings in the order of the moves, with those that can only move with it:
    all of a cycle, and what is between two cables of the block in a path, or, with `whole`, all of that. Blocks that
    share a chain are one.
    """
    of = {row: chain for chain in chains(s) for row in chain.rows}
    while left:
        rows, size = left[0].rows.tolist(), 0
        while len(rows) > size:
            size, its = len(rows), dict.fromkeys(of[row] for row in rows)
            rows = [row for one in left if not its.keys().isdisjoint(of[r] for r in one.rows) for row in one.rows]
        yield left[0], [row for chain in its for row in (chain.rows if whole else _moved_with(chain, {*rows}))]
        left = [one for one in left if its.keys().isdisjoint(of[row] for row in one.rows)]


def _moved_with(chain: Chain, rows: Collection[int]) -> Sequence[int]:
    at = [place for place, row in enumerate(chain.rows) if row in rows]
    return chain.rows if chain.closed else chain.rows[at[0] : at[-1] + 1]


def shifts(s: ObservedLinks) -> list[Shift]:
    """All shifted blocks among the wrong sightings, longest first."""
    ports = s.index.ports
    want = s.index.b[s.taken_for]
    leaf = ports.device_of(want)
    rows = np.flatnonzero(s.wrong & s.index.from_host[s.taken_for] & (ports.device_of(s.place) == leaf))
    if len(rows) < MIN_RUN:
        return []
    found: list[Shift] = []
    for device in distinct(leaf[rows]).tolist():
        own = rows[leaf[rows] == device]
        if len(own) >= MIN_RUN:
            found += _on_leaf(s, device, own)
    return sorted(found, key=lambda f: (-len(f.rows), f.leaf, f.offset))


def _on_leaf(s: ObservedLinks, leaf: int, rows: Codes) -> Iterator[Shift]:
    lost = np.flatnonzero((s.index.b_device == leaf) & s.index.from_host)
    lost = lost[~np.isin(lost, s.taken_for)]
    position = positions(s.index, leaf, np.concatenate([s.index.b[s.taken_for[rows]], s.place[rows], s.index.b[lost]]))
    planned, seen, unseen = np.split(position, [len(rows), 2 * len(rows)])
    for k, inside in shifted_runs(planned, seen, unseen):
        yield Shift(leaf, k, rows[inside])


def shifted_runs(planned: Codes, seen: Codes, unseen: Codes) -> Iterator[tuple[int, Codes]]:
    """The runs of neighbouring positions that are off by k, each with its k; `unseen` are positions of cables that are
    seen nowhere.
    """
    used = np.zeros(len(planned), dtype=bool)
    offset = seen - planned
    values, counts = np.unique(offset, return_counts=True)
    for k in values[np.lexsort((np.abs(values), -counts))].tolist():
        block = _longest_run(planned, (offset == k) & ~used)
        if len(block) < MIN_RUN:
            continue
        inside = _wrapped(planned, seen, block, used)
        if len(inside) == len(block):
            inside = _wrapped_in_part(planned, seen, block, used, unseen)
        free_end = len(inside) == len(block)
        if free_end or len(inside) >= MIN_BLOCK:
            used[inside] = True
            yield int(k), inside


def _longest_run(planned: Codes, mask: Mask) -> Codes:
    """The longest run of neighbouring planned positions in the mask; an unseen cable may leave a gap of one."""
    chosen = np.flatnonzero(mask)
    chosen = chosen[np.argsort(planned[chosen], kind="stable")]
    if not len(chosen):
        return chosen
    return max(np.split(chosen, np.flatnonzero(np.diff(planned[chosen]) > 2) + 1), key=len)


def _wrapped(planned: Codes, seen: Codes, block: Codes, used: Mask) -> Codes:
    """The block, including cables pushed over its end that sit at its start."""
    low = min(int(planned[block].min()), int(seen[block].min()))
    high = max(int(planned[block].max()), int(seen[block].max()))
    inside = np.flatnonzero((planned >= low) & (planned <= high) & (seen >= low) & (seen <= high) & ~used)
    closes = set(planned[inside].tolist()) == set(seen[inside].tolist())
    return inside if closes else block


def _wrapped_in_part(planned: Codes, seen: Codes, block: Codes, used: Mask, unseen: Codes) -> Codes:
    """The block, including cables pushed over its end, if some of its cables are seen nowhere (`unseen` are their
    planned positions): of n neighbouring positions, each visible cable is k further, modulo n.
    """
    k = int(seen[block[0]] - planned[block[0]])
    back = (seen - planned) * np.sign(k) < 0
    lost = set(unseen.tolist())
    for n in sorted({abs(k - int(one)) for one in (seen - planned)[back & ~used]}):
        around = np.flatnonzero(back & ~used & (np.abs(k - (seen - planned)) == n))
        chosen: Codes = np.concatenate([block, around])
        ends = np.concatenate([planned[chosen], seen[chosen]])
        its = set(planned[chosen].tolist())
        for low in range(int(ends.max()) - n + 1, int(ends.min()) + 1):
            high = low + n - 1
            over = seen[around] - low if k > 0 else high - seen[around]
            if (over < abs(k)).all() and its.union(lost).issuperset(range(low, high + 1)):
                return chosen
    return block


def positions(index: PlanIndex, leaf: int, ports: Codes) -> Codes:
    """The position of each port on its leaf: planned ports in natural order; spare ports continue the count by
    their number.
    """
    planned = distinct(np.concatenate([index.b[index.b_device == leaf], index.a[index.a_device == leaf]]))
    everything = distinct(np.concatenate([planned, ports]))
    names = [index.ports.key(int(p)) for p in everything]
    numbers = np.array([_last_number(name) for name in names])
    stems = {natural_key(name)[:-1] for name in names}
    if len(stems) == 1 and (numbers != NONE).all():
        step = int(np.gcd.reduce(np.diff(np.sort(numbers)))) or 1
        position = dict(zip(everything.tolist(), (numbers // step).tolist(), strict=True))
    else:
        order = sorted(range(len(names)), key=lambda i: natural_key(names[i]))
        position = {int(everything[i]): rank for rank, i in enumerate(order)}
    return np.array([position[int(p)] for p in ports], dtype=np.int64)


def _last_number(name: str) -> int:
    numbers = [part[1] for part in natural_key(name) if part[0] == 0]
    return numbers[-1] if numbers else NONE

"""Hosts whose NICs are named in another order than the plan assumes: nothing to move, whatever LLDP says by name.

The witness is the host's own topology. A NIC that is seen on rail 5 and sits nearest to GPU 5 is right where it
is: its name is not the one the plan expects there. A NIC that is seen on rail 5 and sits nearest to GPU 3 has a
wrong cable. Without a topology, a whole new order (four NICs or more) is more likely one BIOS setting than four
cables; an exchange of two is more likely a pair of cables. Both are named then.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from truerail.causes.sightings import Sightings
from truerail.model.paths import GpuRails
from truerail.model.snapshot import Codes

MIN_WITHOUT_TOPOLOGY = 4
MIN_HOSTS_FOR_ONE_CAUSE = 3


@dataclass(frozen=True)
class NicOrder:
    """Hosts with the same wrong order: the rows of their sightings, and the cables that these really are."""

    hosts: tuple[int, ...]
    rows: Codes
    cables: Codes
    order: tuple[tuple[int, int], ...]
    """(rail by name, rail by position), ascending; only those that differ."""
    witnessed: bool


def nic_orders(s: Sightings, gpus: GpuRails) -> list[NicOrder]:
    """All hosts in whose sightings the NIC order explains every wrong cable that stays inside the host."""
    resident = s.resident()
    owner = s.index.a_device[s.taken_for]
    inside = s.wrong & (resident >= 0) & s.index.from_host[s.taken_for]
    inside &= s.index.a_device[resident] == owner
    rows = np.flatnonzero(inside)
    rows = rows[np.argsort(owner[rows], kind="stable")]
    if not len(rows):
        return []
    starts = np.flatnonzero(np.r_[True, np.diff(owner[rows]) != 0])
    single = [
        found for part in np.split(rows, starts[1:]) for found in _of_host(s, gpus, int(owner[part[0]]), part, resident)
    ]
    return _joined(single)


def _of_host(s: Sightings, gpus: GpuRails, host: int, rows: Codes, resident: Codes) -> Iterator[NicOrder]:
    index = s.index
    by_name = index.rail[s.taken_for[rows]]
    by_place = index.rail[resident[rows]]
    if (by_name < 0).any() or (by_place < 0).any():
        return
    near = gpus.near[index.a[s.cable[rows]]]
    says_place = (near >> by_place & 1 == 1) & (near >> by_name & 1 == 0)
    says_name = (near >> by_name & 1 == 1) & (near >> by_place & 1 == 0)
    closed = set(by_name.tolist()) == set(by_place.tolist())
    told = bool((near != 0).any())
    cleared = bool(says_place.any() and not says_name.any())
    likely = not told and closed and len(rows) >= MIN_WITHOUT_TOPOLOGY
    if not cleared and not likely:
        return
    order = tuple(sorted(zip(by_name.tolist(), by_place.tolist(), strict=True)))
    yield NicOrder((host,), rows, resident[rows], order, told)


def _joined(single: list[NicOrder]) -> list[NicOrder]:
    """One order on three hosts or more is one cause: a model's firmware, or the plan's own idea of the order."""
    groups: dict[tuple[tuple[tuple[int, int], ...], bool], list[NicOrder]] = {}
    for found in single:
        groups.setdefault((found.order, found.witnessed), []).append(found)
    joined: list[NicOrder] = []
    for (order, witnessed), members in groups.items():
        if len(members) < MIN_HOSTS_FOR_ONE_CAUSE:
            joined += members
            continue
        joined.append(
            NicOrder(
                tuple(sorted(h for m in members for h in m.hosts)),
                np.concatenate([m.rows for m in members]),
                np.concatenate([m.cables for m in members]),
                order,
                witnessed,
            )
        )
    return joined

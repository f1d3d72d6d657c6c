"""Which plug of each wrong cable is to move, where that is not the upper one of all.

Cables between two hosts, or two switches of one tier, have no lower end. Nor do those of a chain in which a lower end
is found at another's lower end: a host's plug and an uplink's are exchanged at their leaf.
A cable in a wrong place is seen at both of its ends, in the places of two planned cables; each would move another plug
of it. So its planned cable is turned where needed: along a chain of places, each cable keeps the plug that the next one
does not take. Of the two ways to do so, that with more plugs that stay at their device is the shorter walk.
"""

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import State, Wiring
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.index import PlanIndex


def turned(wiring: Wiring) -> tuple[PlanIndex, Codes]:
    """The plan and the places of its cables, both as they are if no lower end is found at a lower one."""
    index = wiring.index
    tier = index.devices.tiers
    peers = (tier[index.a_device] == tier[index.b_device]) & (tier[index.a_device] != NONE)
    alike = np.isin(wiring.partner[index.a], index.a) | np.isin(wiring.partner[index.b], index.b)
    wrong = np.flatnonzero((peers & (wiring.state == State.WRONG)) | (alike & (wiring.state != State.UNKNOWN)))
    if not len(wrong):
        return index, wiring.place
    a, b = index.a.tolist(), index.b.tolist()
    far = dict(zip([*a, *b], [*b, *a], strict=True))
    kept: set[int] = set()
    met: set[int] = set()
    for port in index.a[wrong].tolist():
        if port not in met:
            ways = _ways(wiring, far, port)
            met |= {*ways[0], *ways[1]}
            kept |= min(ways, key=lambda way: _walks(wiring, far, way))
    turn = ~np.isin(index.a, [*kept]) & np.isin(index.b, [*kept])
    return _with(index, turn), np.where(turn, wiring.partner[index.b], wiring.place)


def _ways(wiring: Wiring, far: Mapping[int, int], port: int) -> tuple[set[int], set[int]]:
    """The ports of a chain in turns: of each cable, planned or found, one end is in either set."""
    ways: tuple[set[int], set[int]] = ({port}, set())
    ahead = [(port, 0)]
    while ahead:
        here, way = ahead.pop()
        for there in (far.get(here, NONE), int(wiring.partner[here])):
            if there >= 0 and there not in ways[1 - way]:
                ways[1 - way].add(there)
                ahead.append((there, 1 - way))
    return ways


def _walks(wiring: Wiring, far: Mapping[int, int], kept: Collection[int]) -> tuple[int, int]:
    """How many plugs would move to another device, or are not seen, if those in these ports stay; and turned cables."""
    device = wiring.index.ports.device_of
    stay = np.array([port for port in kept if port in far], dtype=np.int64)
    found, to = wiring.partner[stay], np.array([far[port] for port in stay.tolist()], dtype=np.int64)
    return int(np.count_nonzero((found < 0) | (device(found) != device(to)))), int(np.isin(wiring.index.b, stay).sum())


def _with(index: PlanIndex, turn: Mask) -> PlanIndex:
    if not turn.any():
        return index
    cables = tuple(
        cable._replace(a=cable.b, b=cable.a) if turn[number] else cable
        for number, cable in enumerate(index.plan.cables)
    )
    new = copy.copy(index)
    new.plan = replace(index.plan, cables=cables)
    new.a, new.b = np.where(turn, index.b, index.a), np.where(turn, index.a, index.b)
    new.a_device = np.where(turn, index.b_device, index.a_device)
    new.b_device = np.where(turn, index.a_device, index.b_device)
    return new

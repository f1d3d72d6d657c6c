"""Matches nodes without a name of their own to planned switches by their places in the fabric.

Unmanaged switches all have the name `Quantum-2 Mellanox Technologies`, and the chips of a director are named by its
boards (`MF0;core:MCS8500/L03/U1`). Where the plan has names of its own for them and no GUIDs, only the wiring
identifies them: a node is the planned switch to which the plan wires more than two thirds of what is seen on it, where
that is also more than two thirds of what is seen of the switch's planned cables. Leaves are found by their hosts, then
spines by the leaves. A switch in another's place, with all its cables, is therefore the switch of that place.
"""

from collections.abc import Collection, Mapping

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.model.index import PlanIndex

LAYERS = 3
"""Layers of switches: leaves, spines, a core above them."""
_MIN_CABLES = 2
_SHARE = 2 / 3


def placed(index: PlanIndex, claims: Claims, nameless: Collection[int], free: Collection[int]) -> dict[int, int]:
    """Nodes without a name, by code, to the planned switches in whose places they are. `free` are planned switches that
    no node is known to be.
    """
    ports = index.ports
    node = np.concatenate([ports.device_of(claims.u), claims.w])
    far = index.far_ends(np.concatenate([claims.v, claims.u]))
    use = (far >= 0) & np.isin(node, list(nameless))
    node, planned = node[use], ports.device_of(far[use])
    votes, count = np.unique(node << 32 | planned, return_counts=True)
    of_node, switch = votes >> 32, votes & 0xFFFFFFFF
    size = len(index.devices.names)
    by_node, by_switch = (np.bincount(code, weights=count, minlength=size) for code in (of_node, switch))
    sure = (count >= _MIN_CABLES) & (count > _SHARE * by_node[of_node]) & (count > _SHARE * by_switch[switch])
    sure &= np.isin(switch, list(free))
    return dict(zip(of_node[sure].tolist(), switch[sure].tolist(), strict=True))


def contested_places(index: PlanIndex, claims: Claims, by_place: Mapping[int, int]) -> dict[int, int]:
    """Planned switches that a node matches by its hosts, while most of its uplinks are in the places of the uplinks of
    one other switch of its tier: the switch by hosts to the switch by uplinks.
    """
    ports, tier = index.ports, index.devices.tiers
    node = np.concatenate([ports.device_of(claims.u), claims.w])
    far = np.concatenate([claims.v, claims.u])
    cable = index.cables_at(far)
    use = (cable >= 0) & (far >= 0) & np.isin(node, list(by_place.values()))
    node, far, cable = node[use], far[use], cable[use]
    use = (index.b[cable] == far) & (tier[ports.device_of(far)] > tier[node])
    node, planned = node[use], index.a_device[cable[use]]
    votes, count = np.unique(node << 32 | planned, return_counts=True)
    of_node, switch = votes >> 32, votes & 0xFFFFFFFF
    total = np.bincount(of_node, weights=count, minlength=len(tier))
    other = (switch != of_node) & (tier[switch] == tier[of_node])
    sure = other & (count >= _MIN_CABLES) & (count > _SHARE * total[of_node])
    return dict(zip(of_node[sure].tolist(), switch[sure].tolist(), strict=True))


def boxes(index: PlanIndex, claims: Claims, nodes: Collection[int], switches: Collection[int]) -> frozenset[int]:
    """Of these planned switches, those whose cables may be on further nodes (`nodes`, without a name): chips of one
    box, or a switch of its own in a wrong place. A node with most of its cables where one switch is planned is of that
    switch; nodes that have cables to each other alone, as the chips with the uplinks of each box, are of any.
    """
    ports, open_ = index.ports, list(nodes)
    node = np.concatenate([ports.device_of(claims.u), claims.w])
    other = np.concatenate([claims.w, ports.device_of(claims.u)])
    far = index.far_ends(np.concatenate([claims.v, claims.u]))
    among, use = np.isin(node, open_), far >= 0
    votes, count = np.unique(node[among & use] << 32 | ports.device_of(far[among & use]), return_counts=True)
    size = len(index.devices.names)
    total = np.bincount(votes >> 32, weights=count, minlength=size)
    inside = np.bincount(node[among & np.isin(other, open_)], minlength=size)
    if ((total < _MIN_CABLES) & (inside >= _MIN_CABLES)).any():
        return frozenset(switches)
    most = (count >= _MIN_CABLES) & (count > _SHARE * total[votes >> 32])
    return frozenset((votes[most] & 0xFFFFFFFF).tolist()).intersection(switches)


def unplaced(index: PlanIndex, met: Collection[int]) -> frozenset[int]:
    """Planned switches that no node is known to be, and that the plan identifies by their names alone."""
    ids = ((code, (name, *of.chassis_ids)) for code, (name, of) in enumerate(index.plan.devices.items()))
    open_ = ((code, texts) for code, texts in ids if index.devices.tier[code] > 0 and code not in met)
    return frozenset(code for code, texts in open_ if not any(map(canonical_guid, texts)))


def without(claims: Claims, index: PlanIndex, nodes: Collection[int]) -> Claims:
    """The claims that have none of these nodes at either end."""
    ends = np.array([*nodes], dtype=np.int64)
    return claims.where(~np.isin(claims.w, ends) & ~np.isin(index.ports.device_of(claims.u), ends))

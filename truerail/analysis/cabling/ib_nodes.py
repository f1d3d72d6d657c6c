"""Resolves each node of an InfiniBand fabric to a device of the plan.

A switch is one node, a host one for each of its HCAs. A node is identified by its own name, which may be misconfigured,
and by its GUID, where the plan gives it (a chassis id, or the device's name), or where a host reports the GUIDs of its
own HCAs: `RdmaLink.guid`, or the address of an IPoIB interface.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.ib_names import canonical_guid, chip_of, ipoib_guid, is_board, is_factory_name, spellings
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, grouped
from truerail.model.facts import NetLink, RdmaLink
from truerail.model.index import Devices, PlanIndex


class End(NamedTuple):
    """One end of a link: the node's GUID and its own name, its port, and the label on the port where reported."""

    guid: str
    name: str
    port: str
    label: str | None = None


@dataclass(frozen=True)
class Nodes:
    """Columns over ends of links, shape (ends,): `device` the device of the end's node, `named` the device whose name
    it announces, `witness` the one that its GUID belongs to (-1 where unknown), `owner` the port that the GUID belongs
    to, likewise. `chip` is the chip of the end's node where it is one of several in a planned switch: the ports of each
    are numbered from 1. `nameless` are codes of switches that have no name of their own.
    """

    device: Codes
    named: Codes
    witness: Codes
    owner: Codes
    chip: Sequence[str | None] = ()
    nameless: frozenset[int] = frozenset()


def nodes_of(names: LocalNames, ends: Sequence[End], owners: Mapping[int, int], split: frozenset[int]) -> Nodes:
    """Finds the device of every end. A planned name decides, unless several devices announce it (`split`)."""
    index = names.index
    devices, planned = index.devices, index.devices.planned
    of_plan, of_port = _by_guid(index), _ports_by_guid(names)
    nameless = _nameless(devices, ends)
    owner = np.array([of_port.get((end.guid, _hca_port(end.port)), NONE) for end in ends], dtype=np.int64)
    by_port = index.ports.device_of(owner)
    witness = np.array([of_plan.get(end.guid, NONE) for end in ends], dtype=np.int64)
    witness = np.where(witness >= 0, witness, by_port)
    boxes = _boxes(devices, ends)
    code = {name: box for name, (box, _) in boxes.items()}
    named = np.array([_named(devices, end, nameless, code) for end in ends], dtype=np.int64)
    named = np.array([owners.get(one, one) for one in named.tolist()], dtype=np.int64)
    by_guid = (witness >= 0) & ((named < 0) | ((named >= planned) & (witness < planned)) | np.isin(named, list(split)))
    device = np.where(by_guid, witness, named)
    for place in np.flatnonzero(device < 0).tolist():
        added = devices.find_or_add(ends[place].guid)
        device[place] = owners.get(added, added)
    return Nodes(
        device,
        named,
        witness,
        np.where(by_port == device, owner, NONE),
        [boxes[end.name][1] if end.name in boxes else None for end in ends],
        frozenset(
            code
            for end, code in zip(ends, device.tolist(), strict=True)
            if code >= planned and end.port.isdigit() and (end.name in nameless or is_board(end.name))
        ),
    )


def _boxes(devices: Devices, ends: Sequence[End]) -> dict[str, tuple[int, str]]:
    """Descriptions of chips of planned switches with several chips, with the switch's code and the chip: the plan
    contains only the box.
    """
    chips: dict[str, dict[str, str]] = {}
    for name in {end.name for end in ends}:
        if chip := chip_of(name):
            chips.setdefault(chip[0], {})[name] = chip[1]
    found: dict[str, tuple[int, str]] = {}
    for box, names in chips.items():
        code = devices.find(box)
        boards = set(filter(is_board, names))
        if boards and 0 <= code < devices.planned:
            planned = {name for name in boards if 0 <= devices.find(spellings(name)[-1]) < devices.planned}
            found |= {name: (code, chip) for name, chip in names.items() if not planned}
    return found


def _by_guid(index: PlanIndex) -> dict[str, int]:
    """Devices whose GUID the plan gives."""
    known: dict[str, int] = {}
    for code, (name, device) in enumerate(index.plan.devices.items()):
        for text in (name, *device.chassis_ids):
            guid = canonical_guid(text)
            if guid:
                known.setdefault(guid, code)
    return known


def _ports_by_guid(names: LocalNames) -> dict[tuple[str, int], int]:
    """The port of each HCA whose host reports its GUID, by GUID and number of the HCA's port."""
    links, rdma = names.seen.table(NetLink), names.seen.table(RdmaLink)
    macs = zip(links.column("mac").tolist(), names.link_ports.tolist(), strict=True)
    found = {(guid, 1): port for mac, port in macs if (guid := ipoib_guid(mac))}
    of_rdma = zip(rdma.rows, names.rdma_ports.tolist(), strict=True)
    return found | {(link.guid, link.port): port for link, port in of_rdma if link.guid}


def _hca_port(port: str) -> int:
    """`mlx5_0/2` is the second port of its HCA, `mlx5_0` the first."""
    number = port.rpartition("/")[2] if "/" in port else port
    return int(number) if number.isdigit() and len(number) < 4 else 1


def _nameless(devices: Devices, ends: Sequence[End]) -> set[str]:
    """Texts that do not name a single device: a GUID, a factory name, an unplanned name that several switches have."""
    switches = grouped({(end.name, end.guid) for end in ends if end.port.isdigit()})
    several = (name for name, of in switches.items() if is_factory_name(name) or len(of) > 1 or canonical_guid(name))
    return {name for name in several if not any(0 <= devices.find(one) < devices.planned for one in spellings(name))}


def _named(devices: Devices, end: End, nameless: set[str], known: dict[str, int]) -> int:
    """The device of a node by its name alone; an unplanned one is added."""
    code = known.get(end.name)
    if code is None:
        found = [devices.find(one) for one in spellings(end.name)]
        code = next((one for one in found if 0 <= one < devices.planned), NONE)
        if code == NONE and end.name not in nameless and not canonical_guid(end.name):
            code = devices.find_or_add(spellings(end.name)[-1])
        known[end.name] = code
    return code


# ----------------------------------------------------------------------------------------------------------------------
# Matches nodes without a name of their own to planned switches by their places in the fabric.
#
# Unmanaged switches all have the name `Quantum-2 Mellanox Technologies`, and the chips of a director are named by its
# boards (`MF0;core:MCS8500/L03/U1`). Where the plan has names of its own for them and no GUIDs, only the wiring
# identifies them: a node is the planned switch to which the plan wires more than two thirds of what is seen on it,
# where that is also more than two thirds of what is seen of the switch's planned cables. Leaves are found by their
# hosts, then spines by the leaves. A switch in another's place, with all its cables, is therefore the switch of that
# place.


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

"""Resolves each node of an InfiniBand fabric to a device of the plan.

A switch is one node, a host one for each of its HCAs. A node is identified by its own name, which may be misconfigured,
and by its GUID, where the plan gives it (a chassis id, or the device's name), or where a host reports the GUIDs of its
own HCAs: `RdmaLink.guid`, or the address of an IPoIB interface.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

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

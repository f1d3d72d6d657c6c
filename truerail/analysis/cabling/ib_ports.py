"""Resolves each end of an InfiniBand link to a port of the plan.

A switch's port is a number, which a plan may write as the label on its front (see `spellings`). A host's is an RDMA
device, which a plan may name by its netdev, its PCI address or `nicN`: the host's own readings show which names belong
together, else those of all hosts with readings; what is then not known, `fit_ports` matches by the cabling.
"""

import re
from collections.abc import Sequence

import numpy as np

from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.analysis.cabling.ib_nodes import End, Nodes
from truerail.analysis.cabling.local import LocalNames
from truerail.analysis.cabling.spellings import like, port_number
from truerail.model.columns import NONE, Codes, Mask, unanimous
from truerail.model.facts import RdmaLink
from truerail.model.index import PlanIndex

_RDMA = re.compile(r"[a-z]+\d*_\d+", re.IGNORECASE)
"""Names that drivers give RDMA devices and nothing else: `mlx5_0`. `ibp24s0` may be one or a netdev."""


def ports_of(names: LocalNames, ends: Sequence[End], nodes: Nodes) -> Codes:
    """The port of every end, -1 where it is unknown. Shape (ends,)."""
    index = names.index
    tier = index.devices.tiers[nodes.device]
    name = index.ports.name_codes([end.port or None for end in ends])
    label = index.ports.name_codes([end.label for end in ends])
    by_name, by_label = (index.ports.find(nodes.device, code) for code in (name, label))
    found = np.where((by_name >= 0) & (by_name < index.planned_ports), by_name, by_label)
    found = np.where((found < index.planned_ports) & (tier != 0), found, NONE)
    switch, host = (found < 0) & (tier > 0), tier == 0
    boxed = np.array([chip is not None for chip in nodes.chip], dtype=bool)
    found = np.where(boxed, _of_boxes(index, ends, nodes, found), found)
    _number_switches(index, ends, nodes.device, switch & ~boxed, found)
    if host.any():
        found[host] = _hosts(names, nodes.device[host], name[host], nodes.owner[host])
    rest = (found < 0) & ~host & ~boxed
    found[rest] = index.ports.find_or_add(nodes.device[rest], name[rest])
    return found


def _of_boxes(index: PlanIndex, ends: Sequence[End], nodes: Nodes, found: Codes) -> Codes:
    """Planned ports of switches of several chips: a label identifies one, or chip and number; the number alone does
    not.
    """
    spelled = [f"{chip}/{end.port}" if chip else None for chip, end in zip(nodes.chip, ends, strict=True)]
    by_chip = index.ports.find(nodes.device, index.ports.name_codes(spelled))
    label = index.ports.find(nodes.device, index.ports.name_codes([end.label for end in ends]))
    known = np.where((by_chip >= 0) & (by_chip < index.planned_ports), by_chip, label)
    return np.where((known >= 0) & (known < index.planned_ports), known, NONE)


def _number_switches(index: PlanIndex, ends: Sequence[End], device: Codes, where: Mask, found: Codes) -> None:
    """Ports of planned switches by their numbers; a spare port is added as the plan writes the switch's others."""
    wanted = set(device[where].tolist())
    numbered: dict[tuple[int, int], int] = {}
    usual: dict[int, str] = {}
    planned = np.arange(index.planned_ports)
    owners, spelled = index.ports.device_of(planned).tolist(), index.ports.name_of(planned).tolist()
    for port, (owner, spelling) in enumerate(zip(owners, spelled, strict=True)):
        if owner in wanted:
            number = port_number(index.ports.spelled(spelling))
            if number is not None:
                numbered.setdefault((owner, number), port)
                usual.setdefault(owner, index.ports.spelled(spelling))
    places, spare = np.flatnonzero(where).tolist(), []
    for place in places:
        number, code = port_number(ends[place].port), int(device[place])
        found[place] = NONE if number is None else numbered.get((code, number), NONE)
        spare.append(like(usual[code], number) if number is not None and code in usual else ends[place].port or None)
    at = np.array(places, dtype=np.int64)
    written = index.ports.name_codes(spare)
    found[at] = np.where(found[at] >= 0, found[at], index.ports.find_or_add(device[at], written))


def _hosts(names: LocalNames, device: Codes, name: Codes, owner: Codes) -> Codes:
    """Ports of hosts: by the GUID, by the host's own name of the device, by name, by the name on all other hosts."""
    ports, index = names.index.ports, names.index
    rdma = names.seen.table(RdmaLink)
    host, port = names.devices_of(rdma), names.rdma_ports
    found = np.where(owner >= 0, owner, names.rdma_called(device, name))
    by_name = ports.find(device, name)
    found = np.where((found < 0) & (by_name < index.planned_ports), by_name, found)
    use = (port < index.planned_ports) | (index.planned_ports == 0)
    own = ports.name_codes(rdma.column("device"))
    learned = unanimous(own[use], ports.name_of(port[use]))
    meant = np.array([learned.get(one, NONE) for one in name.tolist()], dtype=np.int64)
    found = np.where(found < 0, ports.find(device, meant), found)
    free = ~np.isin(device, index.a_device)
    apart = (found < 0) & (free | np.isin(device, host) | _by_rdma(index, device, name)) & ~_guids(index, name)
    written = np.where(free & (meant >= 0), meant, name)
    found[apart] = ports.find_or_add(device[apart], written[apart])
    return found


def _by_rdma(index: PlanIndex, device: Codes, name: Codes) -> Mask:
    """Whether the plan names the ports of these hosts as the discovery does: a name that is not planned is then no
    planned port.
    """
    names, code = np.unique(index.ports.name_of(index.a), return_inverse=True)
    is_rdma = np.array([one >= 0 and bool(_RDMA.fullmatch(index.ports.spelled(int(one)))) for one in names], dtype=bool)
    is_rdma |= np.isin(names, name[name >= 0])
    named = np.zeros(len(index.devices.names) + 1, dtype=bool)
    if len(names):
        named[index.a_device[index.from_host & is_rdma[code]]] = True
    return np.asarray(named[device], dtype=bool)


def _guids(index: PlanIndex, name: Codes) -> Mask:
    """Whether a port is known by its GUID alone, which no plan uses as a name."""
    distinct, code = np.unique(name, return_inverse=True)
    spelled = (index.ports.spelled(int(one)).partition("/")[0] if one >= 0 else "" for one in distinct)
    is_guid = (distinct < 0) | np.array([bool(canonical_guid(one)) for one in spelled], dtype=bool)
    return np.asarray(is_guid[code], dtype=bool)

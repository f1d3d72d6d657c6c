"""The links of an InfiniBand fabric, discovered and reported by one device for all, resolved to the plan's ports.

A discovery walks the fabric: each link is reported with the node GUID, the node description and the port number of both
ends. Its limits:

- Both ends come from one walk: a link is *one* claim, of one witness, however its two ends are listed.
- Descriptions are names that hosts and switches give themselves; GUIDs are burnt in. A GUID that the plan gives, or
  that a host's own readings contain, is a witness as a MAC is over LLDP.
- Several devices may have walked at different times: of each node the newest walk counts, of a link that of its ends.
- A port that is in no link has none. A node that is missing may be without link, or beyond another subnet.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.ib_names import canonical_guid
from truerail.analysis.cabling.ib_nodes import End, Nodes, nodes_of
from truerail.analysis.cabling.local import LocalNames
from truerail.analysis.cabling.spellings import like, port_number
from truerail.model.columns import NONE, Codes, Mask, distinct, unanimous
from truerail.model.facts import Neighbor, RdmaLink
from truerail.model.index import PlanIndex
from truerail.model.snapshot import Snapshot

COLLECTOR = "ib_fabric"
"""The collector whose readings are walks over a whole fabric."""


@dataclass(frozen=True)
class Discovery:
    """The result of a snapshot's discoveries.

    `votes` are names announced and the devices that own them, packed as `announce` counts them. `shared` are planned
    names that several nodes have, and the codes of those nodes. `devices` are those found, `ports` those with a link,
    `at` the port of a node GUID and the name that the discovery has for it, `nameless` the codes of switches that have
    no name of their own and that no evidence matches to a planned one, `unnumbered` those with a link whose port of the
    plan is unknown.
    """

    claims: Claims
    votes: Codes
    shared: Mapping[int, tuple[int, ...]]
    devices: Codes
    ports: Codes
    at: Mapping[tuple[str, str], int]
    nameless: frozenset[int] = frozenset()
    unnumbered: frozenset[int] = frozenset()


def discoveries(snapshot: Snapshot) -> Codes:
    """The numbers of the readings that are walks over a fabric."""
    found = [n for n, reading in enumerate(snapshot.readings) if reading.collector == COLLECTOR and reading.facts]
    return np.array(found, dtype=np.int64)


def discovered(
    names: LocalNames, owners: Mapping[int, int] = MappingProxyType({}), split: frozenset[int] = frozenset()
) -> Discovery | None:
    """Every link of every discovery, resolved as far as the facts allow; None where there is no discovery.

    `owners` and `split` are those of `claims.read_claims`.
    """
    readings = discoveries(names.seen)
    rows = _newest(names.seen, readings) if len(readings) else []
    if not rows:
        return None
    known = _Ends()
    links = np.array([known.of(fact) for _, fact in rows], dtype=np.int64)
    ends = known.ends
    nodes = nodes_of(names, ends, owners, split)
    port = ports_of(names, ends, nodes)
    return Discovery(
        claims=_claims(links, np.array([row for row, _ in rows], dtype=np.int64), ends, nodes, port),
        votes=np.where((nodes.named >= 0) & (nodes.witness >= 0), nodes.named << 32 | nodes.witness, NONE),
        shared=_shared(names, ends, nodes),
        devices=distinct(nodes.device),
        ports=port[port >= 0],
        at=dict(zip(known.number, port.tolist(), strict=True)),
        nameless=nodes.nameless,
        unnumbered=frozenset(nodes.device[port < 0].tolist()),
    )


def _newest(snapshot: Snapshot, readings: Codes) -> list[tuple[int, Neighbor]]:
    """Rows of the Neighbor table and their facts, of the newest walk that met each of the two nodes."""
    table = snapshot.table(Neighbor)
    order = sorted(readings, key=lambda n: snapshot.readings[n].at)
    number = {int(reading): place for place, reading in enumerate(order)}
    reported = np.flatnonzero(np.isin(table.reading, readings)).tolist()
    rows = [(row, table.rows[row], number[int(table.reading[row])]) for row in reported]
    rows = [(row, fact, walk) for row, fact, walk in rows if fact.of and (fact.chassis_id or fact.system_name)]
    if len(readings) == 1:
        return [(row, fact) for row, fact, _ in rows]
    last: dict[str, int] = {}
    for _, fact, walk in rows:
        last[fact.of_guid or fact.of or ""] = max(walk, last.get(fact.of_guid or fact.of or "", 0))
    rows = [(row, fact, walk) for row, fact, walk in rows if walk >= last[fact.of_guid or fact.of or ""]]
    return [(row, fact) for row, fact, walk in rows if walk >= last.get(fact.chassis_id or fact.system_name or "", 0)]


class _Ends:
    """The ends of links, each once, by number in the order of their appearance."""

    def __init__(self) -> None:
        self.number: dict[tuple[str, str], int] = {}
        self.ends: list[End] = []

    def of(self, fact: Neighbor) -> tuple[int, int]:
        """The numbers of the two ends of a row."""
        own, far = fact.of or "", fact.system_name or fact.chassis_id or ""
        first = self._end(fact.of_guid or own, own, fact.port, None)
        return first, self._end(fact.chassis_id or far, far, fact.port_id or "", fact.port_description)

    def _end(self, guid: str, name: str, port: str, label: str | None) -> int:
        """The number of an end. Its label is in the row in which it is the far end."""
        number = self.number.setdefault((guid, port), len(self.ends))
        if number == len(self.ends):
            self.ends.append(End(guid, name, port, label))
        elif label and not self.ends[number].label:
            self.ends[number] = End(guid, name, port, label)
        return number


def _claims(links: Codes, row: Codes, ends: list[End], nodes: Nodes, port: Codes) -> Claims:
    """One claim for each link, by a switch where one is at its end: a host's port may be harder to name."""
    numbered = np.array([end.port.isdigit() and end.name != end.guid for end in ends], dtype=bool)
    own, far = links[:, 0], links[:, 1]
    known = port[own] >= 0
    order = np.lexsort((far, ~numbered[own], ~known))
    order = order[known[order]]
    pair = np.minimum(own, far)[order] << 32 | np.maximum(own, far)[order]
    keep = order[np.unique(pair, return_index=True)[1]]
    u, v, far = port[own[keep]], port[far[keep]], far[keep]
    sure = np.zeros(len(u), dtype=bool)
    return Claims(u, v, nodes.device[far], nodes.named[far], nodes.witness[far], row[keep], sure)


def _shared(names: LocalNames, ends: list[End], nodes: Nodes) -> dict[int, tuple[int, ...]]:
    """Planned devices whose one port several nodes of their name claim to have, and those nodes by their GUIDs. HCAs
    that a device reports as its own are one device, whatever their names.
    """
    bearers: dict[tuple[int, str], dict[str, None]] = {}
    planned = names.index.devices.planned
    own = {end.guid for end, code, of in zip(ends, nodes.device, nodes.witness, strict=True) if code == of}
    for end, code, named, chip in zip(ends, nodes.device.tolist(), nodes.named.tolist(), nodes.chip, strict=True):
        if code < planned and end.port and named == code and chip is None:
            bearers.setdefault((code, end.port), {})[end.guid] = None
    twice: dict[int, dict[str, None]] = {}
    for (code, _), guids in bearers.items():
        if len(guids) > 1 and not own.issuperset(guids):
            twice.setdefault(code, {}).update(guids)
    return {code: tuple(map(names.index.devices.find_or_add, guids)) for code, guids in twice.items()}


# ----------------------------------------------------------------------------------------------------------------------
# Resolves each end of an InfiniBand link to a port of the plan.
#
# A switch's port is a number, which a plan may write as the label on its front (see `spellings`). A host's is an RDMA
# device, which a plan may name by its netdev, its PCI address or `nicN`: the host's own readings show which names
# belong together, else those of all hosts with readings; what is then not known, `fit_ports` matches by the cabling.


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
    learned = unanimous(ports.name_codes(rdma.column("device"))[use], ports.name_of(port[use]))
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

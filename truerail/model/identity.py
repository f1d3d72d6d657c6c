"""Who is who: LLDP's names, MACs and port ids brought to the devices and ports of the plan, in one place.

Every neighbour that a device reports becomes a *claim*: "my port u is wired to port v of device w". The traps, each met in
the field, and what is done about them:

- A device is named by its short or its full name, in any case, with a serial behind it, by an alias, or not at all (then
  its chassis id or its port's MAC says who it is).
- A port is named by its name, by a vendor's alias (`etp1` for `Ethernet0`), by a MAC, or by a number, with the name in the
  port description. A description may also be the *planned* label of the port, so it never outvotes a port id that names a
  port of that device.
- A DPU in NIC mode may announce its MAC plus 0x10.
- A plan may name a host's port by netdev, RDMA device, PCI address, or `nicN`.
- A device may announce another device's name: its MACs, or the ports that hear it, then say so. Its own report is filed
  under the name it announces, so that both ends speak of the same thing; `Identity.announces` keeps who it really is.
  Two devices that announce one name are told apart by the same witnesses, and reported (`Identity.duplicates`).
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from truerail.model.facts import GpuNicPath, Neighbor, NetLink, RdmaLink
from truerail.model.index import NONE, PlanIndex, factorize
from truerail.model.names import canonical_mac
from truerail.model.snapshot import Codes, Snapshot, Table

_DPU_MAC_OFFSET = 0x10
_ORDINAL_NIC = re.compile(r"^nic[-_ ]?(\d+)$", re.IGNORECASE)
_VIRTUAL = {"bridge", "veth", "vlan", "vxlan", "tun", "dummy", "ifb", "macvlan", "ipvlan"}


@dataclass(frozen=True)
class Claims:
    """What LLDP says, a row per neighbour heard: shapes (rows,).

    `u` the reporting port, `v` the port it hears (-1 if that could not be told), `w` the device it hears (-1 likewise),
    `witness` the device that owns the MACs heard (-1 where nobody knows them), `row` the row of the Neighbor table.
    """

    u: Codes
    v: Codes
    w: Codes
    witness: Codes
    row: Codes


@dataclass(frozen=True)
class Identity:
    """The claims of a snapshot in the plan's terms, and what was found out about names on the way."""

    index: PlanIndex
    seen: Snapshot
    claims: Claims
    announces: Mapping[int, int] = field(default_factory=dict)
    """Devices that announce another planned device's name: device code to the code of the name it announces."""
    duplicates: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Names announced by more than one device: code of the name to the codes of those devices."""

    def devices_of(self, table: Table[Neighbor] | Table[NetLink] | Table[RdmaLink] | Table[GpuNicPath]) -> Codes:
        """The device code of every row of a table, under the name it announces."""
        codes = np.array([self.filed(name) for name in table.devices], dtype=np.int64)
        return codes[table.device] if len(codes) else np.empty(0, dtype=np.int64)

    def filed(self, name: str) -> int:
        """The code under which a reading's device is filed: that of the name it announces."""
        code = self.index.devices.find_or_add(name)
        return self.announces.get(code, code)

    def local_ports(self, device: Codes, names: Codes) -> Codes:
        """Port codes of a device's own names for its ports, brought to the plan's names where the plan uses others."""
        ports = self.index.ports.find_or_add(device, names)
        return self._aliases.get(len(self.index.ports), ports)

    @property
    def _aliases(self) -> "_Aliases":
        found = self.__dict__.get("_alias_table")
        if found is None:
            found = _Aliases(self)
            self.__dict__["_alias_table"] = found
        return found


class _Aliases:
    """Netdev to planned port, for hosts whose planned ports are RDMA devices, PCI addresses or `nicN`."""

    def __init__(self, identity: Identity) -> None:
        index = identity.index
        pairs: list[tuple[Codes, Codes]] = []
        rdma = identity.seen.table(RdmaLink)
        if len(rdma):
            device = identity.devices_of(rdma)
            netdev = index.ports.name_codes(rdma.column("netdev"))
            netdev = np.where(netdev >= 0, netdev, index.ports.name_codes(rdma.column("device")))
            own = index.ports.find_or_add(device, netdev)
            for field_name in ("device", "pci_address"):
                pairs.append((own, index.ports.find(device, index.ports.name_codes(rdma.column(field_name)))))
            pairs.append(_ordinals(index, device, own, rdma))
        links = identity.seen.table(NetLink)
        if len(links):
            device = identity.devices_of(links)
            own = index.ports.find_or_add(device, index.ports.name_codes(links.column("netdev")))
            pairs.append((own, index.ports.find(device, index.ports.name_codes(links.column("pci_address")))))
            rows = [(i, alias) for i, aliases in enumerate(links.column("aliases")) for alias in aliases]
            if rows:
                at = np.array([i for i, _ in rows], dtype=np.int64)
                pairs.append((own[at], index.ports.find(device[at], index.ports.name_codes(a for _, a in rows))))
        self._map = np.arange(len(index.ports), dtype=np.int64)
        for own, other in pairs:
            # a netdev that the plan knows under its own name needs no alias; ifAlias is free text and must not give one
            use = (other >= 0) & (other < index.planned_ports) & (own >= index.planned_ports)
            self._map[own[use]] = other[use]

    def get(self, size: int, ports: Codes) -> Codes:
        """The planned port for each port; the port itself where there is no alias."""
        if size > len(self._map):
            self._map = np.concatenate([self._map, np.arange(len(self._map), size, dtype=np.int64)])
        return np.where(ports >= 0, self._map[ports], NONE) if size else ports


def _ordinals(index: PlanIndex, device: Codes, own: Codes, rdma: Table[RdmaLink]) -> tuple[Codes, Codes]:
    """`nic3` in a plan is the fourth RDMA device of the host, in the order in which it lists those that the plan can mean."""
    wanted: dict[int, dict[int, int]] = {}
    for cable in np.flatnonzero(index.from_host):
        match = _ORDINAL_NIC.match(index.a_port(int(cable)).name)
        if match:
            wanted.setdefault(int(index.a_device[cable]), {})[int(match.group(1))] = int(index.a[cable])
    if not wanted:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    from truerail.model.names import natural_key

    rows: dict[int, list[tuple[tuple[tuple[int, int, str], ...], int]]] = {}
    for row, (host, port) in enumerate(zip(device.tolist(), own.tolist(), strict=True)):
        if host in wanted:
            rows.setdefault(host, []).append((natural_key(rdma.rows[row].device), port))
    found: list[tuple[int, int]] = []
    for host, nics in rows.items():
        for ordinal, (_, port) in enumerate(sorted(nics)):
            if ordinal in wanted[host]:
                found.append((port, wanted[host][ordinal]))
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def identify(index: PlanIndex, seen: Snapshot) -> Identity:
    """Resolves every neighbour of a snapshot. Reads the names twice only where some device announces another's."""
    first = Identity(index, seen, _claims(Identity(index, seen, _no_claims()), {}, frozenset()))
    names, announces, duplicates = _announced(first)
    if not (names or announces or duplicates):
        return first
    unfiled = Identity(index, seen, _no_claims(), announces, duplicates)
    return Identity(index, seen, _claims(unfiled, names, frozenset(duplicates)), announces, duplicates)


def _no_claims() -> Claims:
    empty = np.empty(0, dtype=np.int64)
    return Claims(empty, empty, empty, empty, empty)


def _claims(identity: Identity, names: Mapping[int, int], split: frozenset[int]) -> Claims:
    """`names` are names no plan knows, whose owner was found out; `split` are names that several devices announce."""
    index, table = identity.index, identity.seen.table(Neighbor)
    if not len(table):
        return _no_claims()
    via = table.column("via")
    row = np.flatnonzero(np.array([v is None or v.upper().startswith("LLDP") for v in via], dtype=bool))
    reporter = identity.devices_of(table)[row]
    local = index.ports.name_codes(name or None for name in table.column("port")[row])
    u = identity.local_ports(reporter, local)
    macs = _MacTable(identity)
    port_id, kind = table.column("port_id")[row], table.column("port_id_type")[row]
    owner = macs.ports(port_id, kind)
    witness = index.ports.device_of(owner)
    chassis = table.column("chassis_id")[row]
    witness = np.where(witness >= 0, witness, macs.devices(chassis))
    named = _named_devices(index, table.column("system_name")[row], names)
    w = _heard_devices(index, named, witness, chassis, split)
    v = _heard_ports(index, w, owner, port_id, kind, table.column("port_description")[row])
    keep = u >= 0
    return Claims(u[keep], v[keep], w[keep], witness[keep], row[keep])


class _MacTable:
    """Which port a MAC belongs to, by the devices' own lists of interfaces. A MAC on two devices belongs to nobody."""

    def __init__(self, identity: Identity) -> None:
        links = identity.seen.table(NetLink)
        self._port: dict[str, int] = {}
        self._device: dict[str, int] = {}
        if not len(links):
            return
        index = identity.index
        device = identity.devices_of(links)
        ports = identity.local_ports(device, index.ports.name_codes(links.column("netdev")))
        planned = index.planned_ports
        columns = (links.column("mac"), links.column("kind"), device.tolist(), ports.tolist())
        for mac, kind, owner, port in zip(*columns, strict=True):
            if mac is None or kind in _VIRTUAL or mac == "00:00:00:00:00:00":
                continue
            known = self._device.setdefault(mac, owner)
            if known != owner:
                self._device[mac] = self._port[mac] = NONE
                continue
            before = self._port.setdefault(mac, port)
            if before != port and before >= planned > port:
                self._port[mac] = port  # a bond and its member share a MAC: the planned one is meant
            elif before != port and before < planned and port < planned:
                self._port[mac] = NONE

    def devices(self, chassis: "np.ndarray[tuple[int], np.dtype[np.object_]]") -> Codes:
        """The device that owns each chassis id, -1 where unknown."""
        get = self._device.get
        return np.array([get(c, NONE) for c in chassis], dtype=np.int64)

    def ports(self, port_id: "np.ndarray[tuple[int], np.dtype[np.object_]]", kind: object) -> Codes:
        """The port that owns each port id of type `mac`, -1 where unknown or not a MAC."""
        get = self._port.get
        kinds = np.asarray(kind, dtype=object)
        return np.array(
            [
                NONE if t != "mac" or p is None else get(p, NONE) if p in self._port else self._offset(p)
                for p, t in zip(port_id, kinds, strict=True)
            ],
            dtype=np.int64,
        )

    def _offset(self, mac: str) -> int:
        """A DPU in NIC mode announces the MAC of its port plus 0x10 (nv-config-manager tolerates the same offset)."""
        if not self._port:
            return NONE
        canonical = canonical_mac(mac)
        if canonical is None:
            return NONE
        if canonical in self._port:
            return self._port[canonical]
        number = int(canonical.replace(":", ""), 16) - _DPU_MAC_OFFSET
        return self._port.get(canonical_mac(f"{number & 0xFFFFFFFFFFFF:012x}") or "", NONE)


def _named_devices(index: PlanIndex, system_names: object, names: Mapping[int, int]) -> Codes:
    codes, distinct = factorize(np.asarray(system_names, dtype=object))
    found = np.array([index.devices.find_or_add(name) if name.strip() else NONE for name in distinct] + [NONE])
    return np.array([names.get(code, code) for code in found.tolist()], dtype=np.int64)[codes]


def _heard_devices(
    index: PlanIndex, named: Codes, witness: Codes, chassis: object, split: frozenset[int]
) -> Codes:
    """The device heard: by its name; by its MACs where it gives none, or one the plan does not know, or one it shares."""
    planned = index.devices.planned
    by_mac = (witness >= 0) & ((named < 0) | ((named >= planned) & (witness < planned)) | np.isin(named, list(split)))
    w = np.where(by_mac, witness, named)
    nameless = w < 0
    if nameless.any():
        codes, distinct = factorize(np.asarray(chassis, dtype=object))
        learned = np.full(len(distinct) + 1, NONE, dtype=np.int64)
        known = (w >= 0) & (codes >= 0)
        learned[codes[known]] = w[known]
        for device_code, device in enumerate(index.plan.devices.values()):
            for chassis_id in device.chassis_ids:
                if chassis_id in distinct:
                    learned[distinct.index(chassis_id)] = device_code
        w = np.where(nameless, learned[codes], w)
    return w


def _heard_ports(index: PlanIndex, w: Codes, owner: Codes, port_id: object, kind: object, description: object) -> Codes:
    """The port heard on device `w`. The id decides if it names a port of that device, else the description, else the id."""
    ports = index.ports
    ids = np.asarray(port_id, dtype=object)
    is_mac = np.array([t == "mac" for t in np.asarray(kind, dtype=object)], dtype=bool)
    id_name = np.where(is_mac, NONE, ports.name_codes(None if m else p for p, m in zip(ids, is_mac, strict=True)))
    text = ports.name_codes(np.asarray(description, dtype=object))
    by_mac = ports.find(w, ports.name_of(owner))
    by_id = ports.find(w, id_name)
    by_text = ports.find(w, text)
    v = np.where(by_mac >= 0, by_mac, np.where(by_id >= 0, by_id, by_text))
    learned = _learned_names(id_name, np.where(v == by_text, text, NONE), by_id)
    open_ = (v < 0) & (id_name >= 0) & (w >= 0)
    if open_.any() and learned:
        alias = np.array([learned.get(code, NONE) for code in id_name[open_].tolist()], dtype=np.int64)
        v[open_] = ports.find(w[open_], alias)
    open_ = (v < 0) & (w >= 0)
    if open_.any():  # a port that neither the plan nor the device itself has told of: spare ports look like this
        best = np.where(id_name[open_] >= 0, id_name[open_], np.where(is_mac[open_], text[open_], NONE))
        v[open_] = ports.find_or_add(w[open_], best)
    return v


def _learned_names(id_name: Codes, text_name: Codes, by_id: Codes) -> dict[int, int]:
    """Vendor aliases that devices explain themselves: id `etp1`, description `Ethernet0`. Only where all agree."""
    use = (by_id < 0) & (id_name >= 0) & (text_name >= 0)
    if not use.any():
        return {}
    pairs = np.unique(np.stack([id_name[use], text_name[use]], axis=1), axis=0)
    counts = Counter(pairs[:, 0].tolist())
    return {alias: name for alias, name in pairs.tolist() if counts[alias] == 1}


def _announced(identity: Identity) -> tuple[dict[int, int], dict[int, int], dict[int, tuple[int, ...]]]:
    """Who announces whose name: (unplanned names and their owners, devices under another's name, shared names)."""
    votes = _votes(identity)
    planned = identity.index.devices.planned
    by_owner: dict[int, Counter[int]] = {}
    for (name, owner), count in votes.items():
        by_owner.setdefault(owner, Counter())[name] = count
    names: dict[int, int] = {}
    says: dict[int, set[int]] = {}
    for owner, counts in by_owner.items():
        name, count = counts.most_common(1)[0]
        if name >= planned:
            names[name] = owner
        elif name == owner or (count >= 2 and count > counts[owner]):
            says.setdefault(name, set()).add(owner)
    duplicates = {name: tuple(sorted(owners)) for name, owners in says.items() if len(owners) > 1}
    announces = {
        owner: name for name, owners in says.items() if len(owners) == 1 for owner in owners if owner != name
    }
    return names, announces, duplicates


def _votes(identity: Identity) -> Counter[tuple[int, int]]:
    """(name announced, device that owns it) with the number of claims that say so, wherever a witness speaks."""
    claims, ports = identity.claims, identity.index.ports
    named = _named_devices(
        identity.index, identity.seen.table(Neighbor).column("system_name")[claims.row] if len(claims.u) else [], {}
    )
    pairs = [_pack(named, claims.witness)]
    pairs.append(_reverse_votes(claims, ports.name_of(claims.u), ports.name_of(claims.v), ports.device_of(claims.u), named))
    packed, counts = np.unique(np.concatenate(pairs), return_counts=True)
    return Counter({(p >> 32, p & 0xFFFFFFFF): c for p, c in zip(packed.tolist(), counts.tolist(), strict=True) if p >= 0})


def _reverse_votes(claims: Claims, u_name: Codes, v_name: Codes, reporter: Codes, named: Codes) -> Codes:
    """Votes of the other end: u hears port q of X, X does not hear u on q, but device D does. So D announces itself as X."""
    known = claims.v >= 0
    u, v = claims.u[known], claims.v[known]
    agreed = np.isin(u << 32 | v, v << 32 | u)
    here, there = u << 24 | v_name[known], v << 24 | u_name[known]
    order = np.argsort(there, kind="stable")
    if not len(order):
        return np.empty(0, dtype=np.int64)
    match = order[np.minimum(np.searchsorted(there[order], here), len(order) - 1)]
    hit = (there[match] == here) & ~agreed
    name = named[known]
    return np.concatenate([_pack(name[agreed], name[agreed]), _pack(name[hit], reporter[known][match[hit]])])


def _pack(name: Codes, owner: Codes) -> Codes:
    return np.where((name >= 0) & (owner >= 0), name << 32 | owner, NONE)

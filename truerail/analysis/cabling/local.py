"""Resolves a device's own names for itself and its ports to the plan's.

A reading is filed under the name that its device announces. A plan may name a host's port by netdev, RDMA device, PCI
address, or `nicN`; the host's own name for it is one of these, and its other readings show which belong together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from truerail.analysis.cabling.host_nics import renumbered_hosts
from truerail.analysis.cabling.ib_names import ipoib_guid
from truerail.analysis.cabling.macs import MacTable
from truerail.analysis.cabling.spellings import is_no_netdev, ordinal
from truerail.model.bonds import bond_members, interfaces_of, of_a_bond
from truerail.model.columns import NONE, Codes, Mask, distinct, distinct_pairs, equals, found, grouped, unanimous
from truerail.model.facts import Neighbor, NetLink, PortIdentity, RdmaLink
from truerail.model.index import PlanIndex
from truerail.model.names import natural_key
from truerail.model.plan import Transport
from truerail.model.snapshot import Snapshot, Table


@dataclass(frozen=True)
class LocalNames:
    """The readings' devices and their ports in the plan's terms. `announces`: device code to the code of the name it
    announces; `by_number`: hosts whose RDMA devices the plan means by their numbers, whatever numbers other hosts give
    to the NICs in the same slots.
    """

    index: PlanIndex
    seen: Snapshot
    announces: Mapping[int, int] = field(default_factory=dict)
    by_number: frozenset[int] = frozenset()
    _filed: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    _row: dict[type[Any], tuple[Table[Any], Codes]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def filed(self, name: str) -> int:
        """The code under which a reading's device is filed: that of the name it announces."""
        if name not in self._filed:
            code = self.index.devices.find_or_add(name)
            self._filed[name] = self.announces.get(code, code)
        return self._filed[name]

    def devices_of(self, table: Table[Any]) -> Codes:
        """The device code of every row of a table, under the name it announces."""
        found = self._row.get(table.kind)
        if found is None or found[0] is not table:
            rows = np.array([self.filed(name) for name in table.devices], dtype=np.int64)[table.device]
            rows.setflags(write=False)
            found = self._row[table.kind] = (table, rows)
        return found[1]

    def ports(self, device: Codes, names: Codes) -> Codes:
        """Port codes of a device's own names for its ports, mapped to the plan's names where the plan uses others."""
        return self.as_planned(self._by_number(self.index.ports.find_or_add(device, names)))

    def _by_number(self, ports: Codes) -> Codes:
        """The ports under their interfaces' names where they are reported by RDMA devices that are numbered otherwise
        than planned.
        """
        of_host, rdma = self.renumbered, self.seen.table(RdmaLink)
        if not of_host:
            return ports
        rows = np.array([row for rows in of_host.values() for row in rows], dtype=np.int64)
        called = self.index.ports.name_codes(rdma.column("device")[rows])
        reported = self.index.ports.find(self.devices_of(rdma)[rows], called)
        table = np.append(np.arange(len(self.index.ports)), NONE)
        table[reported[reported >= 0]] = self.own_rdma[rows[reported >= 0]]
        return table[ports]

    renumbered = cached_property(renumbered_hosts)
    """Hosts that number their RDMA devices otherwise than planned: host code to row of the RdmaLink table to the
    planned port that the device is, -1 where it is none.
    """

    def as_planned(self, ports: Codes) -> Codes:
        """The planned port for each port that its device has reported to be the same one; the port itself elsewhere."""
        alias = self._aliases
        if not len(alias):
            return ports
        known = (ports >= 0) & (ports < len(alias))
        return np.where(known, alias[np.where(known, ports, 0)], ports)

    def as_own(self, ports: Codes) -> Codes:
        """The opposite of `as_planned`; ports of hosts without readings as those with readings call theirs."""
        alias, of = self._aliases, self.index.ports
        if not len(alias):
            return ports
        other = np.flatnonzero(alias != np.arange(len(alias)))
        called = {planned: own for own, planned in self.learned().items()}
        name = np.array([called.get(code, code) for code in of.name_of(ports).tolist()], dtype=np.int64)
        own = np.arange(len(of) + 1, dtype=np.int64)
        silent = (ports >= 0) & (name != of.name_of(ports)) & ~np.isin(ports, alias[other])
        own[ports[silent]] = of.find_or_add(of.device_of(ports[silent]), name[silent])
        own[alias[other]] = other
        return np.where(ports >= 0, own[ports], ports)

    def sent(self, device: Codes, ids: Codes) -> Codes:
        """The ports that send these ids, by their own devices' reports; -1 where there is none. Shapes (n,)."""
        keys, ports = self._sent
        return np.append(ports, NONE)[found(keys, device << 32 | ids)]

    @cached_property
    def _sent(self) -> tuple[Codes, Codes]:
        """Ids that ports send, device << 32 | code of the id, in order, and those ports."""
        kinds = (Neighbor, "port", "local_port_id"), (NetLink, "netdev", "aliases"), (PortIdentity, "port", "port_id")
        reported = [self._reported_ids(*kind) for kind in kinds]
        device, ids, names = (np.concatenate(columns) for columns in zip(*reported, strict=True))
        # an alias that is the name of another port as well may be a label: which one is meant is found elsewhere
        own = self.index.ports.find_or_add(device, names)
        use = (self.index.ports.find(device, ids) < 0) & (own >= 0) & (ids >= 0)
        sent, ports = distinct_pairs(device[use] << 32 | ids[use], own[use])
        keys, first, count = np.unique(sent, return_index=True, return_counts=True)
        return keys[count == 1], self.as_planned(ports[first[count == 1]])

    def _reported_ids(self, kind: type[Any], port: str, column: str) -> tuple[Codes, Codes, Codes]:
        """Devices, codes of the ids that they report their ports to send, and codes of the ports' names: of
        switches.
        """
        table, of = self.seen.table(kind), self.index.ports
        device, ids = self.devices_of(table), table.column(column)
        rows = np.flatnonzero(~equals(ids, None) & (self.index.devices.tiers[device] != 0))
        pairs = [(row, one) for row in rows.tolist() for one in ((ids[row],) if type(ids[row]) is str else ids[row])]
        at = np.array([row for row, _ in pairs], dtype=np.int64)
        return device[at], of.name_codes(one for _, one in pairs), of.name_codes(table.column(port)[at])

    @cached_property
    def link_ports(self) -> Codes:
        """The port of every row of the NetLink table."""
        return self.as_planned(self.own_links)

    @cached_property
    def rdma_ports(self) -> Codes:
        """The port of every row of the RdmaLink table: its netdev, or the device itself where it has none."""
        return self.as_planned(self.own_rdma)

    def rdma_members(self) -> tuple[Codes, Codes]:
        """Rows of the RdmaLink table, and the port of each: a bond's RDMA device covers all members of the bond, in
        several rows. Shapes (n,).
        """
        row, own = self._own_members
        return row, self.as_planned(own)

    @cached_property
    def _own_members(self) -> tuple[Codes, Codes]:
        """`rdma_members`, with the ports under the devices' own names."""
        table, row, own = self.seen.table(RdmaLink), np.arange(len(self.own_rdma)), self.own_rdma
        rdma, host, bonded = table.rows, self.devices_of(table), self._bonded
        several = [
            (one, name)
            for one in np.flatnonzero(np.isin(host, [*bonded])).tolist()
            if (members := interfaces_of(rdma[one], bonded[int(host[one])])) != (rdma[one].netdev,)
            for name in members
        ]
        at = np.array([one for one, _ in several], dtype=np.int64)
        members_at = self.index.ports.find_or_add(host[at], self.index.ports.name_codes(name for _, name in several))
        rest = ~np.isin(row, at)
        return np.concatenate([row[rest], at]), np.concatenate([own[rest], members_at])

    @cached_property
    def _bonded(self) -> Mapping[int, Mapping[str, tuple[str, ...]]]:
        """The members of each bond, by the code of the host that has it."""
        links = self.seen.table(NetLink)
        member = np.flatnonzero(links.codes("master")[0] >= 0)
        hosts = self.devices_of(links)[member].tolist()
        of_host = grouped(zip(hosts, (links.rows[row] for row in member.tolist()), strict=True))
        return {host: members for host, rows in of_host.items() if (members := bond_members(rows))}

    def members(self) -> Codes:
        """The ports that are members of bonds."""
        hosts = self._bonded
        names = [(host, name) for host, bonds in hosts.items() for members in bonds.values() for name in members]
        device = np.array([host for host, _ in names], dtype=np.int64)
        return self.ports(device, self.index.ports.name_codes(name for _, name in names))

    def blind(self) -> Mask:
        """Hosts with an RDMA device on a bond whose members were not read, shape (devices + 1,): its planned NICs are
        unknown.
        """
        table, marked = self.seen.table(RdmaLink), self.index.devices.marked
        columns = [table.codes(column) for column in ("device", "netdev")]  # few distinct names on many hosts
        bonded = [np.array([*map(of_a_bond, names), False], dtype=bool)[codes] for codes, names in columns]
        # a reading with interfaces contains members
        return marked(self.devices_of(table)[bonded[0] | bonded[1]]) & ~marked(
            self.devices_of(self.seen.table(NetLink))
        )

    def rdma_called(self, device: Codes, names: Codes) -> Codes:
        """The ports whose RDMA devices have these names on these devices, as the hosts themselves report; -1 elsewhere.

        The second port of `mlx5_0` is called `mlx5_0/2`. Shapes (n,).
        """
        table, ports = self.seen.table(RdmaLink), self.rdma_ports
        codes, links = table.codes("device", "port")
        called = self.index.ports.name_codes(device if port == 1 else f"{device}/{port}" for device, port in links)
        known = self.devices_of(table) << 32 | called[codes]
        order = np.argsort(known, kind="stable")
        return np.append(ports[order], NONE)[found(known[order], device << 32 | names)]

    @cached_property
    def own_links(self) -> Codes:
        """The port of every row of the NetLink table under the device's own name for it."""
        table = self.seen.table(NetLink)
        return self.index.ports.find_or_add(self.devices_of(table), self.index.ports.names_in(table, "netdev"))

    @cached_property
    def own_rdma(self) -> Codes:
        """The port of every row of the RdmaLink table under the device's own name for it."""
        table = self.seen.table(RdmaLink)
        name, called = (self.index.ports.names_in(table, field) for field in ("netdev", "device"))
        return self.index.ports.find_or_add(self.devices_of(table), np.where(name < 0, called, name))

    def learned(self) -> dict[int, int]:
        """Names that hosts with readings use for the plan's ports, name code to name code, where all of them agree.

        Shows which planned NIC is meant where a leaf hears a host without readings.
        """
        ports, alias = self.index.ports, self._aliases
        own = np.flatnonzero(alias != np.arange(len(alias)))
        return unanimous(ports.name_of(own), ports.name_of(alias[own]))

    def unmapped(self, port: Codes) -> Mask:
        """Ports of hosts that did not answer, under a name that cannot be in the plan because it names no netdevs."""
        index, marked = self.index, self.index.devices.marked
        answered = np.concatenate([self.devices_of(self.seen.table(kind)) for kind in (NetLink, RdmaLink)])
        # the RDMA devices of members are gone, so their names mean no interface
        silent = ~marked(answered) | marked([*self._bonded])
        foreign = marked(index.a_device[self.nics_named(is_no_netdev)])
        return np.asarray((port >= index.planned_ports) & (silent & foreign)[index.ports.device_of(port)], dtype=bool)

    def nics_named(self, is_so: Callable[[str], bool]) -> Mask:
        """Cables of hosts whose NICs have such names, shape (cables,)."""
        ports, called = self.index.ports, self.index.ports.name_of(self.index.a)
        names = [code for code in distinct(called).tolist() if is_so(ports.spelled(code))]
        return np.asarray(self.index.from_host & np.isin(called, names), dtype=bool)

    macs = cached_property(MacTable)
    """The MACs that all devices list."""

    @cached_property
    def pci(self) -> Mapping[int, str | None]:
        """The PCI address of each interface, by the port under its own name."""
        addresses = self.seen.table(NetLink).column("pci_address").tolist()
        return dict(zip(self.own_links.tolist(), addresses, strict=True))

    @cached_property
    def _aliases(self) -> Codes:
        """The planned port for each port code, where planned ports are not netdevs. Empty where none is needed."""
        index, links, rdma = self.index, self.seen.table(NetLink), self.seen.table(RdmaLink)
        link_device, rdma_device = self.devices_of(links), self.devices_of(rdma)
        link_own, rdma_own = self.own_links, self.own_rdma
        asked = np.isin(index.a_device, np.concatenate([link_device, rdma_device]))
        lone = np.flatnonzero(equals(rdma.column("netdev"), None) & ~equals(rdma.column("guid"), None))
        known = np.concatenate([link_own, rdma_own])
        reported = np.isin(index.b_device, link_device)
        whole = np.isin(index.a[index.from_host & asked], known).all() and np.isin(index.b[reported], known).all()
        if not len(lone) and whole:
            return np.empty(0, dtype=np.int64)
        unplanned = np.flatnonzero(link_own >= index.planned_ports)
        others = [(row, alias) for row in unplanned.tolist() for alias in links.rows[row].aliases]
        at = np.array([row for row, _ in others], dtype=np.int64)
        find, coded, planned = index.ports.find, index.ports.name_codes, index.planned_ports
        pairs = [
            (rdma_own, find(rdma_device, coded(rdma.column("pci_address")))),
            (rdma_own, find(rdma_device, coded(rdma.column("device")))),
            self._ordinals(),
            (link_own, find(link_device, coded(links.column("pci_address")))),
            (link_own[at], find(link_device[at], coded(alias for _, alias in others))),
        ]
        planned_for = np.arange(len(index.ports), dtype=np.int64)
        for own, other in pairs:
            # a netdev that the plan has under its own name needs no alias; ifAlias is free text and must not give one
            use = (other >= 0) & (other < planned) & (own >= planned) & ~np.isin(other, link_own)
            planned_for[own[use]] = other[use]
        for row, port in (pair for rows in self.renumbered.values() for pair in rows.items()):
            planned_for[rdma_own[row]] = port if port >= 0 else rdma_own[row]
        above = np.append(planned_for, NONE)[self._ipoib(lone)]
        use = (above >= 0) & (above < planned) & (planned_for[rdma_own[lone]] >= planned)
        planned_for[rdma_own[lone[use]]] = above[use]
        return planned_for

    def _ipoib(self, lone: Codes) -> Codes:
        """The interface above each of these RDMA devices, which do not report it: the one with its GUID (IPoIB)."""
        links, rdma = self.seen.table(NetLink), self.seen.table(RdmaLink)
        guids = zip(self.devices_of(links).tolist(), map(ipoib_guid, links.column("mac").tolist()), strict=True)
        above = dict(zip(guids, self.own_links.tolist(), strict=True))
        wanted = zip(self.devices_of(rdma)[lone].tolist(), rdma.column("guid")[lone].tolist(), strict=True)
        return np.array([above.get(one, NONE) for one in wanted], dtype=np.int64)

    def _ordinals(self) -> tuple[Codes, Codes]:
        """`nic3` in a plan is the fourth RDMA device of the host, in the order of names, of those that the plan can
        mean; the third of a plan that counts to the number of devices, from one.
        Where some are bonded, the names of bonds are counted separately: the members count, in the order of their PCI
        addresses.
        """
        index, rdma, (rows, own) = self.index, self.seen.table(RdmaLink), self._own_members
        wanted: dict[int, dict[int, int]] = {}
        for cable in np.flatnonzero(index.from_host).tolist():
            if (number := ordinal(index.a_port(cable).name)) is not None:
                wanted.setdefault(int(index.a_device[cable]), {})[number] = int(index.a[cable])
        hosts = self.devices_of(rdma)[rows]
        use = np.isin(hosts, [*wanted])
        if index.plan.transport is Transport.INFINIBAND:
            use &= ~equals(rdma.column("link_layer")[rows], "Ethernet")
        nics: dict[int, list[tuple[object, int]]] = {}
        for host, name, port in zip(
            hosts[use].tolist(), rdma.column("device")[rows[use]], own[use].tolist(), strict=True
        ):
            place = self.pci.get(port) if host in self._bonded else ""
            nics.setdefault(host, []).append(((natural_key(place or ""), natural_key(name)), port))
        pairs: list[tuple[int, int]] = []
        for host, numbers in wanted.items():
            of_host = [port for _, port in sorted(nics.get(host, ()), key=itemgetter(0))]
            from_one = 0 not in numbers and max(numbers) == len(of_host)
            pairs += [(port, numbers[at]) for at, port in enumerate(of_host, int(from_one)) if at in numbers]
        own, planned = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return own, planned

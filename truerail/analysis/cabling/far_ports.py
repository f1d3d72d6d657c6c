"""Resolves the port of the neighbour from the port id and the description that it sends.

Decided in this order; a later step never contradicts an earlier one:

1. The MAC of one port, or the name of a port of that device.
2. What the device itself reports that it sends on its ports (`LocalNames.sent`).
3. The other end: port p of that device hears the port that hears this id.
4. The scheme of aliases of the device's platform (`alias_schemes`), where most of its cables agree with it.
5. A description that consists of the name of a port. A host that sends a MAC has no alias, so that its description is
   the interface's own name (lldpd's interfaces.c). So is that of a host in a table that has no id beside it (Junos'
   brief form) and whose own device has no such port. Elsewhere people write descriptions, mostly the planned
   neighbour's name: one may confirm the planned port, and never shows that a cable is in another one.
6. A name like those of the device's known ports is one that the plan does not have.

What remains is the right device with its port unknown: it supports the planned cable of that device, and contradicts
nothing. Text with blanks is never a port's name.
"""

import re
from typing import NamedTuple

import numpy as np

from truerail.analysis.cabling.alias_schemes import agreeing, schemes
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, Mask, Objects, distinct, distinct_pairs, either, equals, unanimous
from truerail.model.index import PlanIndex

_UNIT = re.compile(r"^(.*\S)\.\d+$")
"""A VLAN on an interface, or a logical unit of Junos: `enp1s0f0.100`, `et-0/0/0.0`."""
_TRAILING = re.compile(r"(.*?)(\d{1,9})")
_LABEL = re.compile(r"(?:to )?([^\s:]+)(?::| )([^\s:]\S*)")
_LONGEST_NUMBER = 10
"""Digits of the largest SNMP index."""
MIN_IN_ORDER = 3
"""Minimum number of ports of a switch whose numbers define an order."""


class Heard(NamedTuple):
    """Neighbours that ports hear, a row each: shapes (rows,). `u` is the port that hears, `w` the device heard, `owner`
    the port that has the MAC in the port id; -1 where there is none.
    """

    u: Codes
    w: Codes
    owner: Codes
    is_mac: Mask
    """Whether the port id is a MAC, by its type."""
    vague: Mask
    """Whether the type of the port id is `local`, or unknown: it may be any text."""
    port_id: Objects
    description: Objects

    def at(self, rows: Codes) -> "Heard":
        """Some of the rows."""
        return Heard._make(column[rows] for column in self)


def far_ports(names: LocalNames, heard: Heard) -> tuple[Codes, Mask]:
    """The port heard in each row, -1 where it is unknown; and where the port is unknown, whether something suggests a
    port other than the planned one.
    """
    ports = names.index.ports
    is_mac, vague = heard.is_mac, heard.vague
    id_name = np.where(is_mac, NONE, ports.name_codes(either(is_mac, None, heard.port_id)))
    owner = np.where(_shared_macs(names.index, heard), NONE, heard.owner)
    v = ports.find(heard.w, ports.name_of(owner))
    direct = ports.find(heard.w, id_name)
    if names.index.called:  # a switch may send what the plan calls its ports, and report other names itself
        direct = np.where(direct < 0, names.index.find(heard.w, either(is_mac, None, heard.port_id)), direct)
    v = names.as_planned(np.where((v < 0) & ~vague, direct, v))
    doubt = np.zeros(len(v), dtype=bool)
    rows = np.flatnonzero((v < 0) & (heard.w >= 0))
    if len(rows):
        back = _heard_back(names.index, heard, v, rows)
        open_ = _Open(names, heard.at(rows), id_name[rows], names.as_planned(direct[rows]), back)
        v[rows], doubt[rows] = open_.resolved()
    v = names.as_planned(v)
    return np.where(names.unmapped(v), NONE, v), doubt


def _shared_macs(index: PlanIndex, heard: Heard) -> Mask:
    """Where a switch sends a MAC that belongs to no single port: of its management port, or heard from several of its
    ports, as SONiC's are until their aliases are set (sonic-buildimage#4300).
    """
    switch = index.devices.tiers[index.ports.device_of(heard.owner)] > 0
    rows = np.flatnonzero(switch)
    owner, _ = distinct_pairs(heard.owner[rows], heard.u[rows])
    owners, count = np.unique(owner, return_counts=True)
    several = owners[count > 1]
    return np.asarray(switch & ((heard.owner >= index.planned_ports) | np.isin(heard.owner, several)), dtype=bool)


def _heard_back(index: PlanIndex, heard: Heard, v: Codes, rows: Codes) -> Codes:
    """The one port of the device heard that hears the port that hears it, for some rows; -1 where there is none."""
    reported = np.flatnonzero(v >= 0)
    device = index.ports.device_of(heard.u)
    key, first, count = np.unique(device[reported] << 32 | v[reported], return_index=True, return_counts=True)
    wanted = heard.w[rows] << 32 | heard.u[rows]
    if not len(key):
        return np.full(len(rows), NONE, dtype=np.int64)
    place = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    _, inverse, times = np.unique(wanted, return_inverse=True, return_counts=True)
    hit = (key[place] == wanted) & (count[place] == 1) & (times[inverse] == 1)
    return np.where(hit, heard.u[reported[first[place]]], NONE)


class _Open:
    """Rows whose port id is no known MAC and no interface name of the device heard. Shapes (rows,)."""

    def __init__(self, names: LocalNames, heard: Heard, id_name: Codes, direct: Codes, back: Codes) -> None:
        self.names, self.heard, self.id_name, self.direct, self.back = names, heard, id_name, direct, back
        self.ports, self.index = names.index.ports, names.index
        self.is_mac, self.vague = heard.is_mac, heard.vague
        self.wanted = self.index.far_ends(self.heard.u)
        self.reference = self.ports.name_of(np.where(back >= 0, back, self.wanted))
        self.known = heard.w < self.index.devices.planned
        self.doubt = np.zeros(len(back), dtype=bool)

    def resolved(self) -> tuple[Codes, Mask]:
        """The ports, and the doubts about those that are unknown."""
        v = self.names.sent(self.heard.w, np.where(self.vague, self.id_name, NONE))
        by_scheme, own_names = self._by_scheme()
        agreed = (self.direct >= 0) & (self.direct == self.back)
        agreed |= self._planned_in_aliases(self.back) | self._planned_in_aliases(by_scheme)
        for found in (np.where(agreed, self.direct, NONE), self._heard_back(by_scheme), by_scheme):
            v = np.where(v < 0, found, v)
        for find in (self._by_what_others_call_it, self._of_its_interface, self._described):
            rest = np.flatnonzero((v < 0) & self.known)
            if len(rest):
                v[rest] = find(rest)
        rest = np.flatnonzero(v < 0)
        if len(rest):
            v[rest] = self._spare(rest, own_names)
        by_order = self._out_of_order(np.flatnonzero(self.known & self.vague))
        rest = np.flatnonzero((v < 0) & (by_order >= 0))
        if len(rest):
            described = self.ports.find(self.heard.w[rest], self._texts(rest))
            v[rest] = np.where(described == by_order[rest], described, NONE)
            self.doubt[rest] = True
        self._labelled(np.flatnonzero((v < 0) & self.known))
        return v, self.doubt & (v < 0) & (self.ports.device_of(self.wanted) == self.heard.w)

    def _heard_back(self, by_scheme: Codes) -> Codes:
        """Where an alias scheme and the other end contradict each other, one of them is old: neither is used. Neither
        is the other end where a switch sends a MAC and describes another port by its name: the other end may hear this
        name from another switch, as with swapped labels, and the port sends its own.
        """
        described = self.names.as_planned(self.ports.find(self.heard.w, self._texts(np.arange(len(self.back)))))
        reported = np.where(by_scheme >= 0, by_scheme, np.where(self.is_mac & ~self._hosts(), described, NONE))
        clash = (reported >= 0) & (self.back >= 0) & (reported != self.back)
        return np.where(clash, NONE, self.back)

    def _hosts(self) -> Mask:
        """Which of the devices heard are hosts."""
        return np.asarray(self.index.devices.tiers[self.heard.w] == 0, dtype=bool)

    def _by_scheme(self) -> tuple[Codes, Mask]:
        """Ports by alias schemes; and whether the device is found to send its ports' own names."""
        said = np.where(self.is_mac, NONE, self.id_name)
        devices = np.where(self.known, self.heard.w, NONE)
        offers = [(self.direct, said >= 0), *schemes(self.names, devices, said)]
        found, first = agreeing(self.ports, devices, self.reference, [o for o in offers if o[1].any()])
        own = self.vague & (self.direct >= 0) & (found < 0)
        # an alias may look like another port's name: without an agreed scheme, such a name only confirms the plan
        rival = np.zeros(len(own), dtype=bool)
        for proposal, _ in offers[1:]:
            rival |= (proposal >= 0) & (self.ports.name_of(proposal) == self.reference)
        take = own & (~rival | (self.ports.name_of(self.direct) == self.reference))
        return np.where(take, self.direct, found), first

    def _planned_in_aliases(self, found: Codes) -> Mask:
        """Where a port is found under a switch's own name, the id heard is itself a planned port's name, and the plan
        names no port of the switch in the form of its own names: the plan has the aliases, and the id is the port.
        """
        aliases = (self.direct >= 0) & (self.direct < self.index.planned_ports) & (found >= self.index.planned_ports)
        rows = np.flatnonzero(aliases)
        if len(rows):
            planned = np.arange(self.index.planned_ports)
            form = self.ports.forms(self.ports.name_of(np.concatenate([planned, found[rows]])))
            form |= self.ports.device_of(np.concatenate([planned, found[rows]])) << 32
            aliases[rows] = ~np.isin(form[len(planned) :], form[: len(planned)])
        return aliases

    def _by_what_others_call_it(self, rows: Codes) -> Codes:
        """By the names that hosts with readings use for the planned ports, and what other devices' ports were found to
        send.
        """
        number = np.array([_is_number(text) for text in self.heard.port_id], dtype=bool)
        known = (self.back >= 0) & (self.id_name >= 0)
        reported = np.flatnonzero(known & ~number & ~np.isin(self.id_name, self._sent_by_several()))
        learned = unanimous(self.id_name[reported], self.ports.name_of(self.back[reported])) | self.names.learned()
        if not learned:
            return np.full(len(rows), NONE, dtype=np.int64)
        text = self._texts(rows)
        said = np.where(self.is_mac[rows], text, np.where(number[rows], NONE, self.id_name[rows])).tolist()
        name = np.array([learned.get(code, NONE) for code in said], dtype=np.int64)
        return self.ports.find(self.heard.w[rows], name)

    def _sent_by_several(self) -> Codes:
        """Ids that most of the devices that send them send on several ports, as `p0` of each DPU: they name none."""
        sent, _ = distinct_pairs(self.id_name << 32 | self.heard.w + 1, self.heard.u)
        _, first, ports = np.unique(sent, return_index=True, return_counts=True)
        ids, inverse, devices = np.unique(sent[first] >> 32, return_inverse=True, return_counts=True)
        most = 2 * np.bincount(inverse, weights=ports > 1, minlength=len(ids)) > devices
        return np.asarray(ids[most], dtype=np.int64)

    def _of_its_interface(self, rows: Codes) -> Codes:
        """The interface of a VLAN or a unit on it."""
        ids = zip(self.heard.port_id[rows], self.is_mac[rows], strict=True)
        units = (_UNIT.match(text) if text and not mac else None for text, mac in ids)
        return self.ports.find(self.heard.w[rows], self.ports.name_codes(unit and unit[1] for unit in units))

    def _texts(self, rows: Codes) -> Codes:
        """Descriptions as port names, -1 where they cannot be one."""
        texts = self.heard.description[rows]
        return self.ports.name_codes(text if text and " " not in text else None for text in texts)

    def _described(self, rows: Codes) -> Codes:
        """By a description that is a port's name."""
        text = self._texts(rows)
        found = self.names.as_planned(self.ports.find(self.heard.w[rows], text))
        host = self._hosts()[rows]
        agrees = (found >= 0) & (self.ports.name_of(found) == self.reference[rows])
        own = host & (self.is_mac[rows] | self._names_its_own(rows, text))
        # a host's MAC without an owner, with the name of an interface that is not in the plan: another adapter's?
        other = self.is_mac[rows] & (found < 0) & self._alike(self.heard.w[rows], text)
        self.doubt[rows] |= other | (self.is_mac[rows] & ~host & (found >= 0) & ~agrees)
        return np.where(agrees | own, found, NONE)

    def _names_its_own(self, rows: Codes, text: Codes) -> Mask:
        """Whether a description without an id names no port of the device that hears it: tables without ids (Junos'
        brief form) show a host's interface so. A label on a host's NIC would name its neighbour's port.
        """
        unnamed = equals(self.heard.port_id[rows], None)
        return np.asarray(unnamed & (self.ports.find(self.ports.device_of(self.heard.u[rows]), text) < 0), dtype=bool)

    def _spare(self, rows: Codes, own_names: Mask) -> Codes:
        """A port that neither the plan nor the device itself names."""
        w, name = self.heard.w[rows], self.id_name[rows]
        texts = self.heard.port_id[rows]
        named = np.array([bool(text) and " " not in text and not text.isdigit() for text in texts], dtype=bool)
        like = self._alike(w, name) & (~self.vague[rows] | own_names[rows])
        unplanned = ~self.known[rows]
        described = unplanned & ~named
        name = np.where(described, self._texts(rows), name)
        use = (named & ~self.is_mac[rows] & (like | unplanned)) | described
        return self.ports.find_or_add(w, np.where(use, name, NONE))

    def _alike(self, device: Codes, name: Codes) -> Mask:
        """Whether these names have the form of the known port names of their devices."""
        all_ports = np.arange(len(self.ports))
        form = self.ports.forms(np.concatenate([self.ports.name_of(all_ports), name]))
        known = distinct(self.ports.device_of(all_ports) << 32 | form[: len(all_ports)])
        return np.asarray((name >= 0) & np.isin(device << 32 | form[len(all_ports) :], known), dtype=bool)

    def _out_of_order(self, rows: Codes) -> Codes:
        """Ports that send numbers of their own (Junos) are numbered in their order: the planned ports of the numbers
        that are out of that order, as far as the order shows; -1 elsewhere.
        """
        found = np.full(len(self.vague), NONE, dtype=np.int64)
        rows = rows[[_is_number(text) for text in self.heard.port_id[rows]]] if len(rows) else rows
        rows = rows[self.reference[rows] >= 0]
        if len(rows) < MIN_IN_ORDER:
            return found
        names, code = np.unique(self.reference[rows], return_inverse=True)
        split = [_TRAILING.fullmatch(self.ports.spelled(int(name))) for name in names]
        stems: dict[str, int] = {}
        stem = np.array([stems.setdefault(s.group(1), len(stems)) if s else NONE for s in split])[code]
        number = np.array([int(s.group(2)) if s else 0 for s in split], dtype=np.int64)[code]
        offset = np.array([int(text) for text in self.heard.port_id[rows]], dtype=np.int64) - number
        group = np.unique(self.heard.w[rows] << 24 | (stem + 1), return_inverse=True)[1]
        order = np.argsort(group, kind="stable")
        for of in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            offsets, count = np.unique(offset[of], return_counts=True)
            if len(offsets) > 1 and 2 * int(count.max()) > len(of) >= MIN_IN_ORDER and stem[of[0]] >= 0:
                usual = int(offsets[np.argmax(count)])
                name_of = dict(zip(number[of].tolist(), self.reference[rows[of]].tolist(), strict=True))
                odd = of[offset[of] != usual]
                due = (number[odd] + offset[odd] - usual).tolist()
                name = np.array([name_of.get(one, NONE) for one in due], dtype=np.int64)
                # on its own device also a port whose planned cable is not heard and that is in no row: else it passed
                others = self.ports.name_codes(f"{list(stems)[stem[of[0]]]}{one}" for one in due)
                home = self.ports.device_of(self.wanted[rows[odd]]) == self.heard.w[rows[odd]]
                name = np.where((name < 0) & home, others, name)
                found[rows[odd]] = self.ports.find(self.heard.w[rows[odd]], name)
        return found

    def _labelled(self, rows: Codes) -> None:
        """Descriptions that name a planned neighbour (`gpu-003:enp1s0`): where most name the port that hears them, one
        that names another is a reason for doubt. Nothing more: it may be an old one.
        """
        # some tables have one column for both (Junos' brief form)
        either_ = zip(self.heard.description[rows], self.heard.port_id[rows], strict=True)
        texts, find = [text or port_id for text, port_id in either_], self.index.devices.find
        split = [_LABEL.fullmatch(text) if text else None for text in texts]
        device = np.array([find(s.group(1)) if s else NONE for s in split], dtype=np.int64)
        meant = self.ports.find(device, self.ports.name_codes(s.group(2) if s else None for s in split))
        meant = np.where(meant < self.index.planned_ports, meant, NONE)
        reported, agrees = meant >= 0, meant == self.heard.u[rows]
        if 2 * np.count_nonzero(agrees) > np.count_nonzero(reported):
            self.doubt[rows[reported & ~agrees]] = True


def _is_number(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER

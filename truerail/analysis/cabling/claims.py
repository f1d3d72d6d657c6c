"""Resolves LLDP names, MACs and port ids to devices and ports of the plan.

Every neighbour that a device reports becomes a *claim*: "my port u is wired to port v of device w". The known traps,
each met in the field, and how they are handled:

- A device is named by its short or full name, in any case, with a serial behind it, by an alias, or not at all (then
  its chassis id or its port's MAC identifies it).
- A port is named by its name, by a vendor's alias (`etp1` for `Ethernet0`), by a MAC, or by a number (`far_ports`).
- A DPU in NIC mode may announce its MAC plus 0x10, its ARM one that is 0x10 or 0x25 more than the host's: a hint.

Two ports that hear only each other's device are a pair where no other ports are possible (`_only_pairs`). A brief table
may name the neighbour and not its port (Junos without `lldp-remote-port-id`, and numbers without a translation). Where
only one port of a host hears a leaf, and only one port of that leaf hears the host, they are the two ends of one cable:
unless another cable between the two is heard at neither of them. So every planned port of one of the two devices must
hear a neighbour, and each of the two ports one device alone.

A chassis id may be that of two switches (`_of_shared_chassis`). An MLAG pair, or a stack, may have one chassis id.
lldpd keeps one name for each id: that of the switch whose frame came last, for the ports of both. Such a name is no
witness of which of them is meant, but the other end is.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from truerail.analysis.cabling.far_ports import Heard, far_ports
from truerail.analysis.cabling.host_nics import dpu_hosts, numbered_ports
from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import (
    NONE,
    Codes,
    Mask,
    Objects,
    distinct,
    distinct_pairs,
    either,
    factorize,
    grouped,
    renumbered,
    unanimous,
)
from truerail.model.facts import Neighbor
from truerail.model.index import PlanIndex
from truerail.model.names import DEFAULT_NAMES, device_key, short_name


class Claims(NamedTuple):
    """LLDP claims, a row per neighbour heard: shapes (rows,).

    `u` the reporting port, `v` the port it hears (-1 if unknown), `w` the device it hears (-1 if unknown), `named` the
    device by the announced name alone, `witness` the device that owns the MACs heard (-1 where unknown), `row` the row
    of the Neighbor table, `doubt` whether something suggests, without naming it, that an unknown port is not the
    planned one.
    """

    u: Codes
    v: Codes
    w: Codes
    named: Codes
    witness: Codes
    row: Codes
    doubt: Mask

    def and_(self, others: "Claims") -> "Claims":
        """These claims followed by others."""
        return Claims._make(map(np.concatenate, zip(self, others, strict=True)))

    def where(self, keep: Mask) -> "Claims":
        """The claims selected by a mask."""
        return Claims._make(column[keep] for column in self)


def _no_claims() -> Claims:
    empty = np.empty(0, dtype=np.int64)
    return Claims(empty, empty, empty, empty, empty, empty, empty.astype(bool))


def read_claims(
    names: LocalNames,
    owners: Mapping[int, int] = MappingProxyType({}),
    split: frozenset[int] = frozenset(),
    known_ids: Mapping[str, int] = MappingProxyType({}),
) -> Claims:
    """Every neighbour heard over LLDP, resolved as far as the facts allow.

    `owners` maps names that are not in the plan to the devices found to carry them; `split` are names that several
    devices announce, which only MACs can distinguish; `known_ids` are chassis ids already resolved to these devices.
    """
    index, table = names.index, names.seen.table(Neighbor)
    if not len(table):
        return _no_claims()
    spoken, words = table.codes("via")  # -1 where the source reports LLDP only
    row = np.flatnonzero(np.array([*(word.upper().startswith("LLDP") for word in words), True], dtype=bool)[spoken])
    reporter = names.devices_of(table)[row]
    on, locals_ = table.codes("port")
    u = names.ports(reporter, np.append(index.ports.name_codes(name or None for name in locals_), NONE)[on[row]])
    macs = names.macs
    port_id, (kind, kinds) = table.column("port_id")[row], table.codes("port_id_type")
    is_mac = np.array([*(one == "mac" for one in kinds), False], dtype=bool)[kind[row]]
    vague = np.array([*(one == "local" for one in kinds), True], dtype=bool)[kind[row]]
    owner = macs.ports(port_id, is_mac)
    witness = index.ports.device_of(owner)
    chassis = table.column("chassis_id")[row]
    witness = np.where(witness >= 0, witness, macs.devices(chassis))
    system, system_names = renumbered(table.codes("system_name")[0][row], table.codes("system_name")[1])
    named = _named_devices(index, system_names, owners)[system]
    split = split | _never_named(index, system, system_names, chassis)
    w = _heard_devices(index, named, witness, chassis, split, known_ids)
    dpu = dpu_hosts(index, system_names)[system]
    w, named = np.where((dpu >= 0) & (w == named), dpu, w), np.where(dpu >= 0, NONE, named)
    w = _by_address(index, w, table.column("management_addresses")[row])
    shifted = macs.offset_ports(port_id, is_mac & (owner < 0) & (w >= 0))
    owner = np.where((owner < 0) & (index.ports.device_of(shifted) == w), shifted, owner)
    heard = Heard(u, w, owner, is_mac, vague, port_id, table.column("port_description")[row])
    v, doubt = far_ports(names, heard)
    by_name = (named >= 0) & (named == w) & (index.ports.device_of(owner) != w)
    shared = _of_a_shared_name(index, u, v, either(~by_name, None, chassis))
    v, doubt = np.where(shared, NONE, v), doubt | shared
    v, w = _of_shared_chassis(index, u, v, w, chassis)
    hint = macs.arm_ports((port_id, chassis), (dpu >= 0) & (v < 0) & (w == dpu) & ~doubt, w)
    agrees = _agrees(index, u, w, hint)
    v, doubt = np.where((hint >= 0) & agrees, hint, v), doubt | ((hint >= 0) & ~agrees)
    unknown = np.flatnonzero((v < 0) & ~doubt & (dpu >= 0) & (w == dpu))
    if len(unknown):
        names_sent = [system_names[code] for code in system[unknown].tolist()]
        sent = either(is_mac[unknown], None, port_id[unknown])
        v[unknown] = numbered_ports(index, u[unknown], w[unknown], names_sent, sent)
    v = _only_pairs(index, u, v, w, ~doubt, split)
    old = _outdated(index, u, v, table.column("age_seconds")[row])
    v, w = np.where(old, NONE, v), np.where(old, NONE, w)
    return Claims(u, v, w, named, witness, row, doubt).where(u >= 0)


def nameless_chassis(names: LocalNames, claims: Claims) -> dict[str, int]:
    """Chassis ids of devices that have no name of their own, or share one, resolved by the other ends of their cables:
    the only device that hears a port which hears the id. Two ports or more must agree, and none may contradict.
    """
    index = names.index
    lost = np.flatnonzero((claims.w < 0) & (claims.named >= 0))
    if not len(lost):
        return {}
    back = distinct(claims.v << 32 | index.ports.device_of(claims.u))
    back = back[(back >= 0) & np.isin(back >> 32, claims.u[lost])]
    port, count = np.unique(back >> 32, return_counts=True)
    only = dict(zip((back >> 32).tolist(), (back & 0xFFFFFFFF).tolist(), strict=True))
    several = set(port[count > 1].tolist())
    chassis = names.seen.table(Neighbor).column("chassis_id")[claims.row[lost]]
    votes = grouped(
        (chassis_id, only[heard_at])
        for heard_at, chassis_id in zip(claims.u[lost].tolist(), chassis.tolist(), strict=True)
        if chassis_id is not None and heard_at in only and heard_at not in several
    )
    return {one: reported[0] for one, reported in votes.items() if len(reported) > 1 and len(set(reported)) == 1}


def _named_devices(index: PlanIndex, system_names: Sequence[str], owners: Mapping[int, int]) -> Codes:
    """The device of each name, -1 for a blank one and one cut to what several names begin with; the last slot is for no
    name.
    """
    codes = {name: index.devices.find_heard(name) for name in system_names if name.strip()}
    found = [codes.get(name, NONE) for name in system_names]
    return np.array([*(owners.get(code, code) for code in found), owners.get(NONE, NONE)], dtype=np.int64)


def _agrees(index: PlanIndex, u: Codes, w: Codes, hint: Codes) -> Mask:
    """Whether a hint at the port heard on `u` is consistent with what else is known: it is the planned one, or the
    device heard is not the planned one. A hint alone never makes a cable wrong.
    """
    wanted = index.far_ends(u)
    return np.asarray((wanted >= 0) & ((wanted == hint) | (index.ports.device_of(wanted) != w)), dtype=bool)


def _of_a_shared_name(index: PlanIndex, u: Codes, v: Codes, chassis: Objects) -> Mask:
    """Ports heard in unplanned places, of hosts whose name two machines send: under two chassis ids, never both on one
    port. Which of the two is heard there is unknown, also where it is the only one.

    `chassis` is None where a MAC identifies the machine: NIC firmware sends that of each port.
    """
    codes, _ = factorize(chassis)
    tier = index.devices.tiers
    device = index.ports.device_of(v)
    rows = np.flatnonzero((v >= 0) & (codes >= 0) & (tier[device] == 0))
    several = _repeated(distinct(device[rows] << 32 | codes[rows]) >> 32)
    rows = rows[np.isin(device[rows], several)]
    shared = np.zeros(len(v), dtype=bool)
    if len(rows):
        on_port, _ = distinct_pairs(device[rows] << 32 | u[rows], codes[rows])
        rows = rows[~np.isin(device[rows], _repeated(on_port) >> 32)]
        heard_by, _ = distinct_pairs(v[rows], u[rows])
        elsewhere = index.far_ends(v[rows]) != u[rows]
        shared[rows] = elsewhere & ~np.isin(v[rows], _repeated(heard_by))
    return shared


def _repeated(ordered: Codes) -> Codes:
    """The values that occur more than once in an ordered column."""
    return distinct(ordered[1:][ordered[1:] == ordered[:-1]])


def _outdated(index: PlanIndex, u: Codes, v: Codes, ages: Objects) -> Mask:
    """Neighbours beside a younger one that is the planned one: the cable was moved to its planned place, and the old
    entry has not expired. `age` is that of the entry, not of its last frame. In the opposite case both remain: a cable
    that was moved away and back has the older entry. An entry that the other end confirms is not old.
    """
    old = np.zeros(len(u), dtype=bool)
    reported = np.flatnonzero((v >= 0) & (v < index.planned_ports) & (u >= 0) & (u < index.planned_ports))
    _, inverse, count = np.unique(u[reported], return_inverse=True, return_counts=True)
    reported = reported[count[inverse] > 1] if len(reported) else reported
    if not len(reported):
        return old
    age = np.array([np.inf if one is None else float(one) for one in ages[reported]])
    planned = index.far_ends(u[reported])
    right = (planned >= 0) & (v[reported] == planned)
    youngest = dict(zip(u[reported[right]].tolist(), age[right].tolist(), strict=True))
    since = np.array([youngest.get(port, np.inf) for port in u[reported].tolist()])
    both = np.isin(u[reported] << 32 | v[reported], v << 32 | u)
    old[reported] = ~right & np.isfinite(age) & (since < age) & ~both
    return old


def _heard_devices(
    index: PlanIndex, named: Codes, witness: Codes, chassis: Objects, split: frozenset[int], by_id: Mapping[str, int]
) -> Codes:
    """The device heard: by its name; by its MACs where there is no name, or it is not in the plan, or several devices
    share it.
    """
    planned = index.devices.planned
    shared = np.isin(named, list(split))
    by_mac = (witness >= 0) & ((named < 0) | ((named >= planned) & (witness < planned)) | shared)
    # a name that is not in the plan and that several devices send does not identify the device
    w = np.where(by_mac, witness, np.where(shared & (named >= planned), NONE, named))
    nameless = w < 0
    if nameless.any():
        codes, ids_heard = factorize(chassis)
        learned = np.full(len(ids_heard) + 1, NONE, dtype=np.int64)
        known = (w >= 0) & (codes >= 0)
        for number, device in unanimous(codes[known], w[known]).items():  # chassis ids are cloned, too
            learned[number] = device
        ids = {c: code for code, device in enumerate(index.plan.devices.values()) for c in device.chassis_ids}
        ids = {**by_id, **ids}
        for number, chassis_id in enumerate(ids_heard if ids else ()):
            learned[number] = ids.get(chassis_id, int(learned[number]))
        w = np.where(nameless, learned[codes], w)
    return w


def _never_named(index: PlanIndex, system: Codes, system_names: Sequence[str], chassis: Objects) -> frozenset[int]:
    """Factory default names, where several devices send them."""
    usual = [code for code, name in enumerate(system_names) if short_name(device_key(name)) in DEFAULT_NAMES]
    ids = ((code, set(chassis[system == code].tolist())) for code in usual)
    found = {index.devices.find_or_add(system_names[code]) for code, sent in ids if len(sent) > 1}
    return frozenset(code for code in found if code >= index.devices.planned)


def _by_address(index: PlanIndex, w: Codes, addresses: Objects) -> Codes:
    """The device heard, where nothing else identifies it, by its management address: unless others send it too."""
    rows = np.flatnonzero(w < 0)
    rows = rows[[bool(sent) for sent in addresses[rows]]] if len(rows) else rows
    if not len(rows):
        return w
    answers = {*zip(w.tolist(), addresses.tolist(), strict=True)}
    senders = grouped((address, device) for device, sent in answers for address in sent)
    alone = {address for address, devices in senders.items() if {*devices} == {NONE}}
    w = w.copy()
    for row in rows.tolist():
        own = [address for address in addresses[row] if address in alone]
        found = {index.devices.find(address) for address in own}
        of_plan = [code for code in found if 0 <= code < index.devices.planned]
        w[row] = of_plan[0] if len(of_plan) == 1 else NONE
    return w


def _only_pairs(index: PlanIndex, u: Codes, v: Codes, w: Codes, usable: Mask, split: Collection[int]) -> Codes:
    """The far ports `v` of what ports `u` hear of devices `w`, completed at the lower ends of such cables. Shapes
    (rows,). Rows that are not `usable` hear a device whose port is in doubt; `split` names belong to several devices.
    """
    tier = index.devices.tiers
    mine = index.ports.device_of(u)
    vague = (v < 0) & usable & (u >= 0)
    open_ = vague & (w >= 0) & (w < index.devices.planned) & (tier[mine] < tier[w])
    open_ &= ~np.isin(w, list(split)) & ~np.isin(mine, list(split))
    if not open_.any():
        return v
    heard = np.flatnonzero((u >= 0) & (w >= 0))
    port, device = distinct_pairs(u[heard], w[heard])
    silent = _silent_ports(index, port)
    open_ &= (silent[mine] == 0) | (silent[w] == 0)
    only = _only_ports(index, port, device)
    without_port = set(u[vague].tolist())
    found = v.copy()
    for row in np.flatnonzero(open_).tolist():
        there = only.get(int(w[row]) << 32 | int(mine[row]), NONE)
        if only.get(int(mine[row]) << 32 | int(w[row])) == u[row] and there in without_port:
            found[row] = there
    return found


def _only_ports(index: PlanIndex, port: Codes, device: Codes) -> dict[int, int]:
    """Of distinct ports and devices that they hear: by device << 32 | device heard, the port that alone hears it and
    hears nothing else.
    """
    _, place, times = np.unique(port, return_inverse=True, return_counts=True)
    key, at, count = np.unique(index.ports.device_of(port) << 32 | device, return_inverse=True, return_counts=True)
    alone = (count[at] == 1) & (times[place] == 1)
    return dict(zip(key[at[alone]].tolist(), port[alone].tolist(), strict=True))


def _silent_ports(index: PlanIndex, hearing: Codes) -> Codes:
    """The number of planned ports of each device that hear nothing, shape (devices + 1,)."""
    planned = np.arange(index.planned_ports)
    silent = planned[~np.isin(planned, hearing)]
    return np.bincount(index.ports.device_of(silent), minlength=len(index.devices.names) + 1)


def _of_shared_chassis(index: PlanIndex, u: Codes, v: Codes, w: Codes, chassis: Objects) -> tuple[Codes, Codes]:
    """The far ports `v`, and their devices `w`, of what ports `u` hear: where switches share its chassis id, those of
    the switch of which the port with this name hears `u`. Where none of them does, or several do, it stays as named,
    and in conflict with what is named elsewhere. Shapes (rows,).
    """
    tier = index.devices.tiers
    of_switch = (u >= 0) & (v >= 0) & (w >= 0) & (w < index.devices.planned) & (tier[w] > 0)
    wanted = index.far_ends(u)
    elsewhere = of_switch & (wanted >= 0) & (index.ports.device_of(wanted) != w)
    if not elsewhere.any():
        return v, w
    code, _ = factorize(chassis)
    known = np.flatnonzero(of_switch & np.isin(code, code[elsewhere & (code >= 0)]))
    ids, devices_of = distinct_pairs(code[known], w[known])
    switches = grouped(zip(ids.tolist(), devices_of.tolist(), strict=True))
    hears = u << 32 | v  # of rows with both: others are negative, or equal no pair
    open_ = known[np.isin(u[known], v) & ~np.isin(v[known] << 32 | u[known], hears)]
    said, v, w = set(hears[np.isin(v, u[open_])].tolist()), v.copy(), w.copy()
    for row in open_.tolist():
        here, own = int(u[row]), int(w[row])
        devices = np.array(sorted({*switches[int(code[row])]} - {own}), dtype=np.int64)
        same = index.ports.find(devices, np.repeat(index.ports.name_of(v[row : row + 1]), len(devices)))
        meant = [at for at, port in enumerate(same.tolist()) if port << 32 | here in said]
        if len(meant) == 1:
            v[row], w[row] = same[meant[0]], devices[meant[0]]
    return v, w

"""What devices report about cabling beside LLDP, as claims: my port u, the other end's port v or only its device w.

A claim is of one of the sources below. Its weight is the chance that what it names is right, given that its traps
are handled: the values are estimates, and `benchmarks/results/accuracy.md` shows what they lead to. Sources of one
group read the same thing, and count once. The traps, each with its source in the collector's docstring:

- A MAC counts only if one device lists it, and only where it is seen once in the fabric, on a port that is not planned
  to lead to a switch, and that shows MACs of one host alone.
- Hosts' neighbour tables show who is in the same subnet, not who is on the cable: only those of switches count, and of
  them only rows on a port. A row of the device itself, or without an answer, shows nothing.
- A BGP session shows its port only while it is established, and if the key is a port.
- LLDP decides first: see `corroborated`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

import numpy as np

from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, Mask, Objects, RowsBy, factorize, grouped, several
from truerail.model.facts import Fact, Optic
from truerail.model.snapshot import Table
from truerail.model.witness_facts import AddressEntry, BgpPeer, LagMember, MacEntry


class Source(IntEnum):
    """What a claim is read from."""

    SERIAL = 0
    MAC_TABLE = 1
    ADDRESS_BEHIND = 2
    """ARP or ND on a VLAN interface, with the port behind it: the MAC table in other words."""
    NEIGHBOUR_TABLE = 3
    BGP_ADDRESS = 4
    BGP_NAME = 5
    LACP = 6


class Witness(NamedTuple):
    """One source of claims. `group` is the same for sources that read the same thing."""

    words: str
    weight: float
    group: int
    kind: type[Fact]


_OF_CABLE, _OF_MACS, _OF_NAMES = 0, 1, 2
GROUPS = 3
WITNESSES = {
    Source.SERIAL: Witness("cable serial number", 0.97, _OF_CABLE, Optic),
    Source.MAC_TABLE: Witness("MAC table", 0.90, _OF_MACS, MacEntry),
    Source.ADDRESS_BEHIND: Witness("ARP table", 0.85, _OF_MACS, AddressEntry),
    Source.NEIGHBOUR_TABLE: Witness("neighbour table", 0.93, _OF_MACS, AddressEntry),
    Source.BGP_ADDRESS: Witness("BGP session", 0.93, _OF_MACS, BgpPeer),
    Source.BGP_NAME: Witness("BGP session", 0.0, _OF_NAMES, BgpPeer),
    Source.LACP: Witness("LACP", 0.0, _OF_NAMES, LagMember),
}
"""Weights: evidence collected from recorded fabrics (SuzieQ's labs: 0 of 357 claims wrong) and from inventories with
both ends of a cable in one box, lowered for what recordings do not show."""
WEIGHT = np.array([WITNESSES[source].weight for source in Source])
GROUP = np.array([WITNESSES[source].group for source in Source])
KINDS = tuple(dict.fromkeys(witness.kind for witness in WITNESSES.values()))
"""The kinds of facts any of which shows cabling without LLDP."""
_NO_ANSWER = frozenset(("incomplete", "incmp", "failed", "interface", "noarp"))
_MOST_SHOWN = 8
_UNIT = re.compile(r"(.*\d)\.\d{1,5}")
"""A logical unit (Junos), a subinterface (SR Linux) or a VLAN on a port: its MACs are behind the port itself."""


@dataclass(frozen=True)
class Testimony:
    """Claims beside LLDP, a row for each: shapes (rows,). `u` is the reporting port, `v` the port at the other end (-1
    if only its device is known), `w` that device, `source` a `Source`, `row` the row of its kind's table, `other` that
    of the other end, where both ends are one claim (-1 elsewhere).
    """

    u: Codes
    v: Codes
    w: Codes
    source: Codes
    row: Codes
    other: Codes

    def where(self, keep: Mask) -> "Testimony":
        """The claims selected by a mask."""
        return Testimony(*(column[keep] for column in self._columns()))

    def at(self, port: int) -> list[int]:
        """The rows that concern a port, at either end."""
        return sorted(row for ends in self._by_port for row in ends.at(port).tolist())[:_MOST_SHOWN]

    def facts_at(self, port: int) -> Iterator[tuple[type[Fact], int]]:
        """The kinds and rows of the facts that concern a port."""
        for row in self.at(port):
            kind = WITNESSES[Source(int(self.source[row]))].kind
            yield kind, int(self.row[row])
            yield kind, int(self.other[row])

    @cached_property
    def _by_port(self) -> tuple[RowsBy, RowsBy]:
        return RowsBy(self.u), RowsBy(self.v)

    def _columns(self) -> tuple[Codes, ...]:
        return self.u, self.v, self.w, self.source, self.row, self.other


def testimony(names: LocalNames, optics: Table[Optic]) -> Testimony:
    """Every claim of a snapshot beside LLDP; `optics` are its modules, which are measured facts."""
    lags = _Lags(names) if len(names.seen.table(LagMember)) else None
    parts = [_serials(names, optics), _mac_tables(names, lags), *_addresses(names), *_sessions(names)]
    if lags is not None:
        parts.append(_partners(names))
    columns = zip(*(part._columns() for part in parts), strict=True)
    return Testimony(*(np.concatenate(column) for column in columns))


def _claims(source: Source, u: Codes, v: Codes, w: Codes, row: Codes, other: Codes | None = None) -> Testimony:
    of = np.full(len(u), source, dtype=np.int64)
    return Testimony(u, v, w, of, row, np.full(len(u), NONE, dtype=np.int64) if other is None else other)


def _serials(names: LocalNames, optics: Table[Optic]) -> Testimony:
    u, v, row, other = cable_ends(names, optics)
    return _claims(Source.SERIAL, u, v, names.index.ports.device_of(v), row, other)


class _Lags:
    """The members of each link aggregation, by its own port code."""

    def __init__(self, names: LocalNames) -> None:
        table, ports = names.seen.table(LagMember), names.index.ports
        device = names.devices_of(table)
        lag = ports.find_or_add(device, ports.name_codes(table.column("lag")))
        member = names.ports(device, ports.name_codes(table.column("port")))
        known = (lag >= 0) & (member >= 0)
        self._members = grouped(zip(lag[known].tolist(), member[known].tolist(), strict=True))

    def expanded(self, port: Codes) -> tuple[Codes, Codes, Mask]:
        """Ports with those of lags in place of lags: the rows they come from, the ports, and whether a lag has more
        than one of them."""
        found = [(row, one) for row, code in enumerate(port.tolist()) for one in self._members.get(code, (code,))]
        rows, ports = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return rows, ports, np.bincount(rows, minlength=len(port))[rows] > 1


def _mac_tables(names: LocalNames, lags: _Lags | None) -> Testimony:
    table = names.seen.table(MacEntry)
    learned = [entry.kind == "dynamic" and not entry.by_peer for entry in table.rows]
    rows = np.flatnonzero(np.array(learned, dtype=bool))
    return _of_macs(names, Source.MAC_TABLE, lags, table.column("port")[rows], table.column("mac")[rows], rows)


def _addresses(names: LocalNames) -> Iterator[Testimony]:
    """Rows of switches' neighbour tables: those on a port, and those with the port behind a VLAN interface."""
    table = names.seen.table(AddressEntry)
    tier = names.index.devices.tiers[names.devices_of(table)] if len(table) else np.empty(0, dtype=np.int64)
    answered = np.array([entry.state not in _NO_ANSWER for entry in table.rows], dtype=bool) & (tier > 0)
    behind = np.array([entry.port is not None for entry in table.rows], dtype=bool)
    for source, which in ((Source.NEIGHBOUR_TABLE, answered & ~behind), (Source.ADDRESS_BEHIND, answered & behind)):
        rows = np.flatnonzero(which)
        port = table.column("interface" if source is Source.NEIGHBOUR_TABLE else "port")[rows]
        yield _of_macs(names, source, None, port, table.column("mac")[rows], rows)


def _of_macs(names: LocalNames, by: Source, lags: _Lags | None, port: Objects, mac: Objects, rows: Codes) -> Testimony:
    """Claims of ports that show MACs, as far as these identify one NIC or one device, and only one of them."""
    index, kind = names.index, WITNESSES[by].kind
    device = names.devices_of(names.seen.table(kind))[rows]
    spelled = port.tolist()
    u = names.ports(device, index.ports.name_codes(spelled)) if len(rows) else rows
    units = np.flatnonzero((u < 0) | (u >= index.planned_ports))
    bases = [found[1] if (found := _UNIT.fullmatch(spelled[row])) else spelled[row] for row in units.tolist()]
    if len(units):
        u[units] = names.ports(device[units], index.ports.name_codes(bases))
    v, w = names.macs.owners(mac)
    v = np.where(np.isin(v, names.members()), NONE, v)  # every member of a bond sends the MAC of one of them
    tier, planned = names.index.devices.tiers, index.devices.planned
    known = (u >= 0) & (w >= 0) & (w < planned) & (w != device) & (tier[device] > 0)
    if by is not Source.NEIGHBOUR_TABLE:  # behind a bridged port only a host shows that its cable ends here
        known &= (tier[w] == 0) & (tier[index.ports.device_of(index.far_ends(u))] <= 0)
    else:
        known &= u < index.planned_ports
    u, v, w, rows = u[known], v[known], w[known], rows[known]
    if lags is not None:
        at, u, many = lags.expanded(u)
        v, w, rows = np.where(many, NONE, v[at]), w[at], rows[at]
    v = np.where(several(u, v), NONE, v)
    clear = ~several(u, w) & ((v < 0) | ~several(v, u))
    return _claims(by, u[clear], v[clear], w[clear], rows[clear])


def _sessions(names: LocalNames) -> Iterator[Testimony]:
    """Established BGP sessions: by the MAC inside the peer's address, else by the name that the peer sends."""
    table, index = names.seen.table(BgpPeer), names.index
    rows = np.flatnonzero(np.array([peer.state == "Established" for peer in table.rows], dtype=bool))
    device = names.devices_of(table)[rows]
    u = index.ports.find(device, index.ports.name_codes(table.column("interface")[rows])) if len(rows) else rows
    mac: Objects = np.array([_eui_64(table.rows[row].address) for row in rows.tolist()], dtype=object)
    v, w = names.macs.owners(mac)
    hostnames, spelled = factorize(table.column("hostname")[rows])
    named = np.array([*map(index.devices.find, spelled), NONE], dtype=np.int64)[hostnames]
    tier = names.index.devices.tiers
    use = (u >= 0) & (u < index.planned_ports)
    by_mac = use & (w >= 0) & (tier[w] != tier[device])
    by_name = use & (named >= 0) & (named < index.devices.planned) & (tier[named] != tier[device])
    yield _claims(Source.BGP_ADDRESS, u[by_mac], v[by_mac], w[by_mac], rows[by_mac])
    none = np.full(int(by_name.sum()), NONE, dtype=np.int64)
    yield _claims(Source.BGP_NAME, u[by_name], none, named[by_name], rows[by_name])


def _eui_64(address: str | None) -> str | None:
    """The MAC inside a link-local address (RFC 4291, appendix A); None if there is none."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return None
    if not isinstance(found, IPv6Address) or not found.is_link_local or found.packed[11:13] != b"\xff\xfe":
        return None
    return bytes((found.packed[8] ^ 2, *found.packed[9:11], *found.packed[13:])).hex(":")


def _partners(names: LocalNames) -> Testimony:
    """LACP partners whose system MAC belongs to one device of another tier."""
    table, index = names.seen.table(LagMember), names.index
    device = names.devices_of(table)
    u = names.ports(device, index.ports.name_codes(table.column("port")))
    w = names.macs.owners(table.column("partner_system"))[1]
    tier = names.index.devices.tiers
    use = (u >= 0) & (u < index.planned_ports) & (w >= 0) & (w < index.devices.planned) & (tier[w] != tier[device])
    rows = np.flatnonzero(use)
    return _claims(Source.LACP, u[rows], np.full(len(rows), NONE, dtype=np.int64), w[rows], rows)


# ----------------------------------------------------------------------------------------------------------------------
# The two ends of a cable by the serial number that is read at both: evidence of the cable, not of a name.
#
# Both ends of a copper or active optical cable carry one serial number, with a suffix `-A` and `-B` on some; the legs
# of a fan-out cable have `-CH1` to `-CH8` and its head, on all its subports, none (recorded inventories of
# genieparser and ntc-templates: 20 copper and 4 active optical cables with both ends in one box). Traps:
#
# - Optical modules never pair. A placeholder (blank, one character repeated) is no number.
# - One number on more than two ports is a batch number or a clone, unless it is one fan-out cable.
# - `-A` twice, or two legs, are ends of different cables or of one end. Two makers use one number for two cables.
# - A clone may be read at two ports alone. So a pair counts as a claim, and `corroborated` asks for more evidence where
#   the plan has another cable.


_SUFFIX = re.compile(r"(.{4,}?)-(A|B|CH\d{1,2})", re.IGNORECASE)
_SUBPORT = re.compile(r"(.*)[/:](\d{1,2})")
_SHORTEST = 5
_PLACEHOLDERS = frozenset(("BUILTIN", "DEFAULT", "UNKNOWN", "0123456789", "1234567890", "SERIAL"))


class _End(NamedTuple):
    """One end of a cable: its port, the row of the Optic table, the suffix of its number, its maker and part."""

    port: int
    row: int
    suffix: str
    vendor: str
    part: str


def cable_ends(names: LocalNames, optics: Table[Optic]) -> tuple[Codes, Codes, Codes, Codes]:
    """Both ports of each cable whose serial number is read at both, and the rows of the Optic table: shapes (cables,).

    The first port is that of the lower tier.
    """
    by_number: dict[str, dict[int, _End]] = {}
    for number, end in _ends(names, optics):
        by_number.setdefault(number, {}).setdefault(end.port, end)
    tier = names.index.devices.tiers
    device = names.index.ports.device_of(np.arange(len(names.index.ports)))
    found: list[tuple[int, int, int, int]] = []
    for ends in by_number.values():
        for one, other in _pairs(names, list(ends.values())):
            tiers = tier[int(device[one.port])], tier[int(device[other.port])]
            if tiers[0] != tiers[1] and min(tiers) >= 0:
                low, high = (one, other) if tiers[0] < tiers[1] else (other, one)
                found.append((low.port, high.port, low.row, high.row))
    u, v, row, other_row = np.array(found, dtype=np.int64).reshape(-1, 4).T
    return u, v, row, other_row


def _ends(names: LocalNames, table: Table[Optic]) -> Iterator[tuple[str, _End]]:
    """Every read end of a cable, with its number without suffix."""
    ports = names.index.ports
    rows = [row for row, optic in enumerate(table.rows) if optic.medium == "cable" and optic.lane in (None, 1)]
    if not rows:
        return
    device = np.array([names.filed(name) for name in table.devices], dtype=np.int64)[table.device[rows]]
    spelled = [table.rows[row].port for row in rows]
    port = names.ports(device, ports.name_codes(spelled))
    first = ports.find(device, ports.name_codes(f"{name}/1" for name in spelled))  # EOS' inventory names cages
    planned = names.index.planned_ports
    port = np.where((port >= planned) & (first >= 0) & (first < planned), first, port)
    for at, row in zip(port.tolist(), rows, strict=True):
        optic = table.rows[row]
        number = serial_number(optic.serial)
        if number is not None and at >= 0:
            cut = _SUFFIX.fullmatch(number)
            base, suffix = (cut[1], cut[2]) if cut else (number, "")
            yield base, _End(at, row, suffix, _plain(optic.vendor), _plain(optic.part))


def serial_number(serial: str | None) -> str | None:
    """A serial number in capitals; None for a placeholder."""
    text = (serial or "").strip().upper()
    useless = len(text) < _SHORTEST or len(set(text)) < 3 or text in _PLACEHOLDERS
    return None if useless or not any(letter.isdigit() for letter in text) else text


def _plain(word: str | None) -> str:
    return "".join(letter for letter in (word or "").upper() if letter.isalnum())


def _pairs(names: LocalNames, ends: Sequence[_End]) -> Iterator[tuple[_End, _End]]:
    """The cables among the ends that share a number."""
    if len({end.vendor for end in ends} - {""}) > 1:
        return
    if len(ends) == 2:
        one, other = ends
        if {one.suffix, other.suffix} in ({""}, {"A", "B"}):
            yield one, other
            return
    heads = {number: end for end in ends if not end.suffix and (number := _subport(names, end.port)[1])}
    legs = {int(end.suffix[2:]): end for end in ends if end.suffix.startswith("CH")}
    cages = {_subport(names, end.port)[0] for end in heads.values()}
    if len(cages) == 1 and len(heads) + len(legs) == len(ends):
        yield from ((heads[number], leg) for number, leg in legs.items() if number in heads)


def _subport(names: LocalNames, port: int) -> tuple[str, int]:
    """The device and cage of a port, and its number in there; 0 without one."""
    whole = str(names.index.spell(port))
    found = _SUBPORT.fullmatch(whole)
    return (found[1], int(found[2])) if found else (whole, 0)

"""What a cable list implies: rails and planes, where it has no column for them; roles of devices, by its words, by
names, by the shape of ports, by neighbors; the MACs and further names by which devices are recognized.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from truerail.model import Cable, Device, Port, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.plans.imports.import_row import ImportRow, Rows
from truerail.plans.imports.translated import pattern

_OUT_OF_BAND_PORT: Final = pattern("out_of_band_port")
_FIRST_PORT: Final = re.compile(r"(?:eth|em)0", re.IGNORECASE)
"""The management port of a device that has further ports."""
_OUT_OF_BAND_DEVICE: Final = pattern("out_of_band_device")
_POWER_OR_CONSOLE: Final = pattern("power_or_console")
_DIGITS: Final = re.compile(r"\d+")
_OTHER_NETWORK: Final = re.compile(r"storage|scale-?up|nvl|in-?band|frontend|north|tan|mgmt", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"(?:rail|nic)[-_ ]?(\d{1,3})", re.IGNORECASE)
_TWO_PORTS: Final = re.compile(r"(.+?)(?:f(\d)(?:np\d)?|[pP](\d)|[/:.](\d))")
_LEAF_NUMBER: Final = re.compile(r"(?:^(?!r\d+$)|[-_.])r(?:ail)?[-_]?(\d{1,3})(?=[-_.]|$)", re.IGNORECASE)
"""`leaf-r3`, `rail3-leaf`; but `r3` alone is a router of a lab."""
_LEAST_HOSTS: Final = 2
"""Hosts that must agree on an order of ports."""
_LEAVES: Final = "rails are those that the leaves' names number, counted from 0"
_WORDS: Final = "rails are those that the ports' names give"
_ORDER: Final = "rails are the order of each host's ports, which agrees over its leaves"


def first_ports(cables: Iterable[tuple[Port, Port]]) -> set[Port]:
    """The ports named as management ports are, that are a device's only one, or whose device has further ones on
    switches named alike: `eth0` on `leaf-0` beside `eth1` on `leaf-1`.
    """
    shapes: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for a, b in cables:
        for port, far in ((a, b), (b, a)):
            shapes[port.device][port.name] = _DIGITS.sub("", far.device)
    return {
        Port(device, name)
        for device, ports in shapes.items()
        for name, shape in ports.items()
        if _FIRST_PORT.fullmatch(name) and (len(ports) == 1 or [*ports.values()].count(shape) > 1)
    }


def is_out_of_band(port: Port, kind: str = "", *, alone: bool = False) -> bool:
    """Whether a port belongs to the management network or to power: a BMC's port, a management switch, a PDU.

    `kind` is the file's word for the type of the port, if it has one; `alone`: the device has no other port for
    the fabric than its first.
    """
    if _OUT_OF_BAND_PORT.fullmatch(port.name) or _OUT_OF_BAND_DEVICE.search(port.device):
        return True
    if _FIRST_PORT.fullmatch(port.name) and not alone:
        return True
    return any(_POWER_OR_CONSOLE.fullmatch(word) for word in (port.name, kind))


def with_rails(cables: Sequence[Cable], roles: Mapping[str, Role], rows: Rows) -> tuple[Cable, ...]:
    """The cables, those of hosts with the rail and plane that the file gives or implies; what was decided is a note."""
    if any(cable.rail is not None for cable in cables):
        return tuple(cables)
    of_fabric = first_ports(cable[:2] for cable in cables)
    mine = [number for number, cable in enumerate(cables) if _may_have_rail(cable, roles, of_fabric)]
    ways = (_by_words, _by_leaves, _by_order)
    found, how = next(((found, how) for way in ways for found, how in [way(cables, mine)] if found), ({}, ""))
    if found:
        rows.notes.append(how)
    elif mine:
        rows.notes.append("no rail is decided: neither a column, nor names, nor the order of ports gives them")
    return tuple(
        cable._replace(rail=found[number][0], plane=found[number][1]) if number in found else cable
        for number, cable in enumerate(cables)
    )


def _may_have_rail(cable: Cable, roles: Mapping[str, Role], of_fabric: Collection[Port]) -> bool:
    """Whether this is a host's cable to the fabric that carries rails."""
    hosted = roles[cable.a.device] is Role.HOST and roles[cable.b.device] is not Role.HOST
    aside = any(is_out_of_band(port, alone=port in of_fabric) for port in cable[:2])
    return hosted and not aside and not _OTHER_NETWORK.search(cable.b.device)


Found = dict[int, tuple[int, int | None]]
"""Rail and plane by a cable's number."""


def _by_words(cables: Sequence[Cable], mine: Sequence[int]) -> tuple[Found, str]:
    numbered = ((number, _NUMBERED.fullmatch(cables[number].a.name)) for number in mine)
    return {number: (int(word[1]), None) for number, word in numbered if word}, _WORDS


def _by_leaves(cables: Sequence[Cable], mine: Sequence[int]) -> tuple[Found, str]:
    """By the number in each leaf's name, where all have one and no host has two cables to one number."""
    numbers = [_LEAF_NUMBER.findall(cables[number].b.device) for number in mine]
    if not all(len(one) == 1 for one in numbers):
        return {}, _LEAVES
    rail = {number: int(words[0]) for number, words in zip(mine, numbers, strict=True)}
    order = {value: place for place, value in enumerate(sorted(set(rail.values())))}
    pairs = {(cables[number].a.device, value) for number, value in rail.items()}
    decided = len(order) > 1 and len(pairs) == len(rail)
    return {number: (order[value], None) for number, value in rail.items()} if decided else {}, _LEAVES


def _by_order(cables: Sequence[Cable], mine: Sequence[int]) -> tuple[Found, str]:
    """By position among a host's ports, where the hosts of each group of leaves agree on it."""
    of_host = grouped((cables[number].a.device, number) for number in mine)
    groups: defaultdict[frozenset[str], list[list[int]]] = defaultdict(list)
    for numbers in of_host.values():
        numbers.sort(key=lambda number: natural_key(cables[number].a.name))
        groups[frozenset(cables[number].b.device for number in numbers)].append(numbers)
    planes = _planes(cables, of_host.values())
    found: Found = {}
    for leaves, hosts in groups.items():
        orders = {tuple(cables[number].b.device for number in numbers) for numbers in hosts}
        if len(leaves) > 1 and len(hosts) >= _LEAST_HOSTS and len(orders) == 1:
            places = ((number, divmod(at, planes)) for numbers in hosts for at, number in enumerate(numbers))
            found |= {number: (rail, None if planes == 1 else plane) for number, (rail, plane) in places}
    return found, _ORDER if planes == 1 else f"{_ORDER}; {planes} ports of one NIC are its planes"


def _planes(cables: Sequence[Cable], hosts: Iterable[Sequence[int]]) -> int:
    """Ports of each NIC that lead to different switches: the same number for all NICs of all hosts, else 1."""
    ends = (cables[number][:2] for numbers in hosts for number in numbers)
    named = ((port, _TWO_PORTS.fullmatch(port.name), far.device) for port, far in ends)
    switches = grouped(((port.device, shape[1] if shape else port.name), far) for port, shape, far in named)
    counts = {len({*found}) for found in switches.values()}
    return counts.pop() if len(counts) == 1 else 1


_KINDS: Final = tuple((role, pattern(role)) for role in (Role.SUPERSPINE, Role.SPINE, Role.LEAF, Role.HOST))
_SWITCH: Final = pattern("switch")
_SWITCH_PORT: Final = pattern("switch_port")
_HOST_PORT: Final = pattern("host_port")
_TIERS: Final = (Role.LEAF, Role.SPINE, Role.SUPERSPINE)
MANY_CABLES: Final = 12
"""A device with more cables than that is a switch where nothing else says what it is."""


def roles_of(rows: Sequence[ImportRow]) -> dict[str, Role]:
    """By device. Words decide first; switches without a word for their tier stand one above what they are cabled to,
    counted from the hosts.
    """
    named = _named(rows)
    near = _neighbors(rows)
    switches = _switches(rows, named, near)
    hosts = {device for device in near if device not in switches}
    role_of = {**dict.fromkeys(near, Role.LEAF), **_tiers(near, hosts, named), **named}
    return {device: Role.HOST if device in hosts else role_of[device] for device in near}


def _named(rows: Iterable[ImportRow]) -> dict[str, Role]:
    """Roles by the file's word for a device, else by its name. A name that says switch is none of a host."""
    found: dict[str, Role] = {}
    for end in (end for row in rows for end in (row.a, row.b)):
        if end.device not in found:
            in_name = _tier_in if _SWITCH.search(end.kind) else _role_in
            if (role := _role_in(end.kind) or in_name(end.device)) is not None:
                found[end.device] = role
    return found


def _role_in(word: str) -> Role | None:
    if _SWITCH.search(word):
        return _tier_in(word)
    return next((role for role, shape in _KINDS if shape.search(word)), None)


def _tier_in(word: str) -> Role | None:
    """The tier in a switch's name: a name such as gpu-leaf-1 or switch-gpu-3 is none of a host."""
    return next((role for role, shape in _KINDS if role is not Role.HOST and shape.search(word)), None)


def _switches(rows: Iterable[ImportRow], named: Mapping[str, Role], near: Mapping[str, Sequence[str]]) -> set[str]:
    votes: Counter[str] = Counter()
    cables: Counter[str] = Counter()
    switches = {device for device, role in named.items() if role is not Role.HOST}
    for end in (end for row in rows for end in (row.a, row.b)):
        cables[end.device] += 1
        votes[end.device] += bool(_SWITCH_PORT.fullmatch(end.port)) - bool(_HOST_PORT.fullmatch(end.port))
        if _SWITCH.search(end.kind) or (_SWITCH.search(end.device) and end.device not in named):
            switches.add(end.device)
    unknown = {device for device in cables if device not in named and device not in switches}
    if Role.SPINE in named.values():  # below leaves that have their spines are hosts
        cables -= Counter({one: cables[one] for one in near if {named.get(far) for far in near[one]} == {Role.LEAF}})
    return switches | {one for one in unknown if votes[one] > 0 or (not votes[one] and cables[one] > MANY_CABLES)}


def _neighbors(rows: Iterable[ImportRow]) -> dict[str, list[str]]:
    pairs = ((row.a.device, row.b.device) for row in rows)
    return grouped(ends for a, b in pairs for ends in ((a, b), (b, a)))


def _tiers(near: Mapping[str, Sequence[str]], hosts: set[str], named: Mapping[str, Role]) -> dict[str, Role]:
    """Tiers of switches by their distance from hosts, and from switches whose tier has a word."""
    found: dict[str, Role] = {}
    below = set(hosts)
    for role in _TIERS:
        above = {one for device in below for one in near[device]} - hosts - found.keys()
        found |= dict.fromkeys((one for one in above if one not in named), role)
        below = above | {device for device, known in named.items() if known is role}
    return found


_MOST_SHARED: Final = 3
"""Listed in a note."""


def with_names(devices: dict[str, Device], rows: Rows, found: Sequence[ImportRow] | None = None) -> dict[str, Device]:
    """Devices with the MACs of their ports and their further names, by which they are recognized. What two devices have
    identifies neither.

    `found` are the rows to use, all by default.
    """
    ends = [end for row in (rows.found if found is None else found) for end in (row.a, row.b)]
    macs = _owned("MAC", ((end.device, end.mac) for end in ends if end.mac), rows)
    spelled = {name.lower(): name for name in devices}
    more = ((spelled[device.lower()], name) for device, name in rows.names if device.lower() in spelled)
    names = _owned("name", (*((name, name) for name in devices), *more), rows) if rows.names else {}
    return {
        name: replace(
            device,
            chassis_ids=tuple(macs.get(name, device.chassis_ids)),
            aliases=tuple(alias for alias in names.get(name, ()) if alias.lower() != name.lower()),
        )
        for name, device in devices.items()
    }


def _owned(what: str, named: Iterable[tuple[str, str]], rows: Rows) -> dict[str, list[str]]:
    """What each device has alone, by device; what two have is a note."""
    owners: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for device, name in named:
        owners[name.lower()].setdefault(device, name)
    shared = sorted(name for name, known in owners.items() if len(known) > 1)
    if shared:
        rows.notes.append(f"on two devices, so that it identifies neither: {what} {', '.join(shared[:_MOST_SHARED])}")
    return grouped(pair for known in owners.values() if len(known) == 1 for pair in known.items())

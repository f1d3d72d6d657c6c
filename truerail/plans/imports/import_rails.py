"""Rails and planes of a cable list that has no column for them."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from truerail.model import Cable, Port, Role
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.plans.imports.import_row import Rows
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
    return tuple(_on_rail(cable, *found.get(number, (None, None))) for number, cable in enumerate(cables))


def _on_rail(cable: Cable, rail: int | None, plane: int | None) -> Cable:
    return cable if rail is None else cable._replace(rail=rail, plane=plane)


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
        if len(leaves) > 1 and len(hosts) >= _LEAST_HOSTS and _agree(cables, hosts):
            found |= {number: _place(at, planes) for numbers in hosts for at, number in enumerate(numbers)}
    return found, _ORDER if planes == 1 else f"{_ORDER}; {planes} ports of one NIC are its planes"


def _agree(cables: Sequence[Cable], hosts: Sequence[Sequence[int]]) -> bool:
    """Whether each position leads to one leaf only, for all hosts."""
    leaves = {tuple(cables[number].b.device for number in numbers) for numbers in hosts}
    return len(leaves) == 1


def _place(at: int, planes: int) -> tuple[int, int | None]:
    return (at, None) if planes == 1 else (at // planes, at % planes)


def _planes(cables: Sequence[Cable], hosts: Iterable[Sequence[int]]) -> int:
    """Ports of each NIC that lead to different switches: the same number for all NICs of all hosts, else 1."""
    counts = {count for numbers in hosts for count in _ports_of_nics(cables, numbers)}
    return counts.pop() if len(counts) == 1 else 1


def _ports_of_nics(cables: Sequence[Cable], numbers: Sequence[int]) -> Iterator[int]:
    nics: defaultdict[str, set[str]] = defaultdict(set)
    for number in numbers:
        shape = _TWO_PORTS.fullmatch(cables[number].a.name)
        nics[shape[1] if shape else cables[number].a.name].add(cables[number].b.device)
    for switches in nics.values():
        yield len(switches)

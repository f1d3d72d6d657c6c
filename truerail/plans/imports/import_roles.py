"""Roles of the devices of a cable list: by the file's words, by names, by the shape of ports, by their neighbors."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from truerail.model import Role
from truerail.plans.imports.import_row import ImportRow
from truerail.plans.imports.translated import pattern

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
    tier = _tiers(near, hosts, named)
    role_of = {**dict.fromkeys(near, Role.LEAF), **tier, **named}
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


def _switches(rows: Iterable[ImportRow], named: Mapping[str, Role], near: Mapping[str, set[str]]) -> set[str]:
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


def _neighbors(rows: Iterable[ImportRow]) -> dict[str, set[str]]:
    near: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        near[row.a.device].add(row.b.device)
        near[row.b.device].add(row.a.device)
    return dict(near)


def _tiers(near: Mapping[str, set[str]], hosts: set[str], named: Mapping[str, Role]) -> dict[str, Role]:
    """Tiers of switches by their distance from hosts, and from switches whose tier has a word."""
    found: dict[str, Role] = {}
    below = set(hosts)
    for role in _TIERS:
        above = {one for device in below for one in near[device]} - hosts - found.keys()
        found |= dict.fromkeys((one for one in above if one not in named), role)
        below = above | {device for device, known in named.items() if known is role}
    return found

"""Which repairs may not be done at the same time, and why."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from truerail.model.cause_kinds import Work
from truerail.model.columns import Mask
from truerail.model.plan import Role
from truerail.questions.answers.repairs import Candidate
from truerail.views.view import View

MOST_NAMED = 3
_TIER_WORDS = {Role.LEAF: "leaves", Role.SPINE: "spines", Role.SUPERSPINE: "superspines", Role.HOST: "hosts"}


@dataclass(frozen=True, slots=True)
class Group:
    """Repairs, by their index, of which no two are done at the same time."""

    why: str
    rows: tuple[int, ...]


def groups(view: View, repairs: tuple[Candidate, ...]) -> tuple[Group, ...]:
    """All reasons, each with two repairs or more.

    - cables of one host on one rail: its planes, or the members of its bond
    - uplinks of one switch: its redundant paths
    - two switches of one tier and pod: the paths that replace each other
    - a port that both use
    """
    found = (
        *_shared(view, repairs, _host_rails, "{}: all cables there (planes, bond members) would be down together"),
        *_shared(view, repairs, _uplinks, "uplinks of {}: its redundant paths"),
        *_shared(view, repairs, _switches, "{}: one at a time"),
        *_shared(view, repairs, _ports, "the port {} is part of both"),
    )
    return tuple(found)


def apart(found: Iterable[Group], number: int) -> Mask:
    """Which pairs may not be done at the same time. Shape (number, number), symmetrical."""
    pairs = np.zeros((number, number), dtype=bool)
    for group in found:
        pairs[np.ix_(group.rows, group.rows)] = True
    np.fill_diagonal(pairs, val=False)
    return pairs


Thing: TypeAlias = tuple[str, Hashable]
"""What repairs share, after its name in words."""


def _shared(
    view: View, repairs: tuple[Candidate, ...], things: Callable[[View, Candidate], Iterable[Thing]], why: str
) -> Iterator[Group]:
    rows: dict[Thing, list[int]] = {}
    for row, one in enumerate(repairs):
        for thing in things(view, one):
            rows.setdefault(thing, []).append(row)
    names: dict[tuple[int, ...], list[str]] = {}
    for (name, _), of in rows.items():
        if len(of) > 1:
            names.setdefault(tuple(of), []).append(name)
    yield from (Group(why.format(_listed(found)), of) for of, found in names.items())


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(names[:MOST_NAMED])}{more}"


def _host_rails(view: View, one: Candidate) -> Iterable[Thing]:
    """The rails of hosts with a cable that is interrupted."""
    index = view.index
    cables = one.cables[index.from_host[one.cables]]
    keys = np.unique(index.a_device[cables] << 16 | (index.rail[cables] + 1)).tolist()
    return [(f"{index.devices.names[key >> 16]} on rail {(key & 0xFFFF) - 1}", key) for key in keys if key & 0xFFFF]


def _uplinks(view: View, one: Candidate) -> Iterable[Thing]:
    return [(view.index.devices.names[code], code) for code in one.uplinks_of.tolist()]


def _switches(view: View, one: Candidate) -> Iterable[Thing]:
    """Tier and pod of the switches that lose uplinks or are worked on as a whole."""
    devices = [view.layout.devices[code] for code in one.switches.tolist()]
    found = {(device.role, device.pod) for device in devices}
    return [(_tier_words(role, pod), (role, pod)) for role, pod in sorted(found)]


def _tier_words(role: Role, pod: str) -> str:
    return f"{_TIER_WORDS[role]} of pod {pod}" if pod else _TIER_WORDS[role]


def _ports(view: View, one: Candidate) -> Iterable[Thing]:
    """The ports that plugs are taken from and put into."""
    ports = {str(port) for move in one.cause.moves for port in (move.source, move.target)}
    return [(port, port) for port in sorted(ports)] if one.work is Work.MOVE else []

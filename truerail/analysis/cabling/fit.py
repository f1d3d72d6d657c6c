"""Whether plan and devices speak of the same things: planned names that no device has, and which own ones they mean.

A plan is written by people. Where it names devices, ports or NICs otherwise than they name themselves, every cable
looks wrong or missing, although none is. So before any cable is judged, the planned names that no device reports are
compared with the reported names that are not in the plan. Here devices are matched, in `fit_ports` their ports.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.local import LocalNames
from truerail.analysis.cabling.spellings import Words, last_words, numbers_alone, words
from truerail.model.columns import NONE
from truerail.model.names import folded
from truerail.model.plan import Port

CLEAR = 0.75
"""Of the cables that a map of names can be tested on, those that it must explain: the others are wrong cables."""
_MOST_SHOWN = 3
_FEWEST = 3
"""Unplanned devices that show that the plan is another fabric's, if no planned one answers."""


@dataclass(frozen=True, slots=True)
class Match:
    """Planned names of `devices`, or of their ports, that the devices do not have: pairs of planned and own names, and
    how many of the cables that show it agree. `open` if it is a question: the cables planned there are unknown.
    """

    devices: tuple[str, ...]
    names: tuple[tuple[str, str], ...]
    explained: int
    tested: int
    open: bool = False
    of_devices: bool = False

    @property
    def words(self) -> str:
        """What was matched, or the question: `leaf-[0-7] have no port 1/1: 1/1 is swp1, 1/2 is swp2 and 50 more`."""
        shown = ", ".join(f"{planned} is {own}" if own else planned for planned, own in self.names[:_MOST_SHOWN])
        more = f" and {len(self.names) - _MOST_SHOWN:,} more" if len(self.names) > _MOST_SHOWN else ""
        agree = f"{self.explained:,} of {self.tested:,} cables agree"
        whose = folded(self.devices)
        if self.of_devices:
            lacking = "No device is called as the plan calls them"
            if not self.names:
                return f"{lacking}: {whose}; perhaps it is another fabric's plan"
            return f"{lacking}, but {shown}{more}, by words and numbers; {agree}"
        lacking = f"{whose} {'have' if len(self.devices) > 1 else 'has'} other ports than planned"
        if not self.open:
            return f"{lacking}: {shown}{more}; {agree}"
        if not all(own for _, own in self.names):
            return f"{lacking}: it is not known which are {shown}{more}"
        return f"{lacking}: {f'perhaps {shown}{more} ({agree})' if self.names else 'none of them is known'}"


@dataclass(frozen=True, slots=True)
class Fit:
    """What the names of a plan mean: `devices` has planned devices by the names that they announce, `ports` the own
    name of each planned port, `open` the planned ports whose names mean no known port, `proposed` what they may mean.
    """

    devices: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[Port, str] = field(default_factory=dict)
    open: frozenset[Port] = frozenset()
    proposed: Mapping[Port, str] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.matches)

    def __add__(self, other: "Fit") -> "Fit":
        return Fit(
            {**self.devices, **other.devices},
            {**self.ports, **other.ports},
            self.open | other.open,
            {**self.proposed, **other.proposed},
            (*self.matches, *other.matches),
        )


def fit_devices(names: LocalNames, claims: Claims) -> Fit:
    """Planned devices that no device is called, matched with names that the plan does not have: by words and numbers,
    or by a part of them if the cabling agrees.
    """
    devices, planned = names.index.devices, names.index.devices.planned
    codes = (claims.w, claims.named, names.index.ports.device_of(claims.u))
    present = set(np.unique(np.concatenate(codes)).tolist()) | {names.filed(one.device) for one in names.seen.readings}
    lost = {code: devices.names[code] for code in range(planned) if code not in present}
    strange = {code: devices.names[code] for code in sorted(present) if code >= planned}
    here = {_sort(devices.names[code]) for code in present if code < planned}
    found: dict[int, int] = {}
    for paired in (_by_words, _by_last_words, _by_numbers) if lost and strange else ():
        left = {code: name for code, name in lost.items() if code not in found.values()}
        if paired is not _by_words:  # part of a name shows nothing where others of its sort are found
            left = {code: name for code, name in left.items() if _sort(name) not in here}
        pairs = paired(left, {code: name for code, name in strange.items() if code not in found})
        agree, tested = _agreement(names, claims, {**found, **pairs})
        if paired is _by_words or (len(found) + len(pairs) >= _FEWEST and agree >= max(1, CLEAR * tested)):
            found |= pairs
    if not found:
        stranger = len(lost) == planned and len(strange) >= _FEWEST
        return Fit(matches=(Match(tuple(lost.values()), (), 0, 0, open=True, of_devices=True),) if stranger else ())
    pairs_of_names = tuple(
        (devices.names[plan], devices.names[own]) for plan, own in sorted((b, a) for a, b in found.items())
    )
    match = Match(
        tuple(name for name, _ in pairs_of_names), pairs_of_names, *_agreement(names, claims, found), of_devices=True
    )
    return Fit({own: plan for plan, own in pairs_of_names}, matches=(match,))


Names = Mapping[int, str]
"""Names of devices by code."""


def _by_words(plan: Names, own: Names) -> dict[int, int]:
    """Own to planned codes of names with the same words and numbers."""
    return _paired(lambda name: (words(name),), plan, own)


def _by_last_words(plan: Names, own: Names) -> dict[int, int]:
    """The same of names that end so."""
    return _paired(last_words, plan, own)


def _by_numbers(plan: Names, own: Names) -> dict[int, int]:
    """The same of names with the same numbers: of one sort of planned and one of own names."""
    sides: list[defaultdict[Words, dict[int, str]]] = [defaultdict(dict), defaultdict(dict)]
    for side, names in zip(sides, (plan, own), strict=True):
        for code, name in names.items():
            side[_sort(name)][code] = name
    found: dict[int, int] = {}
    for sort in sides[0].values():
        best: dict[int, int] = {}
        for other in sides[1].values():
            best = max(best, _paired(numbers_alone, sort, other), key=len)
        found |= best
    return found


def _sort(name: str) -> Words:
    """A device's name without its numbers."""
    return tuple(word for word in words(name) if isinstance(word, str))


def _paired(key: Callable[[str], Iterable[Words]], plan: Names, own: Names) -> dict[int, int]:
    """Own to planned codes of names that share a key, each with one other."""
    planned, owned = _by_key(key, plan), _by_key(key, own)
    pairs = {
        (next(iter(owned[one])), next(iter(codes)))
        for one, codes in planned.items()
        if one and len(codes) == 1 and len(owned.get(one, ())) == 1
    }
    mine, theirs = (Counter(pair[at] for pair in pairs) for at in (0, 1))
    return {a: b for a, b in pairs if mine[a] == theirs[b] == 1}


def _by_key(key: Callable[[str], Iterable[Words]], names: Mapping[int, str]) -> Mapping[Words, set[int]]:
    found: defaultdict[Words, set[int]] = defaultdict(set)
    for code, name in names.items():
        for one in key(name):
            found[one].add(code)
    return found


def _agreement(names: LocalNames, claims: Claims, found: Mapping[int, int]) -> tuple[int, int]:
    """How many links of these devices are between devices that the plan connects, and of how many."""
    index = names.index
    meant = np.append(np.arange(len(index.devices.names)), NONE)
    meant[list(found)] = list(found.values())
    here, there = meant[index.ports.device_of(claims.u)], meant[claims.w]
    use = (np.minimum(here, there) >= 0) & (np.maximum(here, there) < index.devices.planned)
    use &= np.isin(here, list(found.values())) | np.isin(there, list(found.values()))
    planned = np.concatenate([index.a_device << 32 | index.b_device, index.b_device << 32 | index.a_device])
    return int(np.isin(here[use] << 32 | there[use], planned).sum()), int(use.sum())

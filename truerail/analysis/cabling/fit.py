"""Whether plan and devices speak of the same things: planned names that no device has, and which own ones they mean.

A plan is written by people. Where it names devices, ports or NICs otherwise than they name themselves, every cable
looks wrong or missing, although none is. So before any cable is judged, the planned names that no device reports are
compared with the reported names that are not in the plan. Here devices are matched, in `fit_ports` their ports.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from truerail.analysis.cabling.claims import Claims
from truerail.analysis.cabling.local import LocalNames
from truerail.analysis.cabling.spellings import Words, fewer_words, last_words, numbers_alone, sort_of, words
from truerail.model.columns import NONE, distinct, grouped
from truerail.model.names import folded, some
from truerail.model.plan import Port

CLEAR = 0.75
"""Of the cables that a map of names can be tested on, those that it must explain: the others are wrong cables."""
_MOST_SHOWN = 3
_FEWEST = 3
"""Devices that must agree on what they are called, unless their tier has fewer."""


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
        shown = some([f"{planned} is {own}" if own else planned for planned, own in self.names], _MOST_SHOWN)
        agree = f"{self.explained:,} of {self.tested:,} cables agree" if self.tested else "no cable shows it"
        whose = folded(self.devices)
        if self.of_devices:
            meant = f"; perhaps {shown} ({agree})" if self.open else f", but {shown}, by words and numbers; {agree}"
            other = f": {whose}; perhaps it is another fabric's plan"
            return f"No device is called as the plan calls them{meant if self.names else other}"
        lacking = f"{whose} {'have' if len(self.devices) > 1 else 'has'} other ports than planned"
        if not self.open:
            return f"{lacking}: {shown}; {agree}"
        if not all(own for _, own in self.names):
            return f"{lacking}: it is not known which are {shown}"
        return f"{lacking}: {f'perhaps {shown} ({agree})' if self.names else 'none of them is known'}"

    @property
    def question(self) -> str:
        """What to look at, for a technician: `Look at leaf-0: is P101 its swp1?`."""
        planned, own = self.names[0] if self.names else ("", "")
        if self.of_devices:
            return f"Look at {own}: is it {planned}?" if own else f"Look at {self.devices[0]}: what is its hostname?"
        asked = f"is {planned} its {own}" if own else f"which port is {planned or 'which'}"
        return f"Look at {self.devices[0]}: {asked}?"


@dataclass(frozen=True, slots=True)
class Fit:
    """What the names of a plan mean: `devices` has planned devices by the names that they announce, `ports` the own
    name of each planned port, `open` the planned ports whose names mean no known port, `proposed` what they may mean,
    and `maybe` what the names of devices may.
    """

    devices: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[Port, str] = field(default_factory=dict)
    open: frozenset[Port] = frozenset()
    proposed: Mapping[Port, str] = field(default_factory=dict)
    maybe: Mapping[str, str] = field(default_factory=dict)
    matches: tuple[Match, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Each map of names that is used, as a sentence."""
        return tuple(f"{one.words}." for one in self.matches if not one.open)

    def part(self, *, open: bool) -> "Fit":  # noqa: A002 - as in `Match`
        """The questions, or what is used."""
        kept = replace(self, devices={}, ports={}) if open else Fit(self.devices, self.ports)
        return replace(kept, matches=tuple(one for one in self.matches if one.open == open))

    def besides(self, later: "Fit") -> "Fit":
        """The questions about devices that a later fit says nothing of."""
        known = {port.device for port in (*later.ports, *later.open)}
        open_ = frozenset(port for port in self.open if port.device not in known)
        proposed = {port: own for port, own in self.proposed.items() if port in open_}
        matches = (
            replace(one, devices=tuple(name for name in one.devices if name not in known)) for one in self.matches
        )
        return Fit(open=open_, proposed=proposed, matches=tuple(one for one in matches if one.devices))

    def __add__(self, other: "Fit") -> "Fit":
        devices, ports = {**self.devices, **other.devices}, {**self.ports, **other.ports}
        proposed, maybe = {**self.proposed, **other.proposed}, {**self.maybe, **other.maybe}
        return Fit(devices, ports, self.open | other.open, proposed, maybe, (*self.matches, *other.matches))


def fit_devices(names: LocalNames, claims: Claims) -> Fit:
    """Planned devices that no device is called, matched with names that the plan does not have: by words and numbers,
    or by a part of them if the cabling agrees. Where none is found so, what is heard in the places of most devices of a
    tier is a question: it may be other machines as well.
    """
    devices, planned = names.index.devices, names.index.devices.planned
    codes = (claims.w, claims.named, names.index.ports.device_of(claims.u))
    present = set(distinct(np.concatenate(codes)).tolist()) | {names.filed(one.device) for one in names.seen.readings}
    lost = {code: devices.names[code] for code in range(planned) if code not in present}
    strange = {code: devices.names[code] for code in sorted(present) if code >= planned}
    here = {sort_of(devices.names[code]) for code in present if code < planned}
    places = _heard_in_places(names, claims)
    found, maybe = dict[int, int](), dict[int, int]()
    for paired in (_by_words, _by_last_words, _by_fewer_words, _by_numbers) if lost and strange else ():
        left = {code: name for code, name in lost.items() if code not in found.values()}
        if paired is not _by_words:  # part of a name shows nothing where others of its sort are found
            left = {code: name for code, name in left.items() if sort_of(name) not in here}
        pairs = paired(left, {code: name for code, name in strange.items() if code not in found})
        agree, tested = _agreement(names, claims, {**found, **pairs})
        right, seen = _in_places(pairs, places) if paired is _by_numbers else (0, 0)
        few = len(found) + len(pairs) < min(_FEWEST, len(lost))
        enough = not few and agree >= max(1, CLEAR * tested) and right >= CLEAR * seen
        if paired is _by_words or (enough and (seen or paired is not _by_numbers)):
            found |= pairs
        elif enough:  # other numbers for the same devices would look the same
            maybe |= pairs
    if found:
        pairs_of_names = _spelled(names, found)
        match = Match(tuple(dict(pairs_of_names)), pairs_of_names, *_agreement(names, claims, found), of_devices=True)
        return Fit({own: plan for plan, own in pairs_of_names}, matches=(match,))
    maybe, tier = maybe or _by_places(names, places, lost, strange), devices.tier
    shown = maybe.values() or {plan for plan, own in places if plan in lost and own in strange}
    some_left = {tier[code] for code in present if code < planned} if not maybe else set()
    tiers = {tier[plan] for plan in shown if maybe or len(shown) >= _FEWEST} - some_left
    tiers = tiers or ({*tier} if strange and len(lost) == planned else set())
    absent = dict.fromkeys(name for code, name in lost.items() if tier[code] in tiers)
    if not absent:
        return Fit()
    asked = _spelled(names, maybe)
    match = Match(tuple(absent), asked, *_in_places(maybe, places), True, of_devices=True)
    open_ = frozenset(port for cable in names.index.plan.cables for port in cable[:2] if port.device in absent)
    return Fit(open=open_, maybe={own: plan for plan, own in asked}, matches=(match,))


def _spelled(names: LocalNames, found: Mapping[int, int]) -> tuple[tuple[str, str], ...]:
    """Planned and own names of pairs of own and planned codes, in the order of the plan."""
    spelled = names.index.devices.names
    return tuple((spelled[plan], spelled[own]) for plan, own in sorted((b, a) for a, b in found.items()))


def _heard_in_places(names: LocalNames, claims: Claims) -> Counter[tuple[int, int]]:
    """How often a device is heard in a place of a planned one, by planned code and that of the device."""
    index = names.index
    far = index.ports.device_of(index.far_ends(claims.u))
    use = (far >= 0) & (claims.w >= 0)
    return Counter(zip(far[use].tolist(), claims.w[use].tolist(), strict=True))


def _in_places(found: Mapping[int, int], places: Mapping[tuple[int, int], int]) -> tuple[int, int]:
    """Of the places in which these own devices are heard, how many are theirs, and how many there are."""
    heard = [(found[own] == plan, count) for (plan, own), count in places.items() if own in found]
    return sum(count for right, count in heard if right), sum(count for _, count in heard)


def _by_places(
    names: LocalNames, places: Mapping[tuple[int, int], int], lost: Collection[int], strange: Collection[int]
) -> dict[int, int]:
    """Own to planned codes of the devices that are heard in most places of planned ones, for the tiers most of whose
    devices are lost.
    """
    heard = ((plan, (own, count)) for (plan, own), count in places.items() if plan in lost and own in strange)
    votes = {plan: Counter(dict(of)) for plan, of in grouped(heard).items()}
    best = {plan: of.most_common(1)[0][0] for plan, of in votes.items() if 2 * max(of.values()) > of.total()}
    best = best if sum(map(Counter.total, votes.values())) >= _FEWEST else {}
    once, tier = Counter(best.values()), names.index.devices.tier
    pairs = {own: plan for plan, own in best.items() if once[own] == 1}
    every = () if names.index.named else tier[: names.index.devices.planned]  # where others have other names, one may
    size, shown = Counter(every), Counter(tier[plan] for plan in pairs.values())
    most = {one for one, count in shown.items() if count >= max(min(_FEWEST, size[one] // 2 + 1), size[one] / 2)}
    return {own: plan for own, plan in pairs.items() if tier[plan] in most}


Names = Mapping[int, str]
"""Names of devices by code."""


def _by_numbers(plan: Names, own: Names) -> dict[int, int]:
    """Own to planned codes of names with the same numbers: of one sort of planned and one of own names."""
    planned, owned = (grouped((sort_of(of[1]), of) for of in names.items()).values() for names in (plan, own))
    by_number: dict[str, Words] = {}
    for sort in (*planned, *owned):  # without the numbers that all have, as in `pod1-node7`
        called = [name for _, name in sort]
        columns = list(zip(*map(numbers_alone, called), strict=False))
        varying = [of for of in columns if len(set(of)) > 1] or columns
        by_number |= zip(called, zip(*varying, strict=True), strict=False)
    found: dict[int, int] = {}
    for sort in planned:
        pairs = [_paired(lambda name: (by_number.get(name, ()),), dict(sort), dict(other)) for other in owned]
        best: dict[int, int] = max(pairs, key=len, default={})
        found |= best
    return found


def _paired(key: Callable[[str], Iterable[Words]], plan: Names, own: Names) -> dict[int, int]:
    """Own to planned codes of names that share a key, each with one other."""
    keys = ({(one, code): None for code, name in names.items() for one in key(name)} for names in (plan, own))
    planned, owned = map(grouped, keys)
    both = ((owned.get(one, ()), codes) for one, codes in planned.items() if one)
    pairs = {(*mine, *codes) for mine, codes in both if len(mine) == len(codes) == 1}
    mine, theirs = (Counter(pair[at] for pair in pairs) for at in (0, 1))
    return {a: b for a, b in pairs if mine[a] == theirs[b] == 1}


_by_words = partial(_paired, lambda name: {words(name): None, words(name.partition(".")[0]): None})
"""Own to planned codes of names with the same words and numbers."""
_by_last_words = partial(_paired, last_words)
"""The same of names that end so."""
_by_fewer_words = partial(_paired, fewer_words)
"""The same but for one word."""


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

"""Whether two spellings may mean one thing: the numbers of ports' names, the words and numbers of devices' names.

People name a port by what is printed beside it, or as another system does: `1/5`, `P5`, `Port 5`, `swp05`,
`Eth1/5 (400G)` are each the fifth port of a switch that calls it `swp5`, `Ethernet16` or `et-0/0/4`. Here a name is
only taken apart; which port it is follows from the cabling, see `fit`.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import gcd

from truerail.model.columns import grouped
from truerail.model.names import device_key, natural_key, port_key

Words = tuple[str | int, ...]
Pairs = Sequence[tuple[str, str]]
"""Planned and own names of what may be one port."""
Forms = tuple[str, str, int | None]
"""The forms of planned and of own names, and which number of these counts."""

_COVERED = 0.9
"""Of the pairs of names, those in the forms of a map: whole cages beside split ones are two forms, in one order."""
_REMARK = re.compile(r"\s*\([^()]*\)|\s+-\s.*|\b\d{1,4}\s?g(?:be?|b/s|bps|ig)?\b", re.IGNORECASE)
"""What a list says of a port beside its name: `(400G)`, `- QSFP112`."""
_PART = re.compile(r"(\d{1,9})([a-h](?![a-z]))?", re.IGNORECASE)
_OF_SWITCH = re.compile(r"(?:p|port|ib|ibp)?[ _-]?#|(?:ib)?[ _-]?#(?:/#){1,3}")
"""Forms of the names of InfiniBand switches' ports."""
_ORDINAL = re.compile(r"nic[-_ ]?(\d+)", re.IGNORECASE)
_DOMAIN = re.compile(r"(?:\.[a-z][a-z-]*)+$")
"""Its parts have no numbers, as those of `dc1.node-1` have."""
_WORD = re.compile(r"[a-z]+|\d+", re.IGNORECASE)


@lru_cache(maxsize=65536)
def numbers(name: str) -> tuple[int, ...]:
    """The numbers of a port's name, a letter behind one counted from 0: (1, 5) of `Eth1/5`, (3, 1) of `3b`."""
    found: list[int] = []
    for number, letter in _PART.findall(_REMARK.sub(" ", name)):
        found += [int(number), ord(letter.lower()) - ord("a")] if letter else [int(number)]
    return tuple(found)


def form(name: str) -> str:
    """A port's name without its numbers, and without the letters behind them; `Eth1/5` as `Ethernet1/5`."""
    return _PART.sub(lambda found: "#@" if found[2] else "#", port_key(_REMARK.sub("", name)))


def counting(names: Iterable[str]) -> dict[str, int | None]:
    """The forms of names, each with the place of the number that counts its ports: 0 of `Ethernet1/1`, `Ethernet2/1`,
    1 of `Ethernet1/1`, `Ethernet1/2`; None of a form with one name.
    """
    sizes = {
        of: [len(set(column)) for column in zip(*map(numbers, some), strict=True)]
        for of, some in grouped((form(name), name) for name in names).items()
    }
    return {of: size.index(max(size)) if max(size, default=1) > 1 else None for of, size in sizes.items()}


@lru_cache(maxsize=65536)
def port_number(name: str) -> int | None:
    """The number that an InfiniBand switch has for a port: `33`, `P33`, `1/33`, `1/17/1` and `IB1/17/1` are 33.

    None for a name that is no such port's. A port is `1/5`, split in two `1/5/1` and `1/5/2`; with Quantum-2 it is
    ASIC/cage/port, split ASIC/cage/port/split, and a cage has two ports (NVIDIA's MLNX-OS manual, "InfiniBand
    Interface", and the top of ibdiagnet's files). Of three numbers the first is the module or the ASIC, always 1.
    """
    parts = numbers(name)
    if not _OF_SWITCH.fullmatch(form(name)) or (len(parts) > 2 and parts[0] != 1):
        return None
    number, *halves = parts[1:] if len(parts) > 2 or (len(parts) == 2 and parts[0] == 1) else parts
    for half in halves:
        if half not in (1, 2):
            return None
        number = 2 * (number - 1) + half
    return number


def like(name: str, number: int) -> str:
    """The number of a port in the notation of another port of the same InfiniBand switch."""
    parts, head = numbers(name), re.split(r"\d", name.strip(), maxsplit=1)[0]
    label = {1: f"{number}", 2: f"1/{number}", 3: f"1/{(number + 1) // 2}/{2 - number % 2}"}.get(len(parts))
    if label is None or not _OF_SWITCH.fullmatch(form(name)) or (len(parts) == 2 and parts[0] != 1):
        return str(number)
    return f"{head}{label}"


@lru_cache(maxsize=65536)
def words(name: str) -> Words:
    """The words and numbers of a device's name, without its domain: ("gpu", 1) of `gpu-001` and `GPU_1`."""
    parts = _WORD.findall(_DOMAIN.sub("", device_key(name)))
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def sort_of(name: str) -> str:
    """A device's name without its numbers, by which devices of one sort are alike."""
    return " ".join(word for word in words(name) if isinstance(word, str))


def last_words(name: str) -> Iterator[Words]:
    """Each end of a name that begins with a word: `gpu-1` of `r05-gpu-1`."""
    parts = words(name)
    yield from (parts[at:] for at in range(len(parts) - 1) if isinstance(parts[at], str))


def fewer_words(name: str) -> Iterator[Words]:
    """The same, each also without one of its words: `gpu-1` of `gpu-node-1`."""
    for end in last_words(name):
        less = (end[:at] + end[at + 1 :] for at, word in enumerate(end) if isinstance(word, str))
        yield from (end, *(some for some in less if isinstance(some[0], str)))


def numbers_alone(name: str) -> tuple[int, ...]:
    """The numbers of a device's name."""
    return tuple(part for part in words(name) if isinstance(part, int))


def _whole(pattern: str) -> Callable[[str], bool]:
    """Whether a whole name has a pattern, in upper or lower case."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda name: compiled.fullmatch(name) is not None


is_by_place = _whole(
    r"(?:en|ib|roce|rdma|iw|opa|hns)(?:(?:p\d+)?p\d+s\d+|s\d+|o\d+|x[0-9a-f]{12})[a-z0-9]*"
    r"|(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
)
"""Whether a NIC's name follows from the card's location in the host, or from its MAC."""
is_by_slot = _whole(r"(?:en|ib|roce|rdma|iw|opa|hns)(?:s\d+|o\d+|x[0-9a-f]{12})[a-z0-9]*")
"""Whether a NIC's name follows from the number of its slot or from its MAC, whatever bus the firmware gives it."""
is_no_netdev = _whole(r"(?:mlx\d+_|bnxt_re|irdma|rdmap|[0-9a-f]{4}:[0-9a-f]{2}:)(?s:.*)")
"""Whether a name is that of an RDMA device or a PCI address, which LLDP never carries."""
is_numbered = _whole(r"(?:mlx\d+_|bnxt_re|ionic_|irdma|hns_|rxe|siw|erdma_|mana_)\d+")
"""Whether a name is that of an RDMA device by its number."""
_is_eth = _whole(r"eth\d+")


def ordinal(name: str) -> int | None:
    """The number of `nic3`, which counts a host's NICs; None for other names."""
    found = _ORDINAL.fullmatch(name)
    return int(found[1]) if found else None


def is_counted(name: str) -> bool:
    """Whether a NIC's name is counted, by its host or by a list."""
    return is_numbered(name) or ordinal(name) is not None or _is_eth(name)


def in_order(names: Iterable[str]) -> list[str]:
    """Ports' names by their numbers, then as text."""
    return sorted(names, key=lambda name: (numbers(name), natural_key(name)))


def numbered(names: Collection[str]) -> dict[str, int]:
    """The place of each port on the front, among the names of its form."""
    return {name: place for of in set(map(form, names)) for name, place in _places(names, {of})[0].items()}


def lines(
    planned: Collection[str], own: Collection[str], pairs: Pairs, kept: frozenset[Forms], list_: Collection[str]
) -> Iterator[tuple[dict[str, str], frozenset[Forms], bool]]:
    """Maps of planned to own names that keep order and distances in each form of name, as half of its pairs or more
    show them; the forms of these names, of nearly all pairs; and whether a map keeps the number on the front, as those
    of `kept` do elsewhere: whatever system counts from 0 or in lanes. `list_` has all names that the list uses.
    """
    meant = dict[str, tuple[str, int]]()
    counts = counting(own)
    both = set(map(form, planned)) & counts.keys()
    for (of_plan, of_own), count in Counter((form(one), form(other)) for one, other in pairs).most_common():
        if "#" in of_plan and (of_plan == of_own or not {of_plan, of_own} <= both):  # each keeps its meaning
            meant.setdefault(of_plan, (of_own, count))
    for _, of, place in kept:  # a device with one port of a form does not show which number counts
        counts.update({of: place} if counts.get(of, 0) is None else {})
    used, shapes = Counter(map(form, list_)), {(of, _width(one)) for one, (of, _) in meant.items()}
    together = grouped(  # a whole cage is counted as the first half of a split one, where the device does so
        ((of, _width(one) + ((of, _width(one) + 1) in shapes)), (one, count)) for one, (of, count) in meant.items()
    )
    sides = []
    for (of, _), some in together.items():
        counted, place = dict(some), counts[of]
        sure = place is not None and sum(used[one] for one in counted) > 1
        both_sides = _places(planned, counted, list_), _places(own, {of})
        sides.append((*both_sides, sum(counted.values()), {*product(counted, [of], [place])}, sure))
    for mine, theirs in product((0, 1), repeat=2):
        names, forms, natural = dict[str, str](), set[Forms](), True
        for one, other, count, which, sure in sides:
            here, there = one[mine], other[theirs]
            shifts = Counter(there[b] - here[a] for a, b in pairs if a in here and b in there)
            shift = 0 if 2 * shifts[0] >= count or which <= kept else shifts.most_common(1)[0][0]
            if 2 * shifts[shift] >= count or which <= kept:
                at = {place: name for name, place in there.items()}
                names |= {name: at[place + shift] for name, place in here.items() if place + shift in at}
                forms |= which
                natural &= shift == 0 and sure
        if _COVERED * len(pairs) < sum(count for *_, count, which, _ in sides if which <= forms):
            yield names, frozenset(forms), natural


def _width(of: str) -> int:
    """How many numbers a name of this form has."""
    return of.count("#") + of.count("@")


def _places(names: Iterable[str], of: Collection[str], list_: Iterable[str] = ()) -> tuple[dict[str, int], ...]:
    """Places of the names of some forms on the front, from 0: of `Ethernet0`, `Ethernet8`, `Ethernet16` 0, 1 and 2 in
    steps, and beside these the plain ones. Of several numbers the last counts fastest; one that is always equal to
    another, as in `f1np1`, counts once. Names begin at 1, unless one has 0, of `list_` where a number differs here.
    """
    called = [name for name in names if form(name) in of]
    every = {name: numbers(name) for name in (*called, *list_) if form(name) in of}
    width = max(map(len, every.values()), default=0)
    first = min((one[-1] for one in every.values() if len(one) == width > 0), default=0)
    every = {name: (*one, first)[:width] for name, one in every.items()}
    mine, used = [*zip(*(every[name] for name in called), strict=True)], [*zip(*every.values(), strict=True)]
    at = sorted({column: at for at, column in enumerate(mine)}.values())
    columns = [sorted({*(mine if len({*mine[one]}) == 1 < len(called) else used)[one]}) for one in at]
    starts = [0 if column[0] == 0 else 1 if len(column) > 1 else column[0] for column in columns]
    steps = [gcd(*(value - start for value in column)) or 1 for column, start in zip(columns, starts, strict=True)]

    def place(name: str, steps: Iterable[int]) -> int:
        found = 0
        for one, column, start, step in zip(at, columns, starts, steps, strict=True):
            found = found * ((column[-1] - start) // step + 1) + (every[name][one] - start) // step
        return found

    return tuple({name: place(name, by) for name in called} for by in (steps, [1] * len(steps)))

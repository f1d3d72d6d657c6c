"""Aliases that switches send instead of port names, and how a platform numbers them.

SONiC's lldpmgrd sends each port's alias (sonic-buildimage `device/*/port_config.ini` and `platform.json`): `etp3`,
`Ethernet3/1`, `Eth3(Port3)`, `fourhundredGigE1/3`, `3`, and with a split port `etp3a`, `etp3b`, ... The port itself is
`Ethernet` and the number of its first lane: cages count from 1, and each has 1, 2, 4 or 8 lanes. An alias may look like
another port's name (`Ethernet1` is the alias of `Ethernet0` on some). So each scheme is tried, and one is used where
most cables of a device agree with it: as the other end hears them, else as planned.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from truerail.analysis.cabling.local import LocalNames
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.index import Ports
from truerail.model.names import port_key

_NUMBER = re.compile(r"(\d{1,5})([a-h]?)(?![a-z0-9])", re.IGNORECASE)
_LANES = (4, 8, 2, 1)
_NUMBERS = ((0, None, 1), (-1, None, 2), (0, -1, 2))
"""Which of an alias's numbers is the cage, and which, if any, the lane; and how many numbers it has at least."""
MIN_VOTES = 2
"""Minimum number of cables that must agree with a scheme."""

Offer = tuple[Codes, Mask]
"""The port that a scheme yields for each row, and whether the row's id has the scheme's form."""


def schemes(names: LocalNames, device: Codes, said: Codes) -> Iterator[Offer]:
    """The ports that each scheme yields for the aliases. `said` are codes of names; -1 where there is none."""
    distinct, code = np.unique(said, return_inverse=True)
    texts = [names.index.ports.spelled(int(name)) if name >= 0 else "" for name in distinct]
    for lanes, (cage, lane, fewest) in product(_LANES, _NUMBERS):
        parts = [_read(text, cage, lane, fewest, lanes) for text in texts]
        columns = np.array(parts, dtype=np.int64).reshape(-1, 3)
        if (columns[:, 0] >= 0).any():
            of_rows = columns[code].T
            yield _port(names, device, of_rows, lanes), (of_rows[0] >= 0) & (device >= 0)


def _read(text: str, cage: int, lane: int | None, fewest: int, lanes: int) -> tuple[int, int, int]:
    """The first lane of an alias's cage, and its lane in the cage: as a number, or as a letter, counted from 0, whose
    step is to be found. -1 where a name does not have the form.
    """
    numbers = _NUMBER.findall(text)
    if len(numbers) < fewest or " " in text:
        return NONE, 0, 0
    number, letter = numbers[cage]
    own = port_key(text).rstrip("0123456789") == "ethernet" and len(numbers) == 1
    part = 0 if lane is None else int(numbers[lane][0]) - 1
    # cages count from 1; a port off by one is no alias
    if int(number) < 1 or (own and lanes == 1) or not 0 <= part < lanes:
        return NONE, 0, 0
    return (int(number) - 1) * lanes, part, ord(letter.lower()) - ord("a") if letter else 0


def _port(names: LocalNames, device: Codes, parts: Codes, lanes: int) -> Codes:
    """The port at a lane; `parts` as `_read` has them, shape (3, names). The letters of a split port count its parts:
    their step is that of its known ports.
    """
    first, lane, letter = parts
    found = _ethernet(names, device, np.where(first >= 0, first + lane, NONE))
    lettered = np.flatnonzero((letter > 0) & (first >= 0))
    start, of = first[lettered], device[lettered]
    step = np.zeros(len(lettered), dtype=np.int64)
    cage, inverse = np.unique(of << 32 | start, return_inverse=True)
    last = np.zeros(len(cage), dtype=np.int64)
    np.maximum.at(last, inverse, letter[lettered])
    for count in (count for count in (8, 4, 2) if count <= lanes):
        known = _ethernet(names, of, start + lanes // count) >= 0
        step = np.where((step == 0) & known & (last[inverse] < count), lanes // count, step)
    found[lettered] = _ethernet(names, of, np.where(step > 0, start + letter[lettered] * step, NONE))
    return found


def _ethernet(names: LocalNames, device: Codes, number: Codes) -> Codes:
    distinct, code = np.unique(number, return_inverse=True)
    spelled = names.index.ports.name_codes(f"Ethernet{n}" if n >= 0 else None for n in distinct.tolist())
    return names.as_planned(names.index.ports.find(device, spelled[code]))


def agreeing(ports: Ports, device: Codes, reference: Codes, offers: Sequence[Offer]) -> tuple[Codes, Mask]:
    """The port of each row by the scheme with which most cables of the device agree, else by that of most cables of all
    devices; -1 where there is no agreed scheme. And whether that is the first offer.
    """
    size = int(device.max(initial=NONE)) + 2
    found, best = np.full(len(device), NONE, dtype=np.int64), np.zeros(len(device), dtype=np.int64)
    first = np.zeros(len(device), dtype=bool)
    scored = [_score(ports, device, reference, offer, size) for offer in offers]
    for pooled in (False, True):
        undecided = best == 0
        for number, (offer, score) in enumerate(zip(offers, scored, strict=True)):
            votes = np.where(offer[1] & undecided, score[pooled][device], 0)
            better, tied = votes > best, (votes == best) & (votes > 0)
            clash = tied & (found != NONE) & (offer[0] >= 0) & (offer[0] != found)
            other = np.where(tied & (found == NONE), offer[0], found)
            found = np.where(better, offer[0], np.where(clash, NONE - 1, other))  # a third offer does not decide either
            first = np.where(better, number == 0, first)
            best = np.maximum(best, votes)
    return np.maximum(found, NONE), first


def _score(ports: Ports, device: Codes, reference: Codes, offer: Offer, size: int) -> tuple[Codes, Codes]:
    """How many cables agree with an offer, per device and in total; 0 where that is not most of them."""
    proposal, fits = offer
    evaluated = fits & (reference >= 0) & (device >= 0)
    agree = evaluated & (proposal >= 0) & (ports.name_of(proposal) == reference)
    yes, all_ = np.bincount(device[agree], minlength=size), np.bincount(device[evaluated], minlength=size)
    by_device = np.where((yes >= MIN_VOTES) & (2 * yes > all_), yes, 0)
    total, of = int(yes.sum()), int(all_.sum())
    return by_device, np.full(size, total if total >= MIN_VOTES and 2 * total > of else 0, dtype=np.int64)

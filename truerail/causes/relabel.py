"""Relabellings, found by votes: short explanations that make many wrong sightings right.

Every wrong sighting votes for what would make it right:

- it sits in port q of leaf X and belongs in port q of leaf Y: X and Y are swapped (a place vote);
- it is NIC r of host d and sits where NIC r of host e belongs: d and e are swapped (an owner vote).

A name that most of a device's sightings vote for is followed until the chain closes: a permutation of names. Its
gain is the number of sightings it makes right, less those it makes wrong, less its own cost. A swapped pair of leaf
labels and a patch panel that crosses two leaves look the same from the hosts; the uplinks distinguish them, because a
label applies to the whole switch and a patch panel does not.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerail.causes.observed_links import ObservedLinks
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE, Codes, Mask

LABEL_COST = 2
"""Cost of a swap of labels: it must explain more than two wrong cables to be better than two moves."""
BUNDLE_COST = 3
"""Cost of a crossed patch panel, more than of a label: it has to be found and opened. So the label wins a tie."""
MAJORITY = 0.5
"""The share of a device's own sightings that must agree before its name is doubted."""

MIN_EXPLAINED_PER_BROKEN = 6
"""Wrong cables that a relabelling must explain for each right one that it makes wrong. A right cable is evidence
against it. Only many others outweigh it, as in a swapped pair of leaves with one cable crossed between them."""

Votes = Counter[tuple[int, int]]


@dataclass(frozen=True)
class Relabelling:
    """A hypothesis. `true_name` maps each device to the one it really is, `cycle` lists them in order.

    `decided` is False if no uplink is evidence for or against it, `shown` True if all uplinks are evidence for it and
    no cable of its devices is evidence against it.
    """

    kind: CauseKind
    cycle: tuple[int, ...]
    true_name: dict[int, int]
    gain: float
    decided: bool
    shown: bool = False

    @property
    def crossed(self) -> bool:
        """Whether it is a bundle of cables, and no name."""
        return self.kind is CauseKind.BUNDLE_SWAP

    def apply(self, sightings: ObservedLinks) -> Mask:
        """Relabels; a bundle moves host cables' places only. Returns the sightings that become right."""
        return sightings.relabel_devices(self.true_name, places_of_hosts_only=self.crossed)


@dataclass(frozen=True)
class _Ballot:
    places: Votes
    owners: Votes
    place_right: Codes
    place_seen: Codes
    owner_right: Codes
    owner_seen: Codes


def best_relabelling(sightings: ObservedLinks, refused: Collection[tuple[int, ...]] = ()) -> Relabelling | None:
    """The relabelling with the highest gain, None if none gains, one that all uplinks show before others; never a
    crossing of `refused` bundles. Ties go to the lowest device codes: order does not matter.
    """
    wrong = sightings.wrong
    if np.count_nonzero(wrong) <= LABEL_COST:
        return None
    ballot = _count(sightings, wrong)
    found = (r for r in _hypotheses(sightings, ballot) if not r.crossed or r.cycle not in refused)
    return min(found, key=lambda r: (not r.shown, -r.gain, r.crossed, r.cycle), default=None)


def hidden_relabellings(s: ObservedLinks, refused: Collection[tuple[int, ...]] = ()) -> list[Relabelling]:
    """Relabellings of switches that only those of their hosts complete; empty if they explain no more than they cost.

    A cable of a renamed host on a renamed switch is in another port of another switch than planned: it votes for
    neither. So here a sighting votes for its planned switch in whatever port it is, and the result is tested: the
    switches are relabelled on a copy, then whatever gains there. It counts if more cables become right than the names
    cost, by the same measures as one relabelling.
    """
    wrong = s.wrong
    if np.count_nonzero(wrong) <= 2 * LABEL_COST:
        return []
    ballot = replace(_count(s, wrong), places=_any_port(s, wrong))
    found: list[Relabelling] = []
    for one in sorted(_switches(s, ballot), key=lambda r: (-r.gain, r.cycle)):
        taken = {device for other in found for device in other.cycle}
        if taken.isdisjoint(one.cycle) and one.cycle not in refused:
            found.append(one)
    tried = [found, *([one] for one in found)] if len(found) > 1 else [found]
    gain, best = max(((_tested(s, some, refused), some) for some in tried), key=lambda pair: pair[0])
    return best if gain > 0 else []


def _tested(s: ObservedLinks, some: Sequence[Relabelling], refused: Collection[tuple[int, ...]]) -> int:
    """What these explain together with all that gains after them, less its cost; 0 if right cables speak against it."""
    trial = replace(s, taken_for=s.taken_for.copy(), place=s.place.copy(), stands=s.stands.copy())
    for one in some:
        one.apply(trial)
    cost = sum(map(_cost, some))
    while (best := best_relabelling(trial, refused)) is not None:
        if not best.apply(trial).any():  # a crossed bundle, each cable of which waits for one that stays
            break
        cost += _cost(best)
    right, broken = np.count_nonzero(s.wrong & ~trial.wrong), np.count_nonzero(trial.wrong & ~s.wrong)
    return int(right - broken - cost) if right >= MIN_EXPLAINED_PER_BROKEN * broken else 0


def _cost(one: Relabelling) -> int:
    return (BUNDLE_COST if one.crossed else LABEL_COST) * (len(one.cycle) - 1)


def _any_port(s: ObservedLinks, wrong: Mask) -> Votes:
    """Votes of the host cables on another switch of the same tier than planned, for that switch."""
    ports, tier = s.index.ports, np.array([*s.index.devices.tier, NONE])
    rows = np.flatnonzero(wrong & s.index.from_host[s.taken_for])
    place, want = ports.device_of(s.place[rows]), ports.device_of(s.index.b[s.taken_for[rows]])
    other = (place != want) & (tier[place] == tier[want])
    return _votes(place[other], want[other])


def _count(s: ObservedLinks, wrong: Mask) -> _Ballot:
    index = s.index
    ports, size = index.ports, len(index.devices.names)
    rows = np.flatnonzero(wrong)
    want, place = index.b[s.taken_for[rows]], s.place[rows]
    place_device, want_device = ports.device_of(place), ports.device_of(want)
    tier = np.array([*index.devices.tier, NONE])
    same_port = (index.labels(place) == index.labels(want)) & (place_device != want_device)
    same_port &= tier[place_device] == tier[want_device]
    resident = s.resident()[rows]
    slot = s.slots.of
    same_slot = (resident >= 0) & (slot[resident] == slot[s.taken_for[rows]])
    owner, resident_owner = index.a_device[s.taken_for[rows]], index.a_device[resident]
    same_slot &= owner != resident_owner

    def tally(of: Codes) -> Codes:
        return np.bincount(of[of >= 0], minlength=size)

    all_places, all_owners = ports.device_of(s.place), index.a_device[s.taken_for]
    return _Ballot(
        places=_votes(place_device[same_port], want_device[same_port]),
        owners=_votes(owner[same_slot], resident_owner[same_slot]),
        place_right=tally(all_places[~wrong]),
        place_seen=tally(all_places),
        owner_right=tally(all_owners[~wrong]),
        owner_seen=tally(all_owners),
    )


def _votes(name: Codes, true: Codes) -> Votes:
    packed, counts = np.unique(name << 32 | true, return_counts=True)
    return Counter({(p >> 32, p & 0xFFFFFFFF): c for p, c in zip(packed.tolist(), counts.tolist(), strict=True)})


def _hypotheses(s: ObservedLinks, ballot: _Ballot) -> Iterator[Relabelling]:
    hosts = Counter({pair: n for pair, n in ballot.owners.items() if s.index.devices.is_host(pair[0])})
    for cycle in _chains(_favourites(hosts, ballot.owner_seen)):
        true_name = _mapping(cycle)
        explained = sum(hosts[pair] for pair in true_name.items())
        broken = sum(int(ballot.owner_right[d]) for d in cycle)
        gain = explained - broken - LABEL_COST * (len(cycle) - 1)
        if gain > 0 and explained >= MIN_EXPLAINED_PER_BROKEN * broken and _closes(cycle, hosts, ballot.owner_seen):
            yield Relabelling(CauseKind.HOST_SWAP, cycle, true_name, gain, decided=False)
    yield from _switches(s, ballot)


def _switches(s: ObservedLinks, ballot: _Ballot) -> Iterator[Relabelling]:
    tier = s.index.devices.tier
    places = Counter({pair: n for pair, n in ballot.places.items() if tier[pair[0]] > 0})
    uplinks = Counter({pair: n for pair, n in ballot.owners.items() if tier[pair[0]] > 0})
    uplinks += Counter({pair: n for pair, n in s.labels.items() if pair[0] != pair[1]})
    seen = ballot.place_seen + ballot.owner_seen
    by_place_only = _chains(_favourites(places, ballot.place_seen))
    by_both = _chains(_favourites(places + uplinks, seen))
    by_uplinks = _chains(_favourites(uplinks, ballot.owner_seen))
    for cycle in sorted({*by_place_only, *by_both, *by_uplinks}):
        true_name = _mapping(cycle)
        by_place = sum(places[pair] for pair in true_name.items())
        by_uplink = sum(uplinks[pair] for pair in true_name.items())
        broken = sum(int(ballot.place_right[d]) for d in cycle)
        uplinks_right = sum(int(ballot.owner_right[d]) + s.labels[d, d] for d in cycle if tier[d] > 0)
        decided = by_uplink + uplinks_right > 0
        pairs = len(cycle) - 1
        label = by_place + by_uplink - broken - uplinks_right - LABEL_COST * pairs
        bundle = by_place - broken - BUNDLE_COST * pairs
        against = MIN_EXPLAINED_PER_BROKEN * broken
        if not _closes(cycle, places + uplinks, seen):
            continue
        all_crossed = 0 < by_uplink >= sum(int(ballot.owner_seen[d]) for d in cycle)
        if label > 0 and label >= bundle and (all_crossed or by_place + by_uplink >= against + uplinks_right):
            shown = all_crossed and not broken
            yield Relabelling(CauseKind.LEAF_SWAP, cycle, true_name, label, decided, shown)
        elif bundle > 0 and by_place >= against:
            yield Relabelling(CauseKind.BUNDLE_SWAP, cycle, true_name, bundle, decided)


def _closes(cycle: tuple[int, ...], votes: Votes, seen: Codes) -> bool:
    """Whether the last of a chain votes to be the first; one that is not seen anywhere may be any."""
    return votes[cycle[-1], cycle[0]] > 0 or int(seen[cycle[-1]]) == 0


def _favourites(votes: Votes, seen: Codes) -> dict[int, int]:
    """For each name the true name with most votes of its sightings, if they are a majority and at least two."""
    best: dict[int, tuple[int, int]] = {}
    for (name, true), count in sorted(votes.items()):
        if count >= 2 and count > MAJORITY * int(seen[name]) and count > best.get(name, (0, 0))[0]:
            best[name] = (count, true)
    return {name: true for name, (_, true) in best.items()}


def _chains(favourites: dict[int, int]) -> list[tuple[int, ...]]:
    """Closed cycles of names, and open chains whose last member is not seen elsewhere. Each starts at its lowest
    code.
    """
    found: list[tuple[int, ...]] = []
    targets = set(favourites.values())
    placed: set[int] = set()
    starts = [n for n in sorted(favourites) if n not in targets] + sorted(favourites)
    for start in starts:
        chain = [start]
        while chain[-1] in favourites and favourites[chain[-1]] not in chain and chain[-1] not in placed:
            chain.append(favourites[chain[-1]])
        if placed.intersection(chain) or len(chain) < 2:
            continue
        closed = favourites.get(chain[-1]) == start
        if closed or chain[-1] not in favourites:
            placed.update(chain)
            lowest = chain.index(min(chain)) if closed else 0
            found.append(tuple(chain[lowest:] + chain[:lowest]))
    return found


def _mapping(cycle: tuple[int, ...]) -> dict[int, int]:
    return {name: cycle[(i + 1) % len(cycle)] for i, name in enumerate(cycle)}

"""Cables that were crossed together: the bundles of two hosts, or several swaps that are one mistake of two trunks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import DEVICE_ONLY, State, Wiring
from truerail.analysis.cabling.joined import Why
from truerail.causes.candidate import CauseCandidate, joined_names, names_of_devices
from truerail.causes.labels import relabel_draft
from truerail.causes.moved import WIRING, moves, moves_on
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling
from truerail.model import Alternative, CauseKind, Port, Role
from truerail.model.columns import NONE, Codes, distinct, grouped
from truerail.model.index import PlanIndex
from truerail.model.names import natural_key

# ----------------------------------------------------------------------------------------------------------------------
# Two hosts in each other's places: their rail cables, while their other cables are right, or hosts without switches.
#
# Cables of storage or management show that the hosts have their own names: if these were swapped, such cables would
# be wrong as well. So it is neither the labels (`relabel`) nor a fault of each rail: the hosts' bundles are crossed.

MIN_CABLES = 2
"""Least number of cables of each host: one of each is a swap of two cables."""


def crossed_hosts(s: ObservedLinks, before: Sequence[Relabelling]) -> Iterator[CauseCandidate]:
    """One draft for each pair; its cables count as right from then on."""
    index = s.index
    own, resident = s.taken_for, s.resident()
    host, other = index.a_device[own], np.where(resident >= 0, index.a_device[resident], -1)
    railed = index.from_host[own] & (index.rail[own] >= 0)
    shown = distinct(host[index.from_host[own] & ~railed & ~s.wrong])
    here = railed & s.wrong & (s.slots.of[own] == s.slots.of[resident]) & (s.sure > DEVICE_ONLY)
    here &= np.isin(host, shown) & np.isin(other, shown)
    whole = np.bincount(host[railed], minlength=len(index.devices.names) + 1)
    pairs, count = np.unique(host[here] << 32 | other[here], return_counts=True)
    crossed = {(pair >> 32, pair & 0xFFFFFFFF): n for pair, n in zip(pairs.tolist(), count.tolist(), strict=True)}
    for (one, two), n in crossed.items():
        if one < two and n == crossed.get((two, one)) == whole[one] == whole[two] and n >= MIN_CABLES:
            yield _draft(s, np.flatnonzero(railed & np.isin(host, [one, two])), (one, two), before)


def swapped_peers(s: ObservedLinks, wiring: Wiring) -> Iterator[CauseCandidate]:
    """One draft for each pair of hosts that are wired to other hosts, each as the other is planned: their names may be
    swapped as well as their cables. Their cables count as right from then on.
    """
    index, ports = s.index, s.index.ports
    tier = index.devices.tiers
    between = s.wrong & index.from_host[s.taken_for] & (tier[index.b_device[s.taken_for]] == Role.HOST.tier)
    there = ports.device_of(s.place)
    pairs = np.sort(np.stack([index.b_device[s.taken_for], there], axis=1)[between], axis=1)
    for one, other in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
        table = np.arange(len(index.devices.names) + 1)
        table[[one, other]] = other, one

        def renamed(port: Codes, table: Codes = table) -> Codes:
            return ports.find(np.where(port >= 0, table[ports.device_of(port)], NONE), ports.name_of(port))

        own = np.flatnonzero(np.isin(ports.device_of(np.arange(index.planned_ports)), [one, other]))
        far = renamed(np.where(renamed(own) >= 0, wiring.partner[renamed(own)], NONE))
        ends = [index.a_device[s.taken_for], index.b_device[s.taken_for], there]
        rows = np.flatnonzero(between & np.isin(ends, [one, other]).any(axis=0))
        if len(rows) > MIN_CABLES and (far == index.far_ends(own))[far >= 0].all():
            steps = moves(s, rows.tolist())
            s.place[rows] = index.b[s.taken_for[rows]]
            found = Relabelling(CauseKind.HOST_SWAP, (one, other), {one: other, other: one}, len(rows), decided=False)
            yield relabel_draft(s, found, steps, rows, announced=False)


def _draft(s: ObservedLinks, rows: Codes, hosts: tuple[int, int], before: Sequence[Relabelling]) -> CauseCandidate:
    names = names_of_devices(s.index, hosts)
    both = joined_names(names)
    rows = rows[np.argsort(s.slots.of[s.taken_for[rows]], kind="stable")]  # each plug with that in its place
    steps = moves_on(s, rows.tolist(), before)
    s.place[rows] = s.index.b[s.taken_for[rows]]
    summary = f"all rail cables of {both} are crossed; their other cables are not, so the hosts have their own names"
    action = f"Swap the cables of {both} rail by rail: {len(steps)} moves."
    cables, sure = s.cable[rows].tolist(), float(s.sure[rows].min())
    return CauseCandidate(CauseKind.HOST_SWAP, names, summary, action, cables, names, WIRING, steps, confidence=sure)


# ----------------------------------------------------------------------------------------------------------------------
# Several swaps that are one mistake, as of two trunk cables or two connectors.
#
# An MPO trunk carries several links. Where two trunks are exchanged, each link of one is in the place of its
# counterpart in the other. So swaps of neighbouring ports in the same order are one cause, with the same moves: two
# where they are between the same switches, else three.

MIN_NEIGHBOURS = 3
"""Least number of swaps of neighbouring ports that are one cause: two may be two mistakes."""
MIN_PARALLEL = 2
"""The same of cables between the same switches."""
_SHOWN = 4


def joined_trunks(index: PlanIndex, drafts: Sequence[CauseCandidate]) -> list[CauseCandidate]:
    """The drafts, with swaps that belong together as one in the place of the first."""
    swaps = [draft for draft in drafts if draft.kind is CauseKind.CABLE_SWAP and len(draft.moves) == 2]
    if len(swaps) < MIN_PARALLEL:
        return list(drafts)
    rank = _ranks(index, {move.target.device for draft in swaps for move in draft.moves})
    groups = grouped((tuple(place.device for place in _places(draft)), draft) for draft in swaps)
    whole: dict[int, CauseCandidate] = {}
    parts: set[int] = set()
    for group in groups.values():
        group.sort(key=lambda draft: rank[_places(draft)[0]])
        for run in _runs(group, rank):
            whole[id(run[0])] = _trunk(run)
            parts.update(map(id, run))
    return [whole.get(id(draft), draft) for draft in drafts if id(draft) in whole or id(draft) not in parts]


def _places(draft: CauseCandidate) -> tuple[Port, Port]:
    """The two places of a swap, in the order of their names."""
    one, other = sorted((move.target for move in draft.moves), key=lambda port: natural_key(str(port)))
    return one, other


def _ranks(index: PlanIndex, devices: set[str]) -> dict[Port, int]:
    """The number of each planned upper end of these devices; those of a device follow each other."""
    above = [at for at, name in enumerate(index.devices.names) if name in devices]
    ends = map(index.b_port, np.flatnonzero(index.devices.marked(above)[index.b_device]).tolist())
    return {port: at for at, port in enumerate(sorted(ends, key=lambda port: natural_key(str(port))))}


def _runs(group: Sequence[CauseCandidate], rank: dict[Port, int]) -> Iterator[list[CauseCandidate]]:
    """The swaps between two switches that belong together; each in one run."""
    run: list[CauseCandidate] = []
    for draft in [*group, None]:
        if draft is not None and run and _distance(run[-1], draft, rank) == (1, 1):
            run.append(draft)
            continue
        parallel = len({frozenset(move.cable.device for move in one.moves) for one in run}) == 1
        if len(run) >= (MIN_PARALLEL if parallel else MIN_NEIGHBOURS):
            yield run
        run = [draft] if draft is not None else []


def _distance(before: CauseCandidate, after: CauseCandidate, rank: dict[Port, int]) -> tuple[int, int]:
    """How many ports two swaps are apart at either end."""
    (one, other), (next_one, next_other) = _places(before), _places(after)
    return rank[next_one] - rank[one], rank[next_other] - rank[other]


def _trunk(run: Sequence[CauseCandidate]) -> CauseCandidate:
    places = [_places(draft) for draft in run]
    first, second = (_shown([pair[side] for pair in places]) for side in (0, 1))
    moves = tuple(move for draft in run for move in draft.moves)
    subjects = tuple(sorted((subject for draft in run for subject in draft.subjects), key=natural_key))
    summary = f"the cables of {first} are crossed with those of {second}, each with its counterpart, as of two trunks"
    action = f"Swap the two trunks where they cross, most likely in a panel; else move {len(moves)} cables one by one."
    cables = [cable for draft in run for cable in draft.cables]
    devices = tuple(dict.fromkeys(device for draft in run for device in draft.devices))
    made = CauseCandidate(CauseKind.BUNDLE_SWAP, subjects, summary, action, cables, devices, WIRING, moves)
    return replace(made, confidence=min(draft.confidence for draft in run))


def _shown(ports: Sequence[Port]) -> str:
    """Ports of one device, the first few by name."""
    names = [ports[0].device + "/" + ports[0].name, *(port.name for port in ports[1:_SHOWN])]
    return f"{', '.join(names)}{', ...' * (len(ports) > _SHOWN)}"


def crossed_by_name(wiring: Wiring) -> Iterator[CauseCandidate]:
    """One draft for each two switches whose cables to a third are in each other's places there, by their names alone:
    of their own ports each hears the planned switch, and not which port of it. So no move is ordered. Where no switch
    hears either of the two in its place, they may carry each other's names instead.
    """
    index = wiring.index
    tier = index.devices.tiers
    heard, below = wiring.heard[index.b], wiring.heard[index.a]
    vague = (wiring.state == State.WRONG) | ((wiring.state == State.UNKNOWN) & (wiring.why == Why.AMBIGUOUS))
    vague &= ~index.from_host & (wiring.place < 0) & (heard >= 0) & (heard != index.a_device)
    vague &= (tier[heard] == tier[index.a_device]) & ((below == index.b_device) | (below < 0))
    ours = ~index.from_host & ((heard == index.a_device) | (wiring.state == State.RIGHT))
    sure = set(index.a_device[ours].tolist())
    found = grouped(
        ((int(index.b_device[cable]), int(index.a_device[cable]), int(heard[cable])), cable)
        for cable in np.flatnonzero(vague).tolist()
    )
    for (above, one, other), cables in found.items():
        back = found.get((above, other, one), [])
        if one < other and len(cables) == len(back) and sure & {one, other}:
            yield _by_name(index, cables, back)


def _by_name(index: PlanIndex, cables: Sequence[int], back: Sequence[int]) -> CauseCandidate:
    (one, two), above = ([index.a_port(at[0]).device for at in (cables, back)], index.b_port(cables[0]).device)
    here, there = (_shown([index.b_port(cable) for cable in at]) for at in (cables, back))
    both, pair = [*cables, *back], f"{one} and {two}"
    kind = CauseKind.CABLE_SWAP if len(cables) == 1 else CauseKind.BUNDLE_SWAP
    subjects = tuple(sorted((str(index.a_port(cable)) for cable in both), key=natural_key))
    swapped = f"cables of {pair} are swapped at {above}: {here} sees {two}, {there} sees {one}"
    summary = f"{swapped}; only the devices there are known, not their ports"
    action = f"Move no cable before it is confirmed. Follow the cables of {here} and {there} to their other ends."
    other = Alternative(CauseKind.CABLE_ROTATION, f"other ports of {pair} are there, and more cables than these wrong")
    draft = CauseCandidate(kind, subjects, summary, action, both, rules=WIRING, confidence=DEVICE_ONLY)
    return replace(draft, alternatives=(other,), to_confirm=f"which ports of {pair} are behind {here} and {there}?")

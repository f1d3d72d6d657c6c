"""Faults at patch panels that many cables share: exchanged trunks, a reversed trunk, a shifted row of a panel.

LLDP shows the ends of a path alone. Which cables are exchanged follows from them, and what these share from the plan;
where on the path it happened does not, so that a cause names every place where it may be.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.causes.candidate import CauseCandidate
from truerail.causes.labels import BY_PLACES
from truerail.causes.moved import WIRING, moves_on, walk
from truerail.causes.observed_links import ObservedLinks, chains
from truerail.causes.relabel import Relabelling
from truerail.causes.shift import MIN_RUN, Shift, positions, shifted_runs
from truerail.model import Alternative, CauseKind, Move, Plan
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.columns import NONE, distinct
from truerail.model.index import PlanIndex
from truerail.model.names import clauses, natural_key
from truerail.model.panel_paths import checked_first, hops, meetings, panel_words, spot
from truerail.model.plan import path_text

MIN_EXCHANGED: Final = 3
"""Least number of cables in each other's places that show two trunks as exchanged, or one as reversed."""
_SHOWN: Final = 2
_BUNDLES: Final = (CauseKind.BUNDLE_SWAP, CauseKind.HOST_SWAP, CauseKind.LEAF_SWAP, CauseKind.GPU_NIC_ORDER)


class Trunk(NamedTuple):
    """A trunk from one panel to the next, by its name at both."""

    a_panel: str
    a: str
    b_panel: str
    b: str

    def __str__(self) -> str:
        return self.a if self.a == self.b else f"{self.a_panel}/{self.a}"


def common_panels(one: Trunk, other: Trunk) -> list[str]:
    """The panels at which both trunks end: where they can be exchanged."""
    ends = ((one.a_panel, other.a_panel), (one.b_panel, other.b_panel))
    return [mine for mine, their in ends if mine == their]


class PanelPaths:
    """The paths of a plan's cables by their numbers: panel ports, and positions in named trunks. The plan owns it."""

    def __init__(self, plan: Plan) -> None:
        self.spots = {at: tuple(map(spot, cable.via)) for at, cable in enumerate(plan.cables) if cable.via}
        self.trunks: defaultdict[Trunk, dict[int, int]] = defaultdict(dict)
        self.trunks_of: defaultdict[int, dict[Trunk, int]] = defaultdict(dict)
        for at in self.spots:
            for a, b in hops(plan.cables[at]):
                if a.trunk and b.trunk:
                    trunk = Trunk(a.panel, a.trunk, b.panel, b.trunk)
                    self.trunks[trunk][a.number] = at
                    self.trunks_of[at][trunk] = a.number


@dataclass(frozen=True)
class Exchange:
    """Trunks in each other's places, or one whose order is reversed: the rows of whole chains, in the order of moves.
    `pairs` are all that fit the same sightings.
    """

    rows: Sequence[int]
    pairs: Sequence[tuple[Trunk, Trunk]]


def exchanged_trunks(s: ObservedLinks) -> Iterator[Exchange]:
    """Each exchange of trunks among the wrong sightings, the largest first."""
    paths = s.index.plan.once(PanelPaths)
    if not paths.trunks:
        return
    resident, found = s.resident(), list[Exchange]()
    there = {int(s.taken_for[row]): int(resident[row]) for row in np.flatnonzero(s.wrong).tolist()}
    whole = chains(s)
    for cables, pairs in _exchanges(paths, there, set(s.taken_for.tolist())).items():
        mine = [chain.rows for chain in whole if cables.issuperset(s.taken_for[list(chain.rows)].tolist())]
        rows = [row for one in mine for row in one]
        if len(rows) >= MIN_EXCHANGED and 2 * len(rows) > len(cables):
            found.append(Exchange(rows, pairs))
    done: set[int] = set()
    for exchange in sorted(found, key=lambda one: (-len(one.rows), one.rows)):
        if done.isdisjoint(exchange.rows):
            done.update(exchange.rows)
            yield exchange


def _exchanges(
    paths: PanelPaths, there: dict[int, int], seen: set[int]
) -> dict[frozenset[int], list[tuple[Trunk, Trunk]]]:
    """The pairs of trunks whose cables are in each other's places, by these cables; `there` maps each wrong cable to
    the one in whose place it is.
    """
    votes: defaultdict[tuple[Trunk, Trunk, int], set[int]] = defaultdict(set)
    for own, other in there.items():
        for one, p in paths.trunks_of.get(own, {}).items():
            for two, q in paths.trunks_of.get(other, {}).items():
                if one == two:
                    votes[one, two, p + q].add(own)
                elif common_panels(one, two):
                    turned = natural_key(str(two)) < natural_key(str(one))
                    first, second, step = (two, one, p - q) if turned else (one, two, q - p)
                    votes[first, second, step].add(own)
    found: defaultdict[frozenset[int], list[tuple[Trunk, Trunk]]] = defaultdict(list)
    for (one, two, _), cables in votes.items():
        mine, theirs = paths.trunks[one], paths.trunks[two]
        members = seen & {*mine.values(), *theirs.values()}
        alone = len(mine) % 2 if one == two else abs(len(mine) - len(theirs))  # without a counterpart
        both = not cables.isdisjoint(mine.values()) and not cables.isdisjoint(theirs.values())
        right = len(members - there.keys())
        if len(cables) >= MIN_EXCHANGED and both and right <= alone and 2 * len(cables) > len(members):
            found[frozenset(cables)].append((one, two))
    return found


def trunk_draft(s: ObservedLinks, exchange: Exchange, before: Sequence[Relabelling]) -> CauseCandidate:
    """The cause of exchanged trunks."""
    steps = moves_on(s, exchange.rows, before)
    summary, action = _trunk_words(s.index.plan, exchange.pairs, len(steps))
    subjects = tuple(sorted((str(s.index.a_port(int(s.taken_for[row]))) for row in exchange.rows), key=natural_key))
    cables, sure = [int(s.cable[row]) for row in exchange.rows], 0.98 * float(s.sure[list(exchange.rows)].min())
    return CauseCandidate(CauseKind.TRUNK_SWAP, subjects, summary, action, cables, (), WIRING, steps, confidence=sure)


def _trunk_words(plan: Plan, pairs: Sequence[tuple[Trunk, Trunk]], count: int) -> tuple[str, str]:
    """Summary and action."""
    (one, two), panels = pairs[0], " or ".join(dict.fromkeys(
        panel_words(plan, name) for pair in pairs for name in common_panels(*pair)
    ))  # fmt: skip
    if one == two:
        which = " or ".join(str(pair[0]) for pair in pairs)
        summary = f"the order of the cables in trunk {which} is reversed: {count} cables are in each other's places"
        action = f"Correct the polarity of trunk {which}, check first at {panels}; else move {count} cables one by one."
        return summary, action
    either = " or ".join(f"{first} and {second}" for first, second in pairs)
    summary = f"the cables of trunks {either} are exchanged, each with its counterpart: {count} cables"
    return summary, f"Exchange the trunks {either}, check first at {panels}; else move {count} cables one by one."


def in_trunks(wiring: Wiring, drafts: Sequence[CauseCandidate]) -> list[CauseCandidate]:
    """The drafts, with crossed bundles and swapped devices whose cables are those of two trunks as one exchange; where
    their names may be swapped as well, it is as open as they are.
    """
    index = wiring.index
    paths = index.plan.once(PanelPaths)
    bundles = [(draft, moves) for draft in drafts if (moves := _moves_of(draft)) and draft.kind in _BUNDLES]
    if not paths.trunks or not bundles:
        return list(drafts)
    number = {port: at for at in paths.spots for port in index.plan.cables[at][:2]}
    of = [{number[m.cable]: number.get(m.source, NONE) for m in moves if m.cable in number} for _, moves in bundles]
    seen = set(np.flatnonzero(wiring.place >= 0).tolist())
    found = list(drafts)
    for cables, pairs in _exchanges(paths, {own: at for one in of for own, at in one.items()}, seen).items():
        parts = [draft for (draft, _), one in zip(bundles, of, strict=True) if one and cables.issuperset(one)]
        if cables == {own for one in of for own in one if cables.issuperset(one)}:
            found = [one for one in found if not any(one is part for part in parts)]
            found.append(_of_trunks(index, parts, pairs))
    return found


def _moves_of(draft: CauseCandidate) -> tuple[Move, ...]:
    return draft.moves or next((other.moves for other in draft.alternatives if other.moves), ())


def _of_trunks(
    index: PlanIndex, parts: Sequence[CauseCandidate], pairs: Sequence[tuple[Trunk, Trunk]]
) -> CauseCandidate:
    moves = tuple(move for part in parts for move in _moves_of(part))
    summary, action = _trunk_words(index.plan, pairs, len(moves))
    first = parts[0]
    whole = replace(
        first,
        cables=[cable for part in parts for cable in part.cables],
        devices=tuple(device for part in parts for device in part.devices),
        explains=[finding for part in parts for finding in part.explains],
        confidence=min(part.confidence for part in parts),
    )
    if len(parts) == 1 and not first.moves:  # one pair of names, or one of trunks
        exchange = Alternative(CauseKind.TRUNK_SWAP, summary)
        others = (replace(exchange, moves=one.moves) if one.moves else one for one in first.alternatives)
        return replace(whole, alternatives=tuple(others))
    ports = tuple(sorted((str(move.cable) for move in moves), key=natural_key))
    whole = replace(whole, kind=CauseKind.TRUNK_SWAP, subjects=ports, summary=summary, action=action, moves=moves)
    if all(part.moves for part in parts):
        return whole
    names = "; ".join(part.summary for part in parts)
    confirm = "; ".join(dict.fromkeys(part.to_confirm for part in parts if part.to_confirm))
    action = f"Move no cable before it is confirmed. Then: {action[0].lower()}{action[1:]}"
    whole = replace(whole, summary=f"perhaps {summary}", action=action, moves=(), renames=(), to_confirm=confirm)
    return replace(whole, alternatives=(Alternative(first.kind, names, ()),))


def panel_shifts(s: ObservedLinks) -> list[Shift]:
    """Runs of neighbouring ports of a panel's row, or of a trunk, that are off by k, the longest first."""
    paths = s.index.plan.once(PanelPaths)
    resident = s.resident() if paths.spots else s.place
    rows = [row for row in np.flatnonzero(s.wrong).tolist() if paths.spots and int(resident[row]) in paths.spots]
    of_row: defaultdict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for row in rows:
        mine = {one[:2]: one.number for one in paths.spots.get(int(s.taken_for[row]), ())}
        for panel, name, number in paths.spots[int(resident[row])]:
            if (panel, name) in mine:
                of_row[panel, name].append((row, mine[panel, name], number))
    lost = set(paths.spots) - set(s.taken_for.tolist()) if of_row else ()
    found: dict[tuple[int, ...], Shift] = {}
    for place, members in of_row.items():
        at, planned, seen = np.array(members).T
        unseen = [one.number for cable in lost for one in paths.spots[cable] if one[:2] == place]
        for k, inside in shifted_runs(planned, seen, np.array(unseen, dtype=np.int64)) if len(at) >= MIN_RUN else ():
            found.setdefault(tuple(sorted(at[inside].tolist())), Shift(NONE, k, at[inside]))
    return sorted(found.values(), key=lambda one: (-len(one.rows), one.rows.tolist()))


def shifted_row(s: ObservedLinks, shift: Shift, rows: Sequence[int], before: Sequence[Relabelling]) -> CauseCandidate:
    """The cause of a shifted row. `rows` are its sightings in the order of the moves, and those in its way."""
    index, steps = s.index, moves_on(s, rows, before)
    moved, places = moves_on(s, shift.rows, before), defaultdict[str, list[str]](list)
    steady = Counter[str]()  # cables that are off by k there; a few continue at the row's start
    for port, their in (pair for move in moved for pair in meetings(index.plan, move)):
        one, other = spot(port), spot(their)
        if not one.trunk and one.row == other.row:
            places[one.panel].append(port.name)
            steady[one.panel] += other.number - one.number == shift.offset
    named = [f"{panel}/{_span(places[panel])}" for panel in places if 2 * steady[panel] > len(moved)]
    panels = " or ".join(panel_words(index.plan, one.partition("/")[0]) for one in named)
    switches = sorted({move.target.device for move in moved}, key=natural_key)
    count, more = abs(shift.offset), len(rows) - len(shift.rows)
    off = f"{count} port{'s' * (count > 1)} too {'high' if shift.offset > 0 else 'low'}"
    beside = f", and {more} more {'are' if more > 1 else 'is'} exchanged with it" if more else ""
    subjects = tuple(sorted((str(move.cable) for move in moved), key=natural_key))
    summary = f"{len(moved)} cables of the panel row {' or '.join(named)} are {off}{beside}"
    action = f"Move the row back by {count}, check first at {panels}; else at {', '.join(switches)}: {walk(steps)}."
    cables, sure = [int(s.cable[row]) for row in rows], 0.97 * float(s.sure[list(rows)].min())
    draft = CauseCandidate(CauseKind.PANEL_SHIFT, subjects, summary, action, cables, (), WIRING, steps, confidence=sure)
    if _off_at_switch(s, shift):
        same = f"the block is shifted at the ports of {switches[0]}: both look alike, and the moves are the same"
        draft.alternatives = (Alternative(CauseKind.PORT_SHIFT, same, steps),)
        draft.confidence = min(sure, BY_PLACES)
    return draft


def _off_at_switch(s: ObservedLinks, shift: Shift) -> bool:
    """Whether most cables of a row are off by one number of ports at their one switch as well."""
    ends = np.concatenate([s.index.b[s.taken_for[shift.rows]], s.place[shift.rows]])
    switches = distinct(s.index.ports.device_of(ends))
    planned, seen = np.split(positions(s.index, int(switches[0]), ends), 2)
    return len(switches) == 1 and 2 * int(np.unique(seen - planned, return_counts=True)[1].max()) > len(seen)


def _span(ports: Iterable[str]) -> str:
    names = sorted(ports, key=natural_key)
    return names[0] if names[0] == names[-1] else f"{names[0]} to {names[-1]}"


def with_paths(index: PlanIndex, draft: CauseCandidate) -> CauseCandidate:
    """The draft; where its cables pass patch panels, with the planned paths and the panel ports to be checked first:
    plugs that are exchanged there look as if they were exchanged at a switch.
    """
    cables = [cable for move in draft.moves if (cable := index.plan.cable_at(move.cable)) and cable.via]
    if CAUSE_KINDS[draft.kind].panels or not cables:
        return draft
    fronts = ([port for port in cable.path if not spot(port).trunk or port not in cable.via] for cable in cables)
    shown = clauses([*map(path_text, fronts)], _SHOWN)
    check = checked_first(index.plan, draft.moves)
    first = f"Check first at {check}, since LLDP shows the ends alone. " if check else ""
    return replace(draft, summary=f"{draft.summary}; planned: {shown}", action=f"{first}{draft.action}")

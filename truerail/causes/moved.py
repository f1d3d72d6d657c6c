"""Texts and moves for cables in wrong places: swaps, rotations, moves, shifted blocks, and their alternatives."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.paths import GpuRails
from truerail.causes.candidate import CauseCandidate, names_of_devices
from truerail.causes.nic_order import MIN_HOSTS_FOR_ONE_CAUSE, Names, NicOrder, Pairs, in_rails, names_of, order_of
from truerail.causes.observed_links import Chain, ObservedLinks
from truerail.causes.relabel import Relabelling
from truerail.causes.shift import Shift
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes, Mask, distinct
from truerail.model.finding import Alternative, Move, Rename, cause_key
from truerail.model.names import clauses, natural_key

WIRING = ("CAB", "RAL003", "CFG002", "CFG003", "LAG001", "BGP001")
ORDER = ("CAB001", "CAB002", "CAB008", "NIC001", "CFG002", "RAL003")


def moves(s: ObservedLinks, rows: Iterable[int], *, bundled: bool = False) -> tuple[Move, ...]:
    """One move for each sighting: from where it stands to where it belongs, or `bundled` to where its bundle does. A
    cable that is already there is not moved.
    """
    rows = np.array([*rows], dtype=np.int64)
    to = s.place[rows] if bundled else s.index.b[s.taken_for[rows]]
    steps = zip(s.cable[rows].tolist(), s.stands[rows].tolist(), to.tolist(), strict=True)
    spell = s.index.spell
    return tuple(
        Move(s.index.a_port(cable), spell(here), spell(there)) for cable, here, there in steps if here != there
    )


def moves_on(s: ObservedLinks, rows: Iterable[int], before: Sequence[Relabelling]) -> tuple[Move, ...]:
    """The moves left once the repairs in `before` are done: from there, and each move says so."""
    found = []
    for r in rows:
        first = _waits_for(s, int(r), before)
        source, target = s.index.spell(int(s.place[r])), s.index.b_port(int(s.taken_for[r]))
        if source != target:
            words = " and ".join(_repaired(s, one) for one in first)
            keys = tuple(cause_key(one.kind, names_of_devices(s.index, one.cycle)) for one in first)
            found.append(Move(s.index.a_port(int(s.cable[r])), source, target, words, keys))
    return tuple(found)


def nic_renames(s: ObservedLinks, rows: Iterable[int], cables: Iterable[int]) -> tuple[Rename, ...]:
    """The NICs of sightings that have other names than planned; `cables` are those that they really are."""
    pairs = ((s.index.a_port(int(s.cable[r])), s.index.a_port(int(to))) for r, to in zip(rows, cables, strict=True))
    found = [Rename(f"{real.device}/{name.name}", str(real)) for name, real in pairs if name.name != real.name]
    return tuple(sorted(found, key=lambda one: natural_key(one.planned)))


def _repaired(s: ObservedLinks, one: Relabelling) -> str:
    what = "the bundles" if one.kind is CauseKind.BUNDLE_SWAP else "the names"
    return f"{what} of {' and '.join(names_of_devices(s.index, one.cycle))} are swapped back"


def _waits_for(s: ObservedLinks, row: int, before: Sequence[Relabelling]) -> list[Relabelling]:
    """Repairs that must come first: those of devices at either end of a move; empty if there are none."""
    ports = s.index.ports
    ends = {int(one) for one in ports.device_of(np.array([s.place[row], s.index.b[s.taken_for[row]]]))}
    ends.add(int(s.index.a_device[s.taken_for[row]]))
    stays = s.place[row] == s.stands[row]
    return [
        one for one in before if not ends.isdisjoint(one.cycle) and not (stays and one.kind is CauseKind.BUNDLE_SWAP)
    ]


def chain_drafts(
    s: ObservedLinks, found: Iterable[Chain], wiring: Wiring, before: Sequence[Relabelling], ordered: Collection[str]
) -> Iterator[tuple[Sequence[int], CauseCandidate]]:
    """A swap, a rotation or a path for each chain, with its sightings. `before` are repairs that come first. If the
    names of a host's NICs may as well be swapped, no move is ordered: two of one host are likelier cables, to be
    confirmed first, unless it is one of the `ordered`, whose other NICs are in another order; the same order on three
    hosts or more is one cause.
    """
    orders: dict[tuple[Pairs, bool], list[_Renamed]] = {}
    unknown = _of_other_nics(s, wiring.gpu_rails)
    for chain in found:
        draft = _chain_draft(s, chain, before)
        rows = list(chain.rows)
        if unknown[rows].any():
            yield rows, _of_unknown_nics(s, rows, draft)
            continue
        residents = s.resident()[rows].tolist()
        inside = _within_a_host(s, chain, wiring.gpu_rails)
        names = names_of(wiring, s.taken_for[rows].tolist(), residents) if inside else Names.RIGHT
        if names is Names.RIGHT:
            yield rows, draft
        else:
            key = order_of(s, rows, np.array(residents)), names is Names.SWAPPED
            orders.setdefault(key, []).append(_Renamed(int(s.index.a_device[residents[0]]), draft, rows, residents))
    chains_of = Counter(one.host for members in orders.values() for one in members)
    for (_, decided), hosts in _shared(orders):
        draft, alone = _order_of_names(s, hosts, decided=decided), chains_of[hosts[0].host] == len(hosts) == 1
        if alone and draft.subjects[0] not in ordered and not decided and hosts[0].moved.kind is CauseKind.CABLE_SWAP:
            draft = _likely_swap(hosts[0].moved, draft)
        yield [row for one in hosts for row in one.rows], draft


@dataclass(frozen=True)
class _Renamed:
    """A chain of one host's cables whose NICs may have swapped names: the cause if they have not."""

    host: int
    moved: CauseCandidate
    rows: Sequence[int]
    residents: Sequence[int]


def _shared(orders: Mapping[tuple[Pairs, bool], list[_Renamed]]) -> Iterator[tuple[tuple[Pairs, bool], list[_Renamed]]]:
    """The hosts of one cause: all with an order that three or more have, and those that show a part of it and fit no
    other; else each host by itself.
    """
    orders = {key: list(members) for key, members in orders.items()}
    for key in sorted(orders, key=lambda key: len(key[0])):
        larger = [one for one in orders if one[1] == key[1] and set(key[0]) < set(one[0])]
        if len(larger) == 1 and _is_common(orders[larger[0]]):
            orders[larger[0]] += orders.pop(key)
    for key, members in orders.items():
        yield from [(key, members)] if _is_common(members) else [(key, [one]) for one in members]


def _is_common(members: Iterable[_Renamed]) -> bool:
    """Whether enough hosts have one order for a single cause."""
    return len({one.host for one in members}) >= MIN_HOSTS_FOR_ONE_CAUSE


def _chain_draft(s: ObservedLinks, chain: Chain, before: Sequence[Relabelling]) -> CauseCandidate:
    """A swap, a rotation, or a path that ends in a free place, as moves of cables."""
    rows = list(chain.rows)
    steps = moves_on(s, rows, before)
    subjects = tuple(sorted((str(m.cable) for m in steps), key=natural_key))
    sure = float(min(s.sure[r] for r in rows))
    cables = [int(s.cable[r]) for r in rows]
    if not chain.closed:
        return _path_draft(s, chain, steps, subjects, cables, sure)
    if len(rows) == 2:
        kind, summary = CauseKind.CABLE_SWAP, f"the cables of {subjects[0]} and {subjects[1]} are swapped"
        action = f"Swap the two cables: {walk(steps)}."
    else:
        kind = CauseKind.CABLE_ROTATION
        summary = f"{len(rows)} cables are rotated: {', '.join(subjects)}"
        action = f"Move each to its planned port: {walk(steps)}."
    return CauseCandidate(kind, subjects, summary, action, cables, rules=WIRING, moves=steps, confidence=sure)


def _within_a_host(s: ObservedLinks, chain: Chain, gpus: GpuRails) -> bool:
    """Whether these are swapped NICs of one host whose topology reports none of them."""
    rows, index = list(chain.rows), s.index
    own = s.taken_for[rows]
    cables = np.append(own, own[0] if chain.closed else chain.displaced)
    unseen = not gpus.near[index.a[s.cable[rows]]].any()
    inside = (cables >= 0).all() and index.from_host[cables].all() and len(distinct(index.a_device[cables])) == 1
    return unseen and bool(inside)


def _order_of_names(s: ObservedLinks, found: Sequence[_Renamed], *, decided: bool) -> CauseCandidate:
    """Names of NICs that are or may be swapped, on one host or equally on several: no cable moves."""
    index, first = s.index, found[0]
    hosts = names_of_devices(index, {one.host for one in found})
    host, many = hosts[0], len(hosts) > 1
    names = [index.a_port(cable).name for cable in first.residents]
    own = ", ".join(
        f"{index.a_port(int(s.taken_for[r])).name} is {name}" for r, name in zip(first.rows, names, strict=True)
    )
    cables = [cable for one in found for cable in one.moved.cables]
    renames = tuple(rename for one in found for rename in nic_renames(s, one.rows, one.residents))
    sure = 0.95 if decided else 0.5
    draft = CauseCandidate(CauseKind.GPU_NIC_ORDER, hosts, "", "", cables, hosts, ORDER, (), renames, confidence=sure)
    who = f"{len(hosts)} hosts ({host}, ...)" if many else host
    if decided:
        finds = "find their NICs" if many else "finds its NICs"
        draft.summary = f"{who} {finds} in another order: by their PCI addresses, {own}"
        draft.action = (
            "Move no cable. Fix the NIC names (udev or systemd.link rules), or name them by slot in the plan."
        )
        return draft
    order = f"{who} name{'s' * (not many)} NICs in another order than planned ({own})"
    draft.summary = f"{order}, or their cables are swapped"
    draft.action = "Move no cable before it is confirmed which of the two it is."
    more = f", and the same on {len(hosts) - 1} more host{'s' * (len(hosts) > 2)}" if many else ""
    steps = tuple(step for one in found for step in one.moved.moves)
    draft.alternatives = (Alternative(first.moved.kind, f"{first.moved.summary}{more}", steps),)
    draft.to_confirm = (
        f"`nvidia-smi topo -m` and `rdma link` of {host}: is each NIC nearest to the GPU of its planned "
        f"rail? Or `ethtool -p {index.ports.port(int(index.a[first.residents[0]])).name}`: does the card of its "
        "planned rail blink?"
    )
    return draft


def _likely_swap(moved: CauseCandidate, order: CauseCandidate) -> CauseCandidate:
    """Two exchanged cables of a host that may as well have the names of their NICs exchanged (`order`)."""
    both = (
        Alternative(order.kind, order.summary.partition(", or ")[0]),
        Alternative(moved.kind, moved.summary, moved.moves),
    )
    summary, swap = f"{moved.summary}, or the names of their NICs", f"{moved.action[0].lower()}{moved.action[1:]}"
    action = f"Move no cable before step 1. 1. Confirm: {order.to_confirm} 2. If it is, {swap}"
    draft = replace(moved, summary=summary, action=action, moves=(), alternatives=both, confidence=0.6)
    return replace(draft, to_confirm=order.to_confirm)


def may_be_names(s: ObservedLinks, wiring: Wiring, rows: Codes) -> bool:
    """Whether crossed bundles may as well be another order of NICs on all of their hosts: each cable sits in a place of
    its own host, no topology reports any of these NICs, and their names may have been swapped.
    """
    index, own = s.index, s.taken_for[rows]
    resident, owner = index.cables_at(s.stands[rows]), index.a_device[own]
    inside = (resident >= 0) & (index.b[resident] == s.stands[rows]) & (index.a_device[resident] == owner)
    if not len(rows) or not inside.all() or wiring.gpu_rails.near[index.a[s.cable[rows]]].any():
        return False
    first = owner == owner[0]
    return names_of(wiring, own[first].tolist(), resident[first].tolist()) is not Names.RIGHT


def bundle_or_order(s: ObservedLinks, found: Relabelling, rows: Codes, steps: tuple[Move, ...]) -> CauseCandidate:
    """Crossed bundles that may as well be another order of NICs: no cable moves."""
    index = s.index
    hosts = names_of_devices(index, {*index.a_device[s.taken_for[rows]].tolist()})
    crossed = f"all host cables of {', '.join(names_of_devices(index, found.cycle))} are crossed"
    summary = f"{len(hosts)} hosts ({hosts[0]}, ...) name NICs in another order than planned, or {crossed}"
    action = "Move no cable before it is confirmed which of the two it is."
    confirm = f"`nvidia-smi topo -m` and `rdma link` of {hosts[0]}: is each NIC nearest to the GPU of its planned rail?"
    cables, renames = s.cable[rows].tolist(), nic_renames(s, rows.tolist(), index.cables_at(s.stands[rows]).tolist())
    draft = CauseCandidate(CauseKind.GPU_NIC_ORDER, hosts, summary, action, cables, hosts, ORDER, confidence=0.5)
    return replace(draft, renames=renames, alternatives=(Alternative(found.kind, crossed, steps),), to_confirm=confirm)


def _path_draft(
    s: ObservedLinks, chain: Chain, steps: tuple[Move, ...], subjects: tuple[str, ...], cables: list[int], sure: float
) -> CauseCandidate:
    if len(steps) == 1:
        summary = f"the cable of {subjects[0]} is in {steps[0].source} instead of {steps[0].target}"
    else:
        summary = f"{len(steps)} cables are each in the port of the next one; the last is in {steps[-1].source}"
    action = f"Move it: {walk(steps)}." if len(steps) == 1 else f"Move them in this order: {walk(steps)}."
    draft = CauseCandidate(CauseKind.CABLE_MOVE, subjects, summary, action, cables, (), WIRING, steps, confidence=sure)
    if chain.displaced >= 0 and chain.displaced not in s.taken_for:
        lost = s.index.a_port(chain.displaced)
        draft.summary += f"; the cable planned there, {lost}, is not found anywhere"
        draft.to_confirm = f"find the other end of the cable of {lost}"
    return _spare(draft) if s.index.plan.inferred else draft


def _of_other_nics(s: ObservedLinks, gpus: GpuRails) -> Mask:
    """Sightings of cables that a topology gives to another NIC than their names: two are taken for one; or it has the
    rail of a cable about which the plan contradicts itself.
    """
    twice = np.bincount(s.taken_for, minlength=1)[s.taken_for] > 1
    own, near = s.index.a_device[s.taken_for], gpus.near[s.index.a[s.cable]]
    doubted = np.isin(own, s.index.a_device[s.index.contradicted]) & s.index.from_host[s.taken_for]
    return np.asarray(twice | (doubted & (near != 0) & ~in_rails(near, s.index.rail[s.taken_for])), dtype=bool)


def _of_unknown_nics(s: ObservedLinks, rows: Sequence[int], draft: CauseCandidate) -> CauseCandidate:
    """The draft without its moves: by the topology of its host, a cable is of another NIC than its name says."""
    host = s.index.devices.names[int(s.index.a_device[s.taken_for[rows[0]]])]
    confirm = f"`nvidia-smi topo -m` of {host}: which NIC is nearest to which GPU?"
    return doubted(draft, "NICs of its host have other names than planned", confirm)


def doubted(draft: CauseCandidate, why: str, confirm: str) -> CauseCandidate:
    """The draft without its moves, which are what else it may be."""
    action, moved = f"Move no cable before it is confirmed: {why}.", Alternative(draft.kind, draft.summary, draft.moves)
    return replace(draft, action=action, moves=(), confidence=0.5, alternatives=(moved,), to_confirm=confirm)


def _spare(draft: CauseCandidate) -> CauseCandidate:
    """Without a plan, a cable on its leaf in another port than its host's other cables may be in a spare one."""
    if any(move.source.device != move.target.device for move in draft.moves):
        return draft
    target = draft.moves[0].target
    confirm = f"is {target} in order and free? A spare port that serves in its place is right as it is"
    return doubted(draft, "its rail is right", confirm)


def walk(steps: tuple[Move, ...]) -> str:
    """The moves in words."""
    first = " and ".join(dict.fromkeys(move.after for move in steps if move.after))
    walk = clauses([f"{m.cable} from {m.source} to {m.target}" for m in steps], 8)
    return f"{walk}; not before {first}" if first else walk


def shift_draft(
    s: ObservedLinks, shift: Shift, rows: Sequence[int], before: Sequence[Relabelling] = ()
) -> CauseCandidate:
    """A block of ports that is off by k. `rows` are its sightings in the order of the moves, and those in its way."""
    steps = moves_on(s, rows, before)
    leaf = s.index.devices.names[shift.leaf]
    places = sorted((s.index.b_port(int(s.taken_for[r])).name for r in shift.rows), key=natural_key)
    count, more = abs(shift.offset), len(rows) - len(shift.rows)
    off = f"{count} port{'s' * (count > 1)} too {'high' if shift.offset > 0 else 'low'}"
    beside = f", and {more} more {'are' if more > 1 else 'is'} exchanged with it" if more else ""
    summary = f"{len(places)} cables on {leaf} are {off}: {places[0]} to {places[-1]} is one shifted block{beside}"
    action = f"Move the block back by {count}{f', and {more} more with it' if more else ''}: {walk(steps)}."
    cables, sure = [int(s.cable[r]) for r in rows], 0.97 * float(s.sure[rows].min())
    return CauseCandidate(CauseKind.PORT_SHIFT, (leaf,), summary, action, cables, (), WIRING, steps, confidence=sure)


def order_draft(s: ObservedLinks, found: NicOrder, steps: tuple[Move, ...]) -> CauseCandidate:
    """Hosts that name their NICs in another order than planned."""
    hosts = tuple(s.index.devices.names[h] for h in found.hosts)
    mapping = ", ".join(f"{a} as {b}" for a, b in found.order)
    who = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]}, ...)"
    summary = f"{who}: NICs have other names than planned (rails {mapping}); the cables match the GPUs"
    action = "Move no cable. Fix the NIC names (BIOS slot order, udev or systemd.link rules),"
    action = f"{action} or the plan's NIC list for this model."
    cables, renames = [int(s.cable[r]) for r in found.rows], nic_renames(s, found.rows.tolist(), found.cables.tolist())
    draft = CauseCandidate(CauseKind.GPU_NIC_ORDER, hosts, summary, action, cables, hosts, ORDER, (), renames, 0.97)
    if not found.witnessed:
        draft.summary = f"{who}: NICs seem to have other names than planned (rails {mapping})"
        draft.confidence = 0.6
        draft.alternatives = (Alternative(CauseKind.CABLE_ROTATION, "the cables are swapped", steps),)
        draft.to_confirm = f"`nvidia-smi topo -m` of {hosts[0]}: which NIC is nearest to which GPU?"
    return draft

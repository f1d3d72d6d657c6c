"""Applies relabellings and NIC orders that a topology proves: swapped names and crossed bundles, with their moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.causes.candidate import CauseCandidate, joined_names, names_of_devices
from truerail.causes.moved import WIRING, bundle_or_order, may_be_names, moves, order_draft
from truerail.causes.nic_order import NicOrder, completed, joined, witnessed_orders
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling, best_relabelling, hidden_relabellings
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes
from truerail.model.finding import Alternative, Move, Rename

LABELS = (*WIRING, "TEL003")
BY_PLACES = 0.7
"""Confidence in swapped names that the places of all cables show, and nothing else: a list in which the two stand in
each other's places, drawn wrongly or older than the fabric, looks the same.
"""


@dataclass(frozen=True)
class _Applied:
    """A relabelling that was applied: the links that it explains, and the moves that it needs if cables and not names
    are swapped. A `hidden` one makes its cables right only together with those of their hosts.
    """

    found: Relabelling
    rows: Codes
    steps: tuple[Move, ...]
    hidden: bool


def relabelled(wiring: Wiring, links: ObservedLinks) -> tuple[list[CauseCandidate], list[Relabelling]]:
    """Applies NIC orders that a topology proves, and relabellings. Returns their causes, and the relabellings for which
    other moves wait.
    """
    orders, applied = _all_that_gain(wiring, links)
    drafts = [order_draft(links, order, ()) for order in joined(links, orders)]
    kept: list[tuple[_Applied, Codes]] = []
    for one in _shared_out(links, applied):
        back = links.put_back(one.found.cycle) if one.found.crossed else one.rows[:0]
        if back is not None:
            kept.append((one, back))
    repairs: list[Relabelling] = []
    for one, back in kept:
        whole, steps = True, one.steps
        if one.found.crossed:  # all its moves, even if a host's name had to be corrected as well
            bundled = _bundled(links, one.found)
            steps = moves(links, bundled.tolist(), bundled=True)
            if may_be_names(links, wiring, bundled):
                drafts.append(bundle_or_order(links, one.found, bundled, steps))
                continue
            whole = not _right_within(links, one.found)
        repairs.append(one.found)
        named = all(device in wiring.identity.announces for device in one.found.cycle)
        rows = np.setdiff1d(one.rows, back)
        drafts.append(relabel_draft(links, one.found, steps, rows, announced=named, whole=whole))
    return drafts, repairs


def _all_that_gain(wiring: Wiring, links: ObservedLinks) -> tuple[list[NicOrder], list[_Applied]]:
    """Applies the relabelling with the highest gain, and the orders that it reveals, until none gains."""
    orders: list[NicOrder] = []
    applied: list[_Applied] = []
    refused: set[tuple[int, ...]] = set()
    while True:
        found = witnessed_orders(links, wiring.gpu_rails)
        for order in found:
            links.retake(order.rows, order.cables)
        orders = completed(links, orders + found, wiring.gpu_rails)
        best = best_relabelling(links, refused)
        following = [best] if best is not None else hidden_relabellings(links, refused)
        for relabelling in following:
            this = _apply(links, relabelling, hidden=best is None)
            if relabelling.crossed and not len(this.rows):
                refused.add(relabelling.cycle)  # each of its cables waits for one that stays: these are chains
            else:
                applied.append(this)
        if best is None:
            refused.update(hidden.cycle for hidden in following)
        if not following and not found:
            return orders, applied


def _apply(links: ObservedLinks, found: Relabelling, *, hidden: bool) -> _Applied:
    before = replace(links, taken_for=links.taken_for.copy())
    corrected = found.apply(links)
    rows = np.flatnonzero(corrected | (links.place != before.place) if hidden else corrected)
    return _Applied(found, rows, moves(before, rows.tolist()), hidden)


def _shared_out(links: ObservedLinks, applied: Sequence[_Applied]) -> list[_Applied]:
    """Each sighting with one of those that explain it. Of a cable that becomes right by its switch's true name and its
    host's, the first host of the swapped ones leaves its own to the switch: so both have some.
    """
    hidden = [one for one in applied if one.hidden]
    if not hidden:
        return list(applied)
    of_switches = np.concatenate([one.rows for one in hidden])
    shared: list[_Applied] = []
    of_hosts: list[Codes] = []
    for one in applied:
        if one.found.kind is CauseKind.HOST_SWAP:
            first = links.index.a_device[links.cable[one.rows]] == one.found.cycle[0]
            one = replace(one, rows=one.rows[~(first & np.isin(one.rows, of_switches))])
            of_hosts.append(one.rows)
        shared.append(one)
    taken = np.concatenate([np.empty(0, dtype=np.int64), *of_hosts])
    return [replace(one, rows=one.rows[~np.isin(one.rows, taken)]) if one.hidden else one for one in shared]


def _bundled(links: ObservedLinks, best: Relabelling) -> Codes:
    """The links on one of the crossed switches that come to another with the bundle: including those that are wrong
    there too, so that the result is the same whether the bundle is swapped as a whole or cable by cable.
    """
    there = np.isin(links.index.ports.device_of(links.stands), best.cycle)
    return np.flatnonzero(there & (links.stands != links.place))


def _right_within(links: ObservedLinks, best: Relabelling) -> bool:
    """Whether cables of the crossed switches stay as they are: then the bundles must not move as a whole."""
    hosts = links.index.from_host[links.taken_for]
    there = np.isin(links.index.ports.device_of(links.stands), best.cycle)
    return bool((there & hosts & (links.stands == links.place)).any())


def relabel_draft(
    s: ObservedLinks, found: Relabelling, steps: tuple[Move, ...], rows: Codes, *, announced: bool, whole: bool = True
) -> CauseCandidate:
    """Swapped labels of hosts or switches, or a crossed bundle. `steps` are the moves if cables and not labels
    are crossed.
    """
    names = names_of_devices(s.index, found.cycle)
    both, cables = joined_names(names), [int(s.cable[r]) for r in rows]
    if found.kind is CauseKind.BUNDLE_SWAP:
        summary = f"all host cables of {both} are crossed; their uplinks are not, so it is not the labels"
        action = "Swap the two bundles where they cross, most likely in the patch panel, or move"
        action = f"{action} the {len(steps)} cables one by one."
        if not whole:
            action = f"Move the {len(steps)} cables one by one, not the whole bundles: some are planned elsewhere."
        sure = 0.98 if found.decided or announced else 0.6
        return CauseCandidate(found.kind, names, summary, action, cables, names, LABELS, steps, confidence=sure)
    devices = s.index.devices.names
    renames = tuple(Rename(devices[name], devices[true]) for name, true in sorted(found.true_name.items()))
    who = f"the {'hosts' if found.kind is CauseKind.HOST_SWAP else 'switches'} {both}"
    if not (found.decided or announced):
        summary = f"{who} may be swapped by name: each is cabled as the other is planned"
        return open_names(found.kind, names, summary, cables, renames, steps)
    summary = f"{who} are swapped: each is cabled as the other is planned"
    action = f"Swap the names of {both}: hostname and label. No cable has to move."
    draft = CauseCandidate(found.kind, names, summary, action, cables, names, LABELS, renames=renames, confidence=0.98)
    if not announced:
        draft.summary += ", uplinks and all: by their names, or in the plan"
        return by_places(draft)
    draft.summary += "; their own MAC addresses confirm that the names are swapped"
    return replace(draft, cables_right=True)


def by_places(draft: CauseCandidate) -> CauseCandidate:
    """Devices in each other's places with all their cables: they have each other's names, or the plan has them so."""
    action = f"Swap the names of {joined_names(draft.subjects)}, hostname and label, or exchange the two in the plan if"
    draft = replace(draft, action=f"{action} it is wrong. No cable has to move.", confidence=BY_PLACES)
    return _or_plan(replace(draft, cables_right=True))


def each_other(one: str, other: str) -> tuple[Rename, ...]:
    """The renames of two devices with each other's names."""
    return Rename(one, other), Rename(other, one)


def _or_plan(draft: CauseCandidate, *others: Alternative) -> CauseCandidate:
    """With the plan as an explanation: it has the two in each other's places, so that their cables or their names look
    swapped; and with what tells a technician which it is.
    """
    both = joined_names(draft.subjects)
    plan = f"the plan has {both} in each other's places: drawn wrongly, or older than the fabric; all else is right"
    ask = (
        f"serial numbers or management addresses of {both}: is each the machine that the inventory names? "
        "If so, the labels of the cables and the racks: does the plan say what is there?"
    )
    return replace(draft, alternatives=(*others, Alternative(draft.kind, plan)), to_confirm=ask)


def open_names(
    kind: CauseKind, names: tuple[str, ...], summary: str, cables: Sequence[int], renames: tuple[Rename, ...],
    steps: tuple[Move, ...] = (),
) -> CauseCandidate:  # fmt: skip
    """Devices that most likely have each other's names; `steps` are the moves if they have each other's cables."""
    both, other = joined_names(names), kind if kind is CauseKind.HOST_SWAP else CauseKind.BUNDLE_SWAP
    action = f"Swap the names of {both}: hostname and label. Move no cable before it is confirmed."
    swapped = Alternative(other, f"all cables of {both} are swapped, their names are right", steps)
    draft = CauseCandidate(kind, names, summary, action, cables, names, LABELS, renames=renames, confidence=0.6)
    return _or_plan(draft, swapped)

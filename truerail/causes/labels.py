"""Applies relabellings and NIC orders that a topology proves: swapped names and crossed bundles, with their moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.causes.candidate import CauseCandidate
from truerail.causes.moved import bundle_moves, bundle_or_order, may_be_names, moves, order_draft, relabel_draft
from truerail.causes.nic_order import NicOrder, completed, joined, witnessed_orders
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling, best_relabelling, hidden_relabellings
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes
from truerail.model.finding import Move


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
            steps = bundle_moves(links, bundled.tolist())
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

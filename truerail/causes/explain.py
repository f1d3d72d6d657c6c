"""From a round and its findings to causes: the order of explanations, and which cause explains which finding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import DEVICE_ONLY, Wiring
from truerail.analysis.cabling.paths import GpuRails, rails_in
from truerail.analysis.round import Round
from truerail.causes.absent import absent_drafts
from truerail.causes.absent_targets import without_absent_targets
from truerail.causes.by_name import heard_above, placed, reordered, strays, swapped_hosts
from truerail.causes.candidate import CauseCandidate, attach, number
from truerail.causes.confirmed import confirmed
from truerail.causes.crossed_hosts import crossed_hosts, swapped_peers
from truerail.causes.cycles import chains
from truerail.causes.device_only import (
    crossed_without_names,
    hosts_draft,
    left_open,
    swapped_cables,
    swapped_switches,
)
from truerail.causes.machines import decided, machines
from truerail.causes.moved import (
    ORDER,
    bundle_moves,
    bundle_or_order,
    chain_drafts,
    may_be_names,
    moves,
    order_draft,
    relabel_draft,
    shift_draft,
)
from truerail.causes.nic_order import (
    MIN_HOSTS_FOR_ONE_CAUSE,
    NicOrder,
    completed,
    joined,
    likely_orders,
    witnessed_orders,
)
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling, best_relabelling, hidden_relabellings
from truerail.causes.shift import blocks
from truerail.causes.strangers import Stranger, stranger_draft, strangers
from truerail.causes.telemetry import correlate
from truerail.causes.trunks import crossed_by_name, joined_trunks
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes
from truerail.model.finding import Cause, Finding, Move, Severity, cause_key
from truerail.model.maintained import Maintained


def explain(round: Round, findings: Sequence[Finding], work: Sequence[Maintained] = ()) -> tuple[Cause, ...]:
    """The causes of the findings. Every finding is in at most one cause; a clean fabric has no cause. `work` is covered
    by maintenance windows now: it explains its effects on other devices.
    """
    found, wiring = tuple(findings), round.cabling
    if not found:
        return ()
    renamed = strangers(wiring)
    standing = {wiring.index.devices.names[stranger.true] for stranger in renamed}
    standing |= {wiring.index.devices.names[switch] for switch, _ in wiring.identity.contested.values()}
    drafts = absent_drafts(wiring, found, standing) + _wiring_drafts(wiring, renamed)
    left = attach(wiring.index, drafts, found)
    by_serial = machines(wiring)
    drafts = [confirmed(wiring, decided(wiring, d, by_serial)) for d in drafts if d.explains]
    orders = _enumeration_drafts(wiring, left)
    left = attach(wiring.index, orders, left)
    drafts += [d for d in orders if d.explains] + _unknown_drafts(left)
    in_sequence(drafts)
    return number([*drafts, *correlate(round, drafts, left, work)])


def in_sequence(drafts: Sequence[CauseCandidate]) -> None:
    """A cable that goes to a port from which another cause moves one goes there after it."""
    keys = [cause_key(draft.kind, draft.subjects) for draft in drafts]
    leaves = {move.source: (key, move) for key, draft in zip(keys, drafts, strict=True) for move in draft.moves}
    for own, draft in zip(keys, drafts, strict=True):
        steps = list(draft.moves)
        for at, step in enumerate(steps):
            key, move = leaves.get(step.target, (own, step))
            if own not in (key, *move.after_causes) and key not in step.after_causes:
                first = f"the cable of {move.cable} is moved"
                words = " and ".join(filter(None, (step.after, first)))
                steps[at] = replace(step, after=words, after_causes=(*step.after_causes, key))
                draft.action = f"{draft.action.rstrip('.')}, not before {first}."
        draft.moves = tuple(steps)


def _wiring_drafts(wiring: Wiring, renamed: Sequence[Stranger]) -> list[CauseCandidate]:
    sightings = ObservedLinks.of(wiring)
    for stranger in renamed:
        sightings.settle(stranger.cables)
    drafts = [stranger_draft(wiring, stranger) for stranger in renamed]
    drafts += crossed_without_names(wiring)
    switches, before = [*swapped_switches(wiring)], list[Relabelling]()
    if sightings.wrong.any():
        gpus = wiring.gpu_rails
        relabelled, before = _relabelled(wiring, sightings, gpus)
        drafts += _with_the_same(relabelled, switches)
        for order in joined(sightings, likely_orders(sightings, gpus)):
            steps = moves(sightings, order.rows.tolist())
            sightings.retake(order.rows, order.cables)
            drafts.append(order_draft(sightings, order, steps))
        drafts += [*crossed_hosts(sightings, before), *swapped_peers(sightings, wiring)]
    else:
        drafts += switches
    swapped, ports = _heard_by_name(wiring, sightings, before)
    drafts += swapped
    for shift, block in blocks(sightings):
        drafts.append(left_open(sightings, block, shift_draft(sightings, shift, block, before), ports))
        sightings.place[block] = sightings.index.b[sightings.taken_for[block]]
    for rows, draft in chain_drafts(sightings, chains(sightings), wiring, before):
        open_ = left_open(sightings, rows, draft, ports)
        drafts.append(without_absent_targets(wiring, sightings, rows, open_))
    done = {cable for draft in drafts for cable in draft.cables}
    done.update(wiring.index.cables_at(np.array(list(ports.values()), dtype=np.int64)).tolist())
    by_name = [*swapped_cables(wiring), *crossed_by_name(wiring)]
    drafts += [pair for pair in by_name if done.isdisjoint(pair.cables)]
    return joined_trunks(wiring.index, _one_order(drafts))


def _heard_by_name(
    wiring: Wiring, sightings: ObservedLinks, before: Sequence[Relabelling]
) -> tuple[list[CauseCandidate], Mapping[int, int]]:
    """Swapped hosts that are heard by name alone; other cables of such hosts join the sightings. Also the port of each
    of their places, under the name that its switch actually has.
    """
    true_name: dict[int, int] = {}
    for one in before:
        true_name |= one.true_name if one.kind is CauseKind.LEAF_SWAP else {}
    found = strays(wiring, true_name)
    swapped = list(swapped_hosts(wiring.index, found))
    for _, _, both in swapped:
        found = found.without(both, wiring.index.b[both].tolist())
    cables, places = placed(wiring.index, sightings.slots, found)
    sightings.add(cables, places, DEVICE_ONLY)
    ports = {place: found.ports[place] for place in places.tolist()}
    cables, places = heard_above(wiring, reordered(wiring, true_name))
    rest = ~np.isin(cables, sightings.cable) & ~np.isin(places, sightings.place)
    sightings.add(cables[rest], places[rest], DEVICE_ONLY)
    return [hosts_draft(wiring, *pair) for pair in swapped], ports


def _one_order(drafts: Sequence[CauseCandidate]) -> list[CauseCandidate]:
    """Each host's NIC order once: the NICs that a topology shows and the open ones of the same hosts are one order,
    since that is the shortest explanation. Each other explanation of a part stays an alternative.
    """
    whole: dict[tuple[str, ...], CauseCandidate] = {}
    joined_in: list[CauseCandidate] = []
    for one in sorted(drafts, key=lambda draft: len(draft.alternatives)):  # proven orders before open ones
        if one.kind is not CauseKind.GPU_NIC_ORDER:
            continue
        first = whole.setdefault(one.subjects, one)
        if first is not one and one.alternatives:
            first.summary = f"{first.summary}; the same of further NICs, or {one.alternatives[0].summary}"
            first.cables = [*first.cables, *one.cables]
            first.alternatives += one.alternatives
            first.to_confirm = first.to_confirm or one.to_confirm
            first.confidence = min(first.confidence, one.confidence)
            first.renames += tuple(rename for rename in one.renames if rename not in first.renames)
            joined_in.append(one)
    return [one for one in drafts if not any(one is part for part in joined_in)]


def _with_the_same(relabelled: Sequence[CauseCandidate], heard: Sequence[CauseCandidate]) -> list[CauseCandidate]:
    """Swapped devices once each: a pair shown by devices alone joins the same pair shown by ports."""
    drafts = list(relabelled)
    for draft in heard:
        same = next((one for one in relabelled if (one.kind, one.subjects) == (draft.kind, draft.subjects)), None)
        if same is None:
            drafts.append(draft)
        else:
            same.cables = [*same.cables, *draft.cables]
    return drafts


@dataclass(frozen=True)
class _Applied:
    """A relabelling that was applied: the sightings that it explains, and the moves that it needs if cables and not
    names are swapped. A `hidden` one makes its cables right only together with those of their hosts.
    """

    found: Relabelling
    rows: Codes
    steps: tuple[Move, ...]
    hidden: bool


def _relabelled(
    wiring: Wiring, sightings: ObservedLinks, gpus: GpuRails
) -> tuple[list[CauseCandidate], list[Relabelling]]:
    """Applies NIC orders that a topology proves, and relabellings, the highest gain first, until none gains."""
    applied: list[_Applied] = []
    orders: list[NicOrder] = []
    refused: set[tuple[int, ...]] = set()
    while True:
        found = witnessed_orders(sightings, gpus)
        for order in found:
            sightings.retake(order.rows, order.cables)
        orders = completed(sightings, orders + found, gpus)
        best = best_relabelling(sightings, refused)
        following = [best] if best is not None else hidden_relabellings(sightings, refused)
        for relabelling in following:
            this = _apply(sightings, relabelling, hidden=best is None)
            if relabelling.crossed and not len(
                this.rows
            ):  # each of its cables waits for one that stays: these are chains
                refused.add(relabelling.cycle)
            else:
                applied.append(this)
        if best is None:
            refused.update(hidden.cycle for hidden in following)
        if not following and not found:
            break
    applied = [
        one for one in _shared_out(sightings, applied) if not one.found.crossed or sightings.put_back(one.found.cycle)
    ]
    drafts = [order_draft(sightings, order, ()) for order in joined(sightings, orders)]
    certain: list[Relabelling] = []
    for one in applied:
        whole, steps = True, one.steps
        if one.found.crossed:  # all its moves, even if a host's name had to be corrected as well
            bundled = _bundled(sightings, one.found)
            steps = bundle_moves(sightings, bundled.tolist())
            if may_be_names(sightings, wiring, bundled):
                drafts.append(bundle_or_order(sightings, one.found, bundled, steps))
                continue
            whole = not _right_within(sightings, one.found)
            put_back = sightings.wrong & (sightings.place == sightings.stands)
            one = replace(one, rows=one.rows[~put_back[one.rows]])
        certain.append(one.found)
        named = all(device in wiring.identity.announces for device in one.found.cycle)
        drafts.append(relabel_draft(sightings, one.found, steps, one.rows, announced=named, whole=whole))
    return drafts, certain


def _apply(sightings: ObservedLinks, found: Relabelling, *, hidden: bool) -> _Applied:
    before = replace(sightings, taken_for=sightings.taken_for.copy())
    corrected = found.apply(sightings)
    rows = np.flatnonzero(corrected | (sightings.place != before.place) if hidden else corrected)
    return _Applied(found, rows, moves(before, rows.tolist()), hidden)


def _shared_out(sightings: ObservedLinks, applied: Sequence[_Applied]) -> list[_Applied]:
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
            first = sightings.index.a_device[sightings.cable[one.rows]] == one.found.cycle[0]
            one = replace(one, rows=one.rows[~(first & np.isin(one.rows, of_switches))])
            of_hosts.append(one.rows)
        shared.append(one)
    taken = np.concatenate([np.empty(0, dtype=np.int64), *of_hosts])
    return [replace(one, rows=one.rows[~np.isin(one.rows, taken)]) if one.hidden else one for one in shared]


def _bundled(sightings: ObservedLinks, best: Relabelling) -> Codes:
    """The sightings on one of the crossed switches that come to another with the bundle: including those that are wrong
    there too, so that the result is the same whether the bundle is swapped as a whole or cable by cable.
    """
    there = np.isin(sightings.index.ports.device_of(sightings.stands), best.cycle)
    return np.flatnonzero(there & (sightings.stands != sightings.place))


def _right_within(sightings: ObservedLinks, best: Relabelling) -> bool:
    """Whether cables of the crossed switches stay as they are: then the bundles must not move as a whole."""
    hosts = sightings.index.from_host[sightings.taken_for]
    there = np.isin(sightings.index.ports.device_of(sightings.stands), best.cycle)
    return bool((there & hosts & (sightings.stands == sightings.place)).any())


def _enumeration_drafts(wiring: Wiring, left: Sequence[Finding]) -> list[CauseCandidate]:
    """Hosts whose GPUs are nearest to another rail's NIC although every cable is right: one cause for each distinct
    order.
    """
    hosts = [f.subject for f in left if f.rule == "NIC001"]
    if not hosts:
        return []
    misordered = wiring.gpu_rails.misordered
    groups: dict[tuple[tuple[int, int, int], ...], list[str]] = {}
    for host in hosts:
        gpus = misordered.get(wiring.index.devices.find(host), {})
        key = tuple((gpu, wanted, given) for gpu, (wanted, given) in sorted(gpus.items()))
        groups.setdefault(key, []).append(host)
    index = wiring.index
    cables = reordered(wiring, {})
    drafts: list[CauseCandidate] = []
    for key, members in groups.items():
        parts = [members] if len(members) >= MIN_HOSTS_FOR_ONE_CAUSE else [[host] for host in members]
        for part in parts:
            of_part = np.isin(index.a_device[cables], [index.devices.find(host) for host in part])
            drafts.append(_enumeration(tuple(part), key, cables[of_part].tolist()))
    return drafts


def _enumeration(hosts: tuple[str, ...], order: tuple[tuple[int, int, int], ...], cables: list[int]) -> CauseCandidate:
    """One order of NICs; `cables` hear another leaf than that of their names, and that of their GPUs."""
    shown = ", ".join(
        f"GPU{gpu} is nearest to the NIC of rail {'/'.join(map(str, rails_in(given)))}" for gpu, _, given in order[:8]
    )
    who = hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts ({hosts[0]}, ...)"
    return CauseCandidate(
        CauseKind.GPU_NIC_ORDER,
        hosts,
        f"{who}: GPUs and NICs are enumerated in different orders: {shown}",
        "Move no cable. Fix the enumeration (BIOS slot order, driver, NIC names), "
        "or map GPUs to NICs explicitly in NCCL_IB_HCA.",
        cables,
        hosts,
        rules=ORDER,
        confidence=0.95,
    )


def _unknown_drafts(left: Sequence[Finding]) -> list[CauseCandidate]:
    """Wiring findings without explanation: named as unknown, so that they are not lost among the explained ones."""
    return [
        CauseCandidate(
            CauseKind.UNKNOWN, (f.subject,), f.summary, f.action, devices=(f.subject,), rules=(f.rule,),
            confidence=min(0.5, f.confidence), explains=[f.id],
        )
        for f in left
        if f.rule.startswith(("CAB", "NIC003")) and f.severity is not Severity.INFO
    ]  # fmt: skip

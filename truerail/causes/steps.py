"""The steps of the search, each of which explains some of the cables that are still seen in wrong places.

A step takes the search, marks in its links what it explains, and yields the causes. Those before it have explained what
is shorter to say: names before bundles, blocks before single cables.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from truerail.analysis.cabling import DEVICE_ONLY, Wiring
from truerail.analysis.cabling.paths import rails_of
from truerail.causes import device_only
from truerail.causes.absent import Stranger, absent_drafts, stranger_draft, strangers
from truerail.causes.by_name import heard_above, placed, reordered, strays, swapped_hosts
from truerail.causes.candidate import CauseCandidate, joined_names, names_of_devices
from truerail.causes.crossed import crossed_by_name, crossed_hosts, joined_trunks, swapped_peers
from truerail.causes.labels import relabelled
from truerail.causes.moved import ORDER, WIRING, chain_drafts, moves, order_draft, shift_draft
from truerail.causes.nic_order import in_rails, joined, likely_orders, slot_cables
from truerail.causes.observed_links import ObservedLinks, chains
from truerail.causes.panel_faults import exchanged_trunks, panel_shifts, shifted_row, trunk_draft
from truerail.causes.relabel import Relabelling, best_relabelling
from truerail.causes.shift import blocks, shifts
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE
from truerail.model.finding import Alternative, Finding
from truerail.model.names import some

# ----------------------------------------------------------------------------------------------------------------------
# Another reading of the same evidence: all hosts name NICs in another order, and the plan has two switches exchanged.
#
# Where most hosts and the plan agree on an order of NICs that is not that of the GPUs, it may be a vendor's. If the
# plan has two leaves in each other's places as well, neither shows by itself: the names are right where the leaves are
# wrong. So the NICs are read by the GPUs' own index too. If switches that are renamed then leave fewer cables wrong,
# what both readings explain is one question, and no move is ordered for it.


def as_one_question(wiring: Wiring, drafts: Sequence[CauseCandidate]) -> list[CauseCandidate]:
    """The drafts; those whose cables are all right in the other reading as one that orders no move."""
    rails = rails_of(wiring)
    if not wiring.gpu_rails.is_unusual(rails) or not any(draft.moves for draft in drafts):
        return list(drafts)
    links, near = ObservedLinks.of(wiring), wiring.gpu_rails.by_own_index(rails)
    wrong = np.count_nonzero(links.wrong)
    hosts, renamed = _read_by_gpus(links, near[links.index.a[links.cable]])
    right = set(links.cable[~links.wrong].tolist())
    same = [draft for draft in drafts if draft.moves and right.issuperset(draft.cables)]
    if not renamed or not same or np.count_nonzero(links.wrong) >= wrong:
        return list(drafts)
    others = [draft for draft in drafts if not any(draft is one for one in same)]
    return [*others, _question(wiring, same, hosts, renamed)]


def _read_by_gpus(links: ObservedLinks, near: np.ndarray) -> tuple[set[int], list[Relabelling]]:
    """Identifies NICs by the rails of their GPUs and renames switches as these then show. Returns the hosts of such
    NICs, and the new names.
    """
    rows = np.flatnonzero((near != 0) & ~in_rails(near, links.index.rail[links.taken_for]))
    cables = slot_cables(links, rows, near[rows], np.full(len(rows), NONE))
    links.retake(rows[cables >= 0], cables[cables >= 0])
    found, refused = list[Relabelling](), set[tuple[int, ...]]()
    while (best := best_relabelling(links, refused)) is not None:
        refused.add(best.cycle)
        if not best.crossed:
            best.apply(links)
            found.append(best)
    return set(links.index.a_device[links.cable[rows]].tolist()), found


def _question(
    wiring: Wiring, same: Sequence[CauseCandidate], hosts: set[int], renamed: Sequence[Relabelling]
) -> CauseCandidate:
    names = names_of_devices(wiring.index, hosts)
    both = "; ".join(joined_names(names_of_devices(wiring.index, one.cycle)) for one in renamed)
    who = f"{len(names)} host{'s' * (len(names) > 1)} ({names[0]}, ...)"
    order = f"{who} name NICs in another order than that of their GPUs"
    confirm = f"`nvidia-smi topo -m` and `rdma link` of {names[0]}: is it the vendor's order of NICs?"
    confirm = f"{confirm} And the labels of {both}: does the plan say what is there?"
    summary = f"{order}, and the plan has {both} in each other's places; or {same[0].summary}"
    action = "Move no cable before it is confirmed which of the two it is."
    cables = [cable for draft in same for cable in draft.cables]
    devices = tuple(dict.fromkeys((*names, *(device for draft in same for device in draft.devices))))
    rules = tuple(dict.fromkeys((*ORDER, *WIRING)))
    draft = CauseCandidate(CauseKind.GPU_NIC_ORDER, names, summary, action, cables, devices, rules, confidence=0.5)
    others = tuple(Alternative(draft.kind, draft.summary, draft.moves) for draft in same)
    return replace(draft, alternatives=others, to_confirm=confirm)


# ----------------------------------------------------------------------------------------------------------------------
# The search and its steps.


@dataclass
class Search:
    """What the steps share."""

    wiring: Wiring
    findings: Sequence[Finding]
    links: ObservedLinks
    drafts: list[CauseCandidate] = field(default_factory=list)
    renamed: Sequence[Stranger] = ()
    repairs: list[Relabelling] = field(default_factory=list)
    """Relabellings: moves between their devices wait for them."""
    ports: dict[int, int] = field(default_factory=dict)
    """For each place that hears a host by its name alone, the port there, under the name that its switch has."""


def search(wiring: Wiring, findings: Sequence[Finding]) -> tuple[list[CauseCandidate], list[str]]:
    """The causes of the cabling; and what each step took, in words: its causes, their cables, and how many wrong links
    became right by it.
    """
    found, taken = Search(wiring, findings, ObservedLinks.of(wiring)), list[str]()
    for step in STEPS:
        wrong = np.count_nonzero(found.links.wrong)
        drafts = list(step(found))
        cables = {cable for draft in drafts for cable in draft.cables}
        gain = int(wrong - np.count_nonzero(found.links.wrong))
        causes = some([f"{draft.kind} {joined_names(draft.subjects[:2])}" for draft in drafts], 3)
        took = f"{step.__name__.strip('_'):<10} {len(drafts):>5} causes {len(cables):>6} cables, gain {gain}"
        taken.append(f"{took}: {causes}" if causes else took)
        found.drafts += drafts
    return as_one_question(wiring, joined_trunks(found.links.index, _one_order(found.drafts))), taken


def _strangers(found: Search) -> Iterator[CauseCandidate]:
    """Devices with unplanned names."""
    found.renamed = list(strangers(found.wiring))
    for stranger in found.renamed:
        found.links.settle(stranger.cables)
        yield stranger_draft(found.wiring, stranger)


def _labels(found: Search) -> Iterable[CauseCandidate]:
    """Swapped names of devices, crossed bundles, and NIC orders that a topology proves."""
    drafts, found.repairs = relabelled(found.wiring, found.links)
    return drafts


def _switches(found: Search) -> Iterator[CauseCandidate]:
    """Switches that are swapped by their names alone; a pair that ports show as well is one cause."""
    for draft in device_only.swapped_switches(found.wiring):
        same = next((one for one in found.drafts if (one.kind, one.subjects) == (draft.kind, draft.subjects)), None)
        if same is None:
            yield draft
        else:
            same.cables = [*same.cables, *draft.cables]


def _contested(found: Search) -> Iterable[CauseCandidate]:
    return device_only.crossed_without_names(found.wiring)


def _orders(found: Search) -> Iterator[CauseCandidate]:
    """NIC orders without a topology."""
    for order in joined(found.links, likely_orders(found.links, found.wiring.gpu_rails)):
        steps = moves(found.links, order.rows.tolist())
        found.links.retake(order.rows, order.cables)
        yield order_draft(found.links, order, steps)


def _hosts(found: Search) -> Iterator[CauseCandidate]:
    """Hosts in each other's places."""
    yield from crossed_hosts(found.links, found.repairs)
    yield from swapped_peers(found.links, found.wiring)


def _by_name(found: Search) -> Iterator[CauseCandidate]:
    """Swapped hosts that are heard by name alone; other cables of such hosts join the links."""
    wiring, links = found.wiring, found.links
    true_name: dict[int, int] = {}
    for repair in found.repairs:
        true_name |= repair.true_name if repair.kind is CauseKind.LEAF_SWAP else {}
    heard = strays(wiring, true_name)
    for one, other, cables in list(swapped_hosts(wiring.index, heard)):
        heard = heard.without(cables, wiring.index.b[cables].tolist())
        yield device_only.hosts_draft(wiring, one, other, cables)
    lost, places = placed(wiring.index, links.slots, heard)
    links.add(lost, places, DEVICE_ONLY)
    found.ports = {place: heard.ports[place] for place in places.tolist()}
    lost, places = heard_above(wiring, reordered(wiring, true_name))
    rest = ~np.isin(lost, links.cable) & ~np.isin(places, links.place)
    links.add(lost[rest], places[rest], DEVICE_ONLY)


def _trunks(found: Search) -> Iterator[CauseCandidate]:
    """Trunks of patch panels that are exchanged or reversed."""
    links = found.links
    for exchange in exchanged_trunks(links):
        yield device_only.left_open(links, exchange.rows, trunk_draft(links, exchange, found.repairs), found.ports)
        links.place[exchange.rows] = links.index.b[links.taken_for[exchange.rows]]


def _panels(found: Search) -> Iterator[CauseCandidate]:
    """Rows of patch panels that are off by k."""
    links = found.links
    for shift, block in blocks(links, panel_shifts(links), whole=True):
        if 2 * len(shift.rows) > len(block):
            yield device_only.left_open(links, block, shifted_row(links, shift, block, found.repairs), found.ports)
            links.place[block] = links.index.b[links.taken_for[block]]


def _shifts(found: Search) -> Iterator[CauseCandidate]:
    """Blocks of ports that are off by k."""
    links = found.links
    for shift, block in blocks(links, shifts(links)):
        yield device_only.left_open(links, block, shift_draft(links, shift, block, found.repairs), found.ports)
        links.place[block] = links.index.b[links.taken_for[block]]


def _chains(found: Search) -> Iterator[CauseCandidate]:
    """The rest: cycles and paths of single cables."""
    links = found.links
    ordered = {host for one in found.drafts if one.kind is CauseKind.GPU_NIC_ORDER for host in one.subjects}
    for rows, draft in chain_drafts(links, chains(links), found.wiring, found.repairs, ordered):
        open_ = device_only.left_open(links, rows, draft, found.ports)
        yield device_only.without_absent_targets(found.wiring, links, rows, open_)
        links.place[rows] = links.index.b[links.taken_for[rows]]


def _pairs(found: Search) -> Iterator[CauseCandidate]:
    """Cables that are wrong by their devices alone, and that no other cause has."""
    done = {cable for draft in found.drafts for cable in draft.cables}
    done.update(found.wiring.index.cables_at(np.array(list(found.ports.values()), dtype=np.int64)).tolist())
    for draft in (*device_only.swapped_cables(found.wiring), *crossed_by_name(found.wiring)):
        if done.isdisjoint(draft.cables):
            yield draft


def _absent(found: Search) -> Iterable[CauseCandidate]:
    """Links without a signal, and devices that do not answer, unless they do under another name; no cable that another
    cause has found.
    """
    wiring = found.wiring
    moved = {cable for draft in found.drafts if draft.moves for cable in draft.cables}
    standing = {stranger.true for stranger in found.renamed}
    standing |= {switch for switch, _ in wiring.identity.contested.values()}
    drafts = absent_drafts(wiring, found.findings, {wiring.index.devices.names[code] for code in standing})
    return [one for one in drafts if not one.cables or not moved.issuperset(one.cables)]


STEPS: Sequence[Callable[[Search], Iterable[CauseCandidate]]] = (
    _strangers,
    _labels,
    _switches,
    _contested,
    _orders,
    _hosts,
    _by_name,
    _trunks,
    _panels,
    _shifts,
    _chains,
    _pairs,
    _absent,
)


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

"""Another reading of the same evidence: all hosts name NICs in another order, and the plan has two switches exchanged.

Where most hosts and the plan agree on an order of NICs that is not that of the GPUs, it may be a vendor's. If the plan
has two leaves in each other's places as well, neither shows by itself: the names are right where the leaves are wrong.
So the NICs are read by the GPUs' own index too. If switches that are renamed then leave fewer cables wrong, what both
readings explain is one question, and no move is ordered for it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.paths import rails_of
from truerail.causes.candidate import CauseCandidate, joined_names, names_of_devices
from truerail.causes.moved import ORDER, WIRING
from truerail.causes.nic_order import in_rails, slot_cables
from truerail.causes.observed_links import ObservedLinks
from truerail.causes.relabel import Relabelling, best_relabelling
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import NONE
from truerail.model.finding import Alternative


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

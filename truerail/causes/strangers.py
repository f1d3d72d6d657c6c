"""Devices under another name than the plan has in their place: one wrong label, not many wrong cables.

A switch with its factory name hears and is heard in all the places of the switch that it is. Each of these cables
votes "X is really Y"; if most sightings of X vote for the same Y, and Y itself is not seen, X is Y. So it is with two
devices of different models that have each other's names: each has the ports that the plan gives the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring
from truerail.causes.candidate import CauseCandidate, joined_names
from truerail.causes.labels import BY_PLACES, by_places, each_other
from truerail.causes.moved import WIRING
from truerail.causes.relabel import MAJORITY
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes, Mask, grouped
from truerail.model.finding import Alternative, Rename

MIN_CABLES = 2


@dataclass(frozen=True)
class Stranger:
    """`name` is the code of the device's own name, `true` that of the planned one; `cables` are the evidence, also of
    the device that has the name `name` in the plan where that one has the name `true`.
    """

    name: int
    true: int
    cables: Codes


def strangers(wiring: Wiring) -> Iterator[Stranger]:
    """All devices with unplanned names in the places of one planned device, and pairs with each other's names."""
    index, partner = wiring.index, wiring.partner
    ports, planned = index.ports, index.devices.planned
    open_ = np.flatnonzero((wiring.state != State.RIGHT) & (wiring.why != Why.UNNAMED))
    votes: list[tuple[tuple[int, int], int]] = []
    for near, far, owner in ((index.a, index.b, index.b_device), (index.b, index.a, index.a_device)):
        seen = ports.device_of(partner[near[open_]])
        same_port = index.labels(partner[near[open_]]) == index.labels(far[open_])
        strange = ((seen >= planned) | (partner[near[open_]] >= index.planned_ports)) & same_port
        for cable, name in zip(open_[strange].tolist(), seen[strange].tolist(), strict=True):
            votes.append(((name, int(owner[cable])), cable))
    total = np.bincount(ports.device_of(partner[: index.planned_ports])[partner[: index.planned_ports] >= 0])
    known = _seen_somewhere(wiring)
    most = {pair: at for pair, at in sorted(grouped(votes).items()) if len(at) > MAJORITY * int(total[pair[0]])}
    likely = {(name, true): cables for (name, true), cables in most.items() if not known[true]}
    for (name, true), cables in likely.items():
        back = likely.get((true, name), [])
        if true < name and (back or (name >= planned and len(cables) >= MIN_CABLES)):
            yield Stranger(name, true, np.array(cables + back))


def _seen_somewhere(wiring: Wiring) -> Mask:
    """Which devices are heard, or hear a neighbour, under their planned names."""
    paired = np.flatnonzero(wiring.partner[: wiring.index.planned_ports] >= 0)
    return wiring.index.devices.marked(wiring.index.ports.device_of(paired))


def stranger_draft(wiring: Wiring, found: Stranger) -> CauseCandidate:
    """A device that only needs its planned name."""
    name, true = wiring.index.devices.names[found.name], wiring.index.devices.names[found.true]
    kind = CauseKind.HOST_SWAP if wiring.index.devices.is_host(found.true) else CauseKind.LEAF_SWAP
    both, rules, renames = (true, name), (*WIRING, "TEL", "NIC003"), (Rename(name, true),)
    summary = f"{name}, a name not in the plan, is found in all ports of {true}"
    action = f"Give {name} its planned name, {true}. No cable has to move."
    draft = CauseCandidate(kind, both, summary, action, found.cables.tolist(), both, rules, renames=renames)
    if found.name < wiring.index.devices.planned:
        summary = f"{joined_names(both)} have each other's names: each has the ports that the plan gives the other"
        return by_places(replace(draft, summary=summary, renames=each_other(*both)))
    newer = Alternative(kind, f"{name} is the newer name of {true}, and the plan is older")
    confirm = f"serial number or management address of {name}: is it {true} by the inventory?"
    return replace(draft, confidence=BY_PLACES, cables_right=True, alternatives=(newer,), to_confirm=confirm)

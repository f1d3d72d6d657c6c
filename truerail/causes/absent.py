"""Devices and cables that are not seen where they are planned: under another name, down, unread or unknown."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring, link_repair
from truerail.causes.candidate import CauseCandidate, joined_names
from truerail.causes.labels import BY_PLACES, by_places, each_other
from truerail.causes.moved import WIRING
from truerail.causes.relabel import MAJORITY
from truerail.model.cause_kinds import CauseKind
from truerail.model.columns import Codes, grouped
from truerail.model.finding import Alternative, Finding, Rename

# ----------------------------------------------------------------------------------------------------------------------
# Devices under another name than the plan has in their place: one wrong label, not many wrong cables.
#
# A switch with its factory name hears and is heard in all the places of the switch that it is. Each of these cables
# votes "X is really Y"; if most sightings of X vote for the same Y, and Y itself is not seen, X is Y. So it is with two
# devices of different models that have each other's names: each has the ports that the plan gives the other.

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
    votes: list[tuple[tuple[int, int], tuple[int, bool]]] = []
    for near, far, owner in ((index.a, index.b, index.b_device), (index.b, index.a, index.a_device)):
        found = partner[near[open_]]
        seen = ports.device_of(found)
        same_port = index.labels(found) == index.labels(far[open_])
        strange = np.where(seen < planned, found >= index.planned_ports, same_port)
        rows = (column[strange].tolist() for column in (seen, owner[open_], open_, same_port))
        votes += (((name, true), (cable, same)) for name, true, cable, same in zip(*rows, strict=True))
    heard = partner[: index.planned_ports]
    known = index.devices.marked(ports.device_of(np.flatnonzero(heard >= 0)))  # heard, or hear, by their names
    heard = heard[np.isin(ports.device_of(heard), [name for (name, _), _ in votes])]
    under = grouped(zip(ports.device_of(heard).tolist(), heard.tolist(), strict=True))
    likely: dict[tuple[int, int], list[int]] = {}
    for (name, true), at in sorted(grouped(votes).items()):
        agree = index.has(true, under[name]) if name < planned else len(at)
        if not known[true] and agree > MAJORITY * len(under[name]):
            likely[name, true] = [cable for cable, same in at if same]
    for (name, true), cables in likely.items():
        back = likely.get((true, name))
        if true < name and (back is not None or (name >= planned and len(cables) >= MIN_CABLES)):
            yield Stranger(name, true, np.array([*cables, *(back or ())], dtype=np.int64))


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


# ----------------------------------------------------------------------------------------------------------------------
# Cables and devices that are not seen: down, unread, unpowered or unknown. Evidence decides, never absence.

NOT_LISTED = "not in the inventory"
"""TEL001's reason for devices that could not be polled: no cause, and no work on site."""
DOWN = ("CAB003", "NIC002", "RAL", "LNK")


def absent_drafts(wiring: Wiring, findings: Sequence[Finding], standing: Collection[str]) -> list[CauseCandidate]:
    """Causes of cables without link, and of devices that do not answer; `standing` ones do, under another name."""
    dark = _dark_devices(wiring)
    asked = (f for f in findings if f.rule == "TEL001" and dict(f.detail).get("reason") != NOT_LISTED)
    unreachable = {f.subject for f in asked}.difference(standing)
    drafts = [_unreachable(wiring, name, dark) for name in sorted(unreachable)]
    covered = {c for draft in drafts for c in draft.cables}
    drafts += [draft for draft in _links_down(wiring) if draft.cables[0] not in covered]
    return drafts


def _dark_devices(wiring: Wiring) -> set[int]:
    """Devices that are down: they do not answer, and none of their cables is seen or has link at its other end, as
    reported by two or more of these ends.
    """
    index = wiring.index
    size = len(index.devices.names)
    down = (wiring.state == State.MISSING) & (wiring.why == Why.LINK_DOWN) | (wiring.why == Why.PENDING)
    alive = (wiring.state == State.RIGHT) | (wiring.state == State.WRONG)
    dead, seen = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for device, far in ((index.a_device, index.b), (index.b_device, index.a)):
        seen += np.bincount(device[(device >= 0) & (alive | wiring.states.up(far))], minlength=size)
        dead += np.bincount(device[(device >= 0) & down], minlength=size)
    return set(np.flatnonzero((dead >= 2) & (seen == 0) & ~wiring.read[:size]).tolist())


def _unreachable(wiring: Wiring, name: str, dark: set[int]) -> CauseCandidate:
    index = wiring.index
    code = index.devices.find(name)
    if code in dark:
        cables = np.flatnonzero((index.a_device == code) | (index.b_device == code)).tolist()
        summary = f"{name} is down: it does not answer, and none of its {len(cables)} cables has link"
        action = f"Check that {name} is powered."
    elif code < index.devices.planned:
        cables, summary, action = [], f"{name} does not answer", f"Check the management access to {name}."
    else:
        cables, summary = [], f"{name} does not report the InfiniBand fabric"
        action = f"Run `ibnetdiscover` on {name} by hand."
    rules, own = (*DOWN, "TEL"), (name,)
    return CauseCandidate(CauseKind.UNREACHABLE, own, summary, action, cables, own, rules, confidence=0.9)


def _links_down(wiring: Wiring) -> Iterator[CauseCandidate]:
    states, index = wiring.states, wiring.index
    missing = np.flatnonzero((wiring.state == State.MISSING) & np.isin(wiring.why, [Why.LINK_DOWN, Why.SILENT]))
    ends = index.a[missing], index.b[missing]
    silent = wiring.why[missing] == Why.SILENT
    use = ~silent | ~(states.up(ends[0]) | states.up(ends[1]))
    both = states.down(ends[0]) & states.down(ends[1])
    for cable, unheard, down in zip(missing[use].tolist(), silent[use], both[use], strict=True):
        a, b = index.a_port(cable), index.b_port(cable)
        reason, action = link_repair(wiring, cable)
        summary, sure = f"the link {a} - {b} is down{f': {reason}' if reason else ''}", 0.95 if down else 0.85
        if unheard:
            summary, sure = f"neither {a} nor {b} sees the other; whether there is link is unknown", 0.6
        yield CauseCandidate(CauseKind.LINK_DOWN, (str(a),), summary, action, [cable], rules=DOWN, confidence=sure)

"""Cables and devices that are not seen: down, unread, unpowered or unknown. Evidence decides, never absence."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring, link_repair
from truerail.causes.candidate import CauseCandidate
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Finding

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

"""Cables and devices that are not seen: down, unread, unpowered or unknown. Decided by evidence, never by absence."""

from collections.abc import Iterator

import numpy as np

from truerail.causes.draft import Draft
from truerail.model.finding import CauseKind, Finding
from truerail.model.snapshot import Codes
from truerail.model.wiring import State, Why, Wiring

DOWN = ("CAB003", "NIC002", "RAL", "LNK")


def absent_drafts(wiring: Wiring, findings: tuple[Finding, ...]) -> list[Draft]:
    """Causes of cables without link, and of devices that do not answer."""
    dark = _dark_devices(wiring)
    unreachable = {f.subject: f for f in findings if f.rule == "TEL001"}
    drafts = [_unreachable(wiring, name, dark) for name in sorted(unreachable)]
    covered = {c for draft in drafts for c in draft.cables}
    drafts += [draft for draft in _links_down(wiring) if draft.cables[0] not in covered]
    return drafts


def _dark_devices(wiring: Wiring) -> set[int]:
    """Devices that do not answer and none of whose cables, two or more, has link: off, not badly cabled."""
    index = wiring.index
    size = len(index.devices.names)
    down = (wiring.state == State.MISSING) & (wiring.why == Why.LINK_DOWN) | (wiring.why == Why.PENDING)
    dead, total = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for device in (index.a_device, index.b_device):
        total += np.bincount(device[device >= 0], minlength=size)
        dead += np.bincount(device[(device >= 0) & down], minlength=size)
    return set(np.flatnonzero((total >= 2) & (dead == total) & ~wiring.read[:size]).tolist())


def _unreachable(wiring: Wiring, name: str, dark: set[int]) -> Draft:
    index = wiring.index
    code = index.devices.find(name)
    if code in dark:
        cables = np.flatnonzero((index.a_device == code) | (index.b_device == code)).tolist()
        says, do = (
            f"{name} does not answer, and none of its {len(cables)} cables has link",
            f"Check that {name} is powered.",
        )
    else:
        cables, says, do = [], f"{name} does not answer", f"Check the management access to {name}."
    return Draft(CauseKind.UNREACHABLE, (name,), says, do, cables, (name,), (*DOWN, "TEL"), confidence=0.9)


def _links_down(wiring: Wiring) -> Iterator[Draft]:
    for cable in np.flatnonzero((wiring.state == State.MISSING) & (wiring.why == Why.LINK_DOWN)).tolist():
        a, b = wiring.index.a_port(cable), wiring.index.b_port(cable)
        yield Draft(
            CauseKind.LINK_DOWN,
            (str(a),),
            f"the link {a} - {b} is down",
            f"Reseat the cable at {a} and at {b}; if it stays down, try another cable, then another transceiver.",
            [cable],
            rules=DOWN,
            confidence=0.95 if _both_say_down(wiring, cable) else 0.85,
        )


def _both_say_down(wiring: Wiring, cable: int) -> bool:
    ends: Codes = np.array([wiring.index.a[cable], wiring.index.b[cable]])
    return bool(wiring.states.down(ends).all())

"""Two cables in each other's places, of which switches hear the hosts and not their ports.

A leaf that hears host e where host d is planned, and d where e is planned, shows that two cables are wrong. Which NIC
of each host it is follows from nothing that was read, so no move is ordered: the pair is named, and how to see it.
"""

from collections.abc import Iterator

import numpy as np

from truerail.causes.draft import Draft
from truerail.causes.moved import WIRING
from truerail.model.finding import Alternative, CauseKind
from truerail.model.wiring import DEVICE_ONLY, State, Wiring


def exchanged_hosts(wiring: Wiring) -> Iterator[Draft]:
    """One draft for each pair of cables between two hosts that are wrong by their hosts alone."""
    index = wiring.index
    heard = wiring.heard[index.b]
    vague = (
        (wiring.state == State.WRONG) & (wiring.place < 0) & index.from_host & (heard >= 0) & (heard != index.a_device)
    )
    by_pair: dict[tuple[int, int], list[int]] = {}
    for cable in np.flatnonzero(vague).tolist():
        by_pair.setdefault((int(index.a_device[cable]), int(heard[cable])), []).append(cable)
    for (host, other), cables in by_pair.items():
        back = by_pair.get((other, host), [])
        if host < other and len(cables) == len(back) == 1:
            yield _draft(wiring, cables[0], back[0])


def _draft(wiring: Wiring, one: int, other: int) -> Draft:
    index = wiring.index
    (a, b), (c, d) = ((index.a_port(cable), index.b_port(cable)) for cable in (one, other))
    draft = Draft(
        CauseKind.CABLE_SWAP,
        (str(a), str(c)),
        f"the cables of {a} and {c} are likely exchanged: {b} hears {c.device}, {d} hears {a.device}, "
        f"and nobody reports by which of their ports",
        f"Move no cable before it is confirmed. Follow the cables of {b} and {d} to their NICs (`ethtool -p`).",
        [one, other],
        rules=WIRING,
        confidence=DEVICE_ONLY,
        decides=f"to confirm: which NIC of {c.device} is behind {b}, and which of {a.device} behind {d}?",
    )
    says = f"other NICs of {a.device} and {c.device} are behind {b} and {d}, and more cables than these two are wrong"
    draft.alternatives = (Alternative(CauseKind.CABLE_ROTATION, says),)
    return draft

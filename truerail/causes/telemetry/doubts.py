"""An alternative for a NIC that is known to be slow by traffic alone: a missing peer on its rail."""

from collections.abc import Iterable, Sequence

import numpy as np

from truerail.causes.candidate import CauseCandidate
from truerail.causes.telemetry.found import FabricContext
from truerail.model.finding import Alternative, CauseKind

BY_TRAFFIC_ONLY = 0.6
"""Confidence in conclusions from traffic alone (detection notes, source reliabilities)."""


def doubt_slow_nics(ground: FabricContext, drafts: Iterable[CauseCandidate], cabling: Sequence[CauseCandidate]) -> None:
    """Adds the alternative to causes based on traffic alone if a NIC on the same rail and leaf has no link.

    A job's traffic with a NIC that is down is missing at its neighbours in the ring; which jobs run is unknown.
    """
    index = ground.wiring.index
    down: dict[tuple[int, int], str] = {}
    for draft in cabling:
        if draft.kind is CauseKind.LINK_DOWN:
            for cable in draft.cables:
                if index.from_host[cable]:
                    down.setdefault((int(index.rail[cable]), int(index.b_device[cable])), draft.subjects[0])
    slow = list(drafts) if down else []
    _, ports = ground.places([draft.subjects[0] for draft in slow])
    for draft, cable in zip(slow, index.cables_at(np.asarray(ports)).tolist(), strict=True):
        other = down.get((int(index.rail[cable]), int(index.b_device[cable]))) if cable >= 0 else None
        if other is not None:
            summary = f"{other} on the same rail is down: what a job exchanges with it is missing here"
            draft.alternatives = (*draft.alternatives, Alternative(CauseKind.LINK_DOWN, summary))
            hosts = " and ".join(port.partition("/")[0] for port in (other, draft.subjects[0]))
            draft.to_confirm = f"whether one job runs on {hosts}"
            draft.confidence = min(draft.confidence, BY_TRAFFIC_ONLY)

"""What a path sweep refutes of causes that counters suggest.

Counters show what carried nothing, and that may be chance, few large flows, or a hash. A sweep with enough flows shows
what the hash does: where it spreads them, a polarized tier or a dead member is no explanation.
"""

from collections.abc import Iterable

import numpy as np

from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import Swept, swept
from truerail.causes.candidate import CauseCandidate
from truerail.causes.telemetry.correlator import Correlator
from truerail.model.cause_kinds import CauseKind
from truerail.model.finding import Alternative
from truerail.model.index import PlanIndex
from truerail.model.probe_facts import ProbeHop

REFUTED = 0.4
"""Confidence in a cause that a sweep contradicts. Chosen by judgement: below that of traffic alone."""


def doubt_by_sweep(round: Round, board: Correlator) -> None:
    """Lowers the confidence in causes of LBL001 and LBL003 that the sweep of the round contradicts."""
    numbers = [n for rule in ("LBL001", "LBL003") for n in board.found.by_rule.get(rule, ()) if board.made(n)]
    if not numbers or not len(round.snapshot.table(ProbeHop)):
        return
    found = swept(round)
    for number in numbers:
        draft, device, port = board.owner[number], int(board.found.device[number]), int(board.found.port[number])
        if board.found.rules[number] == "LBL003":
            if packets := _passed(round.cabling.index, found, port):
                _doubt(
                    draft, f"a path sweep sent {packets:,} packets over it: it is in use, and few large flows miss it"
                )
        elif _spread(found, [device]):
            _doubt(
                draft, "in a path sweep the hashes of the two tiers were independent: few large flows load it unevenly"
            )


def _passed(index: PlanIndex, found: Swept, port: int) -> int:
    """Packets of the sweep that an uplink has sent."""
    cable = int(index.cables_at(np.array([port]))[0])
    if cable < 0 or int(index.a[cable]) != port:
        return 0
    return int(found.coverage.packets[found.coverage.segment == 2 * cable].sum())


def _spread(found: Swept, switches: Iterable[int]) -> bool:
    """Whether all leaves that send over these switches were swept with enough flows, and none repeats its choice."""
    own = [one for one in found.choices.spreads if np.isin(list(switches), one.switches).any()]
    polarized = {one.leaf for one in found.choices.polarized}
    return bool(own) and all(one.enough and one.leaf not in polarized for one in own)


def _doubt(draft: CauseCandidate, why: str) -> None:
    draft.confidence = min(draft.confidence, REFUTED)
    draft.alternatives = (*draft.alternatives, Alternative(CauseKind.OVERLOAD, why))
    draft.to_confirm = draft.to_confirm or "whether its traffic is a few large flows"

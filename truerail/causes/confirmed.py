"""Which moves are certain enough to be ordered where LLDP does not name the cables.

Other witnesses show that a cable is wrong; one of them alone orders no move: a MAC table may have an old entry, a
maker may use one serial number twice. Moves are ordered where two independent sources agree on every cable that LLDP
does not name, or where all cables of a closed cycle are seen and their doubts add up to less than `_MOST_DOUBT`.
Otherwise the cause stays, and its moves are what to confirm.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truerail.analysis.cabling import Wiring
from truerail.analysis.cabling.named_by import named_by
from truerail.causes.candidate import CauseCandidate
from truerail.model.cause_kinds import CAUSE_KINDS
from truerail.model.finding import Move
from truerail.model.names import some

_MOST_DOUBT = 0.05
_SHOWN = 4


def confirmed(wiring: Wiring, draft: CauseCandidate) -> CauseCandidate:
    """The draft; without its moves, and with what confirms them, where the evidence does not carry them."""
    weak = _weak(wiring, draft.moves, closed=CAUSE_KINDS[draft.kind].closed)
    alternatives = tuple(
        replace(other, moves=()) if _weak(wiring, other.moves, closed=CAUSE_KINDS[other.kind].closed) else other
        for other in draft.alternatives
    )
    draft = replace(draft, alternatives=alternatives)
    if not weak:
        return draft
    shown = some([f"{move.cable} is in {move.source}" for move in weak], _SHOWN, ", and {} more")
    words = dict.fromkeys(word for move in weak for word in named_by(wiring, _cable(wiring, move)))
    confirm = f"confirm before moving: {shown} (`ethtool -p`, or follow the cable)"
    summary = f"{draft.summary}; LLDP does not confirm it, only: {', '.join(words)}"
    action = f"Move no cable before it is confirmed. Then: {draft.action[0].lower()}{draft.action[1:]}"
    to_confirm = "; ".join(filter(None, (confirm, draft.to_confirm)))
    return replace(draft, summary=summary, action=action, moves=(), to_confirm=to_confirm)


def _weak(wiring: Wiring, moves: Sequence[Move], *, closed: bool) -> list[Move]:
    """The moves of cables that too little evidence shows; empty if the moves can be ordered."""
    doubt, weak = 0.0, list[Move]()
    for move in moves:
        cable = _cable(wiring, move)
        doubt += 1.0 - wiring.confidence(cable)
        port = wiring.index.a[cable]
        beside = wiring.partner[port] >= 0 and not wiring.corroborated.by_lldp[port]
        if beside and wiring.corroborated.sources[port] < 2:
            weak.append(move)
    return [] if closed and doubt < _MOST_DOUBT else weak


def _cable(wiring: Wiring, move: Move) -> int:
    """The number of the cable that a move is about: that of its lower end."""
    index = wiring.index
    device = index.devices.find(move.cable.device)
    return int(index.cables_at(index.find(np.array([device]), [move.cable.name]))[0])

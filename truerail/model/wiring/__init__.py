"""What is wired to what: names that devices use, neighbours that they hear, links that they have, and the plan."""

from truerail.model.wiring.joined import (
    BOTH_ENDS,
    DEVICE_ONLY,
    ONE_END,
    State,
    Why,
    Wiring,
    evidence_of,
    wiring_of,
)

__all__ = ["BOTH_ENDS", "DEVICE_ONLY", "ONE_END", "State", "Why", "Wiring", "evidence_of", "wiring_of"]

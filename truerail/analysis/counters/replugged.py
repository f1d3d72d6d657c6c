"""Times within which the plug in a port was moved: a link that fell then was taken out by a hand and does not flap."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from truerail.model.plan import Plan

Span = tuple[float, float]
Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Replugged:
    """`spans` are Unix seconds, by port as the plan spells it: at the end of each its neighbour was another one than at
    the beginning, or a cable was there that had been missing.

    `known_until[port]`, by the port codes of `plan`, is when the neighbour was read last; infinite where no newer
    reading can say more. What fell since is not judged before the neighbour has been read again.
    """

    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    known_until: Times = field(default_factory=lambda: np.empty(0))
    plan: Plan | None = None

    def until(self, port: int, plan: Plan) -> float:
        """Until when it is known which neighbour a planned port has."""
        known = self.plan is plan and 0 <= port < len(self.known_until)
        return float(self.known_until[port]) if known else float("inf")

    def since(self, begin: float) -> "Replugged":
        """Without what ended before."""
        kept = {port: tuple(span for span in spans if span[1] >= begin) for port, spans in self.spans.items()}
        return Replugged({port: spans for port, spans in kept.items() if spans}, self.known_until, self.plan)

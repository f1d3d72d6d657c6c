"""Intervals in which a port was replugged: a link that went down then was unplugged by hand and does not flap."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from truerail.model.plan import Plan

Span = tuple[float, float]
Spans = Mapping[str, tuple[Span, ...]]
Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Replugged:
    """`spans` holds intervals in Unix seconds, by port as the plan spells it: at the end of each the port had another
    neighbour than at the beginning, or a cable that was missing before.

    `known_until[port]`, by the port codes of `plan`, is the last reading of the neighbour; infinite where no newer
    reading can add anything. Link-down events after it are not evaluated before the neighbour has been read again.
    """

    spans: Spans = field(default_factory=dict)
    known_until: Times = field(default_factory=lambda: np.empty(0))
    plan: Plan | None = None

    def until(self, port: int, plan: Plan) -> float:
        """Time up to which the neighbour of a planned port is known."""
        known = self.plan is plan and 0 <= port < len(self.known_until)
        return float(self.known_until[port]) if known else float("inf")

    def since(self, begin: float) -> "Replugged":
        """Without the intervals that ended before."""
        kept = {port: tuple(span for span in spans if span[1] >= begin) for port, spans in self.spans.items()}
        return Replugged({port: spans for port, spans in kept.items() if spans}, self.known_until, self.plan)

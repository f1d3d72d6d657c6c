"""When cables were re-plugged: over the rounds, where each planned cable was seen, and the times between which that
changed.

A hand that moves a plug makes the link fall. That fall is a repair (or a mistake) of the cabling and says nothing of
the cable's health: rules that count falls leave out those within such a time. What counts is the neighbour before and
after: a cable that falls and comes back in the same place was not moved.

LLDP is read more rarely than counters, so the newest falls wait until the neighbour has been read again: `known_until`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from truerail.model.columns import NONE
from truerail.model.names import port_key
from truerail.model.plan import Plan, Port
from truerail.model.wiring.joined import State, Why, Wiring

Span = tuple[float, float]
Times = npt.NDArray[np.float64]
PortName = tuple[str, str]

MOST_SPANS = 16
"""Of one port: a plug that a hand moves more often within the window of the counters is remembered from its newest."""


@dataclass
class Replugged:
    """`spans` are Unix seconds, by device and port: the neighbour there was another one at the end than at the
    beginning. Ports are named as the plan spells them.
    """

    spans: dict[PortName, list[Span]] = field(default_factory=dict)
    _plan: Plan | None = None
    _place: list[str] = field(default_factory=list)
    _seen_at: Times = field(default_factory=lambda: np.empty(0))
    _missing_at: Times = field(default_factory=lambda: np.empty(0))
    _until: dict[PortName, float] = field(default_factory=dict)

    def known_until(self, port: PortName) -> float:
        """Until when it is known which neighbour the port has; infinite where nothing newer is to be expected."""
        return self._until.get(port, float("inf"))

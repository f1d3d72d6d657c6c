"""The actual place of each wrong cable, sorted once into the kinds that CAB001, 2, 4, 6 and 8 report.

Every wrong cable has exactly one kind, so no cable is reported twice.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.rule import Round, Rule
from truerail.model import Finding, NotEvaluated
from truerail.model.columns import NONE, Codes, Mask
from truerail.model.finding import MOST_EXAMPLES
from truerail.model.names import some


class Misplaced(IntEnum):
    """How a cable is wrong; `NOT` where it is not."""

    NOT = 0
    RAIL = 1
    PORT = 2
    PLANE = 3
    UPLINK = 4
    STRANGER = 5
    """One end is connected to something outside the fabric, or another device is connected to its port."""


@dataclass(frozen=True)
class Places:
    """Columns over cables: the kind, the device where the lower end is seen, and the rail of that place.

    `at` is known also where the device did not name its port. `rail` is that of the planned port, else the only rail of
    the switch, else -1.
    """

    wiring: Wiring
    kind: Codes
    at: Codes
    rail: Codes

    def found(self, rule: Rule, cable: int, **fields: Any) -> Finding:
        """A finding about a cable, at its lower end: where it should be and where it is seen, with the reports on both
        places.
        """
        wiring, index = self.wiring, self.wiring.index
        ends = int(index.a[cable]), int(index.b[cable]), int(wiring.place[cable])
        about = {
            "expected": str(index.b_port(cable)),
            "observed": self.observed(cable),
            "rail": index.plan.cables[cable].rail,
            "confidence": wiring.confidence(cable),
            "evidence": wiring.evidence(*ends),
        }
        return rule.found(index.a_port(cable), **about | fields)

    def cables_of(self, kind: Misplaced) -> list[int]:
        """The cables of a kind."""
        cables: list[int] = np.flatnonzero(self.kind == kind).tolist()
        return cables

    def observed(self, cable: int) -> str | None:
        """`leaf-3/swp12`, the place where the cable is seen; None where only its device is known."""
        port = int(self.wiring.place[cable])
        return str(self.wiring.index.spell(port)) if port >= 0 else None

    def seen_at(self, cable: int) -> str:
        """Where the cable is seen, in words, also where only the device is known."""
        name = self.wiring.index.devices.names[int(self.at[cable])]
        return self.observed(cable) or f"{name} (which does not report its port)"

    def subject(self, cable: int) -> str:
        """`gpu-012/enp60s0f0np0 (rail 1)`, the cable's lower end with its rail."""
        rail = int(self.wiring.index.rail[cable])
        port = self.wiring.index.a_port(cable)
        return f"{port} (rail {rail})" if rail >= 0 else str(port)


def places(round: Round) -> Places:
    """Classifies the wrong cables of a snapshot."""
    return round.once(_classified)


def unknown_cables(wiring: Wiring, why: Collection[Why] = ()) -> Codes:
    """The number of each device's cables that could not be evaluated, shape (devices,): for these reasons, where any
    are given. Cables of unpowered hosts do not count.
    """
    index = wiring.index
    unknown = (wiring.state == State.UNKNOWN) & (wiring.why != Why.PENDING)
    if why:
        unknown &= np.isin(wiring.why, list(why))
    count = np.zeros(len(index.devices.names), dtype=np.int64)
    for device in (index.a_device, index.b_device):
        count += np.bincount(device[unknown & (device >= 0)], minlength=len(count))
    return count


_NOT_SEEN = {
    Why.SILENT: "both ends run LLDP, and neither sees the other",
    Why.NOT_READ: "neither end could be read",
    Why.AMBIGUOUS: "the neighbors on their ports are contradictory",
    Why.DEVICE_SILENT: "the LLDP of a device seems to be off",
    Why.PENDING: "the host is down",
    Why.UNNUMBERED: "the discovery has their switch as several nodes whose ports the plan does not number",
    Why.CONTRADICTED: "the plan is wrong there, see `truerail plan lint`",
    Why.NIC_OPEN: "their leaf hears the right host, and not which of its NICs",
    Why.UNNAMED: "the plan names ports that their devices do not have",
    Why.UNDECIDED: "without a plan too few hosts show their rail",
}
"""Why the state of a cable is unknown."""


def some_cables(wiring: Wiring, cables: Codes | Sequence[int], of: int, why: str, what: str = "cable") -> NotEvaluated:
    """Cables that could not be evaluated, with the first few as examples."""
    named = tuple(str(wiring.index.a_port(int(cable))) for cable in cables[: MOST_EXAMPLES + 1])
    shown = some(named, MOST_EXAMPLES, ", ...")
    return NotEvaluated(f"{why} ({shown})", what, len(cables), of, named[:MOST_EXAMPLES], rest_evaluated=True)


def unseen_cables(wiring: Wiring, among: Mask) -> Iterator[NotEvaluated]:
    """The cables whose actual place is unknown, one part for each reason. `among` has shape (cables,)."""
    of, unknown = int(np.count_nonzero(among)), among & (wiring.state == State.UNKNOWN)
    for why, reason in _NOT_SEEN.items():
        rows = np.flatnonzero(unknown & (wiring.why == why))
        if len(rows):
            cables = f"{len(rows):,} of {of:,} cables {'is' if len(rows) == 1 else 'are'} unknown"
            yield some_cables(wiring, rows, of, f"{cables}: {reason}")


def _classified(round: Round) -> Places:
    wiring, index = round.cabling, round.cabling.index
    at = index.ports.device_of(wiring.place)
    at = np.where(at >= 0, at, wiring.heard[index.a])
    rail, plane = _at_places(wiring, at, index.rail), _at_places(wiring, at, index.plane)
    on_switch = np.array([*index.devices.tier, NONE], dtype=np.int64)[at] > 0
    other_switch = at != index.b_device
    same_rail = (rail == index.rail) & (rail >= 0)
    kind = np.select(
        [
            wiring.state != State.WRONG,
            ~index.from_host,
            ~on_switch | ((wiring.place < 0) & ~other_switch),
            _differ(rail, index.rail),
            _differ(plane, index.plane) & (same_rail | ~other_switch),
            other_switch,
        ],
        [Misplaced.NOT, Misplaced.UPLINK, Misplaced.STRANGER, Misplaced.RAIL, Misplaced.PLANE, Misplaced.RAIL],
        Misplaced.PORT,
    )
    return Places(wiring, kind, at, rail)


def _differ(a: Codes, b: Codes) -> Mask:
    return np.asarray((a >= 0) & (b >= 0) & (a != b), dtype=bool)


def _at_places(wiring: Wiring, at: Codes, value: Codes) -> Codes:
    """The rail or plane of the actual place of each cable: that of the planned port, else the one that the switch
    serves.
    """
    index = wiring.index
    hosts = index.from_host & (index.b_device >= 0)
    size = len(index.devices.names) + 1
    low, high = np.full(size, np.iinfo(np.int64).max), np.full(size, NONE)
    np.minimum.at(low, index.b_device[hosts], value[hosts])
    np.maximum.at(high, index.b_device[hosts], value[hosts])
    planned = index.cables_at(wiring.place)
    by_port = (planned >= 0) & index.from_host[planned]
    return np.where(by_port, value[planned], np.where(low == high, high, NONE)[at])

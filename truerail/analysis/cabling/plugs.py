"""Where every planned cable was seen, round by round, and when it was moved: the input of `Replugged`.

The neighbour before and after decides, not the loss of link: a cable that returns to its place was not moved. LLDP is
read less often than counters, so the times are those of the readings, not of the rounds: the last one that had the old
neighbour, and the round that first has the new one.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from truerail.analysis.cabling.joined import State, Why, Wiring
from truerail.analysis.counters.replugged import Replugged, Span, Times
from truerail.model.columns import NONE, Codes
from truerail.model.history import LinkChange
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan

_ELSEWHERE = 1 << 40
"""Codes from here on are places that the plan does not have."""
MOST_SPANS = 16
"""Per port: of a plug that is moved more often within the counters' window, only the newest moves are stored."""

LONGEST_UNSEEN_SECONDS = 180.0
"""A move is up to this long before the change in the journal: LLDP is read every minute, and a switch remembers a
neighbour for two (IEEE 802.1AB, a TTL of 120 seconds).
"""


class Plugs:
    """Created once per run that evaluates several rounds under one plan; another plan starts without history."""

    def __init__(self) -> None:
        self._plan: Plan | None = None
        self._others: dict[str, int] = {}
        self._place: Codes = np.empty(0, dtype=np.int64)
        self._seen_at: Times = np.empty(0)
        self._missing_at: Times = np.empty(0)
        self._kept: Mapping[str, str] = {}
        self._kept_at = float("nan")

    def restore(self, seen: Mapping[str, str], at: float) -> None:
        """Restores where an earlier run saw cables last, by the port at their nearer end, at this Unix time."""
        if self._plan is None:
            self._kept, self._kept_at = seen, at

    def update(self, wiring: Wiring, before: Replugged) -> Replugged:
        """Adds a round: the moved plugs known `before`, and those that the round adds."""
        index = wiring.index
        if self._plan is not index.plan:
            self._begin(index)
        at = wiring.identity.seen.at.timestamp()
        read = _read_at(wiring)
        ends = np.stack([read[index.a_device], read[index.b_device]])
        first, last = np.fmin(*ends), np.fmax(*ends)
        place = self._places(wiring)
        settled = place != NONE
        moved = settled & (self._place != NONE) & (place != self._place)
        back = settled & ~moved & ~np.isnan(self._missing_at)
        begin = np.where(moved, self._seen_at, self._missing_at)
        spans = {port: list(kept) for port, kept in before.spans.items()}
        for row in np.flatnonzero((moved | back) & ~np.isnan(begin)).tolist():
            for port in {int(index.a[row]), int(self._place[row]), int(place[row])}:
                if 0 <= port < index.planned_ports:
                    spans.setdefault(str(index.spell(port)), []).append((float(begin[row]), at))
        self._place[settled], self._seen_at[settled] = place[settled], np.where(np.isnan(first), at, first)[settled]
        missing = wiring.state == State.MISSING
        self._missing_at[settled] = np.nan
        self._missing_at[missing] = np.where(np.isnan(first), at, first)[missing]
        until = np.where(settled & ~np.isnan(last), last, np.inf)
        vague = (wiring.state == State.UNKNOWN) & (wiring.why == Why.AMBIGUOUS) & ~np.isnan(self._seen_at)
        until[vague] = self._seen_at[vague]
        return Replugged(_newest(spans.items()), _by_port(wiring, until), index.plan)

    def _begin(self, index: PlanIndex) -> None:
        self._plan, size = index.plan, len(index.plan.cables)
        self._seen_at, self._missing_at = np.full(size, np.nan), np.full(size, np.nan)
        words = [self._kept.get(str(cable.a), "").partition("/") for cable in index.plan.cables] if self._kept else []
        self._place = np.full(size, NONE, dtype=np.int64)
        if words:
            device = {name: code for code, name in enumerate(index.devices.names[: index.devices.planned])}
            devices = np.array([device.get(one[0], NONE) for one in words], dtype=np.int64)
            self._place = index.ports.find(devices, index.ports.name_codes([one[2] or None for one in words]))
            self._place[self._place >= index.planned_ports] = NONE
            self._seen_at[self._place != NONE] = self._kept_at
        self._kept = {}

    def _places(self, wiring: Wiring) -> Codes:
        """Where each cable is known to be: a planned port, or a number for any other place; -1 where it is unknown."""
        index, place = wiring.index, wiring.place.copy()
        place[wiring.state == State.RIGHT] = index.b[wiring.state == State.RIGHT]
        place[wiring.state > State.WRONG] = NONE
        strange = np.flatnonzero(place >= index.planned_ports)
        words = [str(index.spell(int(code))) for code in place[strange]]
        vague = np.flatnonzero((wiring.state == State.WRONG) & (place < 0) & (wiring.heard[index.a] >= 0))
        words += [index.devices.names[int(code)] for code in wiring.heard[index.a[vague]]]
        codes = [self._others.setdefault(word, _ELSEWHERE + len(self._others)) for word in words]
        place[np.concatenate([strange, vague])] = codes
        return place


def moved_before(changes: Iterable[LinkChange], known: Replugged) -> Replugged:
    """The moved plugs that an earlier run saw, from its journal: the changes come oldest first."""
    spans = {port: list(kept) for port, kept in known.spans.items()}
    left: dict[str, tuple[str, float]] = {}
    for change in changes:
        at = change.at.timestamp()
        if change.was is not None:
            left[change.port] = change.was, at - LONGEST_UNSEEN_SECONDS
        place, since = left.get(change.port, ("", at - LONGEST_UNSEEN_SECONDS))
        if change.now is not None and place != change.now:
            for port in {change.port, place, change.now} - {""}:
                spans.setdefault(port, []).append((since, at))
    return Replugged(_newest(spans.items()), known.known_until, known.plan)


def _newest(spans: Iterable[tuple[str, list[Span]]]) -> dict[str, tuple[Span, ...]]:
    return {port: tuple(of_port[-MOST_SPANS:]) for port, of_port in spans}


def _read_at(wiring: Wiring) -> Times:
    """When each device last returned its neighbours, in Unix seconds, by device code; NaN if never."""
    identity = wiring.identity
    at = np.full(len(wiring.index.devices.names) + 1, np.nan)
    for reading in identity.seen.readings:
        if not reading.error and reading.collector.startswith("lldp"):
            code = identity.filed(reading.device)
            at[code] = np.fmax(at[code], reading.at.timestamp())
    if identity.discovery is not None:
        found = [r.at.timestamp() for r in identity.seen.readings if not r.error and r.collector == "ib_fabric"]
        devices = identity.discovery.devices
        at[devices] = np.fmax(at[devices], max(found, default=np.nan))
    return at


def _by_port(wiring: Wiring, until: Times) -> Times:
    """By planned port: of the cable that is planned there, and of the one that is seen there."""
    index = wiring.index
    found = np.full(index.planned_ports, np.inf)
    for ports in (index.b, index.a, wiring.place):
        known = (ports >= 0) & (ports < index.planned_ports)
        found[ports[known]] = until[known]
    return found

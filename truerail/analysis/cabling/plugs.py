"""Intervals in which a port was replugged: a link that went down then was unplugged by hand and does not flap. And what
they follow from, the places of cables round by round.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from truerail.analysis.cabling.joined import State, Why, Wiring
from truerail.model.columns import NONE, Codes, Numbers
from truerail.model.history import LinkChange
from truerail.model.index import PlanIndex
from truerail.model.plan import Plan

Span = tuple[float, float]
Spans = Mapping[str, tuple[Span, ...]]


@dataclass(frozen=True)
class Replugged:
    """`spans` holds intervals in Unix seconds, by port as the plan spells it: at the end of each the port had another
    neighbour than at the beginning, or a cable that was missing before.

    `known_until[port]`, by the port codes of `plan`, is the last reading of the neighbour; infinite where no newer
    reading can add anything. Link-down events after it are not evaluated before the neighbour has been read again.
    """

    spans: Spans = field(default_factory=dict)
    known_until: Numbers = field(default_factory=lambda: np.empty(0))
    plan: Plan | None = None

    def until(self, port: int, plan: Plan) -> float:
        """Time up to which the neighbour of a planned port is known."""
        known = self.plan is plan and 0 <= port < len(self.known_until)
        return float(self.known_until[port]) if known else float("inf")

    def since(self, begin: float) -> "Replugged":
        """Without the intervals that ended before."""
        kept = {port: tuple(span for span in spans if span[1] >= begin) for port, spans in self.spans.items()}
        return Replugged({port: spans for port, spans in kept.items() if spans}, self.known_until, self.plan)


# ----------------------------------------------------------------------------------------------------------------------
# Where every planned cable was seen last, and when it was moved: what `Replugged` follows from, round by round.
#
# The neighbour before and after decides, not the loss of link: a cable that returns to its place was not moved. LLDP is
# read less often than counters, so the times are those of the readings, not of the rounds: the last one that had the
# old neighbour, and the round that first has the new one.


_SHOW = ("lldp", "mac_table", "neigh_table", "bgp_peers")
"""Collectors that show places beside LLDP, and are read as often."""
_ELSEWHERE = 1 << 40
"""Codes from here on are places that the plan does not have."""
MOST_SPANS = 16
"""Per port: of a plug that is moved more often within the counters' window, only the newest moves are stored."""

LONGEST_UNSEEN_SECONDS = 180.0
"""A move is up to this long before the change in the journal: LLDP is read every minute, and a switch remembers a
neighbour for two (IEEE 802.1AB, a TTL of 120 seconds).
"""


@dataclass(frozen=True, eq=False)
class _Places:
    """Where the cables of a plan were last, and when, shapes (cables,). `others` are codes of places that the plan does
    not have, by name.
    """

    plan: Plan
    others: Mapping[str, int]
    place: Codes
    seen_at: Numbers
    missing_at: Numbers


@dataclass(frozen=True, eq=False)
class Plugs:
    """What the rounds so far show of plugs: a value, each round makes the next one. Under another plan it starts
    without places.
    """

    replugged: Replugged = field(default_factory=Replugged)
    _places: _Places | None = None
    _restored: Mapping[str, str] = field(default_factory=dict)
    _restored_at: float = float("nan")

    def restored(self, seen: Mapping[str, str], at: float) -> "Plugs":
        """With the places where an earlier run saw cables last, by the port at their nearer end, at this Unix time;
        unchanged after a first round.
        """
        return self if self._places else replace(self, _restored=seen, _restored_at=at)

    def moved(self, spans: Spans) -> "Plugs":
        """With these moves in place of those known so far."""
        return replace(self, replugged=replace(self.replugged, spans=spans))

    def moved_in(self, changes: Iterable[LinkChange]) -> "Plugs":
        """With the moves that an earlier run saw, from its journal: the changes come oldest first."""
        spans = {port: list(kept) for port, kept in self.replugged.spans.items()}
        left: dict[str, tuple[str, float]] = {}
        for change in changes:
            at = change.at.timestamp()
            if change.was is not None:
                left[change.port] = change.was, at - LONGEST_UNSEEN_SECONDS
            place, since = left.get(change.port, ("", at - LONGEST_UNSEEN_SECONDS))
            if change.now is not None and place != change.now:
                for port in {change.port, place, change.now} - {""}:
                    spans.setdefault(port, []).append((since, at))
        return self.moved(_newest(spans.items()))

    def later(self, seconds: float) -> "Plugs":
        """With the moves at other times: the clock was set by so much. Where cables were last is seen again."""
        spans = {port: tuple((a + seconds, b + seconds) for a, b in of) for port, of in self.replugged.spans.items()}
        return Plugs().moved(spans)

    def after(self, wiring: Wiring, oldest: float) -> "Plugs":
        """With one more round. Moves that ended before `oldest`, in Unix seconds, are dropped."""
        index = wiring.index
        known = self._places if self._places and self._places.plan is index.plan else self._begun(index)
        at = wiring.seen.at.timestamp()
        read = _read_at(wiring)
        ends = np.stack([read[index.a_device], read[index.b_device]])
        first, last = np.fmin(*ends), np.fmax(*ends)
        others = dict(known.others)
        place = _placed(wiring, others)
        settled = place != NONE
        moved = settled & (known.place != NONE) & (place != known.place)
        back = settled & ~moved & ~np.isnan(known.missing_at)
        begin = np.where(moved, known.seen_at, known.missing_at)
        spans = {port: list(kept) for port, kept in self.replugged.since(oldest).spans.items()}
        for row in np.flatnonzero((moved | back) & ~np.isnan(begin)).tolist():
            for port in {int(index.a[row]), int(known.place[row]), int(place[row])}:
                if 0 <= port < index.planned_ports:
                    spans.setdefault(str(index.spell(port)), []).append((float(begin[row]), at))
        read_at = np.where(np.isnan(first), at, first)
        seen_at = np.where(settled, read_at, known.seen_at)
        missing_at = np.where(settled, np.nan, known.missing_at)
        missing_at = np.where(wiring.state == State.MISSING, read_at, missing_at)
        until = np.where(settled & ~np.isnan(last), last, np.inf)
        vague = (wiring.state == State.UNKNOWN) & (wiring.why == Why.AMBIGUOUS) & ~np.isnan(seen_at)
        until[vague] = seen_at[vague]
        places = _Places(index.plan, others, np.where(settled, place, known.place), seen_at, missing_at)
        return Plugs(Replugged(_newest(spans.items()), _by_port(wiring, until), index.plan), places)

    def _begun(self, index: PlanIndex) -> _Places:
        size = len(index.plan.cables)
        place, seen_at = np.full(size, NONE, dtype=np.int64), np.full(size, np.nan)
        if self._restored:
            words = [self._restored.get(str(cable.a), "").partition("/") for cable in index.plan.cables]
            device = {name: code for code, name in enumerate(index.devices.names[: index.devices.planned])}
            devices = np.array([device.get(one[0], NONE) for one in words], dtype=np.int64)
            place = index.find(devices, [one[2] or None for one in words])
            place[place >= index.planned_ports] = NONE
            seen_at[place != NONE] = self._restored_at
        return _Places(index.plan, {}, place, seen_at, np.full(size, np.nan))


def _placed(wiring: Wiring, others: dict[str, int]) -> Codes:
    """Where each cable is known to be: a planned port, or a number for any other place, added to `others`; -1 where
    unknown.
    """
    index, place = wiring.index, wiring.place.copy()
    place[wiring.state == State.RIGHT] = index.b[wiring.state == State.RIGHT]
    place[wiring.state > State.WRONG] = NONE
    strange = np.flatnonzero(place >= index.planned_ports)
    words = [str(index.spell(int(code))) for code in place[strange]]
    vague = np.flatnonzero((wiring.state == State.WRONG) & (place < 0) & (wiring.heard[index.a] >= 0))
    words += [index.devices.names[int(code)] for code in wiring.heard[index.a[vague]]]
    codes = [others.setdefault(word, _ELSEWHERE + len(others)) for word in words]
    place[np.concatenate([strange, vague])] = codes
    return place


def _newest(spans: Iterable[tuple[str, list[Span]]]) -> Spans:
    return {port: tuple(of_port[-MOST_SPANS:]) for port, of_port in spans}


def _read_at(wiring: Wiring) -> Numbers:
    """When each device last returned its neighbours, in Unix seconds, by device code; NaN if never."""
    identity = wiring.identity
    at = np.full(len(wiring.index.devices.names) + 1, np.nan)
    newest: dict[str, datetime] = {}
    for reading in wiring.seen.readings:
        if not reading.error and reading.collector.startswith(_SHOW):
            known = newest.get(reading.device)
            if known is None or known < reading.at:
                newest[reading.device] = reading.at
    for name, when in newest.items():
        code = identity.filed(name)
        at[code] = np.fmax(at[code], when.timestamp())
    if identity.discovery is not None:
        found = [r.at.timestamp() for r in wiring.seen.readings if not r.error and r.collector == "ib_fabric"]
        devices = identity.discovery.devices
        at[devices] = np.fmax(at[devices], max(found, default=np.nan))
    return at


def _by_port(wiring: Wiring, until: Numbers) -> Numbers:
    """By planned port: of the cable that is planned there, and of the one that is seen there."""
    index = wiring.index
    found = np.full(index.planned_ports, np.inf)
    for ports in (index.b, index.a, wiring.place):
        known = (ports >= 0) & (ports < index.planned_ports)
        found[ports[known]] = until[known]
    return found

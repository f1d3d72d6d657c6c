"""Other witnesses beside LLDP: they fill its silence, confirm it, or cast doubt on it, and never overrule it.

LLDP's pairs of ports stand first. Then, for each pair of ports that other witnesses name:

- Both ends without a pair: a candidate. Independent sources multiply their doubts. Of candidates that exclude each
  other one wins only if two sources or more name it and it is ahead by `_AHEAD`; else all their ports are ambiguous.
- A candidate in another place than planned, by one source alone, needs a second sign: one of the two planned far ends
  has no link or another cable. Otherwise it may be a forgotten entry of a MAC table, or a cloned serial number.
- The pair that LLDP has: it is confirmed. Another one than LLDP has from one end alone: the confidence drops to
  `CONTRADICTED`, and with two sources the ports are ambiguous. LLDP from both ends is never touched.

A device that is named without its port fills a port only where it is the planned one; another one is a contradiction.
"""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.cabling.links import PortStates
from truerail.analysis.cabling.port_pairs import BOTH_ENDS, ONE_END
from truerail.analysis.cabling.witnesses import GROUP, GROUPS, WEIGHT, Source, Testimony
from truerail.model.columns import NONE, Codes, Mask, Numbers
from truerail.model.index import PlanIndex

_AHEAD = 0.05
"""How much more certain than each other one a candidate of two sources must be to win."""
CONTRADICTED = 0.8
"""Confidence in a pair that one end reports over LLDP, and that another witness contradicts."""


@dataclass(frozen=True)
class Corroborated:
    """What other witnesses add, by port code: shapes (ports + 1,).

    `lldp` is the confidence in the port's pair by LLDP alone, 0 where it has none, `heard` the device that LLDP names
    there without its port (-1 if none), `torn` whether LLDP contradicts itself there, `sources` the number of
    independent sources beside LLDP that name its pair.
    """

    lldp: Numbers
    heard: Codes
    torn: Mask
    sources: Codes

    @property
    def by_lldp(self) -> Mask:
        """Whether LLDP names the port's pair."""
        return np.asarray(self.lldp > 0, dtype=bool)


@dataclass(frozen=True)
class _Candidates:
    """Pairs of ports named beside LLDP, each once: shapes (pairs,)."""

    low: Codes
    high: Codes
    sure: Numbers
    sources: Codes
    by_serial: Mask


def corroborate(
    index: PlanIndex, said: Testimony, states: PortStates, partner: Codes, sure: Numbers, ambiguous: Mask, heard: Codes
) -> Corroborated:
    """Completes LLDP's `partner`, `sure`, `ambiguous` and `heard` in place, each of shape (ports + 1,)."""
    sources = np.zeros(len(partner), dtype=np.int64)
    found_by_lldp = Corroborated(sure.copy(), heard.copy(), ambiguous.copy(), sources)
    if not len(said.u):
        return found_by_lldp
    current = said.where(_current(said, states))
    found = _candidates(current)
    planned = index.far_ends(found.low) == found.high
    _confirm_or_doubt(found, partner, sure, ambiguous, sources)
    free = (partner[found.low] < 0) & (partner[found.high] < 0) & ~ambiguous[found.low] & ~ambiguous[found.high]
    free &= _fits(index, found, heard)
    wins, contested = _settled(found, free, len(partner))
    signs = planned | (found.sources > 1) | _vacated(index, found, wins, states, partner)
    ports = np.concatenate([found.low[contested], found.high[contested]])
    ambiguous[ports[partner[ports] < 0]] = True
    use = wins & signs & ~(planned & found.by_serial & (found.sources == 1) & _unlit(found, states))
    low, high = found.low[use], found.high[use]
    partner[low], partner[high] = high, low
    sure[low] = sure[high] = found.sure[use]
    sources[low] = sources[high] = found.sources[use]
    ambiguous[low] = ambiguous[high] = False
    heard[low] = heard[high] = NONE
    _fill_devices(index, current, partner, ambiguous, heard)
    return found_by_lldp


def _current(claims: Testimony, states: PortStates) -> Mask:
    """Claims without those of ports without link, whose entries are old ones. A serial number is read without link."""
    return np.asarray((claims.source == Source.SERIAL) | ~(states.dark(claims.u) | states.dark(claims.v)), dtype=bool)


def _candidates(claims: Testimony) -> _Candidates:
    rows = np.flatnonzero((claims.v >= 0) & (claims.u != claims.v))
    u, v, source = claims.u[rows], claims.v[rows], claims.source[rows]
    packed, pair = np.unique(np.minimum(u, v) << 32 | np.maximum(u, v), return_inverse=True)
    doubt = np.ones((len(packed), GROUPS))
    np.minimum.at(doubt, (pair, GROUP[source]), 1.0 - WEIGHT[source])
    sure = np.minimum(BOTH_ENDS, 1.0 - doubt.prod(axis=1))
    by_serial = np.zeros(len(packed), dtype=bool)
    by_serial[pair[source == Source.SERIAL]] = True
    return _Candidates(packed >> 32, packed & 0xFFFFFFFF, sure, (doubt < 1.0).sum(axis=1), by_serial)


def _confirm_or_doubt(found: _Candidates, partner: Codes, sure: Numbers, ambiguous: Mask, sources: Codes) -> None:
    same = partner[found.low] == found.high
    low, high = found.low[same], found.high[same]
    sources[low] = sources[high] = found.sources[same]
    for port in (low, high):
        sure[port] = np.maximum(sure[port], np.minimum(BOTH_ENDS, 1.0 - (1.0 - sure[port]) * (1.0 - found.sure[same])))
    for port in (found.low, found.high):
        against = ~same & (partner[port] >= 0) & (sure[port] == ONE_END)
        one, more = port[against & (found.sources == 1)], port[against & (found.sources > 1)]
        for ends in (one, partner[one]):
            sure[ends] = CONTRADICTED
        both = np.concatenate([more, partner[more]])
        partner[both], ambiguous[both] = NONE, True


def _fits(index: PlanIndex, found: _Candidates, heard: Codes) -> Mask:
    """Whether a candidate agrees with the device that LLDP names at its ports without a port."""
    of = index.ports.device_of
    low, high = heard[found.low], heard[found.high]
    return np.asarray(((low < 0) | (low == of(found.high))) & ((high < 0) | (high == of(found.low))), dtype=bool)


def _settled(found: _Candidates, free: Mask, size: int) -> tuple[Mask, Mask]:
    """Of the free candidates those that win, and those that exclude each other without a winner."""
    count = np.bincount(np.concatenate([found.low[free], found.high[free]]), minlength=size)
    alone = free & (count[found.low] == 1) & (count[found.high] == 1)
    rest = np.flatnonzero(free & ~alone)
    if not len(rest):
        return alone, np.zeros(len(free), dtype=bool)
    best, second = np.zeros(size), np.zeros(size)
    for port in (found.low, found.high):
        for row in rest.tolist():
            value = found.sure[row]
            if value > best[port[row]]:
                second[port[row]], best[port[row]] = best[port[row]], value
            else:
                second[port[row]] = max(second[port[row]], value)
    value = found.sure[rest]
    ahead = found.sources[rest] > 1
    for port in (found.low[rest], found.high[rest]):
        ahead &= (value == best[port]) & (value - second[port] > _AHEAD)
    wins = alone.copy()
    wins[rest[ahead]] = True
    taken = np.zeros(size, dtype=bool)
    taken[found.low[wins]] = taken[found.high[wins]] = True
    contested = np.zeros(len(free), dtype=bool)
    contested[rest[~ahead]] = True
    contested &= ~(taken[found.low] & taken[found.high])
    lost = contested & (taken[found.low] | taken[found.high])
    return wins, contested & ~lost


def _vacated(index: PlanIndex, found: _Candidates, wins: Mask, states: PortStates, partner: Codes) -> Mask:
    """Whether one of the two planned far ends of a pair has no link or another cable, or neither end is planned."""
    seen = partner.copy()
    seen[found.low[wins]], seen[found.high[wins]] = found.high[wins], found.low[wins]
    signs = np.ones(len(found.low), dtype=bool)
    any_planned = np.zeros(len(found.low), dtype=bool)
    vacated = np.zeros(len(found.low), dtype=bool)
    for port in (found.low, found.high):
        far = index.far_ends(port)
        known = far >= 0
        any_planned |= known
        vacated |= known & (states.dark(far) | ((seen[far] >= 0) & (seen[far] != port)))
    return np.where(any_planned, vacated, signs)


def _unlit(found: _Candidates, states: PortStates) -> Mask:
    """Pairs without link at either end: the cable is in place and carries nothing, which is another finding."""
    return np.asarray(states.dark(found.low) | states.dark(found.high), dtype=bool)


def _fill_devices(index: PlanIndex, claims: Testimony, partner: Codes, ambiguous: Mask, heard: Codes) -> None:
    """The planned device at ports where only devices are named; ports where another one is named are ambiguous."""
    rows = np.flatnonzero((claims.v < 0) & (claims.w >= 0))
    rows = rows[(partner[claims.u[rows]] < 0) & (heard[claims.u[rows]] < 0)]
    u, w = claims.u[rows], claims.w[rows]
    agrees = index.ports.device_of(index.far_ends(u)) == w
    against = np.zeros(len(partner), dtype=bool)
    against[u[~agrees & (index.far_ends(u) >= 0)]] = True
    heard[u[agrees & ~against[u]]] = w[agrees & ~against[u]]
    ambiguous[np.flatnonzero(against)] = True

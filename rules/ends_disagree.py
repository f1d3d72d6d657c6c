"""The reports about a cable contradict each other, so it is neither right nor wrong.

## Why it matters
After a cable was moved without its link going down for more than a second, the old neighbour stays listed beside the
new one until its time to live (TTL) has run out: up to 120 seconds with lldpd's defaults (30 s x 4). The newer of two
is used where it is the planned one. Otherwise the age does not show which of them is true: after a swap back it is the
older one. A verdict now would send a technician to a cable that is right.

## How it is detected
A port names two neighbours, two ports name the same one, or the two ends name different neighbours, and no pair of
ports is named by both of its ends. Other witnesses count as well: a MAC table, a cable's serial number or a neighbour
table that names another port than LLDP from one end, or than each other, with no two of them in agreement.

## What to do
Wait until the TTL has run out and check again. If it stays, a device in between forwards LLDP frames (a bridge or a
media converter), or two devices carry one name (CAB007). It is info where the planned neighbour is among those named,
with its port or by its device alone, or where all named neighbours are named in their own places as well; else it is a
warning.

## Decide
- `warning CAB005`: the planned neighbour is not among those named. Check again in two minutes; if it stays, look for a
  bridge or media converter in between, and for a name used twice (CAB007).
- `info CAB005`: the planned neighbour is among those named. Most often a neighbour that has left; wait for its time to
  live.
- `unreachable`: the device that could decide does not answer. Restore its access first (TEL001).

## False positives
Every moved cable looks like this for up to two minutes, the usual time to live of LLDP. The finding ends by itself.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rules._examples import hears
from rules._places import places
from truerail.analysis.cabling import ONE_END, WITNESS_KINDS, State, Why, Wiring
from truerail.analysis.cabling.named_by import said_beside
from truerail.analysis.rule import Case, Findings, Round, rule
from truerail.model import Neighbor, Severity
from truerail.model.columns import Codes

_TTL_SECONDS = 120
"""IEEE 802.1AB: msgTxHold 4 x msgTxInterval 30 s; used where a neighbour does not report its own."""

_WAIT = "Check again in {wait} s, when the older entry has expired; if it stays, look for a bridge in between."
_NAMES = "Give each device a name of its own (CAB007), then discover the fabric again."


@rule("CAB005", Severity.WARNING, [Neighbor], instead=WITNESS_KINDS)
def ends_disagree(round: Round) -> Findings:
    """Cables whose ends are unknown, because the reports about them contradict each other."""
    placed = places(round)
    wiring = placed.wiring
    torn = np.flatnonzero((wiring.state == State.UNKNOWN) & (wiring.why == Why.AMBIGUOUS))
    reported = _about(wiring, torn)
    for cable in torn.tolist():
        a, b = int(wiring.index.a[cable]), int(wiring.index.b[cable])
        wait = _longest_ttl(reported, a, b)
        yield placed.found(
            ends_disagree,
            cable,
            severity=Severity.INFO if _plan_may_hold(wiring, reported, a, b) else None,
            summary=f"{placed.subject(cable)} cannot be evaluated: {'; '.join(_said(wiring, reported, a, b))}",
            action=_NAMES if wiring.met else _WAIT.format(wait=wait),
            confidence=ONE_END,
        )


def _plan_may_hold(wiring: Wiring, reported: "_Reported", a: int, b: int) -> bool:
    """Whether nothing contradicts the plan yet: one end names the other, as planned, among its neighbours, or all
    neighbours that they name seem to be old ones, because their own places name them, too.
    """
    device = wiring.index.ports.device_of(np.array([a, b])).tolist()
    planned = {(b, device[1]): reported.by[a], (a, device[0]): reported.by[b]}
    for (port, owner), claims in planned.items():
        if any(claim.v == port or (claim.v < 0 and claim.w == owner and not claim.doubt) for claim in claims):
            return True
    named = [claim.v for claim in (*reported.by[a], *reported.by[b])]
    places = wiring.index.far_ends(np.array(named, dtype=np.int64)).tolist()
    at_home = (
        any(other.u == place for other in reported.about[port]) for port, place in zip(named, places, strict=True)
    )
    return bool(named) and min(named) >= 0 and all(at_home)


class _Claim(NamedTuple):
    """Port `u` reports that it hears port `v` of device `w`; `v` is -1 where unknown. `doubt`: there are signs that an
    unknown port is not the planned one.
    """

    u: int
    v: int
    w: int
    doubt: bool
    ttl_seconds: int | None


@dataclass(frozen=True)
class _Reported:
    """The claims that ports make, and those that other ports make about them."""

    by: Mapping[int, list[_Claim]]
    about: Mapping[int, list[_Claim]]


def _about(wiring: Wiring, cables: Codes) -> _Reported:
    """Every claim that concerns an end of one of these cables."""
    claims, rows = wiring.identity.claims, wiring.seen.table(Neighbor).rows
    ends = np.concatenate([wiring.index.a[cables], wiring.index.b[cables]])
    reported = _Reported(defaultdict(list), defaultdict(list))
    for i in np.flatnonzero(np.isin(claims.u, ends) | np.isin(claims.v, ends)).tolist():
        ttl, doubt = rows[int(claims.row[i])].ttl_seconds, bool(claims.doubt[i])
        claim = _Claim(int(claims.u[i]), int(claims.v[i]), int(claims.w[i]), doubt, ttl)
        reported.by[claim.u].append(claim)
        reported.about[claim.v].append(claim)
    return reported


def _said(wiring: Wiring, reported: _Reported, a: int, b: int) -> Iterator[str]:
    """What each end names, and which ports name it."""
    spell = wiring.index.spell
    for end in (a, b):
        names = dict.fromkeys(_heard(wiring, claim) for claim in reported.by[end])
        if names:
            yield f"{spell(end)} names {' and '.join(names)}"
        others = {claim.u for claim in reported.about[end]} - {a, b}
        if others:
            yield f"{' and '.join(str(spell(port)) for port in sorted(others))} names {spell(end)}"
        yield from dict.fromkeys(said_beside(wiring, end))


def _heard(wiring: Wiring, claim: _Claim) -> str:
    if claim.v >= 0:
        return str(wiring.index.spell(claim.v))
    return wiring.index.devices.names[claim.w] if claim.w >= 0 else "an unknown device"


def _longest_ttl(reported: _Reported, a: int, b: int) -> int:
    return max(
        (claim.ttl_seconds for claim in (*reported.by[a], *reported.by[b]) if claim.ttl_seconds), default=_TTL_SECONDS
    )


PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0\ngpu-1/nic1 leaf-1/swp1 rail=1\ngpu-2/nic0 leaf-0/swp2 rail=0"

EXAMPLES = {
    "The leaf lists the old and the new neighbour; neither host is heard to confirm one.": Case(
        {"leaf-0": [hears("swp1", "gpu-1/nic0", ttl_seconds=20), hears("swp1", "gpu-2/nic0", ttl_seconds=120)]},
        "gpu-1/nic0 gpu-2/nic0",
    ),
    "The host names one leaf, and another leaf names the host.": Case(
        {"gpu-1": [hears("nic0", "leaf-0/swp1")], "leaf-1": [hears("swp1", "gpu-1/nic0")]}, "gpu-1/nic0 gpu-1/nic1"
    ),
    # Quiet:
    "Two neighbours on one port, and one of them confirms: that is the true one.": Case(
        {
            "leaf-0": [hears("swp1", "gpu-1/nic0"), hears("swp1", "gpu-2/nic0"), hears("swp2", "gpu-2/nic0")],
            "gpu-1": [hears("nic0", "leaf-0/swp1")],
            "gpu-2": [hears("nic0", "leaf-0/swp2")],
        }
    ),
    "Both ends agree on a wrong pair: that is CAB002 and no contradiction.": Case(
        {"leaf-0": [hears("swp2", "gpu-1/nic0")], "gpu-1": [hears("nic0", "leaf-0/swp2")]}
    ),
}

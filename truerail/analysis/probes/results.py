"""What probes found of each planned NIC, and of the pairs, packets and hosts of each rail: one owner for page, API and
metrics.

A NIC is *reached* if packets that it sent and packets sent to it were tried with a witness, and all of them arrived on
the planned NIC, whole and in their class. What was tried in one direction alone is untried: unknown is never fine.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truerail.analysis.probes.probe_coverage import pairs_of
from truerail.analysis.probes.reached import Reached, reached
from truerail.analysis.probes.troubles import left_out
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.probe_facts import PROBE_FACTS

if TYPE_CHECKING:
    from truerail.analysis.round import Round

NO_NIC, REACHED, LOST, PARTLY, UNTRIED = range(5)
NIC_STATES = ("none", "reached", "lost", "partly", "untried")
"""`lost`: nothing of what was tried arrived. `partly`: some of it did not, or on another NIC, or not whole, or not in
its class; what is lost at a peer that loses everything is the peer's.
"""
PAIR_STATES = ("reached", "lost", "wrong_nic", "implied", "untried")


class Direction(NamedTuple):
    """Flows in one direction by cable, shape (cables,): those that were tried with a witness, those of them of which
    nothing arrived, and those of which something is wrong.
    """

    tried: Codes
    lost: Codes
    faulty: Codes


@dataclass(frozen=True)
class ProbeResults:
    """Columns by cable, shape (cables,), and figures by rail."""

    at: datetime
    """When the oldest part that counts was probed."""
    state: Codes
    """Indices of `NIC_STATES`."""
    out: Direction
    into: Direction
    """Flows that each NIC sent, and flows that were sent to it."""
    pairs: dict[int, tuple[int, ...]]
    """By rail, how many pairs of its NICs are in each of `PAIR_STATES`."""
    packets: dict[int, tuple[int, int]]
    """By rail, packets sent with a witness, and those of them that were not heard."""
    left_out: dict[str, str]
    """Hosts that took no part, and why."""
    hosts: int
    """Hosts that have a recording."""


def probe_results(round: "Round") -> ProbeResults | None:
    """The results of a round's probes; None if it has none."""
    return round.once(_results)


def _results(round: "Round") -> ProbeResults | None:
    if not any(len(round.snapshot.table(kind)) for kind in PROBE_FACTS):
        return None
    readings = [one for one in round.snapshot.readings if one.facts and isinstance(one.facts[0], PROBE_FACTS)]
    flows, index = reached(round), round.cabling.index
    rail, plane = np.append(index.rail, NONE), np.append(index.plane, NONE)
    mine, theirs = flows.cable, flows.peer_cable
    railed = (rail[mine] >= 0) & (rail[mine] == rail[theirs]) & (plane[mine] == plane[theirs])
    judged = railed & flows.judged
    lost = judged & ~flows.arrived
    gone = ((flows.sent > 0) & (flows.heard == 0)).any(axis=1)
    faulty = judged & (gone | flows.refused | (flows.stray.sum(axis=1) > 0) | (flows.rewritten.sum(axis=1) > 0))
    size = len(index.rail)
    out, into = (Direction(*(_count(ends, which, size) for which in (judged, lost, faulty))) for ends in (mine, theirs))
    nic = np.asarray(index.from_host & (index.rail >= 0), dtype=bool)
    return ProbeResults(
        at=min(one.at for one in readings),
        state=_state(nic, flows, judged, lost, faulty),
        out=out,
        into=into,
        pairs=_pairs(flows, judged, lost, rail, pairs_of(round).rest_by_rail),
        packets=_packets(flows, judged & flows.witnessed, rail[mine]),
        left_out=left_out(round),
        hosts=len({one.device for one in readings}),
    )


def _count(ends: Codes, which: Mask, size: int) -> Codes:
    return np.bincount(ends[which], minlength=size)


def _state(nic: Mask, flows: Reached, judged: Mask, lost: Mask, faulty: Mask) -> Codes:
    """What is lost at a NIC that loses everything says nothing of its peers."""
    size = len(nic)
    out, into = (_direction(ends, judged, lost, size) for ends in (flows.cable, flows.peer_cable))
    tried, gone = out[0] + into[0], out[1] + into[1]
    dead = (tried > 0) & (gone == tried)
    by_peer, by_sender = lost & dead[flows.peer_cable], lost & dead[flows.cable]
    out = _direction(flows.cable, judged & ~by_peer, lost, size)
    into = _direction(flows.peer_cable, judged & ~by_sender, lost, size)
    mute, deaf = ((one[0] > 0) & (one[1] == one[0]) for one in (out, into))
    at_peer, at_sender = (lost & deaf[flows.peer_cable]) | by_peer, (lost & mute[flows.cable]) | by_sender
    faults = _count(flows.cable, faulty & ~at_peer, size) + _count(flows.peer_cable, faulty & ~at_sender, size)
    found = np.full(size, UNTRIED, dtype=np.int64)
    found[(out[0] > 0) & (into[0] > 0)] = REACHED
    found[(faults > 0) | mute | deaf] = PARTLY
    found[dead] = LOST
    return np.where(nic, found, NO_NIC)


def _direction(ends: Codes, which: Mask, lost: Mask, size: int) -> tuple[Codes, Codes]:
    return _count(ends, which, size), _count(ends, which & lost, size)


def _pairs(
    flows: Reached, judged: Mask, lost: Mask, rail: Codes, rest: dict[int, tuple[int, int]]
) -> dict[int, tuple[int, ...]]:
    """Of each pair the worst of its flows: lost before the wrong NIC before reached."""
    worst = np.where(lost, 2, np.where(flows.stray.sum(axis=1) > 0, 1, 0))[judged]
    both = np.stack([flows.cable[judged], flows.peer_cable[judged]], axis=1)
    pairs, of = np.unique(both, axis=0, return_inverse=True)
    state = np.zeros(len(pairs), dtype=np.int64)
    np.maximum.at(state, of.ravel(), worst)
    found: dict[int, tuple[int, ...]] = {}
    for number, (implied, untried) in rest.items():
        here = np.bincount(state[rail[pairs[:, 0]] == number], minlength=3).tolist()
        found[number] = (here[0], here[2], here[1], implied, untried)
    return found


def _packets(flows: Reached, which: Mask, rail: Codes) -> dict[int, tuple[int, int]]:
    """Of one flow no more is heard than was sent: a packet that was sent twice by a switch is no second one."""
    sent = flows.sent[which]
    gone = sent - np.minimum(flows.heard[which], sent)
    found = {}
    for number in distinct(rail[which]).tolist():
        here = rail[which] == number
        found[number] = (int(sent[here].sum()), int(gone[here].sum()))
    return found

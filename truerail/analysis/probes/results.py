"""What probes found of each planned NIC, and of the pairs, packets and hosts of each rail: one owner for page, API and
metrics.

A NIC is *reached* if packets that it sent and packets sent to it were tried with a witness, and all of them arrived on
the planned NIC, whole and in their class. What was tried in one direction alone is untried: unknown is never fine.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from truerail.analysis.probes.reached import Reached, reached
from truerail.model.columns import NONE, Codes, Mask, distinct
from truerail.model.names import natural_key
from truerail.model.probe_facts import (
    BUFFER_FULL,
    LEFT_OUT,
    NOT_SENT,
    OUT_OF_TIME,
    PROBE_FACTS,
    STARTED_LATE,
    ProbeTrouble,
)

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
        pairs=_pairs(flows, judged, lost, rail, round.once(pairs_of).rest_by_rail),
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


# ----------------------------------------------------------------------------------------------------------------------
# How much of a fabric a run of probes speaks for: pairs of NICs of one rail that were tried, implied, and neither.
#
# A pair is *implied* where another pair of the same two leaves and rail was tried and arrived: the network between the
# leaves is the same, the two NICs are not. What is neither tried nor implied is untried, and never fine.


class Coverage(NamedTuple):
    """Ordered pairs of planned NICs of one rail and plane, and NICs."""

    tried: int
    implied: int
    untried: int
    nics_tried: int
    nics: int

    @property
    def words(self) -> str:
        """One sentence for people."""
        pairs = f"{self.tried:,} pairs of NICs of one rail tried, {self.implied:,} implied, {self.untried:,} untried"
        return f"Probes: {pairs}; {self.nics_tried:,} of {self.nics:,} NICs tried."


class Pairs(NamedTuple):
    """Ordered pairs of planned NICs of one rail and plane, as matrices by the leaves of the two: all, those that were
    tried, and those that are implied. `rail` is that of each row.
    """

    total: Codes
    tried: Codes
    implied: Codes
    rail: Codes
    nics_tried: int
    nics: int

    @property
    def rest_by_rail(self) -> dict[int, tuple[int, int]]:
        """By rail, how many pairs are implied, and how many neither tried nor implied."""
        untried = self.total - self.tried - self.implied
        rails = ((rail, self.rail == rail) for rail in distinct(self.rail).tolist())
        return {rail: (int(self.implied[here].sum()), int(untried[here].sum())) for rail, here in rails}


def coverage(round: "Round") -> Coverage | None:
    """The coverage of the probes of a round; None if it has none."""
    if not len(reached(round).row):
        return None
    pairs = round.once(pairs_of)
    tried, implied = int(pairs.tried.sum()), int(pairs.implied.sum())
    return Coverage(tried, implied, int(pairs.total.sum()) - tried - implied, pairs.nics_tried, pairs.nics)


def pairs_of(round: "Round") -> Pairs:
    """The pairs of a round's plan, with what its probes say of them. The round owns it."""
    flows, index = reached(round), round.cabling.index
    nics = np.flatnonzero(index.from_host & (index.rail >= 0))
    places = np.stack([index.rail[nics], index.plane[nics], index.b_device[nics]], axis=1)
    group = np.unique(places, axis=0, return_inverse=True)
    of_nic = np.full(len(index.rail), -1, dtype=np.int64)
    of_nic[nics] = group[1].ravel()
    size = np.bincount(group[1].ravel(), minlength=len(group[0]))
    same_rail = (group[0][:, None, :2] == group[0][None, :, :2]).all(axis=2)
    total = np.where(same_rail, size[:, None] * size[None, :] - np.diag(size), 0)
    spoken = (flows.cable >= 0) & (flows.peer_cable >= 0) & flows.judged
    of = of_nic[flows.cable[spoken]], of_nic[flows.peer_cable[spoken]]
    spoken[spoken] = (of[0] >= 0) & (of[1] >= 0) & same_rail[of]
    pairs = np.unique(np.stack([flows.cable[spoken], flows.peer_cable[spoken]], axis=1), axis=0)
    tried = np.zeros_like(total)
    np.add.at(tried, (of_nic[pairs[:, 0]], of_nic[pairs[:, 1]]), 1)
    good = spoken & flows.arrived
    arrived = np.zeros(total.shape, dtype=bool)
    arrived[of_nic[flows.cable[good]], of_nic[flows.peer_cable[good]]] = True
    implied = np.where(arrived, total - tried, 0)
    both = distinct(np.concatenate([pairs[:, 0], pairs[:, 1]]))
    return Pairs(total, tried, implied, group[0][:, 0], len(both), len(nics))


# ----------------------------------------------------------------------------------------------------------------------
# What kept hosts from being good witnesses of their own probes: why parts of a run are unknown.


_SHOWN = 4


def words_of(round: "Round") -> str:
    """One sentence on the hosts that took part, and are no good witnesses; empty if all are."""
    absent = left_out(round)
    found = [f"{host} {why}" for host, why in round.once(troubles).items() if host not in absent]
    if not found:
        return ""
    rest = len(found) - _SHOWN
    more = f"; and {rest:,} host{'s' if rest > 1 else ''} more" if rest > 0 else ""
    return f"Probes: parts are unknown because of the hosts themselves: {'; '.join(found[:_SHOWN])}{more}."


def troubles(round: "Round") -> dict[str, str]:
    """By host, why what was sent by it or to it is unknown. A host that was left out has the reason of that."""
    table = round.snapshot.table(ProbeTrouble)
    amounts: dict[str, Counter[tuple[str, str]]] = {}
    for row, device in zip(table.rows, table.device.tolist(), strict=True):
        detail = row.detail or "" if row.flow is None else ""
        amounts.setdefault(table.devices[device], Counter())[row.what, detail] += row.amount
    said = {host: [_words(*one, count) for one, count in of.items()] for host, of in amounts.items()}
    found = left_out(round) | {host: ", ".join(filter(None, of)) for host, of in said.items() if any(of)}
    return {host: found[host] for host in sorted(found, key=natural_key)}


def left_out(round: "Round") -> dict[str, str]:
    """Hosts that took no part, and why."""
    table = round.snapshot.table(ProbeTrouble)
    rows = (
        (row, device) for row, device in zip(table.rows, table.device.tolist(), strict=True) if row.what == LEFT_OUT
    )
    return {table.devices[device]: row.detail or "no reason is recorded" for row, device in rows}


def _words(what: str, detail: str, amount: int) -> str:
    """Empty for what is no trouble of the host itself, such as a route that it has not."""
    if what == STARTED_LATE:
        return f"began {amount / 1000:.1f} s late"
    if what == BUFFER_FULL:
        return f"dropped {amount:,} packets itself"
    if what == OUT_OF_TIME:
        return f"had no time to send {amount:,} packets"
    if detail.startswith("listening on "):
        return f"could not listen on {detail.removeprefix('listening on ')} ({what})"
    return f"could not send {amount:,} times ({what})" if what in NOT_SENT else ""

"""Why a NIC carries little: congestion holds it up, the NIC at the other end of its flows does, or it is slow itself.

A slow NIC lacks bandwidth in both directions and gets no congestion signs. Congestion leaves signs: notices and pauses
come back to the sending NIC (on InfiniBand it waits for credits), and marked packets reach the receiving NIC, more of
them than reach its peers. They explain no more than NICs with as many signs lack: a NIC can be slow and congested. What
one end of a ring's link sends too slowly, the other receives too slowly: then two NICs look slow in one direction each,
at the same rate. Where the other end has no link, its senders and receivers lack that traffic and are not at fault. The
same applies where a whole host is idle, drained or at the end of its job: on most of its rails some NIC then lacks
nearly all that it sent or received. Arrays have shape (2, hosts, NICs of a host); direction 0 is what a NIC sends, 1
what it receives.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from rules._alike import MORE_THAN_PEERS, Alike, alike_of, of_peers
from rules._congestion import reported_of
from truerail.analysis.cabling import Why as Reason
from truerail.analysis.counters import Quantity, Telemetry
from truerail.analysis.counters.rail_balance import LEAST_NICS, OUTLIER, SHORTFALL, Rails
from truerail.analysis.round import Round
from truerail.model.columns import Codes, Mask, Numbers

Q = Quantity
NOTICES = 100.0
"""Notices handled, or marked packets received, a second from which congestion limits a NIC. A reduced rate recovers
within some milliseconds (DCQCN: Zhu and others, SIGCOMM 2015): rarer notices leave a NIC its rate for most of the time,
and a flow held at its share of an egress gets a thousand a second ("ECN or Delay", CoNEXT 2016, section 3).
"""
PAUSED_ENOUGH = 0.5
"""Share of what a NIC lacks that its pauses must account for, as where causes are correlated. Chosen by judgement."""
SAME_RATE = 0.005
"""Maximum difference between the rates of the two ends of a ring's link, as a share: both count the same bytes over
minutes, at moments that differ by at most one poll.
"""
NEARLY_ALL = 0.1
"""A NIC that carries a smaller share of the expected rate exchanges only management traffic in that direction."""
WAIT_BYTES = 8
"""Bytes that a port could have sent in a tick of `port_xmit_wait`: 8 on Quantum and ConnectX (detection.md 4)."""
TWIN_RATE = 0.05
"""Maximum difference, as a share, between the rates of two NICs that lost the same neighbour: only their jobs are the
same. Chosen by judgement.
"""
ON_ITS_RAILS = 0.5
"""Share of an idle host's rails on which a NIC must lack nearly all before the idle host is taken as the reason: hosts
without a job are idle every day, and one idle NIC of a busy host is a fault. Chosen by judgement.
"""
SURELY = 2.0
"""Standard errors by which a NIC must lack less in its other direction to count as healthy there."""


class Why(Enum):
    """Why a NIC carries little."""

    ITSELF = "itself"
    EITHER = "itself, or the other end of its flows"
    OTHER_END = "the other end of its flows"
    CONGESTION = "congestion"
    GONE = "the other end of its flows has no link"
    LEFT = "the host at the other end of its flows is idle"


@dataclass(frozen=True)
class Directions:
    """`lack` is the share of the expected rate that a NIC lacks, NaN where its host carries too little in that
    direction; `held` is where congestion explains that; `reported` is where congestion would be reported. `gone`, of
    shape (hosts, NICs of a host), are NICs without link.
    """

    rails: Rails
    alike: Alike
    lack: Numbers
    held: Mask
    reported: Mask
    gone: Mask

    @cached_property
    def low(self) -> Mask:
        """Where a NIC lacks much and its host can be evaluated."""
        return np.asarray((self.lack >= -SHORTFALL) & self.rails.evaluated[:, None], dtype=bool)

    @cached_property
    def slow(self) -> Mask:
        """Where a NIC lacks much and gets no congestion signs."""
        return self.low & ~self.held

    def why(self, row: int, nic: int) -> tuple[Why, tuple[int, ...]]:
        """Why a slow NIC carries little, and the ports of the NICs at the other end where they may be the reason. Host
        and NIC are numbers of `Rails`.
        """
        slow = self.slow[:, row, nic]
        gone = self._gone_ends(row, nic)
        if gone and self._lost_its_neighbour(row, nic):
            return Why.GONE, gone
        left = self._left_ends(row, nic)
        if left:
            return Why.LEFT, left
        if slow.all() or not (slow | self.held[:, row, nic]).any():
            return Why.ITSELF, ()
        if not slow.any():
            return Why.CONGESTION, ()
        others, may_be = self._others(int(np.argmax(slow)), row, nic), self._may_be_slow
        if may_be[row, nic]:
            others = [other for other in others if may_be[other]]
        why = Why.EITHER if may_be[row, nic] else Why.OTHER_END
        ports = tuple(int(self.rails.port[other]) for other in others)
        return (why, ports) if ports else (Why.ITSELF, ())

    def _gone_ends(self, row: int, nic: int) -> tuple[int, ...]:
        """The ports of the rail's NICs that have no link."""
        rails = self.rails
        return tuple(rails.port[self.gone & (rails.rail == rails.rail[row, nic])].tolist())

    def _left_ends(self, row: int, nic: int) -> tuple[int, ...]:
        """The ports of the rail's NICs whose whole host is idle, where a NIC lacks nearly all its traffic."""
        if not self._abandoned[row, nic]:
            return ()
        rails = self.rails
        return tuple(rails.port[self._left[:, None] & (rails.rail == rails.rail[row, nic])].tolist())

    @cached_property
    def _abandoned(self) -> Mask:
        """NICs that lack nearly all their traffic in each direction in which they lack much."""
        least = np.where(self.slow, self.lack, np.inf).min(axis=0)
        return np.asarray(self.slow.any(axis=0) & (least > 1 - NEARLY_ALL), dtype=bool)

    @cached_property
    def _left(self) -> Mask:
        """Idle hosts that explain the lack of their neighbours: on most of their rails a NIC of a busy host is
        abandoned.
        """
        rails = self.rails
        idle = ~rails.active & ((~np.isnan(rails.use)).sum(axis=1) >= LEAST_NICS)
        planned = rails.port >= 0
        missed = np.isin(rails.rail, rails.rail[self._abandoned]) & planned
        return np.asarray(idle & (missed.sum(axis=1) >= ON_ITS_RAILS * planned.sum(axis=1)), dtype=bool)

    def _lost_its_neighbour(self, row: int, nic: int) -> bool:
        """Whether a NIC lacks the traffic that it exchanged with a NIC without link. In a ring that is all it sends, or
        all it receives; between two NICs, all; where a NIC has several neighbours, a part of both directions, and
        another neighbour of the NIC without link lacks as much. A slow NIC lacks in both directions, alone.
        """
        slow = self.slow[:, row, nic]
        if not slow.any():
            return False
        if not slow.all():
            others = self._others(int(np.argmax(slow)), row, nic)
            return not others or bool(self.lack[slow, row, nic].min() > 1 - NEARLY_ALL)
        if (self.lack[:, row, nic] > 1 - NEARLY_ALL).all():
            return True
        rates, rail = self.alike.rate, self.rails.rail
        own = rates[:, row, nic][:, None, None]
        with np.errstate(invalid="ignore"):
            alike = (np.abs(rates - own) <= TWIN_RATE * own).all(axis=0) & self.slow.all(axis=0)
        return bool((alike & (rail == rail[row, nic])).sum() > 1)

    def _others(self, way: int, row: int, nic: int) -> list[tuple[int, int]]:
        """NICs of the rail that are slow in the other direction at the same rate."""
        rate, rail = self.alike.rate[way, row, nic], self.rails.rail
        rates, places = self._by_rate[1 - way]
        begin, end = np.searchsorted(rates, [rate * (1 - SAME_RATE), rate * (1 + SAME_RATE)])
        near = places[begin:end]
        return [(host, other) for host, other in near.tolist() if rail[host, other] == rail[row, nic]]

    @cached_property
    def _by_rate(self) -> list[tuple[Numbers, Codes]]:
        """The slow NICs of each direction: sorted rates, and (host, NIC)."""
        found = []
        for rate, slow in zip(self.alike.rate, self.slow, strict=True):
            places = np.argwhere(slow)
            order = np.argsort(rate[slow], kind="stable")
            found.append((rate[slow][order], places[order]))
        return found

    @cached_property
    def _may_be_slow(self) -> Mask:
        """NICs that are not clearly nearer to their expected rate in the other direction, which would show that they
        are healthy.
        """
        most = np.where(self.slow, self.lack, -np.inf).max(axis=0)
        with np.errstate(invalid="ignore"):
            fine = (self.lack < most / 2) & (self.lack + SURELY * self.alike.scatter < most)
        return np.asarray(self.slow.any(axis=0) & ~fine.any(axis=0), dtype=bool)


def directions(round: Round) -> Directions:
    """What the NICs of all hosts lack in each direction, and whether congestion explains it."""
    telemetry, rails = round.telemetry, round.rails
    port = np.maximum(rails.port, 0)
    signs = np.stack([reported_of(telemetry, sign).rate for sign in (Q.CNP_HANDLED, Q.ECN_RECEIVED_PACKETS)])[:, port]
    waits = _waits(telemetry)[port]
    paused = np.fmax(_paused(telemetry, rails)[port], waits)
    alike = alike_of(rails, signs, paused)
    reported = ~np.isnan(signs)
    reported[0] |= ~np.isnan(waits)
    gone = _without_link(telemetry)[port] & (rails.port >= 0)
    return Directions(rails, alike, alike.lack, _held(rails, alike, signs, paused), reported, gone)


def _without_link(telemetry: Telemetry) -> Mask:
    """Planned ports without link, as either end of their cable reports."""
    wiring = telemetry.wiring
    found = np.array(wiring.states.down(np.arange(telemetry.ports)), dtype=bool)
    dark = np.isin(wiring.why, [Reason.LINK_DOWN, Reason.DISABLED, Reason.PENDING, Reason.NIC_ABSENT])
    found[wiring.index.a[dark & (wiring.index.a >= 0)]] = True
    return found


def _held(rails: Rails, alike: Alike, signs: Numbers, paused: Numbers) -> Mask:
    """Where a NIC gets more congestion signs than its peers and lacks no more than NICs with as many; and where its
    additional pauses explain what it lacks.
    """
    lack = alike.lack
    with np.errstate(invalid="ignore"):
        beyond = alike.known & (lack >= -SHORTFALL) & (lack > -OUTLIER * alike.scatter)
        held = (signs >= NOTICES) & (signs > MORE_THAN_PEERS * of_peers(rails, signs, 0.0)) & ~beyond
        held[0] |= paused - alike.paused[0] >= PAUSED_ENOUGH * lack[0]
    return np.asarray(held, dtype=bool)


def _waits(telemetry: Telemetry) -> Numbers:
    """The share of time for which each port had something to send and no credits; NaN where it counts no waits."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(reported_of(telemetry, Q.TRANSMIT_WAIT).rate * WAIT_BYTES / telemetry.speed())


def _paused(telemetry: Telemetry, rails: Rails) -> Numbers:
    """The share of time for which each port was paused on its worst priority, as it or its neighbour counts."""
    peer, share = rails.carried.peer, np.full(telemetry.ports, np.nan)
    for priority in telemetry.priorities(Q.RX_PAUSE_US):
        share = np.fmax(share, telemetry.summed(Q.RX_PAUSE_US, priority).rate / 1e6)
    for priority in telemetry.priorities(Q.TX_PAUSE_US):
        sent = telemetry.summed(Q.TX_PAUSE_US, priority).rate / 1e6
        share = np.fmax(share, np.where(peer >= 0, sent[peer], np.nan))
    return share

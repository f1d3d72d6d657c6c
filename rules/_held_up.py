"""Why a NIC carries little: congestion holds it up, the NIC at the other end of its flows does, or it is slow itself.

What a slow NIC lacks it lacks in both directions, and nobody tells it to slow down. Where congestion is the reason, it
is told: notices and pauses come back to the NIC that sends, marked packets reach the one that receives, more of them
than reach its peers. And what one end of a ring's link sends too slowly the other receives too slowly: then two NICs
look slow in one direction each, with the same rate. Arrays have shape (2, hosts, NICs of a host); direction 0 is what
a NIC sends, 1 what it receives.
"""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np

from rules._congestion import Numbers, told_of
from truerail.model.columns import Codes, Mask
from truerail.model.counters import Quantity
from truerail.model.counters.rails import BUSY, LEAST_NICS, LEAST_PEERS, SHORTFALL, Rails, means, medians
from truerail.model.counters.telemetry import Telemetry

Q = Quantity
NOTICES = 100.0
"""Notices handled, or marked packets received, a second from which congestion holds a NIC up. A rate that is cut is
back within some milliseconds (DCQCN: Zhu and others, SIGCOMM 2015): rarer ones leave a NIC its rate for most of the
time, and what is held at its share of an egress gets a thousand a second ("ECN or Delay", CoNEXT 2016, section 3).
"""
MORE_THAN_PEERS = 1.5
"""Times as much as the median NIC of its rail is told to slow down: what all have explains nobody's lag. Judgement."""
PAUSED_ENOUGH = 0.5
"""Share of what a NIC lacks that its pauses must account for, as where causes are correlated. Judgement."""
SAME_RATE = 0.005
"""How far the rates of the two ends of a ring's link may be apart, as a share of them: both count the same bytes over
minutes, at moments that differ by a poll at most.
"""
FASTER = 0.03
"""How much more a NIC carries in its other direction where it is not slow itself, as a share. Judgement."""


class Why(Enum):
    """Why a NIC carries little."""

    ITSELF = "itself"
    EITHER = "itself, or the other end of its flows"
    OTHER_END = "the other end of its flows"
    CONGESTION = "congestion"


@dataclass(frozen=True)
class Directions:
    """`lack` is the share of its peers' load that a NIC lacks, NaN where its host carries too little that way; `held`
    where congestion explains that; `told` where anybody would tell of congestion. `rate` is in bytes per second.
    """

    rails: Rails
    rate: Numbers
    lack: Numbers
    held: Mask
    told: Mask

    @cached_property
    def low(self) -> Mask:
        """Where a NIC lacks much, of a host of which that means something."""
        with np.errstate(invalid="ignore"):
            return np.asarray((self.lack >= -SHORTFALL) & self.rails.judged[:, None], dtype=bool)

    @cached_property
    def slow(self) -> Mask:
        """Where it lacks much and nobody tells it to slow down."""
        return self.low & ~self.held

    def why(self, row: int, nic: int) -> tuple[Why, tuple[int, ...]]:
        """Why a NIC carries little that does, and the ports of the NICs at the other end where they may be the reason.
        Host and NIC are numbers of `Rails`.
        """
        slow = self.slow[:, row, nic]
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

    def _others(self, way: int, row: int, nic: int) -> list[tuple[int, int]]:
        """NICs of the rail that are slow in the other direction at the same rate."""
        rate, rail = self.rate[way, row, nic], self.rails.rail
        rates, places = self._by_rate[1 - way]
        begin, end = np.searchsorted(rates, [rate * (1 - SAME_RATE), rate * (1 + SAME_RATE)])
        near = places[begin:end]
        return [(host, other) for host, other in near.tolist() if rail[host, other] == rail[row, nic]]

    @cached_property
    def _by_rate(self) -> list[tuple[Numbers, Codes]]:
        """By direction the slow NICs, as rates in order and (host, NIC)."""
        found = []
        for rate, slow in zip(self.rate, self.slow, strict=True):
            places = np.argwhere(slow)
            order = np.argsort(rate[slow], kind="stable")
            found.append((rate[slow][order], places[order]))
        return found

    @cached_property
    def _may_be_slow(self) -> Mask:
        """NICs that carry no more in one direction than in the one in which they are slow: others can, as they show."""
        least = np.where(self.slow, self.rate, np.inf).min(axis=0)
        with np.errstate(invalid="ignore"):
            faster = (self.rate > (1 + FASTER) * least) & ~np.isnan(self.lack)
        return np.asarray(self.slow.any(axis=0) & ~faster.any(axis=0), dtype=bool)


def directions(t: Telemetry, rails: Rails) -> Directions:
    """What the NICs of all hosts lack in each direction, and whether congestion explains it."""
    rate = np.stack([means(rails.tx), means(rails.rx)])
    middle = medians(np.moveaxis(rate, 0, 2), LEAST_NICS).T[:, :, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        middle = np.where(middle >= BUSY * rails.speed / 2, middle, np.nan)
        share = rate / middle
        lack = 1 - share / _of_peers(rails, share, 1.0)
    port = np.maximum(rails.port, 0)
    signs = np.stack([told_of(t, sign).rate[port] for sign in (Q.CNP_HANDLED, Q.ECN_RECEIVED_PACKETS)])
    with np.errstate(invalid="ignore"):
        held = (signs >= NOTICES) & (signs > MORE_THAN_PEERS * _of_peers(rails, signs, 0.0))
        held[0] |= _paused(t, rails)[port] >= PAUSED_ENOUGH * lack[0]
    return Directions(rails, rate, lack, held, ~np.isnan(signs))


def _paused(t: Telemetry, rails: Rails) -> Numbers:
    """The share of time for which each port was paused on its worst priority, as it or its neighbour counts."""
    peer, share = rails.carried.peer, np.full(t.ports, np.nan)
    for priority in t.priorities(Q.RX_PAUSE_US):
        share = np.fmax(share, t.summed(Q.RX_PAUSE_US, priority).rate / 1e6)
    for priority in t.priorities(Q.TX_PAUSE_US):
        sent = t.summed(Q.TX_PAUSE_US, priority).rate / 1e6
        share = np.fmax(share, np.where(peer >= 0, sent[peer], np.nan))
    return share


def _of_peers(rails: Rails, values: Numbers, otherwise: float) -> Numbers:
    """The median over the judged NICs of each NIC's rail, where there are enough of them."""
    found = np.full(values.shape, otherwise)
    for rail in np.unique(rails.rail[rails.rail >= 0]).tolist():
        at = rails.rail == rail
        peers = values[:, at & rails.judged[:, None]]
        middle = medians(peers[:, :, None], LEAST_PEERS)
        found[:, at] = np.where(np.isnan(middle), otherwise, middle)
    return found

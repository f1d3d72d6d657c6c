"""Current traffic and faults of the link of every planned port, for display; rules evaluate longer windows.

What one end sends the other receives, so each value has two sources, and the larger is used, as in `carried`.
"""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.denominators import rdma_priorities, share_of_marked
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.telemetry import LEAST_COVERAGE, Telemetry
from truerail.analysis.ecmp.spread import Spread, spread_of
from truerail.analysis.round import Round
from truerail.model.columns import Codes, Mask, Numbers, ratio
from truerail.model.plan import Role

Q = Quantity
BROKEN = (Q.RX_ERRORS, Q.CRC_ERRORS, Q.FEC_UNCORRECTED)
"""Each counts broken frames that a port receives; the same frame may count in several of them."""


@dataclass(frozen=True)
class Traffic:
    """Means over the newest full minute, shapes (planned ports,), from the port's point of view; NaN is "no data"."""

    speed: Numbers
    """Link speed in bytes per second: as either end reports it, else as planned."""
    sent: Floats
    """Bytes per second, like `received`."""
    received: Floats
    pause_received: Floats
    """Share of time in which the other end paused this one, on the priority with the highest share, 0..1. Unknown where
    only frames are counted: a frame pauses for anything from no time to 65,535 quanta.
    """
    pause_sent: Floats
    marked: Floats
    """Marked share of the RDMA packets that a NIC receives; between switches, of what either sends, in the worse
    direction.
    """
    broken: Floats
    """Broken frames per second received by either end."""
    spread: Spread
    """Balance of every switch's load over its uplinks, over the windows that rules evaluate."""

    @property
    def counted(self) -> Mask:
        """Ports whose link has counters at either end."""
        return np.asarray(~(np.isnan(self.sent) & np.isnan(self.received)), dtype=bool)


def traffic_of(round: Round) -> Traffic | None:
    """Traffic of a round; None if no counters were collected.

    Recomputed with each call, from a window that must not change meanwhile.
    """
    reported = round.telemetry
    if reported.counters is None or not len(reported.counters.order):
        return None
    peer = reported.wiring.peers.planned
    sent, received = summed_minute(reported, Q.TX_BYTES), summed_minute(reported, Q.RX_BYTES)
    stopped, stopping = (largest_minute(reported, quantity) / 1e6 for quantity in (Q.RX_PAUSE_US, Q.TX_PAUSE_US))
    broken = _broken(reported)
    return Traffic(
        speed=_speed(reported, peer),
        sent=np.fmax(sent, _at(received, peer)),
        received=np.fmax(received, _at(sent, peer)),
        pause_received=np.minimum(np.fmax(stopped, _at(stopping, peer)), np.float32(1)),
        pause_sent=np.minimum(np.fmax(stopping, _at(stopped, peer)), np.float32(1)),
        marked=_marked(reported, peer),
        broken=_sum(broken, _at(broken, peer)),
        spread=spread_of(round.plan, round.balance, round.flow_bounds, round.siblings),
    )


def _at(values: Floats, port: Codes) -> Floats:
    """Values of the ports at the other ends; NaN where there is none."""
    return np.where(port >= 0, values[port], np.float32(np.nan)) if len(values) else values


def _sum(one: Floats, other: Floats) -> Floats:
    return np.where(np.isnan(one), other, one + np.nan_to_num(other))


def _speed(telemetry: Telemetry, peer: Codes) -> Numbers:
    """As the port reports it, else its other end, else the plan."""
    own = telemetry.wiring.states.speed_gbps[: telemetry.ports]
    there = np.where(peer >= 0, own[peer], np.nan) if len(own) else own
    return np.where(np.isnan(own) & ~np.isnan(there), there * 1e9 / 8, telemetry.speed())


def _broken(telemetry: Telemetry) -> Floats:
    found = np.full(telemetry.ports, np.nan, dtype=np.float32)
    for quantity in BROKEN:
        found = np.fmax(found, minute_of(telemetry, quantity))
    return found


def _marked(telemetry: Telemetry, peer: Codes) -> Floats:
    index = telemetry.wiring.index
    nic = np.array(index.devices.tier)[index.ports.device_of(np.arange(telemetry.ports))] == Role.HOST.tier
    received = _share(telemetry, Q.ECN_RECEIVED_PACKETS, Q.RX_PACKETS)
    sent = _share(telemetry, Q.ECN_MARKED_PACKETS, Q.TX_PACKETS)
    return np.asarray(np.minimum(np.where(nic, received, np.fmax(sent, _at(sent, peer))), 1), dtype=np.float32)


def _share(telemetry: Telemetry, marks: Quantity, packets: Quantity) -> Floats:
    if not telemetry.counts(marks):
        return np.full(telemetry.ports, np.nan, dtype=np.float32)
    by_priority = np.full(telemetry.ports, np.nan, dtype=np.float32)
    for priority in rdma_priorities(telemetry, packets):
        by_priority = _sum(by_priority, minute_of(telemetry, packets, priority))
    share = share_of_marked(summed_minute(telemetry, marks), by_priority, minute_of(telemetry, packets))
    return share.astype(np.float32)


# ----------------------------------------------------------------------------------------------------------------------
# Current rates of ports: the mean over the newest full minute, by the actual times of the samples.
#
# Less than a minute shows how the seconds of a training step fell, more is no longer current. For a port that is read
# once a minute or less often its newest reading is used, unless the next one is overdue. Arrays have shape (planned
# ports,), counted per second; NaN is "no data in that minute", never zero.


MINUTE_SECONDS = 60.0
OVERDUE = 1.5
"""A reading is overdue when it is older than this many times its own interval."""


def minute_of(telemetry: Telemetry, quantity: Quantity, priority: int | None = None) -> Floats:
    """Rate of each planned port in the newest minute, per second."""
    if telemetry.counters is None:
        return np.full(telemetry.ports, np.nan, dtype=np.float32)
    order, begun = telemetry.counters.order, telemetry.counters.begun
    recent = order[begun[order] > begun[order].max() - MINUTE_SECONDS + telemetry.counters.step_seconds / 2]
    found = telemetry.reduced(
        quantity, priority, 1, lambda gained, span: _means(gained, span, recent, order, begun)[:, None]
    )
    return np.asarray(found[:, 0])


def summed_minute(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """The same over all priorities: from the counter over all priorities, else the sum of the counted priorities."""
    found = minute_of(telemetry, quantity)
    silent = np.isnan(found)
    if silent.any():
        for priority in telemetry.priorities(quantity):
            part = minute_of(telemetry, quantity, priority)[silent]
            found[silent] = np.where(np.isnan(found[silent]), part, found[silent] + np.nan_to_num(part))
    return found


def largest_minute(telemetry: Telemetry, quantity: Quantity) -> Floats:
    """The same for the priority with the highest rate, or for all priorities where they are counted together."""
    found = np.full(telemetry.ports, np.nan, dtype=np.float32)
    for priority in telemetry.priorities(quantity):
        found = np.fmax(found, minute_of(telemetry, quantity, priority))
    return found


def _means(gained: Samples, span: Samples, recent: Codes, order: Codes, begun: Numbers) -> Floats:
    """Per row: rate over the recent samples; where these have a gap, over one sample that itself spans a minute.

    `recent` and `order` are samples, the oldest first.
    """
    counted, seconds = gained.of(recent), span.of(recent)
    total, behind = (np.einsum("ij->i", values) for values in (counted, seconds))
    gaps = np.flatnonzero(np.isnan(total) | np.isnan(behind))
    if len(gaps):
        known = ~np.isnan(counted[gaps]) & ~np.isnan(seconds[gaps])
        total[gaps] = np.where(known, counted[gaps], 0).sum(axis=1)
        behind[gaps] = np.where(known, seconds[gaps], 0).sum(axis=1)
    rate = np.where(behind >= LEAST_COVERAGE * MINUTE_SECONDS, ratio(total, behind), np.nan).astype(np.float32)
    slow = gaps[np.isnan(rate[gaps])]
    if len(slow):
        rate[slow] = _newest(gained.of(order, slow), span.of(order, slow), begun[order])
    return rate


def _newest(gained: Floats, span: Floats, begun: Numbers) -> Floats:
    """The newest sample alone of each row; NaN if it is overdue or shorter than the minute."""
    known = ~np.isnan(gained) & ~np.isnan(span)
    last = known.shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    row = np.arange(len(known))
    seconds = span[row, last]
    fresh = (begun[-1] - begun[last] < OVERDUE * seconds) & (seconds >= LEAST_COVERAGE * MINUTE_SECONDS)
    return np.where(fresh, ratio(gained[row, last], seconds), np.nan).astype(np.float32)

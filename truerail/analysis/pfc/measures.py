"""Measures the waits on one priority: counters of both ends to `PauseEdges`, vectorised over all waits."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from truerail.analysis.cabling.peers import Peers
from truerail.analysis.counters.hygiene import Floats
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.pfc import edges
from truerail.analysis.pfc.cached import paused_per_second, throughout
from truerail.analysis.pfc.edges import PauseEdges
from truerail.model.columns import Codes, Mask, Numbers, ratio

Q = Quantity
NIC_EVENTS = (Q.NIC_STORM_ERRORS, Q.NIC_STORM_WARNINGS)
QUEUE_EVENTS = (Q.WATCHDOG_STORMS, Q.WATCHDOG_DROPS)
"""What a switch's watchdog counts on a queue: storms that begin, and drops while one lasts, also from before the first
poll.
"""
_PAUSES = (Q.RX_PAUSE_US, Q.TX_PAUSE_US, Q.RX_PAUSE_FRAMES, Q.TX_PAUSE_FRAMES, *QUEUE_EVENTS, *NIC_EVENTS)

FLOW_SIGNS = ((Q.TX_BYTES, True), (Q.TX_PACKETS, True), (Q.QUEUE_PACKETS, True), (Q.QUEUE_BYTES, True),
              (Q.RX_BYTES, False), (Q.RX_PACKETS, False))  # fmt: skip
"""Counters that show that traffic of a priority still flows, and whether the waiting port counts them or the other one.
"""


@dataclass(frozen=True)
class Priorities:
    """The counters of one priority, with those over all priorities as fallback where they can only mean this one."""

    reported: Telemetry
    chosen: tuple[int | None, ...]
    last: int

    def part(self, quantity: Quantity, ports: Codes, last: int | None = None) -> tuple[Floats, Floats]:
        """Increments and seconds of some ports in each of the last samples; NaN is "no data"."""
        gained, span = self.reported.part(quantity, self.chosen[0], ports, last or self.last)
        for priority in self.chosen[1:]:
            more, its_span = self.reported.part(quantity, priority, ports, last or self.last)
            gained, span = np.where(np.isnan(gained), (more, its_span), (gained, span))
        return gained, span

    def rate(self, quantity: Quantity, ports: Codes, last: int | None = None) -> Floats:
        """Rates per second of some ports in each of the last samples; NaN is "no data"."""
        gained, span = self.part(quantity, ports, last)
        return ratio(gained, span)

    def reaches(self, quantity: Quantity, per_second: float | Numbers) -> Mask:
        """Planned ports that reached `per_second` in any of the last samples."""
        found = np.zeros(self.reported.ports, dtype=bool)
        for priority in self.chosen:
            found |= self.reported.reaches(quantity, priority, per_second, self.last)
        return found


def polls(telemetry: Telemetry) -> int:
    """Number of polls that a storm is evaluated over: those of a port that is read in every round."""
    return max(edges.POLLS, ceil(edges.POLL_SECONDS / telemetry.pace))


def recent(telemetry: Telemetry) -> int:
    """Number of samples that hold a port's newest polls: twice as many as needed, by the slowest collector. A port that
    is read every 60 seconds fills one in six samples of 10.
    """
    return max(2 * polls(telemetry), ceil(2 * edges.POLLS * slowest_pace(telemetry) / telemetry.pace))


def slowest_pace(telemetry: Telemetry) -> float:
    """Usual seconds between two readings of a port, for the collector of pauses with the lowest rate."""
    sources = telemetry.counters.sources.values() if telemetry.counters else ()
    paces = [source.pace for source in sources if any(quantity in _PAUSES for quantity, _ in source.series)]
    return max([telemetry.pace, *paces])


@dataclass(frozen=True)
class Activity:
    """Planned ports that send or receive enough pauses on a priority to be measured. Shapes (planned ports,)."""

    received: Mask
    sent: Mask

    def __bool__(self) -> bool:
        return bool(self.received.any() or self.sent.any())

    def without(self, *others: "Activity") -> "Activity":
        """Ports that are in none of the others."""
        received, sent = self.received.copy(), self.sent.copy()
        for other in others:
            received &= ~other.received
            sent &= ~other.sent
        return Activity(received, sent)

    def touches(self, peers: Peers) -> Mask:
        """Ports that send pauses, or whose neighbour receives them."""
        inside = (peers.port >= 0) & (peers.port < len(self.received))
        reported = self.received[np.where(inside, peers.port, 0)] if len(inside) else inside
        return np.asarray(self.sent | (inside & reported), dtype=bool)

    @classmethod
    def none(cls, ports: int) -> "Activity":
        """Without any port."""
        return cls(np.zeros(ports, dtype=bool), np.zeros(ports, dtype=bool))


def counters_of(telemetry: Telemetry, priority: int | None, *, totals: bool) -> Priorities:
    """The counters of a priority; `totals` uses those over all priorities where it has none of its own."""
    chosen = (priority, None) if totals and priority is not None else (priority,)
    return Priorities(telemetry, chosen, recent(telemetry))


def activity_of(counters: Priorities) -> Activity:
    """Scans the whole fabric for ports to measure."""
    reported = counters.reported
    duration = min(edges.LEAST_SHARE * 1e6, 0.5 * edges.STORM_PAUSE_US / slowest_pace(reported))
    frames = np.nan_to_num(edges.LEAST_SHARE * reported.speed() * 8 / edges.QUANTUM_BITS)
    received = counters.reaches(Q.RX_PAUSE_US, duration) | counters.reaches(Q.RX_PAUSE_FRAMES, frames)
    for events in QUEUE_EVENTS:
        received |= counters.reaches(events, 0.0)
    sent = counters.reaches(Q.TX_PAUSE_US, duration) | counters.reaches(Q.TX_PAUSE_FRAMES, frames)
    return Activity(received, sent)


def waits_of(counters: Priorities, active: Activity, nics: Mask) -> PauseEdges:
    """Measures every wait on a priority. `nics` are NICs whose own watchdog fired and that report pauses on no
    priority: this priority is assumed for them.
    """
    reported = counters.reported
    peer = reported.wiring.peers.port
    senders = np.flatnonzero(active.sent | nics)
    inside = (peer[senders] >= 0) & (peer[senders] < reported.ports)
    received = active.received.copy()
    received[peer[senders[inside]]] = True
    waiting, lone = np.flatnonzero(received), senders[~inside]
    waiting, on = np.concatenate([waiting, peer[lone]]), np.concatenate([peer[waiting], lone])
    return _measured(counters, waiting, on, nics)


def _measured(counters: Priorities, waiting: Codes, on: Codes, nics: Mask) -> PauseEdges:
    reported = counters.reported
    (received_us, span), (sent_us, sent_span) = counters.part(Q.RX_PAUSE_US, waiting), counters.part(Q.TX_PAUSE_US, on)
    received_us = paused_per_second(received_us, span, reported.pace)
    sent_us = paused_per_second(sent_us, sent_span, reported.pace)
    per_frame = _share_of_a_frame(reported, waiting, on)
    received_frames = np.minimum(counters.rate(Q.RX_PAUSE_FRAMES, waiting) * per_frame, 1)
    sent_frames = np.minimum(counters.rate(Q.TX_PAUSE_FRAMES, on) * per_frame, 1)
    bound = np.fmax(received_frames, sent_frames)
    transitions, counted = counters.part(Q.RX_PAUSE_TRANSITIONS, waiting)
    length = _lengths(received_us, counted, transitions)

    timed = ~np.isnan(received_us) | ~np.isnan(sent_us)
    keep = _newest(np.where(timed.any(axis=1, keepdims=True), timed, ~np.isnan(bound)), polls(reported))
    whole = (throughout(*end, reported.pace) for end in ((received_us, span), (sent_us, sent_span)))
    share = np.minimum(np.fmax(*whole) / 1e6, 1)
    share, bound, length = (np.take_along_axis(column, keep, axis=1) for column in (share, bound, length))
    exact = ~np.isnan(share).all(axis=1)
    hot, bound_hot = share >= edges.STORM_SHARE, ~exact[:, None] & (bound >= edges.STORM_SHARE)
    flow = _flow(counters, waiting, on, keep, hot | bound_hot)
    weight = np.where(exact, _mean(share), _mean(bound))
    watchdog = _watchdog(counters, waiting, on, (weight >= edges.LEAST_SHARE) | _at(nics, on))
    weight = np.where(watchdog & ~(weight >= edges.LEAST_SHARE), 1.0, weight).astype(np.float32)
    return PauseEdges(
        priority=counters.chosen[0], totals=None in counters.chosen, waiting=waiting, on=on, share=weight, exact=exact,
        pause_us=_mean(length), flow=flow, received=_shows(received_us / 1e6, received_frames),
        sent=_shows(sent_us / 1e6, sent_frames), watchdog=watchdog,
        level=_level(hot, bound_hot, length, flow, watchdog),
        stuck=_stuck(share, hot, bound_hot, flow), lasting=_lasting(counters, waiting, on, weight, per_frame),
    )  # fmt: skip


def _share_of_a_frame(telemetry: Telemetry, waiting: Codes, on: Codes) -> Floats:
    """Maximum share of a second that one frame a second pauses for, shape (waits, 1)."""
    of = [_of_planned(telemetry.speed(), end) for end in (waiting, on)]
    bits = np.where(np.isnan(of[0]), of[1], of[0]) * 8
    return ratio(edges.QUANTUM_BITS, bits)[:, None].astype(np.float32)


def _at(ports: Mask, codes: Codes) -> Mask:
    """Whether each of these ports, planned or not, is among the planned ports of `ports`."""
    among = np.append(ports, False)
    found: Mask = among[np.where((codes >= 0) & (codes < len(ports)), codes, len(ports))]
    return found


def _lengths(paused_us: Floats, span: Floats, transitions: Floats) -> Floats:
    """Mean pause in each sample, microseconds. A pause that is not over has no transition yet. If transitions are never
    counted, the platform may not count them, and only a pause without end is accepted.
    """
    counts = np.logical_or((transitions > 0).any(axis=1, keepdims=True), paused_us >= edges.WHOLE_SHARE * 1e6)
    length = paused_us * span / np.maximum(transitions, 1)
    return np.where(counts & (paused_us > 0), length, np.nan).astype(np.float32)


def _newest(known: Mask, number: int) -> Codes:
    """Indices of the newest known samples of every row, oldest first; unknown ones pad the front."""
    return np.argsort(known, axis=1, kind="stable")[:, -number:]


def _twice(hot: Mask) -> Mask:
    """Whether two consecutive polls are hot."""
    return np.asarray((hot[:, 1:] & hot[:, :-1]).any(axis=1), dtype=bool)


def _mean(values: Floats) -> Floats:
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0).sum(axis=1), known.sum(axis=1)).astype(np.float32)


def _shows(share: Floats, bound: Floats) -> Mask:
    return np.asarray((np.where(np.isnan(share), bound, share) >= edges.LEAST_SHARE).any(axis=1), dtype=bool)


def _flow(counters: Priorities, waiting: Codes, on: Codes, keep: Codes, hot: Mask) -> Codes:
    """Whether the priority's traffic stood still while it was paused. Totals can only prove that it did."""
    found = np.full(len(waiting), edges.UNREPORTED, dtype=np.int64)
    rows = np.flatnonzero(hot.any(axis=1))
    if not len(rows):
        return found
    keep, waiting, on = keep[rows], waiting[rows], on[rows]
    exact = Priorities(counters.reported, counters.chosen[:1], counters.last)
    moves, stands = np.zeros(keep.shape, dtype=bool), np.zeros(keep.shape, dtype=bool)
    for quantity, at_waiting in FLOW_SIGNS if exact.chosen[0] is not None else ():
        rate = np.take_along_axis(exact.rate(quantity, waiting if at_waiting else on), keep, axis=1)
        moves, stands = moves | (rate > 0), stands | (rate == 0)
    stands |= _carries_nothing(counters, waiting, on, keep)
    stalled = (hot[rows] & stands & ~moves).any(axis=1)
    flows = (hot[rows] & moves).any(axis=1)
    found[rows] = np.select([stalled, flows], [edges.STALLED, edges.FLOWS], edges.UNREPORTED)
    return found


def _carries_nothing(counters: Priorities, waiting: Codes, on: Codes, keep: Codes) -> Mask:
    """Samples in which these links carry no more than LLDP, BGP, BFD, LACP and pause frames do, by the bytes over all
    priorities of every end that reports them, shape (waits, kept samples).
    """
    reported, shape = counters.reported, keep.shape
    whole = Priorities(reported, (None,), counters.last)
    speed = np.fmax(*(_of_planned(reported.speed(), end) for end in (waiting, on)))
    control = np.where(np.isnan(speed), edges.CONTROL_BYTES_PER_SECOND, edges.NOTHING_SHARE * speed)[:, None]
    small, large = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    for quantity, ends in ((Q.TX_BYTES, waiting), (Q.RX_BYTES, on)):
        rate = np.take_along_axis(whole.rate(quantity, ends), keep, axis=1)
        most = np.fmin(control, edges.NOTHING_OF_BUSY * _when_busy(whole, quantity, ends, control))
        small, large = small | (rate < most), large | (rate >= most)
    return np.asarray(small & ~large, dtype=bool)


def _when_busy(whole: Priorities, quantity: Quantity, ends: Codes, control: Floats) -> Floats:
    """Median load of these ports in samples of the window with traffic, shape (ports, 1); NaN without any."""
    rate = np.sort(whole.rate(quantity, ends, max(whole.reported.samples, 1)), axis=1)  # NaN sorts behind all
    known = np.count_nonzero(~np.isnan(rate), axis=1)
    busy = np.count_nonzero(rate >= control, axis=1)
    median = rate[np.arange(len(rate)), np.maximum(known - 1 - np.maximum(busy - 1, 0) // 2, 0)]
    return np.where(busy > 0, median, np.nan)[:, None]


def _of_planned(values: Numbers, ports: Codes) -> Numbers:
    """Values of a column of planned ports at some ports; NaN at unplanned ports."""
    planned = (ports >= 0) & (ports < len(values))
    return np.asarray(np.append(values, np.nan)[np.where(planned, ports, len(values))], dtype=np.float64)


def _watchdog(counters: Priorities, waiting: Codes, on: Codes, nic_waits: Mask) -> Mask:
    """Waits that a watchdog reported as a storm: the switch's on the paused port, or the NIC's own. A silent watchdog
    proves nothing: watchdogs flap, and miss pauses that a host's software makes.
    """
    word = np.logical_or.reduce([(counters.rate(events, waiting) > 0).any(axis=1) for events in QUEUE_EVENTS])
    nic = Priorities(counters.reported, (None,), counters.last)
    for events in NIC_EVENTS:
        word |= nic_waits & (nic.rate(events, on) > 0).any(axis=1)
    return np.asarray(word, dtype=bool)


def _level(hot: Mask, bound_hot: Mask, length: Floats, flow: Codes, watchdog: Mask) -> Codes:
    long = length >= edges.STORM_PAUSE_US
    storm = watchdog | (_twice(hot) & ((flow == edges.STALLED) | (hot & long).any(axis=1)))
    suspect = _twice(hot) & (flow == edges.UNREPORTED) & np.isnan(length).all(axis=1)
    suspect |= _twice(bound_hot) & (flow == edges.STALLED)
    suspect |= long.any(axis=1)
    return np.select([storm, suspect], [edges.STORM, edges.SUSPECT], edges.NOTHING)


def _stuck(share: Floats, hot: Mask, bound_hot: Mask, flow: Codes) -> Mask:
    """Waits that can form a deadlock: paused for two polls without traffic; where traffic is unknown, paused without
    end.
    """
    endless = _twice(share >= edges.WHOLE_SHARE) & (flow == edges.UNREPORTED)
    return np.asarray(((_twice(hot) | _twice(bound_hot)) & (flow == edges.STALLED)) | endless, dtype=bool)


def _lasting(counters: Priorities, waiting: Codes, on: Codes, weight: Floats, per_frame: Floats) -> Floats:
    """Paused share over the last five minutes, where nearly all samples show it; NaN elsewhere. Measured by the seconds
    of the samples, however far apart they are.
    """
    reported = counters.reported
    found = np.full(len(waiting), np.nan, dtype=np.float32)
    last = max(ceil(edges.SUSTAINED_SECONDS / reported.pace), 1)
    rows = np.flatnonzero(weight >= edges.LEAST_SHARE)
    if not len(rows):
        return found
    waiting, on = waiting[rows], on[rows]
    durations = counters.rate(Q.RX_PAUSE_US, waiting, last), counters.rate(Q.TX_PAUSE_US, on, last)
    frames = counters.rate(Q.RX_PAUSE_FRAMES, waiting, last), counters.rate(Q.TX_PAUSE_FRAMES, on, last)
    share = np.minimum(np.fmax(*durations) / 1e6, 1)
    bound = np.minimum(np.fmax(*frames) * per_frame[rows], 1)
    exact = ~np.isnan(share).all(axis=1)
    values = np.where(exact[:, None], share, bound)
    seconds = np.where(np.isnan(values), 0, _seconds_behind(counters, waiting, on, last))
    least = np.where(exact, edges.LEAST_SHARE, edges.PRESSURE_BOUND)[:, None]
    reported_of = seconds.sum(axis=1)
    lasts = np.where(values >= least, seconds, 0).sum(axis=1) >= edges.SUSTAINED_SAMPLES * reported_of
    lasts &= (reported_of >= edges.LEAST_SUSTAINED_SECONDS) & ~(values[:, -edges.OVER_POLLS :] < least).all(axis=1)
    mean = ratio((np.where(seconds > 0, values, 0) * seconds).sum(axis=1), reported_of)
    found[rows] = np.where(lasts, mean, np.nan)
    return found


def _seconds_behind(counters: Priorities, waiting: Codes, on: Codes, last: int) -> Floats:
    """Seconds of each sample of pauses, from whichever end reports them."""
    found = np.zeros((len(waiting), min(last, counters.reported.samples)), dtype=np.float32)
    for quantity, ends in (
        (Q.RX_PAUSE_US, waiting), (Q.TX_PAUSE_US, on), (Q.RX_PAUSE_FRAMES, waiting), (Q.TX_PAUSE_FRAMES, on),
    ):  # fmt: skip
        found = np.fmax(found, counters.part(quantity, ends, last)[1])
    return found


def risen(counters: Priorities, waiting: Codes, on: Codes) -> Numbers:
    """Time at which each of these waits began to last until now, in Unix seconds; earlier than that where the window
    begins with it; NaN without a wait.
    """
    reported = counters.reported
    samples = max(reported.samples, 1)
    per_frame = _share_of_a_frame(reported, waiting, on)
    share = np.fmax(counters.rate(Q.RX_PAUSE_US, waiting, samples), counters.rate(Q.TX_PAUSE_US, on, samples)) / 1e6
    frames = np.fmax(counters.rate(Q.RX_PAUSE_FRAMES, waiting, samples), counters.rate(Q.TX_PAUSE_FRAMES, on, samples))
    value = np.where(np.isnan(share), frames * per_frame, share)
    begun = reported.counters.begun[reported.counters.order] if reported.counters else np.full(value.shape[1], np.nan)
    calm = value < edges.LEAST_SHARE
    after = value.shape[1] - np.argmax(calm[:, ::-1], axis=1)
    first = np.where(calm.any(axis=1), after, np.argmax(value >= edges.LEAST_SHARE, axis=1))
    shows = (value >= edges.LEAST_SHARE) & (np.arange(value.shape[1]) >= first[:, None])
    return np.where(shows.any(axis=1), begun[np.argmax(shows, axis=1)], np.nan)

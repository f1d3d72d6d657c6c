"""The traffic of a step: rates, and their limits. Arrays over rows are over the parts of flows."""

from dataclasses import dataclass

import numpy as np

from truerail.model.columns import Codes, distinct
from truerail.simulator.traffic.connections import Connections
from truerail.simulator.traffic.flow_routes import Paths, Switching
from truerail.simulator.traffic.net import NOWHERE, Conditions, Marks, Net, Rates

# ----------------------------------------------------------------------------------------------------------------------
# Max-min fair shares: no flow gets more at the cost of one with less. Thousands of flows at once.

_EQUAL = 1e-3
"""Tolerance of equal shares: levels that differ by less are filled together."""
_ROUNDS = 400


@dataclass(frozen=True, slots=True)
class Shares:
    """Each flow's rate in bytes per second, and the hop that limits it; -1 if it gets its full demand."""

    rate: Rates
    tight: Codes


def fair_shares(hops: Codes, wish: Rates, capacity: Rates) -> Shares:
    """Shares of flows over links. `hops` has shape (flows, hops), with -1 after the last; `capacity` is by link.

    In each round every flow that gets its full demand is served, and every link that is the tightest of all of its
    flows is divided among them. No later round can change either: shares only grow.
    """
    rate, tight = np.zeros(len(hops)), np.full(len(hops), NOWHERE)
    room = np.append(capacity, np.inf)  # hop -1 is the last: room for all
    links = len(room)
    open_flows = np.flatnonzero((wish > 0) & (hops[:, 0] >= 0))
    for _ in range(_ROUNDS):
        if not len(open_flows):
            break
        path = hops[open_flows] % links
        count = np.bincount(path.ravel(), minlength=links)
        share = np.maximum(room, 0.0) / np.maximum(count, 1)
        share[-1] = np.inf
        at = share[path]
        least = at.min(axis=1)
        served = wish[open_flows] <= least
        if not served.any():
            limits = _limits(path, at, least, count)
            served = limits.any(axis=1)
            tight[open_flows[served]] = limits[served].argmax(axis=1)
        done = open_flows[served]
        rate[done] = np.minimum(wish[done], least[served])
        room -= np.bincount(path[served].ravel(), weights=np.repeat(rate[done], hops.shape[1]), minlength=links)
        room[-1] = np.inf
        open_flows = open_flows[~served]
    return Shares(rate, tight)


def _limits(path: Codes, at: Rates, least: Rates, count: Codes) -> Marks:
    """The hops of flows over a link that is the tightest of all its flows, shape (flows, hops)."""
    tightest = at <= (least * (1 + _EQUAL))[:, None]
    wins = np.bincount(path.ravel(), weights=tightest.ravel(), minlength=len(count))
    return np.asarray(tightest & (wins == count)[path], dtype=bool)


# ----------------------------------------------------------------------------------------------------------------------
# The traffic of a step: rates, and their limits. Arrays over rows are over the parts of flows.

TRICKLE = 1e6
"""Rate of a flow into a switch that drops all of it: occasional retries, in bytes per second."""


@dataclass(frozen=True)
class Load:
    """`wish` is a row's demand, `burst` its rate while it sends, `mean` its mean over the whole step, in bytes per
    second; `busy` is the share of the step in which it has data to send. `tight` is the hop that limits it, -1 if none
    does. `blocked` ports (shape (ports,)) wait for a storm or in a deadlock.
    """

    paths: Paths
    wish: Rates
    burst: Rates
    mean: Rates
    busy: Rates
    tight: Codes
    blocked: Marks


@dataclass(frozen=True)
class Standing:
    """The part of a load that stays from step to step while jobs, links and faults are unchanged: see `Load`. `stopped`
    rows wait for a blocked port, `dropped` ones end at a switch that drops them all.
    """

    paths: Paths
    wish: Rates
    shares: Shares
    blocked: Marks
    stopped: Marks
    dropped: Marks


def standing_of(net: Net, flows: Connections, paths: Paths, now: Conditions, switching: Switching) -> Standing:
    """The rates that flows may have."""
    wish = _wishes(net, flows, paths, now)
    swallowed = _swallowing(net, now, switching)
    waiting = waiting_ports(net, paths.hops, now, wish > 0, swallowed)
    blocked = waiting | swallowed
    stopped = _touches(paths.hops, blocked) & (wish > 0)
    room = net.speed * now.capacity
    nics = np.flatnonzero(now.accept < 1)
    room[net.far[nics]] *= now.accept[nics]
    shares = fair_shares(paths.hops, np.where(stopped, 0.0, wish), room)
    dropped = _touches(paths.hops, swallowed) & ~_touches(paths.hops, waiting)
    return Standing(paths, wish, shares, blocked, stopped, dropped)


def load_of(standing: Standing, flows: Connections, now: Conditions, noise: Rates) -> Load:
    """The load of one step. `noise` is by flow: its relative deviation from the usual demand."""
    paths, shares = standing.paths, standing.shares
    mean, busy = _paced(flows, paths, shares.rate, noise, now)
    mean = np.where(standing.dropped, TRICKLE, mean)
    busy = np.where(standing.stopped, 1.0, busy)
    return Load(paths, standing.wish, shares.rate, mean, busy, shares.tight, standing.blocked)


def _wishes(net: Net, flows: Connections, paths: Paths, now: Conditions) -> Rates:
    """The rate of each row if limited only by its own NIC."""
    flow = paths.flow
    weight = np.where(paths.hops[:, 0] >= 0, flows.weight[flow], 0.0)
    source = flows.source[flow]
    parts = np.bincount(flow, minlength=len(flows))[flow]
    wanted = net.speed[source] * weight / parts
    total = np.bincount(source, weights=wanted, minlength=len(net.ports))
    room = net.speed * now.capacity
    return np.asarray(wanted * np.minimum(1.0, room[source] / np.maximum(total[source], 1.0)))


def _swallowing(net: Net, now: Conditions, switching: Switching) -> Marks:
    """Ports whose watchdog drops everything: those facing a NIC that pauses for ever."""
    marks = np.zeros(len(net.ports), dtype=bool)
    if switching.watchdog:
        marks[facing(net, now.storming)] = True
    return marks


def facing(net: Net, nics: Marks) -> Codes:
    """The ports that these NICs are plugged into."""
    far = net.far[np.flatnonzero(nics)]
    return far[far >= 0]


def waiting_ports(net: Net, hops: Codes, now: Conditions, sends: Marks, swallowed: Marks) -> Marks:
    """Ports that may not send at all. A waiting port fills the buffers behind it, and their senders wait too."""
    spread = now.stuck.copy()
    spread[facing(net, now.storming)] = True
    spread &= ~swallowed
    active = hops[sends]
    while True:
        behind = active[:, :-1][(active[:, 1:] >= 0) & spread[active[:, 1:]]]
        new = distinct(behind[(behind >= 0) & ~spread[behind]])
        if not len(new):
            return spread
        spread[new] = True


def _touches(hops: Codes, ports: Marks) -> Marks:
    return np.asarray((ports[hops] & (hops >= 0)).any(axis=1), dtype=bool)


def _paced(flows: Connections, paths: Paths, burst: Rates, noise: Rates, now: Conditions) -> tuple[Rates, Rates]:
    """The mean rate of each row and its share of time sending: it computes, sends, and waits for the others.

    A flow slowed by its NIC (`pace`) slows the others as far as the job is coupled.
    """
    flow = paths.flow
    job = flows.job[flow]
    volume = _column(flows, "gigabytes")[job] * 1e9 * flows.weight[flow] * noise[flow]
    parts = np.bincount(flow, minlength=len(flows))[flow]
    volume = volume / parts
    with np.errstate(divide="ignore", invalid="ignore"):
        sending = np.where(burst > 0, volume / burst, np.inf)
    on_way = paths.hops[:, 0] >= 0
    slowest = np.zeros(len(flows.jobs))
    np.maximum.at(slowest, job[on_way], sending[on_way])
    coupling, compute = _column(flows, "coupling")[job], _column(flows, "compute_seconds")[job]
    stuck = ~np.isfinite(sending)
    own = np.where(stuck, 1.0, sending)
    waited = np.where(coupling > 0, np.inf, 0.0)
    slow = slowest[job]
    np.multiply(coupling, slow, out=waited, where=np.isfinite(slow))
    taken = np.maximum(own, (1 - coupling) * own + waited)
    pace = _pace(flows, now)[flow]
    mean = np.where(stuck, 0.0, volume / (compute + taken)) * pace
    return mean, np.where(stuck, 0.0, own / (compute + taken))


def _pace(flows: Connections, now: Conditions) -> Rates:
    own = np.minimum(now.pace[flows.source], now.pace[flows.target])
    least = np.ones(len(flows.jobs))
    np.minimum.at(least, flows.job, own)
    coupling = _column(flows, "coupling")[flows.job]
    return np.asarray((1 - coupling) * own + coupling * least[flows.job])


def _column(flows: Connections, name: str) -> Rates:
    return np.array([getattr(job, name) for job in flows.jobs], dtype=np.float64)


def held_back(load: Load) -> Marks:
    """Rows limited by a switch: they get less than their demand, at a hop after their own NIC."""
    return np.asarray((load.tight > 0) & (load.burst < 0.98 * load.wish), dtype=bool)


def tight_port(load: Load) -> Codes:
    """The port that limits each row; -1 if none does."""
    rows = np.arange(len(load.tight))
    return np.where(held_back(load), load.paths.hops[rows, np.maximum(load.tight, 0)], NOWHERE)


# ----------------------------------------------------------------------------------------------------------------------
# Back-pressure: which ports are paused, for what share of the time, and how long at a time.
#
# A port that receives more than it can send fills its switch's buffers; the switch pauses the ports that fill them, at
# the other ends of its links, and these fill theirs: so pauses propagate towards the senders. If ECN slows the senders
# first, less is left for pauses, and less at each further switch.

WITH_ECN, WITHOUT_ECN = 0.5, 0.9
"""Share of the excess that a switch propagates upstream as pauses."""
STORM_SHARE = 0.985
"""Share of the time for which a storm pauses a port: NICs refresh their pause a little late now and then."""
STORM_SECONDS = 1.5
CONGESTION_SECONDS = (30e-6, 200e-6)
SLOW_NIC_SECONDS = (100e-6, 900e-6)
"""How long a pause lasts: a buffer drains within microseconds, a host's PCIe catches up within a millisecond, a storm
ends by chance.
"""
MOST = 0.95


@dataclass(frozen=True)
class Pauses:
    """By the port that is paused, shape (ports,): the share of the time, and the length of one pause in seconds."""

    share: Rates
    seconds: Rates


def pauses_of(net: Net, load: Load, now: Conditions, switching: Switching, length: Rates) -> Pauses:
    """The pauses of a step. `length` in [0, 1) is the position of each port's pause length in its range."""
    share = np.zeros(len(net.ports))
    seconds = _within(CONGESTION_SECONDS, length)
    if switching.lossless:
        share = pressure(net, load, held_back(load), switching)
        _slow_nics(net, load, now, share, seconds, length)
    stopped = np.flatnonzero(load.blocked)
    share[stopped], seconds[stopped] = STORM_SHARE - 0.02 * length[stopped], STORM_SECONDS * (0.5 + length[stopped])
    return Pauses(share, seconds)


def pressure(net: Net, load: Load, rows: np.ndarray[tuple[int], np.dtype[np.bool_]], switching: Switching) -> Rates:
    """The share of time for which each port is paused because of these rows' excess."""
    hand_on = WITH_ECN if switching.ecn else WITHOUT_ECN
    excess = np.where(rows, (load.wish - load.burst) * load.busy, 0.0)
    total = np.zeros(len(net.ports))
    for hop in range(load.paths.hops.shape[1] - 1):
        before = rows & (load.tight > hop)
        ports = load.paths.hops[before, hop]
        handed = excess[before] * hand_on ** (load.tight[before] - hop)
        total += np.bincount(ports, weights=handed, minlength=len(total))
    return np.minimum(total / net.speed, MOST)


def _slow_nics(net: Net, load: Load, now: Conditions, share: Rates, seconds: Rates, length: Rates) -> None:
    """NICs that accept less than their link carries pause the leaf themselves."""
    for nic in np.flatnonzero(now.accept < 1).tolist():
        port = int(net.far[nic])
        wish, busy = _offered(load, port)
        if port >= 0 and wish > now.accept[nic] * net.speed[port]:
            share[port] = max(share[port], (1 - now.accept[nic] * net.speed[port] / wish) * busy)
            seconds[port] = _within(SLOW_NIC_SECONDS, length[[port]])[0]


def _offered(load: Load, port: int) -> tuple[float, float]:
    """The demand on a port in bytes per second, and for which share of the time."""
    rows = (load.paths.hops == port).any(axis=1)
    return float(load.wish[rows].sum()), float(load.busy[rows].max(initial=0.0))


def _within(limits: tuple[float, float], where: Rates) -> Rates:
    return np.asarray(limits[0] + (limits[1] - limits[0]) * where)


def pause_frames_per_second(speed: Rates, share: Rates, seconds: Rates) -> Rates:
    """Frames of such pauses: one to pause, one to resume, and one each time before a pause would expire.

    A quantum is 512 bit times, a frame has 65,535 at most (IEEE 802.1Qbb); senders refresh at 80 % of that.
    """
    refresh = 0.8 * 65535 * 512 / (speed * 8)
    return np.asarray(2 * share / seconds + np.where(seconds > refresh, share / refresh, 0.0))


def behind(net: Net, load: Load, root: int) -> tuple[tuple[int, int], ...]:
    """The ports that wait for a blocked port: (port, hops from the port), the port itself with 0."""
    distance = {root: 0}
    front = [root]
    hops: Codes = load.paths.hops[load.wish > 0]
    while front:
        waits = hops[:, :-1][np.isin(hops[:, 1:], front)]
        front = [port for port in distinct(waits).tolist() if port >= 0 and port not in distance]
        step = max(distance.values()) + 1
        distance.update((port, step) for port in front)
    return tuple(distance.items())

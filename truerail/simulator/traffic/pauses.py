"""Back-pressure: which ports are paused, for what share of the time, and how long at a time.

A port that receives more than it can send fills its switch's buffers; the switch pauses the ports that fill them, at
the other ends of its links, and these fill theirs: so pauses propagate towards the senders. If ECN slows the senders
first, less is left for pauses, and less at each further switch.
"""

from dataclasses import dataclass

import numpy as np

from truerail.model.columns import Codes, distinct
from truerail.simulator.traffic.flow_routes import Switching
from truerail.simulator.traffic.load import Load, held_back
from truerail.simulator.traffic.net import Conditions, Net, Rates

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


def transitions_per_second(share: Rates, seconds: Rates) -> Rates:
    """How often a paused port resumes."""
    return np.asarray(share / seconds)


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

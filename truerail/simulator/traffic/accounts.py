"""From flows to port counters: one step's increments of every quantity."""

from dataclasses import dataclass

import numpy as np

from truerail.analysis.counters.quantities import Quantity
from truerail.model.columns import Codes
from truerail.simulator.traffic.connections import Connections
from truerail.simulator.traffic.flow_routes import Switching
from truerail.simulator.traffic.ledger import KEYS, PLACE, Q
from truerail.simulator.traffic.load import Load, Pauses, facing, held_back, pause_frames_per_second, tight_port
from truerail.simulator.traffic.net import Conditions, Net, Rates

PACKET_BYTES = 4166
"""A packet of 4096 bytes with the headers of RoCEv2."""
BACKGROUND = 2000.0
"""Bytes per second of everything else on each live link and direction: routing, LLDP, acknowledgements."""
CNP_PER_QP = 20_000.0
"""Most congestion notifications per second and queue pair from a receiver: one in 50 microseconds (DCQCN)."""
TIMEOUT_SECONDS = 4.3
"""A queue pair without an answer retries after this time (local ack timeout 20)."""
MARK_PACE = 55e-6
"""Seconds between a NIC's cuts, and between its raises, of a rate (DCQCN: Zhu and others, SIGCOMM 2015)."""
MARK_RAISE, MARK_BYTES = 40e6 / 8, 10e6
"""Bytes per second of each increase of a rate, and bytes that also trigger one (DCQCN, as above)."""
PAUSE_FRAME_BYTES = 64
"""Some ASICs exclude them from a port's bytes; those that count them are harder to evaluate."""
_DROPS = 0.02
"""Dropped share of the excess traffic without pauses; the senders slow down for the rest."""
_QUIET_QUEUE, _FULL_QUEUE = 150e3, 12e6
_FEC_BITS, _FEC_SYMBOL_BITS, _FEC_FRAMES = 5440, 10, 0.05
"""Bits of an RS-544 codeword and symbol; uncorrectable codewords of a lossy link as a share of lost frames."""


@dataclass
class Gains:
    """The increments of a step, shape (quantities, ports)."""

    of: Rates

    def add(self, quantity: Quantity, values: Rates, *, rdma: bool = False) -> None:
        """Adds to one quantity, by port."""
        self.of[PLACE[quantity, rdma]] += values


@dataclass(frozen=True)
class Step:
    """All data of a step."""

    net: Net
    flows: Connections
    load: Load
    pauses: Pauses
    now: Conditions
    switching: Switching
    noise: Rates
    seconds: float

    @property
    def ports(self) -> int:
        """The number of ports."""
        return len(self.net.ports)

    def by_port(self, port: Codes, values: Rates) -> Rates:
        """Sums of values by port; -1 is ignored."""
        known = port >= 0
        return np.bincount(port[known], weights=values[known], minlength=self.ports).astype(np.float64)


def gains_of(step: Step) -> Rates:
    """The increments of every port in this step, shape (quantities, ports)."""
    gains = Gains(np.zeros((len(KEYS), step.ports)))
    lost = _traffic(step, gains)
    _losses(step, gains, lost)
    _pauses(step, gains)
    _marks(step, gains)
    _signal(step, gains)
    _nics(step, gains)
    return gains.of


def _traffic(step: Step, gains: Gains) -> Rates:
    """Bytes and packets along every path. Returns the lost packets of each row."""
    net, hops = step.net, step.load.paths.hops
    dropping = drop_shares(step)
    carried = step.load.mean * step.seconds
    sent, arrived, dropped = np.zeros(step.ports), np.zeros(step.ports), np.zeros(step.ports)
    begun = carried.copy()
    for hop in range(hops.shape[1]):
        port = hops[:, hop]
        on = port >= 0
        here = np.where(on, dropping[port], 0.0) * carried
        dropped += step.by_port(port, here)
        carried = carried - here
        sent += step.by_port(port, carried)
        carried = np.where(on, carried * (1 - step.now.lost[net.far[port]]), carried)
        arrived += step.by_port(np.where(on, net.far[port], -1), np.where(on, carried, 0.0))
    other = np.where(net.live & ~step.now.down, BACKGROUND * step.seconds, 0.0)
    for quantity, values, extra in ((Q.TX_BYTES, sent, other), (Q.RX_BYTES, arrived, other)):
        gains.add(quantity, values + extra)
        gains.add(quantity, values, rdma=True)
    for quantity, values in ((Q.TX_PACKETS, sent), (Q.RX_PACKETS, arrived)):
        gains.add(quantity, (values + other / 10) / PACKET_BYTES)
        gains.add(quantity, values / PACKET_BYTES, rdma=True)
    gains.add(Q.TX_DISCARDS, dropped / PACKET_BYTES)
    gains.add(Q.QUEUE_DROPS, dropped / PACKET_BYTES, rdma=True)
    return np.where(hops[:, 0] >= 0, (begun - carried) / PACKET_BYTES, 0.0)


def drop_shares(step: Step) -> Rates:
    """The dropped share of each port's arriving traffic, shape (ports,)."""
    load, drops = step.load, np.zeros(step.ports)
    if not step.switching.lossless:
        rows = held_back(load)
        tight = tight_port(load)
        excess, wish = step.by_port(tight, load.wish - load.burst), step.by_port(tight, load.wish)
        drops[tight[rows]] = (_DROPS * excess / np.maximum(wish, 1.0))[tight[rows]]
    if step.switching.watchdog:
        drops[facing(step.net, step.now.storming)] = 1.0
    return drops


def _losses(step: Step, gains: Gains, lost: Rates) -> None:
    """NICs' counters of lost packets and of timeouts."""
    flow = step.load.paths.flow
    gains.add(Q.OUT_OF_SEQUENCE, step.by_port(step.flows.target[flow], lost))
    gains.add(Q.PACKET_SEQUENCE_ERRORS, step.by_port(step.flows.source[flow], lost * 0.9))
    silent = (step.load.burst == 0) & (step.load.wish > 0) & (step.load.busy >= 1)
    hopeless = step.load.paths.hops[:, 0] < 0
    tries = np.where(silent | hopeless, step.seconds / TIMEOUT_SECONDS, 0.0) + lost * 0.02
    gains.add(Q.ACK_TIMEOUTS, step.by_port(step.flows.source[flow], tries))


def _pauses(step: Step, gains: Gains) -> None:
    """The paused port receives pauses and its peer sends them; both count their bytes."""
    share, length = step.pauses.share, step.pauses.seconds
    speed, paused = step.net.speed, np.flatnonzero(share > 0)
    us, frames, ends = np.zeros(step.ports), np.zeros(step.ports), np.zeros(step.ports)
    us[paused] = share[paused] * step.seconds * 1e6
    frames[paused] = pause_frames_per_second(speed[paused], share[paused], length[paused]) * step.seconds
    ends[paused] = share[paused] / length[paused] * step.seconds  # how often they resume
    for quantity, values in ((Q.RX_PAUSE_US, us), (Q.RX_PAUSE_FRAMES, frames), (Q.RX_PAUSE_TRANSITIONS, ends)):
        gains.add(quantity, values, rdma=True)
    far = step.net.far[paused]
    for quantity, values in ((Q.TX_PAUSE_US, us), (Q.TX_PAUSE_FRAMES, frames)):
        gains.add(quantity, step.by_port(far, values[paused]), rdma=True)
    gains.add(Q.TX_BYTES, PAUSE_FRAME_BYTES * step.by_port(far, frames[paused]))
    gains.add(Q.RX_BYTES, PAUSE_FRAME_BYTES * frames)


def _marks(step: Step, gains: Gains) -> None:
    """ECN marks at growing queues, congestion notifications in return, and queue levels."""
    load = step.load
    tight, rows = tight_port(load), held_back(load)
    excess = np.where(rows, 1 - load.burst / np.maximum(load.wish, 1.0), 0.0)
    share = np.where(rows, _marked_share(step, tight), 0.0)
    marked = share * load.mean * step.seconds / PACKET_BYTES * step.switching.ecn
    gains.add(Q.ECN_MARKED_PACKETS, step.by_port(tight, marked), rdma=True)
    source, target = step.flows.source[load.paths.flow], step.flows.target[load.paths.flow]
    gains.add(Q.ECN_RECEIVED_PACKETS, step.by_port(target, marked))
    notified = np.minimum(marked, CNP_PER_QP * step.seconds)
    gains.add(Q.CNP_SENT, step.by_port(target, notified))
    gains.add(Q.CNP_HANDLED, step.by_port(source, notified))
    full = np.zeros(step.ports)
    np.maximum.at(full, tight[rows], np.minimum(1.0, 0.1 + excess[rows]))
    full[load.blocked] = 1.0
    jitter = np.resize(step.noise, step.ports) if len(step.noise) else np.ones(step.ports)
    gains.add(Q.QUEUE_WATERMARK_BYTES, np.maximum(0, _QUIET_QUEUE * jitter) + _FULL_QUEUE * full, rdma=True)


def _marked_share(step: Step, port: Codes) -> Rates:
    """The share of packets that a port with this many flows marks, by row.

    These marks keep the flows at their fair shares: DCQCN's fixed point, for small shares (Zhu and others, "ECN or
    Delay", CoNEXT 2016). It grows with the number of flows: two in ten thousand for two, one in a hundred for forty.
    """
    flows = step.by_port(port, np.ones(len(port)))[port]
    packets = step.net.speed[port] / PACKET_BYTES
    raised = MARK_RAISE / PACKET_BYTES * flows**2 / (MARK_PACE * packets**2)
    often = PACKET_BYTES / MARK_BYTES + flows / (MARK_PACE * packets)
    return np.asarray(np.minimum(1.0, np.cbrt(raised * often**2)))


def _signal(step: Step, gains: Gains) -> None:
    """Corrected and uncorrectable errors at receivers, and links that go down."""
    net, now = step.net, step.now
    up = np.where(net.live & ~now.down, step.seconds, 0.0)
    bits = net.speed * now.capacity * 8 * up
    gains.add(Q.RX_BITS, bits)
    mended = now.bit_errors * bits
    gains.add(Q.CORRECTED_BITS, mended)
    codewords = np.minimum(mended, bits / _FEC_BITS)
    gains.add(Q.FEC_CORRECTED, codewords)
    gains.add(Q.FEC_SYMBOLS, np.maximum(codewords, np.minimum(mended, bits / _FEC_SYMBOL_BITS)))
    broken = now.lost * (gains.of[PLACE[Q.RX_PACKETS, False]] / np.maximum(1 - now.lost, 1e-9))
    idle = np.where(now.lost > 0, up * now.lost * 1e4, 0.0)
    gains.add(Q.RX_ERRORS, broken)
    gains.add(Q.FEC_UNCORRECTED, broken * _FEC_FRAMES + idle)
    gains.add(Q.SYMBOL_ERRORS, broken + idle)
    gains.add(Q.LINK_DOWNS, now.downs)


def _nics(step: Step, gains: Gains) -> None:
    """NICs' counters about their hosts, and the watchdogs of both ends."""
    net, now, one = step.net, step.now, np.ones(step.ports)
    hindered = step.pauses.share[net.far] > 0.02
    gains.add(Q.PCI_STALLED_EVENTS, np.where(now.pcie & hindered, step.seconds, 0.0))
    gains.add(Q.OUT_OF_BUFFER, np.where(now.application & hindered, 900.0 * step.seconds, 0.0))
    gains.add(Q.RNR_NAKS, np.where(now.application & hindered, 15.0 * step.seconds, 0.0))
    gains.add(Q.NIC_STORM_WARNINGS, np.where(now.warning, one, 0.0))
    if step.switching.watchdog:
        stormed = np.zeros(step.ports)
        stormed[facing(net, now.storming)] = 1.0
        gains.add(Q.WATCHDOG_STORMS, stormed, rdma=True)
    gains.add(Q.FLOWS, step.flows.queue_pairs(step.ports).astype(np.float64))

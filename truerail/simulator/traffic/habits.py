"""Counters of healthy devices that look faulty: old errors, trickles, short pauses, bursts at link-up, corrected
symbols, caches. Each habit is a flag; its size is that observed on healthy hosts and ports.

Sources: a ConnectX-7's counters on a working cluster (out_of_sequence 1,811,101), a bnxt's (rx_discards 11,763,190),
sonic-utilities PR#4124 (four uncorrectable frames at link-up), sonic-swss PR#3757 (corrected symbols beside corrected
codewords; pre-FEC 1e-12 to 2e-9 on eight ports), sonic-buildimage#26839 (a port without FEC freezes), sonic-swss
portsorch.cpp (counters are refreshed every 1, 10 or 60 s), net-snmp#1029 (a cache of seconds), bnxt.h (one second),
mlx5's counters.rst (pauses of a priority are there where PFC is on for it), EOS' and NX-OS' pause frames over all
priorities, and `N/A` in SONiC's tables where an ASIC does not count.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truerail.model.columns import grouped
from truerail.simulator.traffic.accounts import PAUSE_FRAME_BYTES, Step
from truerail.simulator.traffic.ledger import GLOBAL_PAUSE, NOT_COUNTED, PFC_MISSING, PFC_TOTALS, PLACE, Key, Ledger, Q
from truerail.simulator.traffic.net import Rates

OLD_COUNTS, WRAP_SOON, TRICKLE, SOFT_PAUSE, LINK_UP = "old_counts", "wrap32", "trickle", "soft_pause", "plug_burst"
FROZEN, BIT_ERRORS = "counters_frozen", "fec_healthy"
SYMBOLS_AFTER, SYMBOLS_NONE = "symbol_is_post", "symbol_is_none"
PAUSES_UNCOUNTED, SNMP_CACHE, BNXT_CACHE = "pause_not_in_bytes", "snmp_cache", "stats_period=1s"
SONIC_FLEX, SONIC_SLOW = "sonic_flex=10s", "sonic_flex=60s"
PORT_CACHE = "port_cache"
"""Agents that refresh one port after the other, each every 40 s."""
GAPS = (PFC_MISSING, PFC_TOTALS, NOT_COUNTED)
"""Missing counters: pauses on one host, pauses by priority on switches, some counters on some switches."""
HABITS = (
    OLD_COUNTS, WRAP_SOON, TRICKLE, SOFT_PAUSE, LINK_UP, FROZEN, BIT_ERRORS, SYMBOLS_AFTER, SYMBOLS_NONE,
    PAUSES_UNCOUNTED, SNMP_CACHE, BNXT_CACHE, SONIC_FLEX, SONIC_SLOW, *GAPS,
    PORT_CACHE,
)  # fmt: skip
MISCONFIGURED = (GLOBAL_PAUSE,)
"""No habit of healthy devices, and never drawn: a host whose links have global pause on in place of PFC."""
LATER = (*GAPS, PORT_CACHE)
"""Drawn from their own random numbers: former runs keep their draws."""
_SWITCHES, _QUEUES = ("port_counters", "pfc_counters"), ("queue_counters",)
_EVERYTHING = (*_SWITCHES, *_QUEUES, "nic_counters", "rdma_counters")
REFRESH_SECONDS: Mapping[str, Mapping[str, float]] = {
    PORT_CACHE: dict.fromkeys(_EVERYTHING, 40.0),
    SNMP_CACHE: dict.fromkeys((*_SWITCHES, *_QUEUES), 30.0),
    BNXT_CACHE: dict.fromkeys(("nic_counters", "rdma_counters"), 1.0),
    SONIC_FLEX: {**dict.fromkeys(_SWITCHES, 1.0), **dict.fromkeys(_QUEUES, 10.0)},
    SONIC_SLOW: {**dict.fromkeys(_SWITCHES, 10.0), **dict.fromkeys(_QUEUES, 60.0)},
}
"""How often a device refreshes a collector's counters."""
_OLD: Mapping[Key, int] = {
    (Q.OUT_OF_SEQUENCE, False): 1_811_101,
    (Q.PACKET_SEQUENCE_ERRORS, False): 52_214,
    (Q.RX_DISCARDS, False): 11_763_190,
    (Q.RX_ERRORS, False): 14,
    (Q.OUT_OF_BUFFER, False): 15_000,
    (Q.FEC_UNCORRECTED, False): 4,
    (Q.LINK_DOWNS, False): 7,
}
_WRAPPING = tuple(
    PLACE[key] for key in _OLD if key[0] in (Q.OUT_OF_SEQUENCE, Q.PACKET_SEQUENCE_ERRORS, Q.OUT_OF_BUFFER)
)
_DISCARDS_PER_SECOND = 3.0
_SOFT_SHARE, _SOFT_FRAMES_PER_SECOND, _SOFT_PAUSE_US = 0.05, 300.0, 8.0
"""Share of busy ports that are paused briefly in a step; number and length of the pauses."""
_NOT_COUNTING = 0.4
"""Share of switches whose ASIC lacks counters that others have."""
_GLOBAL_FRAMES_PER_SECOND = 50.0
_REBOOT_EVERY_SECONDS = 6 * 3600.0
_FROZEN_SECONDS = 120.0
_IDLE_BYTES_PER_SECOND = 1e5
Ports = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass
class _Frozen:
    """A port that counts nothing until a given time, and its increments hidden by then."""

    until: float
    kept: Rates


class Habits:
    """The habits of one fabric's devices. Random values are drawn from a seed."""

    def __init__(self, names: Iterable[str], ports: int, seed: int) -> None:
        self.names = frozenset(names)
        if unknown := self.names - {*HABITS, *MISCONFIGURED}:
            raise ValueError(f"no such habit: {', '.join(sorted(unknown))}")
        self._seed = seed
        self._rng = np.random.default_rng([seed, 0xAB17])
        self.bit_errors: Rates | None = None
        if BIT_ERRORS in self.names:
            self.bit_errors = 10 ** self._rng.uniform(-12, -8, ports)
        self.restarted: set[str] = set()
        """The restarted hosts, by their planned names."""
        self.without_pfc: set[str] = set()
        """The hosts whose NICs have no PFC, by their planned names: their settings differ from all others'."""
        self.with_global_pause: set[str] = set()
        """The hosts whose links have global pause on, by their planned names."""
        self._frozen: dict[int, _Frozen] = {}

    def refresh_seconds(self) -> dict[str, float]:
        """By collector, the devices' refresh interval; the slowest of several."""
        found: dict[str, float] = {}
        for name in self.names & REFRESH_SECONDS.keys():
            for collector, seconds in REFRESH_SECONDS[name].items():
                found[collector] = max(seconds, found.get(collector, 0.0))
        return found

    def gaps(self, devices: Sequence[str], hosts: int) -> dict[str, frozenset[str]]:
        """Each device's missing counters, of `GAPS`; the first `hosts` of `devices` are hosts."""
        rng = np.random.default_rng([self._seed, 0x9A])
        chosen = {
            PFC_MISSING: [devices[int(rng.integers(hosts))]],
            GLOBAL_PAUSE: [devices[self._seed % hosts]],
            PFC_TOTALS: list(devices[hosts:]),
            NOT_COUNTED: [device for device in devices[hosts:] if rng.random() < _NOT_COUNTING],
        }
        if PFC_MISSING in self.names:
            self.without_pfc.update(chosen[PFC_MISSING])
        if GLOBAL_PAUSE in self.names:
            self.with_global_pause.update(chosen[GLOBAL_PAUSE])
        found = grouped((device, gap) for gap in self.names & chosen.keys() for device in chosen[gap])
        return {device: frozenset(gaps) for device, gaps in found.items()}

    def begin(self, ledger: Ledger) -> None:
        """Sets the counts from before the first poll."""
        ports = ledger.total.shape[1]
        if OLD_COUNTS in self.names:
            for key, size in _OLD.items():
                ledger.total[PLACE[key]] += np.floor(size * self._rng.uniform(0.0, 2.0, ports))
        if WRAP_SOON in self.names:
            for row in _WRAPPING:
                ledger.total[row] = (1 << 32) - self._rng.integers(1, 500, ports)

    def add(self, step: Step, gained: Rates, at: float) -> None:
        """Changes a step's increments at every port; `at` is when it began."""
        if TRICKLE in self.names:
            gained[PLACE[Q.RX_DISCARDS, False]] += self._rng.poisson(_DISCARDS_PER_SECOND * step.seconds, step.ports)
            gained[PLACE[Q.OUT_OF_BUFFER, False]] += self._rng.poisson(0.2 * step.seconds, step.ports)
        if SOFT_PAUSE in self.names:
            self._pause_softly(step, gained)
        if PAUSES_UNCOUNTED in self.names:
            for bytes_, frames in ((Q.TX_BYTES, Q.TX_PAUSE_FRAMES), (Q.RX_BYTES, Q.RX_PAUSE_FRAMES)):
                row = PLACE[bytes_, False]
                gained[row] = np.maximum(gained[row] - PAUSE_FRAME_BYTES * gained[PLACE[frames, True]], 0)
        if SYMBOLS_AFTER in self.names:
            gained[PLACE[Q.FEC_SYMBOLS, False]] = gained[PLACE[Q.FEC_UNCORRECTED, False]]
        if SYMBOLS_NONE in self.names:
            gained[PLACE[Q.FEC_SYMBOLS, False]] = 0
        for host in self.with_global_pause:
            self._stop_links(step, gained, step.net.nic[step.net.devices.index(host)])
        if self.names & {LINK_UP, FROZEN}:
            self._reboot(step, gained, at)

    def _pause_softly(self, step: Step, gained: Rates) -> None:
        """Pauses busy ports for microseconds now and then, when flows meet."""
        busy = gained[PLACE[Q.TX_BYTES, True]] > _IDLE_BYTES_PER_SECOND * step.seconds
        far = step.net.far
        paused = np.flatnonzero(busy & (far >= 0) & (self._rng.random(step.ports) < _SOFT_SHARE))
        frames = np.floor(self._rng.uniform(0, _SOFT_FRAMES_PER_SECOND, len(paused)) * step.seconds)
        for ports, count, us in (
            (paused, Q.RX_PAUSE_FRAMES, Q.RX_PAUSE_US),
            (far[paused], Q.TX_PAUSE_FRAMES, Q.TX_PAUSE_US),
        ):
            gained[PLACE[count, True], ports] += 2 * frames
            gained[PLACE[us, True], ports] += _SOFT_PAUSE_US * frames
        gained[PLACE[Q.RX_PAUSE_TRANSITIONS, True], paused] += frames

    def _stop_links(self, step: Step, gained: Rates, nics: Ports) -> None:
        """NICs that receive stop the whole link now and then; neither end of it sends pauses of a priority."""
        nics = nics[step.net.far[nics] >= 0]
        far = step.net.far[nics]
        busy = gained[PLACE[Q.RX_BYTES, True], nics] > _IDLE_BYTES_PER_SECOND * step.seconds
        frames = np.where(busy, np.floor(_GLOBAL_FRAMES_PER_SECOND * step.seconds), 0.0)
        gained[PLACE[Q.TX_GLOBAL_PAUSE_FRAMES, False], nics] += frames
        gained[PLACE[Q.RX_GLOBAL_PAUSE_FRAMES, False], far] += frames
        for sent, received in ((Q.TX_PAUSE_FRAMES, Q.RX_PAUSE_FRAMES), (Q.TX_PAUSE_US, Q.RX_PAUSE_US)):
            gained[PLACE[sent, True], nics] = gained[PLACE[received, True], far] = 0
        gained[PLACE[Q.RX_PAUSE_TRANSITIONS, True], far] = 0

    def _reboot(self, step: Step, gained: Rates, at: float) -> None:
        """Restarts an idle host now and then: its links go down once and come up with a burst of errors; a switch port
        without a peer may count nothing meanwhile, and shows all of it at once afterwards.
        """
        nics = step.net.nic
        if self._rng.random() < step.seconds / _REBOOT_EVERY_SECONDS:
            sent = gained[PLACE[Q.TX_BYTES, True]] + gained[PLACE[Q.RX_BYTES, True]]
            idle = np.flatnonzero((sent[nics] < _IDLE_BYTES_PER_SECOND * step.seconds).all(axis=1))
            if len(idle):
                host = int(self._rng.choice(idle))
                self.restarted.add(step.net.devices[host])
                own = nics[host]
                self._restart(np.concatenate([own, step.net.far[own]]), gained, at)
        for port, frozen in list(self._frozen.items()):
            frozen.kept += gained[:, port]
            gained[:, port] = 0
            if at >= frozen.until:
                gained[:, port] = self._frozen.pop(port).kept

    def _restart(self, ports: Ports, gained: Rates, at: float) -> None:
        ports = ports[ports >= 0]
        gained[PLACE[Q.LINK_DOWNS, False], ports] += 1
        for quantity, most in ((Q.RX_ERRORS, 500), (Q.SYMBOL_ERRORS, 500), (Q.FEC_UNCORRECTED, 8)):
            gained[PLACE[quantity, False], ports] += self._rng.integers(0, most, len(ports))
        if FROZEN in self.names:
            for port in ports[len(ports) // 2 :].tolist():
                self._frozen[port] = _Frozen(at + _FROZEN_SECONDS, np.zeros(len(gained)))

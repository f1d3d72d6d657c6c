"""How polls return counters: a little late, sometimes not at all, sometimes from a cache."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import repeat

import numpy as np
import numpy.typing as npt

from truerail.analysis.counters.intake import Answers
from truerail.model import PortCounters, Reading
from truerail.model.columns import Codes
from truerail.model.index import Devices
from truerail.simulator.traffic.flow_routes import Switching
from truerail.simulator.traffic.ledger import PLACE, SWITCH_COUNTERS, Form, Ledger, Q, form_of
from truerail.simulator.traffic.net import Marks, Net, Rates

_CACHE_SECONDS = 30.0
"""No answer from a cache is older: agents refresh theirs every 5 to 30 seconds."""
_SILENT_SECONDS = (30.0, 600.0)
"""How long a restarting or overloaded device does not answer."""
_STALE_SECONDS = (5.0, 240.0)
"""How long a hanging agent repeats its old values."""
_HOSTS_TELL, _SWITCHES_TELL = ("nic_counters", "rdma_counters"), tuple(SWITCH_COUNTERS)
_GAUGES = [PLACE[Q.QUEUE_WATERMARK_BYTES, True], PLACE[Q.FLOWS, False]]


@dataclass(frozen=True, slots=True)
class Polls:
    """How devices are polled and answer. Shares are of all polls of a device.

    A device is polled up to `jitter` times the step late; `lost` polls fail; `cached` ones return the values of the
    previous poll; a `reset` device counts from zero since; a `silent` one starts minutes without any answer; at a
    `stale` one an agent repeats its old values for up to four minutes. Without `durations`, switches count only pause
    frames; without `priorities`, they count bytes and packets only over all priorities. With `flows`, hosts report
    their queue pairs.
    """

    jitter: float = 0.2
    lost: float = 0.0
    cached: float = 0.0
    reset: float = 0.0
    silent: float = 0.0
    stale: float = 0.0
    durations: bool = True
    priorities: bool = True
    flows: bool = True


@dataclass(frozen=True, slots=True)
class _Machine:
    """A readable device: the name of its readings, its ports, their names by collector, and its missing counters."""

    number: int
    name: str
    ports: slice
    spelled: dict[str, tuple[str, ...]]
    gaps: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Round:
    """The devices' answers. Shapes (devices,), `values` (quantities, ports)."""

    lost: Marks
    read_at: Rates
    values: npt.NDArray[np.uint64]
    refreshed: dict[str, npt.NDArray[np.uint64]]
    """The content of a device's own cache for a collector, if it has one."""

    def of(self, collector: str) -> npt.NDArray[np.uint64]:
        """The values for this collector."""
        return self.refreshed.get(collector, self.values)


class Poller:
    """Reads a ledger as collectors do."""

    def __init__(
        self, net: Net, polls: Polls, switching: Switching, rng: np.random.Generator,
        refresh_seconds: Mapping[str, float] | None = None, gaps: Mapping[str, frozenset[str]] | None = None,
        *, port_by_port: bool = False,
    ) -> None:  # fmt: skip
        self._net, self._polls, self._rng = net, polls, rng
        self._gaps = gaps or {}
        make = partial(
            form_of, switching=switching, durations=polls.durations, priorities=polls.priorities, flows=polls.flows
        )
        self._forms = {
            (collector, of): make(collector, gaps=of)
            for collector in (*_HOSTS_TELL, *_SWITCHES_TELL)
            for of in sorted({frozenset[str](), *self._gaps.values()}, key=sorted)
        }
        self._base: Rates | None = None
        """Each port's counts at the last reset of its device."""
        self._kept = np.zeros((len(PLACE), len(net.ports)), dtype=np.uint64)
        self._kept_at = np.full(len(net.devices), -np.inf)
        self._silent_until, self._stale_until = self._kept_at.copy(), self._kept_at.copy()
        self._machines: list[_Machine] = []
        self._refresh = dict(refresh_seconds or {})
        phases = np.random.default_rng(len(net.devices))
        self._phase = phases.random(len(net.devices))[net.device]
        if port_by_port:
            self._phase = phases.random(len(net.ports))
        self._cached: dict[str, tuple[Rates, npt.NDArray[np.uint64]]] = {}

    def rewire(self, net: Net) -> None:
        """Applies changes of cables or machines."""
        self._net = net
        self._machines.clear()

    def readings(self, ledger: Ledger, at: datetime) -> list[Reading]:
        """One round. `at` is the time of the ledger's end."""
        heard = self._round(ledger, at.timestamp())
        found: list[Reading] = []
        for machine in self._answering():
            if heard.lost[machine.number]:
                found += [Reading(machine.name, of, at, error="no answer in time") for of in machine.spelled]
            else:
                found += self._reported(machine, heard, at)
        return found

    def answers(self, ledger: Ledger, at: datetime) -> list[Answers]:
        """The same round as arrays, without failed polls."""
        heard = self._round(ledger, at.timestamp())
        reported = [machine for machine in self._answering() if not heard.lost[machine.number]]
        return [self._columns(collector, gaps, reported, heard) for collector, gaps in self._forms]

    def _round(self, ledger: Ledger, at: float) -> _Round:
        """Polls every device, each at its own time."""
        polls, count = self._polls, len(self._net.devices)
        ago = self._rng.random(count) * polls.jitter * ledger.seconds
        values = self._since_reset(ledger.as_of(ago[self._net.device]), self._rng.random(count) < polls.reset)
        lost, cached = self._rng.random(count) < polls.lost, self._rng.random(count) < polls.cached
        read_at = at - ago
        lost |= self._lasting(self._silent_until, read_at, polls.silent, _SILENT_SECONDS)
        stale = self._lasting(self._stale_until, read_at, polls.stale, _STALE_SECONDS) & np.isfinite(self._kept_at)
        fresh = ~(lost | stale | (cached & (read_at - self._kept_at <= _CACHE_SECONDS)))
        self._kept = np.where(fresh[self._net.device], values.astype(np.uint64), self._kept)
        self._kept_at[fresh] = read_at[fresh]
        refreshed = {
            collector: self._cache(collector, seconds, ledger, at, read_at)
            for collector, seconds in self._refresh.items()
        }
        return _Round(lost, read_at, self._kept, refreshed)

    def _cache(
        self, collector: str, seconds: float, ledger: Ledger, at: float, read_at: Rates
    ) -> npt.NDArray[np.uint64]:
        """The cached counters of devices that refresh them at this interval, each device, or each of its ports, at its
        own times.
        """
        phase = self._phase * seconds
        refreshed_at = np.floor((read_at[self._net.device] - phase) / seconds) * seconds + phase
        known = self._cached.get(collector)
        total = ledger.as_of(at - refreshed_at)
        now = (total if self._base is None else np.maximum(total - self._base, 0)).astype(np.uint64)
        if known is not None:
            now = np.where(refreshed_at > known[0], now, known[1])
        self._cached[collector] = refreshed_at, now
        return now

    def _lasting(self, until: Rates, at: Rates, share: float, limits: tuple[float, float]) -> Marks:
        """Devices in a temporary condition: until a time drawn for each at its start."""
        if share:
            begins = self._rng.random(len(at)) < share
            until[begins] = at[begins] + self._rng.uniform(*limits, int(begins.sum()))
        return np.asarray(at < until, dtype=bool)

    def _since_reset(self, values: Rates, reset: Marks) -> Rates:
        if self._base is None and not reset.any():
            return values
        base = np.zeros_like(values) if self._base is None else self._base
        ports = reset[self._net.device]
        base[:, ports] = values[:, ports]
        base[_GAUGES] = 0
        self._base = base
        return np.maximum(values - base, 0)

    def _answering(self) -> list[_Machine]:
        """Devices that can be read."""
        if not self._machines:
            self._machines += self._found(Devices(self._net.world.fabric.plan))
        return self._machines

    def _found(self, known: Devices) -> Iterator[_Machine]:
        world = self._net.world
        for number, device in enumerate(self._net.devices):
            if device not in world.absent:
                name, gaps = known.names[known.find(world.folder(device))], self._gaps.get(device, frozenset())
                yield _Machine(number, name, self._net.span_of(device), self._spelled(number, device), gaps)

    def _spelled(self, number: int, device: str) -> dict[str, tuple[str, ...]]:
        """The names of a device's ports, by collector."""
        world = self._net.world
        if number >= self._net.hosts:
            return dict.fromkeys(_SWITCHES_TELL, tuple(world.fabric.ports[device]))
        nics = [world.nic_name(device, slot) for slot in range(self._net.nic.shape[1])]
        return {
            "nic_counters": tuple(nic.netdev for nic in nics),
            "rdma_counters": tuple(f"{nic.rdma}/1" for nic in nics),
        }

    def _reported(self, machine: _Machine, heard: _Round, at: datetime) -> Iterator[Reading]:
        read_at = float(heard.read_at[machine.number])
        for collector, names in machine.spelled.items():
            form = self._forms[collector, machine.gaps]
            ports = np.arange(machine.ports.start, machine.ports.stop)
            rows = map(tuple, _values(form, heard.of(collector), ports).tolist())
            facts = tuple(map(PortCounters, names, repeat(form.counters), rows))
            yield Reading(machine.name, collector, at, facts, read_at=read_at)

    def _columns(self, collector: str, gaps: frozenset[str], reported: list[_Machine], heard: _Round) -> Answers:
        form = self._forms[collector, gaps]
        of = [machine for machine in reported if collector in machine.spelled and machine.gaps == gaps]
        ports = np.concatenate([np.arange(m.ports.start, m.ports.stop) for m in of] or [np.empty(0, dtype=np.int64)])
        read_at = heard.read_at[[machine.number for machine in of]]
        devices = [(machine.name, machine.spelled[collector]) for machine in of]
        return Answers(collector, form.counters, devices, read_at, _values(form, heard.of(collector), ports))


def _values(form: Form, values: npt.NDArray[np.uint64], ports: Codes) -> npt.NDArray[np.uint64]:
    """A collector's values of these ports, shape (ports, counters)."""
    return np.asarray((values[form.rows[:, None], ports] & form.mask).T)

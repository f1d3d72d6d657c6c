"""From pairs to what each host sends and listens for: flows with their source ports, rounds of packets, times.

A flow's packets are sent in rounds of one size and one TTL. All hosts begin within `spread_seconds`, so that the leaves
are asked for no more ICMP answers a second than they are allowed. What a path sweep asks of switches is paced.
"""

import secrets
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from truerail.errors import CommandError
from truerail.model.columns import Codes, Mask
from truerail.model.names import natural_key
from truerail.model.probe_facts import FULL_TTL, LEFT_OUT, PEER_LEFT_OUT
from truerail.probe.flow_columns import NOT_PACED, WAIT_SECONDS, FlowList, Flows, Paced, Round, ask_hops
from truerail.probe.path_sweep import ASKS, USUAL, Budget, Sweep
from truerail.probe.pinglists import SWEPT, Nic, Pair

VERSION = 1
WHAT = ("reach", "nic", "mtu", "dscp", "paths", "loss")
USUAL_WHAT = ("reach", "nic", "mtu", "dscp")
SWEEPING = frozenset(("paths", "loss"))
"""What needs a path sweep. Loss is seated on paths, so it comes with them."""
PORT = 24791
"""The UDP port that is listened on. Not 4791: a RoCE NIC takes that port's packets for itself."""
ROCE_DSCP, CNP_DSCP = 26, 48
"""The usual classes of RoCE and of its congestion notifications."""
_SMALL = {4: 64, 6: 96}
"""Bytes of the smallest IP packet that has the payload of a probe."""
_FIRST_PORT, _LAST_PORT = 49152, 65535
_REACH, _LARGE, _CNP, _ECHOES = 3, 3, 1, 3
"""Packets of a flow: one of three is enough to show that it arrives."""
LEAD_SECONDS, TAIL_SECONDS = 5.0, 1.0
SECONDS_OF_HOST = 0.01
"""What it takes to render one host's tasks and to hand them over: the lead of a large fabric is longer."""


@dataclass(frozen=True)
class Settings:
    """What is asked for. The budget is that of ICMP answers, of one switch in a second: in all, a third of the lowest
    limit in the field (150/s), and by one NIC (Linux: 1/s to one target).
    """

    what: tuple[str, ...] = USUAL_WHAT
    version: int = 4
    packets_per_second: int = 100
    dscp: int = ROCE_DSCP
    mtu: int = 9000
    port: int = PORT
    budget: Budget = USUAL
    echoes: bool = True
    """Whether round trips are measured: on busy hosts they say nothing."""

    @property
    def sweeps(self) -> bool:
        """Whether a path sweep is part of it."""
        return not SWEEPING.isdisjoint(self.what)

    @property
    def small(self) -> int:
        """Bytes of a small packet."""
        return _SMALL[self.version]


@dataclass(frozen=True)
class ProbePlan:
    """A run before it begins: the flows, who sends and who hears them, and who takes no part."""

    run: str
    settings: Settings
    flows: Flows
    left_out: Mapping[str, str] = field(default_factory=dict)
    sweep: Sweep | None = None

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts that take part, in the order of their names."""
        return sorted(set(self.flows.names) - self.left_out.keys(), key=natural_key)

    @property
    def members(self) -> Collection[str]:
        """The hosts that have a flow, left out or not."""
        return self.flows.names

    @property
    def total(self) -> int:
        """Packets that hosts send."""
        return self.packets().total()

    def without(self, left_out: Mapping[str, str]) -> "ProbePlan":
        """The same with more hosts left out, and why."""
        return replace(self, left_out={**left_out, **self.left_out})

    @cached_property
    def _takes_part(self) -> Mask:
        """By the codes of hosts."""
        return np.array([name not in self.left_out for name in self.flows.names], dtype=bool)

    @cached_property
    def tried(self) -> Mask:
        """Whether both ends of a flow take part, shape (flows,)."""
        return np.asarray(self._takes_part[self.flows.source] & self._takes_part[self.flows.to], dtype=bool)

    def tried_pairs(self) -> Iterator[Pair]:
        """The pair of each flow whose two ends take part."""
        return (self.flows.pairs[place] for place in np.flatnonzero(self.tried).tolist())

    def packets(self) -> Counter[str]:
        """Packets that each host sends."""
        names = self.flows.names
        sent = np.bincount(self.flows.source, weights=self.flows.packets * self.tried, minlength=len(names))
        return Counter({names[code]: int(sent[code]) for code in np.flatnonzero(sent).tolist()})

    def answers_asked(self) -> Counter[str]:
        """ICMP answers that are asked of each leaf as fast as hosts begin: those of a path sweep are paced instead."""
        found: Counter[str] = Counter()
        for place in np.flatnonzero(self.tried & (self.flows.ending > 0)).tolist():
            found[self.flows.pairs[place].source.leaf] += int(self.flows.ending[place])
        return found

    @cached_property
    def spread_seconds(self) -> float:
        """How far apart the hosts begin to send."""
        return max(self.answers_asked().values(), default=0) / self.settings.budget.per_switch

    @cached_property
    def paced_after(self) -> float:
        """Seconds after a host's start until its paced packets begin: until all hosts have sent their rounds."""
        rate = self.settings.packets_per_second
        return float(self.flows.seconds_of_rounds(self.tried, rate).max(initial=0.0))

    @cached_property
    def seconds(self) -> float:
        """From the common start to the end."""
        paced = self.flows.seconds_paced(self.tried, self.settings.packets_per_second).max(initial=0.0)
        return self.spread_seconds + self.paced_after + float(paced) + TAIL_SECONDS

    @property
    def lead_seconds(self) -> float:
        """From the login to all hosts until the common start."""
        return max(LEAD_SECONDS, SECONDS_OF_HOST * len(self.hosts))

    @cached_property
    def _turn(self) -> dict[str, int]:
        return {host: number for number, host in enumerate(self.hosts)}

    def tasks(self, host: str, start_at: float) -> dict[str, Any]:
        """What a host that takes part is to do. `start_at` and all times are in Unix seconds."""
        flows, rate, port = self.flows, self.settings.packets_per_second, self.settings.port
        own, heard = flows.sent_by(host), flows.heard_by(host)
        sends, untried = own[self.tried[own]], own[~self.tried[own]]
        hears = heard[self.tried[heard] & flows.arriving[heard]].tolist()
        rows = flows.rows_of(sends, rate, self.paced_after)
        listen = sorted({flows.pairs[place].to.address for place in hears})
        return {
            "version": VERSION,
            "run": self.run,
            "host": host,
            "start_at": start_at + self._turn[host] / len(self.hosts) * self.spread_seconds,
            "stop_at": start_at + self.seconds,
            "port": port,
            "packets_per_second": rate,
            "wait": WAIT_SECONDS,
            "listen": [[address, port] for address in listen],
            "sends": [{**flows.about(n), "packets": of} for n, of in zip(sends.tolist(), rows, strict=True)],
            "hears": [flows.expected(place) for place in hears],
            "echoes": self._echoes(sends.tolist()),
            "untried": [flows.about(place) for place in untried.tolist()],
            "trouble": [
                [PEER_LEFT_OUT, flows.pairs[place].source.netdev, int(flows.number[place]), 1, None]
                for place in untried.tolist()
            ],
        }

    def _echoes(self, sends: Sequence[int]) -> list[int]:
        """The first flow of each NIC: to its peer the round trip is measured."""
        first = {self.flows.pairs[place].source.cable: int(self.flows.number[place]) for place in reversed(sends)}
        return sorted(first.values()) if self.settings.echoes else []

    def limits(self, host: str) -> dict[str, Any]:
        """The limits that a run keeps by itself, where a host has no file of them."""
        flows = self.flows
        own = flows.sent_by(host)
        bits = "32" if self.settings.version == 4 else "128"
        return {
            "networks": sorted({f"{flows.pairs[place].to.address}/{bits}" for place in own.tolist()}),
            "packets_per_second": self.settings.packets_per_second,
            "packets": int(flows.packets[own].sum()) + _ECHOES * len(self._echoes(own.tolist())),
            "seconds": self.seconds + self.lead_seconds + 60,
            "ports": [self.settings.port],
            "source_ports": [_FIRST_PORT, _LAST_PORT],
        }

    def recording_of(self, host: str, why: str) -> dict[str, Any]:
        """The recording of a host that took no part: all its flows, none of them tried."""
        return {
            "truerail_probe": VERSION,
            "run": self.run,
            "host": host,
            "sends": [self.flows.about(place) for place in self.flows.sent_by(host).tolist()],
            **{name: [] for name in ("hears", "sent", "heard", "hops")},
            "trouble": [[LEFT_OUT, "", None, 1, why]],
        }


def plan_run(
    pairs: Sequence[Pair], settings: Settings, at: datetime, left_out: Mapping[str, str], sweep: Sweep | None = None
) -> ProbePlan:
    """The flows of some pairs: as routed, and of the first pair of each NIC as wired, in the class of RoCE and of CNP,
    and with the TTL that ends at the leaf; behind them those of a path sweep. Raises CommandError where a NIC has more
    flows than source ports.
    """
    run = f"{at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
    free: dict[str, int] = {}
    found, first = FlowList(), set[int]()
    for pair in pairs:
        for mode, tos, rounds in _rounds(pair, settings, pair.source.cable not in first):
            found.add(pair, mode, tos, _ports(free, pair.source, 1), 1, rounds)
        first.add(pair.source.cable)
    paced = NOT_PACED if sweep is None else _swept(found, sweep, settings, free)
    return ProbePlan(run, settings, found.flows(paced), dict(left_out), sweep)


def _ports(free: dict[str, int], nic: Nic, count: int) -> int:
    """The first of so many source ports that no other flow of a NIC has."""
    source_port = free.get(nic.address, _FIRST_PORT)
    free[nic.address] = source_port + count
    if source_port + count - 1 > _LAST_PORT:
        raise CommandError(f"{nic.host}/{nic.netdev} has more flows than source ports")
    return source_port


def _swept(found: FlowList, sweep: Sweep, settings: Settings, free: dict[str, int]) -> Paced:
    """Adds the flows of a path sweep: packets that arrive, of both sizes. Returns the paced ones to each hop."""
    rounds = [(settings.small, FULL_TTL, sweep.planned.packets if "loss" in settings.what else _REACH)]
    rounds += [(settings.mtu, FULL_TTL, _LARGE)] if "mtu" in settings.what else []
    tos = settings.dscp << 2 if "dscp" in settings.what else 0
    begin, nics, columns = len(found.pairs), dict[int, int](), list[tuple[int, int, int, int]]()
    for pair, swept in sweep.pairs:
        mode = "routed" if pair.pinglist == SWEPT else "wired"  # as in list E
        port = _ports(free, pair.source, swept.source_ports)
        found.add(pair, mode, tos, port, swept.source_ports, rounds)
        columns.append((nics.setdefault(pair.source.cable, len(nics)), port, swept.source_ports, swept.hops))
    nic, source_port, source_ports, hops = np.array(columns, dtype=np.int64).reshape(-1, 4).T
    flow: Codes = begin + np.arange(len(columns))
    every, size = sweep.planned.every, settings.small
    return ask_hops(nic, flow, source_port, source_ports, hops, size=size, every=every, asks=ASKS)


def _rounds(pair: Pair, settings: Settings, is_first: bool) -> Iterator[tuple[str, int, list[Round]]]:
    """Mode, TOS and rounds of each flow of a pair."""
    what, small = settings.what, settings.small
    tos = settings.dscp << 2 if "dscp" in what else 0
    hop = [(small, 1, 1)] if is_first and "nic" in what else []
    large = [(settings.mtu, FULL_TTL, _LARGE)] if "mtu" in what and pair.pinglist in "AB" else []
    reach = [(small, FULL_TTL, _REACH)]
    if pair.pinglist == "E":  # between rails: by the NIC itself, or the host's own routes lead over another one
        yield "wired", tos, reach
        return
    yield "routed", tos, reach + hop + large
    if pair.pinglist == "A" and "nic" in what:
        yield "wired", tos, reach + hop
    if is_first and "dscp" in what:
        yield "routed", CNP_DSCP << 2, [(small, FULL_TTL, _CNP)]


def uncovered(nics: Collection[Nic], plan: ProbePlan) -> list[str]:
    """NICs that no flow of the plan leaves from or arrives at."""
    used = {nic.cable for pair in plan.tried_pairs() for nic in (pair.source, pair.to)}
    return [f"{nic.host}/{nic.netdev}" for nic in nics if nic.cable not in used]

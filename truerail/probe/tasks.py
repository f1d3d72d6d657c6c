"""From pairs to what each host sends and listens for: flows with their source ports, rounds of packets, times.

A flow's packets are sent in rounds of one size and one TTL. All hosts begin within `spread_seconds`, so that the leaves
are asked for no more ICMP answers a second than they are allowed. What a path sweep asks of switches is paced.
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from truerail.errors import CommandError
from truerail.model.names import natural_key
from truerail.model.probe_facts import LEFT_OUT, PEER_LEFT_OUT
from truerail.probe.nics import Nic
from truerail.probe.path_sweep import ASKS, USUAL, Budget
from truerail.probe.pinglists import SWEPT, Pair
from truerail.probe.schedule import FULL_TTL, Flow, ask_hops, rows_of, seconds_of_rounds, seconds_paced
from truerail.probe.schedule import WAIT_SECONDS as WAIT_SECONDS
from truerail.probe.sweep_pairs import Sweep

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
_REACH, _LARGE, _CNP = 3, 3, 1
"""Packets of a flow: one of three is enough to show that it arrives."""
LEAD_SECONDS, TAIL_SECONDS = 5.0, 1.0


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
    """A run before it begins: the flows by number, who sends and who hears them, and who takes no part."""

    run: str
    settings: Settings
    flows: tuple[tuple[Pair, Flow], ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    sweep: Sweep | None = None

    @property
    def hosts(self) -> list[str]:
        """The hosts that take part, in the order of their names."""
        found = {nic.host for pair, _ in self.flows for nic in (pair.source, pair.to)}
        return sorted(found - self.left_out.keys(), key=natural_key)

    def without(self, left_out: Mapping[str, str]) -> "ProbePlan":
        """The same with more hosts left out, and why."""
        return replace(self, left_out={**left_out, **self.left_out})

    def tried(self) -> Iterator[tuple[Pair, Flow]]:
        """The flows whose two ends take part."""
        for pair, flow in self.flows:
            if pair.source.host not in self.left_out and pair.to.host not in self.left_out:
                yield pair, flow

    @cached_property
    def _by_host(self) -> dict[str, list[Flow]]:
        """The flows that each host sends."""
        found: dict[str, list[Flow]] = defaultdict(list)
        for pair, flow in self.tried():
            found[pair.source.host].append(flow)
        return found

    def packets(self) -> Counter[str]:
        """Packets that each host sends."""
        found: Counter[str] = Counter()
        for pair, flow in self.tried():
            found[pair.source.host] += flow["source_ports"] * sum(count for _, _, count in flow["rounds"])
            found[pair.source.host] += sum(row[3] for row in flow["paced"])
        return found

    def answers_asked(self) -> Counter[str]:
        """ICMP answers that are asked of each leaf as fast as hosts begin: those of a path sweep are paced instead."""
        found: Counter[str] = Counter()
        for pair, flow in self.tried():
            found[pair.source.leaf] += sum(count for _, ttl, count in flow["rounds"] if ttl < FULL_TTL)
        return found

    @cached_property
    def spread_seconds(self) -> float:
        """How far apart the hosts begin to send."""
        return max(self.answers_asked().values(), default=0) / self.settings.budget.per_switch

    @cached_property
    def paced_after(self) -> float:
        """Seconds after a host's start until its paced packets begin: until all hosts have sent their rounds."""
        rate = self.settings.packets_per_second
        return max((seconds_of_rounds(flows, rate) for flows in self._by_host.values()), default=0.0)

    @cached_property
    def seconds(self) -> float:
        """From the common start to the end."""
        rate = self.settings.packets_per_second
        paced = max((seconds_paced(flows, rate) for flows in self._by_host.values()), default=0.0)
        return self.spread_seconds + self.paced_after + paced + TAIL_SECONDS

    def tasks(self, start_at: float) -> dict[str, dict[str, Any]]:
        """What each host that takes part is to do. `start_at` and all times are in Unix seconds."""
        sends, hears, untried = defaultdict(list), defaultdict(list), defaultdict(list)
        listen: dict[str, set[str]] = defaultdict(set)
        for pair, flow in self.flows:
            if pair.to.host in self.left_out:
                untried[pair.source.host].append(flow)
            elif pair.source.host not in self.left_out:
                sends[pair.source.host].append(flow)
                if flow["rounds"] or any(row[1] == FULL_TTL for row in flow["paced"]):
                    hears[pair.to.host].append(_heard(pair, flow))
                    listen[pair.to.host].add(pair.to.address)
        hosts, rate = self.hosts, self.settings.packets_per_second
        return {
            host: {
                "version": VERSION,
                "run": self.run,
                "host": host,
                "start_at": start_at + number / len(hosts) * self.spread_seconds,
                "stop_at": start_at + self.seconds,
                "port": self.settings.port,
                "packets_per_second": rate,
                "wait": WAIT_SECONDS,
                "listen": [[address, self.settings.port] for address in sorted(listen[host])],
                "sends": _sent(sends[host], rows_of(sends[host], rate, self.paced_after)),
                "hears": hears[host],
                "untried": _sent(untried[host]),
                "trouble": [[PEER_LEFT_OUT, flow["port"], flow["flow"], 1, None] for flow in untried[host]],
            }
            for number, host in enumerate(hosts)
        }

    def recording_of(self, host: str, why: str) -> dict[str, Any]:
        """The recording of a host that took no part: all its flows, none of them tried."""
        sends = _sent([flow for pair, flow in self.flows if pair.source.host == host])
        return {
            "truerail_probe": VERSION,
            "run": self.run,
            "host": host,
            "sends": sends,
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
    free: Counter[str] = Counter()
    flows: list[tuple[Pair, Flow]] = []
    first: set[int] = set()
    for pair in pairs:
        for mode, tos, rounds in _rounds(pair, settings, pair.source.cable not in first):
            flows.append((pair, _flow(len(flows), pair, mode, tos, _ports(free, pair.source, 1), rounds)))
        first.add(pair.source.cable)
    if sweep is not None:
        flows += _swept(sweep, settings, free, len(flows))
    return ProbePlan(run, settings, tuple(flows), dict(left_out), sweep)


def _ports(free: Counter[str], nic: Nic, count: int) -> int:
    """The first of so many source ports that no other flow of a NIC has."""
    source_port = _FIRST_PORT + free[nic.address]
    free[nic.address] += count
    if source_port + count - 1 > _LAST_PORT:
        raise CommandError(f"{nic.host}/{nic.netdev} has more flows than source ports")
    return source_port


def _swept(sweep: Sweep, settings: Settings, free: Counter[str], number: int) -> list[tuple[Pair, Flow]]:
    """The flows of a path sweep: packets that arrive, of both sizes, and each hop paced."""
    found: list[tuple[Pair, Flow]] = []
    of_nic: dict[int, list[tuple[Flow, int, int]]] = defaultdict(list)
    rounds = [[settings.small, FULL_TTL, sweep.planned.packets if "loss" in settings.what else _REACH]]
    rounds += [[settings.mtu, FULL_TTL, _LARGE]] if "mtu" in settings.what else []
    tos = settings.dscp << 2 if "dscp" in settings.what else 0
    for pair, swept in sweep.pairs:
        mode = "routed" if pair.pinglist == SWEPT else "wired"  # as in list E
        port = _ports(free, pair.source, swept.source_ports)
        flow = _flow(number + len(found), pair, mode, tos, port, rounds, swept.source_ports)
        of_nic[pair.source.cable] += [(flow, port + n, swept.hops) for n in range(swept.source_ports)]
        found.append((pair, flow))
    for nic, ends in enumerate(of_nic.values()):
        ports, hops = [(flow, port) for flow, port, _ in ends], [far for _, _, far in ends]
        ask_hops(nic, ports, hops, settings.small, sweep.planned.every, ASKS)
    return found


def _rounds(pair: Pair, settings: Settings, is_first: bool) -> Iterator[tuple[str, int, list[list[int]]]]:
    """Mode, TOS and rounds of each flow of a pair."""
    what, small = settings.what, settings.small
    tos = settings.dscp << 2 if "dscp" in what else 0
    hop = [[small, 1, 1]] if is_first and "nic" in what else []
    large = [[settings.mtu, FULL_TTL, _LARGE]] if "mtu" in what and pair.pinglist in "AB" else []
    reach = [[small, FULL_TTL, _REACH]]
    if pair.pinglist == "E":  # between rails: by the NIC itself, or the host's own routes lead over another one
        yield "wired", tos, reach
        return
    yield "routed", tos, reach + hop + large
    if pair.pinglist == "A" and "nic" in what:
        yield "wired", tos, reach + hop
    if is_first and "dscp" in what:
        yield "routed", CNP_DSCP << 2, [[small, FULL_TTL, _CNP]]


def _flow(
    number: int, pair: Pair, mode: str, tos: int, source_port: int, rounds: list[list[int]], source_ports: int = 1
) -> Flow:
    return {
        "flow": number,
        **_ends(pair.source, pair.to),
        "mode": mode,
        "tos": tos,
        "pinglist": pair.pinglist,
        "address": pair.source.address,
        "peer_address": pair.to.address,
        "source_port": source_port,
        "source_ports": source_ports,
        "rounds": rounds,
        "paced": [],
    }


def _sent(flows: Sequence[Flow], rows: Mapping[int, list[list[Any]]] | None = None) -> list[Flow]:
    """Flows as their sender knows them, with their rows of packets if given."""
    planned = ("source_port", "source_ports", "rounds", "paced")
    about = [{name: value for name, value in flow.items() if name not in planned} for flow in flows]
    return about if rows is None else [{**flow, "packets": rows[flow["flow"]]} for flow in about]


def _heard(pair: Pair, flow: Flow) -> Flow:
    """The flow as its listener knows it."""
    names = ("flow", "mode", "tos", "pinglist", "address", "peer_address")
    return {**{name: flow[name] for name in names}, **_ends(pair.to, pair.source)}


def _ends(own: Nic, peer: Nic) -> dict[str, str]:
    return {"port": own.netdev, "peer": peer.host, "peer_port": peer.netdev}


def limits_for(plan: ProbePlan) -> dict[str, Any]:
    """The limits that a run keeps by itself, where a host has no file of them."""
    bits = "32" if plan.settings.version == 4 else "128"
    return {
        "networks": sorted({f"{pair.to.address}/{bits}" for pair, _ in plan.flows}),
        "packets_per_second": plan.settings.packets_per_second,
        "packets": max(plan.packets().values(), default=0),
        "seconds": plan.seconds + LEAD_SECONDS + 60,
        "ports": [plan.settings.port],
        "source_ports": [_FIRST_PORT, _LAST_PORT],
    }


def uncovered(nics: Collection[Nic], plan: ProbePlan) -> list[str]:
    """NICs that no flow of the plan leaves from or arrives at."""
    used = {nic.cable for pair, _ in plan.tried() for nic in (pair.source, pair.to)}
    return [f"{nic.host}/{nic.netdev}" for nic in nics if nic.cable not in used]

"""From pairs to what each host sends and listens for: flows with their source ports, rounds of packets, times.

A flow's packets are sent in rounds of one size and one TTL. All hosts begin within `spread_seconds`, so that the leaves
are asked for no more ICMP answers a second than they are allowed.
"""

import secrets
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from truerail.errors import CommandError
from truerail.model.names import natural_key
from truerail.model.probe_facts import LEFT_OUT, PEER_LEFT_OUT
from truerail.probe.nics import Nic
from truerail.probe.pinglists import Pair

VERSION = 1
WHAT = ("reach", "nic", "mtu", "dscp")
PORT = 24791
"""The UDP port that is listened on. Not 4791: a RoCE NIC takes that port's packets for itself."""
ROCE_DSCP, CNP_DSCP = 26, 48
"""The usual classes of RoCE and of its congestion notifications."""
FULL_TTL = 64
_SMALL = {4: 64, 6: 96}
"""Bytes of the smallest IP packet that has the payload of a probe."""
_FIRST_PORT, _LAST_PORT = 49152, 65535
_REACH, _LARGE, _CNP = 3, 3, 1
"""Packets of a flow: one of three is enough to show that it arrives."""
ANSWERS_PER_SECOND = 50.0
"""ICMP answers that are asked of one switch in a second: a third of the lowest limit in the field (150/s)."""
LEAD_SECONDS, WAIT_SECONDS, TAIL_SECONDS = 5.0, 0.3, 1.0
_BATCH = 480
"""Sockets that the script on the host holds at once."""

Flow = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What is asked for."""

    what: tuple[str, ...] = WHAT
    version: int = 4
    packets_per_second: int = 100
    dscp: int = ROCE_DSCP
    mtu: int = 9000
    port: int = PORT


@dataclass(frozen=True)
class ProbePlan:
    """A run before it begins: the flows by number, who sends and who hears them, and who takes no part."""

    run: str
    settings: Settings
    flows: tuple[tuple[Pair, Flow], ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

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

    def packets(self) -> Counter[str]:
        """Packets that each host sends."""
        found: Counter[str] = Counter()
        for pair, flow in self.tried():
            found[pair.source.host] += sum(count for _, _, count in flow["rounds"])
        return found

    def answers_asked(self) -> Counter[str]:
        """ICMP answers that are asked of each leaf."""
        found: Counter[str] = Counter()
        for pair, flow in self.tried():
            found[pair.source.leaf] += sum(count for _, ttl, count in flow["rounds"] if ttl < FULL_TTL)
        return found

    @property
    def spread_seconds(self) -> float:
        """How far apart the hosts begin to send."""
        return max(self.answers_asked().values(), default=0) / ANSWERS_PER_SECOND

    @property
    def seconds(self) -> float:
        """From the common start to the end."""
        sending = max(self.packets().values(), default=0) / self.settings.packets_per_second
        flows = Counter(pair.source.host for pair, _ in self.tried())
        batches = -(-max(flows.values(), default=0) // _BATCH)
        kinds = len({(size, ttl) for _, flow in self.flows for size, ttl, _ in flow["rounds"]})
        return self.spread_seconds + sending + batches * kinds * WAIT_SECONDS + TAIL_SECONDS

    def tasks(self, start_at: float) -> dict[str, dict[str, Any]]:
        """What each host that takes part is to do. `start_at` and all times are in Unix seconds."""
        sends, hears, untried = defaultdict(list), defaultdict(list), defaultdict(list)
        listen: dict[str, set[str]] = defaultdict(set)
        for pair, flow in self.flows:
            if pair.to.host in self.left_out:
                untried[pair.source.host].append(flow)
            elif pair.source.host not in self.left_out:
                sends[pair.source.host].append(flow)
                hears[pair.to.host].append(_heard(pair, flow))
                listen[pair.to.host].add(pair.to.address)
        hosts = self.hosts
        return {
            host: {
                "version": VERSION,
                "run": self.run,
                "host": host,
                "start_at": start_at + number / len(hosts) * self.spread_seconds,
                "stop_at": start_at + self.seconds,
                "port": self.settings.port,
                "packets_per_second": self.settings.packets_per_second,
                "wait": WAIT_SECONDS,
                "listen": [[address, self.settings.port] for address in sorted(listen[host])],
                "sends": sends[host],
                "hears": hears[host],
                "untried": untried[host],
                "trouble": [[PEER_LEFT_OUT, flow["port"], flow["flow"], 1, None] for flow in untried[host]],
            }
            for number, host in enumerate(hosts)
        }

    def recording_of(self, host: str, why: str) -> dict[str, Any]:
        """The recording of a host that took no part: all its flows, none of them tried."""
        sends = [flow for pair, flow in self.flows if pair.source.host == host]
        return {
            "truerail_probe": VERSION,
            "run": self.run,
            "host": host,
            "sends": sends,
            **{name: [] for name in ("hears", "sent", "heard", "hops")},
            "trouble": [[LEFT_OUT, "", None, 1, why]],
        }


def plan_run(pairs: Sequence[Pair], settings: Settings, at: datetime, left_out: Mapping[str, str]) -> ProbePlan:
    """The flows of some pairs: as routed, and of the first pair of each NIC as wired, in the class of RoCE and of CNP,
    and with the TTL that ends at the leaf. Raises CommandError where a NIC has more flows than source ports.
    """
    run = f"{at:%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
    free: Counter[str] = Counter()
    flows: list[tuple[Pair, Flow]] = []
    first: set[int] = set()
    for pair in pairs:
        for mode, tos, rounds in _rounds(pair, settings, pair.source.cable not in first):
            source_port = _FIRST_PORT + free[pair.source.address]
            free[pair.source.address] += 1
            if source_port > _LAST_PORT:
                raise CommandError(f"{pair.source.host}/{pair.source.netdev} has more flows than source ports")
            flows.append((pair, _flow(len(flows), pair, mode, tos, source_port, rounds)))
        first.add(pair.source.cable)
    return ProbePlan(run, settings, tuple(flows), dict(left_out))


def _rounds(pair: Pair, settings: Settings, is_first: bool) -> Iterator[tuple[str, int, list[list[int]]]]:
    """Mode, TOS and rounds of each flow of a pair."""
    what, small = settings.what, _SMALL[settings.version]
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


def _flow(number: int, pair: Pair, mode: str, tos: int, source_port: int, rounds: list[list[int]]) -> Flow:
    return {
        "flow": number,
        **_ends(pair.source, pair.to),
        "mode": mode,
        "tos": tos,
        "pinglist": pair.pinglist,
        "address": pair.source.address,
        "peer_address": pair.to.address,
        "source_port": source_port,
        "source_ports": 1,
        "rounds": rounds,
    }


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

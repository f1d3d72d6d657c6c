"""RDMA tests between idle hosts: which NIC to which, when, and what each host is given to do.

The NICs of a rail are a ring in the order of their leaves: each sends once and receives once, most of them under one
leaf, and between two leaves there is one test at a time. A host takes part in one test at a time, so that no test
shares its NIC, PCIe switch or memory.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from truerail.model import Reading
from truerail.model.columns import grouped
from truerail.model.names import natural_key
from truerail.probe.host_tasks import LEAD_SECONDS, SECONDS_OF_HOST
from truerail.probe.pinglists import Nic

VERSION = 1
SECONDS = 5
"""How long `ib_write_bw` sends: its figure leaves out 2 s at both ends in old versions (perftest's `-f`)."""
SLOT_SECONDS = 20.0
"""From one test of a host to the next: a second of listening for load, `rping`, `ib_write_bw`, and the time in which a
program that does not end is killed.
"""
TCP_PORT = 24793
"""`rping` and, at the next port, `ib_write_bw` agree on their queue pairs there."""
GPUS_UNKNOWN = "does not show whether its GPUs are in use"
_GPU_COLLECTOR = "gpu_processes"


class Test(NamedTuple):
    """`source` sends to `to` in a slot."""

    source: Nic
    to: Nic
    slot: int


@dataclass(frozen=True)
class HeavyPlan:
    """The tests of a run by their numbers, and the hosts that take no part."""

    run: str
    tests: tuple[Test, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def members(self) -> set[str]:
        """The hosts that have a test, left out or not."""
        return {nic.host for test in self.tests for nic in (test.source, test.to)}

    @cached_property
    def hosts(self) -> list[str]:
        """The hosts that take part."""
        return sorted(self._ends, key=natural_key)

    @property
    def total(self) -> int:
        """Ends of tests that hosts report as done."""
        return 2 * sum(1 for _ in self._tried())

    @property
    def slots(self) -> int:
        """How many tests follow each other."""
        return max((test.slot for _, test in self._tried()), default=-1) + 1

    @property
    def seconds(self) -> float:
        """From the common start to the end."""
        return self.slots * SLOT_SECONDS

    @property
    def lead_seconds(self) -> float:
        """From the login to all hosts until the common start."""
        return max(LEAD_SECONDS, SECONDS_OF_HOST * len(self.hosts))

    def limits(self, host: str) -> dict[str, Any]:
        """None beside the script's own: no account but the operator's runs it."""
        return {}

    def without(self, left_out: Mapping[str, str]) -> "HeavyPlan":
        """The same with more hosts left out, and why."""
        return replace(self, left_out={**left_out, **self.left_out})

    def tasks(self, host: str, start_at: float) -> dict[str, Any]:
        """What a host that takes part is to do. `start_at` is in Unix seconds."""
        return {
            "version": VERSION,
            "run": self.run,
            "host": host,
            "start_at": start_at,
            "seconds": SECONDS,
            "tcp_port": TCP_PORT,
            "tests": self._ends.get(host, []),
        }

    @cached_property
    def _ends(self) -> dict[str, list[dict[str, Any]]]:
        """The ends of tests by host, in the order of their slots."""
        return _by_host(sorted(self._tried(), key=lambda one: one[1].slot))

    @cached_property
    def _of_all(self) -> dict[str, list[dict[str, Any]]]:
        """The same of hosts that take no part as well."""
        return _by_host(enumerate(self.tests))

    def recording_of(self, host: str, why: str) -> dict[str, Any]:
        """The recording of a host that took no part: its tests, with the reason."""
        tests = [{**end, "why": "left out", "detail": why} for end in self._of_all.get(host, [])]
        return {"truerail_heavy": VERSION, "run": self.run, "host": host, "tests": tests}

    def completed(self, recordings: Mapping[str, str]) -> dict[str, str]:
        """Recordings with the tests that a host was not given, because the other end took no part."""
        found = dict(recordings)
        for host in recordings:
            one = json.loads(recordings[host])
            known = {test["test"] for test in one["tests"]}
            rest = [test for test in self.recording_of(host, "")["tests"] if test["test"] not in known]
            for test in rest:
                test["detail"] = f"{test['peer']}: {self.left_out.get(test['peer'], 'took no part')}"
            found[host] = json.dumps({**one, "tests": [*one["tests"], *rest]}, separators=(",", ":")) + "\n"
        return found

    def _tried(self) -> Iterator[tuple[int, Test]]:
        for number, test in enumerate(self.tests):
            if test.source.host not in self.left_out and test.to.host not in self.left_out:
                yield number, test


def _by_host(tests: Iterable[tuple[int, Test]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for number, test in tests:
        for role, own, peer in (("server", test.to, test.source), ("client", test.source, test.to)):
            end = {
                "test": number,
                "role": role,
                "at": test.slot * SLOT_SECONDS,
                "port": own.netdev,
                "address": own.address,
                "peer": peer.host,
                "peer_port": peer.netdev,
                "peer_address": peer.address,
            }
            found[own.host].append(end)
    return dict(found)


def plan_heavy(run: str, nics: Sequence[Nic], left_out: Mapping[str, str]) -> HeavyPlan:
    """A ring in each rail and plane; of the hosts that take part alone, so that all their NICs have both tests."""
    groups = grouped((nic.group, nic) for nic in nics)
    tests: list[Test] = []
    first = 0
    for _, members in sorted(groups.items()):
        members.sort(key=lambda nic: (natural_key(nic.leaf), natural_key(nic.host), natural_key(nic.netdev)))
        ring = [nic for nic in members if nic.host not in left_out]
        pairs = [*_pairs(ring), *_pairs([nic for nic in members if nic.host in left_out])]
        busy: Counter[tuple[int, str]] = Counter()
        for source, to in pairs:
            slot = first
            while busy[slot, source.host] or busy[slot, to.host]:
                slot += 1
            busy[slot, source.host] = busy[slot, to.host] = 1
            tests.append(Test(source, to, slot))
        first = max((test.slot for test in tests), default=-1) + 1
    return HeavyPlan(run, tuple(tests), dict(left_out))


def _pairs(ring: Sequence[Nic]) -> Iterator[tuple[Nic, Nic]]:
    for at, nic in enumerate(ring):
        peer = ring[(at + 1) % len(ring)]
        if peer.host != nic.host:
            yield nic, peer


def gpus_unknown(readings: Collection[Reading], hosts: Collection[str]) -> set[str]:
    """The hosts that do not report which processes use their GPUs."""
    known = {one.device for one in readings if one.collector == _GPU_COLLECTOR and not one.error}
    return set(hosts) - known

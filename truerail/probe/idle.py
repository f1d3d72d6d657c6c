"""Which hosts carry a job: what their RDMA ports, GPUs and NICs show in two polls a second or more apart."""

import re
from collections.abc import Collection, Iterable
from itertools import chain
from typing import NamedTuple

from truerail.model import GpuProcess, PortCounters, Reading, Snapshot

LOAD = frozenset(("nic_counters", "rdma_counters"))
ACTIVITY = LOAD | {"rdma_flows", "gpu_processes"}
"""Collectors that show load, and those that show whether a host carries a job."""
LOADED_BYTES_PER_SECOND = 12_500_000.0
"""100 Mbit/s on one NIC: idle hosts' chatter is far below, a job far above. Chosen by judgement."""
_BYTES = re.compile(r"(?:bytes|octets)(?:_phy|_ok)?$")
_WORDS = re.compile(r"port_(?:xmit|rcv)_data$")
"""Counters of InfiniBand's port attributes: units of four octets."""


class Activity(NamedTuple):
    """`busy` hosts, and why; `unknown` hosts show neither queue pairs nor counters of bytes."""

    busy: dict[str, str]
    unknown: frozenset[str]


def activity(first: Snapshot, second: Snapshot, hosts: Collection[str]) -> Activity:
    """What two polls show of hosts: connected queue pairs, processes on GPUs, or load on any NIC. That no process
    computes is no sign that the NICs are idle.
    """
    busy: dict[str, str] = {}
    shown: set[str] = set()
    before = {(host, port, name): (at, value) for host, port, name, at, value in _counted(first.readings)}
    for host, port, name, at, value in _counted(second.readings):
        if host not in hosts or (host, port, name) not in before:
            continue
        since, was = before[host, port, name]
        if at > since and value >= was:
            shown.add(host)
            rate = (value - was) / (at - since)
            if rate > LOADED_BYTES_PER_SECOND:
                busy.setdefault(host, f"{port} carries {rate * 8 / 1e9:.1f} Gbit/s")
    for reading in chain(first.readings, second.readings):
        for fact in reading.facts:
            if reading.device in hosts and isinstance(fact, PortCounters):
                flows = sum(v for c, v in zip(fact.counters, fact.values, strict=True) if c.counter == "flows")
                if any(counter.counter == "flows" for counter in fact.counters):
                    shown.add(reading.device)
                if flows:
                    busy[reading.device] = f"{flows} connected queue pairs on {fact.port}"
        computing = sum(isinstance(fact, GpuProcess) for fact in reading.facts)
        if computing and reading.device in hosts:
            busy.setdefault(reading.device, f"{computing} processes on its GPUs")
    return Activity(busy, frozenset(hosts) - shown)


def _counted(readings: Iterable[Reading]) -> Iterable[tuple[str, str, str, float, int]]:
    """Host, port, counter, its time in Unix seconds, its value in bytes."""
    for reading in readings:
        for fact in reading.facts:
            if isinstance(fact, PortCounters):
                for counter, value in zip(fact.counters, fact.values, strict=True):
                    unit = 1 if _BYTES.search(counter.counter) else 4 if _WORDS.search(counter.counter) else 0
                    if unit and counter.priority is None:
                        at = reading.read_at or reading.at.timestamp()
                        yield reading.device, fact.port, counter.counter, at, value * unit

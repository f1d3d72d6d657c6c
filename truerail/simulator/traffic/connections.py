"""The flows of all running jobs as columns: one row for each sending queue pair."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from truerail.model.columns import Codes
from truerail.simulator.traffic.hashing import Bytes, header_keys, source_ports
from truerail.simulator.traffic.net import Net, Rates
from truerail.simulator.traffic.traffic_jobs import Job, Pattern, pairs

_QP_NUMBERS = (0x100, 1 << 24)


@dataclass(frozen=True)
class Connections:
    """`job` indexes the jobs, `source` and `target` are NIC ports, `weight` is a flow's share of its NIC's traffic (in
    total 1), `key` its five-tuple. All have shape (flows,), `key` (flows, 13).
    """

    jobs: tuple[Job, ...]
    job: Codes
    source: Codes
    target: Codes
    weight: Rates
    key: Bytes

    def __len__(self) -> int:
        return len(self.job)

    def queue_pairs(self, ports: int) -> Codes:
        """The RC queue pairs in use on each port: sending and receiving ones. Shape (ports,)."""
        return np.bincount(self.source, minlength=ports) + np.bincount(self.target, minlength=ports)


def connections(net: Net, jobs: Sequence[Job], seed: int) -> Connections:
    """The flows of these jobs. A job's queue pairs depend only on the seed and its name, not on other jobs."""
    place = {name: number for number, name in enumerate(net.devices[: net.hosts])}
    columns = [_of_job(net, job, place, seed) for job in jobs]
    job = np.repeat(np.arange(len(jobs)), [len(source) for source, _, _, _ in columns])
    source = _joined([c[0] for c in columns])
    target = _joined([c[1] for c in columns])
    weight = np.concatenate([np.empty(0), *(c[2] for c in columns)])
    key = header_keys(_address(net, source), _address(net, target), _joined([c[3] for c in columns]))
    return Connections(tuple(jobs), job, source, target, weight, key)


def _joined(columns: Sequence[Codes]) -> Codes:
    return np.concatenate([np.empty(0, dtype=np.int64), *columns])


def _of_job(net: Net, job: Job, place: dict[str, int], seed: int) -> tuple[Codes, Codes, Rates, Codes]:
    """Source, target, weight and UDP source port of a job's flows: slot after slot, pair after pair."""
    rng = np.random.default_rng([seed, crc32(job.name.encode())])
    hosts = np.array([place[name] for name in job.hosts])
    pair = np.array(list(pairs(job)), dtype=np.int64).reshape(-1, 2)
    fan = len(job.slots) if job.pattern is Pattern.ANY_TO_ANY else 1
    rows = len(pair) * job.qps * fan
    slots = np.repeat(np.array(job.slots), rows)
    other = np.tile(np.array(job.slots), len(slots) // fan) if fan > 1 else slots
    one = np.tile(np.repeat(pair, job.qps * fan, axis=0), (len(job.slots), 1))
    peers = np.bincount(pair[:, 0], minlength=len(hosts))[one[:, 0]] * job.qps * fan
    weights = dict(zip(job.slots, job.weights or [1.0] * len(job.slots), strict=True))
    share = np.array([weights[slot] for slot in job.slots]).repeat(rows) / peers
    local = rng.integers(*_QP_NUMBERS, len(slots))
    remote = rng.integers(*_QP_NUMBERS, len(slots))
    source, target = net.nic[hosts[one[:, 0]], slots], net.nic[hosts[one[:, 1]], other]
    return source, target, share, source_ports(local, remote)


def _address(net: Net, port: Codes) -> Codes:
    """10.rail.host.host, as a number."""
    host, slot = np.divmod(port, net.nic.shape[1])
    return (10 << 24) | (slot & 255) << 16 | (host + 1 & 0xFFFF)

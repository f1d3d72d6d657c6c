"""Simulated traffic finds its way: hash functions, routes over real cabling, shares. Known values and invariants."""

from itertools import pairwise
from zlib import crc32 as zlib_crc32

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.draws import draws
from truerail.model import CauseKind, Role
from truerail.model.plan import LoadBalancing
from truerail.simulator import Fault, Shape, simulate
from truerail.simulator.traffic import Hash, Job, Pattern, Switching, flows
from truerail.simulator.traffic.flow_simulation import FlowSimulation
from truerail.simulator.traffic.hashing import (
    Hasher,
    crc16,
    crc32,
    header_keys,
    mixed,
    source_ports,
    toeplitz,
    xor_fold,
)
from truerail.simulator.traffic.load import fair_shares

PODS = Shape(hosts=32, rails=4, pods=2, spines=8, uplinks=8, superspines=8)
HOSTS = tuple(f"gpu-{number:03}" for number in range(1, 33))
CROSSING = Job("crossing", HOSTS[::2] + HOSTS[1::2], Pattern.ALL_TO_ALL, tuple(range(4)), qps=4)


def keys_of(count: int, seed: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    rng = np.random.default_rng(seed)
    local, remote = rng.integers(256, 1 << 24, (2, count))
    hosts = rng.integers(0x0A000001, 0x0A00FFFF, (2, count))
    return header_keys(hosts[0], hosts[1], source_ports(local, remote))


def test_hashes_are_those_that_the_world_knows() -> None:
    row = np.frombuffer(b"123456789", dtype=np.uint8)[None, :]
    assert int(crc32(row)[0]) == zlib_crc32(b"123456789") == 0xCBF43926
    assert int(crc16(row)[0]) == 0x29B1
    assert int(xor_fold(row)[0]) == 0x3132 ^ 0x3334 ^ 0x3536 ^ 0x3738 ^ 0x3900


def test_toeplitz_gives_the_published_values() -> None:
    secret = bytes.fromhex(
        "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa"
    )  # Microsoft, "Verifying the RSS hash calculation": 66.9.149.187:2794 to 161.142.100.80:1766
    row = np.zeros((1, 13), dtype=np.uint8)
    row[0, :12] = [66, 9, 149, 187, 161, 142, 100, 80, 2794 >> 8, 2794 & 255, 1766 >> 8, 1766 & 255]
    assert int(toeplitz(row, secret)[0]) == 0x51CCC178


def test_source_ports_are_in_the_range_of_roce_and_follow_the_kernel() -> None:
    ports = source_ports(np.array([0x11, 0xFFFFFF]), np.array([0x22, 0xFFFFFF]))
    assert ports[0] == 0xC000 | 0x11 * 0x22
    assert (ports >= 0xC000).all()
    assert (ports <= 0xFFFF).all()


@pytest.mark.parametrize("function", Hash)
@pytest.mark.parametrize("buckets", [7, 8, 32])
def test_every_hash_spreads_flows_evenly(function: Hash, buckets: int) -> None:
    count = 16000
    hasher = Hasher(function, keys_of(count), np.array([77], dtype=np.uint32))
    values = hasher.of(np.arange(count), np.zeros(count, dtype=np.int64))
    load = np.bincount(values.astype(np.int64) % buckets, minlength=buckets)
    chi2 = ((load - count / buckets) ** 2 / (count / buckets)).sum()
    assert chi2 < buckets + 6 * np.sqrt(2 * buckets)


@pytest.mark.parametrize("function", Hash)
def test_equal_seeds_polarize_and_others_do_not(function: Hash) -> None:
    count, first, second = 20000, 8, 12
    hasher = Hasher(function, keys_of(count), np.array([5, 5, 6], dtype=np.uint32))
    rows = np.arange(count)
    chosen = rows[hasher.of(rows, np.zeros(count, dtype=np.int64)) % first == 3]
    same = np.unique(hasher.of(chosen, np.ones(len(chosen), dtype=np.int64)) % second)
    other = np.unique(hasher.of(chosen, np.full(len(chosen), 2)) % second)
    assert len(same) == second // np.gcd(first, second)
    assert len(other) == second


def test_mixing_with_a_seed_renames_no_buckets() -> None:
    values = crc32(keys_of(4000))
    low = values % 8 == 0
    assert len(np.unique(mixed(values[low], np.full(low.sum(), 9, dtype=np.uint32)) % 8)) == 8


@settings(max_examples=draws(15, 240))
@given(st.integers(1, 60), st.integers(1, 12), st.integers(0, 1000))
@example(8, 8, 219)
def test_shares_are_max_min_fair(count: int, links: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hops = np.array([np.resize(rng.permutation(links), 3) for _ in range(count)])
    hops[rng.random(count) < 0.3, 2] = -1
    wish, capacity = rng.uniform(0.1, 10, count), rng.uniform(1, 20, links)
    shares = fair_shares(hops, wish, capacity)
    used = np.zeros(links)
    for path, rate in zip(hops, shares.rate, strict=True):
        used[np.unique(path[path >= 0])] += rate
    double = [len(path[path >= 0]) != len(set(path[path >= 0].tolist())) for path in hops]
    assert (used <= capacity * 1.01).all()
    for flow in np.flatnonzero(~np.array(double) & (shares.rate < wish * 0.99)).tolist():
        link = hops[flow, shares.tight[flow]]
        assert shares.rate[flow] >= shares.rate[(hops == link).any(axis=1)].max() * 0.98
        assert any(double) or used[link] >= 0.98 * capacity[link]


def running(**more: object) -> FlowSimulation:
    made = flows(simulate(PODS, seed=2), [CROSSING], seed=3, switching=Switching(**more))  # type: ignore[arg-type]  # passed through
    made.step(10.0)
    return made


def test_flows_go_up_and_down_and_arrive() -> None:
    made = running()
    assert made.last is not None
    net, hops = made.net, made.last.load.paths.hops
    for row, path in enumerate(hops.tolist()):
        used = [port for port in path if port >= 0]
        tiers = [int(net.tier[net.device[port]]) for port in used]
        flow = made.last.load.paths.flow[row]
        assert used[0] == made.last.flows.source[flow]
        assert net.far[used[-1]] == made.last.flows.target[flow]
        assert tiers in ([0, 1], [0, 1, 2, 3, 2, 1])
        for port, following in pairwise(used):
            assert net.device[net.far[port]] == net.device[following]


def test_traffic_goes_where_the_cable_leads_not_where_the_plan_says() -> None:
    site = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4), [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=4)
    job = Job("ring", tuple(f"gpu-{n:03}" for n in range(1, 9)), Pattern.RING, tuple(range(4)))
    made, clean = flows(site, [job], seed=1), flows(simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4)), [job])
    for one in (made, clean):
        one.step(10.0)
    up = {id(one): _uplink_bytes(one) for one in (made, clean)}
    assert up[id(clean)] == 0
    assert up[id(made)] > 0
    wrong = {truth.culprit for truth in made.truth if truth.kind == "wrong-rail"}
    assert wrong == set(map(str, site.truth.causes[0].cables))


def _uplink_bytes(made: FlowSimulation) -> float:
    assert made.last is not None
    net, load = made.net, made.last.load
    up = [net.code[c.a] for c in net.world.fabric.plan.cables if net.world.fabric.plan.role_of(c.a.device) is Role.LEAF]
    return float(load.mean[np.isin(load.paths.hops, up).any(axis=1)].sum())


@pytest.mark.parametrize("balancing", [LoadBalancing.SPRAY, LoadBalancing.ADAPTIVE])
def test_spread_packets_load_all_uplinks_alike(balancing: LoadBalancing) -> None:
    load = _by_uplink(running(balancing=balancing))
    assert load.std() / load.mean() < 0.05
    assert _by_uplink(running()).std() / _by_uplink(running()).mean() > 0.05


def _by_uplink(made: FlowSimulation) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    assert made.last is not None
    net, load = made.net, made.last.load
    leaf = net.ports_of("p1-leaf-0")
    ups = [port for port in leaf.tolist() if net.far[port] >= 0 and net.tier[net.device[net.far[port]]] == 2]
    return np.array([load.mean[(load.paths.hops == port).any(axis=1)].sum() for port in ups])

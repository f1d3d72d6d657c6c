"""Simulated traffic counts what flows; a fault shows in the counters of the ports that it concerns, and no others."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from benchmarks.telemetry.polled_rounds import round_after
from truerail.analysis.counters import Quantity, Window
from truerail.analysis.counters.telemetry import Telemetry
from truerail.errors import NoRoomError
from truerail.model import PortCounters
from truerail.simulator import Shape, Simulation, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, FlowSimulation, Job, Pattern, Polls, Switching, flows
from truerail.simulator.traffic.accounts import PAUSE_FRAME_BYTES
from truerail.simulator.traffic.flow_faults import LEAST_SHARE, FlowTruth
from truerail.simulator.traffic.ledger import PLACE

Q, K = Quantity, FlowFaultKind
SHAPE = Shape(hosts=32, rails=4, pods=2, spines=4, uplinks=16)
HOSTS = tuple(f"gpu-{number:03}" for number in range(1, 33))
SLOTS = tuple(range(4))
JOBS = (
    Job("ring", HOSTS[::2], Pattern.RING, SLOTS),
    Job("experts", HOSTS[1::2], Pattern.ALL_TO_ALL, SLOTS, qps=1, coupling=0.5),
)


@cache
def fabric() -> Simulation:
    return simulate(SHAPE, seed=1)


def running(
    *faults: FlowFault, seed: int = 1, steps: int = 1, lossless: bool = True, watchdog: bool = False
) -> FlowSimulation:
    switching = Switching(lossless=lossless, watchdog=watchdog)
    made = flows(fabric(), JOBS, faults, seed, switching=switching)
    for _ in range(steps):
        made.step(10.0)
    return made


def gained(
    made: FlowSimulation, quantity: Quantity, *, rdma: bool = False
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(made.ledger.gained[PLACE[quantity, rdma]])


def reported(made: FlowSimulation) -> Telemetry:
    return round_after(fabric(), made, minutes=2).telemetry


def of(made: FlowSimulation, kind: FlowFaultKind) -> FlowTruth:
    return next(truth for truth in made.truth if truth.kind is kind)


def code(made: FlowSimulation, name: str) -> int:
    return [str(port) for port in made.net.ports].index(name)


EVERY = [FlowFault(kind) for kind in (K.STORM, K.DIRTY_OPTIC, K.INCAST, K.FLAPS, K.HALF_SPEED)]


@pytest.mark.parametrize("more", [{}, {"lossless": False}, {"watchdog": True}], ids=str)
def test_what_goes_in_comes_out_or_is_dropped(more: dict[str, bool]) -> None:
    made = running(*EVERY, **more)
    net = made.net
    sent, received = gained(made, Q.TX_BYTES), gained(made, Q.RX_BYTES)
    linked = np.flatnonzero(net.far >= 0)
    lossless = linked[gained(made, Q.RX_ERRORS)[net.far[linked]] == 0]
    assert sent[lossless] == pytest.approx(received[net.far[lossless]])
    drops = gained(made, Q.TX_DISCARDS) * 4166
    sent = sent - PAUSE_FRAME_BYTES * gained(made, Q.TX_PAUSE_FRAMES, rdma=True)
    received = received - PAUSE_FRAME_BYTES * gained(made, Q.RX_PAUSE_FRAMES, rdma=True)
    for switch in net.devices[net.hosts :]:
        ports = net.ports_of(switch)
        assert received[ports].sum() == pytest.approx(sent[ports].sum() + drops[ports].sum(), rel=1e-9)
    assert (drops.sum() > 0) == bool(more)
    assert (sent <= net.speed * 10.0 * 1.001).all()


def test_a_quiet_fabric_has_no_pauses_errors_or_drops() -> None:
    made = running(steps=3)
    assert made.truth == ()
    for quantity in (Q.TX_DISCARDS, Q.RX_ERRORS, Q.FEC_UNCORRECTED, Q.LINK_DOWNS, Q.ACK_TIMEOUTS, Q.PCI_STALLED_EVENTS):
        assert gained(made, quantity).sum() == 0
    assert made.last is not None
    assert made.last.pauses.share.max() < 0.3
    assert gained(made, Q.TX_BYTES).max() > 1e11


@pytest.mark.parametrize("seed", range(4))
def test_a_storm_stops_everybody_behind_it_and_nobody_else(seed: int) -> None:
    made = running(FlowFault(K.STORM), seed=seed)
    truth = of(made, K.STORM)
    assert made.last is not None
    share = made.last.pauses.share
    stopped = {str(made.net.ports[port]) for port in np.flatnonzero(share > 0.9).tolist()}
    assert stopped == {victim.port for victim in truth.victims}
    assert len(stopped) > 1
    assert truth.victims[0].port == str(made.net.ports[made.net.far[code(made, truth.culprit)]])
    for victim in truth.victims[1:]:
        assert _waits_for(made, victim.port, {v.port for v in truth.victims if v.hops < victim.hops})
    nic = code(made, truth.culprit)
    paused_us, ends = gained(made, Q.RX_PAUSE_US, rdma=True), gained(made, Q.RX_PAUSE_TRANSITIONS, rdma=True)
    assert gained(made, Q.TX_PAUSE_US, rdma=True)[nic] > 9e6
    assert gained(made, Q.RX_PAUSE_US, rdma=True)[nic] < 9e6
    assert (paused_us[share > 0.9] / ends[share > 0.9] > 1e5).all()
    assert gained(made, Q.TX_BYTES, rdma=True)[share > 0.9].max() == 0


def _waits_for(made: FlowSimulation, name: str, nearer: set[str]) -> bool:
    """Whether some flow leaves by this port just before it leaves by one of those."""
    assert made.last is not None
    hops = made.last.load.paths.hops
    rows, at = np.nonzero(hops[:, :-1] == code(made, name))
    return any(str(made.net.ports[port]) in nearer for port in hops[rows, at + 1].tolist() if port >= 0)


def test_a_watchdog_keeps_a_storm_from_spreading_and_drops() -> None:
    made = running(FlowFault(K.STORM), watchdog=True)
    truth = of(made, K.STORM)
    leaf = made.net.far[code(made, truth.culprit)]
    assert [victim.port for victim in truth.victims] == [str(made.net.ports[leaf])]
    assert gained(made, Q.WATCHDOG_STORMS, rdma=True).nonzero()[0].tolist() == [leaf]
    assert gained(made, Q.TX_DISCARDS)[leaf] > 0


@pytest.mark.parametrize("kind", [K.SLOW_RECEIVER, K.INCAST])
@pytest.mark.parametrize("seed", range(3))
def test_back_pressure_is_short_pauses_towards_the_senders(kind: FlowFaultKind, seed: int) -> None:
    made, calm = running(FlowFault(kind), seed=seed), running(seed=seed)
    truth = of(made, kind)
    assert made.last is not None
    assert calm.last is not None
    share = made.last.pauses.share
    more = np.flatnonzero(share > calm.last.pauses.share + LEAST_SHARE)
    assert {str(made.net.ports[port]) for port in more.tolist()} <= {victim.port for victim in truth.victims}
    for victim in truth.victims:
        port = code(made, victim.port)
        assert LEAST_SHARE <= share[port] <= 0.95
        mean_us = gained(made, Q.RX_PAUSE_US, rdma=True)[port] / gained(made, Q.RX_PAUSE_TRANSITIONS, rdma=True)[port]
        assert mean_us < 1000
    assert truth.victims
    assert gained(made, Q.CNP_SENT).sum() > gained(calm, Q.CNP_SENT).sum()


@pytest.mark.parametrize(("variant", "quantity"), [("pcie", Q.PCI_STALLED_EVENTS), ("application", Q.OUT_OF_BUFFER)])
def test_a_slow_receiver_says_why(variant: str, quantity: Quantity) -> None:
    made = running(FlowFault(K.SLOW_RECEIVER, variant=variant))
    nic = code(made, of(made, K.SLOW_RECEIVER).culprit)
    assert gained(made, quantity).nonzero()[0].tolist() == [nic]


def test_a_deadlock_is_a_cycle_of_ports_that_wait_for_each_other() -> None:
    made = running(FlowFault(K.DEADLOCK))
    truth, net = of(made, K.DEADLOCK), made.net
    cycle = [code(made, port) for port in truth.ports]
    for port, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        assert net.device[net.far[port]] == net.device[following]
    assert gained(made, Q.RX_PAUSE_US, rdma=True)[cycle].min() > 9e6
    assert gained(made, Q.TX_BYTES, rdma=True)[cycle].max() == 0


def test_a_link_at_half_speed_carries_half_and_holds_back_who_sends() -> None:
    at = "gpu-003/enp26s0f0np0"
    made, calm = running(FlowFault(K.HALF_SPEED, at)), running()
    nic = code(made, at)
    leaf = made.net.far[nic]
    assert gained(made, Q.TX_BYTES)[leaf] <= 0.5 * made.net.speed[leaf] * 10
    assert gained(made, Q.RX_BYTES)[nic] < gained(calm, Q.RX_BYTES)[nic]
    assert gained(made, Q.RX_BITS)[nic] == pytest.approx(0.5 * gained(calm, Q.RX_BITS)[nic])
    assert of(made, K.HALF_SPEED).victims


@pytest.mark.parametrize("variant", ["host", "uplink"])
def test_who_sits_on_a_slow_link_says_so_and_nobody_else(variant: str) -> None:
    made = running(FlowFault(K.HALF_SPEED, variant=variant))
    wiring = reported(made).wiring
    speed = wiring.states.speed_gbps[: wiring.index.planned_ports]
    slow = {str(wiring.index.spell(port)) for port in np.flatnonzero(speed == 200.0).tolist()}
    ends = set(of(made, K.HALF_SPEED).ports)
    assert slow == ends
    assert set(map(str, made.slow_links)) == ends


def test_without_pfc_no_nic_tells_of_pauses() -> None:
    made = running(lossless=False)
    names = {
        c.counter for r in made.readings() for fact in _counted(r.facts) for c in fact.counters if r.device in HOSTS
    }
    assert "rx_prio3_bytes" in names
    assert not [name for name in names if name.endswith(("_pause", "_pause_duration"))]


def test_a_dirty_optic_shows_at_the_end_that_receives() -> None:
    made = running(FlowFault(K.DIRTY_OPTIC, variant="host"))
    port = code(made, of(made, K.DIRTY_OPTIC).culprit)
    for quantity in (Q.RX_ERRORS, Q.SYMBOL_ERRORS, Q.FEC_UNCORRECTED):
        assert gained(made, quantity).nonzero()[0].tolist() == [port]
    assert gained(made, Q.CORRECTED_BITS).argmax() == port
    assert gained(made, Q.OUT_OF_SEQUENCE).sum() > 0


def test_flaps_are_counted_at_both_ends() -> None:
    made = running(FlowFault(K.FLAPS), steps=12)
    ends = [code(made, port) for port in of(made, K.FLAPS).ports]
    downs = PLACE[Q.LINK_DOWNS, False]
    since = made.ledger.total[downs] - running(steps=0).ledger.total[downs]
    assert (since[ends] >= 3).all()
    assert np.flatnonzero(since > 2).tolist() == sorted(ends)


def test_a_straggler_carries_its_share_of_what_its_peers_carry() -> None:
    job = Job("loose", HOSTS, Pattern.RING, SLOTS, coupling=0.0)
    made = flows(fabric(), [job], [FlowFault(K.STRAGGLER)], noise=0.0)
    made.step(10.0)
    both = gained(made, Q.TX_BYTES, rdma=True) + gained(made, Q.RX_BYTES, rdma=True)
    nics = made.net.nic.ravel()
    assert both[code(made, of(made, K.STRAGGLER).culprit)] / np.median(both[nics]) == pytest.approx(0.75, rel=0.02)


def test_polarized_spines_leave_uplinks_idle() -> None:
    site = simulate(Shape(hosts=32, rails=4, pods=2, spines=8, uplinks=8, superspines=4), seed=1)
    job = Job("all", HOSTS[::2] + HOSTS[1::2], Pattern.ALL_TO_ALL, SLOTS, qps=8)
    idle = {}
    for faults in ((), (FlowFault(K.POLARIZATION),)):
        made = flows(site, [job], faults)
        made.step(10.0)
        net = made.net
        up = (net.tier[net.device] == 2) & (net.tier[net.device[net.far]] == 3) & (net.far >= 0)
        idle[len(faults)] = (gained(made, Q.TX_BYTES, rdma=True)[up] == 0).mean()
        suffer = {victim.port for truth in made.truth for victim in truth.victims}
        nothing = np.flatnonzero(up & (gained(made, Q.TX_BYTES, rdma=True) == 0)).tolist()
        assert suffer == {str(net.ports[port]) for port in nothing}
    assert idle == {0: 0.0, 1: 0.75}  # with eight and four ways only one of four is ever taken


def test_a_dead_member_carries_nothing_though_it_is_up() -> None:
    made, calm = running(FlowFault(K.DEAD_MEMBER)), running()
    port = code(made, of(made, K.DEAD_MEMBER).culprit)
    assert gained(made, Q.TX_BYTES, rdma=True)[port] == 0
    assert gained(calm, Q.TX_BYTES, rdma=True)[port] > 0
    assert made.net.live[port]


def test_a_job_with_pxn_loads_some_rails_of_all_its_hosts_more() -> None:
    made = flows(fabric(), [], [FlowFault(K.PXN)])
    made.step(10.0)
    sent = gained(made, Q.TX_BYTES, rdma=True)[made.net.nic]
    used = sent[sent.sum(axis=1) > 0]
    assert len(used) == 16
    heavy = used > used.max(axis=1, keepdims=True) * 0.8
    assert (heavy == heavy[0]).all()
    assert 0 < heavy[0].sum() < 4


def test_jobs_begin_and_end_and_so_do_faults() -> None:
    job = Job("short", HOSTS, Pattern.RING, SLOTS, begins=20.0, ends=40.0)
    made = flows(fabric(), [job], [FlowFault(K.PXN, since=60.0, until=70.0)])
    carried = []
    for _ in range(8):
        made.step(10.0)
        carried.append(bool(gained(made, Q.TX_BYTES, rdma=True).sum()))
    assert carried == [False, False, True, True, False, False, True, False]


def test_the_same_seed_gives_the_same_counters_and_another_one_others() -> None:
    def reported_by(seed: int) -> list[object]:
        made = flows(fabric(), None, EVERY[:1], seed, polls=Polls(lost=0.1, cached=0.1, reset=0.05))
        made.step(10.0)
        return [(r.device, r.collector, r.facts, r.error, r.read_at) for r in made.readings()]

    assert reported_by(3) == reported_by(3)
    assert reported_by(3) != reported_by(4)


def test_a_fault_without_a_place_says_so() -> None:
    with pytest.raises(NoRoomError, match="nothing is sent"):
        flows(fabric(), [], [FlowFault(K.STORM)])
    with pytest.raises(ValueError, match=r"storm: no port 'gpu-001/eth99'"):
        flows(fabric(), JOBS, [FlowFault(K.STORM, "gpu-001/eth99")])
    with pytest.raises(ValueError, match="matter of cables"):
        FlowFault(K.WRONG_RAIL)


def test_the_counters_come_in_the_plans_terms() -> None:
    made = running(FlowFault(K.STORM))
    seen = reported(made)
    index = seen.wiring.index
    rates = seen.mean_rate(Q.TX_BYTES)
    assert not np.isnan(rates).any()
    spelled = {index.spell(port): port for port in range(seen.ports)}
    for name, port in spelled.items():
        at = code(made, str(name))
        assert rates[port] == pytest.approx(gained(made, Q.TX_BYTES)[at] / 10, rel=0.35, abs=3e3)
    truth = of(made, K.STORM)
    storming = next(port for name, port in spelled.items() if str(name) == truth.culprit)
    assert seen.mean_rate(Q.TX_PAUSE_US, 3)[storming] > 9e5
    assert seen.summed(Q.FLOWS).gained[storming] > 0


def test_lost_and_cached_polls_leave_holes_and_no_nonsense() -> None:
    made = flows(fabric(), JOBS, seed=5, polls=Polls(lost=0.1, cached=0.1), noise=0.0)
    window = Window()
    for _ in range(25):
        made.step(10.0)
        window.put(made.readings())
    source = window.sources["nic_counters"]
    rate = source.series[Q.TX_BYTES, None].gained.view().of(window.order) / source.span.view().of(window.order)
    assert np.isnan(rate).mean() > 0.05
    assert np.nanmax(rate) < 5.1e10


def test_a_reset_device_counts_from_zero() -> None:
    made = flows(fabric(), JOBS, polls=Polls(reset=0.5))
    before = {r.device: r.facts for r in made.readings() if r.collector == "nic_counters"}
    made.step(10.0)
    later = {r.device: r.facts for r in made.readings() if r.collector == "nic_counters"}
    fell = [name for name in before if _counted(later[name])[0].values[3] < _counted(before[name])[0].values[3]]
    assert 4 < len(fell) < 28


def test_narrow_counters_wrap() -> None:
    made = running()
    made.ledger.total[PLACE[Q.ACK_TIMEOUTS, False]] = 2**32 + 7
    facts = [fact for reading in made.readings() if reading.collector == "rdma_counters" for fact in reading.facts]
    values = {dict(zip(fact.counters, fact.values, strict=True))[fact.counters[4]] for fact in _counted(facts)}
    assert values == {7}


def _counted(facts: Sequence[object]) -> list[PortCounters]:
    return [fact for fact in facts if isinstance(fact, PortCounters)]

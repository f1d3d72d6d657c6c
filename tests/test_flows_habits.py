"""What healthy devices count that looks ill: each habit shows in the counters, and none of them is an alarm."""

from itertools import pairwise

import numpy as np
import pytest

from benchmarks.telemetry.days import EVERY, alarms_of, draw_day, habits_of
from tests.draws import SOAK, draws
from truerail.model import Counter, PortCounters
from truerail.simulator import Shape, simulate
from truerail.simulator.traffic import HABITS, FlowSimulation, Polls, flows
from truerail.simulator.traffic.ledger import PLACE, Key, Q

FABRIC = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4), seed=1)
TOGETHER = [(habit,) for habit in HABITS] if SOAK else [HABITS[first::5] for first in range(5)]
"""Habits that a day has at once; two of one kind, which follow each other in `HABITS`, never."""


def living(*habits: str, steps: int = 6) -> FlowSimulation:
    made = flows(FABRIC, polls=Polls(jitter=0.0), habits=habits)
    for _ in range(steps):
        made.step(10.0)
    return made


def gained(made: FlowSimulation, key: Key) -> float:
    return float(made.ledger.gained[PLACE[key]].sum())


def reported(made: FlowSimulation, device: str, collector: str, counter: str) -> list[int]:
    """One counter of every port, in each of twelve polls ten seconds apart, summed over the ports."""
    found = []
    for _ in range(12):
        made.step(10.0)
        facts = next(r.facts for r in made.readings() if (r.device, r.collector) == (device, collector))
        rows = [fact for fact in facts if isinstance(fact, PortCounters)]
        found.append(sum(row.values[[c.counter for c in row.counters].index(counter)] for row in rows))
    return found


def test_a_habit_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="no such habit: sings"):
        living("sings")


@pytest.mark.parametrize(
    ("habit", "key"),
    [
        ("trickle", (Q.RX_DISCARDS, False)),
        ("trickle", (Q.OUT_OF_BUFFER, False)),
        ("soft_pause", (Q.RX_PAUSE_FRAMES, True)),
        ("soft_pause", (Q.TX_PAUSE_US, True)),
    ],
)
def test_healthy_ports_count_what_looks_like_trouble(habit: str, key: Key) -> None:
    assert gained(living(habit), key) > gained(living(), key)


def test_old_errors_are_there_at_the_first_poll() -> None:
    key = PLACE[Q.OUT_OF_SEQUENCE, False]
    assert living("old_counts").ledger.total[key].mean() > 1e6 > living().ledger.total[key].max()


def test_counters_of_32_bits_wrap() -> None:
    host = next(iter(FABRIC.plan.devices))
    made = living("wrap32", "trickle")
    before = reported(made, host, "rdma_counters", "out_of_buffer")[0]
    made.step(3600.0)
    assert reported(made, host, "rdma_counters", "out_of_buffer")[-1] < before / 2


@pytest.mark.parametrize(("habit", "share"), [("symbol_is_post", 0.0), ("symbol_is_none", 0.0), ("fec_healthy", 1.0)])
def test_platforms_mean_different_things_by_symbol_errors(habit: str, share: float) -> None:
    made = living(habit)
    symbols, codewords = gained(made, (Q.FEC_SYMBOLS, False)), gained(made, (Q.FEC_CORRECTED, False))
    assert codewords > 0
    assert symbols / codewords == pytest.approx(share, rel=0.01)


def test_healthy_links_differ_in_their_errors_before_fec() -> None:
    corrected = living("fec_healthy").ledger.gained[PLACE[Q.CORRECTED_BITS, False]]
    assert corrected.max() > 1000 * np.min(corrected[corrected > 0]) > 0


def test_pause_frames_are_in_a_ports_bytes_or_are_not() -> None:
    counted, left_out = living("soft_pause"), living("soft_pause", "pause_not_in_bytes")
    assert gained(left_out, (Q.TX_BYTES, False)) < gained(counted, (Q.TX_BYTES, False))


@pytest.mark.parametrize(
    ("habit", "collector", "counter", "fresh"),
    [
        ("sonic_flex=60s", "queue_counters", "queue_packets", 2),
        ("sonic_flex=60s", "port_counters", "tx_bytes", 11),
        ("snmp_cache", "port_counters", "tx_bytes", 4),
        ("stats_period=1s", "port_counters", "tx_bytes", 11),
    ],
)
def test_a_device_tells_what_it_knew_when_it_looked_last(habit: str, collector: str, counter: str, fresh: int) -> None:
    values = reported(living(habit), "leaf-0", collector, counter)
    changes = sum(one != other for one, other in pairwise(values))
    assert abs(changes - fresh) <= 1


def counted_by(made: FlowSimulation, collector: str) -> dict[str, set[str]]:
    """The counters that each device tells."""
    return {
        reading.device: {
            str(c.counter) for fact in reading.facts if isinstance(fact, PortCounters) for c in fact.counters
        }
        for reading in made.readings()
        if reading.collector == collector
    }


def test_one_host_without_pfc_tells_of_no_pauses() -> None:
    made = living("pfc_missing")
    reported = counted_by(made, "nic_counters")
    (without,) = (
        device
        for device, counters in reported.items()
        if not any("pause" in name and "storm" not in name for name in counters)
    )
    assert made.habits.without_pfc == {without}


def test_pauses_over_all_priorities_have_none() -> None:
    facts = [fact for r in living("pfc_total_only").readings() if r.collector == "pfc_counters" for fact in r.facts]
    assert {c for fact in facts if isinstance(fact, PortCounters) for c in fact.counters} == {
        Counter("rx_pause_frames"), Counter("tx_pause_frames")
    }  # fmt: skip


def test_what_an_asic_does_not_count_is_in_no_answer_of_it() -> None:
    reported = counted_by(living("na_cells"), "port_counters")
    with_fec = {device for device, counters in reported.items() if "fec_uncorrected" in counters}
    assert 0 < len(with_fec) < len(reported)
    arrays = [of for of in living("na_cells").answers() if of.collector == "port_counters" and of.devices]
    assert {len(of.counters) for of in arrays} == {len(counters) for counters in reported.values()}


def test_a_cache_that_is_renewed_port_by_port_jumps_at_moments_of_each_port() -> None:
    made, steps = living("port_cache"), []
    for _ in range(8):
        made.step(10.0)
        values = next(of.values for of in made.answers() if of.collector == "port_counters")
        steps.append(values[:, 0].copy())
    moved = np.array([later != earlier for earlier, later in pairwise(steps)])
    assert (moved.sum(axis=0) <= 2).all()
    assert moved.any(axis=1).all()


def test_an_idle_host_restarts_and_the_ports_of_its_leaves_tell_it_later() -> None:
    made = flows(FABRIC, [], habits=("plug_burst", "counters_frozen"), seed=3)
    falls = []
    while not made.habits.restarted and made.now < 86400:
        made.step(10.0)
    for _ in range(14):
        falls.append(gained(made, (Q.LINK_DOWNS, False)))
        made.step(10.0)
    assert len(made.habits.restarted) == 1
    assert (falls[0], sum(falls)) == (4, 8)  # its four NICs at once, their leaves' ports two minutes later
    assert next(number for number, count in enumerate(falls[1:], 1) if count) == 12


@pytest.mark.parametrize("habits", TOGETHER, ids=" ".join)
def test_the_first_windows_of_a_day_with_habits_have_no_alarm(habits: tuple[str, ...]) -> None:
    seconds = draws(2, 6) * EVERY
    assert [alarm for alarm in alarms_of(draw_day(0, habits=habits), seconds) if not alarm.load] == []


def test_days_have_habits_of_their_own() -> None:
    drawn = [habits_of(number) for number in range(60)]
    assert {habit for of in drawn for habit in of} == {*HABITS}
    assert draw_day(7).traffic.habits.names == {*drawn[7]}

"""Counters that misbehave: late polls, clocks that step, caches, reboots, names that move, devices that go quiet."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerail.analysis.counters import Quantity, Window
from truerail.analysis.counters.carried import carried_of, overall
from truerail.analysis.counters.hygiene import MOST_PACES
from truerail.analysis.counters.ring import Ring
from truerail.analysis.counters.telemetry import Telemetry
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import Counter, PortCounters, Reading, Snapshot
from truerail.testing.cases import plan_of

BEGIN = datetime(2026, 11, 20, 14, tzinfo=UTC).timestamp()
RATE = 1000
NAMES = (Counter("tx_bytes"), Counter("crc_errors"), Counter("out_of_buffer"))
"""Traffic and errors in 64 bits, and errors in 32."""
Reported = Mapping[str, Sequence[tuple[int, ...]] | None]
PLAN = "gpu-1/nic0 leaf-0/p1 rail=0 speed=400\ngpu-2/nic0 leaf-0/p2 rail=0 speed=400"


def reading(device: str, at: float, *ports: tuple[int, ...], collector: str = "port_counters") -> Reading:
    facts = tuple(PortCounters(f"p{n}", NAMES[: len(values)], values) for n, values in enumerate(ports, 1))
    return Reading(device, collector, datetime.fromtimestamp(at, UTC), facts, read_at=at)


def counting(rounds: Iterable[tuple[float, int]], samples: int = 30) -> Window:
    """A window over one port that counts these values at these seconds."""
    window = Window(samples)
    for seconds, value in rounds:
        window.put([reading("leaf-0", BEGIN + seconds, (value,))])
    return window


def steady(*seconds: float) -> Window:
    """The same at a thousand a second."""
    return counting((at, int(at * RATE)) for at in seconds)


def gained(
    window: Window, quantity: Quantity = Quantity.TX_BYTES, device: str = "leaf-0", port: str = "p1"
) -> list[float]:
    source = window.sources["port_counters"]
    row = source.ports.index((device, port))
    found: list[float] = source.series[quantity, None].gained.view().of(window.order, np.array([row]))[0].tolist()
    return found


def spans(window: Window) -> list[float]:
    found: list[float] = window.sources["port_counters"].span.view().of(window.order)[0].tolist()
    return found


def table(ring: Ring) -> npt.NDArray[np.float32]:
    """All samples, shape (rows, samples)."""
    return ring.view().of(np.arange(len(ring)))


def reported(window: Window) -> Telemetry:
    return Round(plan_of(Case(plan=PLAN)), Snapshot(datetime.fromtimestamp(BEGIN, UTC), []), window.view()).telemetry


# --- time -------------------------------------------------------------------------------------------------------------


def test_irregular_intervals_give_the_rate_by_the_time_that_passed() -> None:
    window = steady(0, 10, 21.5, 29, 43, 50)
    assert gained(window) == pytest.approx([np.nan, 10_000, 11_500, 7_500, 14_000, 7_000], nan_ok=True)
    assert spans(window) == pytest.approx([np.nan, 10, 11.5, 7.5, 14, 7], nan_ok=True)


def test_a_pause_of_everybody_leaves_a_hole_as_long_as_it_took() -> None:
    window = steady(0, 10, 20, 60, 70)
    assert gained(window) == pytest.approx(
        [np.nan, 10_000, 10_000, np.nan, np.nan, np.nan, 40_000, 10_000], nan_ok=True
    )
    assert np.diff(window.begun[window.order]).tolist() == [10] * 7


def test_traffic_over_a_long_pause_is_not_of_now() -> None:
    window = steady(0, 10, 20, 30 + MOST_PACES * 10, 40 + MOST_PACES * 10)
    assert gained(window)[-2:] == pytest.approx([np.nan, 10_000], nan_ok=True)


def test_errors_over_a_long_pause_happened_all_the_same() -> None:
    window = Window()
    for seconds, errors in ((0, 5), (10, 5), (110, 9), (120, 9), (600, 50)):
        window.put([reading("leaf-0", BEGIN + seconds, (seconds * RATE, errors))])
    assert np.isnan(gained(window, Quantity.CRC_ERRORS)).all()  # who knows when in these eight minutes
    window = Window()
    for seconds, errors in ((0, 5), (10, 5), (110, 9)):
        window.put([reading("leaf-0", BEGIN + seconds, (seconds * RATE, errors))])
    assert gained(window, Quantity.CRC_ERRORS)[-1] == 4
    assert np.isnan(gained(window)[-1])


def test_a_pause_longer_than_the_window_leaves_nothing_of_before() -> None:
    found = gained(steady(0, 10, 20, 2000, 2010))
    assert len(found) == 30
    assert found[-1] == 10_000
    assert np.isnan(found[:-1]).all()


def test_rounds_a_minute_apart_are_no_holes() -> None:
    window = steady(0, 60, 121, 180)
    assert gained(window) == pytest.approx([np.nan, 60_000, 61_000, 59_000], nan_ok=True)


@pytest.mark.parametrize("step", [-3600, -90, -30, 3600])
def test_a_clock_that_steps_costs_a_difference_and_never_invents_a_rate(step: float) -> None:
    window = Window()
    for number in range(12):
        seconds = number * 10 + (step if number >= 6 else 0)
        window.put([reading("leaf-0", BEGIN + seconds, (number * 10_000,))])
    source = window.sources["port_counters"]
    rates = (table(source.series[Quantity.TX_BYTES, None].gained) / table(source.span))[0]
    known = rates[~np.isnan(rates)]
    assert len(known) >= 4
    assert known == pytest.approx(RATE)


def test_two_rounds_that_come_together_count_once() -> None:
    window = steady(0, 10)
    window.put([reading("leaf-0", BEGIN + 20, (20_000,)), reading("leaf-0", BEGIN + 30, (30_000,))])
    assert np.nansum(gained(window)) == 30_000
    assert np.nansum(spans(window)) == 30


# --- what agents do ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cache", [5, 15, 20, 30])
def test_a_cache_gives_the_right_rate_and_no_standstill(cache: int) -> None:
    window = counting((at, int(at // cache * cache * RATE)) for at in range(3, 303, 10))
    source = window.sources["port_counters"]
    rates = (table(source.series[Quantity.TX_BYTES, None].gained) / table(source.span))[0]
    known = rates[~np.isnan(rates)]
    assert len(known) >= 8
    assert (known > 0).all()
    assert known.max() <= 2 * RATE  # a cache of 15 s seen every 10 or 20 s
    assert np.nansum(table(source.series[Quantity.TX_BYTES, None].gained)) / np.nansum(
        table(source.span)
    ) == pytest.approx(RATE, rel=0.12)


def test_a_device_that_stops_for_good_is_believed_after_any_cache() -> None:
    window = counting((at, min(at, 100) * RATE) for at in range(0, 200, 10))
    found = gained(window)
    assert found[10] == 10_000
    assert np.isnan(found[11:14]).all()
    assert found[14:] == [0] * 6


def test_one_idle_port_of_a_device_that_counts_is_idle() -> None:
    window = Window()
    for number in range(4):
        window.put([reading("leaf-0", BEGIN + 10 * number, (number * RATE,), (7, 0))])
    assert gained(window, port="p2")[1:] == [0, 0, 0]


@given(st.lists(st.booleans(), min_size=4, max_size=25), st.lists(st.integers(0, 10**9), min_size=25, max_size=25))
def test_what_was_gained_adds_up_wherever_nothing_was_missed(missed: list[bool], counts: list[int]) -> None:
    """However polls fall out: from the first to the last that came, every byte is counted once."""
    window, total, known = Window(), 0, []
    for number, (away, more) in enumerate(zip(missed, counts, strict=False)):
        total += more + 1
        others = reading("leaf-1", BEGIN + 10 * number, (number,))
        window.put([others] if away else [others, reading("leaf-0", BEGIN + 10 * number, (total,))])
        if not away:
            known.append((number, total))
    if len(known) < 2:
        return
    longest = max(b - a for (a, _), (b, _) in pairwise(known))
    found = float(np.nansum(gained(window)))
    if longest <= MOST_PACES:
        assert found == pytest.approx(known[-1][1] - known[0][1], rel=1e-5)
    else:
        assert found <= (known[-1][1] - known[0][1]) * (1 + 1e-5)


@given(st.data())
def test_a_fifth_of_the_fleet_that_is_away_changes_nothing_for_the_others(data: st.DataObject) -> None:
    window, hosts = Window(), [f"gpu-{n}" for n in range(10)]
    for number in range(12):
        away = data.draw(st.sets(st.sampled_from(hosts), max_size=2))
        here = [host for host in hosts if host not in away]
        window.put([reading(host, BEGIN + 10 * number, (number * 10_000,)) for host in here])
    source = window.sources["port_counters"]
    rates = table(source.series[Quantity.TX_BYTES, None].gained) / table(source.span)
    assert np.nanmax(rates) == pytest.approx(RATE)
    assert np.nanmin(rates) == pytest.approx(RATE)


# --- counters that begin again ----------------------------------------------------------------------------------------


def around(before: tuple[int, ...], after: tuple[int, ...]) -> list[float]:
    """What each of `NAMES` is said to have gained between two readings."""
    window = Window()
    window.put([reading("leaf-0", BEGIN, before)])
    window.put([reading("leaf-0", BEGIN + 10, after)])
    quantities = (Quantity.TX_BYTES, Quantity.CRC_ERRORS, Quantity.OUT_OF_BUFFER)
    return [gained(window, quantity)[-1] for quantity in quantities]


def test_after_a_reboot_traffic_is_unknown_and_errors_are_at_least_what_is_reported() -> None:
    assert around((10**12, 50, 2**31 + 5), (10**6, 3, 7)) == pytest.approx([np.nan, 3, 7], nan_ok=True)


def test_after_a_reboot_a_count_of_zero_errors_shows_nothing() -> None:
    assert around((10**12, 50, 9), (10**6, 0, 0)) == pytest.approx([np.nan] * 3, nan_ok=True)
    assert around((10**12, 0, 0), (10**6, 0, 2)) == pytest.approx([np.nan, np.nan, 2], nan_ok=True)


def test_a_32_bit_counter_wraps_only_where_nothing_else_began_again() -> None:
    assert around((10, 0, 2**32 - 5), (1000, 0, 15)) == pytest.approx([990, 0, 20])


def test_a_name_that_moves_to_another_port_counts_neither_ports_past() -> None:
    assert around((9 * 10**11, 4, 100), (2 * 10**11, 900_000, 800)) == pytest.approx([np.nan] * 3, nan_ok=True)
    assert around((10, 0, 0), (10**15, 0, 0))[0] != 10**15  # more than any port can carry


def test_a_counter_that_one_reading_left_out_is_not_counted_twice() -> None:
    window = Window()
    window.put([reading("leaf-0", BEGIN, (0, 0))])
    window.put([reading("leaf-0", BEGIN + 10, (10_000, 0))])
    source = window.sources["port_counters"]
    only = (Counter("crc_errors"), Counter("tx_packets"))
    at = datetime.fromtimestamp(BEGIN + 20, UTC)
    window.put([Reading("leaf-0", "port_counters", at, (PortCounters("p1", only, (2, 9)),))])
    window.put([reading("leaf-0", BEGIN + 30, (30_000, 5))])
    assert gained(window) == pytest.approx([np.nan, 10_000, np.nan, np.nan], nan_ok=True)
    assert np.nansum(table(source.series[Quantity.CRC_ERRORS, None].gained)) == 5


def test_ports_that_are_gone_are_forgotten_and_the_others_stay() -> None:
    window = Window(samples=6)
    for number in range(14):
        devices = [f"old-{n}" for n in range(4)] if number < 3 else []
        window.put([reading(device, BEGIN + 10 * number, (number * 10_000,)) for device in ("leaf-0", *devices)])
    assert window.sources["port_counters"].ports == [("leaf-0", "p1")]
    assert gained(window) == [10_000] * 6


def test_a_collector_that_nobody_answers_any_more_is_forgotten() -> None:
    window = Window(samples=4)
    window.put([reading("gpu-1", BEGIN, (1,), collector="nic_counters")])
    for number in range(1, 9):
        window.put([reading("leaf-0", BEGIN + 10 * number, (number * 10_000,))])
    assert list(window.sources) == ["port_counters"]


def test_counters_read_before_ports_were_forgotten_stay_as_they_were() -> None:
    window = Window(samples=6)
    found = None
    for number in range(14):
        devices = ["old-1", "old-2"] if number < 3 else []
        window.put([reading(device, BEGIN + 10 * number, (number * 10_000,)) for device in (*devices, "leaf-0")])
        if number == 2:
            found = reported(window)
            assert not found.tells(Quantity.TX_BYTES, None, 1).all()
    assert found is not None
    assert found.reported_as(int(found.wiring.index.b[0])) == [("port_counters", "leaf-0", "p1")]
    assert found.part(Quantity.TX_BYTES, None, found.wiring.index.b[:1])[0].tolist()[0][1:] == [10_000, 10_000]


# --- paces ------------------------------------------------------------------------------------------------------------


def mixed(seconds: int, away: Iterable[int] = ()) -> Telemetry:
    """Two ports of a leaf, read every so many seconds but for some times, beside a host that is read every ten."""
    window, left_out = Window(), set(away)
    for at in range(0, 300, 10):
        readings = [reading("gpu-9", BEGIN + at, (at * RATE,), collector="nic_counters")]
        if at % seconds == 0 and at not in left_out:
            readings.append(reading("leaf-0", BEGIN + at, (at * RATE,), (at * RATE,)))
        window.put(readings)
    return reported(window)


@pytest.mark.parametrize("seconds", [10, 20, 30, 60])
def test_a_source_is_held_to_its_own_pace(seconds: int) -> None:
    found = mixed(seconds)
    ports = found.wiring.index.b
    assert overall(carried_of(found).tx)[ports] == pytest.approx([RATE, RATE])
    assert found.mean_rate(Quantity.TX_BYTES)[ports] == pytest.approx([RATE, RATE])


@pytest.mark.parametrize(("seconds", "away"), [(10, range(100, 200, 10)), (20, range(100, 220, 20)), (60, (60, 120))])
def test_a_source_that_misses_many_of_its_polls_is_not_believed(seconds: int, away: Iterable[int]) -> None:
    found = mixed(seconds, away)
    ports = found.wiring.index.b
    assert np.isnan(overall(carried_of(found).tx)[ports]).all()
    assert not np.isnan(carried_of(found).tx[ports]).all()

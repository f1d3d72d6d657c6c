"""Counters over time: what a difference means, what is missing stays missing, and where it belongs in the plan."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truerail.analysis.counters import Column, Kind, Quantity, Window, columns_of
from truerail.analysis.counters.hygiene import counted
from truerail.analysis.counters.intake import CACHED_SECONDS
from truerail.analysis.counters.ring import Ring
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import Counter, NetLink, PortCounters, RdmaLink, Reading, Snapshot
from truerail.testing.cases import SAMPLES, plan_of, scene

AT = datetime(2026, 11, 20, 14, tzinfo=UTC)
TX = (Counter("tx_bytes"),)


def difference(before: int, now: int, seconds: float = 10.0, kind: Kind = Kind.TRAFFIC, bits: int = 64) -> float:
    raw = [np.array([value], dtype=np.uint64) for value in (before, now)]
    quantity = Quantity.TX_PACKETS if kind is Kind.TRAFFIC else Quantity.RX_ERRORS
    return float(counted(raw[0], raw[1], np.array([seconds]), quantity=quantity, kind=kind, bits=bits)[0])


@given(st.integers(0, 2**63), st.integers(0, 10**9))
def test_forward_is_the_difference(before: int, more: int) -> None:
    assert difference(before, before + more) == pytest.approx(more, rel=1e-6)


@given(st.integers(2**31 + 1, 2**32 - 1), st.integers(1, 10**8))
def test_a_32_bit_counter_wraps(before: int, more: int) -> None:
    now = (before + more) % 2**32
    assert difference(before, now, bits=32) == pytest.approx(more, rel=1e-6)


def test_a_64_bit_counter_that_falls_was_reset() -> None:
    assert np.isnan(difference(2**40, 5))
    assert difference(2**40, 5, kind=Kind.ERRORS) == 5


def test_a_32_bit_counter_that_falls_from_low_was_reset() -> None:
    assert np.isnan(difference(2**20, 5, bits=32))


def test_what_no_port_can_count_is_not_believed() -> None:
    assert np.isnan(difference(0, 10**14))
    assert np.isnan(difference(0, 5, seconds=0.0))


def rounds(*values: int | None, step: float = 10.0) -> Window:
    """A window over one port of one device that counts these values; None is a poll that failed."""
    window = Window(samples=6)
    for number, value in enumerate(values):
        at = AT + timedelta(seconds=step * number)
        other = Reading("other", "port_counters", at, (PortCounters("p1", TX, (number * 1000,)),))
        own = Reading("leaf-0", "port_counters", at, (PortCounters("p1", TX, (value or 0,)),))
        window.put([other] if value is None else [own, other])
    return window


def gained(window: Window) -> list[float]:
    source = window.sources["port_counters"]
    row = source.ports.index(("leaf-0", "p1"))
    return in_order(window, source.series[Quantity.TX_BYTES, None].gained, row)


def in_order(window: Window, ring: Ring, row: int) -> list[float]:
    """The samples of a row, the oldest first."""
    found: list[float] = ring.view().of(window.order, np.array([row]))[0].tolist()
    return found


def test_the_first_reading_counts_nothing_and_the_next_ones_the_difference() -> None:
    assert gained(rounds(100, 150, 300)) == pytest.approx([np.nan, 50, 150], nan_ok=True)


def test_a_missed_poll_is_missing_and_the_next_sample_spans_it() -> None:
    window = rounds(100, 150, None, 350)
    assert gained(window) == pytest.approx([np.nan, 50, np.nan, 200], nan_ok=True)
    source = window.sources["port_counters"]
    row = source.ports.index(("leaf-0", "p1"))
    assert in_order(window, source.span, row) == pytest.approx([np.nan, 10, np.nan, 20], nan_ok=True)


def test_only_the_last_samples_are_kept_in_order() -> None:
    assert gained(rounds(*(n * n for n in range(10)))) == [7, 9, 11, 13, 15, 17]


def test_two_readings_in_a_step_are_one_sample() -> None:
    found = gained(rounds(100, 150, 300, step=4.0))
    assert len(found) == 2
    assert np.nansum(found) == 200


def test_an_agent_that_answers_from_its_cache_is_no_standstill() -> None:
    values = [0, 1000, 2000, 2000, 4000]
    assert gained(rounds(*values)) == pytest.approx([np.nan, 1000, 1000, np.nan, 2000], nan_ok=True)


def test_a_device_that_stands_still_for_long_is_believed() -> None:
    values = [0, 1000] + [1000] * (int(CACHED_SECONDS // 10) + 1)
    found = gained(rounds(*values))
    assert found[-1] == 0
    assert np.isnan(found[2])


def test_names_that_two_drivers_have_mean_one_thing() -> None:
    names = ("rx_prio3_pause", "rx_prio3_pause_duration", "tx_bytes", "tx_bytes_phy", "something_else")
    columns = columns_of(tuple(Counter(name) for name in names))
    assert columns == (
        Column(Quantity.RX_PAUSE_FRAMES, 3),
        Column(Quantity.RX_PAUSE_US, 3),
        None,  # mlx5's tx_bytes leaves RDMA out: the wire's own count stands
        Column(Quantity.TX_BYTES),
        None,
    )
    assert columns_of((Counter("tx_bytes"),)) == (Column(Quantity.TX_BYTES),)
    assert columns_of((Counter("pfcRxFrames", 3), Counter("tx_pause_us", 3)))[1] == Column(Quantity.TX_PAUSE_US, 3)
    assert columns_of((Counter("out_of_buffer"),)) == (Column(Quantity.OUT_OF_BUFFER, None, 32),)


PLAN = "gpu-1/nic0 leaf-0/p1 rail=0 speed=400"


def test_rates_come_in_the_plans_terms() -> None:
    case = Case(plan=PLAN, rates={"gpu-1/nic0": {"tx_bytes": 4e9}, "leaf-0/p1": {"rx_pause_us:3": 250_000}})
    reported = scene(case).telemetry
    index = reported.wiring.index
    nic, port = int(index.a[0]), int(index.b[0])
    assert reported.mean_rate(Quantity.TX_BYTES)[nic] == pytest.approx(4e9, rel=1e-3)
    assert np.isnan(reported.mean_rate(Quantity.TX_BYTES)[port])
    assert reported.mean_rate(Quantity.RX_PAUSE_US, 3)[port] == pytest.approx(250_000, rel=1e-3)
    assert reported.priorities(Quantity.RX_PAUSE_US) == (3,)
    assert reported.speed().tolist() == [5e10, 5e10]
    assert reported.samples == SAMPLES + 1


def test_a_hole_is_a_hole() -> None:
    rates = [1e9] * 8 + [float("nan")] * 4
    made = scene(Case(plan=PLAN, rates={"gpu-1/nic0": {"tx_bytes": rates}, "leaf-0/p1": {"tx_bytes": 1.0}}))
    reported = made.telemetry
    assert np.isnan(reported.part(Quantity.TX_BYTES, None, np.array([0]))[0][0, -4:]).all()


def test_rdma_counters_belong_to_the_port_of_their_netdev() -> None:
    plan = plan_of(Case(plan=PLAN))
    window = Window()
    names = (Counter("np_cnp_sent"),)
    for sample in range(4):
        at = AT + timedelta(seconds=10 * sample)
        window.put([Reading("gpu-1", "rdma_counters", at, (PortCounters("mlx5_3/1", names, (sample * 50,)),))])
    link = RdmaLink("mlx5_3", 1, "ACTIVE", "LINK_UP", netdev="nic0")
    readings = [Reading("gpu-1", "rdma_link", AT, (link,)), Reading("gpu-1", "net_link", AT, (NetLink("nic0"),))]
    reported = Round(plan, Snapshot(AT, readings), window.view()).telemetry
    assert reported.summed(Quantity.CNP_SENT).gained[0] == 150


def test_without_a_window_nothing_is_known() -> None:
    reported = scene(Case({"gpu-1": []}, plan=PLAN)).telemetry
    assert reported.samples == 0
    assert not reported.counts(Quantity.TX_BYTES)
    assert np.isnan(reported.summed(Quantity.TX_BYTES).gained).all()


def test_a_counter_that_stops_when_it_is_full_tells_nothing_then() -> None:
    errors = [*(0.0,) * 8, 6553.5, 0.0, 0.0, 0.0]
    made = scene(Case(plan=PLAN, rates={"gpu-1/nic0": {"symbol_error": errors, "port_xmit_data": 1e9}}))
    telemetry = made.telemetry
    port = int(telemetry.wiring.index.a[0])

    gained = telemetry.part(Quantity.SYMBOL_ERRORS, None, np.array([port]))[0][0]
    assert gained[1:9].tolist() == [0.0] * 8
    assert np.isnan(gained[9:]).all()
    assert {quantity: ports.tolist() for quantity, ports in telemetry.full().items()} == {
        Quantity.SYMBOL_ERRORS: [port]
    }


def test_a_counter_that_was_cleared_is_full_no_more() -> None:
    window = Window()
    for second, errors in enumerate((65535, 65535, 7)):
        fact = PortCounters("mlx5_0/1", (Counter("symbol_error", None),), (errors,))
        window.put([Reading("gpu-1", "rdma_counters", AT + timedelta(seconds=10 * second), (fact,))])
        full = window.sources["rdma_counters"].full[Quantity.SYMBOL_ERRORS].tolist()
        assert full == ([0] if errors == 65535 else [])


def test_infinibands_data_counters_count_four_bytes_at_a_time() -> None:
    telemetry = scene(Case(plan=PLAN, rates={"gpu-1/nic0": {"port_xmit_data": 1e9}})).telemetry

    gained, span = telemetry.part(Quantity.TX_BYTES, None, np.array([0]))
    assert (gained / span)[0, 1:].tolist() == pytest.approx([4e9] * SAMPLES)

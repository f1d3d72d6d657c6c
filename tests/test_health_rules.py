"""LNK003 to LNK005: severities, the devices that they blame, and the sums that they rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import rules
from rules._examples import hears
from tests.health_scenes import FOUR, NAN, UPLINKED, Rates, at, detail, found, looked, only
from truerail.analysis.counters.quantities import Quantity
from truerail.analysis.counters.ring import Samples
from truerail.analysis.counters.series import sums
from truerail.analysis.optics_lanes import lanes_of
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import (
    BitErrorRate,
    Counter,
    Finding,
    Optic,
    PortCounters,
    RdmaLink,
    Reading,
    Severity,
    Snapshot,
    Status,
    Transport,
)
from truerail.rounds import evaluate
from truerail.testing.cases import AT, scene

ONE = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400"

# LNK003


def test_three_falls_are_critical_and_two_are_not() -> None:
    twice: Rates = {"gpu-1/nic0": {"link_downs": at({2: 0.1, 7: 0.1})}, "gpu-2/nic0": {"link_downs": 0.0}}
    often: Rates = {"gpu-1/nic0": {"link_downs": at({2: 0.1, 7: 0.2})}, "gpu-2/nic0": {"link_downs": 0.0}}
    assert only(found("LNK003", rates=twice)).severity is Severity.WARNING
    finding = only(found("LNK003", rates=often))
    assert finding.severity is Severity.CRITICAL
    assert detail(finding)["falls"] == 3
    assert finding.rail == 0
    assert [one.fact for one in finding.evidence] == [PortCounters("nic0", (Counter("link_downs"),), (1_000_000_003,))]


def test_evidence_shows_the_counters_that_count_and_no_other() -> None:
    rates: Rates = {"gpu-1/nic0": {"link_downs": at({6: 0.1}), "tx_bytes": 1e9}, "gpu-2/nic0": {"link_downs": 0.0}}
    made = scene(Case(plan=FOUR, rates=rates))
    seen = made.snapshot
    more = Reading("gpu-1", "nic_counters", AT, (PortCounters("nic0", (Counter("tx_bytes"),), (1,)),))
    finding = only(
        list(rules()["LNK003"].findings(replace(made, snapshot=replace(seen, readings=(*seen.readings, more)))))
    )
    assert [one.fact for one in finding.evidence] == [PortCounters("nic0", (Counter("link_downs"),), (1_000_000_001,))]


@pytest.mark.parametrize(("lacking", "severity"), [(0.6, Severity.WARNING), (0.8, Severity.CRITICAL)])
def test_time_without_link_counts_more_than_the_number_of_falls(lacking: float, severity: Severity) -> None:
    bits = at({6: 4e11 * (1 - lacking)}, 4e11)
    rates: Rates = {"gpu-1/nic0": {"link_downs": at({6: 0.1}), "rx_bits": bits}, "gpu-2/nic0": {"link_downs": 0.0}}
    finding = only(found("LNK003", rates=rates))
    assert finding.severity is severity
    assert detail(finding)["seconds_without_link"] == pytest.approx(10 * lacking, abs=0.1)


@pytest.mark.parametrize("bits", [[NAN if n == 6 else 4e11 for n in range(12)], [0.0] * 12])
def test_time_without_link_is_not_claimed_where_bits_do_not_tell(bits: list[float]) -> None:
    rates: Rates = {"gpu-1/nic0": {"link_downs": at({6: 0.1}), "rx_bits": bits}, "gpu-2/nic0": {"link_downs": 0.0}}
    assert "seconds_without_link" not in detail(only(found("LNK003", rates=rates)))


def test_both_ends_that_count_a_fall_are_one_finding_and_more_sure() -> None:
    fell = {"link_downs": at({6: 0.1})}
    one = only(found("LNK003", rates={"leaf-0/swp1": fell, "leaf-0/swp2": {"link_downs": 0.0}}))
    both = only(found("LNK003", rates={"gpu-1/nic0": fell, "leaf-0/swp1": fell, "leaf-0/swp2": {"link_downs": 0.0}}))
    assert (one.subject, both.subject) == ("gpu-1/nic0", "gpu-1/nic0")
    assert one.confidence < both.confidence


def test_a_fall_is_reported_where_the_cable_is_seen_not_where_it_is_planned() -> None:
    facts = {"leaf-0": [hears("swp2", "gpu-1/nic0")]}
    rates: Rates = {"leaf-0/swp2": {"link_downs": at({6: 0.1})}, "leaf-0/swp1": {"link_downs": 0.0}}
    assert only(found("LNK003", facts=facts, rates=rates)).subject == "gpu-1/nic0"
    elsewhere: Rates = {"leaf-0/swp1": {"link_downs": at({6: 0.1})}, "leaf-0/swp2": {"link_downs": 0.0}}
    assert only(found("LNK003", facts=facts, rates=elsewhere)).subject == "leaf-0/swp1"


def test_links_that_fall_at_different_times_are_no_restart() -> None:
    rates: Rates = {f"leaf-0/swp{n}": {"link_downs": at({2 * n: 0.1})} for n in (1, 2, 3, 4)}
    assert {f.subject for f in found("LNK003", rates=rates)} == {f"gpu-{n}/nic0" for n in (1, 2, 3, 4)}


def test_one_link_that_stays_up_rules_a_restart_out() -> None:
    rates: Rates = {f"leaf-0/swp{n}": {"link_downs": at({5: 0.1 * (n < 4)})} for n in (1, 2, 3, 4)}
    assert {f.subject for f in found("LNK003", rates=rates)} == {f"gpu-{n}/nic0" for n in (1, 2, 3)}


def test_a_restart_is_one_finding_of_the_device_that_all_links_share() -> None:
    rates: Rates = {f"gpu-{n}/nic0": {"link_downs": at({5: 0.1})} for n in (1, 2, 3, 4)}
    finding = only(found("LNK003", UPLINKED, rates={**rates, "spine-1/swp1": {"link_downs": at({6: 0.1})}}))
    assert finding.subject == "leaf-0"
    assert detail(finding)["links"] == 5


def test_a_restart_is_one_finding_where_caches_tell_each_link_of_it_up_to_half_a_minute_late() -> None:
    rates: Rates = {f"gpu-{n}/nic0": {"link_downs": at({4 + n: 0.1})} for n in (1, 2, 3, 4)}
    late: Rates = {f"leaf-0/swp{n}": {"link_downs": at({6 + n: 0.1})} for n in (1, 2)}
    finding = only(found("LNK003", rates={**rates, **late}))
    assert (finding.subject, detail(finding)["reason"]) == ("leaf-0", "device")


# LNK004


def signal(rates: Rates, **more: Any) -> Finding:
    return only(found("LNK004", rates=rates, **more))


@pytest.mark.parametrize(
    ("counted", "severity"),
    [
        ({"fec_uncorrected": at({5: 0.1})}, Severity.INFO),
        ({"fec_uncorrected": at({5: 0.1}), "link_downs": 0.0}, Severity.WARNING),
        ({"crc_errors": at({5: 400.0, 6: 90.0})}, Severity.INFO),
        ({"corrected_bits": [*(4e2,) * 6, *(1e5,) * 6], "rx_bits": 4e11}, Severity.INFO),
        ({"fec_symbols": 1e6}, Severity.WARNING),
        ({"fec_symbols": 1e7}, Severity.CRITICAL),
        ({"fec_uncorrected": at({5: 0.1, 9: 0.1})}, Severity.CRITICAL),
        ({"corrected_bits": 2e6, "rx_bits": 4e11}, Severity.WARNING),
        ({"corrected_bits": 2e7, "rx_bits": 4e11}, Severity.CRITICAL),
        ({"symbol_errors": 2.0, "rx_bits": 4e11}, Severity.WARNING),
        ({"symbol_errors": 20.0, "rx_bits": 4e11}, Severity.CRITICAL),
        ({"crc_errors": 2.0}, Severity.WARNING),
        ({"crc_errors": 0.1}, Severity.WARNING),
        ({"rx_errors": 20.0}, Severity.WARNING),
    ],
)
def test_how_bad_a_signal_is(counted: Mapping[str, float | Sequence[float]], severity: Severity) -> None:
    finding = signal({"gpu-1/nic0": counted})
    assert finding.subject == "gpu-1/nic0"
    assert finding.severity is severity
    assert detail(finding)["reports"] == ("gpu-1/nic0",)
    assert finding.evidence


@pytest.mark.parametrize(
    "counted",
    [
        {"corrected_bits": 3e5, "rx_bits": 4e11},
        {"symbol_errors": 0.2, "rx_bits": 4e11},
        {"rx_errors": 5.0},
        {"fec_corrected": 1e5},
        {"fec_corrected": 1e5, "fec_symbols": 1.01e5, "fec_uncorrected": 0.0},
        {"corrected_bits": [*(4e3,) * 6, *(3e4,) * 6], "rx_bits": 4e11},
        {"symbol_errors": 0.1},
        {"crc_errors": 0.03},
    ],
)
def test_errors_below_the_limits_are_normal(counted: Mapping[str, float]) -> None:
    assert found("LNK004", ONE, rates={"gpu-1/nic0": counted}) == []


def test_without_speed_and_bits_a_rate_is_not_known_and_lost_codewords_are() -> None:
    plan = "gpu-1/nic0 leaf-0/swp1 rail=0"
    assert found("LNK004", plan, rates={"gpu-1/nic0": {"crc_errors": 1e6, "corrected_bits": 1e9}}) == []
    assert signal({"gpu-1/nic0": {"fec_uncorrected": 1.0}}, plan=plan).severity is Severity.CRITICAL


def test_the_transmitter_of_the_other_end_is_blamed_where_the_other_direction_is_clean() -> None:
    dirty: dict[str, float]
    dirty, clean = {"fec_uncorrected": 1.0}, {"fec_uncorrected": 0.0}
    blame = detail(signal({"leaf-0/swp1": dirty, "gpu-1/nic0": clean}))["blame"]
    assert "the transmitter of gpu-1/nic0" in blame
    assert "clean" in blame
    unread = detail(signal({"leaf-0/swp1": dirty}))["blame"]
    assert "gpu-1/nic0 reports no errors" in unread
    both = signal({"leaf-0/swp1": dirty, "gpu-1/nic0": dirty})
    assert "the cable" in detail(both)["blame"]
    assert detail(both)["reports"] == ("gpu-1/nic0", "leaf-0/swp1")


def test_the_sender_is_who_is_seen_there_and_may_be_unknown() -> None:
    facts = {"leaf-0": [hears("swp2", "gpu-1/nic0")]}
    rates: Rates = {"gpu-1/nic0": {"fec_uncorrected": 1.0}}
    assert "leaf-0/swp2" in detail(signal(rates, facts=facts))["blame"]
    left = signal({"leaf-0/swp1": {"fec_uncorrected": 1.0}}, facts=facts)
    assert left.subject == "leaf-0/swp1"
    assert "is unknown" in detail(left)["blame"]


def test_crc_errors_alone_are_less_sure_than_symbol_errors() -> None:
    crc = signal({"gpu-1/nic0": {"crc_errors": 20.0}})
    symbols = signal({"gpu-1/nic0": {"crc_errors": 20.0, "symbol_errors": 20.0}})
    assert crc.confidence < symbols.confidence


def test_a_card_is_suspected_by_what_it_receives_and_by_what_it_sends() -> None:
    dirty: dict[str, float]
    dirty, clean = {"fec_uncorrected": 1.0}, {"fec_uncorrected": 0.0}
    receives = found("LNK004", rates={f"leaf-0/swp{n}": dirty if n < 4 else clean for n in (1, 2, 3, 4)})
    sends = found("LNK004", rates={f"gpu-{n}/nic0": dirty if n < 4 else clean for n in (1, 2, 3, 4)})
    for findings, words in ((receives, "receive errors"), (sends, "send to ports")):
        assert len(findings) == 3
        for finding in findings:
            assert words in detail(finding)["blame"]
            assert finding.action.startswith("Replace no cable yet: 3 of the 4 ports")


def test_three_bad_ports_of_many_suspect_no_card() -> None:
    plan = "\n".join(f"gpu-{n}/nic0 leaf-0/swp{n} rail=0 speed=400" for n in range(1, 10))
    rates: Rates = {f"leaf-0/swp{n}": {"fec_uncorrected": 1.0 * (n < 4)} for n in range(1, 10)}
    assert {"card" in detail(f)["blame"] for f in found("LNK004", plan, rates=rates)} == {False}


def test_a_polled_gap_does_not_hide_errors_and_pam4_infiniband_is_evaluated_by_its_error_rate() -> None:
    gap: dict[str, float | Sequence[float]] = {"symbol_errors": [NAN, 30.0, NAN, 30.0, *(30.0,) * 8], "rx_bits": 4e11}
    assert signal({"gpu-1/nic0": gap}).severity is Severity.CRITICAL
    slow = {"gpu-1/nic0": {"symbol_errors": 0.1}}
    assert found("LNK004", ONE, rates=slow, transport=Transport.INFINIBAND) == []
    lanes = {"gpu-1/nic0": {"symbol_errors": 4e3}}  # BER 1e-8 at 400 Gb/s, if counted before FEC
    assert found("LNK004", ONE, rates=lanes, transport=Transport.INFINIBAND) == []
    worn = {"gpu-1/nic0": {"symbol_errors": 8e5}}
    assert signal(worn, transport=Transport.INFINIBAND).severity is Severity.WARNING
    edr = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=100"
    assert only(found("LNK004", edr, rates=slow, transport=Transport.INFINIBAND)).severity is Severity.CRITICAL


def test_a_rate_that_a_device_computed_is_a_warning_with_itself_as_evidence() -> None:
    rate = BitErrorRate("nic0", 3e-4, 2e-12, 86_400.0)
    finding = only(found("LNK004", facts={"gpu-1": [rate]}))
    assert finding.severity is Severity.WARNING
    assert finding.subject == "gpu-1/nic0"
    assert [one.fact for one in finding.evidence] == [rate]


@pytest.mark.parametrize(
    "rate",
    [
        BitErrorRate("swp1", 1e-5, corrected=254_000_000),  # a minute of it is 255 million codewords
        BitErrorRate("swp1", 1e-5, 1e-9, seconds=59.0),
        BitErrorRate("swp1", 1e-5),
        BitErrorRate("swp1", 9.9e-7, 9e-13, seconds=86_400.0),
        BitErrorRate("swp9", 1e-5, seconds=86_400.0),
    ],
)
def test_a_rate_without_enough_behind_it_is_neither_an_error_nor_a_clean_link(rate: BitErrorRate) -> None:
    findings, not_evaluated = looked("LNK004", facts={"leaf-0": [rate]})
    assert not findings
    assert not_evaluated


def test_a_rate_is_enough_for_the_rule_in_a_single_round() -> None:
    made = scene(Case(plan=FOUR))
    read = Reading("leaf-0", "bit_error_rates", AT, (BitErrorRate("swp1", 1e-5, seconds=600.0),))
    evaluation = evaluate(Round(made.plan, Snapshot(AT, (read,))))
    (verdict,) = (verdict for verdict in evaluation.verdicts if verdict.rule == "LNK004")
    assert (verdict.status, verdict.missing) == (Status.FAIL, ())


def test_a_rate_belongs_to_the_port_of_its_rdma_device() -> None:
    facts = {"gpu-1": [RdmaLink("mlx5_7", 1, "ACTIVE", "LINK_UP", "nic0"), BitErrorRate("mlx5_7", 1e-5, seconds=600.0)]}
    assert only(found("LNK004", facts=facts)).subject == "gpu-1/nic0"


def test_rates_of_most_ports_of_a_card_blame_the_card() -> None:
    rates = [BitErrorRate(f"swp{port}", 1e-5, seconds=600.0) for port in (1, 2, 3)]
    findings = found("LNK004", facts={"leaf-0": rates})
    assert len(findings) == 3
    assert {"leaf-0" in str(detail(one)["blame"]) for one in findings} == {True}


# LNK005


def optic(*lanes: Optic, port: str = "gpu-1", **more: Any) -> Finding:
    return only(found("LNK005", facts={port: lanes}, **more))


@pytest.mark.parametrize(
    ("lane", "severity", "summary"),
    [
        (Optic("nic0", 1, -12.0), Severity.WARNING, "too little light (lane 1: -12 dBm)"),
        (Optic("nic0", None, -35.0), Severity.CRITICAL, "no light (-35 dBm)"),
        (Optic("nic0", 2, 5.0), Severity.WARNING, "too much light"),
        (Optic("nic0", 1, -1.0, -40.0), Severity.CRITICAL, "sends no light"),
        (Optic("nic0", 1, -1.0, temperature_celsius=71.0), Severity.WARNING, "71 degrees"),
        (Optic("nic0", 1, -7.0, rx_power_low_dbm=-6.0, rx_power_high_dbm=4.0), Severity.WARNING, "too little"),
        (Optic("nic0", 1, -11.0, rx_power_low_dbm=0.0, rx_power_high_dbm=0.0), Severity.WARNING, "too little"),
    ],
)
def test_what_is_wrong_with_a_module(lane: Optic, severity: Severity, summary: str) -> None:
    finding = optic(lane)
    assert (finding.subject, finding.severity, finding.rail) == ("gpu-1/nic0", severity, 0)
    assert summary in finding.summary
    assert finding.evidence[0].fact == lane


def test_a_modules_own_limits_count_before_the_defaults() -> None:
    wide = Optic("nic0", 1, -12.0, rx_power_low_dbm=-14.0, rx_power_high_dbm=5.0)
    assert looked("LNK005", facts={"gpu-1": [wide]}) == ([], [("port", 7, 8)])


def test_the_way_or_the_laser_is_blamed_by_what_the_other_end_sends() -> None:
    weak = [Optic("nic0", 1, -12.0)]
    lost = only(found("LNK005", facts={"gpu-1": weak, "leaf-0": [Optic("swp1", 1, -1.0, 0.5)]}))
    assert "leaf-0/swp1 sends 0.5 dBm, so 12.5 dB are lost on the way" in lost.summary
    dying = only(found("LNK005", facts={"gpu-1": weak, "leaf-0": [Optic("swp1", 1, -1.0, -9.5)]}))
    assert "leaf-0/swp1 sends only -9.5 dBm" in dying.summary


def test_a_module_that_is_not_planned_is_not_evaluated() -> None:
    facts = {"gpu-1": [Optic("eno1", 1, -40.0), Optic("nic0", 1, -1.0)]}
    assert looked("LNK005", facts=facts) == ([], [("port", 7, 8)])


def test_far_below_its_peers_is_only_worth_knowing() -> None:
    plan = "\n".join(f"gpu-{n}/nic0 leaf-0/swp{n} rail=0" for n in range(1, 13))
    facts = {f"gpu-{n}": [Optic("nic0", 1, -7.0 if n == 5 else -2.0, part="A", serial=f"s{n}")] for n in range(1, 13)}
    finding = only(found("LNK005", plan, facts))
    assert (finding.subject, finding.severity, finding.confidence) == ("gpu-5/nic0", Severity.INFO, 0.7)
    assert detail(finding) == {"part": "A", "serial": "s5"}
    hot = {**facts, "gpu-5": [facts["gpu-5"][0]._replace(temperature_celsius=80.0)]}
    assert only(found("LNK005", plan, hot)).severity is Severity.WARNING


@given(st.lists(st.floats(-8.0, 2.0), min_size=1, max_size=30), st.integers(0, 29), st.floats(0.0, 12.0))
def test_a_lane_is_compared_with_peers_as_the_definition_says(powers: list[float], which: int, less: float) -> None:
    powers[which % len(powers)] -= less
    plan = "\n".join(f"gpu-{n}/nic0 leaf-0/swp{n} rail=0" for n in range(len(powers)))
    facts = {f"gpu-{n}": [Optic("nic0", 1, power, part="A")] for n, power in enumerate(powers)}
    lanes = lanes_of(scene(Case(facts, plan=plan)).cabling)
    weak = lanes.drop(np.zeros(10_000, dtype=np.int64), least_peers=8, least_db=3.0, sigmas=3.5)
    middle = np.median(powers)
    spread = 1.4826 * np.median(np.abs(np.array(powers) - middle))
    wanted = (middle - np.array(powers) > max(3.0, 3.5 * spread)) & (len(powers) > 8)
    assert weak.tolist() == wanted.tolist()


# Sums


@given(
    st.lists(st.lists(st.sampled_from([NAN, 0.0, 1.0, 2.5]), min_size=4, max_size=4), min_size=1, max_size=8),
    st.lists(st.sampled_from([NAN, 10.0]), min_size=4, max_size=4),
)
def test_sums_leave_out_what_is_missing_and_nothing_else(rows: list[list[float]], seconds: list[float]) -> None:
    gained = np.array(rows, dtype=np.float32)
    span = np.tile(np.array(seconds, dtype=np.float32), (len(rows), 1))
    total, time, samples = sums(Samples.in_table(gained), Samples.in_table(span))
    known = ~np.isnan(gained) & ~np.isnan(span)
    assert samples.tolist() == known.sum(axis=1).tolist()
    for row in range(len(rows)):
        if known[row].any():
            assert total[row] == gained[row][known[row]].sum()
            assert time[row] == span[row][known[row]].sum()
        else:
            assert np.isnan(total[row])
            assert np.isnan(time[row])


def test_summed_agrees_with_what_the_samples_say() -> None:
    rates: Rates = {"gpu-1/nic0": {"link_downs": at({3: 0.1, 5: NAN})}, "leaf-0/swp1": {"link_downs": [NAN] * 12}}
    telemetry = scene(Case(plan=FOUR, rates=rates)).telemetry
    sums = telemetry.summed(Quantity.LINK_DOWNS)
    gained, _ = telemetry.part(Quantity.LINK_DOWNS, None, np.arange(telemetry.ports))
    known = ~np.isnan(gained).all(axis=1)
    np.testing.assert_allclose(sums.gained, np.where(known, np.nansum(gained, axis=1), np.nan))
    np.testing.assert_allclose(sums.rate, telemetry.mean_rate(Quantity.LINK_DOWNS), rtol=1e-6)
    assert telemetry.summed(Quantity.LINK_DOWNS) is sums

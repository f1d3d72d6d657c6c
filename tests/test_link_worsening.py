"""LNK006: robust slopes, the margin of bit errors, severities and words; and the simulator that measures it."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from benchmarks.degradation.drawn import STEPS, TRAPS
from benchmarks.degradation.report import SECTION, section
from benchmarks.degradation.scoring import lives
from rules import rules
from tests.small_fabric import make_plan
from truerail.analysis.rule import Case, Evaluated
from truerail.analysis.trends.daily_means import FEC_LIMIT, daily, margin_db, rate_at
from truerail.analysis.trends.declines import declines_of, knees, slopes, steps
from truerail.analysis.trends.link_past import LinkPast
from truerail.causes import explain
from truerail.model import CauseKind, Finding, NetLink, Optic, Severity
from truerail.testing.cases import scene

PLAN = "gpu-1/nic0 leaf-0/swp1 rail=0 speed=400"
HEARD = {"gpu-1": [Optic("nic0", 1, -2.0, -1.0, part="A"), Optic("nic0", 2, -2.5, -1.0, part="A")]}
NIC, LEAF = "gpu-1/nic0", "leaf-0/swp1"
FALLING = [-2.0 - day / 5 for day in range(10)]
RISING = [-9.0 + day / 4 for day in range(10)]


def looked(past: dict[str, dict[str, list[float]]], plan: str = PLAN, **more: object) -> Evaluated:
    return rules()["LNK006"].look(scene(replace(Case(HEARD, plan=plan, past=past), **more)))


def only(evaluated: Evaluated) -> Finding:
    (finding,) = evaluated.findings
    return finding


# slopes


def test_a_slope_is_theil_and_sens() -> None:
    from scipy.stats import theilslopes

    rng = np.random.default_rng(5)
    days = (rng.normal(0, 1, (14, 40)) + np.arange(14)[:, None] * rng.normal(0, 0.3, 40)).astype(np.float32)
    found = slopes(days)
    for one in range(days.shape[1]):
        other = theilslopes(days[:, one], np.arange(14), alpha=0.95)
        assert found.middle[one] == pytest.approx(other.slope, abs=1e-5)
        assert found.low[one] <= other.low_slope + 1e-5
        assert found.high[one] >= other.high_slope - 1e-5
    assert np.mean(found.high - found.low) < 1.2 * np.mean(np.ptp(days, axis=0)) / 7


def test_days_without_data_are_left_out_of_a_slope() -> None:
    days = np.arange(10, dtype=np.float32)[:, None] * np.array([1, 1, 1], dtype=np.float32)
    days[[2, 5], 1] = np.nan
    days[1:, 2] = np.nan
    found = slopes(days)
    assert found.middle[:2].tolist() == [1, 1]
    assert np.isnan(found.middle[2])


def test_a_step_and_a_knee_differ_in_what_fits() -> None:
    step = np.array([0.0] * 6 + [-1.0] * 4, dtype=np.float32)
    knee = np.array([0.0] * 5 + [-0.2, -0.4, -0.6, -0.8, -1.0], dtype=np.float32)
    days = np.stack([step, knee], axis=1)
    found = steps(days, 2), knees(days, 4)
    assert [one.misfit.argmin() for one in found] == [0, 1]
    assert (found[0].day[0], found[0].size[0]) == (6, -1)
    assert (found[1].day[1], float(found[1].size[1])) == (5, pytest.approx(-1))


def test_before_the_first_sample_nothing_declines() -> None:
    plan = make_plan(2, 2)
    two = np.zeros((2, len(plan.cables)))
    past = LinkPast(plan, (), two, two, two.astype(np.int64), two.astype(np.float32))
    found = declines_of(past)
    assert found.found == ()
    assert not found.enough.any()


# the margin


def test_a_decibel_of_light_is_a_decibel_of_margin() -> None:
    from scipy.special import erfc

    quality = np.array([4.0, 4.0 * 10**0.1, 4.0 * 10**0.2])
    rates = np.log10(erfc(quality / np.sqrt(2)) / 2).astype(np.float32)
    margins = margin_db(rates, np.full(3, np.log10(FEC_LIMIT)))
    assert np.diff(margins) == pytest.approx([1.0, 1.0], abs=0.01)
    at_limit = np.log10(np.array([FEC_LIMIT], dtype=np.float32))
    assert margin_db(at_limit, np.full(1, np.log10(FEC_LIMIT)))[0] == pytest.approx(0, abs=1e-3)
    assert rate_at(float(margins[0]), FEC_LIMIT) == pytest.approx(10 ** float(rates[0]), rel=0.05)


# the rule


def test_a_trend_in_light_and_errors_is_a_warning_with_the_nearest_horizon() -> None:
    finding = only(looked({NIC: {"rx_dbm": FALLING, "ber": RISING}, LEAF: {"tx_dbm": [-1.0] * 10}}))
    assert (finding.severity, finding.confidence, finding.rail) == (Severity.WARNING, 0.9, 0)
    assert "receives 1.6 dB less light" in finding.summary
    assert "less margin over FEC's limit" in finding.summary
    assert f"while {LEAF} sends as before; at this slope FEC's limit is reached in 18 to 22 days" in finding.summary
    assert dict(finding.detail)["horizon_days"] == (17.96, 21.57)
    assert finding.action.startswith(f"Clean the connectors at {LEAF} and {NIC}")
    (evidence,) = finding.evidence
    assert (evidence.device, evidence.fact) == ("gpu-1", HEARD["gpu-1"][1])


def test_a_laser_that_sends_less_is_to_blame() -> None:
    finding = only(looked({NIC: {"rx_dbm": FALLING, "ber": RISING}, LEAF: {"tx_dbm": FALLING}}))
    assert f"and {LEAF} sends 1.6 dB less" in finding.summary
    assert finding.action == f"Replace the module in {LEAF} in a maintenance window before then."


def test_errors_without_lost_light_are_the_module() -> None:
    finding = only(looked({NIC: {"rx_dbm": [-2.0] * 10, "ber": RISING}}))
    assert (finding.severity, finding.confidence) == (Severity.WARNING, 0.7)
    assert finding.action.startswith(f"Replace the module in {NIC}")


def test_lost_light_without_errors_is_a_hint() -> None:
    light = [-4.0 - day / 2 for day in range(10)]
    finding = only(looked({NIC: {"rx_dbm": light, "ber": [-9.0] * 10}}))
    assert (finding.severity, finding.confidence) == (Severity.INFO, 0.5)
    assert "but no more bit errors" in finding.summary
    assert only(looked({NIC: {"rx_dbm": light, "ber": [-14.0] * 10}})).severity is Severity.WARNING


def test_a_step_has_no_horizon() -> None:
    finding = only(looked({NIC: {"rx_dbm": [-2.0] * 6 + [-4.0] * 4}}))
    assert finding.severity is Severity.INFO
    assert "2.0 dB less light since a step 4 days ago (now -4.0 dBm); one step has no horizon" in finding.summary
    assert "horizon_days" not in dict(finding.detail)
    assert not looked({NIC: {"rx_dbm": [-2.0] * 6 + [-2.9] * 4}}).findings


def test_a_step_about_when_the_link_fell_shows_that() -> None:
    made = scene(Case(HEARD, plan=PLAN, past={NIC: {"rx_dbm": [-2.0] * 6 + [-4.0] * 4}}))
    assert made.earlier is not None
    fell = np.full((2, 1), made.earlier.taken_at - timedelta(days=4).total_seconds())
    found = only(rules()["LNK006"].look(replace(made, earlier=replace(made.earlier, fell_at=fell))))
    assert "about when its link fell" in found.summary


def test_a_far_end_of_the_horizon_may_be_open() -> None:
    finding = only(looked({NIC: {"rx_dbm": [-8.0] * 6 + [-8.4, -8.41, -8.8, -8.81]}}))
    assert finding.summary.endswith("at this slope its limit of light is reached in 4 days or more")
    assert finding.confidence == 0.7


def test_a_slow_link_has_the_limit_of_its_own_fec() -> None:
    past = {NIC: {"ber": [-7.0 + day / 8 for day in range(10)]}}
    fast, slow = (only(looked(past, PLAN.replace("400", speed))) for speed in ("400", "100"))
    near, nearer = (dict(one.detail)["horizon_days"][0] for one in (fast, slow))
    assert nearer < near


def test_a_cable_without_link_has_no_forecast_and_too_short_a_past_is_not_evaluated() -> None:
    past = {NIC: {"rx_dbm": FALLING}}
    down = {"gpu-1": [*HEARD["gpu-1"], NetLink("nic0", operstate="DOWN", flags=("UP",))]}
    missing = looked(past, facts={**down, "leaf-0": [NetLink("swp1", operstate="DOWN", flags=("UP",))]})
    assert not missing.findings
    (short,) = looked({NIC: {"rx_dbm": FALLING[:3]}}).not_evaluated
    assert short.why == "the past covers 14.0 days; a slope needs 5"
    (none,) = looked({}).not_evaluated
    assert none.why.startswith("it needs the past of 5 days")


def test_links_without_days_enough_are_counted_beside_the_others() -> None:
    plan = f"{PLAN}\ngpu-2/nic0 leaf-0/swp2 rail=0 speed=400"
    evaluated = looked({NIC: {"rx_dbm": FALLING}}, plan)
    assert only(evaluated).subject == NIC
    (part,) = evaluated.not_evaluated
    assert part.why == "neither end of 1 of 2 links has readings of 5 days: leaf-0, gpu-2" or (part.count, part.of) == (
        1,
        2,
    )


def test_counters_are_evidence_too() -> None:
    rates = {NIC: {"corrected_bits": 2e5, "rx_bits": 4e11}}
    finding = only(looked({NIC: {"rx_dbm": FALLING, "ber": RISING}}, rates=rates))
    assert {evidence.collector for evidence in finding.evidence} == {"optics", "nic_counters"}


def test_a_worsening_link_is_its_own_cause_and_errors_explain_it() -> None:
    made = scene(Case(HEARD, plan=PLAN, past={NIC: {"rx_dbm": FALLING, "ber": RISING}}))
    found = rules()["LNK006"].look(made).findings
    (cause,) = explain(made, found)
    assert (cause.kind, cause.subjects) == (CauseKind.DEGRADED_LINK, (NIC,))
    errors = Finding("LNK004", "signal_degraded", Severity.WARNING, NIC, "errors", "Clean it.")
    assert len(explain(made, (errors, *found))) == 1


def test_days_are_means_and_a_day_with_long_gaps_is_none() -> None:
    made = scene(Case(HEARD, plan=PLAN, past={NIC: {"rx_dbm": FALLING}}))
    days = daily(made.past.links).rx[:, 0, 0]
    assert np.isnan(days[:4]).all()
    assert days[4:] == pytest.approx(FALLING, abs=0.01)


# the simulator


def test_the_benchmark_shows_forecasts_and_no_alarm_on_few_links() -> None:
    found = lives(seed=3, days=40, links=60, each=3)
    text = section(found, 40, "Fast.")
    assert all(kind in text for kind in (*TRAPS[:1], *STEPS))
    assert not any(one.first(Severity.WARNING) for one in found if one.kind == "nothing")
    assert any(one.first(Severity.WARNING) for one in found if one.kind == "laser that ages")
    page = SECTION.placed("# Accuracy\n\n## Mistakes\n", text)
    assert SECTION.of(page) == text
    assert SECTION.placed(page, text.replace("Fast.", "Slow.")).count(SECTION.begin) == 1

"""What the metrics say of traffic: the newest minute, by whichever end tells it, and nothing where no one does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from math import nan
from pathlib import Path

import numpy as np
import pytest

from tests.metrics_pages import Read, page, published
from truerail.analysis.counters import Window
from truerail.analysis.ecmp.spread import peak_by_chance
from truerail.analysis.published import JournalState, Published
from truerail.analysis.rule import Case
from truerail.model import Counter, Finding, PortCounters, Reading, Severity, Snapshot, Transport
from truerail.service.evaluator import Evaluator
from truerail.service.settings import Metrics, Settings
from truerail.testing.cases import AT, plan_of, scene

PLAN = """
    gpu-1/nic0 leaf-0/p1 rail=0 speed=400
    gpu-1/nic1 leaf-1/p1 rail=1 speed=400
    leaf-0/u1 spine-0/p1 speed=800
"""
GB = 1e9
Rates = Mapping[str, Mapping[str, float | Sequence[float]]]


def shown(rates: Rates, plan: str = PLAN) -> Published:
    return of_case(Case(plan=plan, rates=rates))


def of_case(case: Case) -> Published:
    made = scene(case)
    return published(made.plan, made.snapshot, made.counters)


def read(rates: Rates, plan: str = PLAN) -> Read:
    return Read(page(shown(rates, plan)))


def reported(rates: Rates, metric: str, nic: str = "nic0", plan: str = PLAN) -> float | None:
    return read(rates, plan)(metric, host="gpu-1", nic=nic)


def of(**ports: Mapping[str, float]) -> Rates:
    """Rates by port, `leaf_0__p1` for leaf-0/p1."""
    return {name.replace("__", "/").replace("_", "-"): rates for name, rates in ports.items()}


NIC, LEAF = "gpu-1/nic0", "leaf-0/p1"
TX, RX = "link_transmit_bytes_per_second", "link_receive_bytes_per_second"


def test_bytes_are_seen_from_the_host_by_the_end_that_counts_more() -> None:
    rates = {NIC: {"tx_bytes": 20 * GB, "rx_bytes": 1 * GB}, LEAF: {"rx_bytes": 19 * GB, "tx_bytes": 30 * GB}}
    assert reported(rates, TX) == pytest.approx(20 * GB, rel=1e-4)
    assert reported(rates, RX) == pytest.approx(30 * GB, rel=1e-4)
    assert reported({LEAF: {"rx_bytes": 5 * GB}}, TX) == pytest.approx(5 * GB, rel=1e-4), "the leaf alone is enough"


def test_who_is_not_counted_has_no_series() -> None:
    page_of_all = read({NIC: {"tx_bytes": 0.0}})
    assert page_of_all(TX, host="gpu-1", nic="nic0") == 0
    assert page_of_all(RX, host="gpu-1", nic="nic0") is None
    assert page_of_all(TX, host="gpu-1", nic="nic1") is None
    assert page_of_all("links_counted", rail="0") == 1
    assert page_of_all("links_counted", rail="1") == 0
    assert page_of_all("uplinks_counted") == 0
    for metric in ("link_pause_received_ratio", "link_ecn_marked_ratio", "link_errors_per_second"):
        assert page_of_all(metric) is None


def test_without_counters_or_without_the_wish_there_is_no_series_at_all() -> None:
    silent = published(plan_of(Case(plan=PLAN)), Snapshot(AT, []))
    unwanted = replace(shown({NIC: {"tx_bytes": GB}}), traffic=None)
    for publication in (silent, unwanted):
        names = Read(page(publication)).names
        assert "truerail_link_state" in names
        assert not [name for name in names if name.endswith(("_per_second", "_counted", "ed_ratio"))]


def test_bytes_counted_by_priority_alone_are_added_up() -> None:
    assert reported({NIC: {"tx_bytes:0": 1 * GB, "tx_bytes:3": 4 * GB}}, TX) == pytest.approx(5 * GB, rel=1e-4)


def test_the_speed_is_the_plans_where_nobody_tells_another() -> None:
    speeds = read({NIC: {"tx_bytes": GB}})
    assert speeds("link_speed_bytes_per_second", nic="nic1") == 5e10
    assert speeds("uplink_speed_bytes_per_second", switch="leaf-0") == 1e11


def test_pauses_are_of_the_worst_priority_and_by_either_end() -> None:
    rates = {NIC: {"rx_pause_us:3": 2e5, "rx_pause_us:4": 1e5}, LEAF: {"rx_pause_us:3": 9e5, "tx_pause_us:3": 1.5e5}}
    assert reported(rates, "link_pause_received_ratio") == pytest.approx(0.2, rel=1e-4)
    assert reported(rates, "link_pause_sent_ratio") == pytest.approx(0.9, rel=1e-4)
    assert reported({NIC: {"rx_pause_us:3": 1.4e6}}, "link_pause_received_ratio") == 1, (
        "switches add up at their own pace"
    )


def test_frames_do_not_tell_how_long_a_pause_was() -> None:
    assert reported({NIC: {"rx_pause_frames:3": 5e4, "tx_bytes": GB}}, "link_pause_received_ratio") is None


def test_the_marked_share_is_of_the_packets_that_carry_rdma() -> None:
    lossless = {"rx_packets:0": 9e6, "rx_packets:3": 1e6, "rx_pause_us:3": 0.0, "ecn_received_packets": 1e4}
    assert reported({NIC: lossless}, "link_ecn_marked_ratio") == pytest.approx(0.01, rel=1e-3)
    assert reported({NIC: {"rx_packets": 1e6, "ecn_received_packets": 5e4}}, "link_ecn_marked_ratio") == pytest.approx(
        0.05
    )
    assert reported({NIC: {"rx_packets": 0.0, "ecn_received_packets": 0.0}}, "link_ecn_marked_ratio") is None


def test_broken_frames_of_both_ends_are_added_up_and_none_is_counted_twice() -> None:
    rates = {NIC: {"rx_errors": 3.0, "crc_errors": 2.0}, LEAF: {"fec_uncorrected": 4.0}}
    assert reported(rates, "link_errors_per_second") == pytest.approx(7)
    assert reported({LEAF: {"rx_errors": 0.0}}, "link_errors_per_second") == 0


def test_uplinks_are_seen_from_below() -> None:
    rates = of(
        leaf_0__u1={"tx_bytes": 40 * GB, "rx_pause_us:3": 1e5, "tx_packets": 1e6, "ecn_marked_packets": 1e4},
        spine_0__p1={"tx_bytes": 10 * GB, "rx_pause_us:3": 5e4, "tx_packets": 1e6, "ecn_marked_packets": 3e4},
    )
    uplink = read(rates)
    values = {
        "transmit_bytes_per_second": 40 * GB, "receive_bytes_per_second": 10 * GB, "pause_received_ratio": 0.1,
        "pause_sent_ratio": 0.05, "ecn_marked_ratio": 0.03,
    }  # fmt: skip
    for metric, value in values.items():
        assert uplink(f"uplink_{metric}", switch="leaf-0", switch_port="u1") == pytest.approx(value, rel=1e-3)
    assert uplink("uplink_errors_per_second") is None
    assert uplink("uplinks_counted") == 1


def test_two_planes_are_two_series() -> None:
    plan = """
        gpu-1/nic0p0 leaf-0/p1 rail=0 plane=0
        gpu-1/nic0p1 leaf-1/p1 rail=0 plane=1
    """
    planes = read({"gpu-1/nic0p0": {"tx_bytes": 2 * GB}, "gpu-1/nic0p1": {"tx_bytes": 1 * GB}}, plan)
    assert planes(TX, rail="0", plane="0") == 2 * GB
    assert planes(TX, rail="0", plane="1") == 1 * GB
    assert planes("links_counted", rail="0", plane="1") == 1


def test_the_mean_is_of_the_newest_minute() -> None:
    assert reported({NIC: {"tx_bytes": [9 * GB] * 6 + [1 * GB] * 6}}, TX) == pytest.approx(1 * GB, rel=1e-4)
    assert reported({NIC: {"tx_bytes": [9 * GB] * 6 + [1 * GB] * 3 + [3 * GB] * 3}}, TX) == pytest.approx(
        2 * GB, rel=1e-4
    )


def test_a_gap_in_the_newest_minute_is_no_series() -> None:
    other = {"leaf-1/p1": {"tx_bytes": GB}}
    assert reported({NIC: {"tx_bytes": [GB] * 9 + [nan] * 3}, **other}, TX) is None
    assert reported({NIC: {"tx_bytes": [GB] * 2 + [nan] * 3 + [GB] * 7}, **other}, TX) == pytest.approx(GB, rel=1e-4)


def window(paces: Mapping[str, int], rounds: int, step: float = 10.0, count: int = 1000) -> Window:
    """A window in which each NIC counts `count` bytes a second and is read in every so many rounds."""
    found = Window()
    for number in range(rounds):
        at = AT + timedelta(seconds=step * number)
        read_now = [nic for nic, pace in paces.items() if number % pace == 0]
        value = int(count * step * number)
        facts = tuple(PortCounters(nic, (Counter("tx_bytes"),), (value,)) for nic in read_now)
        found.put([Reading("gpu-1", "nic_counters", at, facts)] if facts else [])
        found.put([Reading("leaf-9", "port_counters", at, (PortCounters("x", (Counter("tx_bytes"),), (value,)),))])
    return found


@pytest.mark.parametrize("rounds", range(20, 26))
def test_who_is_read_once_a_minute_is_shown_at_its_newest_reading(rounds: int) -> None:
    plan = plan_of(Case(plan=PLAN))
    both = Read(page(published(plan, Snapshot(AT, []), window({"nic0": 6, "nic1": 1}, rounds).view())))
    assert both(TX, nic="nic0") == both(TX, nic="nic1") == 1000


def test_a_reading_that_is_overdue_is_no_longer_shown() -> None:
    plan = plan_of(Case(plan=PLAN))
    counting = window({"nic0": 6, "nic1": 1}, 19)
    for number in range(19, 30):
        fact = PortCounters("nic1", (Counter("tx_bytes"),), (10_000 * number,))
        counting.put([Reading("gpu-1", "nic_counters", AT + timedelta(seconds=10 * number), (fact,))])
    gone = Read(page(published(plan, Snapshot(AT, []), counting.view())))
    assert gone(TX, nic="nic0") is None
    assert gone(TX, nic="nic1") == 1000


@pytest.mark.parametrize("rounds", [1, 4])
def test_less_than_a_minute_is_not_enough(rounds: int) -> None:
    plan = plan_of(Case(plan=PLAN))
    assert Read(page(published(plan, Snapshot(AT, []), window({"nic0": 1}, rounds).view())))(TX) is None


def test_what_was_published_stays_what_it_was_while_the_window_goes_on() -> None:
    counting = window({"nic0": 1}, 12)
    publication = published(plan_of(Case(plan=PLAN)), Snapshot(AT, []), counting.view())
    before = page(publication)
    fact = PortCounters("nic0", (Counter("tx_bytes"),), (10**12,))
    counting.put([Reading("gpu-1", "nic_counters", AT + timedelta(seconds=120), (fact,))])
    assert page(publication) == before


@pytest.mark.parametrize("wanted", [True, False])
def test_the_setting_leaves_traffic_out_at_the_start_and_after_a_reload(tmp_path: Path, *, wanted: bool) -> None:
    def settings(*, traffic: bool) -> Settings:
        return Settings(inventory=tmp_path / "none.yaml", metrics=Metrics(traffic=traffic))

    plan = plan_of(Case(plan=PLAN))
    evaluator = Evaluator.begin(settings(traffic=wanted))
    evaluator.window = window({"nic0": 1}, 12)
    for expected in (wanted, not wanted):
        evaluated = evaluator.evaluate(plan, Snapshot(AT, []), (), (), {}, JournalState(), (), (), AT)
        assert (Read(page(evaluated.publication))(TX) == 1000) is expected
        evaluator.settle(settings(traffic=not wanted))


def test_infiniband_is_counted_alike() -> None:
    case = Case(plan=PLAN, transport=Transport.INFINIBAND, rates={NIC: {"tx_bytes": 3 * GB, "rx_errors": 1.0}})
    infiniband = Read(page(of_case(case)))
    assert infiniband(TX, nic="nic0") == pytest.approx(3 * GB, rel=1e-4)
    assert infiniband("link_errors_per_second", nic="nic0") == 1
    assert infiniband("link_pause_received_ratio") is infiniband("link_ecn_marked_ratio") is None


def test_one_counter_tells_of_one_cable_alone() -> None:
    publication = shown({NIC: {"tx_bytes": GB}})
    assert publication.traffic is not None
    assert np.isnan(publication.traffic.sent).sum() == 5, "all ports but the two ends of one cable"


def test_a_finding_names_the_nic_and_plane_that_it_is_about() -> None:
    good = of_case(Case(plan="gpu-1/nic0 leaf-0/p1 rail=3 plane=1"))

    def finding(subject: str, rail: int | None = None) -> Finding:
        return Finding("PFC001", "pfc_storm", Severity.CRITICAL, subject, "", "", rail=rail)

    subjects = (finding("gpu-1/nic0"), finding("gpu-1/nic9", 3), finding("gpu-1"), finding("leaf-0/p1", 3))
    loud = replace(good, evaluated=replace(good.evaluated, evaluation=replace(good.evaluation, findings=subjects)))
    labels = [dict(found) for found, _ in Read(page(loud)).series("device_findings")]
    for found in labels:
        del found["fabric"], found["rule"], found["severity"], found["muted"]
    assert sorted(labels, key=str) == sorted(
        [
            {"host": "gpu-1", "nic": "nic0", "rail": "3", "plane": "1"},
            {"host": "gpu-1", "rail": "3"},
            {"host": "gpu-1"},
            {"switch": "leaf-0", "rail": "3"},
        ],
        key=str,
    )


# How evenly switches load their uplinks.

HOSTS = 64
TIER = "\n".join(
    [f"h{n}/nic0 leaf-0/p{n} rail=0 speed=400" for n in range(HOSTS)]
    + [f"leaf-0/up{s} spine-{s}/p0 speed=400" for s in range(4)]
)
SWITCH = {"switch": "leaf-0"}


def shared(*shares: float, senders: int = HOSTS) -> dict[str, dict[str, float]]:
    """So many hosts send 64 GB/s together, and leaf-0 spreads it over its uplinks by these shares."""
    hosts = {f"leaf-0/p{n}": {"rx_bytes": 64 * GB / senders if n < senders else 0.0} for n in range(HOSTS)}
    return hosts | {f"leaf-0/up{s}": {"tx_bytes": 64 * GB * share} for s, share in enumerate(shares)}


@pytest.mark.parametrize(
    ("rates", "peak", "expected", "state"),
    [
        (shared(0.25, 0.25, 0.25, 0.25), 1.0, 1.625, 0),
        (shared(0.4, 0.2, 0.2, 0.2), 1.6, 1.625, 0),
        (shared(0.66, 0.12, 0.12, 0.1), 2.64, 1.625, 2),
        (shared(0.75, 0.25, 0.0, 0.0, senders=4), 3.0, 4.0, 0),
        ({"leaf-0/up0": {"tx_bytes": 1 * GB}}, None, None, 1),
    ],
    ids=["even", "as uneven as 64 flows may be", "more uneven than they may be", "four flows", "one uplink counted"],
)
def test_a_load_stands_beside_what_chance_allows(
    rates: Rates, peak: float | None, expected: float | None, state: int
) -> None:
    shown = read(rates, TIER)
    assert shown("switch_uplink_peak_ratio", **SWITCH) == (peak if peak is None else pytest.approx(peak, rel=1e-3))
    assert shown("switch_uplink_peak_expected_ratio", **SWITCH) == (
        expected if expected is None else pytest.approx(expected, rel=1e-3)
    )
    assert shown("switch_uplink_balance_state", **SWITCH) == state


@pytest.mark.parametrize(("flows", "members"), [(8, 8), (32, 8), (128, 8), (64, 16), (256, 64), (5_000, 16)])
def test_a_fair_hash_exceeds_what_chance_allows_in_one_case_of_a_hundred_at_most(flows: int, members: int) -> None:
    drawn = np.random.default_rng(1).multinomial(flows, [1 / members] * members, size=20_000)
    peaks = drawn.max(axis=1) * members / flows
    allowed = peak_by_chance(np.array([float(flows)]), np.array([members]))[0]
    assert (peaks > allowed).mean() <= 0.01
    assert (peaks > allowed * 0.8).mean() > 0.01, "and not much more is allowed than that"


def test_nothing_is_allowed_where_nothing_is_known() -> None:
    assert np.isnan(peak_by_chance(np.array([0.0, 0.9, 8.0]), np.array([8, 8, 1]))).all()

"""NIC004, NIC005, CFG001 and ECN001; and what all rules about health do with silence, foreign words and odd plans."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import rules
from rules._link_errors import blamed
from rules._links import subject_of
from rules.pcie_downtrained import _gbps
from tests.health_scenes import FOUR, NAN, UPLINKED, Rates, at, detail, found, looked, only
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.evidence import counter_evidence
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.model import (
    NOTHING_YET,
    Fact,
    Finding,
    GpuNicPath,
    HostSetting,
    NetLink,
    Optic,
    PcieLink,
    PortQos,
    RdmaLink,
    Reading,
    Severity,
    Snapshot,
    Status,
    Transport,
)
from truerail.rounds import evaluate
from truerail.testing.cases import AT, plan_of, scene

MINE = ("LNK003", "LNK004", "LNK005", "NIC004", "NIC005", "CFG001", "ECN001")


# What no one reported


@pytest.mark.parametrize("code", MINE)
def test_an_empty_plan_and_an_empty_round_are_undecided_or_without_findings(code: str) -> None:
    for plan, seen in ((plan_of(Case(plan="")), Snapshot(AT, ())), (plan_of(Case(plan=FOUR)), Snapshot(AT, ()))):
        try:
            assert list(rules()[code].findings(Round(plan, seen))) == []
        except InsufficientDataError as why:
            assert str(why)  # noqa: PT017 - it may be raised, and then says why


@pytest.mark.parametrize(
    ("code", "facts", "rates"),
    [
        ("LNK003", {}, {"gpu-1/nic0": {"tx_bytes": 1e9}}),
        ("LNK004", {}, {"gpu-1/nic0": {"link_downs": 0.0}}),
        ("LNK005", {"gpu-1": [Optic("nic0", vendor="V", part="copper")]}, {}),
        ("NIC005", {"gpu-1": [PcieLink("0000:18:00.0", None, None, 32.0, 16)]}, {}),
        ("CFG001", {"gpu-1": [PortQos("nic0", "dscp", (3,))]}, {}),
        ("ECN001", {}, {"gpu-1/nic0": {"rx_packets:3": 1e6}}),
        ("ECN001", {}, {"gpu-1/nic0": {"rx_packets:3": 1e6, "ecn_received_packets": [NAN] * 9 + [1e6] * 3}}),
    ],
)
def test_answers_that_say_nothing_of_it_are_unknown_not_fine(
    code: str, facts: Mapping[str, Sequence[Fact]], rates: Rates
) -> None:
    made = scene(Case(facts, plan=FOUR, rates=rates))
    verdict = next(v for v in evaluate(made, only=[code]).verdicts if v.rule == code)
    assert verdict.status is Status.UNKNOWN
    assert not verdict.missing
    assert " " in verdict.why


def test_the_first_reading_of_counters_decides_nothing() -> None:
    made = scene(Case(plan=FOUR, rates={"gpu-1/nic0": {"link_downs": [NAN] * 12}}))
    with pytest.raises(InsufficientDataError):
        list(rules()["LNK003"].findings(made))


@pytest.mark.parametrize(
    ("code", "transport"),
    [
        ("CFG001", Transport.INFINIBAND),
        ("ECN001", Transport.EFA),
        ("NIC004", Transport.EFA),
        ("ECN001", Transport.INFINIBAND),
    ],
)
def test_a_rule_that_means_nothing_there_does_not_apply(code: str, transport: Transport) -> None:
    made = scene(Case({"gpu-1": [PortQos("nic0")]}, plan=FOUR, transport=transport))
    assert [v.status for v in evaluate(made, only=[code]).verdicts] == [Status.NOT_APPLICABLE]


def test_counters_without_a_window_are_undecided() -> None:
    made = scene(Case(plan=FOUR, rates={"gpu-1/nic0": {"link_downs": 1.0, "ecn_received_packets": 1e6}}))
    for code in ("LNK003", "LNK004", "ECN001"):
        with pytest.raises(InsufficientDataError):
            list(rules()[code].findings(replace(made, counters=None)))


# NIC004


def paths(*levels: str) -> list[GpuNicPath]:
    return [GpuNicPath(gpu, f"NIC{gpu}", f"mlx5_{gpu}", level) for gpu, level in enumerate(levels)]


def test_peermem_is_a_warning_where_others_have_it_and_info_where_nobody_has() -> None:
    loaded, missing = [HostSetting("nvidia_peermem", "loaded")], [HostSetting("nvidia_peermem", "not loaded")]
    one = only(found("NIC004", facts={f"gpu-{n}": missing if n == 2 else loaded for n in (1, 2, 3, 4)}))
    assert (one.subject, one.severity) == ("gpu-2", Severity.WARNING)
    assert "3 of 4 hosts are set right" in one.summary
    none = found("NIC004", facts={f"gpu-{n}": missing for n in (1, 2, 3, 4)})
    assert {f.severity for f in none} == {Severity.INFO}
    assert len(none) == 4


def test_many_bridges_are_reported_in_short_and_another_setting_is_not_evaluated() -> None:
    bridges = [HostSetting("acs", "enabled", f"0000:{n:02x}:01.0") for n in range(9)]
    finding = only(found("NIC004", facts={"gpu-1": [*bridges, HostSetting("numa_balancing", "on")]}))
    assert "at 0000:00:01.0, 0000:01:01.0, 0000:02:01.0, 0000:03:01.0 and 5 more" in finding.summary
    assert len(finding.evidence) == 4


def test_settings_of_devices_that_are_no_planned_hosts_are_left_out() -> None:
    bad = [HostSetting("acs", "enabled", "0000:15:01.0")]
    assert found("NIC004", facts={"leaf-0": bad, "stranger": bad, "gpu-1": [HostSetting("acs", "disabled", "b")]}) == []


def test_gpus_are_compared_with_hosts_of_as_many_gpus_and_nics_only() -> None:
    near = {f"gpu-{n}": paths("PIX", "PIX", "PIX", "PIX", "PIX") for n in (1, 2, 3)}
    far = only(found("NIC004", facts={**near, "gpu-4": paths("SYS", "SYS", "SYS", "SYS", "SYS")}))
    assert "GPU0 is SYS from its NIC, elsewhere PIX" in far.summary
    assert "and 1 GPUs more" in far.summary
    assert far.evidence[0].fact == paths("SYS")[0]
    assert found("NIC004", facts={**near, "gpu-4": paths("SYS", "SYS")}) == []
    assert found("NIC004", facts={**near, "gpu-4": paths("NV18", "PIX", "PIX", "PIX", "PIX")}) == []


def test_equal_hosts_may_share_their_facts() -> None:
    plan = scene(Case(plan=FOUR)).plan
    near, bad = tuple(paths("PIX")), (HostSetting("acs", "enabled", "0000:15:01.0"),)
    readings = [
        Reading(f"gpu-{n}", "gpu_nic_topology", AT, near if n < 4 else tuple(paths("SYS"))) for n in (1, 2, 3, 4)
    ]
    readings += [Reading(f"gpu-{n}", "host_facts", AT, bad) for n in (1, 2)]
    findings = list(rules()["NIC004"].findings(Round(plan, Snapshot(AT, readings))))
    assert {f.subject for f in findings} == {"gpu-1", "gpu-2", "gpu-4"}
    assert {one.device for f in findings for one in f.evidence if f.subject != "gpu-4"} == {"gpu-1", "gpu-2"}


def test_two_hosts_are_no_majority_for_paths() -> None:
    assert found("NIC004", facts={"gpu-1": paths("PIX"), "gpu-2": paths("SYS")}) == []


# NIC005

NIC = RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "nic0", 400.0, pci_address="0000:18:00.0")


def pcie(speed: float | None, width: int | None, device: str | None = "mlx5_0", at: str = "0000:18:00.0") -> PcieLink:
    return PcieLink(at, speed, width, 32.0, 16, device)


@pytest.mark.parametrize(
    ("link", "severity"),
    [
        (pcie(16.0, 16), Severity.CRITICAL),
        (pcie(32.0, 8), Severity.CRITICAL),
        (pcie(32.0, 15), Severity.WARNING),
        (pcie(None, 8), Severity.WARNING),
        (pcie(16.0, None), Severity.WARNING),
        (pcie(16.0, 16, None), Severity.CRITICAL),
    ],
)
def test_how_bad_a_pcie_link_is(link: PcieLink, severity: Severity) -> None:
    finding = only(found("NIC005", facts={"gpu-1": [NIC, link]}))
    assert (finding.subject, finding.severity, finding.rail) == ("gpu-1/nic0", severity, 0)
    assert finding.evidence[0].fact == link


@pytest.mark.parametrize(
    ("speed", "width", "carries"),
    [(5.0, 8, 32.0), (16.0, 16, 252.06), (32.0, 16, 504.12), (64.0, 16, 968.0), (128.0, 16, 1936.0)],
)
def test_what_a_pcie_link_carries(speed: float, width: int, carries: float) -> None:
    assert _gbps(PcieLink("a", speed, width)) == pytest.approx(carries, rel=1e-3)


def test_the_speed_counts_of_what_is_known_to_be_a_nic_only() -> None:
    idle = pcie(2.5, 16, None, "0000:19:00.0")
    assert looked("NIC005", facts={"gpu-1": [NIC, idle]}) == ([], [("host", 3, 4)])
    netdev = NetLink("nic0", pci_address="0000:19:00.0")
    assert only(found("NIC005", facts={"gpu-1": [netdev, idle]})).subject == "gpu-1/nic0"


def test_a_link_worse_than_most_is_found_without_its_maximum() -> None:
    good, bad = PcieLink("0000:18:00.0", 32.0, 16, device="mlx5_0"), PcieLink("0000:18:00.0", 32.0, 4, device="mlx5_0")
    facts: dict[str, Sequence[Fact]] = {f"gpu-{n}": [NIC, bad if n == 3 else good] for n in (1, 2, 3, 4)}
    finding = only(found("NIC005", facts=facts))
    assert (finding.subject, finding.expected, finding.observed) == ("gpu-3/nic0", "32 GT/s x16", "32 GT/s x4")


def test_many_links_of_one_host_are_one_finding() -> None:
    gpus = [pcie(2.5, 8, f"GPU{n}", f"0000:{n:02x}:00.0") for n in range(6)]
    finding = only(found("NIC005", facts={"gpu-1": [NIC, *gpus], "leaf-0": [pcie(2.5, 8)]}))
    assert finding.subject == "gpu-1"
    assert finding.severity is Severity.WARNING
    assert finding.summary.endswith("and 2 more")


def test_the_planned_speed_is_used_where_none_is_reported() -> None:
    slow = replace_rate(NIC, None)
    assert only(found("NIC005", facts={"gpu-1": [slow, pcie(16.0, 16)]})).severity is Severity.CRITICAL
    unknown = "gpu-1/nic0 leaf-0/swp1 rail=0"
    assert only(found("NIC005", unknown, {"gpu-1": [slow, pcie(16.0, 16)]})).severity is Severity.WARNING


def replace_rate(link: RdmaLink, rate: float | None) -> RdmaLink:
    return link._replace(rate_gbps=rate)


# CFG001

RIGHT = PortQos("nic0", "dscp", (3,), (3,), False)


@pytest.mark.parametrize(
    ("change", "summary"),
    [
        ({"trust": "pcp"}, "trust pcp instead of trust dscp (3 of 4 peers)"),
        ({"pfc_priorities": (3, 4)}, "PFC on 3/4 instead of PFC on 3"),
        ({"pfc_priorities": ()}, "PFC off instead of PFC on 3"),
        ({"ecn_priorities": ()}, "ECN off instead of ECN on 3"),
        ({"global_pause": True}, "global pause on instead of global pause off"),
    ],
)
def test_each_setting_is_compared_with_peers(change: dict[str, Any], summary: str) -> None:
    facts = {f"gpu-{n}": [RIGHT._replace(**change) if n == 2 else RIGHT] for n in (1, 2, 3, 4)}
    finding = only(found("CFG001", facts=facts))
    assert finding.subject == "gpu-2/nic0"
    assert summary in finding.summary
    assert finding.confidence == 0.75
    assert finding.evidence[0].fact == facts["gpu-2"][0]


def test_what_one_side_did_not_tell_is_no_difference() -> None:
    facts = {"gpu-1": [RIGHT], "leaf-0": [PortQos("swp1", pfc_priorities=(3,)), PortQos("swp2", "pcp", (4,))]}
    assert looked("CFG001", facts=facts) == ([], [("port", 5, 8)])


def test_a_switch_that_marks_what_its_nic_does_not_answer_is_found_and_the_reverse_is_not() -> None:
    def ends(nic: tuple[int, ...], switch: tuple[int, ...]) -> list[Finding]:
        facts = {"gpu-1": [PortQos("nic0", ecn_priorities=nic)], "leaf-0": [PortQos("swp1", ecn_priorities=switch)]}
        return looked("CFG001", facts=facts)[0]

    assert ends((0, 3), (3,)) == []
    finding = only(ends((3,), (3, 4)))
    assert finding.subject == "gpu-1/nic0"
    assert finding.confidence == 0.7
    assert "the other end" in finding.summary
    assert only(ends((0, 3), (4,))).observed == "ECN on 0/3"


def test_two_switches_must_mark_the_same() -> None:
    facts = {"leaf-0": [PortQos("swp9", ecn_priorities=(3,))], "spine-1": [PortQos("swp1", ecn_priorities=(3, 4))]}
    assert only(found("CFG001", UPLINKED, facts)).subject == "leaf-0/swp9"


def test_the_odd_end_of_a_cable_is_blamed_and_reported_once() -> None:
    facts = {
        **{f"gpu-{n}": [RIGHT] for n in (1, 2, 3, 4)},
        "leaf-0": [RIGHT._replace(port=f"swp{n}", trust="pcp" if n == 3 else "dscp") for n in (1, 2, 3, 4)],
    }
    assert [f.subject for f in found("CFG001", facts=facts)] == ["leaf-0/swp3"]


def test_two_roles_may_be_set_differently_where_that_is_each_devices_own() -> None:
    facts = {
        **{f"gpu-{n}": [RIGHT] for n in (1, 2, 3, 4)},
        "leaf-0": [RIGHT._replace(port=f"swp{n}", watchdog="drop") for n in (1, 2, 3, 4)],
    }
    assert found("CFG001", facts=facts) == []


def test_the_last_of_two_answers_counts_and_keeps_what_the_first_alone_reported() -> None:
    made = scene(Case({f"gpu-{n}": [RIGHT] for n in (1, 2, 3, 4)}, plan=FOUR))
    plan, seen = made.plan, made.snapshot
    again = Reading("gpu-4", "nic_qos", AT, (PortQos("nic0", pfc_priorities=(4,)),))
    finding = only(list(rules()["CFG001"].findings(Round(plan, replace(seen, readings=(*seen.readings, again))))))
    assert (finding.subject, finding.observed) == ("gpu-4/nic0", "PFC on 4")


@given(st.lists(st.sampled_from([None, "dscp", "pcp"]), min_size=1, max_size=12))
def test_the_odd_ones_are_those_that_are_not_of_the_majority(trusts: list[str | None]) -> None:
    plan = "\n".join(f"gpu-{n}/nic0 leaf-0/swp{n} rail=0" for n in range(len(trusts)))
    facts = {f"gpu-{n}": [PortQos("nic0", trust)] for n, trust in enumerate(trusts)}
    reported = [trust for trust in trusts if trust]
    usual = next(
        (one for one in ("dscp", "pcp") if len(reported) >= 3 and 2 * reported.count(one) > len(reported)), None
    )
    if usual is None:
        with pytest.raises(InsufficientDataError):
            found("CFG001", plan, facts)
    else:
        odd = {f"gpu-{n}/nic0" for n, trust in enumerate(trusts) if trust not in (None, usual)}
        assert {f.subject for f in looked("CFG001", plan, facts)[0]} == odd


# ECN001


def ecn(rates: Rates, **more: Any) -> Finding:
    return only(found("ECN001", rates=rates, **more))


@pytest.mark.parametrize(
    ("marked", "subject", "severity"),
    [
        (2e3, "leaf-0", Severity.INFO),
        (2e4, "gpu-1/nic0", Severity.WARNING),
        (2e5, "gpu-1/nic0", Severity.CRITICAL),
        (at({4: 5e5}), "leaf-0", Severity.INFO),
    ],
)
def test_how_bad_marks_are(marked: float | list[float], subject: str, severity: Severity) -> None:
    finding = ecn({"gpu-1/nic0": {"rx_packets:3": 1e6, "ecn_received_packets": marked}})
    assert (finding.subject, finding.severity) == (subject, severity)


@pytest.mark.parametrize(
    ("marked", "summary"),
    [
        ([2e3], "1 NIC on it receives 0.2% of packets marked as congested"),
        ([2e3, 2e3], "2 NICs on it receive 0.2% of packets marked as congested"),
        ([2e3, 4e3], "2 NICs on it receive 0.2% to 0.4% of packets marked as congested"),
    ],
)
def test_some_marks_of_a_leaf_in_words(marked: list[float], summary: str) -> None:
    nics = {f"gpu-{n}/nic0": {"rx_packets:3": 1e6, "ecn_received_packets": each} for n, each in enumerate(marked, 1)}
    finding = ecn(nics)
    assert summary in finding.summary
    assert finding.action.startswith(NOTHING_YET)


def test_only_packets_of_lossless_priorities_are_counted_where_pauses_tell_which_those_are() -> None:
    counted = {"rx_packets:0": 1e8, "rx_packets:3": 1e6, "ecn_received_packets": 2e5, "rx_pause_frames:3": 0.0}
    finding = ecn({"gpu-1/nic0": counted})
    assert finding.severity is Severity.CRITICAL
    assert detail(finding)["marked_share"] == pytest.approx(0.2, rel=1e-3)
    diluted = {name: count for name, count in counted.items() if name != "rx_pause_frames:3"}
    assert [f.severity for f in found("ECN001", rates={"gpu-1/nic0": diluted})] == [Severity.INFO]


def test_several_symptoms_of_one_nic_are_one_finding_with_the_loudest_severity() -> None:
    rates: Rates = {
        "gpu-1/nic0": {"rx_packets:3": 1e6, "ecn_received_packets": 2e5, "cnp_sent": 0.0, "cnp_ignored": 1.0}
    }
    finding = ecn(rates)
    assert detail(finding)["symptoms"] == ("marked", "no notices", "ignored")
    assert finding.severity is Severity.CRITICAL
    assert finding.rail == 0
    assert {one.device for one in finding.evidence} == {"gpu-1"}


def test_marks_that_get_lost_are_found_only_where_the_nic_tells_that_it_sees_none() -> None:
    leaf = {"leaf-0/swp1": {"ecn_marked_packets:3": 400.0, "ecn_marked_packets": 500.0}}
    assert looked("ECN001", rates=leaf) == ([], [("link", 3, 4)])
    finding = ecn({**leaf, "gpu-1/nic0": {"ecn_received_packets": 0.0}})
    assert detail(finding)["symptoms"] == ("lost marks",)
    assert "marked 60,000 packets" in finding.summary


def test_notices_that_nobody_gets_need_nearly_all_nics_to_tell() -> None:
    deaf = {"cnp_sent": 100.0, "cnp_handled": 0.0}
    all_deaf = {f"gpu-{n}/nic0": deaf for n in (1, 2, 3, 4)}
    finding = ecn(all_deaf)
    assert (finding.subject, detail(finding)["symptoms"]) == ("leaf-0", ("unanswered",))
    assert "48,000" in finding.summary
    three: Rates = {**all_deaf, "gpu-4/nic0": {"cnp_sent": 100.0}}
    assert found("ECN001", rates=three) == []
    heard: Rates = {**all_deaf, "gpu-4/nic0": {"cnp_sent": 0.0, "cnp_handled": 1.0}}
    assert found("ECN001", rates=heard) == []
    few: Rates = {name: {"cnp_sent": 0.5, "cnp_handled": 0.0} for name in all_deaf}
    assert found("ECN001", rates=few) == []


@pytest.mark.parametrize(
    ("pauses", "fires"),
    [
        ({"tx_pause_frames:3": 1e4}, True),
        ({"tx_pause_frames:3": 50.0}, False),
        ({"tx_pause_frames:3": 1e4, "tx_pause_us:3": 1e3}, False),
        ({"tx_pause_us:3": 6e4}, True),
    ],
)
def test_a_switch_that_pauses_before_it_marks(pauses: Mapping[str, float], fires: bool) -> None:
    silent = {"ecn_marked_packets:3": 0.0}
    rates: dict[str, Mapping[str, float]] = {f"leaf-0/swp{n}": silent for n in (2, 3, 4)}
    findings = found("ECN001", rates={**rates, "leaf-0/swp1": {**silent, **pauses}})
    assert [f.subject for f in findings] == (["leaf-0"] if fires else [])


def test_a_switch_of_which_half_the_ports_count_no_marks_is_not_evaluated_by_them() -> None:
    pausing = {"ecn_marked_packets:3": 0.0, "tx_pause_us:3": 6e4}
    assert looked("ECN001", rates={"leaf-0/swp1": pausing, "leaf-0/swp2": pausing}) == ([], [("link", 2, 4)])


# Hostile names, unknown devices, sums


def test_foreign_words_are_made_safe_and_nothing_breaks_on_them() -> None:
    hostile = "\x1b[31m<b>\n" + "x" * 5000
    facts: dict[str, Sequence[Fact]] = {
        "gpu-1": [
            HostSetting("acs", "enabled", hostile),
            PcieLink(hostile, 2.5, 1, 32.0, 16, hostile),
            Optic("nic0", 1, -12.0, vendor="V"),
            *[PortQos("nic0", hostile)],
        ],
        **{f"gpu-{n}": [PortQos("nic0", "dscp")] for n in (2, 3, 4)},
    }
    for code in ("NIC004", "NIC005", "LNK005", "CFG001"):
        finding = only(found(code, facts=facts))
        assert "\x1b" not in finding.summary + finding.action + (finding.observed or "")
        assert len(finding.summary) < 400


def test_a_plan_whose_cables_name_an_unknown_device_breaks_no_rule() -> None:
    rates: Rates = {
        "gpu-1/nic0": {
            "link_downs": at({0: 0.1}),
            "fec_uncorrected": 1.0,
            "ecn_received_packets": 1e6,
            "rx_packets": 1e6,
        }
    }
    made = scene(Case({"gpu-1": [Optic("nic0", 1, -20.0), RIGHT, NIC, pcie(2.5, 16)]}, plan=FOUR, rates=rates))
    headless = replace(made.plan, devices={name: one for name, one in made.plan.devices.items() if name != "leaf-0"})
    for code in ("LNK003", "LNK004", "LNK005", "NIC005", "ECN001"):
        assert {f.subject for f in rules()[code].findings(replace(made, plan=headless))} == {"gpu-1/nic0"}, code


# Beyond the rules' own examples: missing halves, strangers, odd values


ONCE = {"link_downs": [0.0] * 9 + [0.1, 0.0, 0.0], "tx_bytes": 1e9}
EARLIER = {"link_downs": [0.0] * 2 + [0.1] + [0.0] * 9, "tx_bytes": 1e9}


def by_subject(code: str, *fabric: Any, **more: Any) -> dict[str, Finding]:
    return {finding.subject: finding for finding in found(code, *fabric, **more)}


def test_links_of_one_leaf_that_fell_at_different_times_are_findings_of_their_own() -> None:
    rates = {f"gpu-{host}/nic0": ONCE if host % 2 else EARLIER for host in (1, 2, 3, 4)}
    assert set(by_subject("LNK003", FOUR, rates=rates)) == set(rates)


def test_an_optic_at_the_other_end_that_sends_too_little_is_named() -> None:
    facts = {"gpu-1": [Optic("nic0", 1, -12.0, -1.0, rx_power_low_dbm=-8.0)], "leaf-0": [Optic("swp1", 1, -1.0, -9.0)]}
    finding = by_subject("LNK005", FOUR, facts)["gpu-1/nic0"]
    assert "leaf-0/swp1 sends only -9 dBm" in finding.summary


def test_the_side_to_blame_is_open_where_the_sender_is_not_known() -> None:
    made = scene(Case(plan=FOUR, rates={"gpu-1/nic0": {"crc_errors": 5.0, "tx_bytes": 1.0}}))
    reported = made.telemetry
    port = int(reported.wiring.index.a[0])
    nobody = np.full(reported.ports, -1)
    why, does = blamed(reported, [port], nobody, np.zeros(reported.ports, dtype=bool))
    assert "is unknown" in why
    assert "gpu-1/nic0" in does
    assert subject_of(reported.wiring.index, port, -1) == port


def test_evidence_of_counters_is_only_what_was_counted_of_that_port() -> None:
    rates = {"gpu-1/nic0": {"crc_errors": 5.0, "tx_bytes": 1.0}, "gpu-2/nic0": {"tx_bytes": 1.0}}
    reported = scene(Case({"gpu-1": [NetLink("nic0")]}, plan=FOUR, rates=rates)).telemetry
    one, other = (int(reported.wiring.index.a[row]) for row in (0, 1))
    (evidence,) = counter_evidence(reported, [one, other], Quantity.CRC_ERRORS)
    assert evidence.device == "gpu-1"
    assert counter_evidence(reported, [other], Quantity.CRC_ERRORS) == ()
    (fact,) = counter_evidence(reported, [other], Quantity.TX_BYTES)
    assert fact.device == "gpu-2"


def test_settings_of_a_switch_and_of_a_stranger_count_for_nothing() -> None:
    loaded, iommu = HostSetting("nvidia_peermem", "loaded"), HostSetting("iommu", "on")
    facts = {
        **{f"gpu-{host}": [loaded] for host in (1, 2, 3, 4)},
        "leaf-0": [HostSetting("nvidia_peermem", "not loaded"), iommu],
        "stranger": [HostSetting("nvidia_peermem", "not loaded"), iommu],
    }
    assert found("NIC004", FOUR, facts) == []


def test_equal_hosts_share_their_facts_and_each_is_reported() -> None:
    made = scene(Case({"gpu-4": [HostSetting("nvidia_peermem", "loaded")]}, plan=FOUR))
    plan, seen = made.plan, made.snapshot
    shared = (HostSetting("nvidia_peermem", "not loaded"),)
    readings = [Reading(f"gpu-{host}", "host_facts", AT, shared) for host in (1, 2)]
    findings = rules()["NIC004"].findings(Round(plan, Snapshot(AT, (*seen.readings, *readings))))
    assert {finding.subject for finding in findings} == {"gpu-1", "gpu-2"}


def test_a_level_that_nobody_knows_is_no_level() -> None:
    paths = [GpuNicPath(0, "NIC0", "mlx5_0", "WARP"), GpuNicPath(0, "NIC1", "mlx5_1", "PIX")]
    assert found("NIC004", FOUR, {f"gpu-{host}": paths for host in (1, 2, 3, 4)}) == []


def _host(width: int | None, *, speed: float | None = 32.0) -> list[NetLink | RdmaLink | PcieLink]:
    address = "0000:1a:00.0"
    return [
        NetLink("nic0", pci_address=address),
        RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "nic0", pci_address=address),
        PcieLink(address, speed, width, 32.0, 16, "mlx5_0"),
    ]


def test_a_pcie_link_of_a_host_that_nobody_planned_is_nobodys_finding() -> None:
    facts = {**{f"gpu-{host}": _host(16) for host in (1, 2, 3, 4)}, "stranger": _host(4), "leaf-0": _host(4)}
    assert found("NIC005", FOUR, facts) == []


def test_a_pcie_link_is_reported_by_what_it_says_of_itself() -> None:
    facts = {**{f"gpu-{host}": _host(16) for host in (1, 2, 3)}, "gpu-4": _host(8, speed=None)}
    finding = by_subject("NIC005", FOUR, facts)["gpu-4/nic0"]
    assert "x8" in finding.summary
    with pytest.raises(InsufficientDataError):
        found("NIC005", FOUR, {"gpu-1": _host(None, speed=None)})


@pytest.mark.parametrize("code", ["LNK003", "LNK004", "ECN001"])
def test_counters_that_speak_of_something_else_leave_it_open(code: str) -> None:
    with pytest.raises(InsufficientDataError):
        found(code, FOUR, rates={"gpu-1/nic0": {"tx_bytes": 1e9}})


def test_settings_that_only_one_end_tells_are_compared_with_nothing() -> None:
    with pytest.raises(InsufficientDataError):
        found("CFG001", FOUR, {"gpu-1": [PortQos("nic0", "dscp", (3,))]})

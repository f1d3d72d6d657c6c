"""Health of links and hosts beyond the rules' own examples: missing halves, strangers, odd values."""

from typing import Any

import numpy as np
import pytest

from rules import rules
from rules._link_errors import blamed
from rules._links import subject_of
from tests.health_scenes import FOUR, found
from truerail.analysis.counters import Quantity
from truerail.analysis.counters.evidence import counter_evidence
from truerail.analysis.round import Round
from truerail.analysis.rule import Case, InsufficientDataError
from truerail.model import (
    Finding,
    GpuNicPath,
    HostSetting,
    NetLink,
    Optic,
    PcieLink,
    PortQos,
    RdmaLink,
    Reading,
    Snapshot,
)
from truerail.testing.cases import AT, scene

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

"""`truerail probe` on real kernels: what hosts in network namespaces send and hear, and what follows from it."""

from collections.abc import Iterator

import pytest

from tests.probe_fabric import ProbeFabric, flat, rewriting, routed, swapped
from tests.real import require
from truerail.analysis.probes.reached import reached
from truerail.analysis.probes.results import coverage
from truerail.analysis.probes.round_trips import round_trips, words
from truerail.model import CauseKind


@pytest.fixture(scope="module")
def fabric() -> Iterator[ProbeFabric]:
    require("ip", "setpriv", root=True)
    with routed() as running:
        yield running


def test_a_clean_fabric_has_no_finding_and_all_nics_are_tried(fabric: ProbeFabric) -> None:
    evaluation, round = fabric.probe()
    assert fabric.rules(evaluation) == []
    verdicts = {v.rule: (str(v.status), v.why) for v in evaluation.verdicts if v.rule.startswith("PRB")}
    assert {
        rule: status for rule, (status, _) in verdicts.items() if rule in ("PRB001", "PRB002", "PRB003", "PRB006")
    } == dict.fromkeys(("PRB001", "PRB002", "PRB003", "PRB006"), "pass"), verdicts
    found = coverage(round)
    assert found
    assert (found.nics_tried, found.nics, found.untried) == (8, 8, 0)
    rounds = [round]
    while not round_trips(rounds[-1]).cable.size and len(rounds) < 3:  # a busy machine had no time for echoes
        rounds.append(fabric.probe()[1])
    assert words(rounds[-1]).startswith("Round-trip times: 8 of 8 pairs measured, median ")
    assert (round_trips(rounds[-1]).microseconds < 1e6).all()


def test_swapped_cables_are_both_unreachable_and_no_cable_is_moved_without_lldp(fabric: ProbeFabric) -> None:
    with swapped(fabric, 1):
        evaluation, _ = fabric.probe()
    assert {("PRB001", "h1/eth0"), ("PRB001", "h1/eth1")} == {
        one for one in fabric.rules(evaluation) if one[0] == "PRB001"
    }
    assert not any(cause.moves for cause in evaluation.causes)
    cause = next(cause for cause in evaluation.causes if "h1/eth0" in cause.subjects)
    assert (cause.kind, set(cause.subjects)) == (CauseKind.UNKNOWN, {"h1/eth0", "h1/eth1"})
    assert "swapped cables" in cause.summary


def test_a_host_without_its_rule_sends_by_the_other_nic(fabric: ProbeFabric) -> None:
    fabric.ip("h1", "rule del from 10.0.1.2 table 100")
    try:
        evaluation, _ = fabric.probe()
    finally:
        fabric.ip("h1", "rule add from 10.0.1.2 table 100")
    found = fabric.rules(evaluation)
    assert found == [("PRB002", "h1/eth0")]
    cause = next(cause for cause in evaluation.causes if "h1/eth0" in cause.subjects)
    assert cause.kind is CauseKind.CONFIGURATION
    assert "leave by eth1" in cause.summary


def test_a_hop_of_1500_bytes_is_named_by_the_router(fabric: ProbeFabric) -> None:
    fabric.ip("leaf-00", "link set up0 mtu 1500")
    fabric.ip("spine-1", "link set d0 mtu 1500")
    try:
        evaluation, _ = fabric.probe()
    finally:
        fabric.ip("leaf-00", "link set up0 mtu 9000")
        fabric.ip("spine-1", "link set d0 mtu 9000")
    assert [one for one in fabric.rules(evaluation) if one[0] == "PRB003"] == [
        ("PRB003", "leaf-00"),
        ("PRB003", "spine-1"),
    ]
    assert all("1500" in f.summary for f in evaluation.findings if f.rule == "PRB003")


def test_a_rewritten_class_is_seated_at_the_leaf_behind_whose_uplink_it_happens(fabric: ProbeFabric) -> None:
    with rewriting(fabric):
        evaluation, _ = fabric.probe()
    assert fabric.rules(evaluation) == [("PRB006", "leaf-00")]


def test_arp_flux_shows_in_departure_with_ipv4_and_ipv6() -> None:
    require("ip", "setpriv", root=True)
    with flat() as fabric:
        for fabric.version in (4, 6):
            evaluation, round = fabric.probe(("A",))
            found = [finding for finding in evaluation.findings if finding.rule == "PRB002"]
            departing = {f.subject for f in found if dict(f.detail)["because"] == "departure"}
            assert departing == {"h1/eth1", "h2/eth1", "h3/eth1"}, (fabric.version, evaluation.findings)
            flows = reached(round)
            assert flows.arrived.all(), fabric.version
            assert set(flows.sizes.tolist()) == {64 if fabric.version == 4 else 96, 9000}

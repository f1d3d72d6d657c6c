"""Path sweeps over real kernels with ECMP: each fault on one link or switch is named, and nothing else is."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from tests.draws import SOAK
from tests.probe_clos import MTU, Clos, clos
from tests.real import require
from truerail.analysis.round import Round
from truerail.analysis.sweep.swept import swept
from truerail.model import CauseKind, Evaluation, ProbeReach
from truerail.probe.path_sweep import Budget

ALL = ("reach", "nic", "mtu", "dscp", "paths", "loss")
FAST = Budget(5000.0, 100.0)
"""What these kernels answer."""
UP, FAR = "spine-00/up1", "core-01"
"""An uplink, and the core behind it, which receives on d0."""


@pytest.fixture(scope="module")
def fabric() -> Iterator[Clos]:
    require("ip", "setpriv", "nft", root=True)
    with clos() as running:
        yield running


def probe(fabric: Clos, what: tuple[str, ...] = ALL) -> tuple[Evaluation, Round]:
    """A sweep as fast as these kernels answer."""
    return fabric.probe("ABCE", what=what, budget=FAST)


def test_a_clean_fabric_is_seen_by_all_its_paths_and_has_no_finding(fabric: Clos) -> None:
    evaluation, round = probe(fabric)
    assert fabric.rules(evaluation) == []
    rules = ("PRB001", "PRB002", "PRB003", "PRB004", "PRB005", "PRB006", "PRB007", "PRB008")
    verdicts = {v.rule: (str(v.status), v.why) for v in evaluation.verdicts if v.rule in rules}
    assert verdicts == dict.fromkeys(rules, ("pass", ""))
    coverage = swept(round).coverage
    assert coverage.paths_seen == coverage.paths_planned
    assert not coverage.short_of(1000).any()


def test_tiers_with_one_seed_are_polarized(fabric: Clos) -> None:
    fabric.seeds(alike=True)
    try:
        evaluation, round = probe(fabric, ("paths",))
    finally:
        fabric.seeds()
    assert {row.sent for row in round.snapshot.table(ProbeReach).rows} <= {3, None}, "more are for loss alone"
    assert fabric.rules(evaluation) == [("PRB004", f"leaf-{pod}{rail}") for pod in (0, 1) for rail in (0, 1)]


@contextmanager
def small_mtu(fabric: Clos) -> Iterator[None]:
    """One link of 1500 bytes, by the settings of both its ports."""
    for size in (1500, MTU):
        fabric.ip("spine-00", f"link set up1 mtu {size}")
        fabric.ip(FAR, f"link set d0 mtu {size}")
        if size != MTU:
            yield


def arriving(fabric: Clos, rule: str) -> AbstractContextManager[None]:
    """A rule for UDP that arrives at the core's port."""
    return fabric.faulty(FAR, f'iifname "d0" meta l4proto udp {rule}')


def test_a_member_that_drops_everything_is_a_silent_link(fabric: Clos) -> None:
    with arriving(fabric, "drop"):
        evaluation, _ = probe(fabric, ("reach", "paths", "loss"))
    assert fabric.rules(evaluation) == [("PRB005", UP)]
    (cause,) = evaluation.causes
    assert cause.kind is CauseKind.SILENT_LINK


def test_one_percent_of_loss_is_seated_from_the_recordings_of_all_rounds_as_one(fabric: Clos) -> None:
    with arriving(fabric, "numgen inc mod 101 == 0 drop"):
        recordings = fabric.recordings("ABCE", what=("paths", "loss"), budget=FAST)
    evaluation, round = fabric.evaluated(recordings)
    (finding,) = [one for one in evaluation.findings if one.rule.startswith("PRB")]
    assert (finding.rule, finding.subject) == ("PRB007", UP)
    assert dict(finding.detail)["links"] == (f"{UP} -> {FAR}/d0",)
    assert {json.loads(text)["truerail_probe"] for text in recordings.values()} == {1}
    assert not swept(round).coverage.short_of(1000).any()


def test_a_switch_that_clears_the_class_and_a_link_of_1500_bytes_are_named_beside_each_other(fabric: Clos) -> None:
    with fabric.faulty("spine-11", "ip dscp set cs0"), small_mtu(fabric):
        evaluation, _ = probe(fabric, ("mtu", "dscp", "paths"))
    assert fabric.rules(evaluation) == [("PRB003", f"{FAR}/d0"), ("PRB003", UP), ("PRB006", "spine-11")]
    assert all("1500" in one.summary for one in evaluation.findings if one.rule == "PRB003")


def test_a_port_that_drops_large_packets_silently_is_named(fabric: Clos) -> None:
    with fabric.faulty(FAR, 'iifname "d0" meta length > 1500 drop'):
        evaluation, _ = probe(fabric, ("mtu", "paths"))
    (finding,) = [one for one in evaluation.findings if one.rule.startswith("PRB")]
    assert (finding.rule, finding.subject) == ("PRB003", UP)
    assert dict(finding.detail)["links"] == (f"{UP} -> {FAR}/d0",)


def test_a_silent_link_is_found_over_ipv6() -> None:
    require("ip", "setpriv", "nft", root=True)
    with clos(6) as fabric:
        with arriving(fabric, "drop"):
            evaluation, _ = probe(fabric, ("reach", "paths", "loss") if SOAK else ("reach", "paths"))
        assert fabric.rules(evaluation) == [("PRB005", UP)]

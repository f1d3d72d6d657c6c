"""Open faults: what alerts name while a cause is away, and when a present one has taken it over."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.metrics_pages import published
from tests.small_fabric import AT
from truerail.analysis.published import EvaluatedRound, Published
from truerail.model import Cause, CauseKind, Finding, Severity
from truerail.model.life import Life, LifeState
from truerail.model.open_fault import OpenFault
from truerail.service.evaluator import KEPT, Wordings
from truerail.simulator import Fault, Shape, simulate
from truerail.views.faults import open_faults

SHAPE = Shape(hosts=12, rails=4, pods=1, spines=2, uplinks=4)
PORT = "gpu-009/enp26s0f0np0"
FINDING = Finding("CAB003", "cable_missing", Severity.CRITICAL, PORT, "no link", "reseat it", rail=0)
AWAY = Cause("C9", CauseKind.LINK_DOWN, (PORT,), f"the link {PORT} - leaf-0/swp9 is down", "Reseat it.", (FINDING.id,))


def shown(*faults: Fault) -> Published:
    simulation = simulate(SHAPE, list(faults), seed=1)
    return published(simulation.plan, simulation.snapshot())


def lived(key: str, minutes: float, state: LifeState = LifeState.RECOVERING) -> Mapping[str, Life]:
    """A life that lasted so long before it was gone."""
    return {key: Life(key, state, AT, AT, AT + timedelta(minutes=minutes))}


def kept(publication: Published, minutes: float, cause: Cause = AWAY) -> list[OpenFault]:
    """What is open beside what is present, while a cause is away that had lasted so long."""
    faults = open_faults(publication.evaluated, lived(cause.key, minutes), {}, (cause,), (FINDING,))
    return [fault for fault in faults if fault.key == cause.key]


@pytest.mark.parametrize(("minutes", "open_"), [(1, False), (2, True), (60, True)])
def test_a_cause_that_recovers_is_open_if_it_had_lasted_as_long_as_its_alert_waits(minutes: int, open_: bool) -> None:
    """A cable that a hand moves is in the dark for a minute: it must not alert after it is in its port."""
    faults = kept(shown(), minutes)
    assert bool(faults) is open_
    for fault in faults:
        assert (fault.severity, fault.since, fault.findings) == (Severity.CRITICAL, AT, (FINDING.id,))
        assert fault.affected_gpus is fault.affected_hosts is None, "it is not evaluated now"


def test_a_cause_that_is_over_in_all_its_findings_is_not_open() -> None:
    faults = open_faults(shown().evaluated, lived(AWAY.key, 60), {}, (AWAY,), ())
    assert faults == ()


def test_a_cable_that_was_dark_and_is_now_swapped_is_one_fault() -> None:
    publication = shown(Fault(CauseKind.CABLE_SWAP, "one-host"))
    (swap,) = publication.evaluation.causes
    same = replace(AWAY, subjects=swap.subjects[:1])
    assert [
        fault.kind for fault in open_faults(publication.evaluated, lived(same.key, 60), {}, (same,), (FINDING,))
    ] == [CauseKind.CABLE_SWAP]
    assert kept(publication, 60)


def test_a_finding_without_a_cause_is_open_and_is_no_other_alert_beside_its_cause() -> None:
    publication = shown(Fault(CauseKind.LINK_DOWN, "host"))
    (cause,) = publication.evaluation.causes
    bare = EvaluatedRound(publication.round, replace(publication.evaluation, causes=()))
    with_cause, without = open_faults(publication.evaluated, {}, {}), open_faults(bare, {}, {})
    assert [fault.key for fault in with_cause] == [cause.key]
    loud = {finding.id for finding in publication.evaluation.findings if finding.severity is not Severity.INFO}
    assert {fault.key for fault in without} == loud
    assert {fault.path for fault in without} == {f"/findings/{one}" for one in loud}
    assert with_cause[0].path == f"/causes/{cause.key}"


def test_names_alone_are_no_critical_fault_and_affect_none() -> None:
    (fault,) = shown(Fault(CauseKind.LEAF_SWAP)).open_faults
    assert (fault.severity, fault.affected_gpus, fault.affected_hosts) == (Severity.WARNING, 0, 0)


def test_the_effect_of_an_uplink_is_unknown_not_none() -> None:
    (fault,) = shown(Fault(CauseKind.LINK_DOWN, "uplink")).open_faults
    assert fault.affected_gpus is fault.affected_hosts is None


def test_the_worst_comes_first() -> None:
    faults = shown(Fault(CauseKind.CABLE_MOVE, "one-leaf"), Fault(CauseKind.LINK_DOWN, "host")).open_faults
    assert [fault.severity for fault in faults] == [Severity.CRITICAL, Severity.WARNING]


def worded(summary: str, wordings: Wordings, at: datetime) -> str:
    fault = OpenFault("k", CauseKind.SLOW_HOST, "", Severity.WARNING, "", "h1", summary, "Drain it.", ("f",))
    return wordings.steady((fault,), at)[0].summary


def test_a_sentence_whose_numbers_change_is_another_series_only_every_quarter_of_an_hour() -> None:
    wordings = Wordings()
    assert worded("it pauses 34 % of the time", wordings, AT) == "it pauses 34 % of the time"
    assert worded("it pauses 35.5 % of the time", wordings, AT + timedelta(minutes=1)) == "it pauses 34 % of the time"
    assert worded("it pauses 36 % of the time", wordings, AT + KEPT) == "it pauses 36 % of the time"
    assert worded("it is off at gpu-1", wordings, AT + KEPT) == "it is off at gpu-1"
    assert worded("it is off at gpu-2", wordings, AT + KEPT) == "it is off at gpu-2"
    assert wordings.steady((), AT) == ()
    assert worded("it was off 9 s", wordings, AT) == "it was off 9 s"

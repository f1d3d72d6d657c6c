"""Causes and findings in a view: their harm, their order, their lives and mutes."""

from dataclasses import replace
from datetime import timedelta

import pytest

from benchmarks.telemetry.polled_rounds import round_after
from tests.view_fabrics import FAULTS, fabric, faulty, of_kind, right, shaped
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind
from truerail.model.finding import Finding, Severity
from truerail.model.life import Life, LifeState, Mute, MuteKind
from truerail.outputs.report_words import Tone
from truerail.questions.rails import balance
from truerail.questions.where import where
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape, simulate
from truerail.simulator.traffic import FlowFault, FlowFaultKind, Job, Pattern, flows
from truerail.testing.cases import AT
from truerail.views import lines
from truerail.views.lines import cause_line, cause_lines, finding_line
from truerail.views.view import view_of, warm


def test_harm_counts_each_gpu_once() -> None:
    publication = faulty()
    impact = {kind: sorted(line.impact for line in of_kind(publication, kind)) for kind in CauseKind}
    assert impact[CauseKind.LEAF_SWAP] == [0]  # names alone
    assert impact[CauseKind.CABLE_SWAP] == [0, 2]  # a swap on one leaf leaves both on their rail
    assert impact[CauseKind.CABLE_MOVE] == [0]
    assert impact[CauseKind.LINK_DOWN] == [0, 1]  # an uplink carries no GPU's own link
    assert impact[CauseKind.UNREACHABLE] == [8, 8]


def test_of_causes_with_equal_impact_the_one_that_stalls_traffic_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of(faulty())
    swap = next(one for one in view.sight.causes.values() if one.kind is CauseKind.CABLE_SWAP)
    storm = replace(swap, id="C99", kind=CauseKind.PFC_STORM, confidence=0.5)
    line = cause_line(view, swap)
    monkeypatch.setattr(
        lines, "cause_line", lambda _, of: replace(line, id=of.id, kind=of.kind.value, confidence=of.confidence)
    )
    assert [line.kind for line in cause_lines(view, [swap, storm])] == ["pfc-storm", "cable-swap"]


@pytest.mark.parametrize(
    ("gpus", "cables", "impact"), [(8, 1, 2), (4, 1, 1), (2, 1, 1), (2, 2, 1), (8, 2, 4), (3, 2, 1)]
)
def test_gpus_share_rails_as_their_numbers_say(gpus: int, cables: int, impact: int) -> None:
    layout = view_of(shaped(Shape(hosts=2, rails=4, gpus=gpus), 0)).layout
    assert layout.gpus_on(layout.host_cables_of(1)[:cables]) == impact


def test_a_gpu_of_two_planes_counts_once() -> None:
    layout = view_of(fabric("two planes")).layout
    assert len(layout.host_cables_of(0)) == 8
    assert layout.gpus_on(layout.host_cables_of(0)) == 4


def test_causes_stand_in_order_of_harm() -> None:
    lines = cause_lines(view_of(faulty()))
    assert [line.impact for line in lines] == sorted((line.impact for line in lines), reverse=True)
    assert (lines[0].kind, lines[0].impact) == (CauseKind.UNREACHABLE, 8)
    assert len(lines) == len(FAULTS)


def test_a_cable_shows_of_a_large_cause_only_what_concerns_it() -> None:
    publication = faulty()
    (whole,) = of_kind(publication, CauseKind.LEAF_SWAP)
    finding = next(f for f in publication.evaluation.findings if f.id in whole.explains and f.rule == "CAB001")
    (cause,) = where(publication, finding.subject).paths[0].causes
    assert (cause.key, cause.impact, cause.summary) == (whole.key, whole.impact, whole.summary)
    assert cause.explains == (finding.id,)
    assert len(whole.explains) > 20


def test_lives_and_mutes_are_shown() -> None:
    publication = faulty()
    (down,) = [line for line in of_kind(publication, CauseKind.LINK_DOWN) if line.impact]
    since = AT - timedelta(hours=2)
    life = Life(down.explains[0], LifeState.REGRESSED, since, since, AT)
    muted = replace(
        publication,
        lives={down.explains[0]: life},
        cause_lives={down.key: life},
        mutes={one: Mute(MuteKind.ACKNOWLEDGED, 1, "anna", "spare ordered") for one in down.explains},
    )
    (line,) = [line for line in of_kind(muted, CauseKind.LINK_DOWN) if line.impact]
    assert (line.state, line.since, line.muted) == ("regressed", since, "acknowledged")
    view = view_of(muted)
    found = finding_line(view, view.finding(down.explains[0]))  # type: ignore[arg-type] # it is there
    assert (found.state, found.since, found.muted, found.cause) == ("regressed", since, "acknowledged", down.key)
    assert (down.state, down.since, down.muted) == ("new", None, None)


def test_an_acknowledgement_shares_what_it_does_not_change() -> None:
    publication = faulty()
    again = replace(
        publication, mutes={publication.evaluation.findings[0].id: Mute(MuteKind.ACKNOWLEDGED, 1, "a", "b")}
    )
    assert view_of(again) is not view_of(publication)
    assert view_of(again) is view_of(again)
    assert view_of(again).sight is view_of(publication).sight
    assert warm(again).layout is warm(publication).layout
    assert view_of(again).muted.sum() == 1


def test_held_findings_are_found_too() -> None:
    publication = faulty()
    held = Finding("CAB003", "cable_missing", Severity.CRITICAL, right(publication).a.name, "was missing", "reseat it")
    held_life = Life(held.id, LifeState.RECOVERING, AT, AT, AT)
    shown = replace(publication, pending_resolution=(held,), lives={held.id: held_life})
    path = where(shown, held.subject).paths[0]
    assert [(one.id, one.state, one.cause) for one in path.findings] == [(held.id, "recovering", None)]
    assert path.state == "right"


def test_what_is_not_over_yet_is_not_called_fine() -> None:
    made = simulate(Shape(hosts=4, rails=2))
    publication = publication_of(Round(made.plan, made.snapshot()))
    fine = view_of(publication).headline
    assert (fine.tone, fine.repair) == (Tone.GOOD, "Nothing to do.")
    held = Finding("CAB003", "cable_missing", Severity.CRITICAL, right(publication).a.name, "was missing", "reseat it")
    for number, summary in ((1, "1 finding is not over yet."), (2, "2 findings are not over yet.")):
        reported = view_of(replace(publication, pending_resolution=(held,) * number)).headline
        assert (reported.tone, reported.cables, reported.repair) == (Tone.DOUBT, fine.cables, summary)
    worse = view_of(replace(faulty(), pending_resolution=(held,))).headline
    assert worse.tone is Tone.BAD


def test_gpus_that_are_nearest_to_another_rails_nic_are_harmed_though_no_cable_is_wrong() -> None:
    made = simulate(Shape(hosts=8, rails=4), (Fault(CauseKind.GPU_NIC_ORDER, "gpus"),), seed=1)
    ((_, order),) = made.world.gpu_order.items()
    publication = publication_of(Round(made.plan, made.snapshot()))
    (line,) = of_kind(publication, CauseKind.GPU_NIC_ORDER)
    assert set(publication.evaluation.cable_states.values()) == {CableState.RIGHT}
    assert line.impact == sum(gpu != rail for gpu, rail in enumerate(order)) > 0


def test_a_cause_is_muted_only_where_all_that_it_explains_is() -> None:
    publication = faulty()
    (down,) = [line for line in of_kind(publication, CauseKind.LINK_DOWN) if line.impact]
    assert len(down.explains) > 1
    for some in (down.explains[:1], down.explains[1:]):
        half = replace(publication, mutes={one: Mute(MuteKind.ACKNOWLEDGED, 1, "anna", "known") for one in some})
        (line,) = [line for line in of_kind(half, CauseKind.LINK_DOWN) if line.impact]
        assert line.muted is None


# A storm harms those who wait for its culprit, though every cable is where it belongs


def test_a_storm_counts_the_gpus_that_wait() -> None:
    simulation = simulate(Shape(hosts=8, rails=4, spines=2, uplinks=4))
    hosts = tuple(name for name, device in simulation.plan.devices.items() if device.role == "host")
    job = Job("train", hosts, Pattern.RING, (0, 1, 2, 3))
    traffic = flows(simulation, [job], [FlowFault(FlowFaultKind.STORM)], seed=3)
    publication = publication_of(round_after(simulation, traffic, 4))
    (storm,) = (line for line in cause_lines(view_of(publication)) if line.kind == CauseKind.PFC_STORM.value)
    assert 1 < storm.impact <= len(hosts)
    rails = balance(publication)
    assert rails.summary.startswith(f"{storm.kind} at {storm.subjects[0]}, ")
    assert (rails.causes[0], rails.action) == (storm, storm.action)

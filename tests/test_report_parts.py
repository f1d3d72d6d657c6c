"""What the reports are made of: punch list, narrowing, drawings, words."""

import pytest
import report_fabric as fabric

from truerail.model import NOTHING_YET, CableState, Cause, CauseKind, Device, Move, Plan, Port, Status, Verdict
from truerail.outputs.narrow import narrowed
from truerail.outputs.punch import punch_list
from truerail.outputs.rail_grid import Picture
from truerail.outputs.report import render
from truerail.outputs.report_html import bar, crossing
from truerail.outputs.report_words import as_sentence, count, instruction, name, place, sure


def test_an_unknown_format_is_refused():
    with pytest.raises(ValueError, match="pdf"):
        render(fabric.clean(), "pdf")


def test_the_punch_list_goes_by_rack_then_down_the_rack_then_by_port():
    maker = fabric.Maker()
    maker.rearranged(
        CauseKind.CABLE_ROTATION,
        [fabric.host_port(h, r) for h, r in ((10, 1), (9, 1), (2, 3))],
        [fabric.leaf_port(1, 9), fabric.leaf_port(1, 10), Port("leaf-3", "swp90")],
    )
    maker.because(CauseKind.LINK_DOWN, [fabric.host_port(1, 0)], [])
    maker.because(CauseKind.LINK_DOWN, [fabric.host_port(4, 0)], [])
    steps = punch_list(maker.evaluation())
    walked = [str(step.at) for step in steps]
    assert walked == ["gpu-004/enp26s0f0np0", "gpu-001/enp26s0f0np0", "leaf-3/swp90", "leaf-1/swp9", "leaf-1/swp10"]
    assert (steps[0].to, steps[0].far) == (None, fabric.leaf_port(0, 4))
    assert (steps[3].to, steps[3].far, steps[3].label) == (fabric.leaf_port(1, 10), fabric.host_port(10, 1), "P1-010-1")


def test_a_device_as_subject_is_a_step_without_a_cable():
    maker = fabric.Maker()
    maker.because(CauseKind.LEAF_SWAP, ["leaf-2", "leaf-3"], [], action="Swap the names.")
    steps = punch_list(maker.evaluation())
    assert [(step.at, step.action, step.far) for step in steps] == [
        ("leaf-3", "Swap the names.", None),
        ("leaf-2", "Swap the names.", None),
    ]


def test_a_cause_to_look_at_again_later_has_no_step():
    maker = fabric.Maker()
    maker.because(CauseKind.OVERLOAD, ["leaf-2"], [], action=f"{NOTHING_YET}: check again if jobs are slow.")
    assert punch_list(maker.evaluation()) == []


def test_narrowing_keeps_what_concerns_the_devices_and_all_moves_of_their_causes():
    evaluation = fabric.every_cause()
    reported = narrowed(evaluation, {"gpu-012"}, {"gpu-012", "leaf-1"})
    assert {f.device for f in reported.findings} == {"gpu-012"}
    assert [cause.id for cause in reported.causes] == ["C1", "C6", "C7"]
    assert [len(cause.moves) for cause in reported.causes] == [2, 0, 32]
    assert all(set(cause.explains) <= {f.id for f in reported.findings} for cause in reported.causes)
    assert reported.summary.cables_planned == 8
    assert reported.summary.cables_wrong == 6
    assert (reported.summary.hosts, reported.summary.hosts_read) == (1, 1)
    assert reported.collection_errors == ()
    assert Picture(reported).broken_hosts == ("gpu-012",)


def test_narrowing_to_a_switch_finds_cables_that_sit_there_by_mistake():
    reported = narrowed(fabric.every_cause(), {"leaf-6"}, set())
    assert "gpu-061/enp94s0f0np0" in {f.subject for f in reported.findings}
    assert reported.summary.hosts == 0


def test_narrowing_to_a_whole_device_passes_its_rules_but_never_the_unknown():
    evaluation = fabric.every_cause()
    maker_verdicts = {verdict.rule: verdict.status for verdict in narrowed(evaluation, {"spine-1"}, set()).verdicts}
    assert maker_verdicts["CAB001"] is Status.PASS
    assert maker_verdicts["LNK001"] is Status.UNKNOWN
    assert Verdict("CAB001", Status.FAIL) in evaluation.verdicts


def test_a_crossing_draws_planned_ends_level_and_the_strangers_below():
    cables = [Port("h1", "nic0"), Port("h1", "nic1")]
    moves = (
        Move(cables[0], Port("leaf-1", "p1"), Port("leaf-0", "p1")),
        Move(cables[1], Port("leaf-9", "p9"), Port("leaf-1", "p1")),
    )
    drawing = crossing(Cause("C1", CauseKind.CABLE_ROTATION, ("h1",), "", "", moves=moves))
    assert drawing is not None
    assert [port for port, _ in drawing.ports] == ["leaf-0/p1", "leaf-1/p1", "leaf-9/p9"]
    assert all(line.y == line.to_y for line in drawing.planned)
    assert drawing.now[0].to_y == drawing.planned[1].y
    assert drawing.now[1].to_y > drawing.planned[1].y


def test_no_drawing_without_moves_or_with_too_many():
    assert crossing(Cause("C1", CauseKind.HOST_SWAP, ("h1", "h2"), "", "")) is None
    many = tuple(Move(Port("h", str(n)), Port("l", str(n)), Port("m", str(n))) for n in range(9))
    assert crossing(Cause("C1", CauseKind.BUNDLE_SWAP, ("l", "m"), "", "", moves=many)) is None


def test_a_bar_is_whole_and_shows_even_one_of_a_hundred_thousand():
    parts = bar({CableState.RIGHT: 100_000, CableState.WRONG: 1, CableState.MISSING: 0, CableState.UNKNOWN: 0})
    assert [part.state for part in parts] == ["right", "wrong"]
    assert parts[1].width > 0.4
    assert sum(part.width for part in parts) == pytest.approx(100, abs=0.05)
    assert bar(dict.fromkeys(CableState, 0)) == []


def test_words():
    assert [count(1, "cable"), count(2, "cable"), count(12_500, "leaf", "leaves")] == [
        "1 cable",
        "2 cables",
        "12,500 leaves",
    ]
    assert sure(0.999) == "99 %"
    assert sure(1.0) == "100 %"
    assert as_sentence("the cables are swapped") == "The cables are swapped."
    assert as_sentence("gpu-012 is off.") == "gpu-012 is off."
    assert as_sentence("") == ""
    assert len(name("x" * 65536)) < 130


def test_places_tell_what_the_plan_knows():
    assert place(Device("a", rack="R1", unit=0)) == "rack R1 unit 0"
    assert place(Device("a", rack="R1")) == "rack R1"
    assert place(Device("a", unit=7)) == "unit 7"
    assert place(Device("a")) == ""
    assert place(None) == ""


def test_a_fabric_without_host_cables_has_no_picture():
    empty = Picture(fabric.Maker(1, 1).evaluation(plan=Plan({}, ()), cable_states={}))
    assert (empty.rails, empty.broken_hosts, empty.by_rail()) == ((), (), [])


def test_an_instruction_does_not_repeat_the_table_of_moves():
    move = Move(Port("h1", "nic0"), Port("leaf-1", "p1"), Port("leaf-0", "p1"))
    action = "Swap the two cables: h1/nic0 from leaf-1/p1 to leaf-0/p1."
    assert instruction(Cause("C1", CauseKind.CABLE_SWAP, ("h1",), "", action, moves=(move,))) == "Swap the two cables."
    assert instruction(Cause("C1", CauseKind.CABLE_SWAP, ("h1",), "", action)) == action
    other = "Look first: the panel may be crossed."
    assert instruction(Cause("C1", CauseKind.CABLE_SWAP, ("h1",), "", other, moves=(move,))) == other

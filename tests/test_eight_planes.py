"""Eight planes: a NIC of eight ports, each to a switch of its own (MRC). Map, questions and causes see each of them."""

import pytest
from rich.console import Console

from rules import rules
from tests.oncall_fabrics import published, shown, simulated
from truerail.analysis.published import Published
from truerail.model import CauseKind, Plan, Severity
from truerail.questions.path import path, path_text
from truerail.simulator import Fault, Shape
from truerail.views.fabric_map import fabric_map

EIGHT = Shape(hosts=6, rails=2, planes=8, spines=2, uplinks=2, speed_gbps=100)
DEAD = Fault(CauseKind.LINK_DOWN, "host")


@pytest.fixture(scope="module")
def dead() -> Published:
    return published(EIGHT, DEAD)


def text_of(answer: object) -> str:
    console = Console(width=100)
    with console.capture() as capture:
        for part in path_text(answer):  # type: ignore[arg-type]
            console.print(part)
    return " ".join(capture.get().split())


def test_a_lost_plane_is_named_on_its_path(dead: Published) -> None:
    (finding,) = [one for one in dead.evaluation.findings if one.rule == "CAB003"]
    plan: Plan = dead.plan
    cable = next(one for one in plan.cables if str(one.a) == finding.subject)
    other = next(host for host in ("gpu-001", "gpu-002") if host != cable.a.device)
    answer = path(dead, cable.a.device, other)
    by_rail = {way.rail: way for way in answer.rails}
    lost, whole = by_rail[cable.rail], by_rail[1 - (cable.rail or 0)]
    assert (lost.stays, lost.planes, lost.planes_off, lost.planes_unknown) == (True, 8, (cable.plane,), ())
    assert (whole.stays, whole.planes, whole.planes_off) == (True, 8, ())
    assert f"rail {cable.rail} not on all planes" in answer.summary
    said = text_of(answer)
    assert f"This holds on 7 of 8 planes: plane {cable.plane} not." in said
    assert "8 of 8 planes" in said


def test_a_silent_host_leaves_its_planes_unknown() -> None:
    hung = published(EIGHT, Fault(CauseKind.UNREACHABLE, "hung"))
    host = next(cause.subjects[0] for cause in hung.evaluation.causes)
    answer = path(hung, host, "gpu-001" if host != "gpu-001" else "gpu-002")
    assert {(way.stays, len(way.planes_unknown)) for way in answer.rails} == {(None, 8)}


def test_the_map_has_a_cell_for_each_plane(dead: Published) -> None:
    drawn = fabric_map(dead)
    assert (len(drawn.rails), drawn.planes) == (2, 8)


def test_two_planes_of_a_nic_that_are_swapped_are_one_cause() -> None:
    swapped = published(EIGHT, Fault(CauseKind.CABLE_SWAP, "one-host"), seed=7)
    crossed = [one for one in swapped.evaluation.findings if one.rule in ("CAB001", "CAB008")]
    assert len(crossed) == 2
    (cause,) = swapped.evaluation.causes
    assert cause.kind is CauseKind.CABLE_SWAP
    assert len(cause.moves) == 2
    assert rules()["CAB008"].severity is Severity.CRITICAL


def test_a_fabric_as_planned_has_no_finding() -> None:
    assert shown(simulated(EIGHT)).evaluation.findings == ()


def test_more_ports_than_a_nic_has_functions() -> None:
    with pytest.raises(ValueError, match="1 to 8 planes"):
        Shape(planes=9)

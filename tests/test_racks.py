"""Racks with the state of what stands in them, their rows, and what has none."""

from dataclasses import replace
from functools import cache

import pytest

from tests.fake_tower import FAULTS, step
from tests.view_fabrics import shaped
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.model import CauseKind, Snapshot
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape
from truerail.views.lists import device_lines
from truerail.views.racks import RackLine, rack_lines, row_of


@cache
def faulty() -> Published:
    return shaped(Shape(hosts=24, rails=4, spines=2, uplinks=4), FAULTS, 3)


@pytest.mark.parametrize(
    ("rack", "row"), [("A03", "A"), ("dc1-r12-03", "dc1-r12"), ("17", ""), ("net", "net"), ("B2a", "B"), ("", "")]
)
def test_a_row_is_a_racks_name_without_its_last_number(rack: str, row: str) -> None:
    assert row_of(rack) == row


def test_every_device_and_every_cable_is_in_its_racks() -> None:
    lines, plan = rack_lines(faulty(), ()), faulty().plan
    assert sum(line.hosts + line.switches for line in lines) == len(plan.devices)
    for line in lines:
        inside = {device.name for device in plan.devices.values() if device.rack == line.rack}
        cables = [cable for cable in plan.cables if {cable.a.device, cable.b.device} & inside]
        assert line.count.planned == len(cables)
        assert line.units == max(device.unit or 0 for device in plan.devices.values() if device.name in inside)
    assert sum(line.count.wrong for line in lines) > 0


def test_a_swapped_leaf_name_is_repaired_at_the_leaves_and_not_in_every_rack() -> None:
    published = shaped(
        Shape(hosts=24, rails=4, spines=2, uplinks=4),
        (Fault(CauseKind.LEAF_SWAP), Fault(CauseKind.LINK_DOWN, "host")),
        3,
    )
    (swapped,) = (cause for cause in published.evaluation.causes if cause.kind is CauseKind.LEAF_SWAP)
    (down,) = (cause for cause in published.evaluation.causes if cause.kind is CauseKind.LINK_DOWN)
    racks = {published.plan.devices[name.partition("/")[0]].rack for name in (*swapped.subjects, *down.subjects)}
    lines = {line.rack: line for line in rack_lines(published, ())}
    for line in lines.values():
        bad = line.count.wrong + line.count.missing
        assert (line.elsewhere < bad) if line.rack in racks else (line.elsewhere == bad)
    assert sum(line.elsewhere for line in lines.values()) > 0


def test_what_has_no_rack_comes_last_and_has_a_filter() -> None:
    plan = faulty().plan
    lost = replace(plan.devices["gpu-003"], rack="", unit=None)
    plan = replace(plan, devices={**plan.devices, "gpu-003": lost})
    published = publication_of(Round(plan, Snapshot(faulty().at, faulty().snapshot.readings)), fabric="lab")
    last = rack_lines(published, ())[-1]
    assert (last.rack, last.hosts, last.units, last.no_unit) == ("", 1, None, 1)
    assert [line.device for line in device_lines(published, rack="-").items] == ["gpu-003"]


def test_steps_that_are_left_are_counted_at_their_rack() -> None:
    rack = rack_lines(faulty(), ())[0].rack
    steps = [step(1, "gpu-001", rack), replace(step(2, "gpu-001", rack), mark="done")]
    counted: dict[str, RackLine] = {line.rack: line for line in rack_lines(faulty(), steps)}
    assert {rack: line.steps for rack, line in counted.items() if line.steps} == {rack: 1}

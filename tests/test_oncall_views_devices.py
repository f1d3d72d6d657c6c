"""One device: a host's paths, a switch's front panel, maintenance; and the punch list."""

import io
from dataclasses import replace
from datetime import datetime, timedelta

import openpyxl
import pytest

from tests.each import each
from tests.view_fabrics import SHAPES, fabric, faulty, shaped
from truerail.analysis.round import Round
from truerail.errors import JournalUnavailableError, NotFoundError, QueryError
from truerail.model import CauseKind, Port, Reading, Role, Snapshot
from truerail.model.facts import Optic
from truerail.model.history import MaintenanceWindow, NoHistory
from truerail.model.names import natural_key
from truerail.outputs.report import render
from truerail.outputs.report_xlsx import render_xlsx
from truerail.outputs.worklist import Mark, Worklist
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape
from truerail.views.device import device_view, port_lines
from truerail.views.lines import cause_lines
from truerail.views.lists import filter_steps, step_lines
from truerail.views.view import view_of

ALL = 100_000


@each("name", SHAPES)
def test_every_device_has_a_view(name: str) -> None:
    publication = fabric(name)
    for device in publication.plan.devices.values():
        seen = device_view(publication, device.name.upper())
        own = [c for c in publication.plan.cables if device.name in (c.a.device, c.b.device)]
        assert seen.device.device == device.name
        assert seen.count.planned == len(own)
        if device.role is Role.HOST:
            assert [path.subject for path in seen.paths] == [
                str(c.a) for c in sorted(own, key=lambda c: (c.rail or 0, c.plane or 0, natural_key(c.a.name)))
            ]
            assert seen.panel == ()
        else:
            planned = [port for port in seen.panel if port.facing != "free"]
            assert len(planned) == len(own)
            assert [p.port for p in seen.panel] == sorted((p.port for p in seen.panel), key=natural_key)
            assert sum(one.planned for one in seen.uplinks) == sum(c.a.device == device.name for c in own)


def test_the_front_panel_shows_planned_and_seen() -> None:
    publication = faulty()
    (moved,) = (line for line in cause_lines(view_of(publication)) if line.kind == CauseKind.CABLE_MOVE)
    source, target = moved.moves[0].source, moved.moves[0].target
    panel = {
        f"{source.split('/')[0]}/{port.port}": port for port in device_view(publication, source.split("/")[0]).panel
    }
    assert (panel[source].facing, panel[source].peer_planned, panel[source].state) == ("free", None, None)
    assert panel[source].peer_actual == panel[target].peer_planned == moved.moves[0].cable
    assert (panel[target].facing, panel[target].peer_actual, panel[target].state) == ("down", None, "wrong")
    assert panel[target].subject == moved.moves[0].cable
    assert panel[target].findings


def test_ports_of_all_switches_are_listed() -> None:
    publication = faulty()
    every = port_lines(publication, limit=ALL)
    leaf = port_lines(publication, nodes="leaf-2", limit=ALL)
    up = port_lines(publication, facing="up", limit=ALL)
    assert [line.port for line in leaf.items] == [port.port for port in device_view(publication, "leaf-2").panel]
    assert {line.device for line in leaf.items} == {"leaf-2"}
    assert {line.facing for line in up.items} == {"up"}
    assert 0 < up.total < every.total
    assert port_lines(publication, nodes="gpu-001").total == 0


def test_a_device_that_is_not_planned_has_no_view() -> None:
    with pytest.raises(NotFoundError, match="no device 'leaf-99'"):
        device_view(faulty(), "leaf-99")


def test_a_device_shows_how_it_was_asked() -> None:
    publication = faulty()
    asked = device_view(publication, "leaf-2").readings
    assert [one.collector for one in asked] == sorted(
        reading.collector for reading in publication.snapshot.readings if reading.device == "leaf-2"
    )
    assert asked[0].at == publication.at


class Windows(NoHistory):
    """One open window."""

    def __init__(self, scope: str, what: str, at: datetime) -> None:
        self.window = MaintenanceWindow(1, scope, what, at, at + timedelta(hours=1), "anna", "recabling", at)

    def windows(self, *, open_only: bool = True) -> tuple[MaintenanceWindow, ...]:
        return (self.window,)


class Gone(NoHistory):
    """Cannot be read."""

    def windows(self, *, open_only: bool = True) -> tuple[MaintenanceWindow, ...]:
        raise JournalUnavailableError("the database is away")


@pytest.mark.parametrize(
    ("scope", "what", "device", "reason"),
    [
        ("device", "gpu-001", "gpu-001", "recabling"),
        ("nodes", "gpu-[001-002]", "gpu-002", "recabling"),
        ("nodes", "gpu-[001-002]", "gpu-003", None),
        ("pod", "p2", "gpu-008", "recabling"),
        ("pod", "p2", "gpu-001", None),
        ("rail", "1", "gpu-001", None),
    ],
)
def test_maintenance_is_shown(scope: str, what: str, device: str, reason: str | None) -> None:
    publication = fabric("pods")
    assert device_view(publication, device, Windows(scope, what, publication.at)).maintenance == reason
    later = Windows(scope, what, publication.at + timedelta(hours=2))
    assert device_view(publication, device, later).maintenance is None
    assert device_view(publication, device, Gone()).maintenance is None


def test_steps_keep_their_keys_and_find_their_causes() -> None:
    publication = faulty()
    worklist = Worklist()
    worklist.update(publication.evaluation)
    first = step_lines(worklist, publication)
    worklist.update(publication.evaluation)
    again = step_lines(worklist, publication)
    keys = {line.key for line in cause_lines(view_of(publication))}
    assert [step.key for step in first] == [step.key for step in again]
    assert len({step.key for step in first}) == len(first) > 5
    assert {step.mark for step in again} == {"left"}
    assert {step.cause for step in first} <= keys
    (moved,) = (line for line in cause_lines(view_of(publication)) if line.kind == CauseKind.CABLE_MOVE)
    (step,) = (step for step in first if step.kind == CauseKind.CABLE_MOVE)
    assert (step.at, step.to, step.far) == (moved.moves[0].source, moved.moves[0].target, moved.moves[0].cable)
    assert step.cause == moved.key


def test_a_step_has_the_serial_numbers_that_its_two_ends_report() -> None:
    publication = faulty()
    worklist = Worklist()
    worklist.update(publication.evaluation)
    step = next(step for step in step_lines(worklist, publication) if step.far)
    assert {(line.serial, line.far_serial) for line in step_lines(worklist, publication)} == {("", "")}
    near, far = (Port(*end.split("/", 1)) for end in (step.at, str(step.far)))
    readings = [
        Reading(port.device, "optics", publication.at, tuple(Optic(port.name, lane, serial=serial) for lane in (1, 2)))
        for port, serial in ((near, "S1"), (far, "S2"), (Port("other", near.name), "S3"))
    ]
    snapshot = Snapshot(publication.snapshot.at, [*publication.snapshot.readings, *readings])
    read = publication_of(Round(publication.plan, snapshot), fabric="lab")
    worklist.update(read.evaluation)
    (found,) = (line for line in step_lines(worklist, read) if line.key == step.key)
    assert (found.serial, found.far_serial) == ("S1", "S2")
    assert "<small>serial S1</small>" in str(render(read.evaluation, "html"))
    workbook = openpyxl.load_workbook(io.BytesIO(render_xlsx(read.evaluation)))
    columns, *rows = workbook["Punch list"].values
    (row,) = (row for row in (dict(zip(columns, one, strict=True)) for one in rows) if row["at"] == step.at)
    assert (row["serial"], row["serial of other end"]) == ("S1", "S2")


def test_a_step_that_is_done_does_not_name_another_cause() -> None:
    shape = Shape(hosts=24)
    publication, later = faulty(), shaped(shape, (Fault(CauseKind.LINK_DOWN, "host"),), seed=9)
    worklist = Worklist(timedelta(hours=1))
    worklist.update(publication.evaluation)
    worklist.update(later.evaluation)
    done = [step for step in step_lines(worklist, later) if step.mark == "done"]
    assert "C1" in {entry.step.cause for entry in worklist.entries if entry.mark is Mark.DONE}
    assert {cause.id for cause in later.evaluation.causes} == {"C1"}
    assert {(step.cause, step.since) for step in done} == {("", None)}
    for minutes, marks in ((59, {"left", "done"}), (60, {"left"})):
        worklist.update(replace(later.evaluation, at=later.evaluation.at + timedelta(minutes=minutes)))
        assert {step.mark for step in step_lines(worklist, later)} == marks


def test_steps_are_filtered_by_rack_and_nodes() -> None:
    publication = faulty()
    worklist = Worklist()
    worklist.update(publication.evaluation)
    steps = step_lines(worklist, publication)
    rack = steps[-1].rack
    assert filter_steps(steps, publication, rack=rack) == tuple(step for step in steps if step.rack == rack)
    device = steps[0].device
    assert filter_steps(steps, publication, nodes=device) == tuple(step for step in steps if step.device == device)
    assert filter_steps(steps, publication) == steps
    with pytest.raises(QueryError, match="rack 'r99' is not known"):
        filter_steps(steps, publication, rack="r99")

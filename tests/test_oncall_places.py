"""Names as people write them: short names, racks, units, rows, pods, node sets; and work announced by them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest

from tests.api_client import Api, problem_of
from tests.fake_tower import FakeTower, published
from tests.oncall_fabrics import PODS
from tests.oncall_fabrics import published as drawn
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.errors import NotFoundError, QueryError
from truerail.questions.blast import blast
from truerail.questions.find import find
from truerail.questions.job import job
from truerail.questions.moments import end_of
from truerail.questions.resolve import recognise, scope_of
from truerail.questions.where import where
from truerail.rounds import publication_of
from truerail.testing.cases import scene
from truerail.views.view import view_of

NOW = datetime(2026, 11, 20, 14, 0, tzinfo=UTC)
LONG = "\n".join(f"gpu-{h:03}.dc.example/nic{r} leaf-{r}/p{h} rail={r}" for h in range(1, 7) for r in range(2))
RACKS = ("A01", "A01", "A02", "B7", "3-05", "4-05")


@cache
def sited(racks: tuple[str, ...] = RACKS) -> Published:
    """Six hosts in these racks, at units 1, 2, ...; the leaves are in rack A02."""
    plan = scene(Case(plan=LONG)).plan
    places = iter([(rack, unit) for unit, rack in enumerate(racks, 1)])
    devices = {}
    for name, device in plan.devices.items():
        rack, unit = ("A02", 40 + int(name[-1])) if device.role.tier else next(places)
        devices[name] = replace(device, rack=rack, unit=unit)
    return publication_of(Round(replace(plan, devices=devices), scene(Case(plan=LONG)).snapshot))


def meant(text: str, publication: Published | None = None) -> tuple[str, list[str]]:
    """The type, and the devices of a group or the one name."""
    view = view_of(publication or sited())
    found = recognise(view, text)
    return found.matched_type, [view.layout.devices[code].name for code in found.devices] or [found.name]


def host(number: int) -> str:
    return f"gpu-{number:03}.dc.example"


@pytest.mark.parametrize(
    ("text", "kind", "names"),
    [
        ("gpu-3", "host", [host(3)]),
        ("GPU3", "host", [host(3)]),
        ("gpu-003", "host", [host(3)]),
        ("gpu-3/nic1", "host port", [f"{host(3)}/nic1"]),
        ("A01", "rack", [host(1), host(2)]),
        ("rack a1", "rack", [host(1), host(2)]),
        ("rack 7", "rack", [host(4)]),
        ("A02 u3", "host", [host(3)]),
        ("rack A02 unit 41", "switch", ["leaf-1"]),
        ("row A", "row", [host(1), host(2), host(3), "leaf-0", "leaf-1"]),
        ("row 3", "row", [host(5)]),
        ("gpu-[1-2],leaf-0", "nodes", [host(1), host(2), "leaf-0"]),
    ],
)
def test_a_name_as_people_write_it(text: str, kind: str, names: list[str]) -> None:
    assert meant(text) == (kind, names)
    assert where(sited(), text).matched_type == kind


@pytest.mark.parametrize(
    ("text", "words"),
    [("A02 u9", "3, 40, 41"), ("row 9", "known are"), ("rack 99", "no 'rack 99'"), ("rack 5", "rack 3-05, rack 4-05")],
)
def test_what_fits_nothing_or_several_things_lists_what_there_is(text: str, words: str) -> None:
    with pytest.raises(NotFoundError, match=words):
        recognise(view_of(sited()), text)


def test_a_short_name_of_several_devices_lists_them() -> None:
    plan = "gpu-03/nic0 leaf-0/p1 rail=0\ngpu-003/nic0 leaf-0/p2 rail=0"
    shown = publication_of(scene(Case(plan=plan)))
    assert meant("gpu-03", shown) == ("host", ["gpu-03"])
    with pytest.raises(NotFoundError, match="gpu-03, gpu-003"):
        recognise(view_of(shown), "gpu-3")
    assert {one.name for one in find(shown, "gpu-3")} >= {"gpu-03", "gpu-003"}


def test_more_zeros_than_a_name_has_are_a_typing_error() -> None:
    with pytest.raises(NotFoundError, match="no 'gpu-0003'"):
        recognise(view_of(sited()), "gpu-0003")


def test_units_without_a_plan_of_them_and_racks_without_rows() -> None:
    shown = drawn(PODS)
    rack = next(device.rack for device in shown.plan.devices.values() if device.rack)
    pod = next(device.pod for device in shown.plan.devices.values() if device.pod)
    with pytest.raises(NotFoundError, match="not named by rows"):
        recognise(view_of(shown), "row 1")
    assert meant(f"rack {rack}", shown)[0] == "rack"
    assert meant(f"pod {pod}", shown)[0] == "pod"


def test_a_job_is_named_by_a_rack_a_row_or_a_pod() -> None:
    assert job(sited(), "rack A01").hosts == (host(1), host(2))
    assert job(sited(), "row 3").hosts == (host(5),)
    assert job(sited(), "gpu-[1-2]").hosts == (host(1), host(2))
    leaves = sited(("A01",) * 6)
    with pytest.raises(QueryError, match="no hosts"):
        job(leaves, "rack A02")


def test_the_impact_of_a_rack_is_that_of_its_devices_together() -> None:
    one = blast(sited(), "A01")
    assert [row.host for row in one.hosts] == [host(1), host(2)]
    assert one.matched_type == "rack"
    assert one.share_lost == 1.0
    leaf = blast(sited(), "leaf-0")
    both = blast(sited(), "gpu-1,leaf-0")
    assert both.hosts_affected == leaf.hosts_affected
    assert both.share_lost > leaf.share_lost
    with pytest.raises(QueryError, match="gpu-99"):
        blast(sited(), "gpu-99,leaf-0")


@pytest.mark.parametrize(("text", "kind", "name"), [
    ("gpu-3", "host", host(3)), ("rack a1", "rack", "A01"), ("row 3", "row", "row 3"), ("A02 u3", "host", host(3)),
])  # fmt: skip
def test_the_search_finds_them_first(text: str, kind: str, name: str) -> None:
    first = find(sited(), text)[0]
    assert (first.kind, first.name) == (kind, name)
    assert find(sited(), "gpu-[") is not None


@pytest.mark.parametrize(("what", "scope"), [
    ("gpu-3", ("device", host(3))), ("leaf-0", ("device", "leaf-0")), ("rail 1", ("rail", "1")),
    ("rack A01", ("nodes", "gpu-[001-002].dc.example")), ("gpu-[1-2]", ("nodes", "gpu-[001-002].dc.example")),
])  # fmt: skip
def test_the_scope_of_maintenance_follows_from_the_name(what: str, scope: tuple[str, str]) -> None:
    assert scope_of(view_of(sited()), what) == scope


def test_a_port_is_in_no_maintenance() -> None:
    with pytest.raises(QueryError, match="host port"):
        scope_of(view_of(sited()), "gpu-3/nic0")


def test_the_api_announces_work_by_any_name() -> None:
    with Api(FakeTower(published())) as api:
        work = {"what": "gpu-1", "starts": "2026-11-20T14:00Z", "ends": "2026-11-20T18:00Z", "reason": "optics"}
        made = api.post("maintenance", work)
        assert made.status_code == 201, made.text
        assert (made.json()["scope"], made.json()["what"]) == ("device", "gpu-001")
        assert problem_of(api.post("maintenance", {**work, "what": "gpu-999"}), 404)
        assert problem_of(api.post("maintenance", {**work, "what": "gpu-[1-"}), 400)


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        ("2h", timedelta(hours=2)),
        ("in 90m", timedelta(minutes=90)),
        ("18:00", timedelta(hours=4)),
        ("08:00", timedelta(hours=18)),
        ("tomorrow 08:00", timedelta(hours=18)),
        ("tomorrow at 08:00+02:00", timedelta(hours=16)),
        ("tomorrow", timedelta(hours=10)),
        ("today 23:30", timedelta(hours=9, minutes=30)),
        ("2026-11-21T08:00+01:00", timedelta(hours=17)),
        ("2020-01-01", datetime(2020, 1, 1, tzinfo=UTC) - NOW),
    ],
)
def test_an_end_lies_ahead(text: str, ahead: timedelta) -> None:
    assert end_of(text, NOW) - NOW == ahead


@pytest.mark.parametrize("text", ["soon", "2h ago", "tomorrow soon", "25:00", "9999999w", ""])
def test_what_is_no_end(text: str) -> None:
    with pytest.raises(QueryError, match="is not a time"):
        end_of(text, NOW)

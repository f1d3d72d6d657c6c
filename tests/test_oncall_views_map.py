"""The map of the fabric, and the fabric at a glance."""

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from rules._examples import hears
from tests.each import each
from tests.view_fabrics import SHAPES, fabric, faulty, shaped
from truerail.analysis.published import CollectorRun, Published
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import CableState, CauseKind, Fact, Finding, NetLink, Role, Severity
from truerail.model.life import Mute, MuteKind
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape
from truerail.testing.cases import scene
from truerail.views.fabric import fabric_view
from truerail.views.fabric_map import FabricMap, cells_of, changed_cells, fabric_map
from truerail.views.plain import as_json

CODE = {CableState.RIGHT: 1, CableState.WRONG: 2, CableState.MISSING: 3, CableState.UNKNOWN: 4}
BADNESS = [CableState.RIGHT, CableState.UNKNOWN, CableState.MISSING, CableState.WRONG]


def cell(drawn: FabricMap, host: str, rail: int | None, plane: int) -> int:
    """Where the contract puts a cell."""
    return (drawn.hosts.index(host) * len(drawn.rails) + drawn.rails.index(rail)) * drawn.planes + plane


def expected(publication: Published, drawn: FabricMap) -> list[int]:
    """The codes by the contract's words, one cable and one finding at a time."""
    states: dict[int, CableState] = {}
    at: dict[str, set[int]] = {}
    for cable in publication.plan.host_cables:
        place = cell(drawn, cable.a.device, cable.rail, cable.plane or 0)
        state = publication.evaluation.cable_states[cable.a]
        states[place] = max(states.get(place, CableState.RIGHT), state, key=BADNESS.index)
        for subject in (str(cable.a), str(cable.b)):
            at.setdefault(subject, set()).add(place)
    for number, host in enumerate(drawn.hosts):
        width = len(drawn.rails) * drawn.planes
        at[host] = set(range(number * width, (number + 1) * width))
    loud: Counter[int] = Counter()
    for finding in publication.evaluation.findings:
        for place in at.get(finding.subject, ()):
            loud[place] = max(loud[place], finding.severity.rank + 1)
    size = len(drawn.hosts) * len(drawn.rails) * drawn.planes
    return [(CODE[states[place]] if place in states else 0) | loud[place] << 3 for place in range(size)]


@each("name", SHAPES)
def test_cells_agree_with_the_evaluation(name: str) -> None:
    publication = fabric(name)
    drawn = fabric_map(publication)
    assert cells_of(drawn).tolist() == expected(publication, drawn)
    assert sorted(drawn.hosts) == sorted(device.name for device in publication.plan.of_role(Role.HOST))
    assert [publication.plan.devices[host].rack for host in drawn.hosts] == list(drawn.racks)


def test_hosts_stand_pod_by_pod() -> None:
    drawn = fabric_map(shaped(Shape(hosts=11, pods=3, rails=2), 0))
    assert [(pod.name, pod.first, pod.hosts) for pod in drawn.pods] == [("p1", 0, 4), ("p2", 4, 4), ("p3", 8, 3)]
    assert drawn.hosts[8] == "gpu-009"


def test_the_columns_are_rails_and_planes() -> None:
    drawn = fabric_map(fabric("two planes"))
    assert (drawn.rails, drawn.planes) == ((0, 1, 2, 3), 2)
    assert fabric_map(fabric("no rails")).rails == (None,)


def test_a_rail_that_a_host_lacks_is_empty() -> None:
    whole = shaped(Shape(hosts=3, rails=2), 0)
    cables = tuple(cable for cable in whole.plan.cables if str(cable.a.device) != "gpu-002" or cable.rail != 1)
    drawn = fabric_map(publication_of(Round(replace(whole.plan, cables=cables), whole.snapshot)))
    codes = cells_of(drawn)
    assert codes[cell(drawn, "gpu-002", 1, 0)] & 7 == 0
    assert codes[cell(drawn, "gpu-002", 0, 0)] & 7 == 1


@pytest.mark.parametrize(
    ("cables", "shown"), [("right", 1), ("right unknown", 4), ("right unknown missing", 3), ("missing wrong", 2)]
)
def test_the_worst_of_several_cables_shows(cables: str, shown: int) -> None:
    facts: tuple[Fact, ...] = (
        hears("right", "leaf-0/swp1"),
        hears("wrong", "leaf-0/swp9"),
        NetLink("missing", operstate="DOWN", flags=("UP", "NO-CARRIER")),
        *(NetLink(name, operstate="UP", flags=("UP", "LOWER_UP")) for name in ("right", "wrong", "unknown")),
    )
    places = {"right": "swp1", "unknown": "swp2", "missing": "swp3", "wrong": "swp4"}
    lines = "\n".join(f"h1/{name} leaf-0/{places[name]} rail=0" for name in cables.split())
    made = scene(Case({"h1": facts}, plan=lines))
    publication = publication_of(made)
    assert sorted(publication.evaluation.cable_states.values()) == sorted(cables.split())
    assert [code & 7 for code in cells_of(fabric_map(publication)).tolist()] == [shown]


def test_a_fabric_without_hosts_has_an_empty_map() -> None:
    publication = faulty()
    switches = {name: one for name, one in publication.plan.devices.items() if one.role is not Role.HOST}
    uplinks = tuple(cable for cable in publication.plan.cables if cable.a.device in switches)
    plan = replace(publication.plan, devices=switches, cables=uplinks)
    drawn = fabric_map(publication_of(Round(plan, publication.snapshot)))
    assert (drawn.hosts, drawn.cells, drawn.pods) == ((), "", ())


def muted(publication: Published, *findings: Finding) -> Published:
    mutes = {finding.id: Mute(MuteKind.MAINTENANCE, 1, "anna", "recabling") for finding in findings}
    return replace(publication, mutes=mutes)


def test_a_cell_is_muted_where_all_its_findings_are() -> None:
    publication = shaped(Shape(hosts=4, rails=4), (Fault(CauseKind.LINK_DOWN, "host"),))
    port = next(f for f in publication.evaluation.findings if f.severity is Severity.CRITICAL).subject
    on_it = [finding for finding in publication.evaluation.findings if finding.subject == port]
    assert {finding.severity for finding in on_it} == {Severity.CRITICAL, Severity.WARNING}
    before = fabric_map(publication)
    (change,) = changed_cells(before, fabric_map(muted(publication, *on_it)))
    assert change[1] == 3 | 3 << 3 | 1 << 5
    loudest = [finding for finding in on_it if finding.severity is Severity.CRITICAL]
    assert changed_cells(before, fabric_map(muted(publication, *loudest))) == [[change[0], 3 | 2 << 3]]


def test_only_what_changed_is_reported() -> None:
    whole = shaped(Shape(hosts=8, rails=4), 0)
    broken = publication_of(
        Round(whole.plan, shaped(Shape(hosts=8, rails=4), (Fault(CauseKind.LINK_DOWN, "host"),)).snapshot)
    )
    before, after = fabric_map(whole), fabric_map(broken)
    changes = changed_cells(before, after)
    codes = cells_of(before).copy()
    for place, code in changes:
        codes[place] = code
    assert np.array_equal(codes, cells_of(after))
    assert len(changes) == 1
    assert changed_cells(after, after) == []
    with pytest.raises(ValueError, match="different plans"):
        changed_cells(before, fabric_map(faulty()))


def test_the_map_says_what_the_headline_says() -> None:
    publication = replace(faulty(), number=7, plan_digest="abc")
    drawn, reported = fabric_map(publication), fabric_view(publication, publication.at)
    assert (drawn.number, drawn.plan_digest, drawn.at) == (7, "abc", publication.at)
    assert (drawn.tone, drawn.headline) == (reported.tone, reported.headline)
    assert as_json(drawn)["pods"] == [{"name": "", "first": 0, "hosts": 24}]


@each("name", SHAPES)
def test_the_fabric_at_a_glance_adds_up(name: str) -> None:
    publication = fabric(name)
    reported, summary = fabric_view(publication, publication.at), publication.evaluation.summary
    assert (reported.cables.planned, reported.cables.right) == (summary.cables_planned, summary.cables_right)
    rails = sum(rail.count.planned for rail in reported.rails)
    assert rails + reported.uplinks.planned == reported.cables.planned
    assert reported.coverage.both_ends + reported.coverage.one_end + reported.coverage.none == reported.cables.planned
    assert reported.coverage.none == reported.cables.missing + reported.cables.unknown
    assert (reported.hosts, reported.hosts_read) == (summary.hosts, summary.hosts_read)
    assert reported.findings == dict(summary.findings)
    assert reported.causes == len(publication.evaluation.causes)
    assert {one["rule"] for one in reported.verdicts} == {one.rule for one in publication.evaluation.verdicts}


def test_muted_findings_are_counted_apart() -> None:
    publication = faulty()
    first = publication.evaluation.findings[0]
    before, after = (fabric_view(one, publication.at) for one in (publication, muted(publication, first)))
    assert (before.muted, after.muted) == (0, 1)
    assert after.findings[first.severity] == before.findings[first.severity] - 1


def test_collectors_show_their_age() -> None:
    publication = faulty()
    runs = {name: CollectorRun(name, 60.0, at) for name, at in (("lldp_host", publication.at), ("rdma_link", None))}
    reported = fabric_view(replace(publication, runs=runs), publication.at + timedelta(seconds=90))
    assert [(run["collector"], run["age_seconds"]) for run in reported.collectors] == [
        ("lldp_host", 90.0),
        ("rdma_link", None),
    ]
    assert reported.journal["health"] == "off"

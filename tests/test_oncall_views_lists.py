"""Lists of devices, cables and findings: complete, in order, filtered, in parts."""

from dataclasses import replace

import pytest

from tests.each import each
from tests.view_fabrics import SHAPES, fabric, faulty, shaped
from truerail.errors import QueryError
from truerail.model import CableState, CauseKind, Severity
from truerail.model.life import Life, LifeState, Mute, MuteKind
from truerail.model.names import natural_key
from truerail.questions.where import where
from truerail.simulator import Fault, Shape
from truerail.views.lines import cause_lines
from truerail.views.lists import cable_lines, device_lines, finding_lines
from truerail.views.view import view_of

ALL = 100_000


@each("name", SHAPES)
def test_lists_hold_everything_once(name: str) -> None:
    publication = fabric(name)
    devices, cables = device_lines(publication, limit=ALL), cable_lines(publication, limit=ALL)
    findings = finding_lines(publication, limit=ALL)
    assert sorted(line.device for line in devices.items) == sorted(publication.plan.devices)
    assert sorted(line.subject for line in cables.items) == sorted(str(c.a) for c in publication.plan.cables)
    assert [line.id for line in findings.items] == [finding.id for finding in publication.evaluation.findings]
    for part in (devices, cables, findings):
        assert part.total == len(part.items)
    states = {str(port): state.value for port, state in publication.evaluation.cable_states.items()}
    assert {line.subject: line.state for line in cables.items} == states


def test_a_cable_in_a_list_says_what_its_path_says() -> None:
    publication = faulty()
    for line in cable_lines(publication, limit=ALL).items:
        path = where(publication, line.subject).paths[0]
        seen = path.actual.name if path.actual else None
        assert (line.state, line.why, line.verified, line.actual) == (path.state, path.why, path.verified, seen)
        assert set(line.findings) <= {finding.id for finding in path.findings}


def test_lists_are_in_natural_order_hosts_first() -> None:
    publication = fabric("pods")
    names = [line.device for line in device_lines(publication, limit=ALL).items]
    tier = {name: device.role.tier for name, device in publication.plan.devices.items()}
    assert names == sorted(names, key=lambda name: (tier[name], natural_key(name)))
    subjects = [line.subject for line in cable_lines(publication, limit=ALL).items]
    assert subjects == sorted(subjects, key=lambda s: (tier[s.split("/")[0]], natural_key(s)))


def test_parts_make_up_the_whole() -> None:
    publication = faulty()
    whole = cable_lines(publication, limit=ALL)
    parts = [cable_lines(publication, offset=at, limit=37) for at in range(0, whole.total, 37)]
    assert tuple(line for part in parts for line in part.items) == whole.items
    assert {part.total for part in parts} == {whole.total}
    assert cable_lines(publication, offset=whole.total).items == ()


def test_cables_are_filtered() -> None:
    publication = faulty()
    cables = publication.plan.cables
    states = publication.evaluation.cable_states

    def subjects(**filters: object) -> set[str]:
        return {line.subject for line in cable_lines(publication, limit=ALL, **filters).items}  # type: ignore[arg-type]

    assert subjects(rail=3) == {str(c.a) for c in cables if c.rail == 3}
    assert subjects(nodes="leaf-3,gpu-[001-002]") == {
        str(c.a) for c in cables if c.b.device == "leaf-3" or c.a.device in ("leaf-3", "gpu-001", "gpu-002")
    }
    assert subjects(state="wrong,missing") == {
        str(c.a) for c in cables if states[c.a] in (CableState.WRONG, CableState.MISSING)
    }
    assert subjects(verified="none", rail=0) == {
        str(c.a) for c in cables if c.rail == 0 and states[c.a] in (CableState.UNKNOWN, CableState.MISSING)
    }
    pods = fabric("pods")
    assert {line.pod for line in cable_lines(pods, pod="p2", limit=ALL).items} == {"p2"}


def test_devices_are_filtered() -> None:
    publication = fabric("pods")
    devices = publication.plan.devices.values()

    def names(**filters: str) -> set[str]:
        return {line.device for line in device_lines(publication, limit=ALL, **filters).items}  # type: ignore[arg-type]

    assert names(role="leaf,spine", pod="p1") == {
        d.name for d in devices if d.role in ("leaf", "spine") and d.pod == "p1"
    }
    assert names(rack="p1-r01") == {d.name for d in devices if d.rack == "p1-r01"}
    assert names(nodes="gpu-[001-003]") == {"gpu-001", "gpu-002", "gpu-003"}
    loud = {line.device for line in device_lines(publication, limit=ALL).items if line.severity == "critical"}
    assert loud
    assert names(severity="critical") == loud


def test_findings_are_filtered() -> None:
    publication = faulty()
    found = publication.evaluation.findings
    first = found[0]
    life = Life(first.id, LifeState.FLAPPING, publication.at, publication.at, publication.at)
    shown = replace(
        publication, lives={first.id: life}, mutes={first.id: Mute(MuteKind.ACKNOWLEDGED, 1, "anna", "known")}
    )

    def ids(**filters: object) -> list[str]:
        return [line.id for line in finding_lines(shown, limit=ALL, **filters).items]  # type: ignore[arg-type]

    assert ids(rule="CAB001,CAB003") == [f.id for f in found if f.rule in ("CAB001", "CAB003")]
    assert ids(severity="warning") == [f.id for f in found if f.severity is Severity.WARNING]
    assert ids(rail=2) == [f.id for f in found if f.rail == 2]
    assert ids(state="flapping") == [first.id]
    assert ids(muted=True) == [first.id]
    assert len(ids(muted=False)) == len(found) - 1
    cause = cause_lines(view_of(shown))[0]
    assert set(ids(cause=cause.key)) == set(cause.explains)
    peers = {str(end) for c in publication.plan.cables for end in c[:2] if "leaf-3" in (c.a.device, c.b.device)}
    assert set(ids(nodes="leaf-3")) == {f.id for f in found if f.subject in peers or f.subject == "leaf-3"}


@pytest.mark.parametrize(
    ("filters", "summary"),
    [
        ({"state": "broken"}, "state 'broken' is not known; known are right, wrong, missing, unknown"),
        ({"state": "wrng"}, "did you mean 'wrong'"),
        ({"verified": "me"}, "verified 'me' is not known"),
        ({"rail": 8}, "rail 8 is not known; known are 0, 1, 2"),
        ({"pod": "p9"}, "pod 'p9' is not known"),
        ({"nodes": "gpu-[001"}, r"node set 'gpu-\[001': a bracket is not closed"),
        ({"nodes": "gpu-[1-99999999]"}, "expands to more names"),
        ({"nodes": "gpx-001"}, "no device 'gpx-001', did you mean 'gpu-001'"),
        ({"nodes": "a" * 5000}, "longer than 4096"),
    ],
)
def test_a_filter_that_is_not_known_is_named(filters: dict[str, object], summary: str) -> None:
    with pytest.raises(QueryError, match=summary):
        cable_lines(faulty(), **filters)  # type: ignore[arg-type] # one filter at a time


@pytest.mark.parametrize("filters", [{"rule": "CAB9"}, {"severity": "loud"}, {"state": "x"}, {"cause": "x"}])
def test_a_filter_of_findings_that_is_not_known_is_named(filters: dict[str, str]) -> None:
    with pytest.raises(QueryError, match=next(iter(filters.values()))):
        finding_lines(faulty(), **filters)  # type: ignore[arg-type] # one filter at a time


def test_muted_findings_do_not_make_a_device_loud() -> None:
    publication = shaped(Shape(hosts=4, rails=4), (Fault(CauseKind.LINK_DOWN, "host"),))
    host = publication.evaluation.findings[0].device
    (before,) = device_lines(publication, nodes=host).items
    mutes = {finding.id: Mute(MuteKind.ACKNOWLEDGED, 1, "a", "b") for finding in publication.evaluation.findings}
    (after,) = device_lines(replace(publication, mutes=mutes), nodes=host).items
    assert (before.findings, before.severity) == (2, "critical")
    assert (after.findings, after.severity) == (0, None)
    assert before.count == after.count

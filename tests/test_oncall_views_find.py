"""The search box."""

from dataclasses import replace

import pytest

from tests.test_jobs import affected_host, record, shown, slurm
from tests.view_fabrics import faulty
from truerail.analysis.round import Round
from truerail.errors import NotFoundError, QueryError
from truerail.model import Optic, Reading
from truerail.model.history import NoHistory
from truerail.questions.find import Found, Matching, find
from truerail.questions.where import where
from truerail.questions.why import why
from truerail.rounds import publication_of
from truerail.testing.cases import AT


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("gpu-00", Found("gpu-001", "host", "host, rack r01")),
        ("LEAF", Found("leaf-0", "switch", "leaf, rack net")),
        ("eaf-3", Found("leaf-3", "switch", "leaf, rack net")),
        ("r03", Found("r03", "rack", "4 devices")),
        ("cab001", Found("CAB001", "rule", "nic_on_wrong_rail, ")),
        ("nic_on_wr", Found("CAB001", "rule", "nic_on_wrong_rail, ")),
        ("enp26s0", Found("gpu-001/enp26s0f0np0", "port", "rail 0, to leaf-0/swp1")),
        ("swp7", Found("leaf-0/swp7", "port", "rail 0, to gpu-007/")),
        ("gpu-005/enp94", Found("gpu-005/enp94s0f0np0", "port", "rail 3, to leaf-3/swp5")),
        ("gpu-005:mlx", Found("gpu-005:mlx5_0", "rdma device", "gpu-005/enp26s0f0np0")),
        ("mlx5_6", Found("gpu-001:mlx5_6", "rdma device", "gpu-001/")),
        ("gpu-005 gpu 3", Found("gpu-005 GPU 3", "gpu", "host, rack r02")),
    ],
)
def test_the_search_box_finds(text: str, first: Found) -> None:
    found = find(faulty(), text)[0]
    assert (found.name, found.kind) == (first.name, first.kind)
    assert found.summary.startswith(first.summary)


def test_the_search_box_finds_macs_and_findings_by_their_parts() -> None:
    publication = faulty()
    path = where(publication, "gpu-005:mlx5_3").paths[0]
    mac = path.nic.mac if path.nic else None
    assert mac
    for text in (mac, mac.upper(), mac[3:], mac.replace(":", "")[4:], mac.replace(":", "-")[6:]):
        assert Found(mac, "mac address", path.subject) in find(publication, text), text
    finding = publication.evaluation.findings[3]
    assert find(publication, finding.id[:8]) == (Found(finding.id, "finding", finding.summary),)


def test_a_module_and_a_cable_are_found_by_their_serial_numbers() -> None:
    plan, snapshot = faulty().plan, faulty().round.snapshot
    cable, other, *_ = plan.host_cables
    ends = ((cable.a, "MT2301VS00017", "cable"), (cable.b, "MT2301VS00017", "cable"), (other.a, "x<2>", "module"))
    optics = [
        Reading(port.device, "optics", AT, (Optic(port.name, None, 0.0, 1.0, serial=serial, medium=medium),))
        for port, serial, medium in ends
    ]
    publication = publication_of(Round(plan, replace(snapshot, readings=[*snapshot.readings, *optics])))
    (found,) = find(publication, "01vs00017")
    assert found == Found("MT2301VS00017", "serial number", f"{cable.a} - {cable.b}")
    assert where(publication, found.name).paths[0].subject == str(cable.a)
    assert {one.kind for one in find(publication, "x<2>")} <= {"cable label"}, "a placeholder is no serial number"


def test_a_job_is_found_by_what_people_call_it_before_any_address_that_contains_it() -> None:
    host = affected_host(shown())
    publication = shown(slurm(record("80", host, name="training", user="ana"), record("8001", host, user=None)))
    job, *addresses = find(publication, "8001")
    assert job == Found("8001", "job", "train, 1 host")
    assert {one.kind for one in addresses} == {"mac address"}
    for text in ("80", "ANA", "traini"):
        assert find(publication, text)[0] == Found("80", "job", "training of ana, 1 host"), text


def test_a_cause_is_found_and_explained_by_words_that_fit_it_alone() -> None:
    publication = faulty()
    causes = {cause.kind.value: cause for cause in publication.evaluation.causes}
    swap, move = causes["leaf-swap"], causes["cable-move"]
    for text in (swap.key, "leaf-sw", "swap LEAF-0", "leaf-0 leaf-1 swap"):
        assert Found(swap.key, "cause", swap.summary) in find(publication, text), text
        assert why(publication, NoHistory(), text).cause == why(publication, NoHistory(), swap.id).cause
    text = f"move {move.subjects[0].upper().replace('/', ':')}"
    assert why(publication, NoHistory(), text).cause == why(publication, NoHistory(), move.key).cause
    with pytest.raises(QueryError, match=r"gpu-005/enp94s0f0np0 \(efa0a71e3168\), cable-swap gpu-009/"):
        why(publication, NoHistory(), "cable-swap")
    for text in ("", "storm", "cable-swap leaf-0"):
        with pytest.raises(NotFoundError):
            why(publication, NoHistory(), text)


@pytest.mark.parametrize("text", ["", "  ", "/", "no such thing", "\n", "gpu-005/\n", "\x00", "x" * 10_000, "::::"])
def test_the_search_box_takes_anything(text: str) -> None:
    assert all(isinstance(one, Found) for one in find(faulty(), text))


def test_the_search_box_is_limited_and_names_nothing_twice() -> None:
    publication = faulty()
    found = find(publication, "gpu")
    assert len(found) == 20
    assert len({(one.kind, one.name) for one in find(publication, "gpu", 500)}) == len(find(publication, "gpu", 500))
    assert find(publication, "gpu", 0) == ()


def test_what_the_search_box_finds_can_be_asked_for() -> None:
    publication = faulty()
    for text in ("gpu-00", "leaf", "enp26", "mlx5_1", "gpu-003/", "b83fd2"):
        for one in find(publication, text):
            if one.kind in ("host", "switch", "port", "rdma device", "mac address"):
                assert where(publication, one.name).matched_type


def test_names_that_begin_with_the_text_come_before_those_that_contain_it() -> None:
    names = Matching([("cab", 1), ("AB", 2), ("abab", 3), ("xy", 4)])
    assert list(names.matching("ab")) == [2, 3, 1]
    assert list(names.matching("z")) == list(names.matching("a\nb")) == []

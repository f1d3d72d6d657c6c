"""Where cables are, asked in any words, and what stands on them."""

import json
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

import pytest

from rules._examples import hears
from tests.each import each
from tests.view_fabrics import SHAPES, fabric, faulty, of_kind, right, shaped
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.errors import JournalUnavailableError, NotFoundError
from truerail.model import CauseKind, Device, Fact, GpuNicPath, Neighbor, Port, RdmaLink, Role, Snapshot
from truerail.model.history import NoHistory
from truerail.questions.where import where
from truerail.rounds import publication_of
from truerail.simulator import Shape
from truerail.testing.cases import AT, scene
from truerail.views.plain import as_json
from truerail.views.view import view_of


@each("name", SHAPES)
def test_both_ends_of_every_cable_give_the_same_path(name: str) -> None:
    publication = fabric(name)
    for cable in publication.plan.cables:
        (near, *others), far = where(publication, str(cable.a)).paths, where(publication, str(cable.b)).paths[0]
        assert near == far
        assert not [path for path in others if path.actual and path.actual.name != str(cable.a)]
        assert near.subject == str(cable.a)
        assert near.planned.name == str(cable.b)
        assert near.rail == near.a.rail == near.planned.rail == cable.rail
        assert near.state == publication.evaluation.cable_states[cable.a].value
        assert (near.state == "right") <= (near.actual is not None and near.actual.device == cable.b.device)
        assert (near.verified == "none") == (near.state in ("missing", "unknown"))
        assert near.why


@each("name", SHAPES)
def test_all_cables_of_a_device_come_at_once(name: str) -> None:
    publication = fabric(name)
    for device in publication.plan.devices:
        ends = {str(c.a) for c in publication.plan.cables if device in (c.a.device, c.b.device)}
        answer = where(publication, device)
        assert {path.subject for path in answer.paths} == ends
        assert len(answer.paths) == len(ends)
        assert answer.matched_type in ("host", "switch")


def test_a_path_tells_everything_from_gpu_to_uplinks() -> None:
    path = where(shaped(Shape(hosts=4, rails=4, gpus=8), 0), "gpu-002:mlx5_1").paths[0]
    assert [(link.gpu, link.level) for link in path.gpus] == [(2, "PXB"), (3, "PXB")]
    assert path.nic is not None
    assert (path.nic.rdma, path.nic.link, path.nic.mtu) == ("mlx5_1", "up", 9000)
    assert (path.a.device, path.a.role, path.a.rack, path.a.unit) == ("gpu-002", "host", "r01", 9)
    assert path.actual == path.planned
    assert (path.planned.role, path.rail, path.planned_speed_gbps) == ("leaf", 1, 400.0)
    assert (path.state, path.verified, path.confidence) == ("right", "both ends", 0.99)
    assert sum(one.planned for one in path.uplinks) == sum(one.right for one in path.uplinks) == 8
    assert (path.findings, path.causes, path.since) == ((), (), None)


def test_the_same_nic_in_every_spelling() -> None:
    publication = faulty()
    path = right(publication)
    assert path.nic is not None
    host, mac = path.a.device, path.nic.mac or ""
    spellings = {
        path.a.name: "host port",
        f"{host}:{path.a.port}": "host port",
        f"  {host.upper()}.example.net/{path.a.port.upper()} ": "host port",
        f"{host}/{path.nic.pci}": "host port",
        f"{host}:{path.nic.rdma}": "rdma device",
        f"{host}/{path.nic.rdma}/1": "rdma device",
        f"{host}:gpu{path.gpus[0].gpu}": "gpu",
        f"{host}/gpu-{path.gpus[0].gpu}": "gpu",
        f"{host} GPU {path.gpus[0].gpu}": "gpu",
        path.planned.name: "switch port",
        f"{path.planned.device}:{path.planned.port.upper()}": "switch port",
        mac: "mac address",
        mac.upper().replace(":", "-"): "mac address",
        mac.replace(":", ""): "mac address",
    }
    for spelling, matched_type in spellings.items():
        answer = where(publication, spelling)
        assert (answer.paths, answer.matched_type) == ((path,), matched_type), spelling
        assert "is right" in answer.summary


def test_a_label_names_its_cable() -> None:
    answer = where(fabric("no rails"), "x-3")
    assert answer.matched_type == "cable label"
    assert [path.label for path in answer.paths] == ["X-3"]


def test_a_switch_port_shows_what_belongs_there_and_what_sits_there() -> None:
    publication = faulty()
    (swap,) = [line for line in of_kind(publication, CauseKind.CABLE_SWAP) if line.impact]
    move = swap.moves[0]
    planned, sits = where(publication, move.source).paths
    assert planned.planned.name == move.source
    assert sits.subject == move.cable
    assert sits.actual is not None
    assert sits.actual.name == move.source


def test_a_free_port_shows_the_cable_that_sits_in_it() -> None:
    publication = faulty()
    (moved,) = of_kind(publication, CauseKind.CABLE_MOVE)
    answer = where(publication, moved.moves[0].source)
    assert [path.subject for path in answer.paths] == [moved.moves[0].cable]
    assert "the plan has no cable on it" in answer.summary


def test_a_mac_of_a_host_that_does_not_answer_is_found_where_it_is_heard() -> None:
    publication = fabric("two planes")
    mac = right(publication).nic.mac or ""  # type: ignore[union-attr] # its host answered
    host = right(publication).a.device
    others = [reading for reading in publication.snapshot.readings if reading.device != host]
    deaf = publication_of(Round(publication.plan, Snapshot(publication.at, others)))
    answer = where(deaf, mac)
    assert [path.subject for path in answer.paths] == [right(publication).subject]
    assert "sees it" in answer.summary


def test_a_gpu_is_found_by_the_plan_where_no_topology_was_reported() -> None:
    with_topology, without = fabric("faulty"), fabric("no GPU topology")
    host = right(with_topology).a.device
    for gpu in range(8):
        reported, by_plan = where(with_topology, f"{host}:gpu{gpu}"), where(without, f"{host}:gpu{gpu}")
        assert [path.subject for path in reported.paths] == [path.subject for path in by_plan.paths]
        assert by_plan.paths[0].gpus == ()
        assert "by the plan" in by_plan.summary
        assert "by the plan" not in reported.summary


@pytest.mark.parametrize(
    ("asked", "summary"),
    [
        ("gpx-003", "'gpx-003', did you mean 'gpu-003'?"),
        (
            "gpu-003/enp26s0f0np1",
            "gpu-003 is known, but plan and snapshot have no .* did you mean 'gpu-003/enp26s0f0np0'?",
        ),
        ("gpu-003:gpu8", "gpu-003 GPU 8"),
        ("leaf-0:gpu1", "leaf-0 is known"),
        ("00:00:5e:00:53:01", "00:00:5e:00:53:01"),
        ("\x1b[31mred", r"'\\\\x1b\[31mred'"),
        ("", "is not the name"),
        ("a" * 300, "is not the name"),
    ],
)
def test_what_is_not_there_is_named(asked: str, summary: str) -> None:
    with pytest.raises(NotFoundError, match=summary):
        where(faulty(), asked)


def test_asking_for_unknown_names_leaves_no_trace() -> None:
    publication = faulty()
    ports = view_of(publication).index.ports
    before = len(ports._raw)
    for asked in ("gpu-003/made-up-1", "made-up-2", "gpu-003:made-up-3"):
        with pytest.raises(NotFoundError):
            where(publication, asked)
    assert len(ports._raw) == before


class Journal(NoHistory):
    """Every cable changed at one time."""

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        return dict.fromkeys(ports, AT)


class Gone(NoHistory):
    """Cannot be read."""

    def link_since(self, ports: Collection[str]) -> Mapping[str, datetime]:
        raise JournalUnavailableError("the database is away")


def test_since_comes_from_the_history_and_a_lost_one_costs_only_that() -> None:
    publication = faulty()
    name = right(publication).a.name
    assert where(publication, name, Journal()).paths[0].since == AT
    assert where(publication, name, Gone()) == where(publication, name)


def heard(*facts: Neighbor, by: str = "h1", **others: list[Neighbor]) -> Published:
    """One cable h1/nic0 - leaf-0/p1, of which one device tells what it hears."""
    made = scene(Case({by: facts, **others}, plan="h1/nic0 leaf-0/p1 rail=0\nh2/nic0 leaf-0/p2 rail=0"))
    return publication_of(made)


def test_who_confirms_a_cable_is_reported() -> None:
    one_end = heard(hears("nic0", "leaf-0/p1"))
    device_only = heard(Neighbor("nic0", system_name="leaf-0"))
    elsewhere = heard(Neighbor("nic0", system_name="leaf-7"), h2=[Neighbor("nic0", system_name="leaf-0")])
    path = where(one_end, "h1/nic0").paths[0]
    assert (path.state, path.verified) == ("right", "one end")
    path = where(device_only, "h1/nic0").paths[0]
    assert (path.state, path.verified, path.actual.name if path.actual else "") == ("right", "device only", "leaf-0")
    path = where(elsewhere, "h1/nic0").paths[0]
    assert (path.state, path.verified) == ("wrong", "device only")
    assert path.why == "it is on leaf-7, not on leaf-0/p1"
    path = where(one_end, "h2/nic0").paths[0]
    assert (path.state, path.verified, path.actual, path.nic) == ("unknown", "none", None, None)


def test_a_device_that_no_plan_has_is_found_by_what_is_seen_on_it() -> None:
    rogue = heard(hears("nic0", "rogue/p9"))
    answer = where(rogue, "rogue")
    assert [path.subject for path in answer.paths] == ["h1/nic0"]
    assert "not in the plan" in answer.summary
    assert answer.paths[0].actual is not None
    assert answer.paths[0].actual.role is None
    assert [path.subject for path in where(rogue, "rogue/p9").paths] == ["h1/nic0"]


def test_hostile_names_stay_data() -> None:
    evil = "<script>alert(1)</script>\x1b[2J\n" + "x" * 300
    publication = heard(Neighbor("nic0", system_name=evil, port_id=evil, port_id_type="ifname"))
    text = json.dumps(as_json(where(publication, "h1")))
    assert "\\u001b" not in text
    assert "\\n" not in text
    assert "x" * 200 not in text


def test_a_plan_may_hold_devices_without_cables() -> None:
    publication = faulty()
    devices = {**publication.plan.devices, "spare": Device("spare", Role.HOST)}
    alone = publication_of(
        Round(replace(publication.plan, devices=devices), Snapshot(publication.at, publication.snapshot.readings))
    )
    answer = where(alone, "spare")
    assert (answer.paths, answer.matched_type, answer.summary) == ((), "host", "spare: the plan has no cable there")
    assert Port("spare", "x").device in alone.plan.devices


def test_a_gpu_that_is_equally_near_to_all_nics_is_near_to_none() -> None:
    facts: list[Fact] = [RdmaLink(f"mlx5_{nic}", 1, "ACTIVE", "LINK_UP", f"nic{nic}") for nic in (0, 1)]
    facts += [GpuNicPath(0, f"NIC{nic}", f"mlx5_{nic}", "PIX" if nic == 0 else "NODE") for nic in (0, 1)]
    facts += [GpuNicPath(1, f"NIC{nic}", f"mlx5_{nic}", "SYS") for nic in (0, 1)]
    made = scene(Case({"h1": facts}, plan="h1/nic0 leaf-0/p1 rail=0\nh1/nic1 leaf-1/p1 rail=1"))
    publication = publication_of(made)
    assert [(link.gpu, link.level) for link in where(publication, "h1/nic0").paths[0].gpus] == [(0, "PIX")]
    assert where(publication, "h1/nic1").paths[0].gpus == ()
    assert "by the plan" in where(publication, "h1:gpu1").summary

"""`job`, `blast` and `path` on fabrics of every kind with known faults."""

from dataclasses import replace

import pytest

from tests.oncall_fabrics import PLANES, PODS, RAIL_ONLY, SHARED, SPINES, all_hosts, names, published, shown, simulated
from truerail.analysis.published import Published
from truerail.errors import NotFoundError, QueryError
from truerail.model import CauseKind, Port
from truerail.outputs.options import Options
from truerail.outputs.report_words import Tone
from truerail.questions.answer_text import answer_text, tone_of
from truerail.questions.blast import blast
from truerail.questions.find import find
from truerail.questions.job import QUESTION as JOB
from truerail.questions.job import job
from truerail.questions.path import RailPath, path
from truerail.questions.where import where
from truerail.simulator import Fault, Shape, Simulation

SWAP = Fault(CauseKind.CABLE_SWAP, "one-host")
DEAD = Fault(CauseKind.LINK_DOWN, "host")
HUNG = Fault(CauseKind.UNREACHABLE, "hung")


def moved(simulation: Simulation, host: int, rail: int, leaf: str) -> Published:
    """One host cable in a free port of another leaf."""
    cable = [c for c in simulation.plan.host_cables if c.rail == rail][host]
    simulation.world.far.pop(cable.b)
    simulation.world.plug(cable.a, Port(leaf, simulation.world.fabric.spare[leaf][0]))
    return shown(simulation)


def killed(simulation: Simulation, *ports: Port) -> Published:
    """Cables that carry nothing."""
    for port in ports:
        simulation.world.dead.update((port, simulation.world.far[port]))
    return shown(simulation)


# --- job --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [RAIL_ONLY, SPINES, PODS, PLANES, SHARED])
def test_a_whole_job(shape: Shape) -> None:
    publication = published(shape)
    answer = job(publication, all_hosts(publication))
    assert {rail.connected for rail in answer.rails} == {shape.hosts}
    assert not answer.worst
    assert not answer.causes
    assert answer.pairs.same_rail == answer.pairs.total == shape.rails * shape.hosts * (shape.hosts - 1) // 2
    assert answer.action == "Nothing to do."


def test_a_swapped_host_is_cut_where_no_spine_stands_and_goes_round_where_one_does() -> None:
    for shape, fate in ((RAIL_ONLY, "cut"), (SPINES, "rerouted")):
        publication = published(shape, SWAP)
        answer = job(publication, "gpu-[001-008]")
        (worst,) = answer.worst
        assert len(worst.lost) == 2
        assert getattr(answer.pairs, fate) == 2 * 7
        assert answer.pairs.same_rail == answer.pairs.total - 2 * 7
        assert [cause.kind for cause in answer.causes] == ["cable-swap"]
        assert worst.causes == (answer.causes[0].key,)
        assert ("keep the job off" in answer.action) == (fate == "cut")
        assert [rail.broken for rail in answer.rails[:2]] == [worst.host, worst.host]


def test_one_plane_of_two_is_degraded_and_not_lost() -> None:
    answer = job(published(PLANES, DEAD), "gpu-[001-008]")
    (worst,) = answer.worst
    assert (worst.lost, len(worst.degraded)) == ((), 1)
    assert answer.rails[0].degraded == worst.host
    assert answer.rails[0].broken == ""
    assert answer.pairs.same_rail == answer.pairs.total


def test_hosts_on_different_planes_are_cut() -> None:
    simulation = simulated(PLANES)
    by = {(c.a.device, c.rail, c.plane): c.a for c in simulation.plan.host_cables}
    answer = job(killed(simulation, by["gpu-001", 0, 0], by["gpu-002", 0, 1]), "gpu-[001-008]")
    assert answer.pairs.cut == 1
    assert {host.host for host in answer.worst} == {"gpu-001", "gpu-002"}


def test_unknown_is_never_whole() -> None:
    answer = job(published(SPINES, HUNG), "gpu-[001-008]")
    (worst,) = answer.worst
    assert (worst.lost, worst.unknown) == ((), (0, 1, 2, 3))
    assert {rail.connected for rail in answer.rails} == {7}
    assert answer.pairs.unknown == 4 * 7
    assert answer.pairs.same_rail == answer.pairs.total - 4 * 7
    assert "unknown" in answer.summary


def test_swapped_labels_harm_no_job() -> None:
    for kind in (CauseKind.LEAF_SWAP, CauseKind.GPU_NIC_ORDER):
        variant = "labels" if kind is CauseKind.LEAF_SWAP else "names"
        answer = job(published(SPINES, Fault(kind, variant)), "gpu-[001-008]")
        assert answer.pairs.same_rail == answer.pairs.total
        assert not answer.worst
        assert [cause.kind for cause in answer.causes] == [kind.value]


def test_pods_without_a_spine_do_not_reach_each_other() -> None:
    answer = job(published(replace(RAIL_ONLY, pods=2)), "gpu-[001-008]")
    assert answer.pairs.cut == 4 * 4 * 4
    assert not answer.worst


def test_dead_uplinks_cut_a_leaf_off_the_other_pods() -> None:
    simulation = simulated(PODS)
    publication = killed(simulation, *(cable.a for cable in simulation.plan.uplinks_of("p1-leaf-0")))
    assert job(publication, "gpu-[001-012]").pairs.cut == 4 * 8
    assert job(publication, "gpu-[001-004]").pairs.cut == 0
    assert "link-down" in {cause.kind for cause in job(publication, "gpu-001,gpu-012").causes}
    assert not job(publication, "gpu-[001-004]").causes


def test_hosts_that_the_plan_does_not_have_are_named() -> None:
    answer = job(published(SPINES), "gpu-[007-010]")
    assert answer.hosts == ("gpu-007", "gpu-008")
    assert answer.not_in_plan == ("gpu-009", "gpu-010")
    assert "2 names not in the plan" in answer.summary


def test_what_is_no_job() -> None:
    publication = published(SPINES)
    with pytest.raises(NotFoundError, match="did you mean 'gpu-001'"):
        job(publication, "gpu-0001")
    with pytest.raises(QueryError, match="leaf-0 is a switch"):
        job(publication, "gpu-001,leaf-0")
    with pytest.raises(QueryError, match="gpu-"):
        job(publication, "gpu-[1-")


# --- blast ------------------------------------------------------------------------------------------------------------


def test_a_rail_leaf_of_eight() -> None:
    answer = blast(published(Shape(hosts=8, rails=8, spines=4, uplinks=8)), "leaf-3")
    assert (answer.matched_type, answer.down_now, answer.rails) == ("leaf", False, (3,))
    assert (answer.share_lost, answer.uplink_share_lost) == (1 / 8, 1.0)
    assert (answer.hosts_affected, answer.gpus_affected, answer.gpus_of_hosts) == (8, 8, 64)
    assert {host.gpus for host in answer.hosts} == {(3,)}
    assert "1/8" in answer.summary
    assert "7/8" in answer.summary
    assert "rails 0-2, 4-7 carry the traffic" in answer.drain
    assert answer.pairs_cut == 0


def test_planes_halve_the_loss() -> None:
    answer = blast(published(PLANES), "leaf-1a")
    assert answer.share_lost == 1 / 8
    assert answer.pairs_cut == 0


def test_a_leaf_without_spines_cuts_every_pair_below_it() -> None:
    assert blast(published(RAIL_ONLY), "leaf-1").pairs_cut == 8 * 7 // 2
    assert blast(published(RAIL_ONLY), "gpu-001").pairs_cut == 4 * 7
    answer = blast(published(RAIL_ONLY), "gpu-001/mlx5_2")
    assert (answer.pairs_cut, answer.rails, answer.share_lost) == (7, (2,), 1 / 4)
    assert "no way leads round a rail" in answer.drain


def test_a_spine_takes_uplinks_and_no_nic() -> None:
    publication = published(PODS)
    spine = blast(publication, "p1-spine-1")
    assert (spine.hosts, spine.share_lost, spine.uplink_share_lost, spine.hosts_affected) == ((), 0.0, 0.5, 4)
    top = blast(publication, "superspine-2")
    assert (top.uplink_share_lost, top.hosts_affected, top.gpus_affected) == (0.5, 12, 48)
    uplink = blast(publication, str(publication.plan.uplinks_of("p1-leaf-0")[0].a))
    assert (uplink.matched_type, uplink.uplink_share_lost, uplink.rails) == ("uplink", 0.25, (0,))


def test_a_cable_is_affected_by_the_leaf_it_sits_on() -> None:
    publication = moved(simulated(SPINES), 0, 1, "leaf-3")
    here, away = blast(publication, "leaf-3"), blast(publication, "leaf-1")
    assert "gpu-001" in names(here.hosts)
    assert "gpu-001" not in names(away.hosts)
    assert next(host for host in here.hosts if host.host == "gpu-001").share_lost == 0.5
    assert "cabled here" in here.summary
    assert "not counted" in away.summary
    spare = simulated(SPINES).world.fabric.spare["leaf-3"][0]
    assert blast(publication, f"leaf-3/{spare}").hosts[0].rails == (1,)


def test_down_now_as_far_as_anybody_can_tell() -> None:
    dead = published(SPINES, DEAD)
    port = next(finding.subject for finding in dead.evaluation.findings if finding.rule == "CAB003")
    assert blast(dead, port).down_now is True
    assert blast(dead, "leaf-0").down_now is False
    hung = published(SPINES, HUNG)
    host = next(cause.subjects[0] for cause in hung.evaluation.causes)
    assert blast(hung, host).down_now is None
    assert "is down is unknown" in blast(hung, host).summary


def test_nothing_to_blast() -> None:
    with pytest.raises(NotFoundError, match="did you mean 'leaf-1'"):
        blast(published(SPINES), "leaf-11")


# --- path -------------------------------------------------------------------------------------------------------------


def hops(way: RailPath) -> list[str]:
    return [hop.device for hop in way.hops]


def test_within_a_leaf_and_over_superspines() -> None:
    publication = published(PODS)
    (near,) = path(publication, "gpu-001", "gpu-002", 2).rails
    assert hops(near) == ["gpu-001", "p1-leaf-2", "gpu-002"]
    assert near.stays is True
    (far,) = path(publication, "gpu-001", "gpu-009", 2).rails
    above = ["p1-spine-[1-2]", "superspine-[1-2]", "p3-spine-[1-2]"]
    assert hops(far) == ["gpu-001", "p1-leaf-2", *above, "p3-leaf-2", "gpu-009"]
    assert [hop.choices for hop in far.hops] == [1, 1, 4, 4, 4, 4, 1]
    assert far.stays is True


def test_a_wrong_cable_leaves_its_rail_at_the_wrong_leaf() -> None:
    answer = path(moved(simulated(SPINES), 0, 1, "leaf-3"), "gpu-001", "gpu-002")
    assert [way.stays for way in answer.rails] == [True, False, True, True]
    wrong = answer.rails[1]
    assert wrong.leaves_at == "leaf-3"
    assert hops(wrong) == ["gpu-001", "leaf-3", "spine-[1-2]", "leaf-1", "gpu-002"]
    assert [hop.rail for hop in wrong.hops][1] == 3
    assert "crosses" in wrong.summary


def test_cut_and_unknown() -> None:
    (cut,) = path(moved(simulated(RAIL_ONLY), 0, 1, "leaf-3"), "gpu-001", "gpu-002", 1).rails
    assert cut.stays is False
    assert cut.summary.startswith("Cut:")
    hung = published(SPINES, HUNG)
    host = next(cause.subjects[0] for cause in hung.evaluation.causes)
    other = "gpu-001" if host != "gpu-001" else "gpu-002"
    assert {way.stays for way in path(hung, host, other).rails} == {None}


def test_the_plane_that_stands_is_the_way() -> None:
    simulation = simulated(PLANES)
    dead = next(c.a for c in simulation.plan.host_cables if c.a.device == "gpu-001" and c.rail == 0 and c.plane == 0)
    (way,) = path(killed(simulation, dead), "gpu-001", "gpu-002", 0).rails
    assert hops(way) == ["gpu-001", "leaf-0b", "gpu-002"]
    assert way.stays is True


def test_no_such_path() -> None:
    publication = published(SPINES)
    with pytest.raises(NotFoundError, match="no rail 9"):
        path(publication, "gpu-001", "gpu-002", 9)
    with pytest.raises(QueryError, match="named twice"):
        path(publication, "gpu-001", "GPU-001")
    with pytest.raises(QueryError, match="leaf-0 is a switch"):
        path(publication, "gpu-001", "leaf-0")
    with pytest.raises(NotFoundError, match="gpu-0x"):
        path(publication, "gpu-0x", "gpu-001")


@pytest.mark.parametrize("name", ["rail 3", "rail3", "Rail-3"])
def test_a_rail_can_be_asked_about(name: str) -> None:
    shown = published(Shape(hosts=8, rails=8, spines=4, uplinks=8))
    answer = blast(shown, name)
    assert (answer.matched_type, answer.hosts_affected, answer.rails, answer.gpus_affected) == ("rail", 8, (3,), 8)
    found = where(shown, name)
    assert (found.matched_type, {path.rail for path in found.paths}, len(found.paths)) == ("rail", {3}, 8)
    with pytest.raises(NotFoundError):
        blast(shown, "rail 8")


def test_a_pod_can_be_asked_about() -> None:
    shown = published(PODS)
    answer = blast(shown, "pod p1")
    assert (answer.matched_type, answer.share_lost) == ("pod", 1.0)
    assert {path.a.pod for path in where(shown, "p1").paths} == {"p1"}


def test_a_leaf_is_never_said_to_be_free_to_go_while_jobs_may_run() -> None:
    """What fails at once, what to do first, what is left; the exit code follows."""
    shown = published(Shape(hosts=8, rails=8, spines=4, uplinks=8))
    leaf, spine = blast(shown, "leaf-3"), blast(shown, "spine-1")
    assert "can be drained" not in leaf.drain
    at, first, left = (leaf.drain.index(word) for word in ("At once", "First", "Afterwards"))
    assert at < first < left
    assert tone_of(leaf) is Tone.BAD
    assert "no connection ends" in spine.drain
    assert tone_of(spine) is Tone.GOOD


def test_a_path_between_gpus_of_two_rails_goes_by_nvlink_inside_the_senders_host() -> None:
    publication = shown(simulated(SPINES))
    answer = path(publication, "gpu-001 GPU 1", "gpu-002 GPU 3")
    (way,) = answer.rails
    assert (answer.source, answer.target) == ("gpu-001 GPU 1", "gpu-002 GPU 3")
    assert (way.rail, way.from_rail, way.stays) == (3, 1, True)
    assert [(hop.device, hop.nvlink) for hop in way.hops] == [
        ("gpu-001", "GPU 1 to GPU 3"), ("leaf-3", ""), ("gpu-002", ""),
    ]  # fmt: skip
    assert "inside the sending host over NVLink from GPU 1 to GPU 3, then on rail 3" in answer.summary
    assert "would cross the spines from rail 1" in answer.summary
    assert "there is no other path" in path(shown(simulated(RAIL_ONLY)), "gpu-001 GPU 1", "gpu-002 GPU 3").summary
    nics = [str(one.a) for one in publication.plan.cables if one.a.device == "gpu-001"]
    assert path(publication, nics[1], "gpu-002 GPU 3").rails[0].from_rail == 1


def test_a_path_from_a_gpu_is_that_of_its_rail() -> None:
    publication = shown(simulated(SPINES))
    for ends in (("gpu-001 GPU 1", "gpu-002"), ("gpu-001", "gpu-002 GPU 1"), ("gpu-001 GPU 1", "gpu-002 GPU 1")):
        (way,) = path(publication, *ends).rails
        assert (way.rail, way.from_rail, way.hops[0].nvlink) == (1, None, "")


@pytest.mark.parametrize(
    ("source", "target", "rail", "why"),
    [
        ("gpu-001 GPU 1", "gpu-001 GPU 2", None, "gpu-001 is named twice"),
        ("gpu-001 GPU 1", "gpu-002 GPU 2", 1, "on rail 2, not on rail 1"),
        ("gpu-001 GPU 1", "leaf-2/swp1", None, "leaf-2/swp1 is not a host, nor a GPU or NIC of a host"),
    ],
)
def test_a_path_that_makes_no_sense_says_why(source: str, target: str, rail: int | None, why: str) -> None:
    with pytest.raises(QueryError, match=why):
        path(shown(simulated(SPINES)), source, target, rail)


def test_rails_and_pods_are_found_by_a_few_letters() -> None:
    publication = shown(simulated(PODS))
    pods = sorted({device.pod for device in publication.plan.devices.values() if device.pod})
    assert find(publication, "rail 1")[0].name == "rail 1"
    assert {"rail 0", "rail 1"} <= {one.name for one in find(publication, "rail")}
    assert find(publication, f"POD {pods[0]}")[0].name == f"pod {pods[0]}"
    assert {f"pod {pod}" for pod in pods} <= {one.name for one in find(publication, "pod") if one.kind == "pod"}


def test_causes_without_effect_on_a_job_are_named_as_such() -> None:
    answer = job(published(SPINES, Fault(CauseKind.LEAF_SWAP, "labels")), "gpu-[001-008]")
    (cause,) = answer.causes
    first, second = cause.subjects
    assert answer.summary.startswith("No network fault is known on these hosts' rails")
    assert f" Leaf swap at {first} and {second}: no effect on their traffic is known. All 8 hosts" in answer.summary
    assert JOB.good(answer) is True
    assert answer_text(answer, Options(80)).startswith("✓ No network fault is known")
    affected = job(published(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host")), "gpu-[001-008]")
    assert (affected.without_effect, JOB.good(affected)) == (False, False)

"""The simulator's answers, read by the real collectors, say what its truth says, and nothing else."""

import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.draws import draws
from tests.each import each
from truerail.errors import NoRoomError
from truerail.model import CauseKind, GpuNicPath, LinkSpeed, Neighbor, NetLink, Plan, Port, RdmaLink, Snapshot
from truerail.plans import load
from truerail.simulator import VARIANTS, Fault, Noise, Shape, Simulation, demo_simulation, simulate
from truerail.simulator.platforms import switch_platforms
from truerail.transport.replay import read_capture

POD = Shape(hosts=16, rails=8, spines=4, uplinks=8)
EVERY_FAULT = [Fault(kind, variant) for kind, variants in VARIANTS.items() for variant in variants]


def _id(fault: Fault) -> str:
    return f"{fault.kind}-{fault.variant}"


def _facts(snapshot: Snapshot) -> Counter[tuple[str, object]]:
    return Counter((reading.device, fact) for reading in snapshot.readings for fact in reading.facts)


def _short(name: str | None) -> str:
    return (name or "").partition(".")[0].lower()


def _seen(simulation: Simulation) -> dict[Port, Port]:
    """Host and leaf ports and what is heard on them, by names alone; ports with one neighbour only."""
    found: dict[Port, list[Port]] = {}
    for reading in simulation.snapshot().readings:
        for fact in reading.facts:
            if isinstance(fact, Neighbor):
                name = fact.port_id if fact.port_id_type == "ifname" else fact.port_description
                remote = Port(_short(fact.system_name), name or "")
                found.setdefault(Port(reading.device, fact.port), []).append(remote)
    return {port: remotes[0] for port, remotes in found.items() if len(remotes) == 1}


def _looks_wrong(simulation: Simulation) -> set[Port]:
    """Planned cables of which an end hears another port than the plan has there."""
    seen, plan = _seen(simulation), simulation.plan
    return {
        cable.a
        for cable in plan.cables
        if (cable.a in seen and seen[cable.a] != cable.b) or (cable.b in seen and seen[cable.b] != cable.a)
    }


def test_an_undisturbed_fabric_is_seen_as_planned() -> None:
    simulation = simulate(POD)
    assert not simulation.truth.causes
    assert _seen(simulation) == {
        end: other for cable in simulation.plan.cables for end, other in ((cable.a, cable.b), (cable.b, cable.a))
    }


@each("mixed", [False, True])
@each("platform", switch_platforms())
def test_every_platform_and_format_is_read_whole(platform: str, mixed: bool) -> None:
    shape = Shape(hosts=4, rails=4, spines=2, uplinks=4, platforms=(platform,), storage=True, subnets=True)
    simulation = simulate(shape, noise=Noise(mixed=mixed, management=True, strange_files=True))
    readings = simulation.snapshot().readings
    assert [reading.error for reading in readings if reading.error] == []
    heard = {reading.device: len(reading.facts) for reading in readings if reading.collector.startswith("lldp")}
    assert heard == {
        **{f"gpu-00{n}": 4 + 4 + 1 for n in range(1, 5)},
        **{f"leaf-{n}": 4 + 4 + 1 for n in range(4)},
        **{f"spine-{n}": 4 * 2 + 1 for n in (1, 2)},
    }


@pytest.mark.parametrize(
    "shape",
    [
        Shape(hosts=8, rails=4, planes=2, spines=2, uplinks=2),
        Shape(hosts=8, rails=8, rails_per_leaf=2),
        Shape(hosts=8, rails=8, rails_per_leaf=4, stride=True),
        Shape(hosts=9, rails=4, pods=2, spines=2, uplinks=4),
        Shape(hosts=8, rails=2, pods=4, spines=2, uplinks=2, superspines=2),
        Shape(hosts=8, rails=8, spines=0),
        Shape(hosts=8, rails=2, gpus=8),
        Shape(hosts=8, rails=8, rails_per_leaf=8, spines=2, uplinks=2),
        Shape(hosts=8, rails=12, style="eth"),
        Shape(hosts=8, rails=8, models=("xe9680", "dgx-h100"), storage=True),
    ],
)
def test_every_shape_is_seen_as_planned(shape: Shape) -> None:
    simulation = simulate(shape)
    per_host = shape.rails * shape.planes
    assert len(list(simulation.plan.host_cables)) == shape.hosts * per_host
    assert len(set(simulation.world.far)) == 2 * len(simulation.plan.cables)
    assert _looks_wrong(simulation) == set()
    assert _seen(simulation).keys() >= simulation.world.far.keys()


@pytest.mark.parametrize("host_ports", ["rdma", "pci"])
def test_a_plan_may_name_host_ports_by_rdma_device_or_pci_address(host_ports: str) -> None:
    simulation = simulate(Shape(hosts=2, rails=2, spines=0, host_ports=host_ports))
    names = [cable.a.name for cable in simulation.plan.cables if cable.a.device == "gpu-001"]
    assert names == {"rdma": ["mlx5_0", "mlx5_1"], "pci": ["0000:1a:00.0", "0000:3c:00.0"]}[host_ports]


def test_each_gpu_is_nearest_the_nic_of_its_rail() -> None:
    simulation = simulate(Shape(hosts=1, rails=8, spines=0, storage=True))
    paths = simulation.snapshot().table(GpuNicPath).rows
    netdevs = {link.device: link.netdev for link in simulation.snapshot().table(RdmaLink).rows}
    nearest = {path.gpu: netdevs[path.device or ""] for path in paths if path.level == "PIX"}
    assert nearest == {cable.rail: cable.a.name for cable in simulation.plan.cables}


@each("folders", ["hostname", "inventory"])
@each("fault", EVERY_FAULT, ids=_id)
def test_a_fault_looks_as_its_truth_says(fault: Fault, folders: str) -> None:
    simulation = simulate(POD, [fault], seed=5, folders=folders)
    (cause,) = simulation.truth.causes
    assert cause.kind is fault.kind
    if folders == "hostname":
        assert _looks_wrong(simulation) == simulation.truth.wrong
    assert len(simulation.truth.moved) == cause.moves
    hidden = simulation.truth.wrong | simulation.truth.missing | simulation.truth.unknown
    assert hidden == set(cause.cables)


@cache
def undisturbed() -> tuple[Simulation, Counter[tuple[str, object]]]:
    """The fabric without a fault, and its facts."""
    right = simulate(POD, seed=2)
    return right, _facts(right.snapshot())


@each("fault", [fault for fault in EVERY_FAULT if fault.variant != "labels"], ids=_id)
def test_a_fault_changes_nothing_but_its_own_cables(fault: Fault) -> None:
    faulty, (right, before) = simulate(POD, [fault], seed=2), undisturbed()
    (cause,) = faulty.truth.causes
    rdma = {name.rdma: name.netdev for model in right.world.fabric.models.values() for name in model.names}
    touched = {*cause.cables, *faulty.world.slow}
    for port in cause.cables:
        touched |= {right.world.far[port], faulty.world.far[port]}
    after = _facts(faulty.snapshot())
    for device, fact in (before - after) + (after - before):
        if device in cause.subjects and cause.kind in (CauseKind.GPU_NIC_ORDER, CauseKind.UNREACHABLE):
            continue
        name = {Neighbor: "port", NetLink: "netdev", RdmaLink: "netdev", LinkSpeed: "port"}[type(fact)]
        assert Port(device, rdma.get(getattr(fact, name), getattr(fact, name))) in touched


def _macs(simulation: Simulation, device: str) -> set[str | None]:
    readings = [reading for reading in simulation.snapshot().readings if reading.device == device]
    return {fact.mac for reading in readings for fact in reading.facts if isinstance(fact, NetLink)}


def test_swapped_labels_move_no_cable_and_no_mac() -> None:
    simulation = simulate(POD, [Fault(CauseKind.HOST_SWAP, "labels")], folders="inventory")
    first, second = simulation.truth.causes[0].subjects
    before, after = _macs(simulate(POD), first), _macs(simulation, first)
    assert before == after
    assert _seen(simulation)[simulation.plan.cables[0].b].device in {"gpu-001", first, second}
    assert simulation.truth.moved == frozenset()
    assert simulation.truth.causes[0].decidable


def test_what_the_answers_cannot_decide_is_said() -> None:
    labels = simulate(POD, [Fault(CauseKind.HOST_SWAP, "labels")]).truth.causes[0]
    bundles = simulate(POD, [Fault(CauseKind.HOST_SWAP, "bundles")]).truth.causes[0]
    assert [(a.kind, a.moves) for a in labels.alternatives] == [(CauseKind.HOST_SWAP, 16)]
    assert [(a.kind, a.moves) for a in bundles.alternatives] == [(CauseKind.HOST_SWAP, 0)]
    rail_only = Shape(hosts=8, rails=8, spines=0)
    assert not simulate(rail_only, [Fault(CauseKind.LEAF_SWAP)]).truth.decidable
    assert simulate(POD, [Fault(CauseKind.LEAF_SWAP)]).truth.decidable
    unread = Noise(unreachable=1.0)
    assert not simulate(POD, [Fault(CauseKind.CABLE_SWAP, "one-host")], unread).truth.decidable


def test_a_dead_link_is_dark_at_both_ends() -> None:
    simulation = simulate(POD, [Fault(CauseKind.LINK_DOWN, "host")])
    (port,) = simulation.truth.missing
    leaf_port = simulation.plan.peer_of(port)
    down = {
        Port(reading.device, fact.netdev)
        for reading in simulation.snapshot().readings
        for fact in reading.facts
        if isinstance(fact, NetLink) and "NO-CARRIER" in fact.flags
    }
    free = {Port(leaf, name) for leaf, names in simulation.world.fabric.spare.items() for name in names}
    assert down - free == {port, leaf_port}
    links = [link for link in simulation.snapshot().table(RdmaLink).rows if link.state != "ACTIVE"]
    assert [(link.state, link.physical_state, link.netdev) for link in links] == [("DOWN", "DISABLED", port.name)]


@pytest.mark.parametrize("seed", range(draws(4, 12)))
def test_drawn_faults_keep_clear_of_each_other(seed: int) -> None:
    simulation = simulate(Shape(hosts=32, rails=8, pods=2, models=("xe9680", "dgx-h100")), 6, seed=seed)
    causes = simulation.truth.causes
    assert len(causes) == 6
    subjects = Counter(subject for cause in causes for subject in cause.subjects)
    assert set(subjects.values()) == {1}
    narrow = Counter(
        port for cause in causes if cause.kind.value.startswith(("cable-", "link-", "port-")) for port in cause.cables
    )
    assert not narrow or set(narrow.values()) == {1}
    assert len(simulation.truth.moved) <= sum(cause.moves for cause in causes)
    assert _looks_wrong(simulation) == simulation.truth.wrong


def test_a_compound_fault_lies_within_a_swapped_leaf() -> None:
    simulation = simulate(POD, [Fault(CauseKind.LEAF_SWAP)], compound=True)
    names, swap = simulation.truth.causes
    leaves = {(simulation.plan.peer_of(port) or port).device for port in swap.cables}
    assert swap.kind is CauseKind.CABLE_SWAP
    assert leaves <= set(names.subjects)
    assert _looks_wrong(simulation) == simulation.truth.wrong


def test_a_fabric_too_small_for_a_fault_says_so() -> None:
    with pytest.raises(NoRoomError, match="leaf"):
        simulate(Shape(hosts=2, rails=2, spines=0), [Fault(CauseKind.PORT_SHIFT)])
    with pytest.raises(ValueError, match="no variant 'sideways'; known are host, uplink"):
        Fault(CauseKind.LINK_DOWN, "sideways")
    with pytest.raises(ValueError, match="cannot plant"):
        Fault(CauseKind.UNKNOWN)
    with pytest.raises(ValueError, match="3 rails do not share leaves by 2"):
        Shape(rails=3, rails_per_leaf=2)


def _heard_by(simulation: Simulation) -> Counter[str]:
    heard: Counter[str] = Counter()
    for reading in simulation.snapshot().readings:
        for fact in reading.facts:
            if isinstance(fact, Neighbor) and reading.device.startswith("leaf") and fact.system_name:
                heard[_short(fact.system_name)] += 1
    return heard


def test_silences_are_as_reported() -> None:
    simulation = simulate(POD, noise=Noise(unreachable=0.25, deaf=0.25, mute=0.25, silent=0.25))
    world, hosts = simulation.world, set(simulation.world.fabric.models)
    heard = {host: count for host, count in _heard_by(simulation).items() if host in hosts}
    assert heard == dict.fromkeys(hosts - world.mute, 8)
    hearing = {r.device: len(r.facts) for r in simulation.snapshot().readings if r.collector == "lldp_host"}
    assert hearing == {host: 0 if host in world.deaf else 8 for host in hosts - world.absent}
    assert {port.device for port in simulation.truth.unknown} == world.deaf & world.mute
    assert {cause.subjects[0] for cause in simulation.truth.noise} == world.absent
    assert [len(world.absent), len(world.deaf), len(world.mute), len(world.deaf & world.mute)] == [4, 8, 8, 4]


def test_a_stale_neighbour_stands_beside_the_new_one() -> None:
    simulation = simulate(POD, noise=Noise(stale=0.2), seed=3)
    two = Counter(
        Port(reading.device, fact.port)
        for reading in simulation.snapshot().readings
        for fact in reading.facts
        if isinstance(fact, Neighbor)
    )
    assert {port for port, count in two.items() if count == 2} == set(simulation.world.stale)
    ends = [(cable.a, cable.b) for cable in simulation.plan.cables]
    both = {a for a, b in ends if a in simulation.world.stale and b in simulation.world.stale}
    assert both == simulation.truth.unknown
    assert both
    assert len(simulation.world.stale) > 2 * len(both)
    assert not simulation.truth.wrong


def test_names_and_labels_are_written_many_ways() -> None:
    simulation = simulate(POD, noise=Noise(forms=True, labels=True))
    rows = simulation.snapshot().table(Neighbor).rows
    names = {row.system_name or "" for row in rows}
    assert any(name.endswith(".dc1.example.net") for name in names)
    assert any(name.isupper() for name in names)
    assert any(name in simulation.plan.devices for name in names)
    assert all((row.port_description or "").startswith("to-") for row in rows)
    assert {row.port_id_type for row in rows} == {"ifname"}


def _digest(seed: int, hash_seed: int) -> str:
    program = (
        "from truerail.simulator import *; from hashlib import sha256; import json;"
        "s = simulate(Shape(hosts=16, rails=8, platforms=('sonic', 'eos')), 6,"
        f" Noise(.1, .1, .1, .1, .1, True, True, True, True), {seed});"
        "print(sha256(json.dumps([list(s.answers()), s.truth.as_dict()]).encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return run.stdout


def test_the_same_seed_gives_the_same_bytes_in_every_process() -> None:
    first = _digest(7, hash_seed=1)
    assert first == _digest(7, hash_seed=2) != _digest(8, hash_seed=1)


def test_a_written_capture_is_read_as_the_snapshot_in_memory(tmp_path: Path) -> None:
    noise = Noise(unreachable=0.1, forms=True, mixed=True, strange_files=True)
    simulation = simulate(Shape(hosts=12, rails=4, platforms=("sonic", "nxos")), 3, noise, seed=4)
    capture = read_capture(simulation.write(tmp_path), devices=simulation.plan.devices)
    assert _facts(capture.snapshot()) == _facts(simulation.snapshot())
    assert any("unknown files" in note for note in capture.notes)
    assert _cables(load(tmp_path / "plan.csv")) == _cables(simulation.plan)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert len(truth["cables"]) == len(simulation.plan.cables)
    assert [cause["kind"] for cause in truth["causes"]] == [cause.kind for cause in simulation.truth.causes]


def _cables(plan: Plan) -> set[tuple[Port, Port, int | None]]:
    return {(cable.a, cable.b, cable.rail) for cable in plan.cables}


def test_the_demo_tells_its_story() -> None:
    simulation = demo_simulation()
    kinds = Counter(cause.kind.value for cause in simulation.truth.causes)
    assert kinds == {"cable-swap": 1, "leaf-swap": 1, "host-swap": 1, "port-shift": 1, "link-down": 2}
    assert len(simulation.world.fabric.models) == 64
    assert len(simulation.world.leaves()) == 8

"""Every fabric of the documentation is a plan that loads, lints, and survives a round trip."""

import re
from pathlib import Path

from tests.each import each
from tests.plan_helpers import bare
from truerail.model import Plan, Port, QosProfile, Role, Severity, Transport
from truerail.plans import describe, draw_svg, dump_csv, dump_dot, dump_yaml, lint, load, loads

FABRICS = Path(__file__).parent / "fabrics"
FILES = sorted([*FABRICS.glob("*.yaml"), *FABRICS.glob("*.csv")])
LOUD = {"top_of_rack": ["classic top-of-rack"], "exceptions": ["200 Gb/s in rail 1"]}


def fabric(name: str) -> Plan:
    return load(FABRICS / f"{name}.yaml")


@each("path", FILES, ids=lambda path: path.name)
def test_lint_says_what_the_fabric_is(path: Path) -> None:
    loud = [problem for problem in lint(load(path)) if problem.severity is not Severity.INFO]
    expected = LOUD.get(path.stem, [])
    assert len(loud) == len(expected)
    assert all(words in problem.summary for words, problem in zip(expected, loud, strict=True))


@each("path", FILES, ids=lambda path: path.name)
def test_round_trip_through_yaml(path: Path) -> None:
    plan = load(path)
    assert bare(loads(dump_yaml(plan), ".yaml")) == bare(plan)


@each("path", FILES, ids=lambda path: path.name)
def test_round_trip_through_csv(path: Path) -> None:
    plan = load(path)
    assert bare(loads(dump_csv(plan), ".csv")) == bare(plan)


@each("path", FILES, ids=lambda path: path.name)
def test_dot_keeps_every_cable(path: Path) -> None:
    plan = load(path)
    again = loads(dump_dot(plan), ".dot")
    assert {(c.a, c.b, c.rail, c.plane, c.speed_gbps) for c in again.cables} == {
        (c.a, c.b, c.rail, c.plane, c.speed_gbps) for c in plan.cables
    }
    assert {d.name: d.role for d in again.devices.values()} == {d.name: d.role for d in plan.devices.values()}


@each("path", FILES, ids=lambda path: path.name)
def test_every_fabric_draws(path: Path) -> None:
    plan = load(path)
    assert all(leaf.name in draw_svg(plan) for leaf in plan.of_role(Role.LEAF)[:1])


def test_rail_optimized_pod_is_short_and_complete() -> None:
    text = (FABRICS / "rail_optimized.yaml").read_text()
    plan = fabric("rail_optimized")
    assert len([line for line in text.splitlines() if not line.startswith("#")]) <= 20
    assert len(plan.cables) == 64 * 8 + 8 * 32
    assert plan.peer_of(Port("gpu-012", "enp60s0f0np0")) == Port("leaf-1", "swp12")
    assert plan.rail_of(Port("leaf-7", "swp64")) == 7
    assert plan.rails[3].vlans == (103,)
    assert plan.rails[3].subnets == ("10.3.0.0/16",)
    assert (plan.devices["gpu-006"].rack, plan.devices["gpu-006"].unit) == ("r02", 10)


def test_rails_in_blocks_of_ports() -> None:
    plan = fabric("two_rails_per_leaf_block")
    assert plan.peer_of(Port("gpu-02", "mlx5_0")) == Port("leaf-0", "swp2")
    assert plan.peer_of(Port("gpu-02", "mlx5_1")) == Port("leaf-0", "swp18")
    assert plan.rail_of(Port("leaf-3", "swp32")) == 7


def test_rails_in_turn() -> None:
    plan = fabric("four_rails_per_leaf_stride")
    assert plan.peer_of(Port("gpu-02", "mlx5_1")) == Port("leaf-0", "Ethernet20")
    assert plan.rail_of(Port("leaf-1", "Ethernet252")) == 7


def test_rails_by_port_lists() -> None:
    plan = fabric("two_rails_per_leaf_list")
    assert [plan.rail_of(Port("leaf-0", f"swp{port}")) for port in (1, 4, 7, 10)] == [0] * 4
    assert [plan.rail_of(Port("leaf-0", f"swp{port}")) for port in (13, 16, 19, 22)] == [1] * 4
    assert plan.peer_of(Port("leaf-0", "swp16")) == Port("gpu-2", "nic1")


def test_port_zero_goes_to_plane_zero() -> None:
    plan = fabric("dual_plane")
    assert plan.peer_of(Port("gpu-03", "enp60s0f0np0")) == Port("leaf-a-1", "swp3")
    assert plan.peer_of(Port("gpu-03", "enp60s0f1np1")) == Port("leaf-b-1", "swp3")
    assert plan.cable_at(Port("leaf-b-1", "swp3")).plane == 1  # type: ignore[union-attr]
    assert {cable.b.device[:7] for cable in plan.uplinks_of("leaf-a-0")} == {"spine-a"}


def test_rail_only_has_no_uplinks() -> None:
    shape = describe(fabric("rail_only"))
    assert (shape.uplinks, shape.bisection_gbps) == (0, 0.0)
    assert {leaf.oversubscription for leaf in shape.leaves} == {None}


def test_multi_pod_stays_in_its_pods_up_to_the_spines() -> None:
    plan = fabric("multi_pod")
    pods = {(plan.devices[c.a.device].pod, plan.devices[c.b.device].pod) for c in plan.host_cables}
    assert pods == {(f"p{n}", f"p{n}") for n in range(1, 5)}
    assert plan.peer_of(Port("h100-033", "enp26s0f0np0")) == Port("p2-leaf-0", "swp1s0")
    assert plan.peer_of(Port("b200-064", "eth7")) == Port("p4-leaf-7", "swp16s1")
    assert {c.b.device for c in plan.uplinks_of("p1-leaf-0")} == {f"p1-spine-{n}" for n in range(4)}
    assert len(plan.uplinks_of("p3-spine-2")) == 64


def test_pod_per_rail() -> None:
    plan = fabric("pod_per_rail")
    assert plan.peer_of(Port("gpu-17", "mlx5_2")) == Port("rail2-leaf-1", "swp1")
    assert {c.b.device for c in plan.uplinks_of("rail2-leaf-1")} == {"rail2-spine-0", "rail2-spine-1"}


def test_spines_of_a_rail_join_the_pods() -> None:
    plan = fabric("rail_across_pods")
    above = {c.b.device for leaf in ("p1-leaf-3", "p2-leaf-3") for c in plan.uplinks_of(leaf)}
    assert above == {"rail3-spine-0", "rail3-spine-1"}


def test_infiniband_and_efa_say_what_carries_them() -> None:
    infiniband = fabric("infiniband")
    assert infiniband.transport is Transport.INFINIBAND
    assert infiniband.devices["ib-leaf-3"].chassis_ids == ("0xb0cf0e0300000130",)
    assert infiniband.peer_of(Port("dgx-05", "mlx5_7")) == Port("0xb0cf0e0300000170", "5")
    assert infiniband.peer_of(Port("ib-leaf-0", "34")) == Port("ib-spine-1", "1")
    assert fabric("efa").transport is Transport.EFA


def test_shared_nics_are_reported_not_blamed() -> None:
    assert [p.summary for p in lint(fabric("shared_nic"))] == [
        "shared NICs: 8 GPUs on 2 rails, 4 a rail, on gpu-01 and 7 more hosts"
    ]


def test_explicit_cables_take_the_place_of_generated_ones() -> None:
    plan = fabric("exceptions")
    cable = plan.cable_at(Port("gpu-4", "nic1"))
    assert cable is not None
    assert (cable.b, cable.speed_gbps, cable.line) == (Port("leaf-1", "swp9"), 200.0, 7)
    assert plan.cable_at(Port("leaf-1", "swp4")) is None
    storage = plan.cable_at(Port("gpu-1", "eno1"))
    assert storage is not None
    assert (storage.a.device, storage.rail, storage.label, storage.length_m) == ("gpu-1", None, "storage, red", 2.5)


def test_csv_is_oriented_towards_the_gpus() -> None:
    plan = load(FABRICS / "rail_optimized.csv")
    assert plan.cables[3].a == Port("gpu-2", "nic1")
    assert plan.cables[5].a == Port("leaf-1", "swp33")
    assert (plan.devices["leaf-1"].rack, plan.devices["leaf-1"].unit) == ("n01", 41)


def test_the_examples_of_the_documentation_load_and_lint() -> None:
    text = (Path(__file__).parent.parent / "docs" / "plan.md").read_text()
    first, cables, panels, qos = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert {problem.value for problem in lint(loads(first, ".yaml"))} == {"2:1"}
    hosts = "hosts: {nodes: 'gpu-[001-004]', nics: 'nic[0-1]'}\nleaves: {nodes: 'leaf-[0-1]'}\n"
    assert [cable.line for cable in loads(hosts + cables, ".yaml").cables] == [4, 5]
    (passed,) = loads(hosts + panels, ".yaml").cables
    assert passed.via[0] == Port("pp-1", "5")
    assert (loads(hosts + qos, ".yaml").qos or QosProfile()).dscp_to_priority == ((26, 3), (48, 6))
    header, row = re.findall(r"^    (a_device,.*|gpu-001,host.*)$", text, re.MULTILINE)
    assert loads(f"{header}\n{row}\n", ".csv").cables[0].label == "A-001"

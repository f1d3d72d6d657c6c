"""The tree for schedulers, from seen cabling, in each format; and the lint of existing ones."""

import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from collector import collectors
from tests.oncall_fabrics import PLANES, PODS, RAIL_ONLY, SHARED, SPINES, STRIDED, published, shown, simulated
from tests.page_site import Site
from truerail.analysis.host_groups import SeenGroups, topology_faults
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.errors import QueryError
from truerail.model import CauseKind, Device, Reading, SchedulerNode, Snapshot, TopologyUnit
from truerail.model.history import NoHistory
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.fabric_tree import fabric_tree
from truerail.questions.lint_topology import QUESTION as LINT
from truerail.questions.lint_topology import LintedTopology
from truerail.questions.question import Asked
from truerail.questions.scheduler_topology import FORMATS, QUESTION, topology
from truerail.rounds import publication_of
from truerail.simulator import Fault, Shape
from truerail.views.plain import answer_from_json, as_json


@cache
def swapped() -> Published:
    return published(SPINES, Fault(CauseKind.CABLE_SWAP, "one-host"))


@cache
def clean() -> Published:
    return published(PODS)


def units(text: str) -> dict[str, TopologyUnit]:
    found = collectors()["slurm_topology"].read(text, Device("slurm"))
    return {one.name: one for one in found if isinstance(one, TopologyUnit)}


def linted(publication: Published, text: str) -> LintedTopology:
    answer: LintedTopology = LINT.find(Asked(publication, NoHistory(), publication.at), {"text": text})
    assert answer_from_json(LintedTopology, as_json(answer)) == answer
    assert max(map(len, answer_text(answer, Options(80)).splitlines())) <= 80
    return answer


def kinds(publication: Published, text: str) -> list[str]:
    return [fault.kind for fault in linted(publication, text).faults]


def hosts(publication: Published) -> list[str]:
    return [name for name, device in publication.plan.devices.items() if device.role.tier == 0]


@pytest.mark.parametrize("shape", [SPINES, PODS, PLANES, SHARED, STRIDED, RAIL_ONLY])
def test_every_host_is_in_one_switch_and_the_lint_finds_nothing_in_what_is_exported(shape: Shape) -> None:
    publication = published(shape)
    for name in ("slurm", "slurm-yaml"):
        answer = topology(publication, name)
        found = units(answer.text)
        assert sorted(node for unit in found.values() for node in unit.nodes) == sorted(hosts(publication))
        assert linted(publication, answer.text).faults == ()
        assert answer.verified == answer.cables == len(publication.plan.cables)
        assert QUESTION.good(answer) is True


def test_pods_are_the_lowest_switches_and_uplinks_make_the_ones_above() -> None:
    found = units(topology(clean(), "slurm").text)
    lowest = [unit for unit in found.values() if unit.nodes]
    (root,) = fabric_tree(clean()).roots
    assert [len(unit.nodes) for unit in lowest] == [4, 4, 4]
    assert sorted(found[root].children) == sorted(unit.name for unit in lowest)
    assert {unit.name for unit in lowest} == {device.pod for device in clean().plan.devices.values() if device.pod}
    apart = published(Shape(hosts=8, pods=2, rails=4, spines=0))
    text = topology(apart, "slurm").text
    assert len(fabric_tree(apart).roots) == 2
    assert "# no common root: no uplinks lead from one to another of " in text
    joined = f"{text}SwitchName=all Switches={','.join(fabric_tree(apart).roots)}\n"
    assert kinds(apart, joined) == ["not-connected"]


def test_a_miscabled_host_stays_in_its_group_and_is_named() -> None:
    answer = topology(swapped(), "slurm")
    assert answer.misplaced
    assert answer.misplaced in answer.text
    assert re.search(rf"# miscabled, kept in its planned group: {answer.misplaced} rails \d", answer.text)
    assert f"scontrol update NodeName={answer.misplaced} State=DRAIN" in answer.text
    assert QUESTION.good(answer) is None
    assert linted(swapped(), answer.text).faults == ()


def test_a_host_cabled_as_a_whole_to_another_group_is_in_that_group() -> None:
    simulation = simulated(PODS)
    plan = simulation.plan
    first, second = sorted(_pods())[:2]
    host = next(name for name in hosts(clean()) if plan.devices[name].pod == first)
    there = {cable.rail: cable.b.device for cable in plan.cables if plan.devices[cable.a.device].pod == second}
    cables = tuple(
        cable._replace(b=cable.b._replace(device=there[cable.rail], name="spare1")) if cable.a.device == host else cable
        for cable in plan.cables
    )
    publication = publication_of(Round(replace(plan, cables=cables), simulation.snapshot()))
    answer = topology(publication, "slurm")
    assert answer.moved == host
    assert f"cabled as a whole to another group: {host}" in answer.text
    (unit,) = [one for one in units(answer.text).values() if host in one.nodes]
    assert plan.devices[unit.nodes[-1]].pod == first


def test_what_was_not_seen_is_planned_and_says_so() -> None:
    simulation = simulated(SPINES)
    seen = simulation.snapshot()
    host = hosts(clean())[0]
    kept = [one for one in seen.readings if one.device != host and one.collector != "lldp_switch"]
    answer = topology(publication_of(Round(simulation.plan, Snapshot(seen.at, kept))), "slurm")
    assert answer.unseen == host
    assert f"# not verified: {host} rails 0-3" in answer.text
    assert "uplinks" in answer.text
    assert answer.verified < answer.cables


def test_nodes_have_the_names_of_their_scheduler() -> None:
    simulation = simulated(SPINES)
    seen = simulation.snapshot()
    names = [f"{host}.cluster.local" for host in hosts(shown(simulation))]
    facts = tuple(SchedulerNode(name, ("IDLE",), None) for name in (*names, "login-1"))
    snapshot = Snapshot(seen.at, [*seen.readings, Reading("slurm", "slurm_nodes", seen.at, facts)])
    found = units(topology(publication_of(Round(simulation.plan, snapshot)), "slurm").text)
    assert sorted(node for unit in found.values() for node in unit.nodes) == sorted(names)


def test_the_other_formats() -> None:
    labels = topology(clean(), "k8s-labels").text.splitlines()
    (line,) = [one for one in labels if one.startswith(f"kubectl label node {hosts(clean())[0]} ")]
    pod = clean().plan.devices[hosts(clean())[0]].pod
    assert f"fabric.topograph.run/tier-0={pod} fabric.topograph.run/tier-1=" in line
    model = yaml.safe_load(topology(clean(), "topograph").text)
    assert set(model["nodes"]) == set(hosts(clean()))
    assert sorted(node for one in model["switches"].values() for node in one.get("nodes", ())) == sorted(hosts(clean()))
    nccl = topology(published(RAIL_ONLY), "nccl").text
    assert re.search(r"^NCCL_IB_HCA==mlx5_\d+:1(,mlx5_\d+:1){3}$", nccl, re.MULTILINE)
    assert "NCCL_CROSS_NIC=0" in nccl
    assert topology(published(RAIL_ONLY), "nccl", "2.29.7").text == nccl
    rails = re.findall(r"^NCCL_IB_HCA==(.*)$", topology(published(RAIL_ONLY), "nccl", "2.30").text, re.MULTILINE)
    assert [entry.split(":")[1:] for entry in rails[0].split(",")] == [["1", str(rail), "0"] for rail in range(4)]
    planes = re.findall(r"^NCCL_IB_HCA==(.*)$", topology(published(PLANES), "nccl", "2.30.7").text, re.MULTILINE)
    places = [[rail, plane] for _, _, rail, plane in (entry.split(":") for entry in planes[0].split(","))]
    assert places == [[str(rail), str(plane)] for rail in range(4) for plane in range(2)]
    for kind, version, why in (("nccl", "latest", "not a version of NCCL"), ("slurm", "2.30", "goes with the format")):
        with pytest.raises(QueryError, match=why):
            topology(published(RAIL_ONLY), kind, version)
    assert "NCCL_CROSS_NIC" not in topology(clean(), "nccl").text
    with pytest.raises(QueryError, match="see NIC001"):
        topology(published(SPINES, Fault(CauseKind.GPU_NIC_ORDER)), "nccl")
    with pytest.raises(QueryError, match=r"no format 'slrum', did you mean 'slurm'\?"):
        topology(clean(), "slrum")
    assert set(FORMATS) == {"slurm", "slurm-yaml", "topograph", "k8s-labels", "nccl"}


def test_the_lint_finds_each_planted_fault() -> None:
    text = "\n".join(line for line in topology(clean(), "slurm").text.splitlines() if not line.startswith("#")) + "\n"
    first, second, third = sorted(_pods())
    one, two = (next(iter(units(text)[pod].nodes)) for pod in (first, second))
    moved = text.replace(f"SwitchName={first} Nodes=", f"SwitchName={first} Nodes={two},")
    assert kinds(clean(), moved) == ["in-two-switches", "other-switch"]
    lost = "".join(line + "\n" for line in text.splitlines() if f"SwitchName={third} " not in line)
    assert kinds(clean(), lost) == ["undefined-switch", "host-absent"]
    assert kinds(clean(), text + f"SwitchName={first} Nodes={one}\n")[0] == "defined-twice"
    answer = linted(clean(), text + "SwitchName=old Nodes=cpu-[1-4]\n")
    assert [fault.kind for fault in answer.faults] == ["no-planned-host"]
    assert answer.unknown_nodes == "cpu-[1-4]"
    assert linted(clean(), text).summary.startswith("The topology fits what is seen: 12 hosts in 4 switches")
    circle = f"SwitchName=x Switches=y\nSwitchName=y Switches=x\nSwitchName=all Nodes={','.join(hosts(clean()))}\n"
    assert kinds(clean(), circle) == ["other-switch", "other-switch"]
    for nothing, why in (
        ("BlockSizes=4\n", "nothing to compare"),
        ("hello\n", "not a topology.conf or topology.yaml: line 1"),
    ):
        with pytest.raises(QueryError, match=why):
            linted(clean(), nothing)


def test_a_switch_joins_what_is_below_it_in_any_graph() -> None:
    drawn = random.Random(7)
    for switches in (*range(1, 13), *range(1, 13)):
        names = [f"s{number}" for number in range(switches)]
        drawn_units = [
            TopologyUnit(
                name,
                "switch",
                tuple(str(drawn.randrange(20)) for _ in range(drawn.randrange(3))),
                tuple(drawn.choices(names, k=drawn.randrange(4))),
            )
            for name in names
        ]
        root = {host: f"tree-{host % 11}" for host in range(20)}
        faults = topology_faults(SeenGroups({}, root, ()), drawn_units, int)
        found = {fault.switch: fault.summary for fault in faults if fault.kind == "not-connected"}
        of = {unit.name: unit for unit in drawn_units}
        for unit in drawn_units:
            below, seen = [unit.name], {unit.name}
            for name in below:
                below += [child for child in dict.fromkeys(of[name].children) if child not in seen]
                seen.update(below)
            trees = sorted({int(node) % 11 for name in below for node in of[name].nodes})[:8]
            joined = f"joins {', '.join(f'tree-{tree}' for tree in trees)}, which no uplinks connect"
            assert found.get(unit.name) == (joined if unit.children and len(trees) > 1 else None)


def _pods() -> set[str]:
    return {device.pod for device in clean().plan.devices.values() if device.pod}


def test_the_commands(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truerail.cli.oncall_local.publication", lambda source: (clean(), None))
    done = CliRunner().invoke(app, ["export", "topology", "--format", "slurm", "--from", "x"])
    assert done.exit_code == 0
    assert units(done.stdout)
    file = f"{tmp_path}/topology.conf"
    with open(file, "w") as out:
        out.write(done.stdout)
    assert CliRunner().invoke(app, ["lint-topology", file, "--from", "x"]).exit_code == 0
    with open(file, "a") as out:
        out.write("SwitchName=more Switches=none\n")
    assert CliRunner().invoke(app, ["lint-topology", file, "--from", "x"]).exit_code == 1
    for words in (["tree"], ["topology", "--out", file]):
        assert CliRunner().invoke(app, ["export", *words]).exit_code == 2


def test_a_service_takes_a_topology_that_is_longer_than_a_query(tmp_path: Path) -> None:
    long = "\n".join(f"SwitchName=old-{number} Nodes=gone-{number}" for number in range(1000))
    file = tmp_path / "topology.conf"
    with Site(clean()) as service:

        def asked_of_the_service(text: str, *command: str) -> tuple[int, str]:
            file.write_text(text, encoding="utf-8")
            result = CliRunner().invoke(app, [*command, str(file), "--service", service.url])
            return result.exit_code, f"{result.output}{result.exception}"

        code, said = asked_of_the_service(topology(clean(), "slurm").text, "lint-topology")
        assert (code, "The topology fits what is seen" in said) == (0, True), said
        code, said = asked_of_the_service(long, "lint-topology")
        assert (code, "1,000 (old-[0-999]): has no host of the plan" in said) == (1, True), said
        assert "not a topology.conf or topology.yaml" in asked_of_the_service("SwitchName=", "lint-topology")[1]
        assert "see http.body_bytes" in asked_of_the_service(f"# {'x' * 2_000_000}\n{long}", "lint-topology")[1]

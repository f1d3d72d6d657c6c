"""Patch panels: paths in plan files, segments joined by importers, and faults at the panels of simulated halls."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.draws import draws
from tests.each import each
from truerail.analysis.published import Published
from truerail.analysis.round import Round
from truerail.errors import NotFoundError
from truerail.model import Cable, CauseKind, Device, Evaluation, Panel, Plan, Port, Role, path_text
from truerail.outputs.pack import bill_of
from truerail.outputs.pack.cable_labels import labels_of
from truerail.outputs.punch import punch_list
from truerail.outputs.worklist import Change, Mark, Worklist, line_of
from truerail.plans import dump_csv, dump_dot, dump_yaml, lint, loads
from truerail.plans.imports import import_text
from truerail.questions.where import where
from truerail.rounds import evaluate, publication_of
from truerail.scrub import scrub_round
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.transport.replay import read_capture
from truerail.views.lists import filter_steps, step_lines
from truerail.views.racks import rack_lines

HALL = Shape(hosts=8, rails=4, spines=2, uplinks=4, trunk=4)
BY_HOST = replace(HALL, trunk_by="host")
AT_PANELS = (
    *(Fault(CauseKind.CABLE_SWAP, variant) for variant in ("cords-at-switches", "cords-at-hosts")),
    *(Fault(CauseKind.TRUNK_SWAP, variant) for variant in ("exchanged", "reversed")),
    Fault(CauseKind.PANEL_SHIFT),
)
SEED = st.integers(0, 1 << 20)


def host_plan(seed: int, *, one_position: bool = False) -> Plan:
    """The host cables of a hall, without names of trunks where each position has a cord of its own."""
    plan = simulate(Random(seed).choice((HALL, BY_HOST)), seed=seed).plan
    cables = [cable._replace(speed_gbps=None, rail=None) for cable in plan.host_cables]
    if one_position:
        cables = [cable._replace(via=(cable.via[0], cable.via[-1])) for cable in cables]
    return replace(plan, cables=tuple(cables))


def paths(plan: Plan) -> set[str]:
    return {path_text(cable.path) for cable in plan.cables}


def imported(text: str, name: str = "list.csv") -> Plan:
    found = import_text(text, name)
    assert found is not None
    return found.plan


# ---------------------------------------------------------------------------------------------- plan files


@settings(max_examples=draws(6, 100), deadline=None)
@given(seed=SEED)
def test_every_format_of_plans_keeps_the_paths(seed: int) -> None:
    plan = simulate(HALL, seed=seed).plan
    for suffix, text in ((".yaml", dump_yaml(plan)), (".csv", dump_csv(plan)), (".dot", dump_dot(plan))):
        again = loads(text, suffix)
        assert paths(again) == paths(plan)
        assert again.panels == (plan.panels if suffix != ".dot" else {})


def test_a_cable_listed_from_its_other_end_has_its_path_turned() -> None:
    text = (
        "hosts: {nodes: gpu-1}\nleaves: {nodes: leaf-0}\ncables: [leaf-0/p1 gpu-1/nic0 rail=0 via=pp-9/T1:3>pp-1/7]\n"
    )
    (cable,) = loads(text, ".yaml").cables
    assert path_text(cable.path) == "gpu-1/nic0 > pp-1/7 > pp-9/T1:3 > leaf-0/p1"


@each("via", ("pp-1", "pp-1/", "pp-1/3 > /4"))
def test_a_path_that_names_no_port_is_an_error_with_its_line(via: str) -> None:
    text = (
        f'hosts: {{nodes: gpu-1}}\nleaves: {{nodes: leaf-0}}\ncables: [{{a: gpu-1/nic0, b: leaf-0/p1, via: "{via}"}}]\n'
    )
    with pytest.raises(Exception, match="expected panel ports such as"):
        loads(text, ".yaml", "plan.yaml")
    head = "a_device,a_role,a_port,b_device,b_role,b_port,rail,via\n"
    with pytest.raises(Exception, match="2: expected panel ports such as"):
        loads(f"{head}gpu-1,host,nic0,leaf-0,leaf,p1,0,{via}\n", ".csv", "plan.csv")


def plan_with(*vias: str, **more: Any) -> Plan:
    """A plan whose cables pass these panel ports."""
    lines = [f"- {{a: gpu-{at}/nic0, b: leaf-0/p{at}, rail: 0, via: '{via}'}}" for at, via in enumerate(vias, 1)]
    hosts = f"hosts: {{nodes: 'gpu-[1-{len(vias)}]', nics: nic0}}\nleaves: {{nodes: leaf-0}}\n"
    return replace(loads("\n".join((hosts, "cables:", *lines, "")), ".yaml"), **more)


@each(
    "plan, says",
    (
        (plan_with("pp-1/1", "pp-1/1"), "panel port is used twice, for gpu-2/nic0 and for gpu-1/nic0"),
        (plan_with("pp-1/T1:1 > pp-2/T1:1", "pp-1/T1:2 > pp-2/T1:3"), "gpu-2/nic0 crosses its trunk from pp-1/T1:2 to"),
        (
            plan_with(*(f"pp-1/{at} > pp-2/{at}" for at in range(1, 9)), "pp-1/9 > pp-2/11"),
            "gpu-9/nic0 crosses its trunk",
        ),
        (plan_with("leaf-0/1"), "a patch panel and a leaf"),
        (loads("hosts: {nodes: gpu-1}\npanels: {nodes: pp-1}\ncables: [gpu-1/nic0 pp-1/3]\n", ".yaml"), "has a gap"),
    ),
)
def test_lint_names_what_no_path_can_be(plan: Plan, says: str) -> None:
    assert any(says in str(problem) for problem in lint(plan)), [str(problem) for problem in lint(plan)]


@settings(max_examples=draws(4, 60), deadline=None)
@given(seed=SEED)
def test_a_right_hall_has_no_problem_and_no_cause(seed: int) -> None:
    hall = simulate(Random(seed).choice((HALL, BY_HOST)), seed=seed)
    assert not [str(one) for one in lint(hall.plan) if "pp-" in str(one)]
    assert evaluate(Round(hall.plan, hall.snapshot())).causes == ()
    reverse = [cable._replace(via=_reversed(cable)) for cable in hall.plan.cables]  # a trunk of other polarity
    assert not [str(one) for one in lint(replace(hall.plan, cables=tuple(reverse))) if "crosses" in str(one)]


def _reversed(cable: Cable) -> tuple[Port, ...]:
    if not cable.via:
        return ()
    near, rear, (panel, name), far = cable.via
    trunk, _, position = name.partition(":")
    return near, rear, Port(panel, f"{trunk}:{5 - int(position)}"), far


# ---------------------------------------------------------------------------------------------- importers


def netbox(plan: Plan, rng: Random, *, graphql: bool, front_ports: bool = True) -> str:
    """The cables of a hall as NetBox exports them, with a trunk each for several links, and its front ports."""
    segments: dict[tuple[tuple[str, str, str], ...], str] = {}
    fronts: dict[tuple[str, str], tuple[str, str]] = {}
    for cable in plan.cables:
        near, rear, other, far = cable.via
        trunk, _, position = rear.name.partition(":")
        label = "" if plan.name == "unlabelled" else trunk
        for front, panel in ((near, rear.device), (far, other.device)):
            fronts[panel, front.name] = f"Rear {trunk}", position
        segments[("interface", *cable.a), ("frontport", *near)] = ""
        segments[("rearport", rear.device, f"Rear {trunk}"), ("rearport", other.device, f"Rear {trunk}")] = label
        segments[("frontport", *far), ("interface", *cable.b)] = ""
    listed = [(*(ends if rng.random() < 0.5 else ends[::-1]), label) for ends, label in segments.items()]
    rng.shuffle(listed)
    answers: dict[str, Any] = {
        "cables": [
            {"id": at, "label": label, "a_terminations": _ends(a, graphql), "b_terminations": _ends(b, graphql)}
            for at, (a, b, label) in enumerate(listed)
        ],
        "front_ports": [
            {"device": {"name": panel}, "name": name, "rear_port": {"name": rear}, "rear_port_position": int(at)}
            for (panel, name), (rear, at) in fronts.items()
        ],
    }
    if not front_ports:
        del answers["front_ports"]
    if graphql:
        return json.dumps({"data": {f"{key.removesuffix('s')}_list": value for key, value in answers.items()}})
    return json.dumps({key: {"results": value} for key, value in answers.items()})


def _ends(end: tuple[str, ...], graphql: bool) -> list[dict[str, Any]]:
    kind, device, name = end
    port = {"device": {"name": device}, "name": name}
    if graphql:
        return [{"__typename": {"interface": "InterfaceType"}.get(kind, f"{kind[:-4].title()}PortType"), **port}]
    return [{"object_type": f"dcim.{kind}", "object_id": 1, "object": port}]


@settings(max_examples=draws(6, 100), deadline=None)
@given(seed=SEED, graphql=st.booleans())
def test_netbox_cables_are_joined_through_front_and_rear_ports(seed: int, graphql: bool) -> None:
    plan = host_plan(seed)
    found = imported(netbox(plan, Random(seed), graphql=graphql), "netbox.json")
    assert paths(found) == paths(plan)
    assert not found.panels.keys() & found.devices.keys()
    assert found.devices.keys() == {end.device for cable in plan.cables for end in cable[:2]}


def test_without_front_ports_each_path_is_a_gap_by_name_and_no_cable_is_called_wrong() -> None:
    hall = simulate(HALL)
    found = imported(netbox(host_plan(0), Random(0), graphql=False, front_ports=False), "netbox.json")
    assert any("which rear port and position is behind a front port" in note for note in found.notes)
    says = [str(problem) for problem in lint(found)]
    assert sum("has a gap: it ends in the panel port" in one for one in says) == len(found.cables)
    evaluation = evaluate(Round(found, hall.snapshot()))
    assert [cause for cause in evaluation.causes if cause.moves] == []
    assert evaluation.summary.cables_wrong == 0


WORDS = (
    ("Host", "NIC", "Panel A", "Panel A Port", "Trunk", "Trunk Position", "Panel B", "Panel B Port", "Switch",
     "Switch Port"),
    ("Server", "NIC", "Patch Panel", "Port", "Trunk ID", "Trunk Port", "Patch Panel", "Port", "Switch", "Switch Port"),
    ("Quellgerät", "Quellport", "Patchfeld A", "Patchfeld A Port", "MPO", "MPO Position", "Patchfeld B",
     "Patchfeld B Port", "Zielgerät", "Zielport"),
    ("A-Node Name", "A-Port", "A-Panel", "A-Panel Port", "MTP Trunk", "MTP Position", "Z-Panel", "Z-Panel Port",
     "Z-Node Name", "Z-Port"),
)  # fmt: skip


@settings(max_examples=draws(8, 100), deadline=None)
@given(seed=SEED, header=st.sampled_from(WORDS), mark=st.sampled_from(",;\t"))
def test_columns_of_panels_are_the_path(seed: int, header: Sequence[str], mark: str) -> None:
    plan = host_plan(seed)
    rows = [(*cable.a, *cable.via[0], *cable.via[1].name.split(":"), *cable.via[-1], *cable.b) for cable in plan.cables]
    text = "\n".join(mark.join(row) for row in (header, *rows))
    assert paths(imported(f"{text}\n")) == paths(plan)


@settings(max_examples=draws(6, 100), deadline=None)
@given(seed=SEED, labelled=st.booleans(), typed=st.booleans())
def test_rows_of_segments_are_joined_end_to_end(seed: int, labelled: bool, typed: bool) -> None:
    plan, rng = host_plan(seed, one_position=not labelled), Random(seed)
    rows: list[tuple[str, ...]] = []
    for number, cable in enumerate(plan.cables):
        trunk = cable.via[1].name.partition(":")[0] if labelled else ""
        for one, other, label in (
            (cable.a, cable.via[0], f"c{number}a"),
            (cable.via[0], cable.via[-1], trunk),
            (cable.via[-1], cable.b, f"c{number}b"),
        ):
            ends = (one, other) if rng.random() < 0.5 else (other, one)
            rows.append((*(cell for end in ends for cell in (*end, KINDS[end.device[:3]])), label))
    rng.shuffle(rows)
    header = ("From Device", "From Port", "From Type", "To Device", "To Port", "To Type", "Label")
    text = "\n".join(",".join(row) for row in (header, *rows))
    found = imported(text.replace("pp-", "x") if typed else re.sub(",(?:Host|Switch|Patch panel)(?=,)", ",", text))
    shown = {path_text((cable.a, cable.via[0], cable.via[-1], cable.b)) for cable in found.cables}
    planned = {path_text((cable.a, cable.via[0], cable.via[-1], cable.b)) for cable in plan.cables}
    assert shown == {one.replace("pp-", "x") if typed else one for one in planned}
    assert {len(cable.via) for cable in found.cables} == {4 if labelled else 2}


KINDS = {"gpu": "Host", "lea": "Switch", "pp-": "Patch panel"}


def test_a_switch_whose_ports_are_listed_twice_is_no_panel() -> None:
    rows = [f"gpu-{host},nic0,sw-1,{(host + 1) // 2}" for host in range(1, 13)]
    found = imported("\n".join(("Host,NIC,Switch,Port", *rows, "")))
    assert "sw-1" in found.devices
    assert any("the port is used twice" in str(problem) for problem in lint(found))


def test_a_segment_that_is_missing_is_a_gap_of_its_own_path_alone() -> None:
    head = "From Device,From Port,To Device,To Port\n"
    rows = "gpu-1,nic0,PP-1,1\nPP-1,1,PP-9,1\nPP-9,1,leaf-0,swp1\ngpu-2,nic0,PP-1,2\nPP-9,2,leaf-0,swp2\n"
    found = imported(head + rows)
    assert paths(found) >= {"gpu-1/nic0 > PP-1/1 > PP-9/1 > leaf-0/swp1"}
    says = [str(problem) for problem in lint(found) if "gap" in str(problem)]
    assert len(says) == 2
    assert "gpu-2/nic0" in says[0]
    assert {name: device.role for name, device in found.devices.items()} == {
        "gpu-1": Role.HOST, "gpu-2": Role.HOST, "leaf-0": Role.LEAF,
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------- causes


def judged(hall: Simulation) -> Evaluation:
    """The evaluation of a hall: no order moves a cable that is right."""
    found = evaluate(Round(hall.plan, hall.snapshot()))
    assert {move.cable for cause in found.causes for move in cause.moves} <= hall.truth.moved
    return found


@settings(max_examples=draws(12, 200), deadline=None)
@given(seed=SEED, fault=st.sampled_from(AT_PANELS), shape=st.sampled_from((HALL, BY_HOST)))
def test_a_fault_at_a_panel_is_one_cause(seed: int, fault: Fault, shape: Shape) -> None:
    hall = simulate(shape, [fault], seed=seed)
    (cause,) = judged(hall).causes
    others = [other.kind for other in cause.alternatives]
    if cause.kind is fault.kind and others in ([], [CauseKind.PORT_SHIFT]):
        assert {move.cable for move in cause.moves} == hall.truth.moved
        assert all(other.moves == cause.moves for other in cause.alternatives)
        assert (cause.confidence > 0.7) is (others == [])
        assert "check first at pp-" in cause.action.lower()
        assert cause.kind is not CauseKind.PANEL_SHIFT or "of the panel row pp-" in cause.summary
    else:  # all cables of two hosts, or orders of their NICs: names and trunks look alike
        assert cause.alternatives
        assert not cause.moves
        kinds = {cause.kind, *(other.kind for other in cause.alternatives)}
        assert kinds & {fault.kind, CauseKind.CABLE_ROTATION, CauseKind.CABLE_SWAP, CauseKind.HOST_SWAP}


@settings(max_examples=draws(6, 100), deadline=None)
@given(seed=SEED, fault=st.sampled_from(AT_PANELS[2:]))
def test_without_panels_in_the_plan_no_cause_speaks_of_them(seed: int, fault: Fault) -> None:
    hall = simulate(HALL, [fault], seed=seed)
    bare = replace(hall.plan, cables=tuple(cable._replace(via=()) for cable in hall.plan.cables), panels={})
    for cause in evaluate(Round(bare, hall.snapshot())).causes:
        kinds = {cause.kind, *(other.kind for other in cause.alternatives)}
        assert not kinds & {CauseKind.TRUNK_SWAP, CauseKind.PANEL_SHIFT}
        assert "pp-" not in cause.action


def test_two_exchanged_cords_name_the_panels_where_they_may_be_exchanged() -> None:
    hall = simulate(HALL, [Fault(CauseKind.CABLE_SWAP, "cords-at-switches")], seed=3)
    (cause,) = judged(hall).causes
    cables = [cable for cable in hall.plan.cables if cable.a in hall.truth.moved]
    ports = ", ".join(cable.via[-1].name for cable in cables)
    place = hall.plan.panels[cables[0].via[-1].device]
    assert f"{cables[0].via[-1].device} (rack {place.rack} U{place.unit}) ports {ports}" in cause.action
    for cable in cables:
        assert path_text((cable.a, cable.via[0], cable.via[-1], cable.b)) in cause.summary


def test_a_block_that_is_shifted_at_its_switch_as_well_names_both_places() -> None:
    """LLDP shows the ends alone: at the panel or at the leaf, the moves are the same, and the confidence says so."""
    (cause,) = judged(simulate(HALL, [Fault(CauseKind.PORT_SHIFT)], seed=1)).causes
    assert (cause.kind, [other.kind for other in cause.alternatives]) == (CauseKind.PANEL_SHIFT, [CauseKind.PORT_SHIFT])
    assert cause.alternatives[0].moves == cause.moves
    leaf = cause.moves[0].target.device
    assert cause.alternatives[0].summary.startswith(f"the block is shifted at the ports of {leaf}:")
    assert f"else at {leaf}" in cause.action
    assert cause.confidence <= 0.7


def test_a_trunk_of_which_cables_are_right_is_not_exchanged() -> None:
    hall = simulate(HALL, [Fault(CauseKind.TRUNK_SWAP, "exchanged")], seed=1)
    for cable in [cable for cable in hall.plan.cables if cable.a in hall.truth.moved][:1]:
        other = next(one for one in hall.plan.cables if one.b == hall.world.far[cable.a])
        hall.world.plug(cable.a, cable.b)
        hall.world.plug(other.a, other.b)
    found = evaluate(Round(hall.plan, hall.snapshot()))
    assert CauseKind.TRUNK_SWAP not in {cause.kind for cause in found.causes}


def test_a_plan_of_panels_keeps_where_they_are() -> None:
    plan = Plan(
        {"gpu-1": Device("gpu-1"), "leaf-0": Device("leaf-0", Role.LEAF)},
        (Cable(Port("gpu-1", "nic0"), Port("leaf-0", "p1"), 0, via=(Port("pp 1", "1"), Port("pp-2", "1"))),),
        panels={"pp 1": Panel("r 1", 42), "pp-2": Panel()},
    )
    for suffix, text in ((".yaml", dump_yaml(plan)), (".csv", dump_csv(plan))):
        again = loads(text, suffix)
        assert again.panels["pp 1"] == Panel("r 1", 42)
        assert again.cables[0].via == plan.cables[0].via
        assert again.digest == plan.digest


# ---------------------------------------------------------------------------------------------- outputs


def hall_with(fault: Fault, seed: int = 3) -> tuple[Simulation, Published]:
    hall = simulate(HALL, [fault], seed=seed)
    return hall, publication_of(Round(hall.plan, hall.snapshot()))


def test_the_punch_list_names_panels_with_rack_and_unit_and_ticks_itself_off() -> None:
    hall, swapped = hall_with(AT_PANELS[0])
    steps = punch_list(swapped.evaluation)
    cables = [cable for cable in hall.plan.cables if cable.a in hall.truth.moved]
    assert {step.to for step in steps} == {cable.b for cable in cables}
    ports = ", ".join(cable.via[-1].name for cable in cables)
    for step in steps:
        assert f"check first at pp-net-1 (rack net U42) ports {ports}" in step.panels
    work = Worklist()
    work.update(swapped.evaluation)
    shown = [step_lines(work, swapped)[0].panels, *(line_of(Change(one.mark, one), hall.plan) for one in work.entries)]
    assert all("pp-net-1 (rack net U42)" in one for one in shown)
    mended = evaluate(Round(hall.plan, simulate(HALL, seed=3).snapshot()))
    assert {change.mark for change in work.update(mended)} == {Mark.DONE}


@each("fault", (AT_PANELS[2], AT_PANELS[3], AT_PANELS[4]))
def test_a_fault_of_many_cables_is_one_step_at_its_panel(fault: Fault) -> None:
    hall, shown = hall_with(fault)
    (step,) = punch_list(shown.evaluation)
    assert isinstance(step.at, Port)
    assert step.device in hall.plan.panels
    assert step.to is None
    work = Worklist()
    work.update(shown.evaluation)
    (line,) = step_lines(work, shown)
    assert (line.rack, line.unit) == hall.plan.panels[step.device]
    assert filter_steps([line], shown, rack=line.rack) == (line,)
    assert {change.mark for change in work.update(evaluate(Round(hall.plan, simulate(HALL, seed=3).snapshot())))} == {
        Mark.DONE
    }


def test_where_finds_what_passes_a_panel_and_shows_the_path() -> None:
    hall, shown = hall_with(AT_PANELS[0])
    cable = next(one for one in hall.plan.cables if one.a in hall.truth.moved)
    (path,) = where(shown, str(cable.via[-1])).paths
    assert (path.subject, tuple((end.device, end.port) for end in path.via)) == (str(cable.a), cable.via)
    assert [(end.role, end.rack, end.unit) for end in path.via[-1:]] == [(None, "net", 42)]
    trunk = cable.via[1].name.partition(":")[0]
    through = [str(one.a) for one in hall.plan.cables if one.via and one.via[1].name.startswith(f"{trunk}:")]
    for asked in (trunk, trunk.lower(), f"{cable.via[1].device}/{trunk}"):
        assert [one.subject for one in where(shown, asked).paths] == through
    assert len(where(shown, "pp-net-1").paths) == len([one for one in hall.plan.cables if one.via])
    with pytest.raises(NotFoundError):
        where(shown, "pp-net-1/999")


def test_racks_count_panels_also_in_racks_without_a_device() -> None:
    hall, _ = hall_with(AT_PANELS[0])
    plan = replace(hall.plan, panels={**hall.plan.panels, "pp-mdf": Panel("mdf-1", 3), "pp-lost": Panel()})
    lines = {line.rack: line for line in rack_lines(publication_of(Round(plan, hall.snapshot())), None)}
    assert (lines["mdf-1"].panels, lines["mdf-1"].hosts, lines["mdf-1"].count.planned) == (1, 0, 0)
    assert lines["net"].panels == 1
    assert "" not in lines


def test_a_pack_has_labels_of_cords_and_of_each_trunk_once() -> None:
    plan = simulate(HALL).plan
    pairs = [(label.here, label.there) for label, _ in labels_of(plan)]
    cords = [ends for cable in plan.host_cables for ends in ((cable.a, cable.via[0]), (cable.via[-1], cable.b))]
    trunks = {
        tuple(Port(port.device, port.name.partition(":")[0]) for port in cable.via[1:3]) for cable in plan.host_cables
    }
    direct = [(cable.a, cable.b) for cable in plan.cables if not cable.via]
    assert sorted(pairs) == sorted([*cords, *trunks, *direct])
    label = labels_of(plan)[0][0]
    assert (label.place, label.far_place) == ("r01 U1", "r01 U42")
    assert label.about.startswith("> leaf-0/swp1")
    bill = {row[:2]: row[4] for row in bill_of(plan)}
    assert bill["host", "panel"] == bill["panel", "leaf"] == len(cords) // 2
    assert bill["panel", "panel"] == len(trunks)


def test_a_scrubbed_plan_names_no_panel_and_no_trunk_and_keeps_its_paths(tmp_path: Path) -> None:
    hall = simulate(HALL, [AT_PANELS[2]], seed=2)
    roles = {name: device.role for name, device in hall.plan.devices.items()}
    plan = scrub_round(hall.write(tmp_path / "in"), tmp_path / "out", hall.plan, roles)
    assert plan is not None
    text = dump_csv(plan)
    assert "pp-" not in text
    assert ":T" not in text
    assert not re.search(r"/T\d", text)
    kinds = {
        cause.kind
        for cause in evaluate(Round(plan, read_capture(tmp_path / "out", devices=plan.devices).snapshot())).causes
    }
    assert kinds == {CauseKind.TRUNK_SWAP}

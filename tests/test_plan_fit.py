"""Lists under other names than the devices': which names mean what, what is asked, and that no right cable moves."""

from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from typer.testing import CliRunner

from benchmarks.accuracy.list_forms import FORMS
from benchmarks.accuracy.lists import NAMES, PLATFORMS, Verdict, edited, judged, run, section, written
from tests.draws import draws
from tests.each import each
from truerail.analysis.cabling.alias_schemes import agreeing
from truerail.analysis.cabling.fit import Fit, Match
from truerail.analysis.cabling.spellings import form, in_order, last_words, lines, numbers, words
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import CableState, CauseKind, Neighbor, Port, Reading, Severity, Snapshot
from truerail.model.index import PlanIndex
from truerail.outputs.punch import punch_list
from truerail.outputs.report import render
from truerail.plans import dump_csv, lint, load
from truerail.rounds import evaluate
from truerail.simulator import Fault, Noise, Shape, Simulation, simulate

RUNNER = CliRunner()
SMALL = Shape(hosts=8, rails=4, spines=2, uplinks=4)


@each("name", NAMES)
def test_no_list_moves_a_right_cable(name: str) -> None:
    seed = Random(name).randrange(1000)
    verdict = run(seed, name, ("four rails", "shared NICs", "two rails a leaf, blocks", "two planes"), draws(6, 32))
    assert not verdict.mistaken, verdict
    assert verdict.asked or not verdict.unknown, verdict


def test_exchanged_leaves_are_shown_by_their_uplinks_where_half_of_the_hosts_name_nics_otherwise() -> None:
    simulation = simulate(SMALL, 0, Noise(), 7)
    names, nics = {"leaf-0": "leaf-1", "leaf-1": "leaf-0"}, dict[Port, Port]()
    for at in range(0, 32, 8):  # every second host
        one, two = (cable.a for cable in [*simulation.plan.host_cables][at : at + 2])
        nics |= {one: two, two: one}

    def end(port: Port) -> Port:
        return nics.get(port, port._replace(device=names.get(port.device, port.device)))

    cables = tuple(cable._replace(a=end(cable.a), b=end(cable.b)) for cable in simulation.plan.cables)
    causes = evaluate(Round(replace(simulation.plan, cables=cables), simulation.snapshot())).causes
    assert [(cause.kind, cause.moves) for cause in causes] == [("leaf-swap", ())]


def test_a_third_scheme_does_not_decide_between_two() -> None:
    index = PlanIndex(simulate(SMALL, 0).plan)
    leaf, whole = np.full(3, index.ports.device_of(index.b)[0]), np.ones(3, dtype=bool)
    offers = [(np.array([*index.b[:2], port]), whole) for port in (7, 8, 7)]
    assert agreeing(index.ports, leaf, np.array([*index.ports.name_of(index.b[:2]), -1]), offers)[0][2] == -1


def test_the_section_counts_each_run() -> None:
    found = [Verdict("ports N", 0), Verdict("ports N", 1, moved_right=2), Verdict("NICs N", 2, unknown=3, asked=True)]
    rows = [line for line in section(found).splitlines() if line.startswith("| ")]
    assert rows[1:] == [
        "| NICs N | 1 | 0 | 0 | 0 | 0 | 1 |",
        "| ports N | 2 | 1 | 0 | 0 | 1 | 0 |",
        "| all | 3 | 1 | 0 | 0 | 1 | 1 |",
    ]


def small(platform: str, faults: int = 0) -> Simulation:
    """A small fabric of switches of one platform."""
    return simulate(replace(SMALL, platforms=(platform,)), faults, Noise(), 7)


def test_a_question_is_asked_and_answered(tmp_path: Path) -> None:
    simulation = simulate(replace(SMALL, platforms=("cumulus",), rails=2, spines=0), 0, Noise(), 7)
    capture = simulation.write(tmp_path)
    plan, answered = tmp_path / "list.csv", tmp_path / "answered.csv"
    plan.write_text(dump_csv(written(simulation, FORMS["ports N + 100"]).plan))
    check = ["check", "--from", str(capture), "--plan"]
    asked = RUNNER.invoke(app, [*check, str(plan)])
    assert asked.exit_code == 1
    assert "perhaps P101 is swp1" in asked.output
    assert "0 of 16 cables right" in asked.output
    fit = ["plan", "fit", str(plan), "--from", str(capture)]
    assert RUNNER.invoke(app, fit).exit_code == 1
    assert RUNNER.invoke(app, [*fit, "--accept", "--output", str(answered)]).exit_code == 0
    assert "leaf-0,leaf,swp1," in answered.read_text()
    right = RUNNER.invoke(app, [*check, str(answered)])
    assert (right.exit_code, "All 16 cables are right" in right.output) == (0, True)
    same = RUNNER.invoke(app, ["plan", "fit", str(answered), "--from", str(capture)])
    assert (same.exit_code, same.output.strip()) == (0, "The devices have the names of the plan.")


def test_a_clear_list_is_used_as_it_is_and_noted(tmp_path: Path) -> None:
    simulation = small("sonic")
    capture = simulation.write(tmp_path)
    plan, own = tmp_path / "list.csv", tmp_path / "own.csv"
    plan.write_text(dump_csv(written(simulation, FORMS["ports PN, NICs N, devices gpu-1"]).plan))
    found = RUNNER.invoke(app, ["check", "--from", str(capture), "--plan", str(plan)])
    assert (found.exit_code, "All 48 cables are right" in found.output) == (0, True)
    assert "gpu-1 is gpu-001" in " ".join(found.output.split())
    assert "P1 is Ethernet0" in " ".join(found.output.split())
    assert RUNNER.invoke(app, ["plan", "fit", str(plan), "--from", str(capture), "-o", str(own)]).exit_code == 0
    written_plan = own.read_text()
    assert "gpu-001,host,enp26s0f0np0,leaf-0,leaf,Ethernet0," in written_plan


def test_ports_are_shown_by_the_plan_and_found_by_what_is_shown() -> None:
    """SONiC has an Ethernet8 of its own, which is not the eighth port that the list calls so."""
    simulation = small("sonic")
    list_ = written(simulation, FORMS["ports EthernetN"])
    round = Round(list_.plan, simulation.snapshot())
    index = round.cabling.index
    assert set(evaluate(round).cable_states.values()) == {CableState.RIGHT}
    for cable, b in zip(list_.plan.cables, index.b.tolist(), strict=True):
        assert index.spell(b) == cable.b
        assert index.find(index.ports.device_of(index.b[:1] * 0 + b), [cable.b.name]).tolist() == [b]
    free = int(index.ports.find_or_add(index.b_device[:1], index.ports.name_codes(["Ethernet8"]))[0])
    own = index.spell(free)
    assert own != Port(own.device, "Ethernet8") or own in {cable.b for cable in list_.plan.cables}


def test_where_no_planned_device_answers_the_plan_is_doubted() -> None:
    plan = small("cumulus").plan
    hears = [Neighbor(f"swp{n}", system_name=f"node{n}x", port_id="eth0", port_id_type="ifname") for n in range(1, 5)]
    at = simulate(SMALL, 0, Noise(), 7).snapshot().at
    found = evaluate(Round(plan, Snapshot(at, (Reading("tor-z", "lldp_switch", at, tuple(hears)),))))
    assert [finding.rule for finding in found.findings if finding.rule == "CAB011"] == ["CAB011"]
    assert not any(cause.moves for cause in found.causes)
    assert set(found.cable_states.values()) == {CableState.UNKNOWN}


ROWS = [name for name in FORMS if name.startswith("a row") and name != "a row twice"]


@settings(max_examples=draws(12, 300), deadline=None)
@given(st.sampled_from(ROWS), st.sampled_from(PLATFORMS), st.integers(0, 2), st.integers(0, 2**32))
def test_a_row_that_lint_refuses_is_unknown_and_its_sentence_is_repeated(
    name: str, platform: str, faults: int, seed: int
) -> None:
    simulation = simulate(replace(SMALL, platforms=(platform,)), faults, Noise(), seed % 50)
    list_ = edited(written(simulation, FORMS[name]), FORMS[name], Random(seed))
    found = evaluate(Round(list_.plan, simulation.snapshot()))
    critical = [str(problem) for problem in lint(list_.plan) if problem.severity is Severity.CRITICAL]
    assert critical
    assert set(critical) <= set(found.notes)
    assert any("the plan contradicts itself" in one.summary for one in found.at_or_above(Severity.WARNING))
    assert {found.cable_states[port] for port in list_.wrong} == {CableState.UNKNOWN}
    assert not {str(end) for cause in found.causes for move in cause.moves for end in (move.source, move.cable)} & set(
        map(str, list_.wrong)
    )


def test_a_cable_listed_twice_counts_once() -> None:
    simulation = small("eos", 2)
    list_ = edited(written(simulation, FORMS["a row twice"]), FORMS["a row twice"], Random(1))
    once, twice = (evaluate(Round(plan, simulation.snapshot())) for plan in (simulation.plan, list_.plan))
    assert twice.cable_states == once.cable_states
    of_plan = [cause for cause in twice.causes if "the plan contradicts itself" in cause.summary]
    assert [cause.summary for cause in twice.causes if cause not in of_plan] == [one.summary for one in once.causes]
    assert len(of_plan) == 1
    assert twice.summary.cables_unknown == once.summary.cables_unknown + 1


def test_two_cables_of_most_hosts_in_a_rail_are_planes_without_a_name() -> None:
    simulation = simulate(replace(SMALL, planes=2), 1, Noise(), 7)
    plan = replace(simulation.plan, cables=tuple(cable._replace(plane=None) for cable in simulation.plan.cables))
    assert any(problem.severity is Severity.CRITICAL for problem in lint(plan))
    assert CableState.UNKNOWN not in evaluate(Round(plan, simulation.snapshot())).cable_states.values()


@each("name", ["devices by asset tag", "devices node000 for gpu-001"])
def test_devices_under_other_numbers_are_asked_for_and_answered(name: str, tmp_path: Path) -> None:
    simulation = small("nxos", 1)
    folder = tmp_path / name
    capture, plan, answered = simulation.write(folder), folder / "list.csv", folder / "answered.csv"
    list_ = written(simulation, FORMS[name])
    plan.write_text(dump_csv(list_.plan))
    found = evaluate(Round(list_.plan, simulation.snapshot()))
    asked = [finding for finding in found.findings if finding.rule == "CAB011"]
    assert len(asked) == 1
    assert asked[0].action in [step.action for step in punch_list(found)]
    assert f"Look at gpu-001: is it {asked[0].device}?" in asked[0].action
    assert [cause for cause in found.causes if cause.kind is CauseKind.HOST_SWAP] == []
    fit = ["plan", "fit", str(plan), "--from", str(capture), "--accept", "--output", str(answered)]
    assert RUNNER.invoke(app, fit).exit_code == 0
    true = evaluate(Round(simulation.plan, simulation.snapshot()))
    again = evaluate(Round(load(answered), simulation.snapshot()))
    assert again.cable_states == true.cable_states


def test_a_shift_under_the_devices_own_names_stays_a_fault() -> None:
    simulation = small("cumulus")
    leaf = [cable for cable in simulation.plan.cables if cable.b.device == "leaf-0"]
    shifted = dict(
        zip((cable.b for cable in leaf), [*(cable.b for cable in leaf[1:]), Port("leaf-0", "swp60")], strict=True)
    )
    cables = tuple(cable._replace(b=shifted.get(cable.b, cable.b)) for cable in simulation.plan.cables)
    found = Round(replace(simulation.plan, cables=cables), simulation.snapshot()).cabling
    assert found.identity.fit == Fit()
    assert PlanIndex(simulation.plan).called == {}


@each(
    "name, expected",
    [
        ("swp1", (1,)), ("Eth1/5 (400G)", (1, 5)), ("swp01 - QSFP112", (1,)), ("3b", (3, 1)), ("swp1s0", (1, 0)),
        ("Port 7", (7,)), ("1/1/1", (1, 1, 1)), ("400GbE 1/3", (1, 3)), ("none", ()),
    ],
)  # fmt: skip
def test_the_numbers_of_a_port(name: str, expected: tuple[int, ...]) -> None:
    assert numbers(name) == expected


def test_the_words_of_names() -> None:
    assert words("GPU_001.hall.example") == words("gpu-1") == ("gpu", 1)
    assert list(last_words("R05-gpu-001")) == [("r", 5, "gpu", 1), ("gpu", 1)]
    assert form("Eth1/5 (400G)") == form("Ethernet1/5") == "ethernet#/#"
    assert form("3b") == form("11a") == "#@"
    assert in_order(["swp10", "swp9", "swp1s1"]) == ["swp1s1", "swp9", "swp10"]


@each(
    "planned, own, natural",
    [
        (["1/1", "1/2", "1/3"], ["swp1", "swp2", "swp3"], {"1/1": "swp1", "1/2": "swp2", "1/3": "swp3"}),
        (["P1", "P3"], ["Ethernet0", "Ethernet8", "Ethernet16"], {"P1": "Ethernet0", "P3": "Ethernet16"}),
        (
            ["1/1", "1/2", "2/1"], ["Ethernet0", "Ethernet4", "Ethernet8"],
            {"1/1": "Ethernet0", "1/2": "Ethernet4", "2/1": "Ethernet8"},
        ),
    ],
)  # fmt: skip
def test_a_natural_map_keeps_the_numbers_on_the_front(
    planned: list[str], own: list[str], natural: dict[str, str]
) -> None:
    pairs = list(natural.items())
    assert natural in [names for names, _, is_natural in lines(planned, own, pairs, frozenset(), planned) if is_natural]
    assert not list(lines(planned, own, [], frozenset(), planned))


def test_the_words_of_what_is_not_known() -> None:
    rest = Match(("leaf-0", "leaf-1"), (("1/18", ""), ("1/19", "")), 0, 4, open=True)
    assert rest.words == "leaf-[0-1] have other ports than planned: it is not known which are 1/18, 1/19"
    assert rest.question == "Look at leaf-0: which port is 1/18?"
    later = Fit(matches=(rest,)).besides(Fit(open=frozenset({Port("leaf-0", "1/18")})))
    assert [one.devices for one in later.matches] == [("leaf-1",)]
    assert Match(("leaf-0",), (), 0, 0, open=True).question == "Look at leaf-0: which port is which?"
    assert Match(("a1",), (), 0, 0, open=True, of_devices=True).question == "Look at a1: what is its hostname?"
    assert Match(("leaf-0",), (("P1", "swp2"),), 4, 4, open=True).question == "Look at leaf-0: is P1 its swp2?"


@pytest.mark.parametrize("open_", [False, True])
def test_the_words_of_a_match(open_: bool) -> None:
    pairs = tuple((f"P{n}", f"swp{n}") for n in range(1, 6))
    known = Match(("leaf-0", "leaf-1"), pairs, 3, 4, open=open_).words
    assert known.startswith("leaf-[0-1] have other ports than planned: ")
    assert known.endswith("P3 is swp3 and 2 more (3 of 4 cables agree)" if open_ else "and 2 more; 3 of 4 cables agree")
    assert Match(("leaf-0",), (), 0, 0, open=True).words == "leaf-0 has other ports than planned: none of them is known"


def test_commands_name_ports_as_their_devices_do() -> None:
    simulation = small("cumulus")
    snapshot = simulation.snapshot()
    readings = [
        structs.replace(one, facts=tuple(fact._replace(state="DOWN") for fact in one.facts))
        if (one.device, one.collector) == ("gpu-001", "rdma_link")
        else one
        for one in snapshot.readings
    ]
    list_ = written(simulation, FORMS["ports PN, NICs N, devices gpu-1"])
    found = evaluate(Round(list_.plan, Snapshot(snapshot.at, tuple(readings))))
    actions = [one.action for one in found.findings if one.rule == "NIC002" and one.device == "gpu-1"]
    assert len(actions) == 4
    assert "ip link show enp26s0f0np0" in actions[0]


def test_check_exits_with_one_where_rows_of_the_plan_exclude_each_other(tmp_path: Path) -> None:
    """All that it could evaluate is right; two rows are unknown, which is not nothing."""
    simulation = small("cumulus")
    plan, capture = tmp_path / "list.csv", simulation.write(tmp_path)
    check = ["check", "--plan", str(plan), "--from", str(capture)]
    plan.write_text(dump_csv(simulation.plan))
    assert RUNNER.invoke(app, check).exit_code == 0
    first, second, *others = simulation.plan.cables
    plan.write_text(dump_csv(replace(simulation.plan, cables=(first, second._replace(b=first.b), *others))))
    found = RUNNER.invoke(app, check)
    assert (found.exit_code, "The plan contradicts itself about 2 cables" in found.stdout) == (1, True)
    assert RUNNER.invoke(app, ["plan", "lint", str(plan)]).exit_code == 1


@each("name", ["NICs mlx5_N", "NICs NICN", "NICs nicN", "NICs ethN"])
def test_a_list_that_counts_the_nics_of_rails_alone_is_no_hall_of_wrong_cables(name: str) -> None:
    """The hosts count their storage NICs as well: the same shift on every host."""
    rng = Random(name)
    platform, seed = rng.choice(PLATFORMS), rng.randrange(draws(2, 200))
    simulation = simulate(replace(SMALL, storage=True, platforms=(platform,)), seed % 2, Noise(), seed)
    list_ = written(simulation, FORMS[name])
    verdict = judged(name, seed, simulation, evaluate(Round(list_.plan, simulation.snapshot())), list_)
    assert not verdict.mistaken, verdict
    assert verdict.asked or not verdict.unknown, verdict


def test_a_question_is_in_every_report_and_in_the_list_of_steps() -> None:
    simulation = small("cumulus")
    found = evaluate(Round(written(simulation, FORMS["ports N + 100"]).plan, simulation.snapshot()))
    (asked,) = (finding for finding in found.findings if finding.rule == "CAB011")
    assert asked.action in {step.action for step in punch_list(found)}  # of the text, of `watch`, of the workbook
    for one in ("text", "json", "csv", "junit", "html"):
        shown = " ".join(str(render(found, one)).split())
        assert "perhaps P101 is swp1" in shown, one
    assert [cause.summary for cause in found.causes] == [asked.summary]  # what the page shows


def test_a_cable_that_the_topology_gives_to_another_nic_is_not_moved() -> None:
    """All hosts name two NICs otherwise, in a list with two leaves in each other's places: not all of both is seen."""
    shape = Shape(hosts=6, rails=8, rails_per_leaf=2, spines=2, uplinks=4, platforms=("cumulus",))
    simulation = simulate(shape, [Fault(CauseKind.GPU_NIC_ORDER, "model")], seed=2)
    edit = FORMS["old: two leaves exchanged"].edit
    assert edit is not None
    found = evaluate(Round(edit(Random(2), simulation.plan)[0], simulation.snapshot()))
    assert {cause.kind for cause in found.causes} >= {
        CauseKind.GPU_NIC_ORDER,
        CauseKind.LEAF_SWAP,
        CauseKind.CABLE_MOVE,
    }
    assert not [cause for cause in found.causes if cause.moves]
    assert all("nvidia-smi topo -m" in one.to_confirm for one in found.causes if one.kind is CauseKind.CABLE_MOVE)


@each("name", ["ports 1/N", "ports N", "ports EthernetN", "ports EthernetN/1", "ports Ethernet1/N", "ports 0/0/N"])
@each("platforms", [("eos", "nxos"), ("sonic", "nxos"), PLATFORMS])
def test_a_list_of_switches_of_several_systems_is_read_by_the_names_of_each(
    name: str, platforms: tuple[str, ...]
) -> None:
    """Arista's `Ethernet5/1` and Cisco's `Ethernet1/5` have one form, and another number counts the ports."""
    simulation = simulate(replace(SMALL, platforms=platforms), 0, Noise(), 1)
    found = evaluate(Round(written(simulation, FORMS[name]).plan, simulation.snapshot()))
    assert set(found.cable_states.values()) == {CableState.RIGHT}


@each("hosts, rails, rails_per_leaf", [(4, 4, 1), (8, 4, 2), (6, 8, 2), (8, 8, 4)])
@each("spines", [0, 2])
def test_another_order_of_nics_and_exchanged_leaves_are_one_question(
    hosts: int, rails: int, rails_per_leaf: int, spines: int
) -> None:
    """All hosts name their NICs in another order than that of their GPUs: each reading explains the same cables."""
    shape = Shape(hosts=hosts, rails=rails, rails_per_leaf=rails_per_leaf, spines=spines, uplinks=2 * spines)
    for seed in range(draws(2, 40)):
        platforms = PLATFORMS if seed % 2 else (PLATFORMS[seed % len(PLATFORMS)],)
        simulation = simulate(replace(shape, platforms=platforms), [Fault(CauseKind.GPU_NIC_ORDER, "model")], seed=seed)
        for old in (one for name, one in FORMS.items() if name.startswith("old: two leaves exchanged")):
            list_ = edited(written(simulation, old), old, Random(seed))
            causes = evaluate(Round(list_.plan, simulation.snapshot())).causes
            assert not [cause for cause in causes if cause.moves], seed
            asked = [cause for cause in causes if "in each other's places; or" in cause.summary]
            assert len(asked) <= 1
            assert all(cause.to_confirm and cause.alternatives[0].moves for cause in asked)


def test_a_row_twice_or_of_no_device_is_in_no_order_beside_other_names() -> None:
    """The second row of a cable is no other place on its leaf; nothing moves for a wrong row under another name."""
    swapped = simulate(SMALL, [Fault(CauseKind.LEAF_SWAP, "labels")], seed=3)
    uplinks = [cable for cable in swapped.plan.cables if cable.a.device in swapped.truth.causes[0].subjects]
    for one in uplinks[:: max(1, len(uplinks) // draws(3, 100))]:
        twice = replace(swapped.plan, cables=(*swapped.plan.cables, one))
        assert not [cause for cause in evaluate(Round(twice, swapped.snapshot())).causes if cause.moves], one
    renamed = simulate(replace(SMALL, rails=8), [Fault(CauseKind.GPU_NIC_ORDER, "model")], seed=1)
    for at in range(0, 64, 64 // draws(4, 64)):
        cables = list(renamed.plan.cables)
        cables[at] = cables[at]._replace(b=Port("laef-9", "swp1"))
        found = evaluate(Round(replace(renamed.plan, cables=tuple(cables)), renamed.snapshot()))
        assert not [cause for cause in found.causes if cause.moves], at

"""Serial numbers: the names of two devices are swapped or right, which nothing else decides."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rules._examples import hears
from truerail.analysis.rule import Case
from truerail.model import Cause, CauseKind
from truerail.model.facts import Fact
from truerail.model.witness_facts import MachineIdentity
from truerail.plans import dump_csv, dump_yaml, loads
from truerail.rounds import evaluate
from truerail.testing.cases import scene

PLAN = "\n".join(f"gpu-{host}/nic{rail} leaf-{rail}/swp{host} rail={rail}" for host in (1, 2, 3) for rail in range(4))
SERIALS = {"gpu-1": ("SN-A", "uuid-a"), "gpu-2": ("SN-B",), "gpu-3": ("SN-C",)}


def cause(
    reported: dict[str, Sequence[str]], serials: dict[str, tuple[str, ...]] | None = None, *, hosts_hear: bool = True
) -> Cause:
    """The cause of gpu-1 and gpu-2 being cabled as the other is planned, with these serial numbers reported."""
    stands = {1: 2, 2: 1, 3: 3}
    facts: dict[str, list[Fact]] = {
        f"leaf-{rail}": [hears(f"swp{port}", f"gpu-{host}/nic{rail}") for host, port in stands.items()]
        for rail in range(4)
    }
    for name in SERIALS:
        facts[name] = [MachineIdentity("system", serial) for serial in reported.get(name, ())]
        port = f"swp{stands[int(name[-1])]}"
        for rail in range(4) if hosts_hear else ():
            heard = hears(f"nic{rail}", f"leaf-{rail}/{port}")
            facts[name].append(heard)
    round = scene(Case(facts, plan=PLAN))
    known = SERIALS if serials is None else serials
    devices = {name: replace(one, serials=known.get(name, ())) for name, one in round.plan.devices.items()}
    causes = evaluate(replace(round, plan=replace(round.plan, devices=devices))).causes
    (found_cause,) = [one for one in causes if one.kind is CauseKind.HOST_SWAP]
    return found_cause


def test_without_serial_numbers_all_remain() -> None:
    found = cause({})
    assert (found.kind, len(found.alternatives), found.moves) == (CauseKind.HOST_SWAP, 2, ())
    assert "serial numbers" in found.to_confirm


def test_each_machine_under_the_others_name_is_a_swap_of_names() -> None:
    found = cause({"gpu-1": ["sn-b"], "gpu-2": ["UUID-A"]})
    assert (found.kind, found.alternatives, found.moves, found.to_confirm) == (CauseKind.HOST_SWAP, (), (), "")
    assert {(one.actual, one.planned) for one in found.renames} == {("gpu-1", "gpu-2"), ("gpu-2", "gpu-1")}
    assert found.summary == "the devices gpu-1 and gpu-2 have each other's names, as their serial numbers show"


def test_right_machines_have_swapped_cables_or_an_older_plan_and_keep_their_names() -> None:
    found = cause({"gpu-1": ["SN-A", "unplanned"], "gpu-2": ["SN-B"]})
    assert (found.kind, found.renames, found.moves) == (CauseKind.HOST_SWAP, (), ())
    cables, plan = found.alternatives
    assert "the plan has gpu-1 and gpu-2 in each other's places" in plan.summary
    assert {str(move.cable) for move in cables.moves} == {
        f"gpu-{host}/nic{rail}" for host in (1, 2) for rail in range(4)
    }
    assert "by their serial numbers the names are right" in found.summary


def test_a_name_that_only_switches_hear_moves_no_cable() -> None:
    """A machine may be the right one under its address, and announce the other's hostname: its cables are right."""
    found = cause({"gpu-1": ["SN-A"], "gpu-2": ["SN-B"]}, hosts_hear=False)
    assert (len(found.alternatives), found.moves) == (2, ())
    assert found.renames


@pytest.mark.parametrize(
    ("reported", "serials"),
    [
        ({"gpu-1": ["SN-B"]}, None),  # the other did not answer
        ({"gpu-1": ["SN-A"], "gpu-2": ["SN-A"]}, None),  # a cloned firmware, or a mistake in the plan
        ({"gpu-1": ["SN-A", "SN-B"], "gpu-2": ["SN-B"]}, None),  # two machines at once
        ({"gpu-1": ["SN-A"], "gpu-2": ["SN-B"]}, {}),  # the plan has none
        ({"gpu-1": ["SAME"], "gpu-2": ["SAME"]}, {"gpu-1": ("SAME",), "gpu-2": ("SAME",)}),  # a placeholder in the plan
        ({"gpu-1": ["SN-C"], "gpu-2": ["SN-B"]}, None),  # a third machine
    ],
)
def test_what_does_not_decide_leaves_all(
    reported: dict[str, Sequence[str]], serials: dict[str, tuple[str, ...]] | None
) -> None:
    found = cause(reported, serials)
    assert (len(found.alternatives), found.moves) == (2, ())
    assert found.renames


def test_serial_numbers_of_a_plan_are_written_as_they_are_read() -> None:
    text = """
hosts: {nodes: "gpu-[1-2]", nics: nic0, serials: ["SN-[01-02]", "uuid-[1-2]"]}
leaves: {nodes: leaf-0, serials: SW1}
host_links: {ports: "swp[1-2]"}
"""
    plan = loads(text, ".yaml")
    wanted = {"gpu-1": ("SN-01", "uuid-1"), "gpu-2": ("SN-02", "uuid-2"), "leaf-0": ("SW1",)}
    for again in (plan, loads(dump_yaml(plan), ".yaml"), loads(dump_csv(plan), ".csv")):
        assert {name: device.serials for name, device in again.devices.items()} == wanted

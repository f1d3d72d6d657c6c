"""Cables of hosts that send LLDP and hear none of it: which finding speaks of them, and how loudly."""

from collections.abc import Mapping, Sequence

import pytest

from tests.small_fabric import AT, rails_only, snapshot_of
from truerail.analysis.round import Round
from truerail.model import CableState, Fact, Finding, Neighbor, NetLink, Reading, Severity, Snapshot
from truerail.rounds import evaluate

HOSTS, RAILS = ("gpu-1", "gpu-2", "gpu-3"), 2
PLAN = rails_only(HOSTS, RAILS)


def heard(port: str, name: str, port_id: str | None, age: float | None = None) -> Neighbor:
    return Neighbor(port, system_name=name, port_id=port_id, port_id_type=port_id and "ifname", age_seconds=age)


def leaf(rail: int, *but: str) -> list[Neighbor]:
    """What a leaf hears, all in its place, without these hosts."""
    return [heard(f"swp{at}", host, f"nic{rail}") for at, host in enumerate(HOSTS, 1) if host not in but]


def up() -> list[NetLink]:
    return [NetLink(f"nic{rail}", operstate="UP", flags=("UP", "LOWER_UP")) for rail in range(RAILS)]


def findings(facts: Mapping[str, Sequence[Fact]], listening: Sequence[str] = ()) -> dict[tuple[str, str], Finding]:
    """Findings by rule and subject. Hosts hear no one; those that are `listening` were asked, and say so."""
    reported: dict[str, Sequence[Fact]] = {host: up() for host in HOSTS}
    reported |= facts
    readings = [*snapshot_of(reported).readings, *(Reading(host, "lldp_host", AT, ()) for host in listening)]
    evaluation = evaluate(Round(PLAN, Snapshot(AT, readings)))
    assert CableState.WRONG not in evaluation.cable_states.values()
    return {(one.rule, one.subject): one for one in evaluation.findings}


@pytest.mark.parametrize("listening", [(), ("gpu-1",)])
def test_a_port_that_does_not_hear_a_host_that_speaks_elsewhere_is_named(listening: Sequence[str]) -> None:
    found = findings({"leaf-0": leaf(0, "gpu-1"), "leaf-1": leaf(1)}, listening)
    reported = found["CAB003", "gpu-1/nic0"]
    assert reported.severity is Severity.WARNING
    assert "leaf-0/swp1 does not see gpu-1/nic0, but gpu-1 is seen elsewhere" in reported.summary
    silent = found.get(("TEL003", "gpu-1"))
    assert (silent is not None) == bool(listening)
    if silent:
        assert silent.severity is Severity.INFO
        assert silent.summary.endswith("known from their other ends, but for 1 that has a finding of its own")


def test_a_host_that_does_not_hear_a_leaf_which_others_hear() -> None:
    hosts = {
        host: [
            *up(),
            *(heard(f"nic{rail}", f"leaf-{rail}", f"swp{at}") for rail in range(RAILS) if (at, rail) != (1, 0)),
        ]
        for at, host in enumerate(HOSTS, 1)
    }
    found = findings({**hosts, "leaf-0": [NetLink(f"swp{at}", operstate="UP") for at in (1, 2, 3)], "leaf-1": leaf(1)})
    assert "gpu-1/nic0 does not see leaf-0/swp1, but leaf-0 is seen" in found["CAB003", "gpu-1/nic0"].summary


def test_a_host_that_nobody_hears_stays_a_warning_of_its_own() -> None:
    found = findings({"leaf-0": leaf(0, "gpu-1"), "leaf-1": leaf(1, "gpu-1")}, HOSTS)
    assert found["TEL003", "gpu-1"].severity is Severity.WARNING
    assert ("CAB003", "gpu-1/nic0") not in found


def test_old_neighbours_on_ports_of_a_host_that_hears_nobody_are_only_noted() -> None:
    old = [heard("swp1", "gpu-2", "nic0"), heard("swp1", "gpu-1", "nic0"), *leaf(0, "gpu-1")]
    found = findings({"leaf-0": old, "leaf-1": leaf(1)}, HOSTS)
    assert {rule for rule, _ in found} == {"CAB005", "TEL003"}
    assert {one.severity for one in found.values()} == {Severity.INFO}


def test_two_cables_with_findings_of_their_own() -> None:
    both = {f"leaf-{rail}": [heard("swp1", "gpu-2", f"nic{rail}"), *leaf(rail)] for rail in range(RAILS)}
    found = findings(both, HOSTS)
    assert found["TEL003", "gpu-1"].summary.endswith("but for 2 that have findings of their own")


def test_an_old_neighbour_by_its_device_alone_beside_the_planned_one_is_only_noted() -> None:
    """The ARM of a BlueField names no port of its host."""
    found = findings(
        {"leaf-0": [heard("swp1", "gpu-1", None), heard("swp1", "gpu-2", None), *leaf(0, "gpu-1")], "leaf-1": leaf(1)}
    )
    assert found["CAB005", "gpu-1/nic0"].severity is Severity.INFO


def test_an_old_neighbour_alone_on_the_port_of_a_silent_host_is_only_noted() -> None:
    found = findings({"leaf-0": [heard("swp1", "gpu-2", "nic0"), *leaf(0, "gpu-1")], "leaf-1": leaf(1, "gpu-1")}, HOSTS)
    assert found["CAB005", "gpu-1/nic0"].severity is Severity.INFO
    assert found["TEL003", "gpu-1"].severity is Severity.WARNING


def test_two_strangers_of_which_neither_is_at_home_stay_a_warning() -> None:
    strangers = [heard("swp1", "gpu-2", "nic0"), heard("swp1", "gpu-3", "nic0")]
    found = findings({"leaf-0": strangers, "leaf-1": leaf(1)}, HOSTS)
    assert found["CAB005", "gpu-1/nic0"].severity is Severity.WARNING


def test_a_host_whose_own_places_hear_it_has_no_nic_left_for_another() -> None:
    """gpu-2 was cloned from gpu-1, and lldpd shows one name for both; their DPUs name no ports."""
    clones = {
        f"leaf-{rail}": [heard(f"swp{at}", "gpu-1", None) for at in (1, 2)] + leaf(rail, "gpu-1", "gpu-2")
        for rail in range(RAILS)
    }
    found = findings(clones, HOSTS)
    assert {subject for rule, subject in found if rule == "CAB005"} == {"gpu-2/nic0", "gpu-2/nic1"}
    assert found["CAB005", "gpu-2/nic0"].severity is Severity.WARNING

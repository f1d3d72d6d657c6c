"""Hosts that send another host's name while no one sends theirs: clones, of which the original is not heard."""

from collections.abc import Mapping, Sequence

import pytest

from tests.small_fabric import AT, rails_only
from truerail.analysis.round import Round
from truerail.model import CableState, Evaluation, Fact, Neighbor, NetLink, Reading, Snapshot
from truerail.rounds import evaluate

HOSTS, RAILS = ("gpu-1", "gpu-2", "gpu-3"), 4
PLAN = rails_only(HOSTS, RAILS)


def mac(host: str, rail: int) -> str:
    return f"b8:3f:d2:00:0{HOSTS.index(host)}:0{rail}"


def evaluated(names: Mapping[str, str], answering: Sequence[str] = HOSTS) -> Evaluation:
    """All cables are right. `names` are what hosts call themselves; who is not there is not heard."""
    reported: dict[str, tuple[Fact, ...]] = {
        host: tuple(
            NetLink(f"nic{rail}", mac=mac(host, rail), operstate="UP", flags=("UP", "LOWER_UP"))
            for rail in range(RAILS)
        )
        for host in answering
    }
    for rail in range(RAILS):
        reported[f"leaf-{rail}"] = tuple(
            Neighbor(f"swp{at}", system_name=names[host], port_id=mac(host, rail), port_id_type="mac")
            for at, host in enumerate(HOSTS, 1)
            if host in names
        )
    kinds = {"leaf": "lldp_host", "gpu": "net_link"}
    readings = [Reading(name, kinds[name.split("-")[0]], AT, facts) for name, facts in reported.items()]
    readings += [Reading(host, "net_link", AT, (), "timed out") for host in HOSTS if host not in answering]
    return evaluate(Round(PLAN, Snapshot(AT, readings)))


def states(found: Evaluation, host: str) -> set[CableState]:
    return {state for port, state in found.cable_states.items() if port.device == host}


@pytest.mark.parametrize("answering", [HOSTS, ("gpu-2", "gpu-3")])
def test_a_clone_of_a_host_that_is_not_heard_is_itself_by_its_macs(answering: Sequence[str]) -> None:
    found = evaluated({"gpu-2": "gpu-1", "gpu-3": "gpu-3"}, answering)
    assert states(found, "gpu-2") == {CableState.RIGHT}
    assert states(found, "gpu-1") == {CableState.UNKNOWN}
    assert not [cause.kind for cause in found.causes if cause.kind == "host-swap" or cause.moves]
    assert "gpu-2 announces itself as gpu-1" in {one.summary for one in found.findings if one.rule == "CAB007"}


def test_swapped_names_stay_an_exchange() -> None:
    found = evaluated({"gpu-1": "gpu-2", "gpu-2": "gpu-1", "gpu-3": "gpu-3"})
    assert [cause.kind for cause in found.causes] == ["host-swap"]


def test_an_exchange_of_which_one_host_does_not_answer_stays_one() -> None:
    found = evaluated({"gpu-1": "gpu-2", "gpu-2": "gpu-1", "gpu-3": "gpu-3"}, ("gpu-2", "gpu-3"))
    assert "host-swap" in [cause.kind for cause in found.causes]

"""Hosts that send another host's name while no one sends theirs: clones, of which the original is not heard."""

from collections.abc import Mapping, Sequence

import pytest

from benchmarks.accuracy.orders import heard
from tests.small_fabric import AT, rails_only, snapshot_of
from truerail.analysis.round import Round
from truerail.model import (
    Cable,
    CableState,
    Device,
    Evaluation,
    Fact,
    Neighbor,
    NetLink,
    Plan,
    Port,
    Reading,
    Role,
    Snapshot,
)
from truerail.rounds import evaluate
from truerail.verify import both_ways

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
    silent = [Reading(host, "net_link", AT, (), "timed out") for host in HOSTS if host not in answering]
    return evaluate(Round(PLAN, Snapshot(AT, [*snapshot_of(reported).readings, *silent])))


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


NICS = {f"gpu-{at}": ("eno1", "eno2") if at % 2 else ("ens1", "ens2") for at in range(1, 7)}
MODELS = Plan(
    {host: Device(host, Role.HOST) for host in NICS}
    | {f"leaf-{rail}": Device(f"leaf-{rail}", Role.LEAF) for rail in (0, 1)},
    tuple(
        Cable(Port(host, nic), Port(f"leaf-{rail}", f"swp{at}"), rail=rail)
        for at, (host, nics) in enumerate(NICS.items(), 1)
        for rail, nic in enumerate(nics)
    ),
)
"""Hosts of two models, whose NICs have other names."""


@pytest.mark.parametrize(
    "answers",
    [
        ("gpu-2/eno1", "gpu-2/eno2", "gpu-1/ens1", "gpu-1/ens2"),
        ("gpu-2/eno2", "gpu-2/eno1", "gpu-1/ens1", "gpu-1/ens2"),  # and two cables of a host are swapped
        ("gpu-2/eno1", "gpu-1/ens2", "gpu-1/ens1", "gpu-2/eno2"),  # and two cables of a leaf
        ("gpu-2/eno2", None, "gpu-1/ens1", "gpu-1/ens2"),  # and one is not plugged in
    ],
)
def test_hosts_of_two_models_show_by_their_nics_that_they_have_each_others_names(answers: Sequence[str | None]) -> None:
    far = {cable.b: cable.a for cable in MODELS.cables[4:]}
    far |= {cable.b: Port(*there.split("/")) for cable, there in zip(MODELS.cables, answers, strict=False) if there}
    found = evaluate(Round(MODELS, heard(MODELS, both_ways(far), "").snapshot))
    (cause,) = [cause for cause in found.causes if cause.kind == "host-swap"]
    assert (cause.subjects, cause.moves) == (("gpu-1", "gpu-2"), ())
    assert "serial numbers" in cause.to_confirm
    assert not [move for cause in found.causes for move in cause.moves]

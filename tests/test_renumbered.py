"""RDMA devices whose numbers are shifted by a card more or less: the NICs are known by their PCI addresses."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.small_fabric import rails_only, snapshot_of
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Fact, Neighbor, NetLink, RdmaLink, Severity, Snapshot
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate

HOSTS = ("gpu-1", "gpu-2", "gpu-3")
RAILS = 4
SHIFTED = (0, 1, 3, 4)
PLAN = rails_only(HOSTS, RAILS, "mlx5_")


def host(numbers: Sequence[int], buses: Sequence[int] = range(RAILS)) -> list[Fact]:
    """What a host with its NICs on these buses reports: the devices' numbers, and where the interfaces are."""
    return [
        *(RdmaLink(f"mlx5_{n}", 1, "ACTIVE", "LINK_UP", f"eth{bus}") for n, bus in zip(numbers, buses, strict=True)),
        *(NetLink(f"eth{bus}", operstate="UP", pci_address=f"0000:{bus + 1}a:00.0") for bus in buses),
    ]


def seen(hosts: dict[str, list[Fact]], cabled: dict[str, Sequence[int]] | None = None) -> Snapshot:
    """A snapshot in which leaf n hears the interface of bus n of each host, or that of the bus `cabled` there."""
    heard = {
        f"leaf-{rail}": [
            Neighbor(f"swp{at}", system_name=name, port_id=f"eth{(cabled or {}).get(name, range(RAILS))[rail]}")
            for at, name in enumerate(HOSTS, 1)
        ]
        for rail in range(RAILS)
    }
    return snapshot_of({**hosts, **heard})


def wrong(found: Evaluation) -> list[str]:
    return sorted(str(port) for port, state in found.cable_states.items() if state is not CableState.RIGHT)


def test_a_shifted_number_is_the_nic_at_the_same_address() -> None:
    found = evaluate(Round(PLAN, seen({"gpu-1": host(range(4)), "gpu-2": host(range(4)), "gpu-3": host(SHIFTED)})))
    assert not wrong(found)
    assert not found.causes
    (reported,) = found.findings
    assert (reported.rule, reported.subject, reported.severity) == ("NIC003", "gpu-3", Severity.INFO)
    assert "mlx5_3 is the planned mlx5_2, mlx5_4 is the planned mlx5_3" in reported.summary


def test_the_number_of_another_card_is_not_the_planned_nic() -> None:
    with_storage = [*host(SHIFTED), RdmaLink("mlx5_2", 1, "DOWN", "DISABLED", "eth9")]
    with_storage.append(NetLink("eth9", operstate="DOWN", flags=("UP", "NO-CARRIER"), pci_address="0000:29:00.0"))
    found = evaluate(Round(PLAN, seen({"gpu-1": host(range(4)), "gpu-2": host(range(4)), "gpu-3": with_storage})))
    assert not wrong(found)
    assert [one.severity for one in found.findings] == [Severity.INFO]


def test_what_the_host_tells_by_number_belongs_to_the_nic_of_that_number() -> None:
    fabric = PLAN
    names = Round(
        fabric, seen({"gpu-1": host(range(4)), "gpu-2": host(range(4)), "gpu-3": host(SHIFTED)})
    ).cabling.identity.names
    ports = names.index.ports
    code = np.array([names.index.devices.find("gpu-3")] * 2)
    reported = names.ports(code, ports.name_codes(["mlx5_3", "mlx5_4"]))
    assert [str(names.index.spell(int(port))) for port in reported] == ["gpu-3/mlx5_2", "gpu-3/mlx5_3"]


def test_two_swapped_cables_of_a_shifted_host_are_named_by_plan() -> None:
    hosts = {"gpu-1": host(range(4)), "gpu-2": host(range(4)), "gpu-3": host(SHIFTED)}
    found = evaluate(Round(PLAN, seen(hosts, {"gpu-3": (0, 2, 1, 3)})))
    assert wrong(found) == ["gpu-3/mlx5_1", "gpu-3/mlx5_2"]


@pytest.mark.parametrize(
    "odd",
    [
        host((1, 0, 2, 3)),  # two numbers are swapped: that may be two cards
        host(SHIFTED, (0, 1, 2, 7)),  # a card in another slot
        [*host(SHIFTED), RdmaLink("mlx5_3", 2, "ACTIVE", "LINK_UP", "eth2")],  # two ports at one address
    ],
    ids=["swapped", "other slot", "one address twice"],
)
def test_other_orders_and_other_addresses_are_not_taken_for_a_shift(odd: list[Fact]) -> None:
    wiring = Round(PLAN, seen({"gpu-1": host(range(4)), "gpu-2": host(range(4)), "gpu-3": odd})).cabling
    assert not wiring.identity.names.renumbered


def test_one_fellow_is_not_enough_to_say_who_is_shifted() -> None:
    wiring = Round(PLAN, seen({"gpu-1": host(range(4)), "gpu-3": host(SHIFTED)})).cabling
    assert not wiring.identity.names.renumbered


def test_cables_that_are_right_by_number_outweigh_addresses() -> None:
    """gpu-3 has a card more at the address of the others' third NIC, and its plan counts it."""
    hosts = {"gpu-1": host(range(4)), "gpu-2": host(range(4)), "gpu-3": host((0, 1, 2, 3, 4), (0, 1, 9, 2, 3))}
    found = evaluate(Round(PLAN, seen(hosts, {"gpu-3": (0, 1, 9, 2)})))
    assert not wrong(found)
    assert not [move for cause in found.causes for move in cause.moves]
    assert not Round(PLAN, seen(hosts, {"gpu-3": (0, 1, 9, 2)})).cabling.identity.names.renumbered


@pytest.mark.parametrize("seed", range(3))
def test_simulated_hosts_of_shifted_numbers_have_no_wrong_cable(seed: int) -> None:
    shape = Shape(hosts=12, rails=8, spines=2, uplinks=4, host_ports="rdma")
    simulation = simulate(
        shape, (Fault(CauseKind.CABLE_SWAP, "across"),), seed=seed, folders="inventory", behaviours=["rdma_renumber"]
    )
    found = evaluate(Round(simulation.plan, simulation.snapshot()))
    assert wrong(found) == sorted(map(str, simulation.truth.wrong))
    assert [cause.kind for cause in found.causes] == [CauseKind.CABLE_SWAP]

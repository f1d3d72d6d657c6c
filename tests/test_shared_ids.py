"""Ids that two devices send: they are no witness of which of the two is meant."""

from collections.abc import Mapping, Sequence

from tests.small_fabric import AT
from truerail.analysis.round import Round
from truerail.model import (
    Cable,
    CableState,
    CauseKind,
    Device,
    Evaluation,
    Neighbor,
    NetLink,
    Plan,
    Port,
    Reading,
    Role,
    Snapshot,
)
from truerail.rounds import evaluate

LEAVES, HOSTS = ("leaf-a", "leaf-b"), ("gpu-1", "gpu-2")
PLAN = Plan(
    {**{host: Device(host) for host in HOSTS}, **{leaf: Device(leaf, Role.LEAF) for leaf in (*LEAVES, "leaf-c")}},
    tuple(
        Cable(Port(host, f"nic{plane}"), Port(leaf, f"swp{at}"), rail=0, plane=plane)
        for at, host in enumerate(HOSTS, 1)
        for plane, leaf in enumerate(LEAVES)
    ),
)
SHARED = "1c:34:da:00:00:01"


def leaf_heard(nic: str, name: str, port: str, chassis: str = SHARED) -> Neighbor:
    return Neighbor(nic, chassis, "mac", name, port, "ifname", None, 120, via="LLDP")


def host_heard(port: str, host: str, nic: str) -> Neighbor:
    return Neighbor(port, f"{host} id", "local", host, nic, "ifname", None, 120, via="LLDP")


def evaluated(heard: Mapping[str, Sequence[Neighbor]], links: Mapping[str, Sequence[NetLink]]) -> Evaluation:
    readings = [
        Reading(device, "lldp_host" if device in HOSTS else "lldp_switch", AT, tuple(facts))
        for device, facts in heard.items()
    ]
    readings += [Reading(device, "net_link", AT, tuple(facts)) for device, facts in links.items()]
    return evaluate(Round(PLAN, Snapshot(AT, readings)))


def states(found: Evaluation) -> dict[str, CableState]:
    return {str(port): state for port, state in found.cable_states.items()}


def up(*names: str) -> list[NetLink]:
    return [NetLink(name, operstate="UP", flags=("UP", "LOWER_UP")) for name in names]


TWO = {
    "gpu-2": [leaf_heard("nic0", "leaf-b", "swp2"), leaf_heard("nic1", "leaf-b", "swp2")],
    "leaf-a": [host_heard("swp2", "gpu-2", "nic0")],
}
"""What is heard of the second host: its lldpd shows one name for both leaves."""


def test_the_other_end_says_which_of_two_switches_with_one_chassis_id_is_meant() -> None:
    """gpu-1's first link is so young that neither end has heard the other; its second one is said to be on leaf-a."""
    heard = {
        **TWO,
        "gpu-1": [leaf_heard("nic1", "leaf-a", "swp1")],
        "leaf-b": [host_heard("swp1", "gpu-1", "nic1"), host_heard("swp2", "gpu-2", "nic1")],
    }
    found = evaluated(heard, {"gpu-1": up("nic0", "nic1"), "leaf-a": up("swp1", "swp2")})
    assert "CAB005" not in {one.rule for one in found.findings}
    assert states(found) == {
        "gpu-1/nic0": CableState.UNKNOWN,
        **dict.fromkeys(("gpu-1/nic1", "gpu-2/nic0", "gpu-2/nic1"), CableState.RIGHT),
    }


def test_cables_of_two_switches_with_one_chassis_id_are_wrong_where_the_other_ends_say_so() -> None:
    heard = {
        **TWO,
        "gpu-1": [leaf_heard("nic0", "leaf-a", "swp1"), leaf_heard("nic1", "leaf-a", "swp1")],
        "leaf-a": [*TWO["leaf-a"], host_heard("swp1", "gpu-1", "nic1")],
        "leaf-b": [host_heard("swp1", "gpu-1", "nic0"), host_heard("swp2", "gpu-2", "nic1")],
    }
    found = evaluated(heard, {})
    (swap,) = (cause for cause in found.causes if "gpu-1/nic0" in cause.subjects)
    assert (swap.kind, swap.moves, swap.undecided) == (CauseKind.CABLE_SWAP, (), True)
    assert {name for name, state in states(found).items() if state is CableState.WRONG} == {"gpu-1/nic0", "gpu-1/nic1"}


def test_where_no_other_end_says_which_of_them_is_meant_a_name_decides_nothing() -> None:
    found = evaluated({**TWO, "gpu-1": [leaf_heard("nic0", "leaf-a", "swp1")], "leaf-a": []}, {})
    assert states(found)["gpu-2/nic0"] is states(found)["gpu-2/nic1"] is CableState.UNKNOWN
    assert not [cause for cause in found.causes if cause.moves]


def clone(*, lit: str, mac: str | None = None) -> Evaluation:
    """gpu-2 sends the name of gpu-1, which does not answer, from its own places. `lit` is the host whose places have
    link, besides gpu-2's own report.
    """
    ports = {"gpu-1": "swp1", "gpu-2": "swp2"}
    heard = {
        leaf: [Neighbor("swp2", "one id for two", "local", "gpu-1", mac or f"nic{plane}", "mac" if mac else "ifname")]
        for plane, leaf in enumerate(LEAVES)
    }
    links = {
        leaf: [
            NetLink(port, operstate="UP" if host in (lit, "gpu-2") else "DOWN", flags=("UP",))
            for host, port in ports.items()
        ]
        for leaf in LEAVES
    }
    return evaluated(heard, {**links, "gpu-2": up("nic0", "nic1")})


def test_a_name_is_in_doubt_where_the_host_of_the_place_has_link_and_the_place_of_the_name_is_dark() -> None:
    found = clone(lit="gpu-2")
    assert states(found)["gpu-2/nic0"] is CableState.UNKNOWN
    assert states(found)["gpu-1/nic0"] is not CableState.WRONG
    assert "host-swap" not in {str(cause.kind) for cause in found.causes}


def test_a_name_counts_where_its_own_place_has_link() -> None:
    found = clone(lit="gpu-1")
    assert states(found)["gpu-1/nic0"] is CableState.WRONG

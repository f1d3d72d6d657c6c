"""What other witnesses than LLDP prove: MAC tables, neighbour tables, BGP, LACP, serial numbers of cables."""

from collections.abc import Mapping, Sequence

import pytest

from tests.metrics_pages import published
from truerail.analysis.cabling import State, Wiring
from truerail.analysis.cabling.named_by import VERIFIED, named_by, verified
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import CableState, CauseKind, Evaluation
from truerail.model.facts import Fact, Neighbor, NetLink, Optic
from truerail.model.witness_facts import AddressEntry, BgpPeer, LagMember, MacEntry
from truerail.outputs.options import Options
from truerail.questions.answer_text import answer_text
from truerail.questions.path import path
from truerail.rounds import evaluate
from truerail.simulator import Fault, Noise, Shape, simulate
from truerail.testing.cases import scene

PLAN = """
    gpu-1/nic0 leaf-0/swp1 rail=0
    gpu-1/nic1 leaf-1/swp1 rail=1
    gpu-2/nic0 leaf-0/swp2 rail=0
    gpu-2/nic1 leaf-1/swp2 rail=1
    leaf-0/swp9 spine-1/swp1
    leaf-1/swp9 spine-1/swp2
"""
MACS = {
    "gpu-1/nic0": "b8:ce:f6:00:01:00",
    "gpu-1/nic1": "b8:ce:f6:00:01:01",
    "gpu-2/nic0": "b8:ce:f6:00:02:00",
    "gpu-2/nic1": "b8:ce:f6:00:02:01",
    "spine-1/swp1": "1c:34:da:00:09:01",
    "spine-1/swp2": "1c:34:da:00:09:02",
}
Facts = Mapping[str, Sequence[Fact]]


def links(*devices: str) -> dict[str, list[Fact]]:
    """The interfaces of these devices, all with link."""
    found: dict[str, list[Fact]] = {device: [] for device in devices}
    for port, mac in MACS.items():
        device, _, name = port.partition("/")
        if device in found:
            found[device].append(NetLink(name, mac=mac, operstate="UP", flags=("UP", "LOWER_UP")))
    return found


def round_of(facts: Facts, plan: str = PLAN) -> Round:
    """A round in which the hosts report their interfaces, and devices these facts."""
    everything: dict[str, list[Fact]] = links("gpu-1", "gpu-2", "spine-1")
    for device, more in facts.items():
        everything.setdefault(device, []).extend(more)
    return scene(Case(everything, plan=plan))


def cabling(facts: Facts, plan: str = PLAN) -> Wiring:
    return round_of(facts, plan).cabling


def seen(wiring: Wiring) -> dict[str, str]:
    """The state of each cable by its lower end."""
    cables = wiring.index.plan.cables
    return {str(cable.a): State(state).name for cable, state in zip(cables, wiring.state.tolist(), strict=True)}


def test_a_planned_nic_may_be_virtual_and_another_virtual_interface_owns_no_mac() -> None:
    mac = MACS["gpu-1/nic0"]
    nics = [NetLink("nic0", mac=mac, kind="veth"), NetLink("docker0", mac="b8:ce:f6:00:09:09", kind="bridge")]
    round = scene(
        Case({"gpu-1": nics, "leaf-0": [MacEntry("swp1", mac), MacEntry("swp2", nics[1].mac or "")]}, plan=PLAN)
    )
    assert seen(round.cabling)["gpu-1/nic0"] == "RIGHT"
    assert seen(round.cabling)["gpu-2/nic0"] == "UNKNOWN"


def mac(port: str, name: str, **more: object) -> MacEntry:
    return MacEntry(port, MACS[name], 100, **more)  # type: ignore[arg-type]


def cable(port: str, serial: str | None, vendor: str | None = "MAKER", part: str = "DAC-2M") -> Optic:
    return Optic(port, vendor=vendor, part=part, serial=serial, medium="cable")


SWAPPED_TABLES: Facts = {
    "leaf-0": [mac("swp1", "gpu-2/nic1"), mac("swp2", "gpu-2/nic0")],
    "leaf-1": [mac("swp1", "gpu-1/nic1"), mac("swp2", "gpu-1/nic0")],
}
SWAPPED_SERIALS: Facts = {
    "gpu-1": [cable("nic0", "SN10001")],
    "gpu-2": [cable("nic1", "SN10002")],
    "leaf-0": [cable("swp1", "SN10002")],
    "leaf-1": [cable("swp2", "SN10001")],
}


def test_mac_tables_judge_cables_where_no_device_runs_lldp() -> None:
    facts = {"leaf-0": [mac("swp1", "gpu-1/nic0"), mac("swp2", "gpu-2/nic0")], "leaf-1": [mac("swp1", "gpu-1/nic1")]}
    wiring = cabling(facts)
    assert seen(wiring) == {
        "gpu-1/nic0": "RIGHT", "gpu-1/nic1": "RIGHT", "gpu-2/nic0": "RIGHT", "gpu-2/nic1": "UNKNOWN",
        "leaf-0/swp9": "UNKNOWN", "leaf-1/swp9": "UNKNOWN",
    }  # fmt: skip
    assert named_by(wiring, 0) == ("MAC table",)
    assert named_by(wiring, 3) == ()
    assert [VERIFIED[level] for level in verified(wiring)[:4]] == ["other sources"] * 3 + ["none"]
    assert wiring.confidence(0) == pytest.approx(0.9)
    (entry,) = [one.fact for one in wiring.evidence(int(wiring.index.a[0])) if isinstance(one.fact, MacEntry)]
    assert entry == mac("swp1", "gpu-1/nic0")


def both(*facts: Facts) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for one in facts:
        for device, more in one.items():
            found.setdefault(device, []).extend(more)
    return found


def evaluated(facts: Facts) -> Evaluation:
    return evaluate(round_of(facts))


@pytest.mark.parametrize(("facts", "words"), [(SWAPPED_TABLES, "MAC table"), (SWAPPED_SERIALS, "cable serial number")])
def test_one_witness_names_a_swap_and_orders_no_move(facts: Facts, words: str) -> None:
    (cause,) = (one for one in evaluated(facts).causes if one.kind is CauseKind.CABLE_SWAP)
    assert set(cause.subjects) == {"gpu-1/nic0", "gpu-2/nic1"}
    assert not cause.moves
    assert cause.action.startswith("Move no cable before it is confirmed. Then: swap the two cables: ")
    assert cause.summary.partition(". ")[0].endswith(f"LLDP does not confirm it, only: {words}")
    assert "confirm before moving: gpu-1/nic0 is in leaf-1/swp2" in cause.to_confirm


def test_two_witnesses_that_agree_order_the_moves() -> None:
    (cause,) = (
        one for one in evaluated(both(SWAPPED_TABLES, SWAPPED_SERIALS)).causes if one.kind is CauseKind.CABLE_SWAP
    )
    assert {(str(move.cable), str(move.source), str(move.target)) for move in cause.moves} == {
        ("gpu-1/nic0", "leaf-1/swp2", "leaf-0/swp1"),
        ("gpu-2/nic1", "leaf-0/swp1", "leaf-1/swp2"),
    }
    assert cause.confidence >= 0.98


def heard(port: str, device: str, far: str) -> Neighbor:
    return Neighbor(port, system_name=device, port_id=far, port_id_type="ifname")


def test_lldp_from_both_ends_is_never_overruled() -> None:
    lldp: Facts = {
        "gpu-1": [heard("nic0", "leaf-0", "swp1"), heard("nic1", "leaf-1", "swp1")],
        "leaf-0": [heard("swp1", "gpu-1", "nic0")],
        "leaf-1": [heard("swp1", "gpu-1", "nic1")],
    }
    plain, more = cabling(lldp), cabling(both(lldp, SWAPPED_TABLES, SWAPPED_SERIALS))
    assert seen(more)["gpu-1/nic0"] == seen(plain)["gpu-1/nic0"] == "RIGHT"
    assert more.confidence(0) == plain.confidence(0) == 0.99
    assert named_by(more, 0) == ("LLDP at both ends",)


def test_lldp_from_one_end_is_confirmed_doubted_or_contradicted() -> None:
    lldp: Facts = {"leaf-0": [heard("swp1", "gpu-1", "nic0")], "leaf-1": [heard("swp1", "gpu-1", "nic1")]}
    agreed = cabling(both(lldp, {"leaf-0": [mac("swp1", "gpu-1/nic0")]}))
    assert (agreed.confidence(0), named_by(agreed, 0)) == (0.99, ("LLDP at one end", "MAC table"))
    assert VERIFIED[verified(agreed)[0]] == "one end"
    doubted = cabling(both(lldp, SWAPPED_TABLES))
    assert (seen(doubted)["gpu-1/nic0"], doubted.confidence(0)) == ("RIGHT", 0.8)
    torn = evaluated(both(lldp, SWAPPED_TABLES, SWAPPED_SERIALS))
    assert torn.cable_states[PORTS["gpu-1/nic0"]] is CableState.UNKNOWN
    (finding,) = (one for one in torn.findings if (one.rule, one.subject) == ("CAB005", "gpu-1/nic0"))
    assert "MAC table names gpu-1/nic0 at leaf-1/swp2" in finding.summary
    assert "cable serial number names leaf-1/swp2 at gpu-1/nic0" in finding.summary


ROW = AddressEntry("swp1", "10.0.0.1", MACS["gpu-1/nic0"])
PORTS = {str(cable.a): cable.a for cable in cabling({}).index.plan.cables}


@pytest.mark.parametrize(
    ("case", "entries"),
    [
        ("an old entry beside no other sign", {"leaf-1": [mac("swp2", "gpu-1/nic0")]}),
        ("two hosts behind one port", {"leaf-0": [mac("swp1", "gpu-1/nic0"), mac("swp1", "gpu-2/nic1")]}),
        ("one MAC on two ports", {"leaf-0": [mac("swp1", "gpu-1/nic0"), mac("swp2", "gpu-1/nic0")]}),
        ("through another switch", {"leaf-0": [mac("swp9", "gpu-1/nic1")]}),
        ("over the peer link", {"leaf-0": [mac("swp1", "gpu-1/nic0", by_peer=True)]}),
        ("configured", {"leaf-0": [mac("swp1", "gpu-1/nic0", kind="static")]}),
        ("a MAC of no host", {"leaf-0": [MacEntry("swp1", "52:54:00:00:00:01")]}),
        ("an ARP row of the switch itself", {"leaf-0": [ROW._replace(state="interface")]}),
        ("an ARP row on a VLAN interface", {"leaf-0": [AddressEntry("vlan10", "10.0.0.1", MACS["gpu-1/nic0"])]}),
        ("a host's ARP table", {"gpu-1": [AddressEntry("nic0", "10.0.0.2", MACS["gpu-2/nic0"])]}),
        ("a BGP session that is down", {"leaf-0": [BgpPeer("swp9", "spine-1", None, "Idle")]}),
        ("a BGP peer of the same tier", {"gpu-1": [BgpPeer("nic0", "gpu-2", None, "Established")]}),
        ("LACP without a partner", {"leaf-0": [LagMember("swp1", "bond1")]}),
    ],
)  # fmt: skip
def test_what_proves_nothing_leaves_cables_unknown(case: str, entries: Facts) -> None:
    assert set(seen(cabling(entries)).values()) == {"UNKNOWN"}, case


def test_an_entry_of_a_port_without_link_is_old() -> None:
    facts = {"leaf-0": [mac("swp1", "gpu-1/nic0"), NetLink("swp1", operstate="DOWN", flags=("UP", "NO-CARRIER"))]}
    assert seen(cabling(facts))["gpu-1/nic0"] == "MISSING"


def test_a_mac_behind_a_subinterface_is_behind_its_port_unless_the_plan_has_that_name() -> None:
    """SR Linux' bridge tables name subinterfaces: `ethernet-1/1.100`."""
    mac = MACS["gpu-1/nic0"]
    found = cabling({"leaf-0": [MacEntry("swp1.100", mac, 10, "dynamic")]})
    assert seen(found)["gpu-1/nic0"] == "RIGHT"
    plan = PLAN.replace("leaf-0/swp2", "leaf-0/swp1.100")
    found = cabling({"leaf-0": [MacEntry("swp1.100", mac, 10, "dynamic")]}, plan)
    assert seen(found)["gpu-1/nic0"] != "RIGHT"


def test_neighbour_tables_and_sessions_of_routed_ports_name_uplinks() -> None:
    nd = {"leaf-0": [AddressEntry("swp9.0", "fe80::1", MACS["spine-1/swp1"], state="reachable")]}
    assert named_by(cabling(nd), 4) == ("neighbour table",)
    behind = {"leaf-0": [AddressEntry("Vlan10", "10.0.0.1", MACS["gpu-1/nic0"], "swp1")]}
    assert named_by(cabling(behind), 0) == ("ARP table",)
    by_mac = {"leaf-1": [BgpPeer("swp9", "spine-1", "fe80::1e34:daff:fe00:902", "Established")]}
    wiring = cabling(by_mac)
    assert (seen(wiring)["leaf-1/swp9"], named_by(wiring, 5)) == ("RIGHT", ("BGP session",))
    wiring = cabling({"leaf-1": [BgpPeer("swp9", "spine-1", "10.0.0.1", "Established")]})
    assert (seen(wiring)["leaf-1/swp9"], wiring.confidence(5)) == ("RIGHT", 0.7)
    assert named_by(wiring, 5) == ("BGP session, the device alone",)
    assert VERIFIED[verified(wiring)[5]] == "device only"
    lacp = {
        "gpu-1": [LagMember("nic0", "bond0", "1c:34:da:00:00:07")],
        "leaf-0": [NetLink("eth0", mac="1c:34:da:00:00:07")],
    }
    assert named_by(cabling(lacp), 0) == ("LACP, the device alone",)


def test_a_device_named_in_another_place_is_a_contradiction_and_no_verdict() -> None:
    torn = evaluated({"leaf-1": [BgpPeer("swp9", "gpu-2", None, "Established")]})
    assert torn.cable_states[PORTS["leaf-1/swp9"]] is CableState.UNKNOWN
    (finding,) = (one for one in torn.findings if one.rule == "CAB005")
    assert "BGP session names gpu-2 at leaf-1/swp9" in finding.summary


def test_the_mac_of_a_bond_names_the_host_alone() -> None:
    shared = "b8:ce:f6:00:01:00"
    bond: Facts = {
        "gpu-1": [
            NetLink("bond0", mac=shared, operstate="UP", kind="bond"),
            NetLink("nic0", mac=shared, operstate="UP", flags=("SLAVE", "LOWER_UP"), master="bond0"),
            NetLink("nic1", mac="b8:ce:f6:00:01:01", operstate="UP", flags=("SLAVE", "LOWER_UP"), master="bond0"),
        ],
        "leaf-1": [MacEntry("swp1", shared, 100)],
    }
    wiring = scene(Case(bond, plan=PLAN)).cabling
    assert (seen(wiring)["gpu-1/nic1"], wiring.confidence(1)) == ("RIGHT", 0.7)
    assert named_by(wiring, 1) == ("MAC table, the device alone",)


def test_a_mac_behind_a_lag_is_that_of_its_only_member_or_of_the_host_behind_all() -> None:
    one = {"leaf-0": [LagMember("swp1", "Po1"), mac("Po1", "gpu-1/nic0")]}
    assert named_by(cabling(one), 0) == ("MAC table",)
    two = {"leaf-0": [LagMember("swp1", "Po1"), LagMember("swp2", "Po1"), mac("Po1", "gpu-1/nic0")]}
    wiring = cabling(two)
    assert named_by(wiring, 0) == ("MAC table, the device alone",)
    assert seen(wiring)["gpu-2/nic0"] == "UNKNOWN"


@pytest.mark.parametrize(
    ("ends", "paired"),
    [
        (("SN10001", "SN10001"), True),
        (("SN10001-A", "SN10001-B"), True),
        (("SN10001-A", "SN10001-A"), False),
        (("SN10001-CH2", "SN10001-CH3"), False),
        (("", ""), False),
        (("0000000000", "0000000000"), False),
        (("ABCDEFG", "ABCDEFG"), False),
        (("SN10001", "SN10002"), False),
    ],
)
def test_serial_numbers_pair_as_the_makers_number_them(ends: tuple[str, str], paired: bool) -> None:
    facts = {"gpu-1": [cable("nic0", ends[0])], "leaf-0": [cable("swp1", ends[1])]}
    assert (seen(cabling(facts))["gpu-1/nic0"] == "RIGHT") is paired


def test_clones_modules_and_two_makers_pair_nothing() -> None:
    clone = {"gpu-1": [cable("nic0", "SN1BATCH"), cable("nic1", "SN1BATCH")], "leaf-0": [cable("swp1", "SN1BATCH")]}
    module = {"gpu-1": [cable("nic0", "SN10001")], "leaf-0": [cable("swp1", "SN10001")._replace(medium="module")]}
    makers = {"gpu-1": [cable("nic0", "SN10001", "ONE")], "leaf-0": [cable("swp1", "SN10001", "OTHER")]}
    strange = {"gpu-1": [cable("nic0", "SN10001")], "gpu-2": [cable("nic1", "SN10001")]}
    for facts in (clone, module, makers, strange):
        assert set(seen(cabling(facts)).values()) == {"UNKNOWN"}


def test_the_legs_of_a_fan_out_cable_belong_to_the_subports_of_its_head() -> None:
    plan = """
        gpu-1/nic0 leaf-0/swp1/1 rail=0
        gpu-2/nic0 leaf-0/swp1/2 rail=0
    """
    head = [cable("swp1/1", "SN10001"), cable("swp1/2", "SN10001")]
    legs = {"gpu-1": [cable("nic0", "SN10001-CH1")], "gpu-2": [cable("nic0", "SN10001-CH2")], "leaf-0": head}
    assert set(seen(cabling(legs, plan)).values()) == {"RIGHT"}
    crossed = {"gpu-1": [cable("nic0", "SN10001-CH2")], "gpu-2": [cable("nic0", "SN10001-CH1")], "leaf-0": head}
    assert set(seen(cabling(crossed, plan)).values()) == {"WRONG"}


def test_a_cage_of_an_inventory_is_its_first_port() -> None:
    plan = "gpu-1/nic0 leaf-0/Ethernet1/1 rail=0"
    facts = {"gpu-1": [cable("nic0", "SN10001")], "leaf-0": [cable("Ethernet1", "SN10001")]}
    assert named_by(cabling(facts, plan), 0) == ("cable serial number",)


def test_a_cable_in_place_without_link_is_no_right_cable() -> None:
    dark = NetLink("swp1", operstate="DOWN", flags=("UP", "NO-CARRIER"))
    facts = {"gpu-1": [cable("nic0", "SN10001")], "leaf-0": [cable("swp1", "SN10001"), dark]}
    assert seen(cabling(facts))["gpu-1/nic0"] == "MISSING"


def test_witnesses_that_exclude_each_other_decide_only_with_two_against_one() -> None:
    serial: Facts = {"gpu-1": [cable("nic0", "SN10001")], "leaf-0": [cable("swp1", "SN10001")]}
    other: Facts = {"leaf-1": [mac("swp2", "gpu-1/nic0")]}
    assert seen(cabling(both(serial, other)))["gpu-1/nic0"] == "UNKNOWN"
    torn = evaluated(both(serial, other))
    assert any((one.rule, one.subject) == ("CAB005", "gpu-1/nic0") for one in torn.findings)
    moved: Facts = {"leaf-0": [mac("swp1", "gpu-1/nic0")], "gpu-2": [cable("nic1", "SN10009")]}
    against = both(
        serial,
        moved,
        {"leaf-0": [AddressEntry("swp1", "10.0.0.1", MACS["gpu-1/nic0"])], "leaf-1": [cable("swp1", "SN10009")]},
    )
    assert seen(cabling(against))["gpu-1/nic0"] == "RIGHT"


def test_lldp_that_is_silent_where_other_witnesses_judge_is_information() -> None:
    tables: Facts = {
        "leaf-0": [mac("swp1", "gpu-1/nic0"), mac("swp2", "gpu-2/nic0")],
        "leaf-1": [mac("swp1", "gpu-1/nic1"), mac("swp2", "gpu-2/nic1")],
    }
    silent = [one for one in evaluated(tables).findings if (one.rule, one.subject) == ("TEL003", "gpu-1")]
    assert [one.severity.value for one in silent] == ["info"]
    assert silent[0].summary.endswith("its cables are known from MAC table")


@pytest.mark.parametrize("platform", ["cumulus", "sonic", "eos", "nxos", "junos"])
def test_swaps_without_lldp_are_found_on_every_platform_and_no_right_cable_moves(platform: str) -> None:
    faults = [Fault(CauseKind.CABLE_SWAP, "one-host"), Fault(CauseKind.CABLE_SWAP, "across")]
    noise = Noise(lldp=0.0, stations=True, serials=True)
    for seed in range(2):
        simulation = simulate(Shape(hosts=12, rails=4, spines=2, platforms=(platform,)), faults, noise, seed)
        evaluation = evaluate(Round(simulation.plan, simulation.snapshot()))
        far, wrong = simulation.world.far, CableState.WRONG
        assert not [
            port
            for port, state in evaluation.cable_states.items()
            if state is wrong and far[port] == simulation.plan.peer_of(port)
        ]
        moves = [move.cable for cause in evaluation.causes for move in cause.moves]
        assert not [port for port in moves if far[port] == simulation.plan.peer_of(port)]
        hosts = [state for port, state in evaluation.cable_states.items() if simulation.world.is_host(port.device)]
        assert sum(state in (CableState.RIGHT, wrong) for state in hosts) >= 0.9 * len(hosts)


def test_a_path_names_what_shows_the_place_of_a_cable_without_lldp() -> None:
    round = round_of({"leaf-0": [MacEntry("swp1", MACS["gpu-1/nic0"]), MacEntry("swp2", MACS["gpu-2/nic0"])]})
    answer = path(published(round.plan, round.snapshot), "gpu-1", "gpu-2", 0)
    first, leaf, last = answer.rails[0].hops
    assert (first.witnesses, leaf.witnesses, last.witnesses) == (("MAC table",), (), ("MAC table",))
    text = answer_text(answer, Options(200))
    assert "gpu-1/nic0 (MAC table) → leaf-0/swp1:swp2 → gpu-2/nic0 (MAC table)" in " ".join(text.split())

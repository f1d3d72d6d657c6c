"""Who is who: the spellings, aliases, MACs and lies of LLDP, each on the smallest fabric that shows it."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.small_fabric import snapshot_of
from truerail.analysis.cabling import DEVICE_ONLY, ONE_END, State, Why, Wiring
from truerail.analysis.round import Round
from truerail.model import Cable, Device, Fact, Neighbor, NetLink, Plan, Port, RdmaLink, Role
from truerail.model.names import port_key


def fabric(*ports: str, leaf_port: str = "swp1", host: str = "gpu-1", **leaf: object) -> Plan:
    """Hosts gpu-1, gpu-2, ... with one port each on leaf-0."""
    devices = {"leaf-0": Device("leaf-0", Role.LEAF, **leaf)}  # type: ignore[arg-type]  # Device's own fields
    devices |= {f"gpu-{i}": Device(host if i == 1 else f"gpu-{i}") for i in range(1, len(ports) + 1)}
    devices = {device.name: device for device in devices.values()}
    names = [host, *(f"gpu-{i}" for i in range(2, len(ports) + 1))]
    cables = tuple(
        Cable(Port(name, port), Port("leaf-0", leaf_port if i == 1 else f"swp{i}"), rail=0)
        for i, (name, port) in enumerate(zip(names, ports, strict=True), 1)
    )
    return Plan(devices, cables)


def evaluated(plan: Plan, facts: dict[str, Sequence[Fact]]) -> Wiring:
    return Round(plan, snapshot_of(facts)).cabling


def heard(port: str, name: str | None, port_id: str, kind: str = "ifname", text: str | None = None) -> Neighbor:
    return Neighbor(port, system_name=name, port_id=port_id, port_id_type=kind, port_description=text)


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        ("leaf-0", "LEAF-0"),
        ("leaf-0", "leaf-0.fabric.example"),
        ("leaf-0", "leaf-0(FDO12345)"),
        ("leaf-0", "switch-17"),
        ("leaf-0", "10.0.0.9"),
    ],
)
def test_a_device_by_any_of_its_names(planned: str, said: str) -> None:
    plan = fabric("nic0", aliases=("switch-17",), address="10.0.0.9")
    wiring = evaluated(plan, {"gpu-1": [heard("nic0", said, "swp1")]})
    assert wiring.state.tolist() == [State.RIGHT]
    assert planned in plan.devices


def test_two_devices_with_one_short_name_are_not_guessed() -> None:
    plan = fabric("nic0", "nic0", host="gpu-1.east")
    plan.devices["gpu-1.west"] = Device("gpu-1.west")  # type: ignore[index]  # a plain dict underneath
    wiring = evaluated(plan, {"leaf-0": [heard("swp1", "gpu-1", "nic0")]})
    assert wiring.state[0] != State.RIGHT


@pytest.mark.parametrize("said", ["Ethernet1/1", "Eth1/1", "Et1/1", "E1/1", "ethernet1/1", "Ethernet 1/1"])
def test_vendor_short_forms_are_one_port(said: str) -> None:
    wiring = evaluated(fabric("nic0", leaf_port="Ethernet1/1"), {"gpu-1": [heard("nic0", "leaf-0", said)]})
    assert wiring.state.tolist() == [State.RIGHT]


def test_a_kernels_eth0_is_not_ethernet0() -> None:
    assert port_key("eth0") != port_key("Ethernet0")
    assert port_key("Eth1/1") == port_key("Ethernet1/1")


def test_long_and_short_names_of_ports_are_one_on_every_switch() -> None:
    pairs = (
        ("Ten-GigabitEthernet1/0/1", "XGE1/0/1"),
        ("Twenty-FiveGigE1/0/1", "WGE1/0/1"),
        ("HundredGigE1/0/1", "HGE1/0/1"),
        ("FourHundredGigE1/0/1", "FHGE1/0/1"),
        ("TFGigabitEthernet 0/1", "TF0/1"),
        ("FourHundredGigabitEthernet 0/1", "FH0/1"),
        ("GigabitEthernet1/0/1", "GE1/0/1"),
        ("XGigabitEthernet0/0/1", "XGE0/0/1"),
        ("FourHundredGigE0/0/0/1", "FH0/0/0/1"),
        ("TwentyFiveGigE0/0/0/1", "TF0/0/0/1"),
        ("ethernet1/1/1:1", "Eth 1/1/1:1"),
    )
    assert [pair for pair in pairs if port_key(pair[0]) != port_key(pair[1])] == []
    assert port_key("HGE1/0/1") != port_key("XGE1/0/1") != port_key("xe-1/0/1")


def test_a_vendor_alias_is_read_from_the_description() -> None:
    plan = fabric("nic0", leaf_port="Ethernet0")
    wiring = evaluated(plan, {"gpu-1": [heard("nic0", "leaf-0", "etp1", "local", "Ethernet0")]})
    assert wiring.state.tolist() == [State.RIGHT]


def test_a_planned_label_in_the_description_does_not_outvote_the_port_id() -> None:
    wiring = evaluated(fabric("nic0", "nic0"), {"gpu-1": [heard("nic0", "leaf-0", "swp2", "ifname", "swp1")]})
    assert wiring.state[0] == State.WRONG


@pytest.mark.parametrize("mac", ["b8:ce:f6:00:00:01", "b8:ce:f6:00:00:11"])
def test_a_host_by_the_mac_of_its_port_or_a_dpus_offset(mac: str) -> None:
    facts = {"gpu-1": [NetLink("nic0", mac="b8:ce:f6:00:00:01")], "leaf-0": [heard("swp1", "gpu-1", mac, "mac")]}
    wiring = evaluated(fabric("nic0"), facts)
    assert wiring.state.tolist() == [State.RIGHT]
    assert wiring.confidence(0) == ONE_END


def test_a_nameless_neighbour_is_known_by_its_mac() -> None:
    facts = {
        "gpu-1": [NetLink("nic0", mac="b8:ce:f6:00:00:01")],
        "leaf-0": [heard("swp1", None, "b8:ce:f6:00:00:01", "mac")],
    }
    assert evaluated(fabric("nic0"), facts).state.tolist() == [State.RIGHT]


def test_the_next_hosts_mac_is_no_witness_against_a_name() -> None:
    facts = {
        "gpu-1": [NetLink("nic0", mac="b8:ce:f6:00:00:01")],
        "leaf-0": [heard("swp2", "gpu-2", "b8:ce:f6:00:00:11", "mac", "nic0")],
    }
    wiring = evaluated(fabric("nic0", "nic0"), facts)
    assert wiring.identity.announces == {}
    assert wiring.state[1] == State.RIGHT


def test_a_mac_that_two_devices_claim_belongs_to_nobody() -> None:
    mac = "02:42:00:00:00:01"
    facts = {
        "gpu-1": [NetLink("nic0", mac=mac)],
        "gpu-2": [NetLink("nic0", mac=mac)],
        "leaf-0": [heard("swp1", None, mac, "mac")],
    }
    assert evaluated(fabric("nic0", "nic0"), facts).state[0] == State.UNKNOWN


def test_a_bond_and_its_member_share_a_mac_and_the_planned_one_is_meant() -> None:
    mac = "b8:ce:f6:00:00:01"
    facts = {
        "gpu-1": [NetLink("bond0", mac=mac, kind="bond"), NetLink("nic0", mac=mac, master="bond0")],
        "leaf-0": [heard("swp1", "gpu-1", mac, "mac")],
    }
    assert evaluated(fabric("nic0"), facts).state.tolist() == [State.RIGHT]


@pytest.mark.parametrize("planned", ["mlx5_3", "0000:1a:00.0", "nic0"])
def test_a_plan_may_name_host_ports_by_device_by_address_or_by_number(planned: str) -> None:
    facts = {
        "gpu-1": [
            RdmaLink("mlx5_3", 1, "ACTIVE", "LINK_UP", "enp26s0f0np0", pci_address="0000:1a:00.0"),
            heard("enp26s0f0np0", "leaf-0", "swp1"),
        ]
    }
    wiring = evaluated(fabric(planned), facts)
    assert wiring.state.tolist() == [State.RIGHT]
    assert str(wiring.index.a_port(0)) == f"gpu-1/{planned}"


def test_what_one_host_calls_its_nics_is_learned_for_one_that_does_not_answer() -> None:
    facts = {
        "gpu-1": [RdmaLink("mlx5_0", 1, "ACTIVE", "LINK_UP", "enp26s0f0np0")],
        "leaf-0": [heard("swp1", "gpu-1", "enp26s0f0np0"), heard("swp2", "gpu-2", "enp26s0f0np0")],
    }
    assert evaluated(fabric("mlx5_0", "mlx5_0"), facts).state.tolist() == [State.RIGHT, State.RIGHT]


def test_a_silent_host_that_its_leaf_hears_is_not_missing() -> None:
    facts = {"gpu-1": [NetLink("nic0", operstate="UP")], "leaf-0": [heard("swp1", "gpu-1", "nic0")]}
    wiring = evaluated(fabric("nic0"), facts)
    assert (wiring.state[0], wiring.confidence(0)) == (State.RIGHT, ONE_END)


def test_a_leaf_named_without_its_port_is_half_an_answer() -> None:
    wiring = evaluated(fabric("nic0"), {"gpu-1": [Neighbor("nic0", system_name="leaf-0")]})
    assert (wiring.state[0], wiring.confidence(0)) == (State.RIGHT, DEVICE_ONLY)


def _two_on_a_port() -> list[Fact]:
    return [heard("swp1", "gpu-1", "nic0"), heard("swp1", "gpu-2", "nic0")]


def test_of_two_neighbours_the_other_end_decides() -> None:
    facts: dict[str, Sequence[Fact]] = {"leaf-0": _two_on_a_port(), "gpu-1": [heard("nic0", "leaf-0", "swp1")]}
    wiring = evaluated(fabric("nic0", "nic0"), facts)
    assert wiring.state[0] == State.RIGHT
    assert wiring.state[1] == State.UNKNOWN


def test_two_neighbours_and_nobody_to_decide_are_ambiguous() -> None:
    wiring = evaluated(fabric("nic0", "nic0"), {"leaf-0": _two_on_a_port()})
    assert wiring.state.tolist() == [State.UNKNOWN, State.UNKNOWN]
    assert set(wiring.why.tolist()) == {Why.AMBIGUOUS}


@pytest.mark.parametrize(
    ("ages", "state"), [((200, 9), State.UNKNOWN), ((9, 200), State.RIGHT), ((9, None), State.UNKNOWN)]
)
def test_of_two_neighbours_the_younger_one_may_be_the_planned_one(
    ages: tuple[int | None, int | None], state: State
) -> None:
    reported = [one._replace(age_seconds=age) for one, age in zip(_two_on_a_port(), ages, strict=True)]  # type: ignore[attr-defined]  # neighbours
    assert evaluated(fabric("nic0", "nic0"), {"leaf-0": reported}).state[0] == state


@pytest.mark.parametrize("name", ["dpu-gpu-1", "gpu-1-bf3", "gpu-1-dpu0.example.com", "BF2-gpu-1"])
def test_a_dpu_alone_on_the_port_is_its_hosts_cable(name: str) -> None:
    wiring = evaluated(
        fabric("nic0", "nic0"), {"leaf-0": [heard("swp1", name, "p0"), heard("swp2", "gpu-9-dpu", "p0")]}
    )
    assert wiring.state[0] == State.RIGHT
    assert wiring.state[1] != State.RIGHT


@pytest.mark.parametrize("text", ["Ethernet0", None])
def test_a_mac_that_all_ports_of_a_switch_send_is_no_port(text: str | None) -> None:
    plan = fabric("nic0", "nic0", leaf_port="Ethernet0")
    mac = "0c:42:a1:00:00:01"
    facts: dict[str, Sequence[Fact]] = {
        "leaf-0": [NetLink("eth0", mac=mac), NetLink("Ethernet0", mac=mac), NetLink("swp2", mac=mac)],
        "gpu-1": [heard("nic0", "leaf-0", mac, "mac", text)],
        "gpu-2": [heard("nic0", "leaf-0", mac, "mac", "swp2")],
    }
    assert evaluated(plan, facts).state.tolist() == [State.RIGHT, State.RIGHT]


def test_a_factory_name_that_two_devices_send_is_none() -> None:
    one, other = (heard("nic0", "sonic", "etp1", "local")._replace(chassis_id=f"0c:42:a1:00:00:0{i}") for i in (1, 2))
    wiring = evaluated(fabric("nic0", "nic0"), {"gpu-1": [one], "gpu-2": [other]})
    assert wiring.state.tolist() == [State.UNKNOWN, State.UNKNOWN]


def test_a_management_address_of_one_device_names_it() -> None:
    plan = fabric("nic0", "nic0", address="10.0.0.9")
    reported = Neighbor("nic0", port_id="swp1", port_id_type="ifname", management_addresses=("10.0.0.9",))
    assert evaluated(plan, {"gpu-1": [reported]}).state[0] == State.RIGHT
    shared = heard("nic0", "leaf-9", "swp1")._replace(management_addresses=("10.0.0.9",))
    assert evaluated(plan, {"gpu-1": [reported], "gpu-2": [shared]}).state[0] == State.UNKNOWN


def test_a_bridge_or_a_dpus_own_system_beside_the_host_does_not_count() -> None:
    facts = {"leaf-0": [heard("swp1", "gpu-1", "nic0"), heard("swp1", "gpu-1-dpu", "p0")]}
    assert evaluated(fabric("nic0"), facts).state.tolist() == [State.RIGHT]


def test_cdp_beside_lldp_is_no_second_neighbour() -> None:
    cdp = Neighbor("swp1", system_name="other", port_id="x", port_id_type="ifname", via="CDPv2")
    assert evaluated(fabric("nic0"), {"leaf-0": [heard("swp1", "gpu-1", "nic0"), cdp]}).state.tolist() == [State.RIGHT]


def test_two_machines_with_one_name_are_distinguished_and_reported() -> None:
    plan = fabric("nic0", "nic0", "nic0", "nic0")
    macs = {f"gpu-{i}": f"b8:ce:f6:00:00:0{i}" for i in (1, 2)}
    facts: dict[str, Sequence[Fact]] = {name: [NetLink("nic0", mac=mac)] for name, mac in macs.items()}
    facts["leaf-0"] = [
        heard("swp1", "gpu-1", macs["gpu-1"], "mac"),
        heard("swp2", "gpu-1", macs["gpu-2"], "mac"),
        heard("swp3", "gpu-1", macs["gpu-2"], "mac"),
    ]
    wiring = evaluated(plan, facts)
    name = wiring.index.devices.find("gpu-1")
    assert [wiring.index.devices.names[d] for d in wiring.identity.duplicates[name]] == ["gpu-1", "gpu-2"]


def test_a_name_that_no_plan_knows_is_traced_to_its_machine() -> None:
    facts = {"leaf-0": [heard("swp1", "gpu-1", "nic0")], "gpu-1": [heard("nic0", "sw-serial-77", "swp1")]}
    wiring = evaluated(fabric("nic0"), facts)
    assert wiring.state.tolist() == [State.RIGHT]
    assert wiring.confidence(0) > ONE_END


def test_dead_ports_say_so_and_unpowered_hosts_are_pending() -> None:
    plan = fabric("nic0", "nic0", "nic0")
    facts: dict[str, Sequence[Fact]] = {
        "gpu-1": [NetLink("nic0", operstate="DOWN", flags=("UP", "NO-CARRIER"))],
        "gpu-3": [NetLink("nic0", operstate="DOWN", flags=())],
        "leaf-0": [
            NetLink("swp1", operstate="DOWN", flags=("UP", "NO-CARRIER")),
            NetLink("swp2", operstate="DOWN", flags=("UP", "NO-CARRIER")),
            NetLink("swp3", operstate="DOWN", flags=("BROADCAST",)),
        ],
    }
    wiring = evaluated(plan, facts)
    assert wiring.why.tolist() == [Why.LINK_DOWN, Why.PENDING, Why.DISABLED]
    assert wiring.state.tolist() == [State.MISSING, State.UNKNOWN, State.MISSING]


def test_states_add_up_and_nothing_seen_is_unknown() -> None:
    wiring = evaluated(fabric("nic0", "nic0"), {})
    assert np.bincount(wiring.state, minlength=4).tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize(("flags", "state"), [(("UP", "NO-CARRIER"), State.UNKNOWN), (("UP", "LOWER_UP"), State.RIGHT)])
def test_what_a_port_without_carrier_lists_is_of_the_past(flags: tuple[str, ...], state: State) -> None:
    """The host is down; a frame of its last minutes does not say where its cable is now."""
    facts: dict[str, Sequence[Fact]] = {
        "leaf-0": [
            *(NetLink(f"swp{port}", operstate="DOWN", flags=("UP", "NO-CARRIER")) for port in (2, 3)),
            NetLink("swp1", flags=flags),
            heard("swp1", "gpu-1", "nic0")._replace(age_seconds=4598, ttl_seconds=120),
        ]
    }
    plan = fabric("nic0", "nic0")
    second = Cable(Port("gpu-1", "nic1"), Port("leaf-0", "swp3"), rail=0)
    wiring = evaluated(Plan(plan.devices, (*plan.cables, second)), facts)
    assert wiring.state[0] == state
    assert (wiring.why[0] == Why.PENDING) == (state == State.UNKNOWN)


def test_an_old_entry_of_a_dark_port_counts_where_the_other_end_has_link() -> None:
    facts: dict[str, Sequence[Fact]] = {
        "leaf-0": [NetLink("swp1", flags=("UP", "NO-CARRIER")), heard("swp1", "gpu-1", "nic0")],
        "gpu-1": [NetLink("nic0", flags=("UP", "LOWER_UP"))],
    }
    assert evaluated(fabric("nic0"), facts).state.tolist() == [State.RIGHT]

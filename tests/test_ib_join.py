"""What a discovery of an InfiniBand fabric says of a plan's cables: names, GUIDs, ports, and what is not there."""

from dataclasses import replace
from typing import Any

import pytest

from tests.ib_fabric import answer, discovery, guid, hca, joined, link, places, plan, row, switch
from truerail.analysis.cabling import DEVICE_ONLY, ONE_END, State, Why
from truerail.model import Device, LinkSpeed, NetLink, Plan, RdmaLink, Reading, Role

ONE = plan("gpu-1/mlx5_0 leaf-0/1")
TWO = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-2/mlx5_0 leaf-0/2")
SWAPPED = (link(hca(1), switch(0, 2)), link(hca(2), switch(0, 1)))
RIGHT = (link(hca(1), switch(0, 1)), link(hca(2), switch(0, 2)))


def active(device: str = "mlx5_0", number: int | None = None, **more: Any) -> RdmaLink:
    reported = RdmaLink(device, 1, "ACTIVE", "LINK_UP", link_layer="InfiniBand", guid=guid(number) if number else None)
    return reported._replace(**more)


def test_both_ends_of_one_discovery_are_one_witness() -> None:
    seen = joined(TWO, discovery(*RIGHT))
    assert seen.state.tolist() == [State.RIGHT, State.RIGHT]
    assert seen.confidence(0) == ONE_END
    assert len(seen.identity.claims.u) == 2


def test_a_link_that_only_one_row_tells_is_a_link() -> None:
    assert joined(ONE, discovery([row(hca(1), switch(0, 1))])).state.tolist() == [State.RIGHT]


def test_swapped_cables_are_seen_where_they_are() -> None:
    seen = joined(TWO, discovery(*SWAPPED))
    assert places(seen) == ["leaf-0/2", "leaf-0/1"]
    assert seen.state.tolist() == [State.WRONG, State.WRONG]


@pytest.mark.parametrize("name", ["LEAF-0", "leaf-0.dc1.example.net", "MF0;leaf-0:MQM9700/U1", "MF0;Leaf-0:MQM8700/U1"])
def test_a_switch_is_known_by_any_spelling_of_its_name(name: str) -> None:
    assert joined(ONE, discovery(link(hca(1), switch(0, 1, name)))).state.tolist() == [State.RIGHT]


@pytest.mark.parametrize("port", ["33", "P33", "1/33", "1/17/1", "IB1/17/1"])
def test_a_switch_port_is_known_however_the_plan_writes_it(port: str) -> None:
    assert joined(plan(f"gpu-1/mlx5_0 leaf-0/{port}"), discovery(link(hca(1), switch(0, 33)))).state.tolist() == [
        State.RIGHT
    ]


def test_a_switch_port_is_known_by_the_label_that_the_fabric_tells() -> None:
    labelled = row(hca(1), switch(0, 77), label="sw20p1")
    assert joined(plan("gpu-1/mlx5_0 leaf-0/sw20p1"), discovery([labelled])).state.tolist() == [State.RIGHT]
    both = (row(switch(0, 77), hca(1)), labelled)
    assert joined(plan("gpu-1/mlx5_0 leaf-0/sw20p1"), discovery(both)).state.tolist() == [State.RIGHT]


def test_a_free_port_is_named_as_the_plan_names_the_others() -> None:
    seen = joined(plan("gpu-1/mlx5_0 leaf-0/1/17/1"), discovery(link(hca(1), switch(0, 34))))
    assert places(seen) == ["leaf-0/1/17/2"]


def test_a_switch_without_a_name_is_known_by_its_guid() -> None:
    nameless = "Quantum-2 Mellanox Technologies"
    by_id = plan(
        "gpu-1/mlx5_0 leaf-0/1\ngpu-1/mlx5_1 leaf-1/1",
        a=Device("leaf-0", Role.LEAF, chassis_ids=(guid(0xF0000).upper().replace("0X", "S-"),)),
        b=Device("leaf-1", Role.LEAF, chassis_ids=(guid(0xF0001),)),
    )
    links = (link(hca(1), switch(0, 1, nameless)), link(hca(1, 1), switch(1, 1, nameless)))
    assert joined(by_id, discovery(*links)).state.tolist() == [State.RIGHT, State.RIGHT]
    named = plan(f"gpu-1/mlx5_0 {guid(0xF0000)}/1\ngpu-1/mlx5_1 {guid(0xF0001)}/1")
    assert joined(named, discovery(*links)).state.tolist() == [State.RIGHT, State.RIGHT]
    other = plan("gpu-1/mlx5_0 leaf-0/1", a=Device("leaf-0", Role.LEAF, chassis_ids=(guid(0xF0009),)))
    assert places(joined(other, discovery(*links))) == [f"{guid(0xF0000)}/1"]


def test_a_switch_without_a_name_may_be_any_that_the_plan_gives_by_name_alone() -> None:
    """One cable is too few to say where it stands."""
    nameless = "Quantum-2 Mellanox Technologies"
    seen = joined(plan("gpu-1/mlx5_0 leaf-0/1"), discovery(link(hca(1), switch(0, 1, nameless))))
    assert seen.state.tolist() == [State.UNKNOWN]
    assert [seen.index.devices.names[code] for code in seen.identity.unplaced] == [guid(0xF0000)]


def test_a_switch_without_a_name_is_the_planned_one_in_whose_places_it_stands() -> None:
    nameless = "Quantum-2 Mellanox Technologies"
    planned = plan(
        "gpu-1/mlx5_0 leaf-0/1\ngpu-2/mlx5_0 leaf-0/2\ngpu-3/mlx5_0 leaf-0/3\ngpu-4/mlx5_0 leaf-0/4\n"
        "gpu-1/mlx5_1 leaf-1/1\ngpu-2/mlx5_1 leaf-1/2\ngpu-3/mlx5_1 leaf-1/3\ngpu-4/mlx5_1 leaf-1/4"
    )
    first = [link(hca(n), switch(0, n, nameless)) for n in (1, 2, 3)]
    second = [link(hca(n, 1), switch(1, n, nameless)) for n in (1, 2, 3)]
    crossed = [link(hca(4), switch(1, 4, nameless)), link(hca(4, 1), switch(0, 4, nameless))]
    seen = joined(planned, discovery(*first, *second, *crossed))
    assert seen.identity.unplaced == frozenset()
    assert [seen.state[n] for n in (0, 1, 2, 4, 5, 6)] == [State.RIGHT] * 6
    assert [places(seen)[n] for n in (3, 7)] == ["leaf-1/4", "leaf-0/4"]
    half = joined(planned, discovery(*first[:2], *second[:2], link(hca(3), switch(1, 3, nameless)), *crossed))
    assert {State(state) for state in half.state} == {State.UNKNOWN}


def test_chips_of_one_planned_box_are_that_box_and_their_numbers_are_no_ports_of_it() -> None:
    """Each chip numbers its ports from 1: only a label, or the chip beside the number, names a port of the box."""
    first, second = "MF0;leaf-0:Q3400/U1", "MF0;leaf-0:Q3400/U2"
    links = (link(hca(1), switch(0, 1, first)), link(hca(2), switch(1, 1, second)))
    seen = joined(TWO, discovery(*links))
    assert (seen.state.tolist(), seen.identity.duplicates) == ([State.RIGHT, State.RIGHT], {})
    assert places(seen) == [None, None]
    chips = joined(plan("gpu-1/mlx5_0 leaf-0/U1/1\ngpu-2/mlx5_0 leaf-0/U1/2"), discovery(*links))
    assert places(chips)[0] == "leaf-0/U1/1"


def test_several_switches_with_one_name_that_no_plan_has_stay_apart() -> None:
    links = (link(hca(1), switch(0, 1, "sw")), link(hca(2), switch(1, 1, "sw")))
    seen = joined(TWO, discovery(*links))
    assert seen.state.tolist() == [State.UNKNOWN, State.UNKNOWN]
    assert {seen.index.devices.names[code] for code in seen.identity.unplaced} == {guid(0xF0000), guid(0xF0001)}


def test_two_switches_with_one_planned_name_are_reported_and_not_believed() -> None:
    seen = joined(TWO, discovery(link(hca(1), switch(0, 1)), link(hca(2), switch(1, 1, "leaf-0"))))
    assert [seen.index.devices.names[code] for code in seen.identity.duplicates] == ["leaf-0"]
    assert seen.why.tolist() == [Why.AMBIGUOUS, Why.AMBIGUOUS]


def test_the_plans_guids_tell_two_switches_with_one_name_apart() -> None:
    known = replace(TWO, devices={**TWO.devices, "leaf-0": Device("leaf-0", Role.LEAF, chassis_ids=(guid(0xF0000),))})
    known = replace(
        known, devices={**known.devices, "leaf-1": Device("leaf-1", Role.LEAF, chassis_ids=(guid(0xF0001),))}
    )
    seen = joined(known, discovery(*RIGHT, link(hca(3), switch(1, 1, "leaf-0"))))
    assert [seen.index.devices.names[code] for code in seen.identity.duplicates] == ["leaf-0"]
    assert seen.state.tolist() == [State.RIGHT, State.RIGHT]


def test_labels_swapped_between_switches_are_found_out_by_their_guids() -> None:
    planned = plan(
        "gpu-1/mlx5_0 leaf-0/1\ngpu-2/mlx5_0 leaf-0/2\ngpu-1/mlx5_1 leaf-1/1\ngpu-2/mlx5_1 leaf-1/2",
        a=Device("leaf-0", Role.LEAF, chassis_ids=(guid(0xF0000),)),
        b=Device("leaf-1", Role.LEAF, chassis_ids=(guid(0xF0001),)),
    )
    links = [link(hca(h, d), switch(d, h, f"leaf-{1 - d}")) for h in (1, 2) for d in (0, 1)]
    seen = joined(planned, discovery(*links))
    names = seen.index.devices.names
    assert {names[a]: names[b] for a, b in seen.identity.announces.items()} == {"leaf-0": "leaf-1", "leaf-1": "leaf-0"}


@pytest.mark.parametrize("port", ["ibp24s0", "0000:18:00.0", "nic0"])
def test_a_host_port_is_known_by_what_the_host_itself_calls_it(port: str) -> None:
    mac = "00:00:10:49:fe:80:00:00:00:00:00:00:" + ":".join(guid(0x100)[2:][i : i + 2] for i in range(0, 16, 2))
    seen = joined(
        plan(f"gpu-1/{port} leaf-0/1\ngpu-2/{port} leaf-0/2"),
        discovery(*RIGHT),
        answer("gpu-1", active(number=0x100, pci_address="0000:18:00.0")),
        answer("gpu-1", NetLink("ibp24s0", mac=mac, operstate="DOWN", flags=("BROADCAST", "MULTICAST"))),
    )
    assert seen.state.tolist() == [State.RIGHT, State.RIGHT]  # gpu-2 is named as gpu-1 is
    assert not seen.states.down(seen.index.a).any()  # an IPoIB interface that no one uses
    assert not seen.states.disabled(seen.index.a).any()


@pytest.mark.parametrize("ports", [("nic0", "nic1"), ("HCA-1", "HCA-2"), ("1", "2")])
def test_ordinals_follow_the_names_of_the_whole_fabric(ports: tuple[str, str]) -> None:
    planned = plan(
        f"gpu-1/{ports[0]} leaf-0/1\ngpu-1/{ports[1]} leaf-0/2\ngpu-2/{ports[0]} leaf-0/3\ngpu-2/{ports[1]} leaf-0/4"
    )
    links = (link(hca(1, 3), switch(0, 1)), link(hca(1, 10), switch(0, 2)), link(hca(2, 10), switch(0, 4)))
    seen = joined(planned, discovery(*links))
    assert seen.state.tolist() == [State.RIGHT, State.RIGHT, State.MISSING, State.RIGHT]


def test_a_host_whose_adapter_cannot_be_named_is_still_known() -> None:
    seen = joined(plan("gpu-1/ibp24s0 leaf-0/1"), discovery(link(hca(1), switch(0, 1))))
    assert seen.state.tolist() == [State.RIGHT]
    assert seen.confidence(0) == DEVICE_ONLY
    bare = joined(ONE, discovery(link(hca(1, port=guid(0x100)), switch(0, 1))))
    assert bare.confidence(0) == DEVICE_ONLY


@pytest.mark.parametrize("end", [hca(1, port=guid(0x100)), hca(1, name=guid(0x100), port="1")])
def test_a_description_without_device_or_host_is_known_by_the_guid(end: tuple[str, str, str]) -> None:
    seen = joined(ONE, discovery(link(end, switch(0, 1))), answer("gpu-1", active(number=0x100)))
    assert (seen.state.tolist(), seen.confidence(0)) == ([State.RIGHT], ONE_END)


def test_the_second_port_of_an_adapter_is_its_own_port() -> None:
    two = (active(number=0x100, netdev="ib0"), active(number=0x100, port=2, netdev="ib1"))
    links = (link(hca(1), switch(0, 1)), link((guid(0x100), "gpu-1", "mlx5_0/2"), switch(0, 2)))
    seen = joined(plan("gpu-1/ib0 leaf-0/1\ngpu-1/ib1 leaf-0/2"), discovery(*links), answer("gpu-1", *two))
    assert seen.state.tolist() == [State.RIGHT, State.RIGHT]


def test_hosts_that_bear_each_others_names_are_found_out_by_their_guids() -> None:
    planned = plan("\n".join(f"gpu-{h}/mlx5_{d} leaf-{d}/{h}" for h in (1, 2) for d in (0, 1)))
    links = [link(hca(h, d, name=f"gpu-{3 - h}"), switch(d, h)) for h in (1, 2) for d in (0, 1)]
    own = [answer(f"gpu-{h}", *(active(f"mlx5_{d}", h << 8 | d) for d in (0, 1))) for h in (1, 2)]
    seen = joined(planned, discovery(*links), *own)
    names = seen.index.devices.names
    assert {names[a]: names[b] for a, b in seen.identity.announces.items()} == {"gpu-1": "gpu-2", "gpu-2": "gpu-1"}


def test_a_port_that_a_whole_discovery_does_not_have_is_without_link() -> None:
    seen = joined(TWO, discovery(RIGHT[1]), answer("gpu-1", active(state="DOWN", physical_state="POLLING")))
    assert (seen.state.tolist(), seen.why.tolist()[0]) == ([State.MISSING, State.RIGHT], Why.LINK_DOWN)
    assert joined(TWO, discovery(RIGHT[1])).state.tolist() == [State.MISSING, State.RIGHT]


def test_a_host_that_no_discovery_met_may_be_without_power() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-1/mlx5_1 leaf-0/3\ngpu-2/mlx5_0 leaf-0/2")
    assert joined(planned, discovery(RIGHT[1], by="gpu-2")).why.tolist() == [Why.PENDING, Why.PENDING, Why.SEEN]


def test_an_uplink_that_no_discovery_has_is_without_link_and_that_of_one_witness() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\nleaf-0/2 spine-1/1\nleaf-0/3 spine-1/2")
    seen = joined(planned, discovery(RIGHT[0], link(switch(0, 2), (guid(0xFFFFF), "spine-1", "1"))))
    assert seen.state.tolist() == [State.RIGHT, State.RIGHT, State.MISSING]


def test_without_a_discovery_nothing_is_known() -> None:
    seen = joined(TWO, answer("gpu-1", active()))
    assert seen.state.tolist() == [State.UNKNOWN, State.UNKNOWN]
    assert seen.met == frozenset()


def test_a_switch_that_no_discovery_met_is_not_evaluated() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-1/mlx5_1 leaf-1/1")
    assert joined(planned, discovery(RIGHT[0])).state.tolist() == [State.RIGHT, State.UNKNOWN]


def test_an_adapter_under_another_name_than_the_plans_is_not_missing() -> None:
    planned = plan("gpu-1/ibp24s0 leaf-0/1\ngpu-1/ibp64s0 leaf-0/2")
    assert joined(planned, answer("gpu-1", active(), active("mlx5_1"))).state.tolist() == [State.UNKNOWN] * 2
    reported = answer("gpu-1", active(netdev="ibp24s0"))
    assert joined(planned, reported).why.tolist()[1] == Why.NIC_ABSENT


def test_of_two_discoveries_the_newer_one_counts_for_what_it_met() -> None:
    older, newer = discovery(*SWAPPED, by="gpu-1", age_seconds=600), discovery(*RIGHT, by="gpu-2")
    for readings in ((older, newer), (newer, older)):
        assert joined(TWO, *readings).state.tolist() == [State.RIGHT, State.RIGHT]


def test_discoveries_of_two_fabrics_are_put_together() -> None:
    planned = plan("gpu-1/mlx5_0 leaf-0/1\ngpu-1/mlx5_1 leaf-1/1")
    rail_1 = discovery(link(hca(1, 1), switch(1, 1)), by="gpu-2", age_seconds=60)
    assert joined(planned, discovery(RIGHT[0]), rail_1).state.tolist() == [State.RIGHT, State.RIGHT]


def test_whom_a_discovery_met_counts_as_read() -> None:
    seen = joined(TWO, discovery(*RIGHT))
    codes = [seen.index.devices.find(name) for name in ("gpu-1", "gpu-2", "leaf-0")]
    assert seen.read[codes].all()
    assert seen.listened[codes].all()
    assert {*codes} <= seen.met


def test_speeds_that_a_discovery_tells_are_those_of_the_links_ends() -> None:
    speeds = (LinkSpeed("1", 200.0, "leaf-0", guid(0xF0000)), LinkSpeed("mlx5_0", 200.0, "gpu-1", guid(0x100)))
    seen = joined(TWO, discovery(*RIGHT, speeds=speeds, by="gpu-2"))
    assert seen.states.speed_gbps[[seen.index.a[0], seen.index.b[0]]].tolist() == [200.0, 200.0]
    assert str(seen.index.ports.port(len(seen.index.ports) - 1)) == "leaf-0/2"  # and no port of gpu-2 called 1


def test_an_adapter_beside_the_plans_is_no_cable_of_it() -> None:
    seen = joined(ONE, discovery(*RIGHT, link(hca(1, 9), switch(0, 9))))
    assert seen.state.tolist() == [State.RIGHT]


def test_rows_that_name_no_node_are_passed_over() -> None:
    empty = row(hca(1), switch(0, 1))._replace(chassis_id=None, system_name=None)
    assert joined(ONE, discovery([empty])).identity.discovery is None
    assert joined(ONE, discovery(RIGHT[0], [row(hca(2), ("", "leaf-0", ""))])).state.tolist() == [State.RIGHT]


def test_a_discovery_that_failed_tells_nothing() -> None:
    assert joined(Plan({}, ()), Reading("gpu-1", "ib_fabric", ONE_AT, error="no")).identity.discovery is None


ONE_AT = discovery().at

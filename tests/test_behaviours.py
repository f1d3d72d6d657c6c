"""The simulated devices behave as recorded ones do, and whatever they do, no right cable is moved.

What is rendered is compared with recordings: every key of it stands in the recording, and the words of ids and their
kinds are the same. Renderers share no table with the parsers.
"""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from benchmarks.behaviours.drawn_behaviours import drawn
from benchmarks.behaviours.measure import evaluated, fabric, plant, shape_of, written
from benchmarks.behaviours.scoring import behaviour_score
from tests.draws import draws
from truerail.model import CableState, CauseKind, Port, Status
from truerail.simulator import Fault, Shape, Simulation, simulate
from truerail.simulator.behaviours import CATALOGUE, Behaviours
from truerail.simulator.platforms import platforms, sonic, switch_platforms

ROOT = Path(__file__).parents[1]
JUNOS_LLDP = "show lldp neighbors detail | display json"
RECORDINGS = ROOT / "tests" / "recordings"
PARSERS = (
    "collector",
    "rules",
    "truerail.model.names",
    "truerail.analysis.cabling",
    "truerail.model.index",
    "truerail.plans",
)
AS_PLAIN = {
    "age_semantics",
    "flush_on_down",
    "host_alias=none",
    "sonic_alias=etp",
    "junos_portid=ifindex",
    "ib_sharp",
    "ib_guid_equal",
    "ib_desc=host_dev",
    "sonic_speed_configured",
    "rdma_down=mlx5",
    "down_speed=zero",
    "topo_cx8",
    "ib_down",
    "eos_word",
    "dpu_offset=none",
}
"""What a simulated device does anyhow: it is named so that the page has its row."""


def answers(*flags: str, platform: str = "cumulus", faults: int = 0, **shape: Any) -> dict[str, dict[str, str]]:
    """What the devices of a small fabric answer, by device."""
    return dict(simulated(*flags, platform=platform, faults=faults, **shape).answers())


def simulated(*flags: str, platform: str = "cumulus", faults: int = 0, **shape: Any) -> Simulation:
    of_shape = Shape(hosts=4, rails=4, spines=2, uplinks=4, platforms=(platform,), **shape)
    return simulate(of_shape, faults, seed=1, folders="inventory", behaviours=flags)


def recorded(collector: str, name: str) -> str:
    """The answer of a recording, as it was printed."""
    return (RECORDINGS / collector / name / "answer.txt").read_text(encoding="utf-8")


def keys(value: object) -> set[str]:
    """Every key at any depth, those that are names of ports or devices left out."""
    if isinstance(value, dict):
        own = {key for key in value if not re.search(r"[0-9]", key)}
        return own.union(*map(keys, value.values()))
    if isinstance(value, list):
        return set().union(*map(keys, value))
    return set()


def test_the_renderers_share_nothing_with_the_parsers() -> None:
    found = [
        f"{path.relative_to(ROOT)} imports {module}"
        for room in ("platforms", "behaviours")
        for path in (ROOT / "truerail" / "simulator" / room).rglob("*.py")
        for module in imported(path)
        if module.startswith(PARSERS)
    ]
    assert found == []


def test_a_platform_is_one_file_or_package_and_nothing_else_registers() -> None:
    room = ROOT / "truerail" / "simulator" / "platforms"
    files = {path.stem for path in room.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert set(platforms()) == {name for name in files if not name.startswith("_")}
    for name in switch_platforms():
        of_switch = simulate(Shape(hosts=2, rails=1, spines=0, platforms=(name,)))
        assert all(text for _, found in of_switch.answers() for text in found.values())


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _planted(shape: Shape, fault: str, flags: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """The answers without the behaviour, which many behaviours share."""
    return dict(plant(shape, fault, 1, flags).answers())


@pytest.mark.parametrize("flag", sorted(set(written()) - AS_PLAIN))
def test_every_behaviour_shows_in_the_answers(flag: str) -> None:
    behaviour = CATALOGUE[flag.partition("=")[0]]
    shape = shape_of((behaviour,))
    plain, implied = (_planted(shape, fault, behaviour.implies) for fault in ("swap", "none"))
    assert _differs(fabric((flag,), "swap", 1), plain)
    if flag != "swap_two_neighbors":  # nothing was swapped before
        assert _differs(fabric((flag,), "none", 1), implied)


def _differs(simulation: Simulation, answers: dict[str, dict[str, str]]) -> bool:
    """Whether a device answers otherwise; those after the first one that does are not rendered."""
    return any(one != other for one, other in zip_longest(simulation.answers(), answers.items()))


@pytest.mark.parametrize("flag", sorted(written()))
def test_no_right_cable_is_moved_whatever_devices_do(flag: str) -> None:
    for fault in ("swap", "none")[: draws(1, 2)]:  # beside a swap the other cables are right as well
        simulation = fabric((flag,), fault, 3)
        score = behaviour_score(simulation, evaluated(simulation))
        assert (score.right_moved, score.unread) == (0, 0), score.problems
        assert score.cables_missed == 0, score.problems


def test_sonic_aliases_are_those_of_the_vendors_port_configurations() -> None:
    schemes = CATALOGUE["sonic_alias"].values
    names = {scheme: sonic.alias(scheme, 33) for scheme in schemes}
    assert names == {
        "etp": "etp33",
        "ethn_n": "Eth1/33",
        "gige": "hundredGigE1/33",
        "number": "33",
        "ethernet_n": "Ethernet33",
        "ethernet_n_1": "Ethernet33/1",
        "eth_port": "Eth33(Port33)",
        "centec": "eth-0-33",
    }
    assert [sonic.alias("", number, cage_ports=2) for number in (1, 2, 3)] == ["etp1a", "etp1b", "etp2a"]
    assert [sonic.alias("", number, cage_ports=4) for number in (4, 5)] == ["etp1d", "etp2a"]
    assert [sonic.alias("", number, cage_ports=8) for number in (8, 9)] == ["etp1h", "etp2a"]
    assert [sonic.alias("ethernet_n", number, cage_ports=4) for number in (2, 5)] == ["Ethernet1/3", "Ethernet2/1"]
    assert sonic.alias("ethn_n", 6, cage_ports=4) == "Eth1/2/2"


@pytest.mark.parametrize(("mode", "ports"), [("4x200G", ["0", "2", "4", "6", "8"]), ("8x100G", list("01234"))])
def test_sub_ports_of_a_cage_have_the_lanes_that_are_left(mode: str, ports: list[str]) -> None:
    text = answers(f"sonic_split={mode}", platform="sonic")["leaf-0"]["show interfaces status"]
    rows = [line.split() for line in text.splitlines()[2:7]]
    assert [row[0] for row in rows] == [f"Ethernet{number}" for number in ports]
    assert {len(row[1].split(",")) for row in rows} == {8 // int(mode[0])}
    assert {row[2] for row in rows} == {mode[2:]}


def test_a_stack_has_the_ports_of_its_members_behind_one_chassis() -> None:
    found = answers("stack", platform="junos")["gpu-001"]["lldpctl -f json0"]
    heard = json.loads(found)["lldp"][0]["interface"]
    assert {one["port"][0]["descr"][0]["value"] for one in heard} == {"et-0/0/0"}
    heard = json.loads(answers("stack", platform="junos")["leaf-0"][JUNOS_LLDP])["lldp-neighbors-information"][0]
    locals_ = [one["lldp-local-interface"][0]["data"] for one in heard["lldp-neighbor-information"]]
    assert locals_[:4] == [f"et-0/0/{number}" for number in range(4)]
    assert [*simulated("stack", platform="junos", spare_ports=6).world.fabric.ports["leaf-0"]][11:13] == [
        "et-0/0/11",
        "et-1/0/0",
    ]


@pytest.mark.parametrize(("variant", "chassis"), [("own", 2), ("shared", 1)])
def test_lldpd_shows_one_name_for_leaves_that_share_a_chassis(variant: str, chassis: int) -> None:
    shape = {"planes": 2, "platform": "eos"}
    heard = json.loads(answers(f"mlag={variant}", **shape)["gpu-001"]["lldpctl -f json0"])["lldp"][0]["interface"][:2]
    assert len({one["chassis"][0]["id"][0]["value"] for one in heard}) == chassis
    assert len({one["chassis"][0]["name"][0]["value"] for one in heard}) == chassis
    assert len({one["chassis"][0]["mgmt-ip"][-1]["value"] for one in heard}) == 1


def test_lldpd_forgets_all_ports_of_a_chassis_at_once() -> None:
    world = simulated("ttl0_chassis@1").world
    assert list(world.heard(Port("leaf-0", "swp5"))) == []  # two uplinks to this spine
    assert list(world.heard(Port("leaf-0", "swp1"))) == [Port("gpu-001", "enp26s0f0np0")]


@pytest.mark.parametrize(
    ("variant", "same", "blank"), [("same", True, False), ("ends", False, False), ("blank", True, True)]
)
def test_serials_of_a_cables_ends(variant: str, same: bool, blank: bool) -> None:
    found = answers(f"dac_serial={variant}")
    ends = ("gpu-001", "enp26s0f0np0"), ("leaf-0", "swp1")
    one, other = (
        re.search(rf"ethtool -m {port}\n(?:\t.*\n)*?\tVendor SN +:(.*)\n", "".join(found[machine].values()))
        for machine, port in ends
    )
    assert one
    assert other
    assert (one[1] == other[1], not one[1].strip()) == (same, blank)


def test_azures_networking_is_an_ethernet_adapter_beside_those_of_infiniband() -> None:
    simulation = fabric(("azure_an",), "none", 1)
    found = dict(simulation.answers())["gpu-001"]
    kinds = dict(re.findall(r"CA '(\w+)'(?:\n\t.*)*?Link layer: (\w+)", found["ibstat"]))
    assert kinds == {"mlx5_ib0": "InfiniBand", "mlx5_ib1": "InfiniBand", "mlx5_ib2": "InfiniBand",
                     "mlx5_ib3": "InfiniBand", "mlx5_an0": "Ethernet"}  # fmt: skip
    assert "NIC0: mlx5_an0" in found["nvidia-smi topo -m"]
    assert {cable.a.name for cable in simulation.plan.host_cables} == {f"mlx5_ib{rail}" for rail in range(4)}


def test_each_chip_of_a_box_counts_its_ports_from_one() -> None:
    found = dict(fabric(("ib_multi_asic",), "none", 1).answers())["gpu-001"]["ibnetdiscover"]
    nodes = re.findall(r'\nSwitch\t(\d+) "S-(\w+)"\t\t# "(MF0;leaf-0:\S+)".*\n\[(\d+)\]', found)
    assert [(name, first) for _, _, name, first in nodes] == [
        ("MF0;leaf-0:MQM9790/U1", "1"), ("MF0;leaf-0:MQM9790/U2", "1")
    ]  # fmt: skip
    assert len({guid for _, guid, _, _ in nodes}) == 2


def test_a_box_of_several_chips_has_no_cable_that_is_missing() -> None:
    """Its chips count their ports from 1: answers without any planned port do not make a link down."""
    for fault in ("none", "swap"):
        simulation = fabric(("ib_multi_asic",), fault, 0)
        evaluation = evaluated(simulation)
        assert CableState.MISSING not in evaluation.cable_states.values()
        found = {(cause.kind, frozenset(cause.subjects), cause.moves) for cause in evaluation.causes}
        made = {(cause.kind, frozenset(cause.subjects), ()) for cause in simulation.truth.causes}
        assert found == made  # the swap is named by the boxes that are heard, and nothing is moved
        assert behaviour_score(simulation, evaluation).problems == []


def test_full_counters_are_those_of_their_widths() -> None:
    found = next(text for command, text in dict(fabric(("ib_saturate",), "none", 1).answers())["gpu-001"].items()
                 if "counters" in command)  # fmt: skip
    assert "mlx5_0/ports/1/counters/symbol_error:65535\n" in found
    assert "mlx5_0/ports/1/counters/link_downed:255\n" in found


def test_later_behaviours_leave_what_a_seed_drew_before() -> None:
    """They are drawn from numbers of their own, after all others."""
    from random import Random

    from benchmarks.behaviours.drawn_behaviours import drawn_later

    later = {name for name, one in CATALOGUE.items() if one.later}
    for ran in (("sonic",), ("junos", "eos"), ("infiniband",)):
        before = [drawn(Random(seed), ran, 2) for seed in range(200)]
        assert later.isdisjoint(name for flags in before for name in Behaviours.of(flags).choices)
        more = [drawn_later(Random(seed), ran, 2) for seed in range(200)]
        assert {name for flags in more for name in Behaviours.of(flags).choices} <= later
        assert any(more)


def test_a_sonic_port_announces_its_alias_and_the_planned_neighbour() -> None:
    # sonic_lldp_table_doc.txt: T1-1 announces hundredGigE1/2 and T0-2:hundredGigE1/29 to T0-2
    found = json.loads(
        answers("sonic_alias=gige", "descr=peer_of_plan", platform="sonic")["gpu-001"]["lldpctl -f json0"]
    )
    port = found["lldp"][0]["interface"][0]["port"][0]
    assert port["id"] == [{"type": "local", "value": "hundredGigE1/1"}]
    assert port["descr"] == [{"value": "gpu-001:enp26s0f0np0"}]


def test_a_starting_sonic_announces_one_mac_on_all_ports() -> None:
    found = json.loads(answers("sonic_mac_portid", platform="sonic")["gpu-002"]["lldpctl -f json0"])
    heard = found["lldp"][0]["interface"]
    assert {one["port"][0]["id"][0]["type"] for one in heard} == {"mac"}
    for one in heard:
        assert one["port"][0]["id"][0]["value"] == one["chassis"][0]["id"][0]["value"]
        assert one["port"][0]["descr"] == [{"value": "Ethernet4"}]


@pytest.mark.parametrize(
    ("platform", "flags", "command", "recording"),
    [
        ("nxos", ("nxos_brief_name_as_chassis",), "show lldp neighbors | json native", "nxos-brief-json-native"),
        ("nxos", ("fw_lldp=tx",), "show lldp neighbors detail | json", "nxos-detail-json-one"),
        ("cumulus", ("mgmt_anycast",), "lldpctl -f json0", "cumulus-json0"),
    ],
)
def test_json_has_the_keys_of_the_recording(
    platform: str, flags: tuple[str, ...], command: str, recording: str
) -> None:
    rendered = json.loads(answers(*flags, platform=platform)["leaf-0"][command])
    known = keys(json.loads(recorded("lldp_switch", recording)))
    optional = {
        "descr",
        "mgmt-iface",
        "capability",
        "enabled",
        "type",
        "ttl",
        "auto-negotiation",
        "supported",
        "current",
    }
    assert keys(rendered) - known - optional - {"neigh_hdr", "system_capability", "enabled_capability"} == set()


def test_the_brief_answer_of_nxos_prints_the_name_as_the_chassis_id() -> None:
    found = answers("nxos_brief_name_as_chassis", platform="nxos")["leaf-0"]["show lldp neighbors | json native"]
    row = json.loads(found)["TABLE_nbor"]["ROW_nbor"][0]
    assert (row["chassis_type"], row["chassis_id"], row["l_port_id"]) == ("Locally Assigned", "gpu-001", "Eth1/1")


def test_the_brief_answer_of_junos_has_a_description_and_no_port_id() -> None:
    text = answers("junos_no_portid", platform="junos")["leaf-0"]["show lldp neighbors | display xml"]
    elements = set(re.findall(r"<([a-z-]+)>", text))
    assert elements - {"lldp-remote-port-description"} <= set(
        re.findall(r"<([a-z-]+)[ >]", recorded("lldp_switch", "junos-brief-xml"))
    )
    assert "lldp-remote-port-id>" not in text
    assert "<lldp-remote-port-description>enp26s0f0np0<" in text


def test_each_port_of_nxos_has_a_chassis_of_its_own() -> None:
    found = json.loads(answers("chassis_per_port", platform="nxos")["spine-1"]["show lldp neighbors detail | json"])
    rows = found["TABLE_nbor_detail"]["ROW_nbor_detail"]
    assert len({row["chassis_id"] for row in rows}) == len(rows) > len({row["sys_name"] for row in rows})


def test_firmware_sends_macs_and_no_name() -> None:
    text = answers("fw_lldp=only", platform="nxos")["leaf-0"]["show lldp neighbors detail | json"]
    row = json.loads(text)["TABLE_nbor_detail"]["ROW_nbor_detail"][0]
    assert row["chassis_id"] == row["port_id"]
    assert (row["sys_name"], row["port_desc"], row["mgmt_addr"]) == ("null", "null", "not advertised")


def test_hpe_firmware_sends_a_uuid_and_a_slot_in_words() -> None:
    # genieparser, nxos ShowLldpNeighborsDetail: 3935-5A43-4A37-39373638-35303036574C and PCI-E Slot 1, Port 2
    text = answers("hpe_fw=local", platform="nxos")["leaf-0"]["show lldp neighbors detail | json"]
    row = json.loads(text)["TABLE_nbor_detail"]["ROW_nbor_detail"][0]
    assert re.fullmatch(r"[0-9A-F]{4}(-[0-9A-F]{4}){2}(-[0-9A-F]{8}){2}[0-9A-F]*", row["chassis_id"])
    assert re.fullmatch(r"PCI-E Slot [0-9], Port [12]", row["port_id"])


def test_ports_without_carrier_are_disabled_but_on_ionic() -> None:
    # rdma_link_cloudlab_blanklines.txt; ionic: torvalds/linux ionic_ibdev.c
    for flag, words in {
        "rdma_down=mlx5": "DISABLED",
        "rdma_down=bnxt": "DISABLED",
        "rdma_down=ionic": "POLLING",
    }.items():
        simulation = fabric((flag,), "unplugged", 1)
        (port,) = simulation.truth.missing
        text = dict(simulation.answers())[port.device]["rdma link"]
        assert re.search(rf"state DOWN physical_state {words} netdev {port.name} \n", text)


def test_a_bond_has_one_rdma_device_and_its_members_keep_their_own_macs() -> None:
    found = answers("bond", planes=2)["gpu-001"]
    assert "link mlx5_bond_0/1 state ACTIVE physical_state LINK_UP netdev bond0" in found["rdma link"]
    links = {link["ifname"]: link for link in json.loads(found["ip -j -d link"])}
    first, second = links["enp26s0f0np0"], links["enp26s0f1np1"]
    assert first["master"] == second["master"] == "bond0"
    assert first["address"] == second["address"] == links["bond0"]["address"]
    assert "permaddr" not in first
    assert second["permaddr"] != second["address"]
    assert {"SLAVE", "LOWER_UP"} <= set(second["flags"])


def test_a_port_that_is_switched_off_has_no_up_flag_and_no_speed() -> None:
    simulation = simulated("keep_link_up@1")
    found = dict(simulation.answers())["gpu-001"]
    (link,) = (one for one in json.loads(found["ip -j -d link"]) if one["ifname"] == "enp26s0f0np0")
    assert (link["flags"], link["operstate"]) == (["BROADCAST", "MULTICAST"], "DOWN")
    assert "/sys/class/net/enp26s0f0np0/speed" not in next(
        text for command, text in found.items() if command.startswith("grep")
    )
    assert simulation.world.carrier(Port("leaf-0", "swp1"))


def test_nxos_says_in_two_lines_who_switched_a_port_off() -> None:
    text = answers("nxos_two_lines", "ports_off", platform="nxos")["leaf-0"]["show interface"]
    assert re.search(r"Ethernet1/[0-9]+ is down \(XCVR not inserted\)\nadmin state is (down|up)", text)


def test_matrices_have_the_form_of_the_recordings() -> None:
    empty = answers("topo_empty_cell")["gpu-001"]["nvidia-smi topo -m"].splitlines()[1]
    assert empty.endswith("\t\t0\t\tN/A")  # f08_della_h200_empty_cpuaffinity.txt
    bare = answers("topo_no_nic")["gpu-001"]["nvidia-smi topo -m"]
    assert "NIC" not in bare
    old = answers("topo_old")["gpu-001"]["nvidia-smi topo -m"]
    assert "mlx5_0" in old.splitlines()[0]
    assert "NUMA" not in old
    gb200 = answers("topo_gb200")["gpu-001"]["nvidia-smi topo -m"].splitlines()
    assert all(set(line.split("\t")[5:9]) == {"SYS"} for line in gb200[1:5])
    assert gb200[1].endswith("0-71\t0,3-9,11-17\t\t2")


def test_an_unknown_behaviour_or_value_is_refused() -> None:
    with pytest.raises(ValueError, match="no behaviour is called 'sonic_alis'"):
        Behaviours.of(["sonic_alis"])
    with pytest.raises(ValueError, match="descr has no value 'peer'; known are peer_of_plan"):
        Behaviours.of(["descr=peer"])
    with pytest.raises(ValueError, match="vfs takes no value"):
        Behaviours.of(["vfs=2"])
    assert Behaviours.of(["descr", "young_link@0.5"]).flags() == ("descr=peer_of_plan", "young_link@0.5")


def test_behaviours_are_drawn_for_each_platform_and_the_same_for_a_seed() -> None:
    from random import Random

    for ran in (("sonic",), ("nxos", "eos"), ("infiniband",)):
        flags = [drawn(Random(seed), ran, 2) for seed in range(300)]
        assert flags == [drawn(Random(seed), ran, 2) for seed in range(300)]
        shown = {name for one in flags for name in Behaviours.of(one).choices}
        assert shown <= set(CATALOGUE)
        assert ("ib_desc" in shown) is ("infiniband" in ran)
        assert ("sonic_alias" in shown) is ("sonic" in ran)


@pytest.mark.parametrize("flag", ["topo_flat", "topo_gb200"])
def test_a_tie_over_a_numa_node_is_no_affinity(flag: str) -> None:
    """GPUs that are equally near to NICs of several rails tell nothing of the order: unknown, and no wrong order."""
    shape = Shape(hosts=8, rails=8, spines=2, uplinks=4)
    renamed = simulate(shape, [Fault(CauseKind.GPU_NIC_ORDER, "gpus")], seed=2, behaviours=[flag])
    for simulation in (simulate(shape, 0, seed=2, behaviours=[flag]), renamed):
        evaluation = evaluated(simulation)
        assert evaluation.findings == ()
        assert [one.status for one in evaluation.verdicts if one.rule == "NIC001"] == [Status.UNKNOWN]

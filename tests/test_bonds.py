"""Bonds (RoCE LAG): one RDMA device for two cables, evaluated by each member's own interface and permanent MAC.

What hosts answer is written here from iproute2's `ip/ipaddress.c`, MLNX_OFED's `ibdev2netdev` and Linux'
`mlx5/main.c`: the members have the bond's MAC, their own in `permaddr` where it differs; `mlx5_bond_N` is ACTIVE while
one member has carrier, and the members' own RDMA devices are gone.
"""

import csv
import io
import json
from pathlib import Path

import pytest

from collector import collectors
from rules import rules
from rules._examples import hears
from tests.capture_trees import grow
from tests.test_cli import run
from truerail.analysis.cabling import State, Why, Wiring
from truerail.analysis.round import Round
from truerail.analysis.rule import Case
from truerail.model import CauseKind, Device, Fact, GpuNicPath, NetLink, Plan, RdmaLink, Reading, Role, Snapshot, Status
from truerail.model.bonds import bond_members, interfaces_of
from truerail.rounds import evaluate
from truerail.testing.cases import AT, plan_of
from truerail.views.nics import Nics

HOSTS, BONDS = 6, 4
HOST = Device("gpu-1", Role.HOST)
PLAN = "\n".join(
    f"gpu-{host}/ens{bond}f{plane}np{plane} leaf-{bond}{'ab'[plane]}/swp{host} rail={bond} plane={plane} speed=200"
    for host in range(1, HOSTS + 1)
    for bond in range(BONDS)
    for plane in (0, 1)
)


def mac(host: int, bond: int, plane: int) -> str:
    return f"94:6d:ae:{host:02x}:{bond:02x}:{plane:02x}"


def member(host: int, bond: int, plane: int, *, up: bool = True) -> dict[str, object]:
    flags = ["BROADCAST", "MULTICAST", "SLAVE", "UP", *(["LOWER_UP"] if up else [])]
    own, shared = mac(host, bond, plane), mac(host, bond, 0)
    data = {"state": "ACTIVE", "mii_status": "UP" if up else "DOWN", "perm_hwaddr": own}
    return {
        "ifname": f"ens{bond}f{plane}np{plane}",
        "flags": flags if up else ["NO-CARRIER", *flags],
        "mtu": 9000,
        "master": f"bond{bond}",
        "operstate": "UP" if up else "DOWN",
        "link_type": "ether",
        "address": shared,
        **({"permaddr": own} if own != shared else {}),
        "linkinfo": {"info_slave_kind": "bond", "info_slave_data": data},
        "parentbus": "pci",
        "parentdev": f"0000:{0x10 + bond:02x}:00.{plane}",
    }


def ip_link(host: int, dead: tuple[int, int] | None = None) -> str:
    """`ip -j -d link`: the members, then the bonds."""
    found = [member(host, bond, plane, up=(bond, plane) != dead) for bond in range(BONDS) for plane in (0, 1)]
    found += [
        {
            "ifname": f"bond{bond}",
            "flags": ["BROADCAST", "MULTICAST", "MASTER", "UP", "LOWER_UP"],
            "mtu": 9000,
            "operstate": "UP",
            "link_type": "ether",
            "address": mac(host, bond, 0),
            "linkinfo": {"info_kind": "bond"},
        }
        for bond in range(BONDS)
    ]
    return json.dumps(found)


def ibdev2netdev(netdev: str = "bond{}") -> str:
    return "".join(f"mlx5_bond_{bond} port 1 ==> {netdev.format(bond)} (Up)\n" for bond in range(BONDS))


def topo(order: tuple[int, ...] = (0, 1, 2, 3)) -> str:
    """`nvidia-smi topo -m` of four GPUs and four bonds: GPU g is nearest to the bond `order[g]`."""
    names = [f"GPU{gpu}" for gpu in range(4)] + [f"NIC{bond}" for bond in range(BONDS)]

    def cell(row: str, column: str) -> str:
        if row == column:
            return " X "
        if row[:3] == column[:3]:
            return "NV18" if row[:3] == "GPU" else "SYS"
        gpu, nic = sorted((row, column))
        return "PIX" if order[int(gpu[3:])] == int(nic[3:]) else "SYS"

    matrix = ["\t" + "\t".join(names)] + [
        row + "\t" + "\t".join(cell(row, column) for column in names) for row in names
    ]
    legend = ["", "NIC Legend:", "", *(f"  NIC{bond}: mlx5_bond_{bond}" for bond in range(BONDS)), ""]
    return "\n".join([*matrix, *legend])


def lldpctl(host: int) -> str:
    """What a leaf of Cumulus hears: the members' permanent MACs."""
    interface = [
        {
            "name": f"swp{one}",
            "via": "LLDP",
            "rid": "1",
            "age": "0 day, 00:00:01",
            "chassis": [{"id": [{"type": "mac", "value": mac(one, 0, 0)}], "name": [{"value": f"gpu-{one}"}]}],
            "port": [{"id": [{"type": "mac", "value": mac(one, host // 2, host % 2)}], "ttl": [{"value": "120"}]}],
        }
        for one in range(1, HOSTS + 1)
    ]
    return json.dumps({"lldp": [{"interface": interface}]})


def files(
    order: dict[int, tuple[int, ...]] | None = None, dead: tuple[int, int, int] | None = None, links: bool = True
) -> dict[str, str]:
    """The capture: a host's three answers, and what every leaf hears."""
    found: dict[str, str] = {}
    for host in range(1, HOSTS + 1):
        if links:
            lost = (dead[1], dead[2]) if dead and dead[0] == host else None
            found[f"gpu-{host}/ip_-j_-d_link"] = ip_link(host, lost)
        found[f"gpu-{host}/ibdev2netdev"] = ibdev2netdev()
        found[f"gpu-{host}/nvidia-smi_topo_-m"] = topo((order or {}).get(host, (0, 1, 2, 3)))
    for number in range(2 * BONDS):
        name = f"leaf-{number // 2}{'ab'[number % 2]}"
        heard = json.loads(lldpctl(number))
        if dead and (dead[1], dead[2]) == (number // 2, number % 2):
            heard["lldp"][0]["interface"].pop(dead[0] - 1)
        found[f"{name}/lldpctl_-f_json0"] = json.dumps(heard)
    return found


def plan_csv() -> str:
    lines = ["a_device,a_role,a_port,b_device,b_role,b_port,rail,plane,speed_gbps"]
    for line in PLAN.splitlines():
        a, b, *words = line.split()
        rail, plane, speed = (word.split("=")[1] for word in words)
        lines.append(f"{a.split('/')[0]},host,{a.split('/')[1]},{b.split('/')[0]},leaf,{b.split('/')[1]},"
                     f"{rail},{plane},{speed}")  # fmt: skip
    return "\n".join(lines) + "\n"


def facts(collector: str, answer: str) -> tuple[Fact, ...]:
    return tuple(collectors()[collector].read(answer, HOST))


def plan() -> Plan:
    return plan_of(Case(plan=PLAN))


def snapshot(found: dict[str, str]) -> Snapshot:
    which = {"ip_-j_-d_link": "net_link", "ibdev2netdev": "rdma_link", "nvidia-smi_topo_-m": "gpu_nic_topology",
             "lldpctl_-f_json0": "lldp_host"}  # fmt: skip
    readings = [
        Reading(name.partition("/")[0], which[name.partition("/")[2]], AT, facts(which[name.partition("/")[2]], answer))
        for name, answer in found.items()
    ]
    return Snapshot(AT, readings)


def wiring(**how: object) -> Wiring:
    return Round(plan(), snapshot(files(**how))).cabling  # type: ignore[arg-type]


def verdict(found: dict[str, str], code: str) -> tuple[Status, str]:
    (one,) = [verdict for verdict in evaluate(Round(plan(), snapshot(found))).verdicts if verdict.rule == code]
    return one.status, one.why


def test_members_are_known_by_their_permanent_macs() -> None:
    links = {link.netdev: link for link in facts("net_link", ip_link(1)) if isinstance(link, NetLink)}
    assert links["ens2f1np1"].mac == mac(1, 2, 1)
    assert links["ens2f0np0"].mac == links["bond2"].mac == mac(1, 2, 0)
    old = json.loads(ip_link(1))
    for entry in old:
        entry.pop("permaddr", None)  # before Linux 5.6
    links = {link.netdev: link for link in facts("net_link", json.dumps(old)) if isinstance(link, NetLink)}
    assert links["ens2f1np1"].mac == mac(1, 2, 1)


@pytest.mark.parametrize("netdev", ["bond{}", "ens{}f1np1"])
def test_the_device_of_a_bond_stands_for_all_its_members(netdev: str) -> None:
    bonds = bond_members(link for link in facts("net_link", ip_link(1)) if isinstance(link, NetLink))
    assert bonds == {f"bond{bond}": (f"ens{bond}f0np0", f"ens{bond}f1np1") for bond in range(BONDS)}
    rdma = [link for link in facts("rdma_link", ibdev2netdev(netdev)) if isinstance(link, RdmaLink)]
    assert [interfaces_of(link, bonds) for link in rdma] == list(bonds.values())


def test_what_stands_for_itself_alone() -> None:
    assert interfaces_of(RdmaLink("mlx5_4", 1, "ACTIVE", None, "eth4"), {"bond0": ("a", "b")}) == ("eth4",)
    assert interfaces_of(RdmaLink("mlx5_4", 1, "ACTIVE", None, None), {}) == ()
    assert interfaces_of(RdmaLink("mlx5_bond_0", 1, "ACTIVE", None, "eth4"), {}) == ("eth4",)
    bridged = NetLink("swp1", master="br0", flags=("UP",))
    assert bond_members([bridged]) == {}


def test_every_cable_of_a_bonded_fabric_is_right() -> None:
    seen = wiring()
    assert set(seen.state.tolist()) == {State.RIGHT}
    assert not seen.gpu_rails.misordered
    for code in ("NIC001", "NIC002", "NIC003"):
        assert verdict(files(), code)[0] is Status.PASS


def test_a_wrong_gpu_order_is_seen_through_bonds() -> None:
    evaluation = evaluate(Round(plan(), snapshot(files(order={3: (1, 0, 2, 3)}))))
    assert [(f.rule, f.subject) for f in evaluation.findings if f.rule == "NIC001"] == [("NIC001", "gpu-3")]
    (cause,) = [cause for cause in evaluation.causes if cause.kind is CauseKind.GPU_NIC_ORDER]
    assert (cause.subjects, cause.moves) == (("gpu-3",), ())


def test_an_active_bond_hides_no_dead_member() -> None:
    seen = wiring(dead=(2, 1, 1))
    (cable,) = seen.cables(State.MISSING).tolist()
    assert str(seen.index.a_port(cable)) == "gpu-2/ens1f1np1"
    assert seen.why[cable] == Why.LINK_DOWN
    assert verdict(files(dead=(2, 1, 1)), "NIC002")[0] is Status.PASS  # the device is active, by its other member
    (cause,) = evaluate(Round(plan(), snapshot(files(dead=(2, 1, 1))))).causes
    assert (cause.kind, cause.subjects) == (CauseKind.LINK_DOWN, ("gpu-2/ens1f1np1",))


def test_a_bond_that_is_down_is_down_on_each_member() -> None:
    found = files()
    found["gpu-2/ibdev2netdev"] = ibdev2netdev().replace("bond1 (Up)", "bond1 (Down)")
    (one, other) = rules()["NIC002"].findings(Round(plan(), snapshot(found)))
    assert {one.subject, other.subject} == {"gpu-2/ens1f0np0", "gpu-2/ens1f1np1"}


@pytest.mark.parametrize("code", ["NIC001", "NIC002", "NIC003"])
def test_a_rule_that_cannot_see_the_members_says_so(code: str) -> None:
    found = files(links=False)
    status, why = verdict(found, code)
    assert status is Status.UNKNOWN
    assert "the members of the bonds of 6 hosts (gpu-1, gpu-2, gpu-3, gpu-4, ...) were not read" in why
    assert not [f for f in evaluate(Round(plan(), snapshot(found))).findings if f.rule == code]


def test_one_host_whose_members_were_not_read_is_named() -> None:
    found = files()
    del found["gpu-4/ip_-j_-d_link"]
    assert verdict(found, "NIC001") == (
        Status.UNKNOWN,
        "the members of the bonds of 1 host (gpu-4) were not read: `ip -j -d link` lists them",
    )
    found["gpu-3/nvidia-smi_topo_-m"] = topo((1, 0, 2, 3))
    assert verdict(found, "NIC001")[0] is Status.FAIL


def test_a_matrix_of_equal_distances_is_unknown_and_not_passed() -> None:
    found = files()
    for host in range(1, HOSTS + 1):
        found[f"gpu-{host}/nvidia-smi_topo_-m"] = topo().replace("PIX", "SYS")
    status, why = verdict(found, "NIC001")
    assert (status, why.startswith("the matrix of 6 of 6 hosts (gpu-1, gpu-2, gpu-3, gpu-4, ...)")) == (
        Status.UNKNOWN, True,
    )  # fmt: skip


def test_a_matrix_without_nics_is_unknown_and_not_passed() -> None:
    found = files()
    alone = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV18\t0-63\t0\nGPU1\tNV18\t X \t0-63\t0\n"
    for host in range(1, HOSTS + 1):
        found[f"gpu-{host}/nvidia-smi_topo_-m"] = alone
    status, why = verdict(found, "NIC001")
    assert (status, why.startswith("no host's matrix shows its NICs")) == (Status.UNKNOWN, True)


def test_an_absent_member_is_a_missing_nic() -> None:
    found = files()
    rows = [entry for entry in json.loads(ip_link(5)) if entry["ifname"] != "ens3f1np1"]
    found["gpu-5/ip_-j_-d_link"] = json.dumps(rows)
    found["leaf-3b/lldpctl_-f_json0"] = json.dumps({"lldp": [{"interface": []}]})
    assert [f.subject for f in evaluate(Round(plan(), snapshot(found))).findings if f.rule == "NIC003"] == [
        "gpu-5/ens3f1np1"
    ]


@pytest.mark.parametrize("named", ["nic{}", "0000:{:02x}:00.{}"])
def test_a_plan_by_number_or_by_pci_address_means_the_members(named: str) -> None:
    def name(bond: int, plane: int) -> str:
        return named.format(2 * bond + plane) if named.startswith("nic") else named.format(0x10 + bond, plane)

    text = PLAN
    for bond in range(BONDS):
        for plane in (0, 1):
            text = text.replace(f"/ens{bond}f{plane}np{plane} ", f"/{name(bond, plane)} ")
    seen = Round(plan_of(Case(plan=text)), snapshot(files(order={3: (1, 0, 2, 3)}))).cabling
    assert set(seen.state.tolist()) == {State.RIGHT}
    assert [seen.index.devices.names[code] for code in seen.gpu_rails.misordered] == ["gpu-3"]


def test_a_plan_by_the_names_of_rdma_devices_that_bonds_have_taken_is_not_contradicted() -> None:
    text = PLAN
    for bond in range(BONDS):
        for plane in (0, 1):
            text = text.replace(f"/ens{bond}f{plane}np{plane} ", f"/mlx5_{2 * bond + plane} ")
    seen = Round(plan_of(Case(plan=text)), snapshot(files())).cabling
    assert not {State.WRONG, State.MISSING} & set(seen.state.tolist())


def test_smeared_neighbours_on_the_members_are_decided_by_the_leaves() -> None:
    """Each member lists the neighbours of both (lshca issue 75)."""
    found = files()
    readings = list(snapshot(found).readings)
    heard = tuple(hears(f"ens0f{plane}np{plane}", f"leaf-0{leaf}/swp1") for plane in (0, 1) for leaf in "ab")
    readings.append(Reading("gpu-1", "lldp_host", AT, heard))
    seen = Round(plan(), Snapshot(AT, readings)).cabling
    assert set(seen.state.tolist()) == {State.RIGHT}


def test_both_members_are_among_the_nics_that_a_gpu_is_nearest_to() -> None:
    seen = wiring()
    ports = seen.index.a[seen.index.a_device == seen.index.devices.find("gpu-1")]
    near = Nics(seen).nearest(seen.index.devices.find("gpu-1"), ports)
    assert {gpu: len(nics) for gpu, nics in near.items()} == {0: 2, 1: 2, 2: 2, 3: 2}


def test_a_storage_nic_beside_the_bonds_changes_nothing() -> None:
    found = files()
    for host in range(1, HOSTS + 1):
        found[f"gpu-{host}/ibdev2netdev"] = "mlx5_4 port 1 ==> eth4 (Down)\n" + ibdev2netdev()
    assert set(Round(plan(), snapshot(found)).cabling.state.tolist()) == {State.RIGHT}
    paths = [fact for fact in facts("gpu_nic_topology", topo()) if isinstance(fact, GpuNicPath)]
    assert {path.device for path in paths} == {f"mlx5_bond_{bond}" for bond in range(BONDS)}


def test_the_command_line_checks_a_bonded_fabric(tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text(plan_csv())
    options = ("check", "--plan", str(tmp_path / "plan.csv"), "--from")
    assert run(*options, grow(tmp_path / "right", files())).returncode == 0
    dead = run(*options, grow(tmp_path / "dead", files(dead=(2, 1, 1))), "--format", "json")
    assert dead.returncode == 1
    (cause,) = json.loads(dead.stdout)["causes"]
    assert (cause["kind"], cause["subjects"]) == ("link-down", ["gpu-2/ens1f1np1"])
    order = run(*options, grow(tmp_path / "order", files(order={3: (1, 0, 2, 3)})), "--format", "json")
    assert [cause["kind"] for cause in json.loads(order.stdout)["causes"]] == ["gpu-nic-order"]


def test_rails_and_planes_are_inferred_through_bonds(tmp_path: Path) -> None:
    done = run("plan", "infer", "--from", grow(tmp_path / "capture", files()), "--to", "csv")
    assert done.returncode == 0, done.stderr
    rows = {row["a_device"] + "/" + row["a_port"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    for host in range(1, HOSTS + 1):
        for bond in range(BONDS):
            for plane in (0, 1):
                row = rows[f"gpu-{host}/ens{bond}f{plane}np{plane}"]
                assert (row["b_device"], row["rail"]) == (f"leaf-{bond}{'ab'[plane]}", str(bond))

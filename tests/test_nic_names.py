"""Two NICs of one host in each other's places, without a topology: whether their cables are swapped, or their names.

Captures of `ip -j -d link`, `rdma link` and LLDP, evaluated through `truerail check`.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.each import each
from truerail.analysis.cabling.spellings import is_by_place, is_by_slot
from truerail.analysis.round import Round
from truerail.cli.app import app
from truerail.model import CauseKind
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate

HOSTS, RAILS = 6, 4
SUSPECT = "gpu-003"
PCI = [f"0000:{bus}:00.0" for bus in ("1a", "3d", "9c", "db")]


def mac(host: int, slot: int) -> str:
    """The MAC of the NIC in a slot of a host."""
    return f"b8:3f:d2:00:{host:02x}:{slot:02x}"


def capture(
    folder: Path, *, names: list[str], at: dict[int, str] | None = None, dark: int | None = None, rdma: bool = False
) -> Path:
    """A fabric all of whose cables are right by MAC; on one host the NICs of rails 1 and 2 seem swapped by name.

    `names` are the NICs' in the order of rails, as the plan has them. `at` is the PCI address that the suspect's NIC of
    each rail reports, none where it is not given; one NIC may be `dark`. With `rdma` the plan names RDMA devices.
    """
    folder.mkdir()
    rows = ["a_device,a_role,a_port,b_device,b_role,b_port,rail"]
    heard: dict[str, list[Any]] = {f"leaf-{rail}": [] for rail in range(RAILS)}
    for number in range(1, HOSTS + 1):
        host = f"gpu-{number:03}"
        links, devices = [], []
        for rail in range(RAILS):
            slot = {1: 2, 2: 1}.get(rail, rail) if host == SUSPECT else rail
            netdev = f"eth{rail}" if rdma else names[rail]
            up = not (host == SUSPECT and rail == dark)
            link = {
                "ifname": netdev, "flags": ["UP", "LOWER_UP"] if up else ["UP", "NO-CARRIER"], "mtu": 9000,
                "operstate": "UP" if up else "DOWN", "address": mac(number, rail),
            }  # fmt: skip
            if at is not None:
                link |= {"parentbus": "pci", "parentdev": at[rail] if host == SUSPECT else PCI[rail]}
            links.append(link)
            state = "ACTIVE physical_state LINK_UP" if up else "DOWN physical_state DISABLED"
            devices.append(f"link {names[rail] if rdma else f'mlx5_{rail}'}/1 state {state} netdev {netdev}")
            rows.append(f"{host},host,{names[rail]},leaf-{rail},leaf,swp{number},{rail}")
            if up:
                heard[f"leaf-{slot}"].append(_neighbour(f"swp{number}", host, mac(number, rail)))
        own = folder / host
        own.mkdir()
        (own / "ip_-j_-d_link").write_text(json.dumps(links))
        (own / "rdma_link").write_text("\n".join(devices) + "\n")
    for leaf, interfaces in heard.items():
        (folder / leaf).mkdir()
        (folder / leaf / "lldpcli_show_neighbors_-f_json").write_text(json.dumps({"lldp": {"interface": interfaces}}))
    (folder / "plan.csv").write_text("\n".join(rows) + "\n")
    return folder


def _neighbour(port: str, name: str, address: str) -> dict[str, Any]:
    chassis = {name: {"id": {"type": "mac", "value": address[:-1] + "f"}}}
    return {port: {"via": "LLDP", "chassis": chassis, "port": {"id": {"type": "mac", "value": address}, "ttl": "120"}}}


def evaluated(folder: Path) -> dict[str, Any]:
    """The one cause that `truerail check` reports."""
    plan = folder / "plan.csv"
    said = CliRunner().invoke(app, ["check", "--from", str(folder), "--plan", str(plan), "--format", "json"])
    assert said.exit_code == 1, said.output
    (cause,) = [cause for cause in json.loads(said.stdout)["causes"] if cause["kind"] != "link-down"]
    return dict(cause)


def is_confirmed_first(cause: dict[str, Any]) -> bool:
    """Whether two cables are likely swapped, or the names of their NICs: nothing moves before step 1 says which."""
    others = [(other["kind"], len(other["moves"])) for other in cause["alternatives"]]
    first, then = cause["action"].index("1. Confirm: `nvidia-smi"), cause["action"].index("2. If it is, swap the two")
    both = [("gpu-nic-order", 0), ("cable-swap", 2)]
    return (cause["kind"], cause["moves"], others) == ("cable-swap", [], both) and first < then


BY_BUS = ["enp26s0f0np0", "enp61s0f0np0", "enp156s0f0np0", "enp219s0f0np0"]


def test_names_that_follow_from_slots_leave_the_cables(tmp_path: Path) -> None:
    cause = evaluated(capture(tmp_path / "site", names=["ens1np0", "ens2np0", "ens3np0", "ens4np0"]))
    assert (cause["kind"], len(cause["moves"]), cause["alternatives"]) == ("cable-swap", 2, [])


@pytest.mark.parametrize(
    ("names", "rdma"),
    [
        ([f"eth{rail}" for rail in range(RAILS)], False),
        ([f"mlx5_{r}" for r in range(RAILS)], True),
        (BY_BUS, False),
        (PCI, False),
    ],
)
def test_names_by_the_order_of_probing_or_by_bus_decide_nothing(tmp_path: Path, names: list[str], rdma: bool) -> None:
    cause = evaluated(capture(tmp_path / "site", names=names, rdma=rdma))
    assert is_confirmed_first(cause)
    assert {subject.partition("/")[0] for subject in cause["subjects"]} == {SUSPECT}
    assert cause["to_confirm"].startswith("`nvidia-smi topo -m`")


def test_a_nic_in_the_place_of_one_without_link_decides_nothing_either(tmp_path: Path) -> None:
    cause = evaluated(capture(tmp_path / "site", names=[f"eth{rail}" for rail in range(RAILS)], dark=2))
    assert (cause["kind"], cause["moves"]) == ("gpu-nic-order", [])
    assert [(other["kind"], len(other["moves"])) for other in cause["alternatives"]] == [("cable-move", 1)]


def test_swapped_pci_addresses_decide(tmp_path: Path) -> None:
    at = {0: PCI[0], 1: PCI[2], 2: PCI[1], 3: PCI[3]}
    cause = evaluated(capture(tmp_path / "site", names=[f"eth{rail}" for rail in range(RAILS)], at=at))
    assert (cause["kind"], cause["moves"], cause["alternatives"]) == ("gpu-nic-order", [], [])


def test_pci_addresses_as_on_other_hosts_decide_nothing(tmp_path: Path) -> None:
    """The firmware of this host may number its buses in another order than that of the others."""
    at = dict(enumerate(PCI))
    cause = evaluated(capture(tmp_path / "site", names=[f"eth{rail}" for rail in range(RAILS)], at=at))
    assert is_confirmed_first(cause)


def test_pci_addresses_of_another_server_decide_nothing(tmp_path: Path) -> None:
    at = {rail: f"0000:{bus}:00.0" for rail, bus in enumerate(("05", "25", "45", "65"))}
    cause = evaluated(capture(tmp_path / "site", names=[f"eth{rail}" for rail in range(RAILS)], at=at))
    assert is_confirmed_first(cause)


def test_an_open_order_is_no_matter_of_names_alone(tmp_path: Path) -> None:
    """The job on this host may be harmed: the answer is "unknown", not "fine"."""
    folder = capture(tmp_path / "site", names=[f"eth{rail}" for rail in range(RAILS)])
    base = ["--from", str(folder), "--plan", str(folder / "plan.csv")]
    said = CliRunner().invoke(app, ["job", f"{SUSPECT},gpu-004", *base])
    assert "rail 1  connected on 1 of 2, unknown on gpu-003" in said.output, said.output


@pytest.mark.parametrize("flag", ["topo_no_nic", "topo_flat"])
@pytest.mark.parametrize("host_ports", ["netdev", "rdma", "pci"])
def test_real_swaps_on_hosts_that_show_no_topology(tmp_path: Path, flag: str, host_ports: str) -> None:
    """The same on drawn fabrics, whose hosts report PCI addresses."""
    shape = Shape(hosts=12, rails=4, spines=2, uplinks=4, host_ports=host_ports)
    made = simulate(shape, [Fault(CauseKind.CABLE_SWAP, "one-host")], seed=2, folders="inventory", behaviours=[flag])
    folder = made.write(tmp_path / "site")
    plan = tmp_path / "site" / "plan.csv"
    said = CliRunner().invoke(app, ["check", "--from", str(folder), "--plan", str(plan), "--format", "json"])
    (cause,) = json.loads(said.stdout)["causes"]
    assert is_confirmed_first(cause)


def test_single_ports_of_cards_are_cables() -> None:
    """A card has one bus number: where one of its two ports is right, the other's cable is in the wrong place."""
    shape = Shape(hosts=6, rails=4, planes=2, spines=2, uplinks=4)
    fault = [Fault(CauseKind.CABLE_SWAP, "one-host")]
    made = simulate(shape, fault, seed=2, folders="inventory", behaviours=["topo_no_nic"])
    (cause,) = evaluate(Round(made.plan, made.snapshot())).causes
    assert (cause.kind, {move.cable for move in cause.moves}) == (CauseKind.CABLE_SWAP, made.truth.moved)


@pytest.mark.parametrize("style", ["enp", "eth"])
@pytest.mark.parametrize("host_ports", ["netdev", "rdma", "pci"])
@pytest.mark.parametrize("variant", ["names", "model"])
def test_buses_in_another_order_move_no_cable(variant: str, host_ports: str, style: str) -> None:
    """The firmware numbers the buses, and with them all names, in another order; no topology shows it."""
    shape = Shape(
        hosts=6, rails=4, rails_per_leaf=2, stride=True, spines=2, uplinks=4, host_ports=host_ports, style=style
    )
    for seed in range(4):
        made = simulate(shape, [Fault(CauseKind.GPU_NIC_ORDER, variant)], seed=seed, behaviours=["topo_no_nic"])
        causes = evaluate(Round(made.plan, made.snapshot())).causes
        assert causes
        assert not [move for cause in causes for move in cause.moves]


@each(
    "name, follows",
    [
        ("enp26s0f0np0", True), ("enP2p3s0f1np1", True), ("ens1f0np0", True), ("eno1", True), ("ibp26s0", True),
        ("ibs2f1", True), ("rocep26s0f0", True), ("roceo1", True), ("rdmap0s6", True), ("enxb83fd2000102", True),
        ("0000:1a:00.0", True), ("1a:00.0", True), ("eth0", False), ("mlx5_3", False), ("nic2", False),
        ("ib0", False), ("rail1", False), ("bnxt_re0", False), ("ethernet1", False), ("", False),
    ],
)  # fmt: skip
def test_names_that_follow_from_the_place_of_a_card(name: str, follows: bool) -> None:
    assert is_by_place(name) is follows


@pytest.mark.parametrize(
    ("name", "follows"),
    [
        ("ens1f0np0", True), ("eno1", True), ("ibs2f1", True), ("roceo1", True), ("enxb83fd2000102", True),
        ("enp26s0f0np0", False), ("ibp26s0", False), ("rdmap0s6", False), ("0000:1a:00.0", False), ("eth0", False),
    ],
)  # fmt: skip
def test_names_that_follow_from_the_number_of_a_slot(name: str, follows: bool) -> None:
    assert is_by_slot(name) is follows

"""Without a plan, few hosts decide nothing by themselves: no right cable is moved, no wrong one passes for right."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.ib_site import DGX, HCA, Site
from tests.live_site import Run
from truerail.analysis.round import Round
from truerail.model import CableState, CauseKind, Evaluation, Port, Snapshot
from truerail.plans import infer
from truerail.plans.inference import Inference
from truerail.rounds import evaluate
from truerail.simulator import Fault, Shape, simulate
from truerail.transport.replay import read_capture

EIGHT = tuple(f"mlx5_{number}" for number in range(8))
UNITS = {
    "two hosts": (2,),
    "three hosts": (3,),
    "units of two": (2, 2, 2),
    "units of one": (1, 1, 1, 1),
    "uneven units": (12, 11, 1, 2, 3),
    "one large": (16,),
}


def found(site: Site, folder: Path) -> tuple[set[Port], set[Port], set[str], list[str]]:
    """The cables that a check would move, those that are not decided, hosts that take no part, and the notes."""
    inference, evaluated = checked(site, folder)
    moved = {move.cable for cause in evaluated.causes for move in cause.moves}
    return moved, set(inference.plan.undecided), set(inference.apart), list(inference.notes)


def checked(site: Site, folder: Path) -> tuple[Inference, Evaluation]:
    (folder / "ibnetdiscover").write_text(site.listing())
    seen = read_capture(folder).snapshot()
    inference = infer(seen)
    return inference, evaluate(Round(inference.plan, seen))


def named_open(site: Site, folder: Path) -> set[Port]:
    """The cables of causes that order no move and name another reading and what decides: `mlx5_2` and `mlx5_3` of one
    host may have each other's names.
    """
    _, evaluated = checked(site, folder)
    causes = [
        one for one in evaluated.causes if not one.moves and one.to_confirm and any(a.moves for a in one.alternatives)
    ]
    ids = {finding for cause in causes for finding in cause.explains}
    return {Port(*one.subject.split("/", 1)) for one in evaluated.findings if one.id in ids}


def holds(site: Site, folder: Path) -> None:
    """No right cable is moved; every wrong one is moved, undecided, or named beside another reading."""
    wrong = {Port(*end) for end in site.wrong}
    moved, undecided, apart, _ = found(site, folder)
    opened = named_open(site, folder)
    assert moved <= wrong
    assert opened <= wrong
    assert wrong <= moved | undecided | opened
    assert not apart & {host for host, _ in site.planned}


@pytest.mark.parametrize("named", [True, False], ids=["named leaves", "unnamed leaves"])
@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS.keys())
def test_a_right_fabric_has_no_moves(units: tuple[int, ...], named: bool, tmp_path: Path) -> None:
    holds(Site(units, named=named), tmp_path)


@pytest.mark.parametrize("named", [True, False], ids=["named leaves", "unnamed leaves"])
@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS.keys())
def test_two_rails_of_one_host_swapped(units: tuple[int, ...], named: bool, tmp_path: Path) -> None:
    site = Site(units, named=named)
    site.swap_rails(site.host(1, 1), 2, 3)
    holds(site, tmp_path)


@pytest.mark.parametrize("units", [(2, 2, 2), (3, 3), (1, 1, 1, 1)])
@pytest.mark.parametrize("rail", [3, 6])
def test_cables_of_two_units_swapped(units: tuple[int, ...], rail: int, tmp_path: Path) -> None:
    site = Site(units)
    site.swap((site.host(1, 1), DGX[3]), (site.host(2, 1), DGX[rail]))
    holds(site, tmp_path)


@pytest.mark.parametrize("hosts", [3, 4, 8])
@pytest.mark.parametrize("rail", [0, 2])
def test_a_shift_over_most_hosts_of_a_unit_moves_none_that_is_right(hosts: int, rail: int, tmp_path: Path) -> None:
    for shifted in (hosts - 1, 3 * hosts // 4, hosts // 2):
        site = Site((hosts,))
        for place in range(hosts - shifted + 1, hosts + 1):
            site.cabled[site.host(1, place), DGX[rail]] = (site.leaf(1, rail), place + 1)
        holds(site, tmp_path)


def test_the_leaves_of_the_other_units_decide_for_a_unit_of_two(tmp_path: Path) -> None:
    site = Site((8, 8, 2))
    site.swap_rails(site.host(3, 2), 4, 5)
    moved, undecided, _, _ = found(site, tmp_path)
    assert (moved, undecided) == (set(), set())
    assert named_open(site, tmp_path) == {Port(*end) for end in site.wrong}


def test_without_names_both_hosts_of_two_are_named_and_what_decides(tmp_path: Path, run: Run) -> None:
    site = Site((2,), named=False)
    site.swap_rails(site.host(1, 1), 2, 3)
    moved, undecided, _, _ = found(site, tmp_path)
    assert not moved
    assert undecided == {Port(site.host(1, place), device) for place in (1, 2) for device in (DGX[2], DGX[3])}
    code, out, _ = run("check", "--from", tmp_path, "--format", "json")
    assert code == 0
    report = json.loads(out)
    assert (report["summary"]["cables_wrong"], report["summary"]["cables_unknown"]) == (0, 4)
    doubts = [note for note in report["notes"] if note.startswith("Not decided: rail 2")]
    assert len(doubts) == 1
    assert all(site.host(1, place) in doubts[0] for place in (1, 2))
    assert "Give a plan" in doubts[0]
    code, out, _ = run("plan", "infer", "--from", tmp_path)
    assert (code, doubts[0] in out) == (0, True)


def test_one_host_alone_is_not_right_because_nothing_differs_from_it(tmp_path: Path) -> None:
    site = Site((1,), named=False)
    _, undecided, _, notes = found(site, tmp_path)
    assert undecided == {Port(*end) for end in site.planned}
    assert any("its pod has no other host" in note for note in notes)


@pytest.mark.parametrize("kind", [DGX, EIGHT])
def test_servers_with_other_adapters_take_no_part(kind: tuple[str, ...], tmp_path: Path) -> None:
    site = Site((4,), kinds=(kind,))
    for number, name in enumerate(("b11-p1-cufm-02", "ubuntu")):
        site.serve(name, ("mlx5_0", "mlx5_1"), [(site.leaf(1, rail), 28 + number) for rail in (2, 3)])
    moved, undecided, apart, notes = found(site, tmp_path)
    assert (moved, undecided, apart) == (set(), set(), {"b11-p1-cufm-02", "ubuntu"})
    assert any(note.startswith("Not on the rails") for note in notes)


def test_two_kinds_of_names_for_the_same_adapters(tmp_path: Path) -> None:
    site = Site((6, 5), kinds=(DGX, HCA))
    site.swap_rails(site.host(1, 2), 2, 3)
    holds(site, tmp_path)
    assert named_open(site, tmp_path) == {Port(*end) for end in site.wrong}


def test_a_kind_with_half_the_adapters_goes_by_the_leaves_that_it_reaches(tmp_path: Path) -> None:
    moved, undecided, apart, _ = found(Site((9, 9), kinds=(DGX, DGX, EIGHT[:4])), tmp_path)
    assert (moved, undecided, apart) == (set(), set(), set())


@pytest.mark.parametrize("hosts", [6, 12])
def test_a_cable_in_a_spare_port_of_its_leaf_is_named_and_not_moved(hosts: int, tmp_path: Path) -> None:
    """Where hardly any host shows the rule of ports, it is not even called wrong."""
    site = Site((hosts,))
    site.cabled[site.host(1, 3), DGX[1]] = (site.leaf(1, 1), 30)
    changed = {Port(site.host(1, 3), DGX[1])}
    moved, undecided, _, _ = found(site, tmp_path)
    assert (moved, undecided) == (set(), changed if hosts == 6 else set())
    assert named_open(site, tmp_path) == (set() if hosts == 6 else changed)


def test_two_of_three_cables_show_the_place_of_a_host_where_the_fabric_follows_a_rule(tmp_path: Path) -> None:
    site = Site((12, 12), rails=4)
    host = site.host(2, 12)
    for rail, place in ((0, None), (2, 14)):
        end = (host, DGX[rail])
        site.planned, site.cabled = dict(site.planned), dict(site.cabled)
        if place is None:
            del site.planned[end], site.cabled[end]
        else:
            site.cabled[end] = (site.leaf(2, rail), place)
    assert found(site, tmp_path)[:2] == (set(), set())
    assert named_open(site, tmp_path) == {Port(host, DGX[2])}


def in_blocks() -> Site:
    """Twenty pods of one leaf each, of two hosts, of one, and of three."""
    return Site((2,) * 16 + (1, 1, 1, 3), blocks=True)


def test_pods_of_one_leaf_and_few_hosts_are_decided_by_the_other_pods(tmp_path: Path) -> None:
    site = in_blocks()
    assert found(site, tmp_path) == (set(), set(), set(), [])
    site.swap_rails(site.host(17, 1), 4, 5)  # the only host of its pod
    for place in (1, 2):
        site.swap_rails(site.host(3, place), 3, 5)  # all hosts of its pod
    between = [(site.host(9, place), DGX[6]) for place in (1, 2)]
    site.swap(*between)
    site.cabled[site.host(18, 1), DGX[2]] = (site.leaf(18, 2), 20)
    moved, undecided, _, _ = found(site, tmp_path)
    assert (moved, undecided) == ({Port(*end) for end in between}, set())
    assert named_open(site, tmp_path) == {Port(*end) for end in site.wrong} - moved


def test_a_pod_of_three_hosts_may_have_a_wiring_of_its_own(tmp_path: Path) -> None:
    site = in_blocks()
    for place in (1, 2, 3):
        site.swap_rails(site.host(20, place), 0, 7)
    assert found(site, tmp_path)[:2] == (set(), set())


@pytest.mark.parametrize("rail", [0, 3, 7])
def test_a_nic_that_is_down_leaves_the_others_of_its_pod_where_they_are(rail: int, tmp_path: Path) -> None:
    site = in_blocks()
    for pod, place in ((2, 1), (2, 2), (17, 1)):
        del site.planned[site.host(pod, place), DGX[rail]], site.cabled[site.host(pod, place), DGX[rail]]
    moved, undecided, apart, _ = found(site, tmp_path)
    assert (moved, undecided, apart, named_open(site, tmp_path)) == (set(), set(), set(), set())


def test_half_of_the_nics_under_a_strange_name_are_a_server_beside_the_rails(tmp_path: Path) -> None:
    site = Site((6, 6), rails=4, kinds=(DGX, HCA))
    site.serve("ubuntu", DGX[:2], [(site.leaf(1, rail), 30) for rail in (2, 3)])
    site.serve("localhost", DGX[:3], [(site.leaf(2, rail), 31) for rail in (0, 1, 2)])
    moved, undecided, apart, _ = found(site, tmp_path)
    assert (moved, undecided, apart) == (set(), set(), {"ubuntu"})


FABRICS = Path(__file__).resolve().parents[2] / "shared" / "real"


@pytest.mark.skipif(not FABRICS.is_dir(), reason=f"no real fabrics at {FABRICS}")
@pytest.mark.parametrize("name", ["director", "gb200"])
def test_every_wrong_cable_of_a_real_fabric_is_named_and_no_other_one(name: str, tmp_path: Path) -> None:
    (tmp_path / "ibnetdiscover").write_bytes(gzip.decompress((FABRICS / f"{name}.ibnetdiscover.gz").read_bytes()))
    wrong = {Port(*end.split("/")) for end in json.loads((FABRICS / "truth.json").read_text())[name]}
    seen = read_capture(tmp_path).snapshot()
    evaluated = evaluate(Round(infer(seen).plan, seen))
    assert {port for port, state in evaluated.cable_states.items() if state is not CableState.RIGHT} == wrong
    assert {move.cable for cause in evaluated.causes for move in cause.moves} <= wrong


def test_a_fabric_with_mostly_factory_descriptions(tmp_path: Path) -> None:
    site = Site((12, 12))
    site.unset = {end for end in site.planned if end[0].startswith("b06") and not end[0].endswith(("c01", "c02"))}
    site.swap_rails(site.host(1, 1), 2, 3)
    holds(site, tmp_path)


@pytest.mark.parametrize("named", [True, False], ids=["named leaves", "unnamed leaves"])
@pytest.mark.parametrize("units", UNITS.values(), ids=UNITS.keys())
def test_where_no_adapter_announces_its_host_links_are_compared_and_no_cable_is_right(
    units: tuple[int, ...], named: bool, tmp_path: Path
) -> None:
    site = Site(units, named=named)
    site.unset, site.slow = set(site.planned), {(site.leaves[3], 34)}
    site.swap_rails(site.host(1, 1), 2, 3)
    inference, evaluated = checked(site, tmp_path)
    assert "No adapter announces its host" in inference.notes[0]
    assert Counter(evaluated.cable_states.values()) == {
        CableState.UNKNOWN: len(site.planned),
        CableState.RIGHT: len(site.leaves) * site.spines,
    }
    assert [(one.rule, one.subject.partition("/")[2]) for one in evaluated.findings] == [("LNK001", "34")]
    assert [(cause.kind, cause.moves) for cause in evaluated.causes] == [("degraded-link", ())]


def test_vlan_interfaces_share_the_mac_by_which_firmware_announces_a_nic(tmp_path: Path, run: Run) -> None:
    """Hosts answer `ip -j link` without details and have no lldpd: the leaves hear MACs alone."""
    names = ("eth1", "eth2")
    for host in range(1, 5):
        folder = tmp_path / f"gpu-{host}"
        folder.mkdir()
        links = [
            {
                "ifname": name,
                **below,
                "mtu": 9000,
                "operstate": "UP",
                "flags": ["UP"],
                "address": f"02:00:00:00:0{host}:0{n}",
            }
            for n, port in enumerate(names)
            for name, below in ((port, {}), (f"{port}.100", {"link": port}))
        ]
        (folder / "ip_-j_link").write_text(json.dumps(links))
        rdma = [f"link mlx5_{n}/1 state ACTIVE physical_state LINK_UP netdev {port} \n" for n, port in enumerate(names)]
        (folder / "rdma_link").write_text("".join(rdma))
    for n in range(2):
        heard = [
            {f"swp{host}": {"chassis": {"id": {"type": "mac", "value": f"02:00:00:00:0{host}:0{n}"}},
                            "port": {"id": {"type": "mac", "value": f"02:00:00:00:0{host}:0{n}"}}}}
            for host in range(1, 5)
        ]  # fmt: skip
        (tmp_path / f"leaf-{n}").mkdir()
        (tmp_path / f"leaf-{n}" / "lldpctl_-f_json").write_text(json.dumps({"lldp": {"interface": heard}}))
    code, out, _ = run("check", "--from", tmp_path, "--format", "json")
    summary = json.loads(out)["summary"]
    assert code == 0
    assert (summary["cables_planned"], summary["cables_right"]) == (8, 8)


def test_the_reason_why_nothing_can_be_inferred(tmp_path: Path, run: Run) -> None:
    (tmp_path / "ibnetdiscover").write_text("vendid=0x2c9\nSwitch garbage that is no listing\n")
    code, _, err = run("check", "--from", tmp_path)
    said = " ".join(err.split())
    assert code == 2
    assert "none can be inferred: no answer reports a neighbor" in said
    assert "ib_fabric" in said
    assert "line 1: not the links of an InfiniBand fabric" in said


# What an independent generator of fabrics showed of checks without a plan


def silent(snapshot: Snapshot) -> list[str]:
    return [note for note in infer(snapshot).notes if note.startswith("Not in the plan")]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_dead_cable_that_no_plan_has_is_noted(seed: int) -> None:
    sim = simulate(Shape(hosts=8), [Fault(CauseKind.LINK_DOWN)], seed=seed)
    assert silent(sim.snapshot()) == [
        "Not in the plan, as no neighbor is known where most hosts have one: 1 NICs: "
        + next(str(subject) for subject in sim.truth.causes[0].subjects if "gpu" in str(subject))
    ]


def test_of_many_some_are_named() -> None:
    sim = simulate(Shape(hosts=24), [Fault(CauseKind.LINK_DOWN)] * 16)
    (note,) = silent(sim.snapshot())
    assert note.endswith(", ...")


def test_a_right_fabric_has_no_such_note() -> None:
    assert silent(simulate(Shape(hosts=8, storage=True)).snapshot()) == []

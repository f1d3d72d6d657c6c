"""Links that the plan does not have are found on InfiniBand and Ethernet, each once, and in one line for people."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.ib_site import DGX, Site
from tests.live_site import Run
from truerail.analysis.round import Round
from truerail.model import Cable, Device, Neighbor, Plan, Port, RdmaLink, Reading, Role, Severity, Snapshot, Transport
from truerail.plans import dump_csv
from truerail.rounds import evaluate
from truerail.simulator import Shape, simulate


def plan_of(site: Site) -> Plan:
    """The cables of the rails; the uplinks as they are."""
    devices = {host: Device(host, Role.HOST) for host, _ in site.planned}
    devices |= {leaf: Device(leaf, Role.LEAF) for leaf in site.leaves}
    cables = [Cable(Port(*end), Port(leaf, str(port)), DGX.index(end[1])) for end, (leaf, port) in site.planned.items()]
    for (leaf, port), (spine, above) in site.links().items():
        if leaf in devices and spine not in devices and isinstance(above, int):
            cables.append(Cable(Port(leaf, str(port)), Port(spine, str(above))))
    spines = {cable.b.device: Device(cable.b.device, Role.SPINE) for cable in cables if cable.b.device not in devices}
    return Plan(devices | spines, tuple(cables), transport=Transport.INFINIBAND)


@pytest.fixture
def site() -> Site:
    site = Site((4,))
    site.serve("b11-p1-cufm-02", ("mlx5_0", "mlx5_1"), [(site.leaf(1, rail), 28) for rail in (2, 3)])
    site.serve(site.host(1, 2), ("mlx5_1",), [(site.leaf(1, 0), 20)])
    return site


def test_every_extra_link_is_reported_once_and_in_one_line_for_people(site: Site, tmp_path: Path, run: Run) -> None:
    (tmp_path / "capture").mkdir()
    (tmp_path / "capture/ibnetdiscover").write_text(site.listing())
    (tmp_path / "plan.csv").write_text(dump_csv(plan_of(site)))
    words = ("check", "--from", tmp_path / "capture", "--plan", tmp_path / "plan.csv")
    code, out, _ = run(*words, "--format", "json")
    report = json.loads(out)
    extra = {f["subject"]: f["observed"] for f in report["findings"] if f["rule"] == "CAB009"}
    assert code == 0
    assert extra == {
        f"{site.leaf(1, 2)}/28": "b11-p1-cufm-02/mlx5_0",
        f"{site.leaf(1, 3)}/28": "b11-p1-cufm-02/mlx5_1",
        f"{site.host(1, 2)}/mlx5_1": f"{site.leaf(1, 0)}/20",
    }
    assert not report["causes"]
    _, text, _ = run(*words)
    assert "3 links are not in the plan (CAB009)" in " ".join(text.split())
    _, table, _ = run(*words, "--format", "csv")
    assert sum(row.get("rule") == "CAB009" for row in csv.DictReader(io.StringIO(table))) == 3


def test_the_aggregation_node_inside_a_switch_is_no_link(site: Site) -> None:
    plan = plan_of(Site((4,)))
    at = simulate(Shape(hosts=1)).snapshot().at

    def heard(guid: str, name: str) -> Neighbor:
        return Neighbor(
            "65",
            chassis_id=guid,
            chassis_id_type="guid",
            system_name=name,
            port_id="1",
            port_id_type="ifname",
            via="InfiniBand",
            of=site.leaf(1, 0),
            of_guid="0x2c5eab0300b87000",
        )

    inside, outside = "0x2c5eab0300b87008", "0x2c5eab0300b87048"
    for guid, name, subjects in ((inside, inside, []), (outside, "lab-sw", [f"{site.leaf(1, 0)}/65"])):
        found = evaluate(Round(plan, Snapshot(at, [Reading("ufm-1", "ib_fabric", at, (heard(guid, name),))]))).findings
        assert [finding.subject for finding in found if finding.rule == "CAB009"] == subjects


def test_ethernet_has_none_where_everything_is_planned_and_reports_the_one_that_is_taken_out() -> None:
    sim = simulate(Shape(hosts=8))
    seen = sim.snapshot()
    assert not [f for f in evaluate(Round(sim.plan, seen)).findings if f.rule == "CAB009"]
    gone = sim.plan.cables[5]
    plan = Plan(sim.plan.devices, tuple(c for c in sim.plan.cables if c != gone), rails=sim.plan.rails)
    evaluated = evaluate(Round(plan, seen))
    (found,) = [f for f in evaluated.findings if f.rule == "CAB009"]
    assert (found.subject, found.observed, found.severity) == (str(gone.a), str(gone.b), Severity.INFO)
    assert f"1 link is not in the plan (CAB009): {gone.a.device} (1)" in evaluated.notes


def test_a_nic_that_is_on_a_rail_elsewhere_counts_and_those_of_storage_and_management_do_not() -> None:
    plan = Plan(
        {"gpu-1": Device("gpu-1"), "gpu-2": Device("gpu-2"), "leaf-0": Device("leaf-0", Role.LEAF)},
        (
            Cable(Port("gpu-1", "eth1"), Port("leaf-0", "swp1"), 0),
            Cable(Port("gpu-2", "eth5"), Port("leaf-0", "swp2"), 0),
        ),
    )
    at = simulate(Shape(hosts=1)).snapshot().at
    heard = tuple(
        Neighbor(port, system_name=far, port_id="7", port_id_type="ifname")
        for port, far in (("eth1", "leaf-0"), ("eth5", "other-sw"), ("eth9", "storage-sw"), ("eno1", "mgmt-sw"))
    )
    names = (("mlx5_0", "eth1"), ("mlx5_4", "eth5"), ("mlx5_8", "eth9"))
    rdma = tuple(RdmaLink(device, 1, "ACTIVE", "LINK_UP", netdev) for device, netdev in names)
    seen = Snapshot(at, [Reading("gpu-1", "lldp_host", at, heard), Reading("gpu-1", "rdma_link", at, rdma)])
    assert [f.subject for f in evaluate(Round(plan, seen)).findings if f.rule == "CAB009"] == ["gpu-1/eth5"]


def test_a_matrix_alone_says_nothing_of_nics_that_the_plan_names_by_netdev() -> None:
    sim = simulate(Shape(hosts=4))
    seen = sim.snapshot()
    alone = [reading for reading in seen.readings if reading.collector == "gpu_nic_topology"]
    (verdict,) = [v for v in evaluate(Round(sim.plan, Snapshot(seen.at, alone))).verdicts if v.rule == "NIC001"]
    assert verdict.status == "unknown"
    assert "no answer has RDMA links" in verdict.why

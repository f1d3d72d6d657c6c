"""A real Slurm of eight nodes: a job leads to its swapped cable, the exported topology is taken, and the gate keeps
a job from a host whose cable is wrong.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path

import pytest

from collector import collectors
from tests.fake_fleet import FakeFleet
from tests.live_site import Site, runner
from tests.oncall_fabrics import simulated
from tests.page_site import Site as Page
from tests.page_site import publication
from tests.slurm_site import Slurm, slurm
from truerail.cli import live
from truerail.files.nodesets import expand
from truerail.model import CauseKind, Device, SchedulerJob, SchedulerNode, Target, TopologyUnit
from truerail.model.job_record import JobRecord
from truerail.questions.scheduler_topology import topology
from truerail.service.job_finder import JobFinder
from truerail.service.job_settings import JobSettings
from truerail.simulator import Fault, Shape
from truerail.transport.fleet_transport import LOCAL, Routes
from truerail.transport.protocol import Answer
from truerail.transport.rest_api import RestApi

SIMULATION = simulated(
    Shape(hosts=8, pods=2, rails=4, spines=2, uplinks=4), Fault(CauseKind.CABLE_SWAP, "one-host"), seed=4
)
SHOWN = publication(SIMULATION.plan, SIMULATION.snapshot())
HOSTS = [name for name, device in SIMULATION.plan.devices.items() if device.role.tier == 0]
BAD = topology(SHOWN, "slurm").misplaced
PROLOG = Path(__file__).resolve().parent.parent / "deploy" / "slurm" / "truerail-prolog.sh"
ANY = Device("slurm")


class Mixed:
    """The simulated fleet, and the commands of this machine."""

    def __init__(self, fleet: FakeFleet) -> None:
        self._fleet, self._local = fleet, Routes()

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        return await (self._local if target.address == LOCAL else self._fleet).ask(target, commands)

    async def close(self) -> None:
        await self._local.close()
        await self._fleet.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Slurm]:
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", dir="/tmp") as folder,
        slurm(Path(folder), HOSTS, topology(SHOWN, "slurm").text) as site,
    ):
        yield site


def test_the_exported_topology_is_the_one_in_force(cluster: Slurm) -> None:
    exported = {
        unit.name: (unit.nodes, unit.children)
        for unit in collectors()["slurm_topology"].read(topology(SHOWN, "slurm").text, ANY)
        if isinstance(unit, TopologyUnit)
    }
    text = cluster.run("scontrol", "show", "topology")
    shown = {
        unit.name: (unit.nodes, unit.children)
        for unit in collectors()["slurm_topology"].read(text, ANY)
        if isinstance(unit, TopologyUnit)
    }
    assert shown == exported
    job = cluster.submit("-N2", "--gres=gpu:8", "--switches=1")
    cluster.wait(lambda: cluster.state(job) == "RUNNING", "a job of two nodes runs")
    (record,) = [one for one in _jobs(cluster) if one.job == job]
    assert any(set(record.nodes) <= set(nodes) for nodes, _ in exported.values() if nodes)
    cluster.run("scancel", job)
    cluster.wait(lambda: not cluster.state(job), "the job is gone")


def _jobs(cluster: Slurm) -> list[SchedulerJob]:
    """What the collector reads of the command that is sent."""
    answer = cluster.run("sh", "-c", collectors()["slurm_jobs"].ask[0].text)
    return [one for one in collectors()["slurm_jobs"].read(answer, ANY) if isinstance(one, SchedulerJob)]


def test_a_jobs_id_leads_to_its_swapped_cable(
    cluster: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    well = [host for host in HOSTS if host != BAD]
    job = cluster.submit("-J", "llama 3|70b", "-N2", "-w", f"{BAD},{well[0]}", "--gres=gpu:8")
    other = cluster.submit("-a", "3,5", "-w", well[1], "--gres=gpu:4")
    cluster.wait(
        lambda: [cluster.state(one).split() for one in (job, other)] == [["RUNNING"], ["RUNNING"] * 2], "they run"
    )
    records = {one.job: one for one in _jobs(cluster)}
    assert records[job].gpus == 16
    assert records[job].name == "llama 3|70b"
    assert set(records) == {job, f"{other}_3", f"{other}_5"}
    epoch = cluster.run("sh", "-c", f"date -d $(squeue -h -j {job} -o %S) +%s").strip()
    assert str(records[job].start_at) == epoch
    assert records[job].end_at is None
    nodes = collectors()["slurm_nodes"].read(cluster.run("scontrol", "-o", "show", "node"), ANY)
    assert {one.node: one.gpus for one in nodes if isinstance(one, SchedulerNode)} == dict.fromkeys(HOSTS, 8)

    site = Site(tmp_path, SIMULATION, monkeypatch)
    site.inventory.write_text(
        site.inventory.read_text() + "  - {name: slurm, platform: slurm, address: local}\n", encoding="utf-8"
    )
    monkeypatch.setattr(live, "open_transport", lambda: Mixed(site.fleet))
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    run = runner(monkeypatch, capsys)
    code, out, _ = run("job", job, "--inventory", site.inventory, "--plan", site.plan)
    assert code == 1
    assert "Yes: " in out
    assert "cable-swap" in out
    assert BAD in out
    code, out, _ = run("jobs", "--inventory", site.inventory, "--plan", site.plan)
    assert code == 1
    assert f"{other}_5" in out
    code, _, err = run("job", "9999", "--inventory", site.inventory, "--plan", site.plan)
    assert (code, "no running job is '9999'" in err) == (2, True)
    cluster.run("scancel", job, other)
    cluster.wait(lambda: not cluster.state(job) and not cluster.state(other), "the jobs are gone")


def test_a_real_slurmrestd_has_the_same_jobs_and_a_job_by_its_id(cluster: Slurm) -> None:
    job = cluster.submit("-J", "llama 3|70b", "-N2", "-w", ",".join(HOSTS[:2]), "--gres=gpu:8")
    other = cluster.submit("-a", "3,5", "-w", HOSTS[2], "--gres=gpu:4")
    cluster.wait(
        lambda: [cluster.state(one).split() for one in (job, other)] == [["RUNNING"], ["RUNNING"] * 2], "they run"
    )
    brief = cluster.run("sbatch", "--parsable", "-o", "/dev/null", "-w", HOSTS[3], "--wrap", "true").strip()
    cluster.wait(lambda: not cluster.state(brief), "it has ended")
    settings = JobSettings.model_validate({"slurm": {"via": f"rest {cluster.rest()}"}})
    (target,) = settings.targets(())
    api = RestApi()

    def read(command: str) -> list[SchedulerJob]:
        (answer,) = asyncio.run(api.ask(target, [command]))
        assert not answer.error, answer.error
        return [one for one in collectors()["slurm_jobs"].read(answer.text, ANY) if isinstance(one, SchedulerJob)]

    key = attrgetter("job")
    running = sorted((one for one in read("GET /slurm/jobs") if one.state == "RUNNING"), key=key)
    assert running == sorted(_jobs(cluster), key=key)
    assert {one.job: one.gpus for one in running} == {job: 16, f"{other}_3": 4, f"{other}_5": 4}
    assert read(f"GET /slurm/job/{job}") == [one for one in running if one.job == job]

    def find(asked: str) -> list[JobRecord]:
        finder = JobFinder(lambda: api)
        return list(asyncio.run(finder.find(asked, [target], datetime.now(UTC), show_users=True, show_names=True)))

    (ended,) = find(brief)
    assert (ended.key, expand(ended.nodes)) == (brief, [HOSTS[3]])
    assert ended.ended_at is not None
    assert {one.key for one in find(other)} == {f"{other}_3", f"{other}_5"}
    assert find("999999") == []
    cluster.run("scancel", job, other)
    cluster.wait(lambda: not cluster.state(job) and not cluster.state(other), "the jobs are gone")


def test_a_job_that_has_ended_is_found_by_its_id(cluster: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    words = ("-o", "/dev/null", "-J", "brief | one", "-N2", "-w", ",".join(HOSTS[:2]), "--gres=gpu:8", "--wrap", "true")
    job = cluster.run("sbatch", "--parsable", *words).strip()
    waits = cluster.submit("-H")
    cluster.wait(lambda: not cluster.state(job), "it has ended")

    def find(key: str) -> list[JobRecord]:
        finder, target = JobFinder(Routes), Target("slurm", LOCAL, platform="slurm")
        return list(asyncio.run(finder.find(key, [target], datetime.now(UTC), show_users=True, show_names=True)))

    (found,) = find(job)
    assert (found.key, found.name, found.user, found.gpus) == (job, "brief | one", "root", 16)
    assert expand(found.nodes) == sorted(HOSTS[:2])
    assert found.ended_at is not None
    assert found.begun_at <= found.ended_at <= datetime.now(UTC)
    assert find(waits) == find("999999") == []
    cluster.run("scancel", waits)


def test_the_gate_keeps_a_job_from_a_host_whose_cable_is_wrong(cluster: Slurm) -> None:
    well = next(host for host in HOSTS if host != BAD)
    with Page(SHOWN) as service:
        cluster.prolog(f"export TRUERAIL_URL={service.url} TRUERAIL_SECONDS=30 TRUERAIL_STRICT=1\nexec sh {PROLOG}")
        first, second = cluster.submit("-w", well), cluster.submit("-w", BAD)
        cluster.wait(lambda: cluster.state(first) == "RUNNING", "the job on a fit host runs")
        cluster.wait(lambda: "DRAIN" in cluster.run("scontrol", "show", "node", BAD), "the node is drained")
        assert cluster.state(second) != "RUNNING"
        (node,) = collectors()["slurm_nodes"].read(cluster.run("scontrol", "show", "node", BAD), ANY)
        assert isinstance(node, SchedulerNode)
        assert "DRAIN" in node.states
        assert node.reason == "Prolog error"
    cluster.prolog("exit 0")  # and all as it was: tests have no order
    cluster.run("scancel", first, second)
    cluster.run("scontrol", "update", f"NodeName={BAD}", "State=RESUME")

"""NCCL's RAS of the known jobs: one host of each is asked, and what never answered leaves no trace."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.fake_tower import settings as made
from truerail.analysis.running_jobs import Jobs, RunningJob
from truerail.errors import TransportError
from truerail.model import Device, Role, SshAccess, Target
from truerail.model.nccl_facts import RasRank
from truerail.model.platforms import NCCL
from truerail.model.snapshot import Snapshot
from truerail.service.loading import load_settings
from truerail.service.polled_work import work_of
from truerail.service.ras_follower import MOST_JOBS, PATIENCE, RasFollower, chosen
from truerail.transport.command_gate import refuse_undeclared
from truerail.transport.protocol import Answer

AT = datetime(2026, 11, 24, tzinfo=UTC)
RECORDED = (Path(__file__).parent / "recordings" / "nccl_ras" / "json-counts" / "answer.txt").read_text(
    encoding="utf-8"
)
NAMED = {
    **{f"gpu-{n}": (Target(f"gpu-{n}", "10.0.0.1", ssh=SshAccess(user="t")), Device(f"gpu-{n}")) for n in range(1, 9)},
    "sw": (Target("sw", "10.0.0.2", platform="sonic", role=Role.LEAF), Device("sw", Role.LEAF)),
}


def job(key: str, *hosts: str, gpus: int | None = 8, start: int = 1) -> RunningJob:
    return RunningJob(key, "slurm", "slurm", hosts=hosts, gpus=gpus, start_at=start)


def keys(jobs: Jobs, before: dict[tuple[str, str, int | None], str] | None = None) -> dict[str, str]:
    return {key: host for (_, key, _), host in chosen(jobs, NAMED, before or {}).items()}


def test_one_host_of_each_job_on_several_hosts() -> None:
    jobs = Jobs((job("1", "gpu-1", "gpu-2"), job("2", "gpu-1", "gpu-2", "gpu-3"), job("3", "gpu-4")))
    assert keys(jobs) == {"2": "gpu-1", "1": "gpu-2"}, "no host for two jobs, none for a job on one host"
    assert keys(jobs, {("slurm", "2", 1): "gpu-3", ("slurm", "1", 1): "gpu-9"}) == {"2": "gpu-3", "1": "gpu-1"}
    assert keys(Jobs((job("1", "gpu-1", "gpu-2", gpus=0), job("2", "new-1", "sw", "gpu-5")))) == {"2": "gpu-5"}
    assert keys(Jobs((job("1", "gpu-1", "gpu-2"), job("2", "gpu-1", "gpu-2"), job("3", "gpu-1", "gpu-2")))).keys() == {
        "1",
        "2",
    }
    many = {f"h{n}": (Target(f"h{n}", "10.0.0.1"), Device(f"h{n}")) for n in range(2 * MOST_JOBS + 2)}
    jobs = Jobs(tuple(job(str(n), f"h{2 * n}", f"h{2 * n + 1}") for n in range(MOST_JOBS + 1)))
    assert len(chosen(jobs, many, {})) == MOST_JOBS


class Ras:
    """A fleet of which some hosts answer. `asked` has those that were asked, in order."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, str] = {}
        self.opened = self.closed = 0

    def __call__(self) -> "Ras":
        self.opened += 1
        return self

    async def ask(self, target: Target, commands: Sequence[str]) -> list[Answer]:
        refuse_undeclared(target, commands)
        assert target.platform == NCCL
        self.asked.append(target.name)
        text = self.answers.get(target.name)
        if text is None:
            raise TransportError("connection refused")
        return [Answer(commands[0], text, "" if text else "exit status 1")]

    async def close(self) -> None:
        self.closed += 1


async def test_answers_join_the_snapshot_and_what_never_answered_does_not() -> None:
    fleet, heard = Ras(), []
    ras = RasFollower(fleet, lambda: AT, lambda: heard.append(1))
    empty = Snapshot(AT, [])
    await ras.run(Jobs(), NAMED)
    assert (fleet.opened, heard, ras.joined(empty)) == (0, [], empty)
    jobs = Jobs((job("1", "gpu-1", "gpu-2"), job("2", "gpu-3", "gpu-4")))
    fleet.answers["nccl-gpu-1"] = RECORDED
    await ras.run(jobs, NAMED)
    (reading,) = ras.joined(empty).readings
    assert (reading.device, reading.collector, reading.error) == ("nccl-gpu-1", "nccl_ras", "")
    assert any(isinstance(fact, RasRank) for fact in reading.facts)
    assert sorted(fleet.asked) == ["nccl-gpu-1", "nccl-gpu-3"]
    for _ in range(PATIENCE - 1):
        await ras.run(jobs, NAMED)
    assert fleet.asked.count("nccl-gpu-3") == 1, "a job without NCCL is asked less often"
    fleet.answers["nccl-gpu-3"] = "not RAS at all\n"
    await ras.run(jobs, NAMED)
    assert fleet.asked.count("nccl-gpu-3") == 2
    assert len(ras.joined(empty).readings) == 1
    fleet.answers["nccl-gpu-1"] = ""
    await ras.run(jobs, NAMED)
    (reading,) = ras.joined(empty).readings
    assert (reading.facts, reading.error) == ((), "exit status 1"), "it has answered: now it is unknown"
    count = len(heard)
    await ras.run(Jobs((job("2", "gpu-3", "gpu-4"),)), NAMED)
    assert (ras.joined(empty), len(heard)) == (empty, count + 1)
    await ras.forget()
    await ras.forget()
    assert (fleet.opened, fleet.closed) == (1, 1)


def test_the_setting(tmp_path: Path) -> None:
    file = tmp_path / "truerail.yaml"
    file.write_text("inventory: i.yaml\njobs: {ras: {hosts: auto, every: 1m}}\n", encoding="utf-8")
    settings = load_settings(file)
    assert settings.jobs.ras is not None
    assert settings.jobs.ras.hosts == "auto"
    host = NAMED["gpu-1"][0]
    assert work_of(settings, [host], None).targets == (host,)
    assert made(jobs={"ras": {"hosts": ["gpu-1"]}}).jobs.ras is not None

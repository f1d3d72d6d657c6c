"""This machine's own commands, and which commands may be sent at all."""

import asyncio
from pathlib import Path

import pytest

from collector import collectors
from tests.patience import ENOUGH, soon, waited
from tests.sshd import install
from truerail.errors import UndeclaredCommandError
from truerail.model import PLATFORMS, Target
from truerail.poller.event_loop import run
from truerail.transport.capture_files import JOB
from truerail.transport.command_gate import declared, refuse_undeclared
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.protocol import Answer
from truerail.transport.shell_sessions import Local

TOPO, RDMA, LLDP = "nvidia-smi topo -m", "rdma link", "lldpctl -f json0"


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def program(folder: Path, name: str, script: str) -> None:
    install(folder / name, f"#!/bin/sh\n{script}\n")


def ask(commands: list[str], seconds: float = ENOUGH, limits: Limits = LIMITS) -> list[Answer]:
    return asyncio.run(asking(commands, seconds, limits))


def test_the_loop_of_the_service_runs_commands_too(programs: Path) -> None:
    program(programs, "nvidia-smi", "echo GPU0")
    found: list[Answer] = []

    async def body() -> None:
        found.extend(await asking([TOPO], ENOUGH))

    run(body())
    assert [(answer.text, answer.error) for answer in found] == [("GPU0\n", "")]


async def asking(commands: list[str], seconds: float, limits: Limits = LIMITS) -> list[Answer]:
    target = Target("here", "local", platform="linux", timeout_seconds=seconds)
    return await Local(limits=limits).ask(target, commands)


def test_commands_are_run_here(programs: Path) -> None:
    program(programs, "nvidia-smi", "echo topo")
    program(programs, "rdma", "echo broken >&2; exit 2")
    topo, rdma, missing = ask([TOPO, RDMA, "ibdev2netdev -v"])
    assert (topo.text, topo.error) == ("topo\n", "")
    assert rdma.error == "exit status 2: broken"
    assert missing.error.startswith("command not found: ")


def test_what_hangs_is_killed_with_all_that_it_started(programs: Path) -> None:
    program(programs, "rdma", f"echo $$ >{programs}/pid; sleep 601 & wait")
    program(programs, "nvidia-smi", "echo topo")
    answers, seconds = asyncio.run(waited(asking([RDMA, TOPO], seconds=3.0)))
    assert not isinstance(answers, BaseException)
    assert [(a.text, a.error) for a in answers] == [("", "no answer within 3 s"), ("topo\n", "")]
    assert seconds < 5.5
    started = Path(f"/proc/{(programs / 'pid').read_text().strip()}/cmdline")
    soon(lambda: not _runs(started), "the command is killed")


def _runs(process: Path) -> bool:
    """Whether a process is neither gone nor waiting to be reaped."""
    try:
        return bool(process.read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_output_without_end_is_cut(programs: Path) -> None:
    program(programs, "rdma", "yes")
    answers = ask([RDMA, TOPO], limits=Limits(answer_bytes=1 << 18, device_bytes=1 << 20))
    assert answers[0].error == f"more than {1 << 20} bytes of output in one session, cut off"
    assert answers[1].error.startswith("not asked: ")


def test_every_declared_command_may_be_sent_to_its_platforms_and_to_no_other() -> None:
    for collector in collectors().values():
        for command in collector.ask:
            text = command.text.replace(JOB, "1234")
            for platform in PLATFORMS:
                target = Target("x", "10.0.0.1", platform=platform)
                everybodys = not command.platforms and platform not in (
                    "snmp",
                    "infiniband",
                    "slurm",
                    "kubernetes",
                    "jobs",
                    "nccl",
                )
                if everybodys or platform in command.platforms:
                    refuse_undeclared(target, [text])
                elif text not in declared(platform)[0] and not text.startswith(declared(platform)[1]):
                    with pytest.raises(UndeclaredCommandError):
                        refuse_undeclared(target, [text])


@pytest.mark.parametrize(
    "job", ["", "-1", "1 2", "1;2", "$(id)", "`id`", "1|2", "1'2", '1"2', "1\n2", "*", "~", "1" * 11]
)
def test_the_id_of_a_job_that_means_something_to_a_shell_is_refused(job: str) -> None:
    (start,) = (one for one in declared("slurm")[1] if "scontrol" in one)
    refuse_undeclared(Target("x", "10.0.0.1", platform="slurm"), [f"{start}1234"])
    with pytest.raises(UndeclaredCommandError):
        refuse_undeclared(Target("x", "10.0.0.1", platform="slurm"), [f"{start}{job}"])


def test_a_device_whose_platform_is_not_known_is_sent_nothing_that_is_meant_for_snmp() -> None:
    unknown = Target("x", "10.0.0.1")
    refuse_undeclared(unknown, [LLDP, "show lldp neighbors detail | json"])
    with pytest.raises(UndeclaredCommandError, match="any platform"):
        refuse_undeclared(unknown, ["snmpwalk"])


def test_a_refusal_shows_a_command_safely() -> None:
    with pytest.raises(UndeclaredCommandError) as caught:
        refuse_undeclared(Target("x", "10.0.0.1", platform="linux"), ["\033[2J" + "y" * 500])
    assert "\033" not in str(caught.value)
    assert len(str(caught.value)) < 200

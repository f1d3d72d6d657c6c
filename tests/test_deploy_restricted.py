"""The forced commands: they let through what truerail asks, word for word, and nothing else."""

import asyncio
import importlib.util
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import jinja2
import pytest
from hypothesis import given
from hypothesis import settings as property_settings
from hypothesis import strategies as some

from tests.draws import draws
from tests.each import each
from tests.sshd import sshd
from truerail.model import Role
from truerail.model.platforms import PROBES
from truerail.poller.questions import applicable
from truerail.transport.framing import Frames, script
from truerail.transport.ssh_transports import SshHosts

ROOT = Path(__file__).resolve().parent.parent
FILES = ROOT / "deploy" / "ansible" / "roles" / "truerail_device" / "files"
ANSWER = '#!/bin/sh\necho "$(basename "$0") $*"\n'
HOST = [commands[0] for commands in applicable(Role.HOST, "linux").values()]
REFUSED = 126


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("restricted", ROOT / "deploy" / "restricted.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of programs that say how they were called, in the place of those that would look at this machine."""
    folder = tmp_path_factory.mktemp("programs")
    for name in ("lldpcli", "lldpctl", "ip", "rdma", "nvidia-smi", "show", "docker", "sudo", "nv", "net", "cat"):
        folder.joinpath(name).write_text(ANSWER)
        folder.joinpath(name).chmod(0o755)
    return folder


def ask(platform: str, asked: str | None, programs: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """What sshd does: the forced command, with what the client sent in its environment."""
    environment = {"PATH": f"{programs}:/usr/bin:/bin"}
    if asked is not None:
        environment["SSH_ORIGINAL_COMMAND"] = asked
    forced = FILES / f"truerail-only.{platform}"
    return subprocess.run(
        ["/bin/sh", forced], env=environment, input=stdin, capture_output=True, check=False, timeout=20
    )


def session(commands: Sequence[str], programs: Path) -> Frames:
    frames = Frames(commands)
    done = ask("linux", frames.script, programs, frames.opening)
    frames.out(done.stdout)
    frames.err(done.stderr)
    return frames


def test_the_files_are_those_that_the_collectors_declare_now() -> None:
    assert generator().main(["--check"]) == 0, "run `python deploy/restricted.py`"


@pytest.mark.parametrize("platform", generator().PLATFORMS)
def test_the_scripts_are_valid_shell_and_can_be_run(platform: str) -> None:
    forced = FILES / f"truerail-only.{platform}"
    assert os.access(forced, os.X_OK)
    subprocess.run(["/bin/sh", "-n", forced], check=True)


def test_a_whole_round_comes_through_with_its_frames(programs: Path) -> None:
    frames = session(HOST, programs)
    assert frames.finished
    reported = {answer.command: answer.text.strip() for answer in frames.answers()}
    assert reported["lldpctl -f json0"] == "lldpctl -f json0"
    assert list(reported) == HOST


@each("text", [text for texts in applicable(Role.HOST, "linux").values() for text in texts])
def test_every_command_of_a_host_is_let_through(text: str, programs: Path) -> None:
    assert session(["ip -j addr", text], programs).started


@pytest.mark.parametrize("platform", ["cumulus", "sonic"])
def test_every_command_of_a_switch_is_let_through(platform: str, programs: Path) -> None:
    for texts in applicable(Role.LEAF, platform).values():
        for text in texts:
            assert b"truerail-only:" not in ask(platform, text, programs).stderr, text
    for text in PROBES:
        assert ask(platform, text, programs).stdout.decode().strip() == text


@each(
    "asked",
    [
        None,
        "",
        "id",
        "lldpcli configure system hostname evil",
        "lldpctl -f json0; id",
        "lldpctl -f json0\nid",
        " lldpctl -f json0",
        "lldpctl -f json0 ",
        "scp -t /tmp",
        "internal-sftp",
        script([]),
        script(["id"]),
        script(["ip -j addr", "id"]),
        script(["ip -j addr; id"]),
        script(["ip -j addr ) ; id; ( ip -j addr"]),
        script(["ip -j addr"]) + "; id",
        script(["ip -j addr"]) + "\nid",
        script(["ip -j addr"]) * 2,
        script(["ip -j addr"]).replace("say 1 ", "say 2 "),
        script(["ip -j addr"]).replace("</dev/null", "</etc/passwd"),
        script(["ip -j addr"]).replace("PATH=$PATH", "PATH=/tmp"),
        script(["ip -j addr"]).removesuffix("'"),
        script(["ip -j addr*"]),
        "id; " + script(["ip -j addr"]),
    ],
)
@each("platform", ["linux", "sonic"])
def test_anything_else_is_refused(platform: str, asked: str | None, programs: Path) -> None:
    done = ask(platform, asked, programs, b"0" * 32 + b"\n")
    assert done.returncode == REFUSED
    assert not done.stdout
    assert done.stderr.startswith(b"truerail-only: ")


@property_settings(max_examples=draws(15, 240))
@given(data=some.data())
def test_a_request_that_differs_anywhere_is_refused(data: some.DataObject) -> None:
    whole = script(["ip -j addr", "rdma link"])
    at = data.draw(some.integers(0, len(whole) - 1), label="at")
    put = data.draw(some.text(alphabet=" ;&|$()'\"<>`\n\\*xA1", max_size=3), label="put")
    changed = whole[:at] + put + whole[at + 1 :]
    refused = ask("linux", changed, Path("/nonexistent")).returncode == REFUSED
    assert refused == (changed != whole)


def test_a_real_sshd_with_it_answers_truerail_and_nobody_else(tmp_path: Path) -> None:
    with sshd(tmp_path / "sshd") as server:
        server.program("lldpctl", "echo neighbours")
        server.folder.joinpath("authorized_keys").write_text(authorized_keys(server.key.with_suffix(".pub")))

        async def round_of(commands: Sequence[str]) -> list[tuple[str, str]]:
            hosts = SshHosts()
            try:
                return [(answer.text, answer.error) for answer in await hosts.ask(server.target(), commands)]
            finally:
                await hosts.close()

        asked = round_of(["lldpctl -f keyvalue", "lldpctl -f json0"])
        assert asyncio.run(asked) == [("neighbours\n", ""), ("neighbours\n", "")]
        client = ["ssh", "-F", "none", "-p", str(server.port), "-i", server.key]
        client += ["-o", f"UserKnownHostsFile={server.known_hosts}", "-o", "BatchMode=yes", "127.0.0.1"]
        for command in (["id"], ["lldpctl", "-u", "/tmp/x"], []):
            done = subprocess.run(
                [*map(str, client), *command], stdin=subprocess.DEVNULL, capture_output=True, check=False
            )
            assert (done.returncode, done.stdout) == (REFUSED, b"")


def authorized_keys(public: Path) -> str:
    """What the role writes on a device."""
    template = FILES.parent / "templates" / "authorized_keys.j2"
    rendered: str = jinja2.Template(template.read_text(encoding="utf-8")).render(
        truerail_device_forced_command=FILES / "truerail-only.linux",
        truerail_device_from=["127.0.0.1", "10.0.0.0/8"],
        truerail_device_public_key=public.read_text(),
    )
    return rendered

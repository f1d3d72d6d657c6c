"""Switches by SSH: exec channels on one held connection of a real sshd, a shell where there is nothing else, limits."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from tests.patience import ENOUGH, soon, until, waited
from tests.sshd import ODD, Sshd, asking, odd_server, sshd, texts
from truerail.errors import TransportError, UndeclaredCommandError
from truerail.extras import EXTRAS
from truerail.model import Secret, SshAccess, Target
from truerail.transport.framing import LIMITS, Limits
from truerail.transport.protocol import Answer
from truerail.transport.ssh_transports import SwitchCli

LLDP, LINK, SHOW = "lldpctl -f json0", "ip -j -d link", "show lldp neighbors detail"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as running:
        running.program("lldpctl", "echo lldp")
        running.program("ip", "echo links; echo careful >&2")
        yield running


def rounds(target: Target, *asked: list[str], limits: Limits = LIMITS) -> list[list[Answer]]:
    return asyncio.run(asking(SwitchCli, target, *asked, limits=limits))


def switch(server: Sshd, **options: float) -> Target:
    return replace(server.target("leaf-1"), platform="cumulus", **options)  # type: ignore[arg-type]  # fields of Target


def test_commands_are_exec_channels_of_one_connection(server: Sshd) -> None:
    both = rounds(switch(server), [LLDP, LINK, "nv show interface lldp-detail -o json"], [LLDP])
    assert texts(both[0])[:2] == [("lldp\n", ""), ("links\n", "")]
    assert both[0][2].error.startswith("command not found: ")
    assert [answer.refused for answer in both[0]] == [False, False, True]
    assert texts(both[1]) == [("lldp\n", "")]
    assert server.log.count("Accepted publickey") == 1
    assert server.log.count("Starting session") == 4
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("truerail-switch")]


def test_an_own_key_of_a_type_that_paramiko_lacks_is_passed_over_and_a_named_one_is_reported(
    server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    odd = tmp_path / ".ssh" / "id_ecdsa"
    odd.parent.mkdir()
    asyncssh.generate_private_key("ecdsa-sha2-1.3.132.0.10").write_private_key(odd)
    odd.with_name("id_rsa").symlink_to(server.key)
    asked = replace(server.target("leaf-1", key=""), platform="cumulus")
    assert texts(rounds(asked, [LLDP])[0]) == [("lldp\n", "")]
    with pytest.raises(TransportError, match=f"key {odd}: Unsupported key type"):
        rounds(replace(server.target("leaf-1", key=str(odd)), platform="cumulus"), [LLDP])


def test_what_no_collector_declares_is_refused(server: Sshd) -> None:
    for command in ("reload", "show running-config", "lldpctl -f json0 | sh"):
        with pytest.raises(UndeclaredCommandError):
            rounds(switch(server), [LLDP, command])
    assert "Starting session" not in server.log


def test_a_command_that_hangs_costs_its_own_answer(server: Sshd) -> None:
    server.program("ip", "exec sleep 600")
    found, seconds = asyncio.run(waited(asking(SwitchCli, switch(server, timeout_seconds=4.0), [LLDP, LINK, LLDP])))
    assert not isinstance(found, BaseException)
    assert texts(found[0]) == [("lldp\n", ""), ("", "no answer in time"), ("lldp\n", "")]
    assert seconds < 8.0


def test_output_without_end_costs_its_own_answer(server: Sshd) -> None:
    server.program("ip", "yes")
    answers = rounds(switch(server), [LLDP, LINK, LLDP], limits=Limits(answer_bytes=1 << 20))[0]
    assert [answer.error for answer in answers] == ["", f"more than {1 << 20} bytes of output, not read", ""]
    assert answers[1].text == ""


def test_a_held_connection_that_died_is_made_again(server: Sshd) -> None:
    async def run() -> list[Answer]:
        switches = SwitchCli()
        try:
            await switches.ask(switch(server), [LLDP])
            server.stop()
            server.start()
            return await switches.ask(switch(server), [LLDP])
        finally:
            await switches.close()

    assert texts(asyncio.run(run())) == [("lldp\n", "")]


@pytest.mark.parametrize("behave", ODD)
def test_a_switch_that_hangs_or_resets_is_an_error_in_time(behave: object) -> None:
    with odd_server(behave) as port:  # type: ignore[arg-type]  # one of the functions above
        access = SshAccess(port=port, agent=False)
        target = Target("leaf-1", "127.0.0.1", platform="eos", timeout_seconds=0.5, ssh=access)
        error, seconds = asyncio.run(waited(asking(SwitchCli, target, [SHOW])))
    assert isinstance(error, TransportError)
    assert str(error).startswith(f"127.0.0.1 port {port}: ")
    assert not str(error).endswith(": ")
    assert seconds < 4.0


def test_cancelling_ends_the_connection(server: Sshd) -> None:
    server.program("ip", "exec sleep 600")

    async def run() -> float:
        switches = SwitchCli()
        asking = asyncio.create_task(switches.ask(switch(server), [LINK]))
        await until(lambda: "Starting session" in server.log)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        result, seconds = await waited(switches.close())
        assert result is None
        return seconds

    assert asyncio.run(run()) < 3
    soon(lambda: not server.sessions(), "what hung is killed")


def test_a_switch_behind_a_jump_host(server: Sshd) -> None:
    target = switch(server)
    target = replace(target, ssh=replace(target.ssh, jump=(f"127.0.0.1:{server.port}",)))
    assert texts(rounds(target, [LLDP])[0]) == [("lldp\n", "")]
    assert server.log.count("Accepted publickey") == 2


PAGED = ["Interface Ethernet1 detected 1 LLDP neighbors:"] + [f"  line {number}" for number in range(100)]


async def act_as_eos(process: "asyncssh.SSHServerProcess[str]") -> None:
    """EOS's command line, as far as it matters: an echo, a pager that must be turned off, a prompt. No exec channel."""
    if process.command:
        process.exit(1)
        return
    received: list[str] = process.get_extra_info("connection").get_extra_info("received")
    process.stdout.write("leaf-1>")
    while line := await process.stdin.readline():
        command = line.strip()
        received.append(command)
        process.stdout.write(command + "\r\n")
        if command == "terminal width 511":
            process.stdout.write("Width set to 511 columns.\r\n")
        elif command == "terminal length 0":
            process.stdout.write("Pagination disabled.\r\n")
        elif command == SHOW:
            process.stdout.write("\r\n".join(PAGED) + "\r\n")
        elif command == "show mac address-table":
            await asyncio.sleep(600)
        elif command:
            process.stdout.write("% Invalid input\r\n")
        process.stdout.write("leaf-1>")


class _EosServer(asyncssh.SSHServer):
    """Takes any password, refuses exec channels, as some switches' servers do, and notes what is typed."""

    def __init__(self, received: list[str], connections: list[asyncssh.SSHServerConnection]) -> None:
        self._received = received
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        conn.set_extra_info(received=self._received)
        self._connections.append(conn)

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return True

    def session_requested(self) -> object:
        stream = asyncssh.SSHServerProcess(act_as_eos, None, 0, False)
        stream.exec_requested = lambda command: False  # type: ignore[method-assign]  # what is being played
        return stream


@asynccontextmanager
async def eos(tmp_path: Path, received: list[str]) -> AsyncIterator[Target]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    connections: list[asyncssh.SSHServerConnection] = []
    server = await asyncssh.create_server(
        lambda: _EosServer(received, connections), "127.0.0.1", 0, server_host_keys=[key], line_editor=False
    )
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{server.get_port()} {key.export_public_key().decode()}")
    (tmp_path / "password").write_text("any")
    password = Secret("file", str(tmp_path / "password"))
    access = SshAccess(user="me", password=password, known_hosts=str(known), port=server.get_port(), agent=False)
    try:
        yield Target("leaf-1", "127.0.0.1", platform="eos", timeout_seconds=ENOUGH, ssh=access)
    finally:
        server.close()
        for connection in connections:
            connection.abort()
            await connection.wait_closed()
        await server.wait_closed()


def test_a_switch_that_has_a_shell_alone_is_asked_through_it(tmp_path: Path) -> None:
    received: list[str] = []

    async def run() -> list[Answer]:
        async with eos(tmp_path, received) as target:
            switches = SwitchCli()
            try:
                answers = await switches.ask(target, [SHOW])
                (device,) = switches._devices.values()
                device._shell._seconds = 2
                answers += await switches.ask(target, ["show mac address-table"])
                return answers + await switches.ask(target, [SHOW, SHOW])
            finally:
                await switches.close()

    first, slow, after, second = asyncio.run(run())
    assert first.text.replace("\r", "").splitlines() == PAGED
    assert first.error == ""
    assert second.text == first.text
    assert slow.error == "no prompt within 2 s"
    assert after.text == first.text
    assert set(received) - {""} == {"terminal width 511", "terminal length 0", SHOW, "show mac address-table"}


def test_a_platform_whose_shell_nobody_knows_is_reported(tmp_path: Path) -> None:
    async def run() -> None:
        async with eos(tmp_path, []) as target:
            await asking(SwitchCli, replace(target, platform="sonic"), [LLDP])

    with pytest.raises(TransportError, match="exec channels are refused, and no shell of platform sonic is known"):
        asyncio.run(run())


def test_without_netmiko_a_shell_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTRAS, "switches", ("no_such_module",))

    async def run() -> None:
        async with eos(tmp_path, []) as target:
            await asking(SwitchCli, target, [SHOW])

    with pytest.raises(TransportError, match=r"pip install 'truerail\[switches\]'"):
        asyncio.run(run())

"""Hosts by SSH, against a real OpenSSH sshd: one session a round, what it receives, devices that misbehave, limits."""

import asyncio
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.patience import ENOUGH, soon, until, waited
from tests.ports import refusing_port
from tests.sshd import (
    Sshd,
    asking,
    closing_after_banner,
    install,
    new_key,
    odd_server,
    resetting,
    silent,
    sshd,
    stuck_after_banner,
    texts,
)
from truerail.errors import ConnectError, TransportError, UndeclaredCommandError
from truerail.model import Secret, Target
from truerail.transport.framing import LIMITS, Frames, Limits, script
from truerail.transport.protocol import Answer
from truerail.transport.ssh_login import system_words
from truerail.transport.ssh_transports import SshHosts

TOPO, RDMA, LLDP = "nvidia-smi topo -m", "rdma link", "lldpctl -f json0"
FOREVER = "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as running:
        running.program("nvidia-smi", "echo topo")
        running.program("rdma", "echo rdma; echo careful >&2")
        running.program("lldpctl", "echo lldp")
        yield running


def rounds(target: Target, *asked: list[str], limits: Limits = LIMITS) -> list[list[Answer]]:
    return asyncio.run(asking(SshHosts, target, *asked, limits=limits))


def refused(target: Target) -> str:
    """Why a target cannot be asked."""
    with pytest.raises(TransportError) as caught:
        rounds(target, [TOPO])
    return str(caught.value)


def test_two_rounds_are_one_login_and_two_sessions(
    server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listening = tmp_path / "listening"

    class Noticing(Frames):
        """Tells the command when it is waited for: what it takes from then on is its time."""

        def out(self, data: bytes) -> None:
            super().out(data)
            listening.touch()

    monkeypatch.setattr("truerail.transport.ssh_transports.Frames", Noticing)
    server.program("nvidia-smi", f"until [ -e {listening} ]; do sleep 0.02; done; sleep 0.1; echo topo")
    both = rounds(server.target(), [TOPO, RDMA, LLDP], [LLDP, TOPO])
    assert texts(both[0]) == [("topo\n", ""), ("rdma\n", ""), ("lldp\n", "")]
    assert texts(both[1]) == [("lldp\n", ""), ("topo\n", "")]
    assert [answer.command for answer in both[0]] == [TOPO, RDMA, LLDP]
    assert 0.1 <= both[0][0].took_seconds < ENOUGH
    assert server.log.count("Accepted publickey") == 1
    assert server.log.count("Starting session") == 2
    soon(lambda: not server.sessions())


def test_a_missing_program_and_a_failing_one_cost_their_own_answer(server: Sshd) -> None:
    server.program("lldpctl", "echo 'unable to connect to socket' >&2; exit 1")
    topo, missing, failed = rounds(server.target(), [TOPO, "ibdev2netdev -v", LLDP])[0]
    assert (topo.text, topo.error) == ("topo\n", "")
    assert missing.error.startswith("command not found: ")
    assert failed.error == "exit status 1: unable to connect to socket"


def test_a_real_sshd_receives_the_declared_commands_and_nothing_else(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    recorder = tmp_path / "recorder"
    record = f'printf "%s\\n" "$SSH_ORIGINAL_COMMAND" >>{seen}'
    install(recorder, f'#!/bin/sh\n{record}\nexec sh -c "$SSH_ORIGINAL_COMMAND"\n')
    with sshd(tmp_path / "sshd", extra=f"ForceCommand {recorder}") as server:
        server.program("nvidia-smi", "echo topo")
        assert texts(rounds(server.target(), [TOPO, RDMA], [TOPO])[0])[0] == ("topo\n", "")
        with pytest.raises(UndeclaredCommandError):
            rounds(server.target(), [TOPO, "reboot"])
    assert seen.read_text().splitlines() == [script([TOPO, RDMA]), script([TOPO])]


@pytest.mark.parametrize(
    "command", ["reboot", "nvidia-smi topo -m; reboot", "lldptool -t -n -i eth0;reboot", "rdma  link", ""]
)
def test_what_no_collector_declares_is_refused_before_a_connection_is_made(command: str) -> None:
    with odd_server(lambda client: pytest.fail("a connection was made")) as port:
        target = Target("gpu-001", "127.0.0.1", platform="linux")
        target = replace(target, ssh=replace(target.ssh, port=port))
        with pytest.raises(UndeclaredCommandError, match="not sent: no collector declares"):
            rounds(target, [TOPO, command])


def test_a_command_for_another_platform_is_refused(server: Sshd) -> None:
    with pytest.raises(UndeclaredCommandError, match="for linux"):
        rounds(server.target(), ["show lldp neighbors detail | json"])


def test_a_command_that_hangs_costs_its_own_answer_and_its_time(server: Sshd) -> None:
    server.program("rdma", "exec sleep 600")
    began = time.monotonic()
    found, seconds = asyncio.run(waited(asking(SshHosts, server.target(timeout_seconds=4.0), [TOPO, RDMA, LLDP])))
    assert not isinstance(found, BaseException)
    assert texts(found[0]) == [("topo\n", ""), ("", "no answer within 4 s"), ("lldp\n", "")]
    assert time.monotonic() - began >= 4.0
    assert seconds < 7.0
    soon(lambda: not server.sessions(), "what hung is killed")


def test_output_without_end_costs_its_own_row_and_bounded_time(server: Sshd) -> None:
    server.program("rdma", FOREVER)
    limits = Limits(answer_bytes=1 << 20, device_bytes=4 << 20)
    topo, endless, rest = rounds(server.target(), [TOPO, RDMA, LLDP], limits=limits)[0]
    assert topo.text == "topo\n"
    assert (endless.text, endless.error) == ("", f"more than {4 << 20} bytes of output in one session, cut off")
    assert rest.error == f"not asked: {endless.error}"
    soon(lambda: not server.sessions())


def test_an_answer_that_is_too_long_costs_itself_alone(server: Sshd) -> None:
    server.program("rdma", "head -c 2000000 /dev/zero")
    answers = rounds(server.target(), [TOPO, RDMA, LLDP], limits=Limits(answer_bytes=1 << 20))[0]
    assert [answer.error for answer in answers] == ["", f"more than {1 << 20} bytes of output, not read", ""]


def test_a_host_that_goes_down_in_the_middle_keeps_its_whole_answers(server: Sshd) -> None:
    server.program("rdma", "echo half; kill -9 0")
    topo, half, rest = rounds(server.target(), [TOPO, RDMA, LLDP])[0]
    assert topo.text == "topo\n"
    assert (half.text, half.error) == ("", "the session ended before the answer was whole: half")
    assert rest.error.startswith("not asked: the session ended")


def test_a_held_connection_that_died_is_made_again(server: Sshd) -> None:
    async def run() -> list[Answer]:
        hosts = SshHosts()
        try:
            await hosts.ask(server.target(), [TOPO])
            server.stop()
            server.start()
            return await hosts.ask(server.target(), [TOPO])
        finally:
            await hosts.close()

    assert texts(asyncio.run(run())) == [("topo\n", "")]


def test_a_host_that_is_gone_between_rounds_is_refused_not_waited_for(server: Sshd) -> None:
    async def run() -> None:
        hosts = SshHosts()
        try:
            await hosts.ask(server.target(), [TOPO])
            server.stop()
            await hosts.ask(server.target(), [TOPO])
        finally:
            await hosts.close()

    with pytest.raises(TransportError, match=rf"127\.0\.0\.1 port {server.port}: .*refused"):
        asyncio.run(run())


def test_nobody_listening_is_reported() -> None:
    with refusing_port() as port, pytest.raises(ConnectError, match="Connection refused"):
        rounds(Target("gpu-001", "127.0.0.1", ssh=replace(Target("x", "").ssh, port=port)), [TOPO])


@pytest.mark.parametrize(
    ("behave", "has_seconds", "summary"),
    [
        (silent, 0.5, "no login within 0.5 s"),
        (stuck_after_banner, 0.5, "no login within 0.5 s"),
        (resetting, ENOUGH, "connection reset during the login|connection closed during the login|Connection lost"),
        (closing_after_banner, ENOUGH, "connection closed during the login|connection reset during the login"),
    ],
)
def test_a_server_that_hangs_or_resets_is_an_error_in_time(behave: object, has_seconds: float, summary: str) -> None:
    with odd_server(behave) as port:  # type: ignore[arg-type]  # one of the functions above
        target = Target("gpu-001", "127.0.0.1", timeout_seconds=has_seconds)
        target = replace(target, ssh=replace(target.ssh, port=port, agent=False))
        error, seconds = asyncio.run(waited(asking(SshHosts, target, [TOPO])))
    assert isinstance(error, TransportError)
    assert re.match(rf"127\.0\.0\.1 port {port}: ({summary})", str(error))
    assert seconds < 3.0


def test_a_login_shell_that_lets_nobody_in_says_what_it_said(tmp_path: Path) -> None:
    with sshd(tmp_path / "sshd", extra="ForceCommand echo 'This account is not available.'") as server:
        assert "no sign of the script" in refused(server.target())
        assert "only: This account is not available." in refused(server.target())


def test_one_bad_host_among_many_costs_its_own_row(server: Sshd) -> None:
    async def run() -> list[list[Answer] | BaseException]:
        hosts = SshHosts(handshakes=4)
        with odd_server(silent) as port:
            good = [replace(server.target(f"gpu-{n}"), address=f"127.0.0.{n}") for n in range(1, 2)] * 20
            bad = server.target("bad", timeout_seconds=0.5, port=port)
            try:
                return await asyncio.gather(
                    *(hosts.ask(target, [TOPO]) for target in (*good, bad)), return_exceptions=True
                )
            finally:
                await hosts.close()

    *good, bad = asyncio.run(run())
    assert all(isinstance(answers, list) and texts(answers) == [("topo\n", "")] for answers in good)
    assert isinstance(bad, TransportError)
    assert server.log.count("Accepted publickey") == 1, "twenty that ask one host at once share its login"


def test_cancelling_leaves_no_session_open(server: Sshd) -> None:
    server.program("rdma", "exec sleep 600")

    async def run() -> None:
        hosts = SshHosts()
        asking = asyncio.create_task(hosts.ask(server.target(), [TOPO, RDMA]))
        await until(lambda: "Starting session" in server.log)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await hosts.close()

    asyncio.run(run())
    soon(lambda: not server.sessions())


def test_closing_ends_logins_that_are_under_way() -> None:
    called = threading.Event()

    def noting(client: socket.socket) -> None:
        called.set()

    async def run() -> float:
        hosts = SshHosts()
        with odd_server(noting) as port:
            target = Target("gpu-001", "127.0.0.1", timeout_seconds=ENOUGH)
            target = replace(target, ssh=replace(target.ssh, port=port, agent=False))
            asking = asyncio.create_task(hosts.ask(target, [TOPO]))
            assert await asyncio.to_thread(called.wait, ENOUGH)
            asking.cancel()
            result, seconds = await waited(hosts.close())
            assert result is None
            return seconds

    assert asyncio.run(run()) < 1.5


def test_a_chain_of_jump_hosts_is_logged_in_to_once_for_all_behind_it(server: Sshd, tmp_path: Path) -> None:
    with sshd(tmp_path / "inner") as inner:
        inner.program("nvidia-smi", "echo inner")
        (inner.folder / "authorized_keys").write_text(server.key.with_suffix(".pub").read_text())
        chain = (f"127.0.0.1:{server.port}", f"[127.0.0.1]:{server.port}")
        names = ("127.0.0.1", "localhost")
        inner_keys = "".join(f"[{name}]:{inner.port} {inner.public_host_key}\n" for name in names)
        server.known_hosts.write_text(server.known_hosts.read_text() + inner_keys)

        async def run() -> list[list[Answer]]:
            hosts = SshHosts()
            targets = [replace(server.target(jump=chain, port=inner.port), address=name) for name in names]
            try:
                return list(await asyncio.gather(*(hosts.ask(target, [TOPO]) for target in targets)))
            finally:
                await hosts.close()

        assert [texts(answers) for answers in asyncio.run(run())] == [[("inner\n", "")]] * 2
        assert inner.log.count("Accepted publickey") == 2
        assert server.log.count("Accepted publickey") == 2, "one for each place in the chain"


def test_a_jump_host_that_cannot_be_reached_is_named(server: Sshd) -> None:
    with refusing_port() as nobody:
        assert refused(server.target(jump=(f"127.0.0.1:{nobody}",))).startswith(f"jump host 127.0.0.1 port {nobody}: ")
        assert "not of the form user@host:port" in refused(server.target(jump=("a b:22",)))
        behind = server.target(jump=(f"127.0.0.1:{server.port}",), port=nobody)
        assert f"127.0.0.1 port {nobody}: not reached by the jump host" in refused(behind)


def test_a_login_that_is_refused_is_no_error_that_another_try_may_mend(server: Sshd, tmp_path: Path) -> None:
    new_key(tmp_path / "other")
    with pytest.raises(TransportError) as caught:
        rounds(server.target(key=str(tmp_path / "other")), [TOPO])
    assert not isinstance(caught.value, ConnectError)


def test_a_jump_host_is_never_given_the_devices_password() -> None:
    from truerail.transport.hops import device_hop, hop_before

    target = Target("leaf-1", "10.0.0.1")
    access = replace(
        target.ssh,
        password=Secret("env", "PW"),
        keyboard_interactive=True,
        legacy_algorithms=True,
        jump=("ops@b:2222",),
    )
    before = hop_before(device_hop(replace(target, ssh=access)))
    assert before
    assert (before.address, before.access.user, before.access.port) == ("b", "ops", 2222)
    assert (before.access.password, before.access.keyboard_interactive, before.access.legacy_algorithms) == (
        None,
        False,
        False,
    )


def test_a_key_in_the_agent_logs_in_and_one_with_a_passphrase_is_left_to_it(
    server: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = tmp_path / "locked"
    new_key(locked, passphrase="open sesame")
    (server.folder / "authorized_keys").write_text(locked.with_suffix(".pub").read_text())
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "no ssh-agent" in refused(server.target(key=str(locked), agent=True))
    socket = tmp_path / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        soon(socket.exists)
        ask = tmp_path / "ask"
        install(ask, "#!/bin/sh\necho open sesame\n")
        environment = {
            **os.environ,
            "SSH_AUTH_SOCK": str(socket),
            "SSH_ASKPASS": str(ask),
            "SSH_ASKPASS_REQUIRE": "force",
        }
        subprocess.run(["ssh-add", str(locked)], env=environment, check=True, capture_output=True)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        for key in (str(locked), f"{locked}.pub", ""):
            assert texts(rounds(server.target(key=key, agent=True), [TOPO])[0]) == [("topo\n", "")]
        assert "no ssh-agent" in refused(server.target(key=str(locked), agent=False))
    finally:
        agent.terminate()
        agent.wait()


def test_a_key_that_is_not_taken_and_one_that_is_not_there_are_reported(server: Sshd, tmp_path: Path) -> None:
    new_key(tmp_path / "other")
    other = str(tmp_path / "other")
    assert f"login of user {server.target().ssh.user} refused (tried key {other})" in refused(server.target(key=other))
    assert f"key {tmp_path}/none: No such file or directory" in refused(server.target(key=f"{tmp_path}/none"))
    (tmp_path / "junk").write_text("junk")
    assert f"key {tmp_path}/junk: " in refused(server.target(key=f"{tmp_path}/junk"))


def test_aes128_gcm_is_agreed_on_first(server: Sshd) -> None:
    async def run() -> str:
        from truerail.transport.hops import device_hop
        from truerail.transport.ssh_connections import Connections

        connections = Connections(1)
        connection = await connections.to(device_hop(server.target()))
        cipher = str(connection.get_extra_info("send_cipher"))
        await connections.close()
        return cipher

    assert asyncio.run(run()) == "aes128-gcm@openssh.com"


def test_an_unknown_name_is_reported_without_an_error_number() -> None:
    assert system_words(socket.gaierror(-2, "Name or service not known")) == "Name or service not known"
    assert system_words(ConnectionRefusedError(111, "Connect call failed ('10.0.0.1', 22)")) == "Connection refused"

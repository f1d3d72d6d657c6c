"""Host keys are checked against known_hosts, never asked for, never taken by default. And no secret gets out."""

import asyncio
import logging
import logging.config
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import asyncssh
import pytest

from tests.patience import ENOUGH
from tests.ports import refusing_port
from tests.sshd import Sshd, asking, new_key, sshd
from truerail.errors import ConnectError, HostKeyError, TransportError
from truerail.model import Secret, SshAccess, Target
from truerail.transport.framing import LIMITS
from truerail.transport.hops import device_hop
from truerail.transport.known_hosts import Trust, trust
from truerail.transport.protocol import Answer, Transport
from truerail.transport.shell_sessions import Ended
from truerail.transport.ssh_connections import Connections
from truerail.transport.ssh_transports import SshHosts, SwitchCli, Whole, converse

RDMA = "ip -j addr"
PASSWORD = "correct-horse-battery"
TRANSPORTS = pytest.mark.parametrize("transport", [SshHosts, SwitchCli])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Sshd]:
    with sshd(tmp_path / "sshd") as running:
        running.program("ip", "echo links")
        yield running


def ask(transport: type[SshHosts | SwitchCli], target: Target) -> list[Answer]:
    return asyncio.run(asking(transport, target, [RDMA]))[0]


def refused(transport: type[SshHosts | SwitchCli], target: Target) -> str:
    with pytest.raises(TransportError) as caught:
        ask(transport, target)
    return str(caught.value)


def refused_for_good(transport: type[SshHosts | SwitchCli], target: Target) -> str:
    """The same, tried again where the server hung up first: it and we both find that nothing is in common."""
    for _ in range(10):
        with pytest.raises(TransportError) as caught:
            ask(transport, target)
        if not isinstance(caught.value, ConnectError):
            break
    return str(caught.value)


def fingerprint(server: Sshd) -> str:
    """What ssh-keygen says of the server's key."""
    command = ["ssh-keygen", "-lf", str(server.folder / f"host_{server.key_type}.pub")]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[1]


@TRANSPORTS
def test_a_key_that_is_known_is_trusted(transport: type[SshHosts], server: Sshd) -> None:
    assert [answer.text for answer in ask(transport, server.target())] == ["links\n"]


@TRANSPORTS
def test_an_unknown_key_is_refused_with_its_fingerprint(transport: type[SshHosts], server: Sshd) -> None:
    for content in ("", "garbage\n@wrong marker x\n", f"[127.0.0.2]:{server.port} {server.public_host_key}\n"):
        server.known_hosts.write_text(content)
        said = refused(transport, server.target())
        assert said.startswith(f"host key of 127.0.0.1 port {server.port} is unknown, {server.known_hosts} has none: ")
        assert f"ssh-ed25519 {fingerprint(server)}" in said
        assert "truerail inventory trust" in said
    server.known_hosts.unlink()
    assert "is unknown" in refused(transport, server.target())
    assert "Accepted" not in server.log


@TRANSPORTS
def test_a_changed_key_is_refused_with_both_fingerprints(
    transport: type[SshHosts], server: Sshd, tmp_path: Path
) -> None:
    before = fingerprint(server)
    server.stop()
    (server.folder / "host_ed25519").unlink()
    (server.folder / "host_ed25519.pub").unlink()
    known = server.known_hosts.read_text()
    server.start()
    server.known_hosts.write_text(known)
    said = refused(transport, server.target())
    assert "has changed" in said
    assert f"now ssh-ed25519 {fingerprint(server)}" in said
    assert before in said
    assert before != fingerprint(server)
    assert "Accepted" not in server.log.rpartition("Server listening")[2]


@TRANSPORTS
def test_a_device_that_now_shows_a_key_of_another_type_has_changed(
    transport: type[SshHosts], server: Sshd, tmp_path: Path
) -> None:
    new_key(tmp_path / "ecdsa", "ecdsa")
    ecdsa = " ".join((tmp_path / "ecdsa.pub").read_text().split()[:2])
    server.known_hosts.write_text(f"[127.0.0.1]:{server.port} {ecdsa}\n")
    said = refused(transport, server.target())
    assert "has changed: now ssh-ed25519" in said
    assert "has ecdsa-sha2-nistp256 SHA256:" in said


@TRANSPORTS
def test_of_several_keys_the_one_that_is_known_is_asked_for(transport: type[SshHosts], tmp_path: Path) -> None:
    folder = tmp_path / "sshd"
    folder.mkdir()
    new_key(folder / "host_ecdsa", "ecdsa")
    with sshd(folder, extra=f"HostKey {folder}/host_ecdsa") as server:
        ecdsa = " ".join((folder / "host_ecdsa.pub").read_text().split()[:2])
        server.known_hosts.write_text(f"[127.0.0.1]:{server.port} {ecdsa}\n")
        assert ask(transport, server.target())[0].command == RDMA


@TRANSPORTS
def test_a_revoked_key_is_refused(transport: type[SshHosts], server: Sshd) -> None:
    entry = server.known_hosts.read_text()
    server.known_hosts.write_text(entry + "@revoked * " + server.public_host_key + "\n")
    assert "revoked" in refused(transport, server.target())


@TRANSPORTS
def test_hashed_names_are_understood(transport: type[SshHosts], server: Sshd) -> None:
    subprocess.run(["ssh-keygen", "-H", "-f", str(server.known_hosts)], check=True, capture_output=True)
    assert server.known_hosts.read_text().startswith("|1|")
    assert ask(transport, server.target())[0].text == "links\n"


def test_a_host_certificate_of_a_known_authority_is_trusted(tmp_path: Path) -> None:
    folder = tmp_path / "sshd"
    folder.mkdir()
    new_key(folder / "host_ed25519")
    new_key(tmp_path / "authority")
    sign = ["ssh-keygen", "-q", "-s", str(tmp_path / "authority"), "-I", "x", "-h", "-n", "127.0.0.1"]
    subprocess.run([*sign, str(folder / "host_ed25519.pub")], check=True)
    with sshd(folder, extra=f"HostCertificate {folder}/host_ed25519-cert.pub") as server:
        authority = " ".join((tmp_path / "authority.pub").read_text().split()[:2])
        server.known_hosts.write_text(f"@cert-authority * {authority}\n")
        assert ask(SshHosts, server.target())[0].command == RDMA
        new_key(tmp_path / "other")
        server.known_hosts.write_text("@cert-authority * " + (tmp_path / "other.pub").read_text())
        assert "host key of 127.0.0.1" in refused(SshHosts, server.target())


def trusted(server: Sshd, *targets: Target, replace: bool = False) -> list[Trust]:
    return asyncio.run(trust(targets or [server.target()], server.known_hosts, replace=replace))


def test_trust_records_a_key_and_says_which(server: Sshd) -> None:
    server.known_hosts.unlink()
    [first] = trusted(server)
    assert (first.key_type, first.fingerprint, first.error, first.added) == (
        "ssh-ed25519",
        fingerprint(server),
        "",
        True,
    )
    assert server.known_hosts.read_text() == f"[127.0.0.1]:{server.port} {server.public_host_key}\n"
    assert server.known_hosts.stat().st_mode & 0o777 == 0o600
    assert ask(SshHosts, server.target())[0].text == "links\n"
    [second] = trusted(server)
    assert (second.fingerprint, second.error, second.added) == (fingerprint(server), "", False)
    assert "Accepted" in server.log


def test_openssh_takes_what_trust_wrote(server: Sshd) -> None:
    server.known_hosts.unlink()
    trusted(server)
    options = ["-F", "none", "-o", "BatchMode=yes", "-o", f"UserKnownHostsFile={server.known_hosts}"]
    command = ["ssh", *options, "-i", str(server.key), "-p", str(server.port), "127.0.0.1", "ip"]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == "links\n"


def test_trust_does_not_replace_a_key_unless_it_is_reported_to(server: Sshd, tmp_path: Path) -> None:
    new_key(tmp_path / "old")
    old = " ".join((tmp_path / "old.pub").read_text().split()[:2])
    name = f"[127.0.0.1]:{server.port}"
    kept = f"# a comment\nother-host,{name} {old}\n{name} {old}\n*.pattern {old}\n"
    server.known_hosts.write_text(kept)
    server.known_hosts.chmod(0o644)
    [refusal] = trusted(server)
    assert "has changed" in refusal.error
    assert not refusal.added
    assert server.known_hosts.read_text() == kept
    [replaced] = trusted(server, replace=True)
    assert replaced.added
    lines = ["# a comment", f"other-host {old}", f"*.pattern {old}", f"{name} {server.public_host_key}"]
    assert server.known_hosts.read_text().splitlines() == lines
    assert server.known_hosts.stat().st_mode & 0o777 == 0o644


def test_trust_replaces_a_hashed_name(server: Sshd, tmp_path: Path) -> None:
    new_key(tmp_path / "old")
    name = f"[127.0.0.1]:{server.port}"
    server.known_hosts.write_text(f"{name} {(tmp_path / 'old.pub').read_text()}")
    subprocess.run(["ssh-keygen", "-H", "-f", str(server.known_hosts)], check=True, capture_output=True)
    trusted(server, replace=True)
    assert server.known_hosts.read_text() == f"{name} {server.public_host_key}\n"


def test_trust_never_brings_back_a_revoked_key(server: Sshd) -> None:
    server.known_hosts.write_text(f"@revoked * {server.public_host_key}\n")
    assert "revoked" in trusted(server, replace=True)[0].error
    assert server.known_hosts.read_text() == f"@revoked * {server.public_host_key}\n"


def test_a_device_that_shows_no_key_costs_its_own_row(server: Sshd) -> None:
    server.known_hosts.unlink()
    with refusing_port() as port:
        bad, good = trusted(server, server.target("gone", port=port), server.target())
    assert (bad.target.name, bad.key_type, bad.added) == ("gone", "", False)
    assert "refused" in bad.error
    assert good.added


def test_a_known_hosts_file_that_cannot_be_read_is_named(server: Sshd, tmp_path: Path) -> None:
    said = refused(SshHosts, server.target(known_hosts=str(tmp_path)))
    assert said == f"known_hosts file {tmp_path} is not readable: Is a directory"


class _PasswordServer(asyncssh.SSHServer):
    """Accepts one password. Its refusal repeats the given one, as a hostile device may."""

    def __init__(self, taken: str, connections: list[asyncssh.SSHServerConnection]) -> None:
        self._taken = taken
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        if self._taken == "hang up":
            raise asyncssh.DisconnectError(asyncssh.DISC_BY_APPLICATION, f"no, not {password}")
        return password == self._taken


async def ask_with_password(
    transport: type[SshHosts | SwitchCli], tmp_path: Path, taken: str, platform: str, **access: object
) -> list[Answer]:
    """Asks a server that wants a password."""
    key = asyncssh.generate_private_key("ssh-ed25519")

    def answer(process: "asyncssh.SSHServerProcess[str]") -> None:
        process.stdout.write("links\n")
        process.exit(0)

    connections: list[asyncssh.SSHServerConnection] = []
    server = await asyncssh.create_server(
        lambda: _PasswordServer(taken, connections), "127.0.0.1", 0, server_host_keys=[key], process_factory=answer
    )
    known = tmp_path / "known"
    known.write_text(f"[127.0.0.1]:{server.get_port()} {key.export_public_key().decode()}")
    reported = SshAccess(user="me", known_hosts=str(known), port=server.get_port(), agent=False, **access)  # type: ignore[arg-type]  # fields of SshAccess
    asked: Transport = transport()
    try:
        return await asked.ask(Target("leaf-1", "127.0.0.1", platform=platform, ssh=reported), [RDMA])
    finally:
        await asked.close()
        server.close()
        for connection in connections:
            connection.abort()
            await connection.wait_closed()
        await server.wait_closed()


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Secret:
    monkeypatch.setenv("TRUERAIL_TEST_PASSWORD", PASSWORD)
    monkeypatch.setenv("HOME", str(tmp_path))
    return Secret("env", "TRUERAIL_TEST_PASSWORD")


@pytest.mark.parametrize("interactive", [False, True])
def test_a_password_logs_in_where_the_target_says_so(tmp_path: Path, secret: Secret, interactive: bool) -> None:
    asked = ask_with_password(
        SwitchCli, tmp_path, PASSWORD, "cumulus", password=secret, keyboard_interactive=interactive
    )
    assert asyncio.run(asked)[0].text == "links\n"


def test_without_a_password_in_the_inventory_none_is_tried(tmp_path: Path, secret: Secret) -> None:
    for transport, platform in ((SshHosts, "linux"), (SwitchCli, "cumulus")):
        with pytest.raises(TransportError, match=r"login of user me refused \(tried default keys\)"):
            asyncio.run(ask_with_password(transport, tmp_path, PASSWORD, platform))


@pytest.mark.parametrize("taken", ["another", "hang up"])
def test_a_secret_is_in_no_error_and_no_log_and_no_repr(
    tmp_path: Path, secret: Secret, taken: str, caplog: pytest.LogCaptureFixture
) -> None:
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})
    caplog.set_level(logging.DEBUG)
    for transport, platform in ((SshHosts, "linux"), (SwitchCli, "cumulus")):
        for interactive in (False, True):
            asked = ask_with_password(
                transport, tmp_path, taken, platform, password=secret, keyboard_interactive=interactive
            )
            with pytest.raises(TransportError) as caught:
                asyncio.run(asked)
            assert PASSWORD not in str(caught.value)
            assert PASSWORD not in repr(caught.value)
            assert caught.value.__cause__ is None
            assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert PASSWORD not in caplog.text
    assert PASSWORD not in repr(SshAccess(password=secret))


def test_a_secret_that_is_missing_is_reported_by_its_name(server: Sshd) -> None:
    missing = server.target(password=Secret("env", "TRUERAIL_NO_SUCH_VARIABLE"))
    for transport in (SshHosts, SwitchCli):
        assert "environment variable TRUERAIL_NO_SUCH_VARIABLE is not set" in refused(transport, missing)


def test_no_secret_is_on_a_command_line_or_in_the_environment_of_a_child(server: Sshd, secret: Secret) -> None:
    server.program("ip", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '; env")
    said = ask(SshHosts, server.target(password=secret))[0].text
    assert "ip -j addr" in said
    assert PASSWORD not in said


OLD = "KexAlgorithms diffie-hellman-group14-sha1\nCiphers aes128-cbc\nMACs hmac-sha1"


@pytest.mark.filterwarnings("ignore:Diffie-Hellman over finite fields")
@TRANSPORTS
def test_old_algorithms_are_used_for_a_device_that_says_so_and_for_no_other(
    transport: type[SshHosts], tmp_path: Path
) -> None:
    with sshd(tmp_path / "sshd", extra=OLD) as server:
        server.program("ip", "echo links")
        said = refused_for_good(transport, server.target())
        assert "no algorithm in common" in said
        assert "legacy_algorithms: true" in said
        assert ask(transport, server.target(legacy_algorithms=True))[0].text == "links\n"


class Late:
    """A connection whose sessions are handed over once the device has ended them: it was faster than we are."""

    def __init__(self, connection: asyncssh.SSHClientConnection) -> None:
        self._connection = connection

    async def create_session(self, *args: Any, **options: Any) -> tuple[Any, Any]:
        channel, session = await self._connection.create_session(*args, **options)
        await channel.wait_closed()
        return channel, session


def test_a_command_that_ended_before_its_input_came_is_an_answer(server: Sshd) -> None:
    """A command that needs no input may end before the end of that input is sent: no fault of the device."""

    async def run() -> tuple[Ended, int | None, str]:
        sink = Whole(LIMITS)
        connections = Connections(1)
        try:
            connection = await connections.to(device_hop(server.target()))
            late = cast("asyncssh.SSHClientConnection", Late(connection))
            ended, status = await converse(late, RDMA, b"input", sink, ENOUGH)
        finally:
            await connections.close()
        return ended, status, sink.output.decode()

    assert asyncio.run(run()) == (Ended.BY_ITSELF, 0, "links\n")


def test_the_error_is_a_kind_of_its_own(server: Sshd) -> None:
    server.known_hosts.write_text("")
    with pytest.raises(HostKeyError):
        ask(SshHosts, replace(server.target(), name="x"))

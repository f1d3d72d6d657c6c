"""A fleet on one port: an asyncssh server that answers truerail's script and single commands, 18 KB in five answers.

    python -m benchmarks.transport.ssh_server FOLDER

Writes the client's key, a known_hosts file and the port into FOLDER. Every user name is a device of its own.
"""

import asyncio
import sys
from pathlib import Path

import asyncssh

COMMANDS = 5
ANSWER = b"x" * 78 + b"\n"
ANSWERS = ANSWER * 46
"""3.6 KB: five of them are the 18 KB that a host of eight NICs prints in a round."""


class Session(asyncssh.SSHServerSession[bytes]):
    """One exec channel: the framed script, once it has its nonce, or a single command."""

    def connection_made(self, chan: "asyncssh.SSHServerChannel[bytes]") -> None:
        """The channel is open."""
        self._channel = chan

    def exec_requested(self, command: str) -> bool:
        """Any command is taken."""
        self._framed = command.startswith("exec sh -c ")
        return True

    def session_started(self) -> None:
        """A single command is answered at once."""
        if not self._framed:
            self._channel.write(ANSWERS)
            self._channel.exit(0)

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """The nonce came: all answers, each with its frames."""
        nonce = data.strip()
        frames = [nonce + b" %d 0\n" % number for number in range(COMMANDS + 1)]
        self._channel.write(frames[0] + b"".join(ANSWERS + frame for frame in frames[1:]))
        self._channel.write_stderr(b"".join(frames))
        self._channel.exit(0)

    def eof_received(self) -> bool:
        """The channel stays open until it is answered."""
        return True


class Device(asyncssh.SSHServer):
    """Takes the one key that it knows, and any session."""

    def session_requested(self) -> Session:
        """A new channel."""
        return Session()


async def serve(folder: Path) -> None:
    """Serves until it is killed."""
    host, user = asyncssh.generate_private_key("ssh-ed25519"), asyncssh.generate_private_key("ssh-ed25519")
    user.write_private_key(folder / "key")
    (folder / "key").chmod(0o600)
    user.write_public_key(folder / "authorized")

    server = await asyncssh.create_server(
        Device,
        "127.0.0.1",
        0,
        server_host_keys=[host],
        authorized_client_keys=str(folder / "authorized"),
        encoding=None,
        backlog=4096,
        login_timeout=0,
    )
    port = server.get_port()
    (folder / "known").write_text(f"[127.0.0.1]:{port} {host.export_public_key().decode()}")
    (folder / "port.new").write_text(str(port))
    (folder / "port.new").rename(folder / "port")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncssh.set_log_level("CRITICAL")
    asyncio.run(serve(Path(sys.argv[1])))

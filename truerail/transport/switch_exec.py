"""One command on one exec channel of a paramiko transport. Blocking: it runs in a thread."""

import time
from typing import Any

import paramiko

from truerail.errors import NoExecError
from truerail.transport.framing import Limits, first_line, refusal
from truerail.transport.protocol import Answer

_CHUNK_BYTES = 1 << 16


def run(transport: Any, command: str, limits: Limits, seconds: float) -> Answer:
    """A command's answer. Raises `NoExecError`, paramiko's and the socket's errors where the connection fails."""
    began = time.monotonic()
    channel = transport.open_session(timeout=seconds)
    try:
        channel.settimeout(seconds)
        try:
            channel.exec_command(command)
        except paramiko.SSHException:
            if transport.is_active():
                raise NoExecError(command) from None
            raise
        refused = False
        text, error = _read(channel, limits.answer_bytes, began + seconds)
        if not error:
            channel.status_event.wait(max(0.0, began + seconds - time.monotonic()))
            complaint = channel.recv_stderr(limits.complaint_bytes) if channel.recv_stderr_ready() else b""
            error = refusal(max(0, channel.exit_status), first_line(complaint))
            refused = bool(error)
        return Answer(command, text.decode(errors="replace"), error, time.monotonic() - began, refused)
    finally:
        channel.close()


def _read(channel: Any, most: int, deadline: float) -> tuple[bytes, str]:
    """Standard output until its end, or empty and the reason why it is incomplete."""
    parts: list[bytes] = []
    size = 0
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return b"", "no answer in time"
        channel.settimeout(left)
        try:
            part = channel.recv(_CHUNK_BYTES)
        except TimeoutError:
            return b"", "no answer in time"
        if not part:
            return b"".join(parts), ""
        size += len(part)
        if size > most:
            return b"", f"more than {most} bytes of output, not read"
        parts.append(part)

"""Processes of tests that do not begin with Python's own start: one process imports what they need and forks them, as a
service forks its parts. Starting Python and importing a service takes longer than most of what it does in a test.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from truerail.web.application import shared_api

ROOT = Path(__file__).resolve().parent.parent
_REQUEST_BYTES = 1 << 16


class Forked:
    """A process that is not our child, with what tests use of `subprocess.Popen`."""

    def __init__(self, pid: int, stdout: int) -> None:
        self.pid, self.stdout = pid, os.fdopen(stdout)
        self._pidfd = os.pidfd_open(pid)  # until the nursery ends, no other process gets this number

    def send_signal(self, number: int) -> None:
        """Nothing, where it has ended."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def terminate(self) -> None:
        """Asks it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends it."""
        self.send_signal(signal.SIGKILL)

    def wait(self, seconds: float) -> None:
        """Until it has ended. Raises TimeoutError."""
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        if not ended.poll(1000 * seconds):
            raise TimeoutError(f"process {self.pid} has not ended after {seconds:.0f} s")

    def close(self) -> None:
        """Lets go of it."""
        self.stdout.close()
        os.close(self._pidfd)


class Nursery:
    """`begin` starts processes; they end with the nursery."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._begun = line, list[Forked]()

    def begin(self, module: str, *words: object, **environment: str) -> Forked:
        """The module's `main` in a process of its own, with these words on its command line."""
        read, write = os.pipe()
        request = json.dumps([module, [str(word) for word in words], environment])
        socket.send_fds(self._line, [request.encode()], [write])
        os.close(write)
        begun = Forked(int(self._line.recv(_REQUEST_BYTES)), read)
        self._begun.append(begun)
        return begun

    def close(self) -> None:
        """Ends all that still run."""
        for one in self._begun:
            one.kill()
            one.close()


@contextlib.contextmanager
def nursery(*modules: str) -> Iterator[Nursery]:
    """One whose processes have these modules, each with a `main`, and all that they import."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-m", "tests.nursery", str(theirs.fileno()), *modules]
    with ours, subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        made = Nursery(ours)
        try:
            yield made
        finally:
            made.close()
            ours.close()
            process.wait()


def main() -> None:
    """Forks what is asked for, until the line is closed; waits for all of them, so that their time is counted."""
    line = socket.socket(fileno=int(sys.argv[1]))
    for module in sys.argv[2:]:
        importlib.import_module(module)
    shared_api()  # what services make once
    gc.freeze()
    while True:
        request, handed, _, _ = socket.recv_fds(line, _REQUEST_BYTES, 1)
        if not request:
            break
        pid = os.fork()
        if not pid:
            line.close()
            os.dup2(handed[0], sys.stdout.fileno())
            os.close(handed[0])
            _run(*json.loads(request))
        os.close(handed[0])
        line.send(str(pid).encode())
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def _run(module: str, words: list[str], environment: dict[str, str]) -> NoReturn:
    code: Any = 1
    try:
        sys.argv[:] = [module, *words]
        os.environ.update(environment)
        importlib.import_module(module).main()
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:  # noqa: BLE001 - as Python does at the end of a program
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    main()

"""Processes of `truerail demo --distributed`: each one is a group that can be killed as a machine would end."""

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from truerail.errors import TruerailError
from truerail.model.orphans import end_with

END_SECONDS = 10.0


@dataclass
class Part:
    """One role with its name; `log` is the file of what it writes."""

    name: str
    main: Callable[[], None]
    log: Path
    pid: int = 0

    def start(self) -> None:
        """Starts it, in a process group of its own."""
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self._become(parent)
        with suppress(OSError):  # it may have done so itself
            os.setpgid(self.pid, self.pid)

    def kill(self) -> None:
        """Ends the whole group by signal 9, and waits for it."""
        if self.pid:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            with suppress(ChildProcessError):  # until none is left: a port is free when its last process has ended
                while True:
                    os.waitpid(-self.pid, 0)
            self.pid = 0

    def end(self) -> None:
        """Asks it to end; one that does not is killed."""
        if not self.pid:
            return
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
        ends = time.monotonic() + END_SECONDS
        while time.monotonic() < ends:
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = 0
                return
            time.sleep(0.05)
        self.kill()

    @property
    def ended(self) -> bool:
        """Whether it has ended by itself, since this was asked last."""
        if not self.pid or not os.waitpid(self.pid, os.WNOHANG)[0]:
            return False
        self.pid = 0
        return True

    def _become(self, parent: int) -> None:
        """The new process: runs `main`, and never returns."""
        code = 1
        try:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            end_with(parent)
            log = os.open(self.log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
            os.dup2(log, sys.stdout.fileno())
            os.dup2(log, sys.stderr.fileno())
            self.main()
            code = 0
        except TruerailError as error:
            sys.stderr.write(f"{error}\n")
        except BaseException:  # noqa: BLE001 - nothing of the parent's own code may run in the child
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

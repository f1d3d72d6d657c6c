"""What a process asks of the kernel for itself: more open files, and to end with its parent."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress


def raise_open_files() -> None:
    """Raises this process' limit of open files to the maximum: each device and each connection needs one, and the
    usual soft limit is 1,024 (getrlimit(2)).
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # a system that reports "unlimited" but rejects it
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


# ----------------------------------------------------------------------------------------------------------------------
# What the kernel does with processes whose parent ends: prctl(2), Linux alone.

_PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> None:
    """Asks the kernel to kill this process when its parent ends. No other signal ends one that is busy in a call of C:
    it would go on polling, or writing, beside the service that is started again.
    """
    if sys.platform == "linux":
        with suppress(OSError, MemoryError):  # a sandbox may forbid it: systemd ends all processes of a unit itself
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)

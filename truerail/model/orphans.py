"""What the kernel does with processes whose parent ends: prctl(2), Linux alone."""

import ctypes
import os
import signal
import sys
from contextlib import suppress

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

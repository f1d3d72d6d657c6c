"""Changes of neighbours as lldpd reports them: `lldpcli -f json0 watch` prints each one as it comes.

What it prints is not read: it only says that the neighbours have to be read now. Where lldpcli is missing or ends, it
is started again after a while, and the neighbours are read at their interval alone.
"""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Callable

from .command_jobs import reap, started

COMMAND = ("lldpcli", "-f", "json0", "watch")
FIRST_SECONDS, MOST_SECONDS = 1.0, 60.0
"""Before it is started again: at first, and at most."""
_PIECE_BYTES = 1 << 16


class NeighborWatch:
    """One process of lldpcli. `changed` is called when it has printed something."""

    def __init__(
        self, selector: selectors.BaseSelector, clock: Callable[[], float], changed: Callable[[], None]
    ) -> None:
        self._selector, self._clock, self._changed = selector, clock, changed
        self._process: subprocess.Popen[bytes] | None = None
        self._pause = FIRST_SECONDS
        self.next_at = 0.0
        """When it is to be started, by the clock."""

    @property
    def running(self) -> bool:
        """Whether changes are reported as they come."""
        return self._process is not None

    def step(self) -> None:
        """Starts it where it does not run and its time has come."""
        if self._process is not None or self._clock() < self.next_at:
            return
        self.next_at = self._clock() + self._pause
        self._pause = min(self._pause * 2, MOST_SECONDS)
        try:
            self._process = started(["/usr/bin/env", *COMMAND], subprocess.DEVNULL)
        except OSError:
            return
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        self._selector.register(self._process.stdout, selectors.EVENT_READ, self._read)

    def close(self) -> None:
        """Ends it."""
        process, self._process = self._process, None
        if process is not None:
            reap(process, self._selector, kill=True)

    def _read(self) -> None:
        if self._process is None or self._process.stdout is None:
            return
        try:
            piece = os.read(self._process.stdout.fileno(), _PIECE_BYTES)
        except BlockingIOError:
            return
        if not piece:
            self.close()
            self.next_at = self._clock() + self._pause
            return
        self._pause = FIRST_SECONDS
        self._changed()

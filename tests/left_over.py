"""What tests leave behind: processes, threads, open files and sockets, files in the temporary folder.

Every program that a test starts inherits `MARK`, the worker and the test that started it, so that it is found whoever
its parent is by then; an sshd, which does not pass its environment on, is configured to set it. Forks of the worker are
known to `multiprocessing`.
"""

import gc
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests import ports

MARK = "TRUERAIL_TEST"
_ENDING_SECONDS = 10.0
"""What was asked to end ends in this time; a module that leaves nothing does not wait."""
_LOOK_SECONDS = 0.5
_KEPT = ("/dev/", "/proc/", "anon_inode:[pidfd]")
"""Beginnings of what descriptors may show that is no leak: devices, and the process table of whoever reads it."""


class _Held(NamedTuple):
    threads: frozenset[threading.Thread]
    descriptors: frozenset[tuple[str, str]]
    files: frozenset[str]


def mark(test: str) -> None:
    """Processes that start from now on are of this test."""
    os.environ[MARK] = _marked(f"{test} ")


def processes(test: str = "") -> dict[int, str]:
    """Command lines of the living processes that a test, a module or (without a name) this worker started, by pid."""
    return with_environment(f"{MARK}={_marked(test)}")


def with_environment(wanted: str) -> dict[int, str]:
    """Command lines of the living processes whose environment has this, by pid."""
    found = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if folder.name.isdigit() and wanted.encode() in (folder / "environ").read_bytes():
                found[int(folder.name)] = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                )
    return found


def end(test: str = "") -> list[str]:
    """Kills these processes; returns their command lines."""
    found = processes(test)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for fork in multiprocessing.active_children():
        fork.kill()
        found[fork.pid or 0] = fork.name
    return list(found.values())


def held() -> _Held:
    """What this process has now."""
    return _Held(
        frozenset(threading.enumerate()), frozenset(_descriptors()), frozenset(os.listdir(tempfile.gettempdir()))
    )


def left_over(before: _Held, module: str) -> list[str]:
    """What a module leaves, in words, garbage apart; its processes are ended."""
    ports.give_back()
    if not _named(before, module):  # most: without a collection, which takes longer than many a module
        return []
    gc.collect()
    ends = time.monotonic() + _ENDING_SECONDS
    while (left := _named(before, module)) and time.monotonic() < ends:
        time.sleep(_LOOK_SECONDS)
        gc.collect()
    end(f"{module}::")
    gc.freeze()  # what lasts is not looked at again
    return left


def _named(before: _Held, module: str) -> list[str]:
    now = held()
    return [
        *(f"process {pid}: {command[:200]}" for pid, command in processes(f"{module}::").items()),
        *(f"process {fork.pid}: {fork.name}" for fork in multiprocessing.active_children()),
        *(f"thread {thread.name}" for thread in now.threads - before.threads),
        *(f"descriptor {number} of {target}" for number, target in sorted(now.descriptors - before.descriptors)),
        *(f"file {name} in the temporary folder" for name in sorted(now.files - before.files)),
    ]


def _marked(test: str) -> str:
    return f"{os.getpid()} {test}".replace("\0", "0")


def _descriptors() -> Iterator[tuple[str, str]]:
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            target = str(entry.readlink())
            if not target.startswith(_KEPT):
                yield entry.name, target

"""Which labs run, and which are left over from a start or a lab that was killed.

A lab's `alive` file is locked for as long as any of its devices runs: the devices' processes inherit the lock, so no
process id is ever trusted. `starting` is locked by the process that starts the lab, until `ready` is there.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .layout import RUN, Layout, all_names
from .system import LabError, remove_namespaces


@contextmanager
def claimed(layout: Layout) -> Iterator[int]:
    """Makes the lab's folder and yields the descriptor of the lock that its devices are to inherit. Raises `LabError`
    where a lab of this name runs. Leftovers of any name are removed first.
    """
    root = layout.root
    with _alone():
        _remove_leftovers()
        if root.exists():
            raise LabError(f"a lab named {layout.name!r} is up already: `down` removes it")
        root.mkdir()
        alive, starting = _lock(root / "alive"), _lock(root / "starting")
        layout.save()
    try:
        yield alive
        (root / "ready").touch()
    finally:
        os.close(alive)
        os.close(starting)


def remove_leftovers() -> None:
    """Removes the labs that nothing keeps alive."""
    with _alone():
        _remove_leftovers()


def _remove_leftovers() -> None:
    """The same, for who is alone: a lab that is just being claimed looks like a leftover for a moment."""
    for name in all_names():
        if _is_leftover(RUN / name):
            _remove(name)


def remove(name: str) -> None:
    """Ends everything in a lab's namespaces, and removes them and the lab's folder under /run."""
    with _alone():  # once its processes have ended, it is a leftover for the lab that is claimed next
        _remove(name)


def _remove(name: str) -> None:
    prefix = f"truerail-{name}-"
    remove_namespaces(prefix, keep_processes_of=[f"{prefix}mgmt"])
    shutil.rmtree(RUN / name, ignore_errors=True)


def _is_leftover(root: Path) -> bool:
    ready = (root / "ready").exists()
    return _is_free(root / "alive") or (not ready and _is_free(root / "starting"))


@contextmanager
def _alone() -> Iterator[None]:
    RUN.mkdir(mode=0o755, exist_ok=True)
    with (RUN / ".lock").open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _lock(path: Path) -> int:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _is_free(path: Path) -> bool:
    """Whether no living process holds the lock; a file that is not there is held by no one."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True

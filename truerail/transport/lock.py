"""One writer in a folder of captures at a time: two would continue the same unfinished round and remove each other's
files.

The lock is `flock(2)` on a file in the folder. The kernel releases it when its holder ends, for any reason, so a
leftover file is no lock: the next writer takes it over.
"""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from truerail.errors import FolderBusyError
from truerail.model.names import printable
from truerail.transport.times import round_name

FILE = ".capturing"
_NO_LOCKS = {errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK}
"""What a file system without locks answers, such as Lustre mounted without `flock`."""
_LONGEST = 200


@contextmanager
def alone_in(root: Path, at: datetime) -> Iterator[bool]:
    """Makes the folder and keeps it for this process while the body runs; False where its file system has no locks.

    Raises FolderBusyError, OSError.
    """
    root.mkdir(parents=True, exist_ok=True)
    path = root / FILE
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        locked = _locked(handle)
        try:
            if locked:
                _sign(handle, at)
            yield locked
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderBusyError(_holder(handle)) from None
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return False
        raise
    if not os.fstat(handle).st_nlink:
        raise FolderBusyError("another capture has just ended: run the command again")
    return True


def _holder(handle: int) -> str:
    who = printable(os.pread(handle, _LONGEST, 0).decode("utf-8", "replace").strip())
    return f"another capture is writing there: {who}" if who else "another capture is writing there"


def _sign(handle: int, at: datetime) -> None:
    """Writes the holder's name over that of an earlier holder."""
    line = f"process {os.getpid()} on {socket.gethostname()}, since {round_name(at)}\n".encode()
    os.pwrite(handle, line, 0)
    os.ftruncate(handle, len(line))

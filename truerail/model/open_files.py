"""The limit of open files of a process."""

import resource
from contextlib import suppress


def raise_open_files() -> None:
    """Raises this process' limit of open files to the maximum: each device and each connection needs one, and the
    usual soft limit is 1,024 (getrlimit(2)).
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # a system that reports "unlimited" but rejects it
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

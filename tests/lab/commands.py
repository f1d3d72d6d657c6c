"""The command line in the lab's management network, in copies of this process: what it imports is imported once."""

import ctypes
import multiprocessing
import os
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from multiprocessing.context import ForkProcess
from tempfile import TemporaryFile
from typing import IO

from collector import collectors
from rules import rules
from tests.patience import ENOUGH
from truerail.cli import main
from truerail.roles import service

from .layout import Layout

_CLONE_NEWNET = 0x40000000
"""linux/sched.h"""
_LOADED = (
    *("truerail.cli.app", "truerail.cli.live", "truerail.transport.switch_device"),
    *("truerail.roles.judge", "truerail.service.loading"),
)
"""What commands would import, each by itself."""


def truerail(layout: Layout, *words: str) -> subprocess.CompletedProcess[str]:
    """A command, when it has ended."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        process = begin(layout, out, err, *words)
        process.join(ENOUGH)
        code = end(process)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def begin(layout: Layout, out: IO[str], err: IO[str], *words: str) -> ForkProcess:
    """A command that has begun, and writes to these files."""
    for name in _LOADED:
        import_module(name)
    collectors(), rules()
    process = multiprocessing.get_context("fork").Process(target=_run, args=(layout, out, err, words))
    process.start()
    return process


def end(process: ForkProcess) -> int:
    """The exit code of a command, which is killed where it still runs."""
    process.kill()
    process.join()
    code = process.exitcode or 0
    process.close()
    return code


def enter(namespace: str) -> None:
    """Moves this thread, and it alone, into a network namespace: setns(2). Python has it from 3.12 on."""
    with open(f"/run/netns/{namespace}", "rb") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), _CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns to {namespace}")


def _run(layout: Layout, out: IO[str], err: IO[str], words: tuple[str, ...]) -> None:
    enter(layout.management)
    os.dup2(out.fileno(), 1)
    os.dup2(err.fileno(), 2)
    sys.stdout, sys.stderr = out, err
    with suppress(AttributeError):
        del socket.socket.connect  # the one of tests, which reaches loopback only
    service.NICE = 0  # on a busy machine a nice judge would wait for whatever else is tested
    sys.argv = ["truerail", *words]
    main()

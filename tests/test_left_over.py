"""A module that leaves something behind fails and is cleaned up; a test that hangs ends with its processes."""

import os
import subprocess
import sys
from pathlib import Path

from tests.patience import soon

ROOT = Path(__file__).resolve().parent.parent
LEAVES = """
import asyncio, pathlib, subprocess, tempfile, threading

def test_leaves(tmp_path):
    global kept
    done = threading.Event()
    kept = [
        subprocess.Popen(["sleep", "300"], start_new_session=True),
        asyncio.new_event_loop(),
        (pathlib.Path(tempfile.gettempdir()) / "of_a_test").write_text(""),
        threading.Thread(target=done.wait, args=(300,), name="lingering", daemon=True),
    ]
    kept[-1].start()
    pathlib.Path("pid").write_text(str(kept[0].pid))

def test_goes_on():
    pass
"""
UNCLOSED = """
import socket

def test_leaves():
    kept = [socket.socket()]
    kept.append(kept)

def test_goes_on():
    pass
"""
HANGS = """
import pathlib, subprocess

def test_hangs():
    with subprocess.Popen(["sleep", "300"]) as process:  # at the end of this block Python waits for it once more
        pathlib.Path("pid").write_text(str(process.pid))
        process.wait()

def test_goes_on():
    pass
"""


def run(folder: Path, text: str) -> str:
    """Runs a module under the project's conftest with a timeout of two seconds; returns what pytest prints."""
    (folder / "test_inner.py").write_text(text)
    words = [
        "-c",
        ROOT / "pyproject.toml",
        "--rootdir",
        folder,
        "-p",
        "tests.conftest",
        "--timeout",
        "2",
        "--basetemp",
        folder / "tmp",
    ]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *map(str, words),
            "-p",
            "no:randomly",
            "-p",
            "no:cacheprovider",
            "test_inner.py",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def ended(folder: Path) -> bool:
    """Whether the process that the test left has ended."""
    return not Path("/proc", (folder / "pid").read_text()).exists()


def test_what_a_module_leaves_is_named_and_its_processes_are_ended(tmp_path: Path) -> None:
    shown = run(tmp_path, "from tests import left_over\nleft_over._ENDING_SECONDS = 0\n" + LEAVES)
    soon(lambda: ended(tmp_path))
    assert "2 passed, 1 error" in shown
    for left in ("sleep 300", "thread lingering", "anon_inode:[eventpoll]", "file of_a_test"):
        assert left in shown


def test_a_socket_that_is_garbage_and_open_is_found_in_its_own_module(tmp_path: Path) -> None:
    shown = run(tmp_path, UNCLOSED)
    assert "2 passed, 1 error" in shown
    assert "ResourceWarning: unclosed <socket.socket" in shown


def test_a_test_that_hangs_ends_with_its_processes_and_says_where(tmp_path: Path) -> None:
    shown = run(tmp_path, HANGS)
    soon(lambda: ended(tmp_path))
    assert "1 failed, 1 passed" in shown
    assert "it hangs: no end after 2 s; its processes were killed: ['sleep 300 ']" in shown
    assert "process.wait()" in shown

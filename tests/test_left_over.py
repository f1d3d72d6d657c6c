"""A module that leaves something behind fails and is cleaned up; a test that hangs ends with its processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
    pathlib.Path("left").write_text(str(kept[0].pid))

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
        pathlib.Path("hung").write_text(str(process.pid))
        process.wait()

def test_goes_on():
    pass
"""
STUCK = """
import signal, threading
from tests import conftest

conftest._STUCK_SECONDS = 1

def test_hangs():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    threading.Event().wait()
"""
AT_ONCE = "from tests import left_over\nleft_over._ENDING_SECONDS = 0\n"


def run(folder: Path, **modules: str) -> subprocess.CompletedProcess[str]:
    """Runs modules under the project's conftest with a timeout of two seconds."""
    for name, text in modules.items():
        (folder / f"test_{name}.py").write_text(text)
    words = ["-c", ROOT / "pyproject.toml", "--rootdir", folder, "--basetemp", folder / "tmp", "--timeout", "2"]
    words += ["-p", "tests.conftest", "-p", "no:randomly", "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *map(str, words), *(f"test_{name}.py" for name in modules)],
        cwd=folder,
        env={**os.environ, "TRUERAIL_SOAK": "", "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("modules")


@pytest.fixture(scope="module")
def shown(folder: Path) -> str:
    """What pytest prints of the modules, one after the other."""
    done = run(folder, leaves=AT_ONCE + LEAVES, unclosed=UNCLOSED, hangs=HANGS)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 5 passed, 2 errors" in done.stdout
    return done.stdout


def ended(folder: Path, of: str) -> bool:
    """Whether the process that the test left has ended."""
    return not Path("/proc", (folder / of).read_text()).exists()


def test_what_a_module_leaves_is_named_and_its_processes_are_ended(shown: str, folder: Path) -> None:
    soon(lambda: ended(folder, "left"))
    assert "ERROR at teardown of test_goes_on" in shown
    for left in ("sleep 300", "thread lingering", "anon_inode:[eventpoll]", "file of_a_test"):
        assert left in shown


def test_a_socket_that_is_garbage_and_open_is_found_in_its_own_module(shown: str) -> None:
    assert "ERROR test_unclosed.py::test_goes_on" in shown
    assert "ResourceWarning: unclosed <socket.socket" in shown


def test_a_test_that_hangs_ends_with_its_processes_and_says_where(shown: str, folder: Path) -> None:
    soon(lambda: ended(folder, "hung"))
    assert "FAILED test_hangs.py::test_hangs" in shown
    assert "it hangs: no end after 2 s; its processes were killed: ['sleep 300 ']" in shown
    assert "process.wait()" in shown


def test_where_no_signal_ends_a_test_python_shows_where_it_hangs_and_ends(tmp_path: Path) -> None:
    done = run(tmp_path, stuck=STUCK)
    assert done.returncode == 1
    assert "Timeout (0:00:01)!" in done.stderr
    assert "in test_hangs" in done.stderr
